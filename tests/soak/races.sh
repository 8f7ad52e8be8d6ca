#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests under clang's ThreadSanitizer, RACES_RUNS (1) times each.
#   tests/soak/races.sh [TEST...]
# Without names: all of tests/unit/ but two. The sandbox of test_sandbox does not allow what the
# sanitizer asks of the kernel, and test_truth compares two decoders, for more than ten minutes here.
# What looks like a race and is none stands in races.supp. Exit 1 when there was a race, or
# no end. A test that fails and has no race is named, and that is all: under the sanitizer some are
# too slow for their own bounds of time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=build/soak/races
export TSAN_OPTIONS="suppressions=$PWD/tests/soak/races.supp history_size=4"

mkdir -p "$out"
tests=("$@")
if [ ${#tests[@]} = 0 ]; then
	mapfile -t tests < <(cd tests/unit && printf '%s\n' test_*.c | sed 's/\.c$//' |
		grep -vxE 'test_(sandbox|truth)')
fi
# The warnings are the other compiler's business.
CFLAGS="-O1 -g -w -fsanitize=thread" make --no-print-directory -j"$(nproc)" CC=clang \
	BUILD="$out" "${tests[@]/#/$out/unit/}" >"$out/make.log" 2>&1 || {
	tail -n 20 "$out/make.log" >&2
	exit 3
}

# one TEST: once; 1 when it raced, or did not come to its end.
one()
{
	local log=$out/$1.log rc=0

	timeout 600 "$out/unit/$1" >"$log" 2>&1 || rc=$?
	[ "$rc" != 0 ] || return 0
	echo "$1: exit $rc, see $log"
	grep -E 'SUMMARY|ERROR|not ok' "$log" || tail -n 5 "$log"
	! grep -q '^WARNING: ThreadSanitizer' "$log" && [ "$rc" -lt 124 ]
}

failed=0
for t in "${tests[@]}"; do
	for ((run = 0; run < ${RACES_RUNS:-1}; run++)); do
		one "$t" || failed=$((failed + 1))
	done
done
echo "${#tests[@]} tests, $failed with a race"
[ "$failed" = 0 ]
