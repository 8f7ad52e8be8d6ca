#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# App trust and rewriting of the lab NIC, which linux has since 6.2 and 6.3: two guests with
# backports' kernel 6.12 and its dcb. What one sends is read on the other. Runs from the root of the
# tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	export LAB_DIR="$PWD/build/lab-trust" LAB_KERNEL=6.12
	lab down
	lab up
	for host in h1 h2; do
		on "$host" bash -ec 'ip link add link roce0 name v10 type vlan id 10 \
				egress-qos-map 0:2 2:2 4:2 6:2
			ip link set v10 up; ip address add 198.19.10.${HOSTNAME#h}/24 dev v10'
	done
	on h1 dcb app add dev roce0 dscp-prio 26:3 46:5
	on h2 dcb app add dev roce0 dscp-prio 26:3 46:5
}

teardown_file()
{
	lab down
}

# sent PRIO COMMAND...: how many frames of that priority h1 sends meanwhile.
sent()
{
	local prio=$1

	shift
	# shellcheck disable=SC2016
	on h1 bash -ec 'count() { ethtool -S roce0 | awk -v n="tx_prio$1_packets:" "\$1 == n { print \$2 }"; }
		before=$(count "$1"); "${@:2}" >/dev/null; echo $(($(count "$1") - before))' sent "$prio" "$@"
}

# seen FILTER COMMAND...: what tcpdump on h2 says of the frames that match while h1 runs it.
seen()
{
	local filter=$1

	shift
	# Else what the last one said would be taken for this one's.
	rm -f "$BATS_TEST_TMPDIR/err"
	on h2 timeout 30 tcpdump -Uni eth0 -evvc 3 "$filter" >"$BATS_TEST_TMPDIR/seen" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	until grep -qs 'listening on' "$BATS_TEST_TMPDIR/err"; do sleep 0.1; done
	on h1 "$@" >/dev/null
	wait $! || return
	cat "$BATS_TEST_TMPDIR/seen"
}

@test "trust is what the APP table implies, until an order is asked for" {
	run -0 on h1 dcb apptrust show dev roce0
	[[ $output == "order: dscp pcp"* ]]
	on h1 dcb apptrust set dev roce0 order pcp dscp
	run -0 on h1 dcb apptrust show dev roce0
	[[ $output == "order: pcp dscp"* ]]
	run on h1 dcb apptrust set dev roce0 order ethtype
	[ "$status" -ne 0 ]
	[[ $output == *"not supported"* ]]
	run -0 on h1 dcb apptrust show dev roce0
	[[ $output == "order: pcp dscp"* ]]
}

# The tag says 2 (whatever the ToS makes of skb->priority), DSCP 26 says 3, DSCP 12 says nothing.
@test "the order of trust decides between DSCP and PCP" {
	on h1 dcb apptrust set dev roce0 order pcp dscp
	[ "$(sent 2 ping -q -c 3 -i 0.2 -Q 104 198.19.10.2)" -ge 3 ]
	[ "$(sent 3 ping -q -c 3 -i 0.2 -Q 104 h2)" -ge 3 ]
	on h1 dcb apptrust set dev roce0 order dscp pcp
	[ "$(sent 3 ping -q -c 3 -i 0.2 -Q 104 198.19.10.2)" -ge 3 ]
	[ "$(sent 2 ping -q -c 3 -i 0.2 -Q 48 198.19.10.2)" -ge 3 ]
	on h1 dcb apptrust set dev roce0 order pcp
	[ "$(sent 3 ping -q -c 3 -i 0.2 -Q 104 h2)" -lt 3 ]
	on h1 dcb app add dev roce0 pcp-prio 2nd:6
	[ "$(sent 6 ping -q -c 3 -i 0.2 -Q 104 198.19.10.2)" -ge 3 ]
	on h1 dcb app del dev roce0 pcp-prio 2nd:6
	on h1 dcb apptrust set dev roce0 order dscp pcp
}

@test "a rewritten DSCP is on the wire, with a right checksum, and ECN stays" {
	on h1 dcb rewr add dev roce0 prio-dscp 3:46
	run -0 on h1 dcb rewr show dev roce0
	[[ $output == *"prio-dscp 3:EF"* ]]
	# 106: DSCP 26 and ECT(0); 186: DSCP 46 and ECT(0).
	run -0 seen 'icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 106 h2
	[ "$(grep -c 'tos 0xba,ECT(0)' <<<"$output")" = 3 ]
	[[ $output != *"bad cksum"* ]]
	run -0 seen 'vlan 10 and icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 106 198.19.10.2
	[ "$(grep -c 'tos 0xba,ECT(0)' <<<"$output")" = 3 ]
	on h1 dcb rewr del dev roce0 prio-dscp 3:46
	run -0 seen 'icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 106 h2
	[ "$(grep -c 'tos 0x6a,ECT(0)' <<<"$output")" = 3 ]
}

@test "a rewritten PCP is in the tag, and no tag is added" {
	on h1 dcb rewr add dev roce0 prio-pcp 3:5de
	run -0 seen 'vlan 10 and icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 104 198.19.10.2
	[ "$(grep -cE 'vlan 10, p 5, DEI' <<<"$output")" = 3 ]
	run -0 seen 'icmp[0] == 8 and not vlan' ping -q -c 3 -i 0.2 -Q 104 h2
	[[ $output != *vlan* ]]
	on h1 dcb rewr del dev roce0 prio-pcp 3:5de
	run -0 seen 'vlan 10 and icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 104 198.19.10.2
	[ "$(grep -c 'vlan 10, p 2,' <<<"$output")" = 3 ]
}

# The ICRC leaves the DSCP out; the receiver's class is that of the mark.
@test "RDMA passes with a rewritten DSCP" {
	on h1 dcb rewr add dev roce0 prio-dscp 3:46
	on h2 timeout 40 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 -n 100 \
		>"$BATS_TEST_TMPDIR/server" 2>&1 3>&- &
	on h2 timeout 20 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
	run -0 on h1 timeout 40 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 -n 100 h2
	wait $!
	[ "$(on h2 ethtool -S roce0 | awk '$1 == "rx_prio5_packets:" { print $2 }')" -ge 1600 ]
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_prio3_packets:" { print $2 }')" -ge 1600 ]
	on h1 dcb rewr del dev roce0 prio-dscp 3:46
}

@test "rocecheck sets order of trust, rewriting and PCP entries as dcb reads them, and back" {
	before=$(on h1 sh -c 'for o in apptrust rewr app; do dcb $o show dev roce0; done')
	on h1 sh -c 'cat >/run/trust.yaml' <<-END
		schema: rocecheck.profile/1
		name: trust
		intent: lossy
		app: {trust: [pcp, dscp], pcp: {2: 5}, rewrite_dscp: {3: 24}, rewrite_pcp: {5: 4}}
	END
	run -0 on h1 rocecheck apply /run/trust.yaml -i roce0 --auto-approve --accept-unproven
	run -0 on h1 rocecheck plan /run/trust.yaml -i roce0 --exit-code
	[ "$(on h1 dcb -j apptrust show dev roce0 | jq -c .order)" = '["pcp","dscp"]' ]
	[ "$(on h1 dcb -j rewr show dev roce0 | jq -c '[.prio_dscp[0][:2], .prio_pcp[0][:2]]')" = '[[3,24],[5,"4nd"]]' ] ||
		{ on h1 dcb -j rewr show dev roce0; return 1; }
	on h1 dcb app show dev roce0 pcp-prio | grep -q '2nd:5'
	run -0 on h1 rocecheck rollback
	[ "$(on h1 sh -c 'for o in apptrust rewr app; do dcb $o show dev roce0; done')" = "$before" ]
}

# Two VLAN devices of one port: one map for both, and none where they differ, which undo could not put back.
@test "rocecheck sets the egress map of VLAN devices as ip shows it, tags follow it, and back" {
	map() { on h1 ip -d link show "$1" | sed -n 's/.*egress-qos-map { \(.*\) }.*/\1/p' | xargs; }
	on h1 ip link add link roce0 name v11 type vlan id 11
	on h1 sh -c 'cat >/run/vlan.yaml' <<-END
		schema: rocecheck.profile/1
		name: vlan
		intent: lossy
		vlan: {egress_qos_map: {0: 1, 2: 3}}
	END
	run -1 on h1 rocecheck plan /run/vlan.yaml -i roce0 --exit-code
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"its VLAN devices (v10, ...) have different maps"* ]]
	run -3 on h1 rocecheck apply /run/vlan.yaml -i roce0 --auto-approve --accept-unproven
	[ "$(map v10)" = "0:2 2:2 4:2 6:2" ]
	[ -z "$(map v11)" ]
	on h1 ip link set v11 type vlan egress-qos-map 0:2 2:2 4:2 6:2
	# By the name of one of them it is the same port.
	run -0 on h1 rocecheck apply /run/vlan.yaml -i v10 --auto-approve --accept-unproven
	[[ $output == *"vlan.egress_qos_map"*"{0: 2, 2: 2, 4: 2, 6: 2} -> {0: 1, 2: 3}"* ]]
	[ "$(map v10)" = "0:1 2:3" ]
	[ "$(map v11)" = "0:1 2:3" ]
	run -0 on h1 rocecheck plan /run/vlan.yaml -i roce0 --exit-code
	run -0 seen 'vlan 10 and icmp[0] == 8' ping -q -c 3 -i 0.2 -Q 104 198.19.10.2
	[ "$(grep -c 'vlan 10, p 3,' <<<"$output")" = 3 ] || { echo "$output"; return 1; }
	run -0 on h1 rocecheck rollback
	[ "$(map v10)" = "0:2 2:2 4:2 6:2" ]
	[ "$(map v11)" = "0:2 2:2 4:2 6:2" ]
	on h1 ip link del v11
}

@test "the kernel of neither host complains" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
	run -1 on h2 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
