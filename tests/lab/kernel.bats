#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Linux 6.12 in the lab: what the other files prove on the release's own kernel, once over on three hosts and a
# switch, and what 6.12 and its iproute2 have beyond it.
bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	LAB_KERNEL=6.12 own_lab lab-kernel tests/lab/topologies/three.yaml
	configured h1 h2 h3
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
}

# of_ports KEY: the sum of a statistic of priority 3.
of_ports()
{
	lab switch '{"op": "stats"}' | jq "[.switches.leaf1.ports[].prio[\"3\"].$1] | add"
}

# of_hosts COMMAND: the sum of a number that each host prints.
of_hosts()
{
	local sum=0 host

	for host in h1 h2 h3; do
		sum=$((sum + $(on $host sh -c "$1")))
	done
	echo $sum
}

# A client and its server: RC WRITE from host $1 into h3 for 4 s.
write_into_h3()
{
	local args=(ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -D 4 -u 18 -p "100${1#h}") server

	on h3 timeout 60 "${args[@]}" >"$tmp/server-$1" 2>&1 &
	server=$!
	on h3 bash -c 'until ss -Htln "sport = $0" | grep -q .; do sleep 0.1; done' "100${1#h}"
	on "$1" timeout 60 "${args[@]}" 198.18.0.3 >"$tmp/client-$1" 2>&1
	wait $server
}

@test "each guest runs 6.12 with its iproute2 in 512 MB" {
	local host memory

	for host in h1 h2 h3; do
		[[ $(on $host uname -r) == 6.12.* ]]
		[[ $(on $host dcb -V) == *iproute2-6.15* ]]
		on $host rdma link show rxe0/1 | grep -q 'state ACTIVE .* netdev roce0'
		on $host ibv_devinfo -d rxe0 | grep -q 'active_mtu:.*4096'
		memory=$(on $host awk '/^MemTotal/ { print $2 }' /proc/meminfo)
		tr '\0' '\n' <"/proc/$(cat "$LAB_DIR/$host.pid")/cmdline" | grep -A1 -x -e -m | grep -qx 512
		((memory > 0 && memory <= 512 * 1024))
	done
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}

# limit: 10 s on a machine of which a processor counts to ten million in 0.4 s of its time; on one that is slower just
# now, as much longer.
limit()
{
	local TIMEFORMAT=%U work

	work=$({ time awk 'BEGIN { for (i = 0; i < 10000000; i++) x += i % 7 }'; } 2>&1)
	awk -v w="$work" 'BEGIN { print 10 * (w > 0.4 ? w / 0.4 : 1) }'
}

# boot_alone LIMIT: of a guest that has the machine for itself, but for three that have nothing to do. What else
# works here makes the clock say more than the processor time that the guest used.
boot_alone()
{
	local -x LAB_DIR=$PWD/build/lab-alone
	local ready used

	lab down
	LAB_KERNEL=6.12 lab up 1
	ready=$(tr -d '\r' <"$LAB_DIR/h1.log" | awk '$1 == "LAB-READY" { print $2 }')
	used=$(awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$(cat "$LAB_DIR/h1.pid")/stat")
	lab down
	echo "# ready after $ready s, $used s of processor time; at most $1 s" >&3
	awk -v r="$ready" -v u="$used" -v l="$1" 'BEGIN { exit !(r > 0 && u > 0 && (r < u ? r : u) <= l) }'
}

# Three that boot on two processors wait for each other and for a cache, of which the clock says nothing that
# belongs to the guest. Others may work here, too: the best of three counts.
@test "a guest is ready within 10 s" {
	boot_alone "$(limit)" || boot_alone "$(limit)" || boot_alone "$(limit)"
}

@test "what apply has set is there by dcb's word and by show's" {
	on h1 dcb -j pfc show dev roce0 | jq -e '.prio_pfc == [false, false, false, true, false, false, false, false]'
	on h1 dcb -j ets show dev roce0 | jq -e '.tc_bw[0] == 50 and .tc_bw[3] == 50 and .prio_tc[3] == 3'
	on h1 dcb app show dev roce0 | grep -q 'AF31:3'
	on h1 rocecheck show -i roce0 --json | jq -e '.. | .pfc? | select(. != null) | .enabled == [3]'
	on h1 rocecheck plan lab --exit-code
}

@test "6.15's dcb sets and reads the NIC's order of trust" {
	on h1 dcb apptrust set dev roce0 order dscp pcp
	on h1 dcb apptrust show dev roce0 | grep -q '^order: dscp pcp'
	on h1 dcb apptrust set dev roce0 order dscp
	on h1 dcb -j apptrust show dev roce0 | jq -e '.order == ["dscp"]'
	# 6.12 itself refuses an order that names a selector of no driver's.
	run on h1 dcb apptrust set dev roce0 order stream-port
	[ "$status" -ne 0 ]
}

@test "2:1 incast with PFC: nothing is dropped, nothing out of sequence, pauses counted alike" {
	local errors="rdma -j statistic show link rxe0/1 | jq '.[0].out_of_seq_request + .[0].rcvd_seq_err'"
	local pauses="ethtool -S roce0 | sed -n 's/.*rx_prio3_pause: //p'"
	local first

	drops=$(of_ports dropped) bad=$(of_hosts "$errors") got=$(of_hosts "$pauses")
	sent=$(($(of_ports pfc_xoff_sent) + $(of_ports pfc_xon_sent)))
	write_into_h3 h1 &
	first=$!
	write_into_h3 h2
	wait $first
	[ "$(of_ports dropped)" = "$drops" ]
	[ "$(of_hosts "$errors")" = "$bad" ]
	sent=$(($(of_ports pfc_xoff_sent) + $(of_ports pfc_xon_sent) - sent)) got=$(($(of_hosts "$pauses") - got))
	echo "PFC frames: switch sent $sent, NICs received $got"
	((sent > 20 && sent == got))
}

@test "validate: host, switch TLV, counters and wire agree" {
	inventory fabric-three.yaml | sed 's#h\[1-3\]#h[1-2]#' >"$tmp/fabric.yaml"
	run -0 --separate-stderr build/rocecheck --json validate "$tmp/fabric.yaml" --out "$tmp/run"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "PASS")] | length == 2' <<<"$output"
}
