#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target under clang's libFuzzer, for FUZZ_MINUTES (60) each, FUZZ_JOBS (one a core) at a
# time, beginning with its seeds and with what is under tests/fuzz/corpus/. Of targets with a mutator the share of
# inputs that got past the parser is told.
#   tests/soak/fuzz.sh [TARGET...]
# A target ends at its first finding. The input stays under build/soak/findings/: put it into the
# corpus, under a name that says what it is. Inputs that reached something new stay in
# build/soak/corpus/, and the next run begins with them too. Exit 1 when there was a finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=build/soak
minutes=${FUZZ_MINUTES:-60}

build()
{
	# The warnings are the other compiler's business.
	CFLAGS="-O1 -g -w -fsanitize=fuzzer-no-link" make --no-print-directory \
		-j"$(nproc)" CC=clang SAN=1 BUILD=$out FUZZ_MAIN= \
		LDFLAGS=-fsanitize=fuzzer "${@/#/$out/fuzz/}" >"$out/make.log" 2>&1 || {
		tail -n 20 "$out/make.log" >&2
		exit 3
	}
}

# report NAME EXIT: a line of what was done, and the finding.
report()
{
	local log=$out/$1.log executions last

	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	last=$(grep -o 'cov: [0-9]* ft: [0-9]* corp: [^ ]*' "$log" | tail -n 1) || true
	printf '%s: %s executions in %d s, %s\n' "$1" "${executions:-no}" "$SECONDS" "$last"
	sed -n "s/^share:/$1:/p" "$log"
	[ "$2" != 0 ] || return 0
	grep -E 'does not hold|ERROR|runtime error|SUMMARY' "$log" || tail -n 20 "$log"
	sed -n 's/^.*Test unit written to /finding: /p' "$log"
	return 1
}

one()
{
	local rc=0 found=()

	mkdir -p "$out/corpus/$1" "$out/findings"
	[ ! -d "tests/fuzz/corpus/$1" ] || found=("tests/fuzz/corpus/$1")
	SECONDS=0
	# All that is committed is varied, also where it reaches a library whose coverage is not seen.
	FUZZ_SHARE=1 ASAN_OPTIONS=detect_leaks=1:malloc_context_size=8:quarantine_size_mb=32 \
		"$out/fuzz/$1" -max_total_time=$((minutes * 60)) -timeout=30 -rss_limit_mb=2048 \
		-artifact_prefix="$out/findings/$1-" -print_final_stats=1 -keep_seed=1 \
		"$out/corpus/$1" "build/fuzz/seeds/$1" "${found[@]}" >"$out/$1.log" 2>&1 || rc=$?
	report "$1" "$rc"
}

if [ "${1:-}" = --one ]; then
	one "$2"
	exit
fi
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
	mapfile -t targets < <(cd tests/fuzz && printf '%s\n' fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')
fi
mkdir -p "$out"
build "${targets[@]}"
echo "fuzz: ${targets[*]}, $minutes minutes each"
printf '%s\n' "${targets[@]}" | xargs -P "${FUZZ_JOBS:-$(nproc)}" -n 1 tests/soak/fuzz.sh --one || exit 1
