#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs and bats files and adds their results up.
#   tests/run.sh LOGDIR TEST... [--beside TEST...]...
# A test is a bats file (*.bats), or a program that prints TAP (cmocka does, by CMOCKA_MESSAGE_OUTPUT).
# A program that prints no TAP counts as one test: exit 0 passed, 77 skipped, else failed. Those after a
# --beside run in turn, at the same time as the others, which wait for guests and leave a processor idle.
# A test that tries a second time prints "# retried: WHAT": these lines are shown and counted. The seconds of
# each suite are left in LOGDIR/seconds, in the form of budget.txt (BUDGET overrides), and a suite over its
# budget is shown and counted; neither fails, as a machine may be busy. A test that takes three times as long
# as its suite may, and a minute (SLACK overrides), hangs: it is ended and has failed, and the next one begins.
# With LIST=1 nothing runs: a line "LANE SUITE TEST" each.
# The last line is "N passed, N failed, N skipped"; exit 1 when one failed or none ran.
set -u
log_dir=$1
shift
budget=${BUDGET:-$(dirname "$0")/budget.txt}
passed=0 failed=0 skipped=0 retried=0
declare -A seconds_of=()
export CMOCKA_MESSAGE_OUTPUT=tap
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# name_test TEST: its name and its suite. Units are one suite, as are goldens; a lab file or a script is one.
name_test()
{
	local folder

	folder=$(basename "$(dirname "$1")")
	name=$folder/$(basename "$1") suite=$folder
	case $1 in
	build/san/*) name=san/$name suite=san/$suite ;;
	build/* | tests/golden/*) ;;
	*) suite=$name ;;
	esac
}

# count_result LOG CODE: ok, not_ok and skip of a test that has ended.
count_result()
{
	# cmocka says "not ok N # SKIP" of what is skipped.
	skip=$(grep -ciE '^(not )?ok .*# skip' "$1")
	ok=$(grep -cE '^ok |^not ok .*# SKIP' "$1")
	not_ok=$(grep '^not ok ' "$1" | grep -cv '# SKIP')
	if ((ok + not_ok == 0)); then
		case $2 in
		0) ok=1 ;;
		77) ok=1 skip=1 ;;
		*) not_ok=1 ;;
		esac
	elif (($2 != 0 && not_ok == 0)); then
		not_ok=1 # died after its last test: a sanitizer, a crash
	fi
}

# most_seconds SUITE: when a test of it is ended. A suite without a budget has 15 minutes.
most_seconds()
{
	awk -v suite="$1" -v slack="${SLACK:-60}" '{ sub(/#.*/, "") } $1 == suite { most = $2 }
		END { print most ? 3 * most + slack : 900 }' "$budget" 2>/dev/null || echo 900
}

# play TEST LOG SECONDS: runs it, in a process group of its own, which ends with it.
play()
{
	local run=("$1")

	[[ $1 != *.bats ]] || run=(bats --formatter tap "$1")
	timeout --kill-after=30 "$3" "${run[@]}" >"$2" 2>&1 </dev/null &
	playing=$!
	wait "$playing"
}

run_one()
{
	local name suite log start rc ok not_ok skip retries lasted most

	name_test "$1"
	log=$log_dir/${name//\//-}.tap
	start=$SECONDS
	most=$(most_seconds "$suite")
	play "$1" "$log" "$most"
	rc=$?
	if ((rc == 124 || rc == 137)); then
		echo "# hung: ended after $most s, in what follows the last test above" >>"$log"
	fi
	count_result "$log" $rc
	retries=$(grep -c '^# retried: ' "$log")
	lasted=$((SECONDS - start))
	seconds_of[$suite]=$((${seconds_of[$suite]:-0} + lasted))
	passed=$((passed + ok - skip)) failed=$((failed + not_ok)) skipped=$((skipped + skip)) retried=$((retried + retries))
	if ((not_ok)); then
		printf 'FAIL %-36s %d of %d, exit %d, %d s\n' "$name" "$not_ok" $((ok + not_ok)) "$rc" "$lasted"
		grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/     /'
	else
		printf 'ok   %-36s %d tests, %d skipped, %d s\n' "$name" "$ok" "$skip" "$lasted"
		((!retries)) || grep '^# retried: ' "$log" | sed 's/^/     /'
	fi
	if ((skip)); then
		grep -iE '^(not )?ok .*# skip' "$log" | sed 's/^/     /'
	fi
}

# run_lane NAME TEST...: these in turn; their counts and seconds go to files, as a lane may be a process of its own.
run_lane()
{
	local lane=$1 name suite t

	shift
	# One beside the others ends none of them.
	[ "$lane" = main ] || lane_pids=()
	[ -n "${LIST:-}" ] || trap 'end_lanes; exit 130' INT TERM HUP
	for t in "$@"; do
		if [ -n "${LIST:-}" ]; then
			name_test "$t"
			echo "$lane $suite $t"
		else
			run_one "$t"
		fi
	done
	[ -z "${LIST:-}" ] || return 0
	for suite in "${!seconds_of[@]}"; do
		echo "$suite ${seconds_of[$suite]}"
	done | sort >"$log_dir/$lane.seconds"
	echo "$passed $failed $skipped $retried" >"$log_dir/$lane.counts"
}

# start_lane TEST...: beside the others, in a process group of its own. LIST only names its tests.
start_lane()
{
	lanes=$((lanes + 1))
	if [ -n "${LIST:-}" ]; then
		run_lane "beside$lanes" "$@"
		return
	fi
	set -m
	run_lane "beside$lanes" "$@" &
	lane_pids+=($!)
	set +m
}

# With all that they started: what plays, and the lanes that this process began.
end_lanes()
{
	local pid

	[ -z "$playing" ] || kill "$playing" 2>/dev/null
	for pid in "${lane_pids[@]}"; do
		kill -- "-$pid" 2>/dev/null
	done
}

# wait_lanes: adds up what they count; one without counts has failed.
wait_lanes()
{
	local lane ok not_ok skip retries

	for ((lane = 1; lane <= lanes; lane++)); do
		wait "${lane_pids[lane - 1]}"
		if read -r ok not_ok skip retries <"$log_dir/beside$lane.counts"; then
			((passed += ok, failed += not_ok, skipped += skip, retried += retries))
		else
			((failed++))
		fi
	done
}

# over_budget: the suites that took longer than budget.txt gives them. Those of a folder of somebody's own have none.
over_budget()
{
	[ -r "$budget" ] || return 0
	awk '{ sub(/#.*/, "") } FNR == NR { if (NF) most[$1] = $2; next }
		$1 in most && $2 > most[$1] { printf "over budget: %s took %d s of %d s\n", $1, $2, most[$1] }' "$budget" "$log_dir/seconds"
}

lanes=0 lane_pids=() playing=
tests=()
while (($#)) && [ "$1" != --beside ]; do
	tests+=("$1")
	shift
done
if [ -z "${LIST:-}" ]; then
	mkdir -p "$log_dir"
	rm -f "$log_dir"/*.counts "$log_dir"/*.seconds
fi
while (($#)); do
	shift
	lane=()
	while (($#)) && [ "$1" != --beside ]; do
		lane+=("$1")
		shift
	done
	start_lane "${lane[@]}"
done
run_lane main "${tests[@]}"
[ -z "${LIST:-}" ] || exit 0
wait_lanes
cat "$log_dir"/*.seconds >"$log_dir/seconds"
printf 'retried: %d\n' "$retried"
over_budget | tee "$log_dir/over"
printf 'over budget: %d of %d suites, %d s in all\n' "$(wc -l <"$log_dir/over")" "$(wc -l <"$log_dir/seconds")" "$SECONDS"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
