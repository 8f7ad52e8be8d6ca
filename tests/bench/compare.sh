#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plays a bench of this tree and of another revision in turn, and compares row by row (compare.py says how).
#   tests/bench/compare.sh SUITE BASE
# PAIRS=21 is how often (fewer are a look, which judges nothing), RUNS=1 how often a script of the bench that knows
# RUNS measures within one. Who is first changes with each pair. BASE is unpacked and built under build/bench/base.
# The output of every run stays in build/bench/SUITE.pairs: one that was stopped goes on behind its last whole pair,
# and so does a look, until one of the two trees or RUNS is another one. Exit 2 when a row is worse.
set -euo pipefail

suite=$1 base=$2
pairs=${PAIRS:-21}
tree=build/bench/base
out=$PWD/build/bench/$suite.pairs
export RUNS=${RUNS:-1}
unset MAKEFLAGS MFLAGS MAKELEVEL

if ! [[ $pairs =~ ^[1-9][0-9]*$ ]]; then
	echo "bench: invalid PAIRS '$pairs': expected 1 or more" >&2
	exit 1
fi
commit=$(git rev-parse --verify --quiet "$base^{commit}") || {
	echo "bench: invalid BASE '$base': expected a revision of this repository" >&2
	exit 1
}

# build DIR: the program and what plays the suite.
build()
{
	local targets=(all "build/bench/$suite")

	[ "$suite" != probe ] || targets+=(build/bench/pattern)
	make -C "$1" --no-print-directory -s -j"$(nproc)" "${targets[@]}" >&2
}

# play DIR FILE: a short row is no matter here.
play()
{
	(cd "$1" && "build/bench/$suite") >"$out/unfinished" || true
	[ -s "$out/unfinished" ] || { echo "bench: $1 printed nothing" >&2; exit 1; }
	mv "$out/unfinished" "$2"
}

# The two trees: ours by what differs from its commit.
both="$commit $(git rev-parse HEAD) $(git diff HEAD | sha256sum) $RUNS"
[ "$(cat "$out/both" 2>/dev/null)" = "$both" ] || rm -rf "$out"
rm -rf "$tree"
mkdir -p "$tree" "$out"
echo "$both" >"$out/both"
git archive "$commit" | tar -x -C "$tree"
build .
build "$tree"
for ((i = 1; i <= pairs; i++)); do
	[ ! -e "$out/base.$i" ] || [ ! -e "$out/new.$i" ] || continue
	echo "bench: pair $i of $pairs, $SECONDS s" >&2
	((i % 2 == 0)) || play "$tree" "$out/base.$i"
	play . "$out/new.$i"
	((i % 2)) || play "$tree" "$out/base.$i"
done
python3 tests/bench/compare.py "$out"
