#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs and bats files and adds their results up.
#   tests/run.sh LOGDIR TEST... [--beside TEST...]
# A test is a bats file (*.bats), or a program that prints TAP (cmocka does, by CMOCKA_MESSAGE_OUTPUT).
# A program that prints no TAP counts as one test: exit 0 passed, 77 skipped, else failed. Those after
# --beside run at the same time as the others, which wait for guests and leave a processor idle.
# The last line is "N passed, N failed, N skipped"; exit 1 when one failed or none ran.
set -u
log_dir=$1
shift
mkdir -p "$log_dir"
passed=0 failed=0 skipped=0
export CMOCKA_MESSAGE_OUTPUT=tap
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

run_one()
{
	local name log start rc ok not_ok skip

	name=$(basename "$(dirname "$1")")/$(basename "$1")
	log=$log_dir/${name/\//-}.tap
	start=$SECONDS
	case $1 in
	*.bats) bats --formatter tap "$1" >"$log" 2>&1 </dev/null ;;
	*) "$1" >"$log" 2>&1 </dev/null ;;
	esac
	rc=$?
	# cmocka says "not ok N # SKIP" of what is skipped.
	skip=$(grep -ciE '^(not )?ok .*# skip' "$log")
	ok=$(grep -cE '^ok |^not ok .*# SKIP' "$log")
	not_ok=$(grep '^not ok ' "$log" | grep -cv '# SKIP')
	if ((ok + not_ok == 0)); then
		case $rc in
		0) ok=1 ;;
		77) ok=1 skip=1 ;;
		*) not_ok=1 ;;
		esac
	elif ((rc != 0 && not_ok == 0)); then
		not_ok=1 # died after its last test: a sanitizer, a crash
	fi
	passed=$((passed + ok - skip)) failed=$((failed + not_ok)) skipped=$((skipped + skip))
	if ((not_ok)); then
		printf 'FAIL %-32s %d of %d, exit %d, %d s\n' "$name" "$not_ok" $((ok + not_ok)) "$rc" $((SECONDS - start))
		grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/     /'
	else
		printf 'ok   %-32s %d tests, %d skipped, %d s\n' "$name" "$ok" "$skip" $((SECONDS - start))
	fi
	if ((skip)); then
		grep -iE '^(not )?ok .*# skip' "$log" | sed 's/^/     /'
	fi
}

# Its counts go to a file: it is a process of its own.
run_beside()
{
	local t

	for t in "$@"; do
		run_one "$t"
	done
	echo "$passed $failed $skipped" >"$log_dir/beside.counts"
}

# With all that it started.
end_beside()
{
	[ -n "$beside_pid" ] && kill -- "-$beside_pid" 2>/dev/null
}

beside_pid=
tests=()
while (($#)) && [ "$1" != --beside ]; do
	tests+=("$1")
	shift
done
if (($#)); then
	shift
	rm -f "$log_dir/beside.counts"
	trap 'end_beside; exit 130' INT TERM HUP
	set -m # a process group of its own
	run_beside "$@" &
	beside_pid=$!
	set +m
fi
for t in "${tests[@]}"; do
	run_one "$t"
done
if [ -n "$beside_pid" ]; then
	wait "$beside_pid"
	if read -r beside_passed beside_failed beside_skipped <"$log_dir/beside.counts"; then
		((passed += beside_passed, failed += beside_failed, skipped += beside_skipped))
	else
		((failed++))
	fi
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
