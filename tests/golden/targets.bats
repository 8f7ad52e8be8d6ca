#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The targets check, lab-check and fabric-check, and tests/run.sh, which plays their tests: no test file is left out
# or played twice, each suite has its seconds, what is tried a second time is counted, and .ci/run sums up.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	unset MAKEFLAGS MFLAGS MAKELEVEL SCENARIO KERNEL PROVE
	tmp=$BATS_TEST_TMPDIR
}

# tests_of TARGET: a line "LANE SUITE TEST" for each of its tests.
tests_of() {
	make -n "$1" BUILD=build | sed -n '/tests\/run\.sh/,$p' | sed 's,.*tests/run\.sh,LIST=1 tests/run.sh,' | bash
}

# budget SUITE: its seconds.
budget() {
	awk -v suite="$1" '$1 == suite { print $2; n++ } END { exit n != 1 }' tests/budget.txt
}

# seconds TARGET: those of its longest lane, by the budget.
seconds() {
	tests_of "$1" | awk '{ print $1, $2 }' | sort -u |
		while read -r lane suite; do
			echo "$lane $(budget "$suite")"
		done | awk '{ sum[$1] += $2 } END { for (lane in sum) if (sum[lane] > most) most = sum[lane]; print most + 0 }'
}

# program FILE: a test that prints what stands on standard input.
program() {
	{
		echo '#!/bin/sh'
		echo "cat <<'TAP'"
		cat
		echo TAP
	} >"$tmp/$1"
	chmod 755 "$tmp/$1"
}

@test "every test file is in one target, once" {
	for target in check lab-check fabric-check; do
		tests_of $target >"$tmp/$target"
		[ -s "$tmp/$target" ]
	done
	cat "$tmp"/{check,lab-check,fabric-check} | awk '{ print $3 }' | sort >"$tmp/played"
	{
		ls tests/lab/*.bats tests/golden/*.bats tests/lab/{scenario,scenario-6.12,without-evidence} \
			tests/{layers,sanitize,units}.sh
		for kind in '' san/; do
			find tests/unit -name 'test_*.c' | sed "s,tests/\(.*\)\.c,build/$kind\1,"
			ls tests/lab/switch/test/test_*.c | sed "s,tests/lab/switch/test/\(.*\)\.c,build/${kind}unit/switch/\1,"
			ls tests/fuzz/fuzz_*.c | sed "s,tests/fuzz/fuzz_\(.*\)\.c,build/${kind}fuzz/\1,"
		done
	} | sort >"$tmp/files"
	diff "$tmp/files" "$tmp/played"
	# One lab is enough for every change, beside the demo.
	[ "$(grep -c ' tests/lab/' "$tmp/check")" = 2 ]
}

@test "lab-check with SCENARIO, PROVE or KERNEL plays scenarios and nothing else" {
	run -0 make -n lab-check SCENARIO='a /b/c.yaml' PROVE=1
	[[ $output == *"tests/lab/scenario --without-fault a /b/c.yaml"* && $output != *run.sh* ]]
	run -0 make -n lab-check PROVE=1
	[[ $output == *"tests/lab/scenario --without-fault"* && $output != *run.sh* ]]
	run -0 make -n lab-check KERNEL=6.12
	[[ $output == *"LAB_KERNEL=6.12 tests/lab/scenario"* && $output != *run.sh* ]]
}

@test "soak plays a part with the targets that are named" {
	run -0 make -n soak PART=fuzz TARGETS='agent control'
	[[ $output == *"for part in tests/soak/fuzz.sh; do "*' $part agent control ||'* ]]
	run -0 make -n soak TARGETS=agent
	[[ $output == *"tests/soak/undo.sh"* && $output != *agent* ]]
}

@test "each suite has its seconds, and they fit 15 minutes, and 50 with lab-check" {
	for target in check lab-check fabric-check; do
		tests_of $target
	done | awk '{ print $2 }' | sort -u >"$tmp/suites"
	while read -r suite; do
		budget "$suite" >/dev/null || { echo "tests/budget.txt has no line for $suite, or two"; return 1; }
	done <"$tmp/suites"
	# No line for a suite that is gone.
	diff <(awk '{ sub(/#.*/, "") } NF && $1 != "setup" { print $1 }' tests/budget.txt | sort) "$tmp/suites"
	check=$(seconds check)
	lab=$(seconds lab-check)
	echo "check $check s, lab-check $lab s, setup $(budget setup) s"
	((check > 0 && check + $(budget setup) <= 900))
	((lab > 0 && check + lab + 2 * $(budget setup) <= 3000))
}

@test "run.sh counts what passes, fails, is skipped and is tried again; a budget fails nothing" {
	program good <<-'END'
		ok 1 - a
		# retried: a had no luck
		ok 2 - b # skip not here
	END
	program bad <<-'END'
		ok 1 - a
		not ok 2 - b
	END
	printf 'x 9\n' >"$tmp/budget"
	mv "$tmp/good" "$tmp/g"
	BUDGET=$tmp/budget run -0 tests/run.sh "$tmp/log" "$tmp/g"
	[[ $output == *"     # retried: a had no luck"* ]]
	[[ $output == *$'\nretried: 1\n'* ]]
	[[ $output == *$'\nover budget: 0 of 1 suites, '* ]]
	[ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
	mkdir "$tmp/kind"
	program kind/slow <<<'ok 1 - a'
	sed -i '2i sleep 2' "$tmp/kind/slow"
	printf 'kind/slow 1 # seconds\nkind/quick 60\n' >"$tmp/budget"
	program kind/quick <<<$'# retried: c\n# retried: d\nok 1'
	BUDGET=$tmp/budget run -1 tests/run.sh "$tmp/log" "$tmp/kind/slow" --beside "$tmp/kind/quick" --beside "$tmp/bad"
	[[ $output == *$'\nretried: 2\n'* ]]
	[[ $output == *"over budget: kind/slow took "[2-9]" s of 1 s"* ]]
	[[ $output != *"over budget: kind/quick"* ]]
	[ "${lines[-1]}" = "3 passed, 1 failed, 0 skipped" ]
	grep -Eqx 'kind/slow [2-9]' "$tmp/log/seconds"
	grep -q '^kind/quick ' "$tmp/log/seconds"
}

# dies NAME LINE...: a test that fails with these lines at the first time, and passes then.
dies() {
	program "$1" <<<'ok 1 - a'
	printf '%s\n' "not ok 1 - a" "${@:2}" >"$tmp/first"
	sed -i '2i [ -e "$0.played" ] || { >"$0.played"; cat "'"$tmp"'/first"; exit 1; }' "$tmp/$1"
}

@test "a test whose guest was killed by its emulator is played once more, one that fails is not" {
	dies dead '# guest-died: h1: PANIC: double fault. Its console, /x/h1.log, ends:' '#  | CR2: 0000'
	run -0 tests/run.sh "$tmp/log" "$tmp/dead"
	[[ $output == *"ok "*"# retried: h1: PANIC: double fault. Its console, /x/h1.log, ends:"*"#  | CR2: 0000"* ]]
	[[ $output == *$'\nretried: 1\n'* ]]
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
	# As bats shows what a test had printed.
	dies inner '# # guest-died: h2: QEMU, pid 7, is gone. Its console'
	run -0 tests/run.sh "$tmp/log" "$tmp/inner"
	dies fails '# no guest-died: at all'
	run -1 tests/run.sh "$tmp/log" "$tmp/fails"
	[[ $output == *$'\nretried: 0\n'* ]]
	# Twice is a failure.
	program twice <<<$'not ok 1 - a\n# guest-died: h1: PANIC: double fault'
	sed -i '$a exit 1' "$tmp/twice"
	run -1 tests/run.sh "$tmp/log" "$tmp/twice"
	[ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
}

# console LINE...: of h1 in a lab whose guests have ended; prints what `lab down` says of it.
console() {
	mkdir -p "$tmp/lab/key"
	printf '%s\r\n' "LAB-READY 8.50" "$@" >"$tmp/lab/h1.log"
	LAB_DIR=$tmp/lab tests/lab/lab down
}

@test "lab down tells a guest that its emulator killed from a panic of its own, and says it once" {
	run -0 console '[  9.1] PANIC: double fault, error_code: 0x0' '[  9.2] RIP: 0010:clear_page'
	[ "${lines[0]}" = "# guest-died: h1: PANIC: double fault. Its console, $tmp/lab/h1.log, ends:" ]
	[ "${lines[-1]}" = '#  | [  9.2] RIP: 0010:clear_page' ]
	run -0 env LAB_DIR="$tmp/lab" tests/lab/lab down
	[ -z "$output" ]
	run -0 console '[  9.1] Kernel panic - not syncing: Fatal exception in interrupt'
	[ -z "$output" ]
	# QEMU is gone, and nobody stopped it.
	sh -c 'exit 0' &
	wait $!
	mkdir -p "$tmp/lab"
	echo $! >"$tmp/lab/h1.pid"
	run -0 console 'all is well'
	[[ $output == "# guest-died: h1: QEMU, pid $!, is gone. "*"#  | all is well" ]]
}

# ended PID: is gone, or a zombie, within 5 s.
ended() {
	for ((i = 0; i < 50; i++)); do
		grep -qs '^State:.[^Z]' "/proc/$1/status" || return 0
		sleep 0.1
	done
	return 1
}

@test "a test that hangs is ended with all it started, has failed, and the next one runs" {
	mkdir "$tmp/kind"
	program kind/hangs <<<'ok 2 - never'
	sed -i '2i echo ok 1 - a; sleep 301 & echo $! >"'"$tmp"'/child"; wait' "$tmp/kind/hangs"
	program kind/next <<<'ok 1 - b'
	printf 'kind/hangs 1\nkind/next 1\n' >"$tmp/budget"
	SLACK=0 BUDGET=$tmp/budget run -1 tests/run.sh "$tmp/log" "$tmp/kind/hangs" "$tmp/kind/next"
	[[ $output == *"FAIL kind/hangs "*"# hung: ended after 3 s"* ]]
	[ "${lines[-1]}" = "2 passed, 1 failed, 0 skipped" ]
	ended "$(cat "$tmp/child")"
}

@test "run.sh plays tests together, those that took longest first, and counts the seconds of a suite once" {
	mkdir "$tmp/unit"
	# Apart by more than a busy machine adds to one of them.
	for name in 0 2 4; do
		program unit/$name <<<"ok 1 - $name"
		sed -i "2i echo $name >>'$tmp/order'; sleep $name" "$tmp/unit/$name"
	done
	printf 'unit/0 9\nunit/2 9\nunit/4 9\n' >"$tmp/budget"
	tests=("$tmp"/unit/{0,2,4})
	export BUDGET=$tmp/budget
	start=$EPOCHREALTIME
	TOGETHER=3 run -0 tests/run.sh "$tmp/log" --together "${tests[@]}"
	took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
	[ "${lines[-1]}" = "3 passed, 0 failed, 0 skipped" ]
	rm "$tmp/order"
	TOGETHER=1 run -0 tests/run.sh "$tmp/log" "$tmp/unit/0" --together "${tests[@]}"
	[ "${lines[-1]}" = "4 passed, 0 failed, 0 skipped" ]
	[ "$(echo $(<"$tmp/order"))" = "0 4 2 0" ]
	echo "three together took $took ms"
	((took < 5900))
	# The suite of a folder of the build: from the first to the last.
	ln -s "$PWD/tests" "$tmp/tests"
	mkdir -p "$tmp/build"
	mv "$tmp/unit" "$tmp/build/"
	cd "$tmp"
	TOGETHER=3 run -0 tests/run.sh log --together build/unit/4 build/unit/2 build/unit/0
	grep -Eqx 'unit [45]' log/seconds
}

@test "run.sh that is ended ends what it plays, in each lane" {
	mkdir "$tmp/kind"
	for lane in a b c; do
		program kind/$lane <<<'ok 1 - never'
		sed -i '2i echo $$ >"'"$tmp/pid-$lane"'"; sleep 302' "$tmp/kind/$lane"
	done
	tests/run.sh "$tmp/log" "$tmp/kind/a" --beside --together "$tmp/kind/b" "$tmp/kind/c" 3>&- &
	for ((i = 0; i < 100; i++)); do
		[ -s "$tmp/pid-a" ] && [ -s "$tmp/pid-b" ] && [ -s "$tmp/pid-c" ] && break
		sleep 0.1
	done
	[ -s "$tmp/pid-c" ]
	kill $!
	wait $! || [ $? = 130 ]
	ended "$(cat "$tmp/pid-a")"
	ended "$(cat "$tmp/pid-b")"
	ended "$(cat "$tmp/pid-c")"
}

# ci CHECK LAB: .ci/run over two targets that do this.
ci() {
	mkdir -p "$tmp/tree/.ci"
	cp .ci/run "$tmp/tree/.ci/"
	printf 'check:\n\t@%s\nlab-check:\n\t@%s\n' "$1" "$2" >"$tmp/tree/Makefile"
	run "$tmp/tree/.ci/run"
	echo "$output"
}

@test ".ci/run plays both, sums them up, and fails when one does" {
	ci 'echo "5 passed, 0 failed, 1 skipped"' 'echo "7 passed, 0 failed, 0 skipped"'
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "12 passed, 0 failed, 1 skipped" ]
	ci 'echo "5 passed, 2 failed, 1 skipped"; exit 1' 'echo "7 passed, 0 failed, 0 skipped"'
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "12 passed, 2 failed, 1 skipped" ]
	ci 'echo "5 passed, 0 failed, 0 skipped"' 'echo "7 passed, 1 failed, 0 skipped"; exit 1'
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "12 passed, 1 failed, 0 skipped" ]
	# One that does not get to its tests.
	ci 'exit 3' 'echo "7 passed, 0 failed, 0 skipped"'
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "7 passed, 1 failed, 0 skipped" ]
}
