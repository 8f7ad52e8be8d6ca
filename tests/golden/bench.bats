#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Benches of two revisions: how tests/bench/compare.py judges made-up figures, and that tests/bench/compare.sh builds
# both revisions and plays them in turn.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	unset MAKEFLAGS MFLAGS MAKELEVEL PAIRS RUNS
	tmp=$BATS_TEST_TMPDIR
	mkdir "$tmp/pairs"
}

# row NAME TARGET BASE NEW [STEP]: 21 pairs. BASE moves by 1 % from pair to pair, as a machine does, and NEW with it;
# pair N of NEW has (N - 11) * STEP more, of 1.
row() {
	awk -v name="$1" -v target="$2" -v base="$3" -v new="$4" -v step="${5:-0}" -v dir="$tmp/pairs" 'BEGIN {
		for (i = 1; i <= 21; i++) {
			machine = 1 + i / 100
			printf "%s %.6f x %s ok\n", name, base * machine, target >>(dir "/base." i)
			printf "%s %.6f x %s ok\n", name, new * machine * (1 + (i - 11) * step), target >>(dir "/new." i)
		}
	}'
}

judged() {
	run "$@" tests/bench/compare.py "$tmp/pairs"
	echo "$output"
}

@test "a row is worse or better beyond 3 %, in the direction of its target" {
	row a.less ">=2.0" 100 96
	row a.more ">=2.0" 100 104
	row a.slower "<=10" 100 104
	row a.faster "<=10" 100 96
	row a.within "<=10" 100 102.9
	row a.near ">=10" 100 97.2
	judged -2
	[ "$output" = "a.less 0.960 0.960..0.960 worse
a.more 1.040 1.040..1.040 better
a.slower 1.040 1.040..1.040 worse
a.faster 0.960 0.960..0.960 better
a.within 1.029 1.029..1.029 same
a.near 0.972 0.972..0.972 same" ]
}

@test "the whole interval has to lie beyond: order statistics 6 and 16 of 21 pairs" {
	# Ratios 1.04 * (0.90 to 1.10): the median is beyond 3 %, the interval is not.
	row a.wide "<=10" 100 104 0.01
	judged -0
	[ "$output" = "a.wide 1.040 0.988..1.092 same" ]
	# 1.10 * (0.98 to 1.02)
	row a.sure "<=10" 100 110 0.002
	judged -2
	[ "${lines[1]}" = "a.sure 1.100 1.089..1.111 worse" ]
}

@test "in the lab it is 10 %" {
	row lab.switch.a ">=1" 100 92
	row probe.lab.b ">=1" 100 92
	row apply.guest.c "<=1" 100 109
	judged -0
	[ "$(grep -c ' same$' <<<"$output")" = 3 ]
	row probe.host.lab ">=1" 100 92
	row probe.lab.d ">=1" 100 90
	judged -2
	[[ $output == *"probe.host.lab 0.920 0.920..0.920 worse"*"probe.lab.d 0.900 0.900..0.900 worse"* ]]
}

@test "rows that one side has not, rows without a direction, zeros, too few pairs" {
	row a.both ">=1" 1 1
	for i in {1..21}; do
		echo "a.new 1 x >=1 ok" >>"$tmp/pairs/new.$i"
		echo "a.gone 1 x >=1 ok" >>"$tmp/pairs/base.$i"
		echo "a.absent - n - not measured" | tee -a "$tmp/pairs/base.$i" >>"$tmp/pairs/new.$i"
		echo "a.errors 0 frames <=0 ok" | tee -a "$tmp/pairs/base.$i" >>"$tmp/pairs/new.$i"
		echo "a.lost 0 frames <=0 ok" >>"$tmp/pairs/base.$i"
		echo "a.lost 3 frames <=0 short" >>"$tmp/pairs/new.$i"
	done
	echo "a.seldom 1 x >=1 ok" | tee -a "$tmp/pairs/base.3" >>"$tmp/pairs/new.3"
	row a.aimless "-" 100 50
	judged -2
	[ "$output" = "a.both 1.000 1.000..1.000 same
a.new - new (the base has no such row)
a.errors - 0 and 0 same (no ratio of zero)
a.lost - 0 and 3 worse (no ratio of zero)
a.aimless 0.500 0.500..0.500 not judged (its target has neither >= nor <=)
a.seldom 1.000 1.000..1.000 not judged (1 of 21 pairs)
a.gone - gone (only the base has it)" ]
	rm "$tmp"/pairs/*.21
	row a.worse "<=10" 100 150
	rm "$tmp"/pairs/*.21 "$tmp/pairs/new.1"
	judged -0
	[[ $output == *$'a.worse 1.500 1.500..1.500 not judged (19 of 21 pairs)\n'* ]]
	rm "$tmp"/pairs/*
	judged -1
	[ "$output" = "no rows" ]
}

@test "both revisions are built and played in turn, the first changing with each pair" {
	mkdir -p "$tmp/repo/tests"
	cp -r tests/bench "$tmp/repo/tests/"
	cd "$tmp/repo"
	# A bench that says the number of its revision and writes down that it was played.
	cat >Makefile <<-'END'
		all: ;
		build/bench/%: bench.sh ; @mkdir -p build/bench && cp bench.sh $@
	END
	printf '#!/bin/sh\necho 100 >>"%s"\necho "x.time 100 ms <=1 short"\nexit 1\n' "$tmp/played" >bench.sh
	chmod +x bench.sh
	git init -q .
	git add . && git -c user.name=a -c user.email=a@b commit -qm base
	sed -i 's/100/150/' bench.sh
	run -2 --separate-stderr tests/bench/compare.sh x HEAD
	[ "$output" = "x.time 1.500 1.500..1.500 worse" ]
	[ "$(wc -l <"$tmp/played")" = 42 ]
	[ "$(head -n 6 "$tmp/played" | tr '\n' ' ')" = "100 150 150 100 100 150 " ]
	run -1 tests/bench/compare.sh x no-such-revision
	[[ $output == *"invalid BASE 'no-such-revision'"* ]]
	PAIRS=0 run -1 tests/bench/compare.sh x HEAD
	[[ $output == *"invalid PAIRS '0': expected 1 or more"* ]]
}

@test "a comparison that was stopped goes on behind its last whole pair, and a look is no verdict" {
	mkdir -p "$tmp/repo/tests"
	cp -r tests/bench "$tmp/repo/tests/"
	cd "$tmp/repo"
	# A bench that is ended at its sixth run.
	cat >Makefile <<-'END'
		all: ;
		build/bench/%: bench.sh ; @mkdir -p build/bench && cp bench.sh $@
	END
	cat >bench.sh <<-END
		#!/bin/sh
		echo 100 >>"$tmp/played"
		[ \$(wc -l <"$tmp/played") != 6 ] || kill -KILL \$(cat "$tmp/pid")
		echo "x.time 100 ms <=1 short"
	END
	chmod +x bench.sh
	git init -q .
	git add . && git -c user.name=a -c user.email=a@b commit -qm base
	PAIRS=5 run bash -c 'echo $$ >"$0"; exec tests/bench/compare.sh x HEAD' "$tmp/pid"
	[ "$status" = 137 ]
	[ "$(echo $(ls build/bench/x.pairs))" = "base.1 base.2 base.3 both new.1 new.2 unfinished" ]
	: >"$tmp/played"
	PAIRS=4 run -0 --separate-stderr tests/bench/compare.sh x HEAD
	[ "$output" = "x.time 1.000 1.000..1.000 not judged (4 of 21 pairs)" ]
	[ "$(wc -l <"$tmp/played")" = 4 ]
	# Another tree: from the beginning.
	sed -i 's/echo 100 /echo 150 /' bench.sh
	: >"$tmp/played"
	PAIRS=1 run -0 --separate-stderr tests/bench/compare.sh x HEAD
	[ "$(wc -l <"$tmp/played")" = 2 ]
}
