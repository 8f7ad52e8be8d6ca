#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The traps of ice, shown by hand and then done right, as traps.bats does with those of the others.

bats_require_minimum_version 1.5.0
load guests
load nics
load traps

setup_file()
{
	own_lab lab-traps-ice
}

teardown_file()
{
	lab_ends
}

@test "ice: the first DSCP entry resets ETS that was set before it" {
	become ice
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:60 prio-tc all:0 3:1
	taken app add dev roce0 dscp-prio 26:1
	shows ets 'tc-bw 0:100 1:0'
	become ice
	ours <<-END
		trust: dscp
		app: {dscp: {26: 1, 0: 0}}
		ets: {tc_tsa: {0: ets, 1: ets}, tc_tx_bw: {0: 40, 1: 60}}
		pfc: {enabled: [1]}
		policy: {disruption: allow}
	END
	done_right
	shows ets 'tc-bw 0:40 1:60'
	shows pfc '1:on'
}

@test "ice: a mapped DSCP is not mapped again; ours deletes first, and never the last entry" {
	become ice
	taken app add dev roce0 dscp-prio 26:1
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:30 2:30
	taken pfc set dev roce0 prio-pfc all:off 1:on
	denied 'Invalid argument' app add dev roce0 dscp-prio 26:2
	ours <<-END
		trust: dscp
		app: {dscp: {26: 2, 0: 0}}
		policy: {disruption: allow}
	END
	done_right
	shows app 'AF31:2'
	shows ets 'tc-bw 0:40 1:30 2:30'
	shows pfc '1:on'
}

@test "ice: with the only DSCP entry remapped by hand ETS and PFC go; ours keeps them" {
	become ice
	taken app add dev roce0 dscp-prio 26:1
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:30 2:30
	taken pfc set dev roce0 prio-pfc all:off 1:on
	taken app del dev roce0 dscp-prio 26:1
	taken app add dev roce0 dscp-prio 26:2
	shows pfc '1:off'
	become ice
	taken app add dev roce0 dscp-prio 26:1
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:30 2:30
	taken pfc set dev roce0 prio-pfc all:off 1:on
	ours <<-END
		trust: dscp
		app: {dscp: {26: 2}}
		policy: {disruption: allow}
	END
	done_right
	shows app 'AF31:2'
	shows ets 'tc-bw 0:40 1:30 2:30'
	shows pfc '1:on'
	run -0 on h1 rocecheck rollback
	shows app 'AF31:1'
	shows pfc '1:on'
}

@test "ice: deleting the last DSCP entry resets ETS and PFC; ours writes them after it" {
	become ice
	taken app add dev roce0 dscp-prio 26:1
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:60
	taken pfc set dev roce0 prio-pfc all:off 1:on
	taken app del dev roce0 dscp-prio 26:1
	shows pfc '1:off'
	become ice
	taken app add dev roce0 dscp-prio 26:1
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:60
	taken pfc set dev roce0 prio-pfc all:off 1:on
	ours <<-END
		trust: pcp
		ets: {prio_tc: [0, 0, 0, 1, 0, 0, 0, 0], tc_tsa: {0: ets, 1: ets}, tc_tx_bw: {0: 40, 1: 60}}
		pfc: {enabled: [3]}
		policy: {disruption: allow, on_unsupported: warn}
	END
	done_right
	shows ets 'tc-bw 0:40 1:60'
	shows pfc '3:on'
}

@test "ice: a second lossless class and classes with a gap are not taken, which dcb does not say" {
	become ice
	taken ets set dev roce0 tc-tsa all:ets tc-bw all:0 0:40 1:30 2:30 prio-tc all:0 3:1 4:2
	taken pfc set dev roce0 prio-pfc all:off 3:on
	unchanged pfc set dev roce0 prio-pfc all:off 3:on 4:on
	ours <<-END
		pfc: {enabled: [3, 4]}
		policy: {disruption: allow}
	END
	[ "$status" = 3 ]
	shows pfc '4:off'
	ours <<-END
		ets: {prio_tc: [0, 0, 0, 2, 0, 0, 0, 0], tc_tsa: {0: ets, 2: ets}, tc_tx_bw: {0: 50, 2: 50}}
		policy: {disruption: allow}
	END
	[ "$status" = 3 ]
	shows ets 'tc-bw 0:40 1:30 2:30'
}

@test "ice: in a bond every setting is refused, which dcb does not say" {
	become ice
	on h1 sh -ec 'ip link add bond7 type bond; ip link set roce0 down; ip link set roce0 master bond7; ip link set roce0 up'
	unchanged pfc set dev roce0 prio-pfc all:off 0:on
	ours <<-END
		pfc: {enabled: [0]}
		policy: {disruption: allow}
	END
	on h1 ip link delete bond7
	refused 3 'in a bond'
}

@test "ice: while PFC is on link pause reads off and cannot be set; ours sets it before" {
	become ice
	taken pfc set dev roce0 prio-pfc all:off 0:on
	on h1 ethtool -A roce0 rx off tx off || true
	taken pfc set dev roce0 prio-pfc all:off
	on h1 ethtool -a roce0 | grep -q '^RX:.*on'
	become ice
	ours <<-END
		link_pause: {rx: off, tx: off}
		pfc: {enabled: [0]}
		policy: {disruption: allow}
	END
	done_right
	taken pfc set dev roce0 prio-pfc all:off
	on h1 ethtool -a roce0 | grep -q '^RX:.*off'
}

@test "ice: the agent in its firmware refuses all until its flag is off" {
	become ice fw_dcbx=1
	unchanged pfc set dev roce0 prio-pfc all:off 0:on
	ours <<-END
		pfc: {enabled: [0]}
		policy: {disruption: allow}
	END
	refused 3 'fw-lldp-agent off'
}

@test "ice: with leave ours turns that flag off first, and back on when it undoes" {
	become ice fw_dcbx=1
	ours <<-END
		dcbx: {mode: [host, ieee], firmware_agent: off}
		pfc: {enabled: [0]}
		policy: {disruption: allow}
	END
	done_right
	on h1 ethtool --show-priv-flags roce0 | grep -q 'fw-lldp-agent *: off'
	shows pfc '0:on'
	run -0 on h1 rocecheck rollback
	on h1 ethtool --show-priv-flags roce0 | grep -q 'fw-lldp-agent *: on'
}

@test "the kernel complains about nothing" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
