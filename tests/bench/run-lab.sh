#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The time that a run of all phases takes between three guests of the lab, compared with what its plan said.
# One line: NAME VALUE UNIT TARGET ok|short; exit 1 when it is short.
#
#   tests/bench/run-lab.sh
set -euo pipefail

scenario=incast-lossless
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SCENARIO_OUT=$work
export LAB_DIR=${LAB_DIR:-$PWD/build/lab-bench}

tests/lab/scenario "$scenario" >"$work/tap" 2>"$work/lab" || { cat "$work/lab" "$work/tap" >&2; exit 1; }
took=$(jq '(.ended_unix_ns - .started_unix_ns) / 1e9' "$work/$scenario/run/run.json")
planned=$(sed -n 's/^rocecheck: all phases: about \(.*\) s, .*/\1/p' "$work/$scenario/stderr")
echo "run.estimate: planned $planned s, took $took s" >&2
awk -v took="$took" -v planned="$planned" 'BEGIN {
	ratio = took / planned
	ok = ratio >= 0.8 && ratio <= 1.2
	printf "run.estimate %.2f x 0.8..1.2 %s\n", ratio, ok ? "ok" : "short"
	exit !ok
}'
