#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab NIC does beyond a plain one: it schedules as ETS and rate limits say. The oracles
# are dcb, ethtool and perftest in the guests. Runs from the root of the tree; the lab is one of
# its own.

bats_require_minimum_version 1.5.0

lab()
{
	tests/lab/lab "$@" 3>&-
}

on()
{
	local host=$1

	shift
	lab run "$host" -- "$@"
}

both()
{
	on h1 "$@" && on h2 "$@"
}

# within LOW VALUE HIGH
within()
{
	awk -v l="$1" -v v="$2" -v h="$3" 'BEGIN { exit !(l <= v && v <= h) }' ||
		{ echo "$2 is not within $1 to $3"; return 1; }
}

# flow HOST CLASS [PEER]: RC WRITE with a DSCP of that class.
flow()
{
	on "$1" timeout 40 ib_write_bw -d rxe0 -x 1 --tclass $(($2 * 32 + 2)) -s 65536 -u 18 \
		-p $((18600 + $2)) -D 7 ${3:+"$3"} >"$BATS_TEST_TMPDIR/$1-$2.log" 2>&1 3>&-
}

# two_classes: a WRITE in class 1 and one in class 2, both more than the link can take. Prints what
# each sent in some 3 s of that, in MB/s. Real time priority, else perftest's polling delays what is
# read after the clock.
two_classes()
{
	local pids=() pid

	flow h2 1 & pids+=($!)
	flow h2 2 & pids+=($!)
	on h2 timeout 20 bash -c 'for port in 18601 18602; do
		until ss -Hltn "sport = $port" | grep -q .; do sleep 0.1; done
	done'
	flow h1 1 h2 & pids+=($!)
	flow h1 2 h2 & pids+=($!)
	on h1 chrt -f 50 bash -c 'sample() {
			echo "$EPOCHREALTIME"
			ethtool -S roce0 | awk "\$1 ~ /^tx_prio[12]_bytes:/ { print \$2 }"
		}
		sleep 2; before=($(sample)); sleep 3; echo "${before[@]}" $(sample)' |
		awk '{ s = ($4 - $1) * 1000000; print ($5 - $2) / s, ($6 - $3) / s }'
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
}

setup_file()
{
	export LAB_DIR="$PWD/build/lab-nic"
	lab down
	lab up
	both bash -c 'dcb app add dev roce0 dscp-prio 8:1 16:2 && ethtool -A roce0 rx off tx off &&
		dcb pfc set dev roce0 prio-pfc all:off 1:on 2:on
		echo 8 >/sys/module/labnic/parameters/rate'
}

teardown_file()
{
	lab down
}

@test "two classes of ETS share an overloaded link by their weights" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict 1:ets 2:ets tc-bw all:0 1:75 2:25 \
		prio-tc all:0 1:1 2:2
	read -r one two < <(two_classes)
	echo "75 to 25: $one and $two MB/s"
	within 71.25 "$(awk "BEGIN { print 100 * $one / ($one + $two) }")" 78.75
	within 23.75 "$(awk "BEGIN { print 100 * $two / ($one + $two) }")" 26.25
	within 2 "$(awk "BEGIN { print $one + $two }")" 8.1
}

# dcb of Debian 12 hands on bytes a second where the kernel has kbit/s: 128 kbit are 16 000.
@test "a rate limit holds, and the other class has the rest" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict 1:ets 2:ets tc-bw all:0 1:75 2:25 \
		prio-tc all:0 1:1 2:2
	on h1 dcb maxrate set dev roce0 tc-maxrate 1:128kbit
	read -r one two < <(two_classes)
	on h1 dcb maxrate set dev roce0 tc-maxrate all:0
	echo "2 MB/s at most: $one and $two MB/s"
	within 1.9 "$one" 2.1
	within 2 "$two" 6.1
}

# Class 7 is of the other priorities: they would not even connect below the two.
@test "a strict class goes before a lower one" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict tc-bw all:0 prio-tc all:7 1:1 2:2
	read -r one two < <(two_classes)
	echo "strict: $one and $two MB/s"
	within 2 "$two" 8.1
	[ "$(awk "BEGIN { print ($one < $two / 5) }")" = 1 ]
}

@test "the kernel of neither host complains" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
	run -1 on h2 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
