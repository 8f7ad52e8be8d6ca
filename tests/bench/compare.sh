#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plays a bench of this tree and of another revision in turn, and compares row by row (compare.py says how).
#   tests/bench/compare.sh SUITE BASE
# PAIRS=21 is how often, RUNS=1 how often a script of the bench that knows RUNS measures within one. Who is first
# changes with each pair. BASE is unpacked and built under build/bench/base, and the output of every run is in
# build/bench/SUITE.pairs. Exit 2 when a row is worse.
set -euo pipefail

suite=$1 base=$2
pairs=${PAIRS:-21}
tree=build/bench/base
out=$PWD/build/bench/$suite.pairs
export RUNS=${RUNS:-1}
unset MAKEFLAGS MFLAGS MAKELEVEL

if ! [[ $pairs =~ ^[0-9]+$ ]] || ((pairs < 21)); then
	echo "bench: invalid PAIRS '$pairs': expected 21 or more" >&2
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
	(cd "$1" && "build/bench/$suite") >"$2" || true
	[ -s "$2" ] || { echo "bench: $1 printed nothing" >&2; exit 1; }
}

rm -rf "$tree" "$out"
mkdir -p "$tree" "$out"
git archive "$commit" | tar -x -C "$tree"
build .
build "$tree"
for ((i = 1; i <= pairs; i++)); do
	echo "bench: pair $i of $pairs, $SECONDS s" >&2
	((i % 2 == 0)) || play "$tree" "$out/base.$i"
	play . "$out/new.$i"
	((i % 2)) || play "$tree" "$out/base.$i"
done
python3 tests/bench/compare.py "$out"
