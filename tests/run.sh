#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs and bats files and adds their results up.
#   tests/run.sh LOGDIR LANE [--beside LANE]...      LANE: TEST... [--together TEST...]
# A test is a bats file (*.bats), or a program that prints TAP (cmocka does, by CMOCKA_MESSAGE_OUTPUT).
# A program that prints no TAP counts as one test: exit 0 passed, 77 skipped, else failed. Lanes run at the same
# time, the tests of a lane in turn; those after --together run TOGETHER (four a processor) at once, and those
# that took longest in the last run begin. A new one is played where it stands among those that took no time.
# A test that fails with a line "# guest-died: WHY" (see tests/lab/lab down) is played once more, and counted as tried
# a second time; its first log is kept beside, as .died.
# A test that tries a second time prints "# retried: WHAT": these lines are shown and counted. The seconds of
# each suite, from its first test to the end of its last, are left in LOGDIR/seconds, in the form of budget.txt
# (BUDGET overrides), and a suite over its budget is shown and counted; neither fails, as a machine may be busy.
# A test that takes three times as long as its suite may, and five minutes (SLACK overrides), hangs: it is ended and
# has failed. LOGDIR/results has a line "LANE SUITE TEST BEGIN END PASSED FAILED SKIPPED RETRIED" for each test.
# With LIST=1 nothing runs: a line "LANE SUITE TEST" each.
# The last line is "N passed, N failed, N skipped"; exit 1 when one failed or none ran.
set -u
budget=${BUDGET:-$(dirname "$0")/budget.txt}
export CMOCKA_MESSAGE_OUTPUT=tap
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# name_test TEST: its name and its suite. Units are one suite, whatever their room, as are goldens; a lab file or a
# script is one.
name_test()
{
	local folder

	folder=$(basename "$(dirname "$1")")
	name=$folder/$(basename "$1") suite=$folder
	case $1 in
	build/san/*) name=${1#build/} suite=${name#san/} suite=san/${suite%%/*} ;;
	build/*) name=${1#build/} suite=${name%%/*} ;;
	tests/golden/*) ;;
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
	awk -v suite="$1" -v slack="${SLACK:-300}" '{ sub(/#.*/, "") } $1 == suite { most = $2 }
		END { print most ? 3 * most + slack : 900 }' "$budget" 2>/dev/null || echo 900
}

# play TEST LOG SECONDS: runs it, in a process group of its own, which ends with it and with us.
play()
{
	local run=("$1")

	[[ $1 != *.bats ]] || run=(bats --formatter tap "$1")
	trap 'kill "$playing"; exit 130' INT TERM HUP
	timeout --kill-after=30 "$3" "${run[@]}" >"$2" 2>&1 </dev/null &
	playing=$!
	wait "$playing"
}

# run_one LANE TEST: plays it, shows what came of it, and adds its line to the results.
run_one()
{
	local name suite log begin rc ok not_ok skip retries lasted most why

	name_test "$2"
	log=$log_dir/${name//\//-}.tap
	begin=$EPOCHSECONDS
	most=$(most_seconds "$suite")
	play "$2" "$log" "$most"
	rc=$?
	if ((rc)) && why=$(grep -m1 -oE '^(# )+guest-died: .*' "$log"); then
		mv "$log" "$log.died"
		play "$2" "$log" "$most"
		rc=$?
		{ echo "# retried: ${why#*guest-died: }" && grep -F '#  | ' "$log.died"; } >>"$log"
	fi
	lasted=$((EPOCHSECONDS - begin))
	if ((rc == 124 || (rc == 137 && lasted >= most))); then
		echo "# hung: ended after $most s, in what follows the last test above" >>"$log"
	fi
	count_result "$log" $rc
	retries=$(grep -c '^# retried: ' "$log")
	exec 9>>"$log_dir/results"
	flock 9 # one shows its lines at a time
	echo "$1 $suite $2 $begin $EPOCHSECONDS $((ok - skip)) $not_ok $skip $retries" >&9
	if ((not_ok)); then
		printf 'FAIL %-36s %d of %d, exit %d, %d s\n' "$name" "$not_ok" $((ok + not_ok)) "$rc" "$lasted"
		grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/     /'
	else
		printf 'ok   %-36s %d tests, %d skipped, %d s\n' "$name" "$ok" "$skip" "$lasted"
		((!retries)) || grep -E '^# retried: |#  \| ' "$log" | sed 's/^/     /'
	fi
	if ((skip)); then
		grep -iE '^(not )?ok .*# skip' "$log" | sed 's/^/     /'
	fi
}

# longest_first TEST...: in the order of the seconds of the last run.
longest_first()
{
	printf '%s\n' "$@" | awk -v last="$log_dir/results.last" '
		BEGIN { while ((getline line <last) > 0) { split(line, f, " "); took[f[3]] = f[5] - f[4] } }
		{ print took[$0] + 0, $0 }' | sort -s -k1,1nr | cut -d' ' -f2-
}

# run_lane NAME TEST... [--together TEST...]
run_lane()
{
	local lane=$1 name suite t in_turn=()

	shift
	while (($#)) && [ "$1" != --together ]; do
		in_turn+=("$1")
		shift
	done
	shift
	if [ -n "${LIST:-}" ]; then
		for t in "${in_turn[@]}" "$@"; do
			name_test "$t"
			echo "$lane $suite $t"
		done
		return
	fi
	((${#in_turn[@]} == 0)) || printf '%s\n' "${in_turn[@]}" | play_all 1 || return
	(($# == 0)) || longest_first "$@" | play_all "${TOGETHER:-$((4 * $(nproc)))}"
}

# play_all N: the tests of stdin, N at once, of this lane. It fails when one has left no result.
play_all()
{
	xargs -d '\n' -n 1 -P "$1" "$0" --one "$log_dir" "$lane"
}

# start_lane TEST...: beside the others, in a process group of its own. LIST only names its tests.
start_lane()
{
	lanes=$((lanes + 1))
	if [ -n "${LIST:-}" ]; then
		run_lane "lane$lanes" "$@"
		return
	fi
	set -m
	run_lane "lane$lanes" "$@" &
	lane_pids+=($!)
	set +m
}

# end_lanes: with all that they play.
end_lanes()
{
	local pid

	for pid in "${lane_pids[@]}"; do
		kill -- "-$pid" 2>/dev/null
	done
	exit 130
}

# sum_up: the seconds of each suite of a lane to LOGDIR/seconds; prints "PASSED FAILED SKIPPED RETRIED".
sum_up()
{
	awk -v seconds="$log_dir/seconds" '
		{ suite = $1 " " $2; ok += $6; bad += $7; skipped += $8; retried += $9 }
		!(suite in begin) || $4 < begin[suite] { begin[suite] = $4 }
		$5 > end[suite] { end[suite] = $5 }
		END {
			printf "" >seconds
			for (suite in begin) { split(suite, f, " "); print f[2], end[suite] - begin[suite] >seconds }
			print ok + 0, bad + 0, skipped + 0, retried + 0
		}' "$log_dir/results"
}

# over_budget: the suites that took longer than budget.txt gives them. Those of a folder of somebody's own have none.
over_budget()
{
	[ -r "$budget" ] || return 0
	awk '{ sub(/#.*/, "") } FNR == NR { if (NF) most[$1] = $2; next }
		$1 in most && $2 > most[$1] { printf "over budget: %s took %d s of %d s\n", $1, $2, most[$1] }' "$budget" "$log_dir/seconds"
}

if [ "$1" = --one ]; then
	log_dir=$2
	run_one "$3" "$4"
	exit 0
fi
log_dir=$1 lanes=0 lane_pids=()
shift
if [ -z "${LIST:-}" ]; then
	mkdir -p "$log_dir"
	[ ! -e "$log_dir/results" ] || mv "$log_dir/results" "$log_dir/results.last"
	: >"$log_dir/results"
	trap end_lanes INT TERM HUP
fi
while (($#)); do
	lane=()
	while (($#)) && [ "$1" != --beside ]; do
		lane+=("$1")
		shift
	done
	shift
	start_lane "${lane[@]}"
done
[ -z "${LIST:-}" ] || exit 0
lost=0
for pid in "${lane_pids[@]}"; do
	wait "$pid" || ((lost++))
done
read -r passed failed skipped retried < <(sum_up)
((failed += lost))
printf 'retried: %d\n' "$retried"
over_budget | tee "$log_dir/over"
printf 'over budget: %d of %d suites, %d s in all\n' "$(wc -l <"$log_dir/over")" "$(wc -l <"$log_dir/seconds")" "$SECONDS"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
