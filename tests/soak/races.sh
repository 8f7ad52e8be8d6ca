#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests under clang's ThreadSanitizer, RACES_RUNS (1) times each.
#   tests/soak/races.sh [ROOM/TEST...]		as probe/io/test_handshake, or switch/test_queue
# Without names: all units but two. The sandbox of test_sandbox does not allow what the
# sanitizer asks of the kernel, and test_truth compares two decoders, for more than ten minutes here.
# What looks like a race and is none stands in races.supp. Exit 1 when there was a race, or
# no end. A test that fails and has no race is named, and that is all: under the sanitizer some are
# too slow for their own bounds of time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Its programs find the shipped profiles at most five folders up.
out=build/races
export TSAN_OPTIONS="suppressions=$PWD/tests/soak/races.supp history_size=4"

mkdir -p "$out"
tests=("$@")
if [ ${#tests[@]} = 0 ]; then
	mapfile -t tests < <(find tests/unit tests/lab/switch/test -name 'test_*.c' |
		sed 's,^tests/unit/,,; s,^tests/lab/switch/test/,switch/,; s/\.c$//' |
		grep -vE '/test_(sandbox|truth)$' | LC_ALL=C sort)
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
	local log=$out/${1//\//-}.log rc=0

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
