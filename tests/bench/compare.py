#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the rows of a bench that was played in turn with that of another revision.

    compare.py DIR      DIR/base.N and DIR/new.N: what both printed in pair N, one "NAME VALUE UNIT TARGET ..." a line

Each pair gives a ratio, new by base. A row has the median of its ratios and the 95 % interval of that median by
order statistics (sign test), which asks nothing of their distribution. A row is worse, or better, when the whole
interval lies beyond 3 %, of rows that run in the lab beyond 10 %, in the direction of its target: >= or <=.
One line a row: NAME RATIO LOW..HIGH same|better|worse, of fewer than 21 pairs their range and "not judged". A pair
that lacks a side does not count. Exit 2 when a row is worse, 1 when there is no pair.
"""
import math
import pathlib
import statistics
import sys

MIN_PAIRS = 21
MARGIN = 0.03
LAB_MARGIN = 0.10


def read_rows(path):
    """The rows of one output: name to (value, sign); sign is that of the target, or none."""
    rows = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if len(words) < 3:
            continue
        try:
            value = float(words[1])
        except ValueError:
            continue
        target = words[3] if len(words) > 3 else ""
        rows[words[0]] = (value, target[:2] if target[:2] in (">=", "<=") else None)
    return rows


def runs_in_lab(name):
    parts = name.split(".")
    return parts[0] == "lab" or parts[1:2] in (["lab"], ["guest"])


def interval(values):
    """The 95 % interval of the median: the innermost pair of order statistics that covers so much."""
    values = sorted(values)
    n = len(values)
    below, k = 0.0, 0
    while below + math.comb(n, k) / 2**n <= 0.025:
        below += math.comb(n, k) / 2**n
        k += 1
    return values[max(k - 1, 0)], values[n - max(k, 1)]


def judge(name, sign, pairs):
    """The words behind NAME, and whether the row is worse."""
    if len(pairs) < MIN_PAIRS:
        ratios = sorted(new / old for old, new in pairs if old > 0) or [0]
        text = f"{statistics.median(ratios):.3f} {ratios[0]:.3f}..{ratios[-1]:.3f}"
        return f"{text} not judged ({len(pairs)} of {MIN_PAIRS} pairs)", False
    if any(old <= 0 or new <= 0 for old, new in pairs):
        old, new = (statistics.median(side) for side in zip(*pairs))
        if old == new:
            return f"- {old:g} and {new:g} same (no ratio of zero)", False
        worse = sign is not None and (new > old) == (sign == "<=")
        word = "not judged" if sign is None else "worse" if worse else "better"
        return f"- {old:g} and {new:g} {word} (no ratio of zero)", worse
    ratios = [new / old for old, new in pairs]
    low, high = interval(ratios)
    text = f"{statistics.median(ratios):.3f} {low:.3f}..{high:.3f}"
    if sign is None:
        return f"{text} not judged (its target has neither >= nor <=)", False
    margin = 1 + (LAB_MARGIN if runs_in_lab(name) else MARGIN)
    up, down = low > margin, high < 1 / margin
    worse, better = (up, down) if sign == "<=" else (down, up)
    return f"{text} {'worse' if worse else 'better' if better else 'same'}", worse


def main(folder):
    folder = pathlib.Path(folder)
    numbers = sorted(int(path.suffix[1:]) for path in folder.glob("base.*") if (folder / f"new{path.suffix}").exists())
    base, new = ([read_rows(folder / f"{side}.{n}") for n in numbers] for side in ("base", "new"))
    names = list(dict.fromkeys(name for rows in new + base for name in rows))
    is_worse = False
    for name in names:
        pairs = [(old[name][0], now[name][0]) for old, now in zip(base, new) if name in old and name in now]
        if not any(name in rows for rows in base):
            words, worse = "- new (the base has no such row)", False
        elif not any(name in rows for rows in new):
            words, worse = "- gone (only the base has it)", False
        else:
            sign = next(rows[name][1] for rows in new if name in rows)
            words, worse = judge(name, sign, pairs)
        print(name, words)
        is_worse |= worse
    if not names:
        print("no rows", file=sys.stderr)
        return 1
    return 2 if is_worse else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0] + " One argument: the folder.")
    sys.exit(main(sys.argv[1]))
