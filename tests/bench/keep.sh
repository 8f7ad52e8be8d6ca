#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs a bench and keeps the figures of its last 10 runs beside it, to compare with.
#   tests/bench/keep.sh build/bench/SUITE
set -euo pipefail

bench=$1
runs=$bench.runs
code=0
mkdir -p "$runs"
"$bench" | tee "$runs/$(date -u +%Y%m%dT%H%M%S.%N).txt" || code=$?
find "$runs" -name '*.txt' | sort -r | tail -n +11 | xargs -r rm --
exit $code
