#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab NIC under more load than its link takes: it schedules as ETS and rate limits say. What was
# sent is perftest's, how it was shared ethtool tells. Runs from the root of the tree; the lab is one
# of its own.

bats_require_minimum_version 1.5.0
load guests

# flow HOST CLASS [PEER]: RC WRITE with a DSCP of that class. What it has on its way, 128 packets, takes
# the slower class seconds, and is not to be taken for lost.
flow()
{
	on "$1" timeout 60 ib_write_bw -d rxe0 -x 1 --tclass $(($2 * 32 + 2)) -s 65536 -u 20 \
		-p $((18600 + $2)) -D 7 ${3:+"$3"} >"$BATS_TEST_TMPDIR/$1-$2.log" 2>&1 3>&-
}

# two_flows: a WRITE in class 1 and one in class 2, both more than the link can take. Prints what
# each sent in some 3 s of that, in MB/s, and how often a look found no frame of one waiting behind
# the NIC. Real time priority, else perftest's polling delays what is read after the clock.
two_flows()
{
	local pids=() pid

	flow h2 1 & pids+=($!)
	flow h2 2 & pids+=($!)
	on h2 timeout 60 bash -c 'for port in 18601 18602; do
		until ss -Hltn "sport = $port" | grep -q .; do sleep 0.1; done
	done'
	flow h1 1 h2 & pids+=($!)
	flow h1 2 h2 & pids+=($!)
	on h1 chrt -f 50 timeout 60 bash -c 'sample() {
			echo "$EPOCHREALTIME"
			ethtool -S roce0 | awk "\$1 ~ /^tx_prio[12]_bytes:/ { print \$2 }"
		}
		empty() {
			tc -s qdisc show dev roce0 | awk "/ parent / { queue = \$5 }
				/backlog 0b/ && (queue == \":2\" || queue == \":3\") { n++ } END { print n + 0 }"
		}
		while [ "$(empty)" != 0 ]; do sleep 0.1; done
		before=($(sample)); gaps=0
		for i in 1 2 3 4 5 6; do sleep 0.5; gaps=$((gaps + $(empty))); done
		echo "${before[@]}" $(sample) "$gaps"' |
		awk '{ s = ($4 - $1) * 1000000; print ($5 - $2) / s, ($6 - $3) / s, $7 }'
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
}

# two_classes [LEAST]: the first of up to three measurements, in one and two, in which frames of both classes waited
# all the time: a guest that the machine starves has nothing to schedule in between, and says nothing about shares.
# slow is what both sent together where it was less than LEAST of the link's rate (0.1 where nothing is said): the NIC
# had no time to send. It is never more than the link's rate.
two_classes()
{
	local gaps i least=${1:-0.1} sum

	for i in 1 2 3; do
		[ $i = 1 ] || echo "# retried: one class had $gaps gaps" >&3
		read -r one two gaps < <(two_flows)
		echo "run $i: $one and $two MB/s, $gaps gaps"
		sum=$(awk "BEGIN { print $one + $two }")
		within 0 "$sum" "$(awk "BEGIN { print 1.05 * $rate }")"
		[ "$gaps" != 0 ] || break
	done
	[ "$gaps" = 0 ] || { echo "one class had gaps in each of three runs"; return 1; }
	within "$(awk "BEGIN { print $least * $rate }")" "$sum" 9 || slow=$sum
}

# MB/s, which a guest on a busy machine can still fill.
rate=1
# What the NIC sent where it had not the time for more.
slow=

setup_file()
{
	export LAB_DIR="$PWD/build/lab-nic-load"
	lab down
	lab up
	both bash -c 'dcb app add dev roce0 dscp-prio 8:1 16:2 && ethtool -A roce0 rx off tx off &&
		dcb pfc set dev roce0 prio-pfc all:off 1:on 2:on
		echo $0 >/sys/module/labnic/parameters/rate' "$rate"
}

teardown_file()
{
	lab down
}

@test "two classes of ETS share an overloaded link by their weights" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict 1:ets 2:ets tc-bw all:0 1:75 2:25 \
		prio-tc all:0 1:1 2:2
	two_classes
	within 71.25 "$(awk "BEGIN { print 100 * $one / ($one + $two) }")" 78.75
	within 23.75 "$(awk "BEGIN { print 100 * $two / ($one + $two) }")" 26.25
}

# dcb of Debian 12 hands on bytes a second where the kernel has kbit/s: 32 kbit are 4000.
@test "a rate limit holds, and the other class has the rest" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict 1:ets 2:ets tc-bw all:0 1:75 2:25 \
		prio-tc all:0 1:1 2:2
	on h1 dcb maxrate set dev roce0 tc-maxrate 1:32kbit
	slow=
	two_classes 0.95
	on h1 dcb maxrate set dev roce0 tc-maxrate all:0
	# However little time there is: never more.
	within 0.1 "$one" 0.525
	within 0.1 "$two" 0.55
	[ -z "$slow" ] || skip "the machine let the NIC send $slow MB/s, 0.95 are needed"
	within 0.475 "$one" 0.525
}

# Class 7 is of the other priorities: they would not even connect below the two.
@test "a strict class goes before a lower one" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict tc-bw all:0 prio-tc all:7 1:1 2:2
	two_classes
	[ "$(awk "BEGIN { print ($one < $two / 5) }")" = 1 ]
}

@test "the kernel of neither host complains" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
	run -1 on h2 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
