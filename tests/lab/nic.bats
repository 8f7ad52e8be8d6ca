#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab NIC does beyond a plain one: it schedules as ETS and rate limits say, and it has the
# traps of the driver whose personality it has. The oracles are dcb, ethtool and perftest in the
# guests. Runs from the root of the tree; the lab is one of its own.

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

# become PERSONALITY [PARAMETER...]: h1's NIC anew, without Soft-RoCE.
become()
{
	local who=$1

	shift
	on h1 timeout 20 bash -ec 'rmmod labnic; insmod /run/lab/labnic.ko personality="$@"
		ip link set roce0 mtu 4200 up; ip address add 198.18.0.1/24 dev roce0
		for i in {1..50}; do [ $(</sys/class/net/roce0/carrier) = 1 ] && break; sleep 0.1; done' \
		become "$who" "$@"
}

# denied WHY COMMAND...: dcb says that the driver refused.
denied()
{
	local why=$1

	shift
	run on h1 dcb "$@"
	[[ $output == *"$why"* ]] || { echo "dcb $*: $output"; return 1; }
}

# unchanged OBJECT COMMAND...: dcb of Debian 12 does not always say that the driver refused ETS or
# PFC, so that what is read counts.
unchanged()
{
	local before

	before=$(on h1 dcb "$1" show dev roce0)
	run on h1 dcb "$@"
	[ "$(on h1 dcb "$1" show dev roce0)" = "$before" ] || { echo "taken: dcb $*"; return 1; }
}

# taken COMMAND...: dcb says no error; of ETS and PFC it may, though nothing is wrong: once more.
taken()
{
	local i

	for i in 1 2 3; do
		run on h1 dcb "$@"
		[ -n "$output" ] || return 0
	done
	echo "dcb $*: $output"
	return 1
}

# shows OBJECT TEXT: what dcb reads has it.
shows()
{
	run on h1 dcb "$1" show dev roce0
	[[ $output == *"$2"* ]] || { echo "dcb $1 show: $output"; return 1; }
}

driver_is()
{
	on h1 ethtool -i roce0 | grep -qx "driver: $1"
	[ "$(on h1 readlink /sys/class/net/roce0/device/driver)" != "" ]
	[ "$(on h1 sh -c 'basename $(readlink /sys/class/net/roce0/device/driver)')" = "$1" ]
}

has_statistics()
{
	local name

	on h1 ethtool -S roce0 | awk -F '[ ]+' 'NF > 2 { sub(/:$/, "", $2); print $2 }' \
		>"$BATS_TEST_TMPDIR/names"
	for name in "$@"; do
		grep -qx "$name" "$BATS_TEST_TMPDIR/names" || { echo "no $name"; return 1; }
	done
}

# downs: how often the carrier went off.
downs()
{
	on h1 cat /sys/class/net/roce0/carrier_down_count
}

@test "a personality that does not exist is refused" {
	on h1 rmmod labnic
	run on h1 insmod /run/lab/labnic.ko personality=none
	[ "$status" -ne 0 ]
	on h1 dmesg | grep -q "no personality 'none'"
	on h1 insmod /run/lab/labnic.ko
	driver_is labnic
}

# pair HOST [PARAMETER...]: two NICs, the second one's frames in a VLAN of the same wire.
pair()
{
	local host=$1

	shift
	on "$host" timeout 20 bash -ec 'rmmod labnic
		[ -e /sys/class/net/wire1 ] || ip link add link eth0 name wire1 type vlan id 100
		echo 1 >/proc/sys/net/ipv6/conf/wire1/disable_ipv6
		ip link set wire1 up
		insmod /run/lab/labnic.ko lower=eth0,wire1 "$@"
		for i in 0 1; do
			ip link set "roce$i" mtu 4200 up
			ip address add "198.18.$i.${HOSTNAME#h}/24" dev "roce$i"
			rdma link add "rxe$i" type rxe netdev "roce$i"
		done' pair "$@"
}

@test "two NICs of one module are two to everybody, and one's end is not the other's" {
	pair h1 name=roce0,roce1
	pair h2
	[ "$(on h1 ethtool -i roce0 | sed -n 's/^bus-info: //p')" = labnic.0 ]
	[ "$(on h1 ethtool -i roce1 | sed -n 's/^bus-info: //p')" = labnic.1 ]
	[ "$(on h1 cat /sys/class/infiniband/rxe1/parent)" = roce1 ]
	taken pfc set dev roce1 prio-pfc all:off 3:on
	shows pfc '3:off'
	on h1 ping -q -c 2 -i 0.2 198.18.0.2
	on h1 ping -q -c 2 -i 0.2 198.18.1.2
	on h1 ip link delete wire1
	[ "$(on h1 cat /sys/class/net/roce1/operstate)" = down ]
	on h1 ping -q -c 2 -i 0.2 198.18.0.2
	on h1 rmmod labnic
	run on h1 insmod /run/lab/labnic.ko lower=eth0,none
	[[ $output == *"No such device"* ]]
	run on h1 insmod /run/lab/labnic.ko lower=eth0 name=a,b
	[[ $output == *"Invalid"* ]]
	[ -z "$(on h1 sh -c 'ls /sys/bus/platform/devices | grep labnic')" ]
	on h1 insmod /run/lab/labnic.ko
	on h2 bash -ec 'rmmod labnic; ip link delete wire1; insmod /run/lab/labnic.ko
		ip link set roce0 mtu 4200 up; ip address add 198.18.0.2/24 dev roce0
		rdma link add rxe0 type rxe netdev roce0'
}

@test "mlx5: names, boot state, exact ETS sum" {
	become mlx5
	driver_is mlx5_core
	has_statistics rx_prio3_pause rx_prio3_pause_duration tx_prio3_bytes rx_discards_phy
	shows ets 'tc-tsa 0:vendor 1:vendor'
	shows ets 'prio-tc 0:1 1:0 2:2 3:3'
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:50 5:10
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:100
}

@test "mlx5: APP replaces without a word, its first and last entry flip trust" {
	become mlx5
	denied 'Invalid argument' app add dev roce0 ethtype-prio 0x8915:3
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	shows app 'dscp-prio AF31:4'
	denied 'No such file or directory' app del dev roce0 dscp-prio 26:3
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_prio4_packets:" { print $2 }')" -ge 3 ]
	taken app del dev roce0 dscp-prio 26:4
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_prio4_packets:" { print $2 }')" -lt 6 ]
}

@test "mlx5: PFC takes the link down when it changes, DCBX goes to firmware and back" {
	become mlx5
	before=$(downs)
	taken pfc set dev roce0 prio-pfc all:off 3:on
	[ "$(downs)" = $((before + 1)) ]
	sleep 0.5
	[ "$(on h1 cat /sys/class/net/roce0/carrier)" = 1 ]
	taken pfc set dev roce0 prio-pfc all:off 3:on
	[ "$(downs)" = $((before + 1)) ]
	shows dcbx 'host cee ieee'
	run on h1 dcb dcbx set dev roce0 lld-managed ieee
	shows dcbx 'host cee ieee'
	become mlx5 fw_dcbx=1
	run on h1 dcb dcbx show dev roce0
	[[ $output == *"cee ieee"* && $output != *host* ]]
	taken dcbx set dev roce0 host ieee
	shows dcbx 'host ieee'
	# A rate is rounded down to 100 Mbit/s, and is at least that (12 500 kbyte/s as dcb has it).
	taken maxrate set dev roce0 tc-maxrate 3:128kbit
	shows maxrate '3:800Kbit'
}

@test "bnxt: nothing to read before the first set, ETS before PFC" {
	become bnxt
	driver_is bnxt_en
	has_statistics rx_pfc_ena_frames_pri3 pfc_pri3_rx_duration_us rx_discard_packets_cos3
	shows ets 'tc-tsa 0:strict 1:strict'
	unchanged pfc set dev roce0 prio-pfc all:off 3:on
	unchanged ets set dev roce0 tc-tsa all:vendor
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 0:100
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50 prio-tc 3:3 4:4 5:5
	unchanged pfc set dev roce0 prio-pfc all:off 3:on 4:on 5:on
	taken pfc set dev roce0 prio-pfc all:off 3:on 4:on
	shows pfc '3:on 4:on'
	# Adding first and deleting then clears the map of the DSCP.
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	taken app del dev roce0 dscp-prio 26:3
	shows app 'AF31:4'
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_packets_pri4:" { print $2 }')" = 0 ]
}

@test "bnxt: a firmware agent owns everything" {
	become bnxt fw_dcbx=1
	shows dcbx 'lld-managed ieee'
	unchanged ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:100
	unchanged pfc set dev roce0 prio-pfc all:off 3:on
	denied 'Invalid argument' app add dev roce0 dscp-prio 26:3
}

@test "ice: the first DSCP entry rewrites ETS, the last one to go restores the defaults" {
	become ice
	driver_is ice
	has_statistics rx_priority_3_xoff.nic tx_priority_3_xon.nic rx_dropped.nic
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:60 prio-tc all:0 3:1
	before=$(downs)
	taken app add dev roce0 dscp-prio 26:3
	[ "$(downs)" -gt "$before" ]
	shows ets 'tc-bw 0:100 1:0'
	shows ets 'prio-tc 0:0 1:1 2:2 3:3'
	denied 'Invalid argument' app add dev roce0 dscp-prio 26:2
	shows app 'AF31:3'
	taken pfc set dev roce0 prio-pfc all:off 3:on
	unchanged pfc set dev roce0 prio-pfc all:off 3:on 2:on
	run on h1 ethtool -A roce0 rx on
	[[ $output == *"not supported"* ]] || { echo "ethtool -A: $output"; return 1; }
	on h1 ethtool -a roce0 | grep -q '^RX:.*off'
	taken app del dev roce0 dscp-prio 26:3
	shows ets 'prio-tc 0:0 1:0 2:0 3:0'
	shows pfc '3:off'
	unchanged ets set dev roce0 prio-tc 3:5
}

@test "ice: the agent's private flag owns DCB, a result of 1 is no error" {
	become ice fw_dcbx=1
	on h1 ethtool --show-priv-flags roce0 | grep -q 'fw-lldp-agent *: on'
	unchanged pfc set dev roce0 prio-pfc all:off 3:on
	on h1 ethtool --set-priv-flags roce0 fw-lldp-agent off
	shows dcbx 'host ieee'
	taken app add dev roce0 dscp-prio 26:3
	# DSCP 12 is of class 3 already: 1, for which dcb has no name.
	run on h1 dcb app add dev roce0 dscp-prio 12:3
	echo "$output"
	shows app 'AF12:3'
	run on h1 ethtool --set-priv-flags roce0 fw-lldp-agent on
	[ "$status" -ne 0 ]
}

@test "no personality makes the kernel complain" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
