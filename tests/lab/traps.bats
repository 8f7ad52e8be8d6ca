#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The traps of the drivers' DCB. Each test first sets something as one does by hand, and shows that
# it goes wrong, mostly without a word; then rocecheck gets the same wish on the same NIC, anew, and
# either makes it true, as dcb and the wire confirm, or says before it writes why it cannot be.

bats_require_minimum_version 1.5.0
load guests
load nics
load traps

setup_file()
{
	export LAB_DIR="$PWD/build/lab-traps"
	lab down
	lab up
}

teardown_file()
{
	lab down
}

# sent COUNTER DSCP: of three pings with that DSCP so many are counted there.
sent()
{
	local before

	on h1 ping -q -c 1 -w 20 198.18.0.2 >/dev/null # and its MAC is known
	before=$(stat "$1")
	on h1 ping -q -c 3 -i 0.2 -Q $(($2 * 4)) 198.18.0.2 >/dev/null
	echo $(($(stat "$1") - before))
}

@test "mlx5: one DSCP entry leaves the other 63 as the firmware has them, 0 after a delete" {
	become mlx5
	taken app add dev roce0 dscp-prio 46:2
	taken app del dev roce0 dscp-prio 46:2
	taken app add dev roce0 dscp-prio 26:3
	[ "$(sent tx_prio5_packets 46)" = 0 ]
	ours <<-END
		trust: dscp
		app: {dscp_default: shift3, dscp: {26: 3}}
	END
	done_right
	[ "$(sent tx_prio5_packets 46)" -ge 3 ]
	[ "$(sent tx_prio3_packets 26)" -ge 3 ]
}

@test "mlx5: a new priority for a DSCP replaces the old one, and to delete that one fails" {
	become mlx5
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	denied 'No such file or directory' app del dev roce0 dscp-prio 26:3
	ours <<-END
		trust: dscp
		app: {dscp: {26: 5}}
	END
	done_right
	shows app 'dscp-prio AF31:5'
	[ "$(sent tx_prio5_packets 26)" -ge 3 ]
}

@test "mlx5: shares that do not sum to 100 are refused, and dcb says nothing" {
	become mlx5
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:50
	ours <<-END
		ets: {prio_tc: [0, 0, 0, 3, 0, 0, 0, 0], tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 40, 3: 50}}
	END
	refused 2 'sum to 90'
}

@test "mlx5: every change of PFC takes the link down; no leave, no change, no change, no flap" {
	become mlx5
	before=$(downs)
	taken pfc set dev roce0 prio-pfc all:off 4:on
	[ "$(downs)" = $((before + 1)) ]
	ours <<-END
		pfc: {enabled: [3]}
		policy: {disruption: deny}
	END
	refused 2 'flap'
	[ "$(downs)" = $((before + 1)) ]
	shows pfc '4:on'
	ours <<-END
		pfc: {enabled: [3]}
		policy: {disruption: allow}
	END
	done_right
	[ "$(downs)" = $((before + 2)) ]
	ours <<-END
		pfc: {enabled: [3]}
		policy: {disruption: allow}
	END
	done_right
	[ "$(downs)" = $((before + 2)) ]
}

@test "mlx5: what the firmware's agent owns it may set again, unless it is taken from it first" {
	become mlx5 fw_dcbx=1
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60
	run on h1 dcb dcbx show dev roce0
	[[ $output != *host* ]]
	ours <<-END
		dcbx: {mode: [host, ieee]}
		ets: {prio_tc: [0, 0, 0, 3, 0, 0, 0, 0], tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 50, 3: 50}}
	END
	done_right
	shows dcbx host
	shows ets 'tc-bw 0:50 1:0 2:0 3:50'
}

@test "mlx5: an APP entry that is no DSCP is refused; ours takes back what it had done by then" {
	become mlx5
	denied 'Invalid argument' app add dev roce0 dgram-port-prio 4791:3
	ours <<-END
		trust: dscp
		app: {dscp: {26: 3}, udp: {4791: 3}}
	END
	[ "$status" = 3 ] || [ "$status" = 5 ]
	run on h1 dcb app show dev roce0
	[[ $output != *AF31* && $output != *4791* ]]
}

@test "mlx5: a rate limit between two of its steps is rounded, and nobody says so" {
	become mlx5
	taken maxrate set dev roce0 tc-maxrate 3:128kbit
	shows maxrate '3:800Kbit'
	ours <<-END
		ets: {tc_maxrate_kbps: {3: 150000}}
	END
	refused 3 'steps of 100 Mbit/s'
	ours <<-END
		ets: {tc_maxrate_kbps: {3: 200000}}
	END
	done_right
}

@test "mlx5: storm prevention takes 80 to 8000 ms, and automatic reads as 100" {
	become mlx5
	run on h1 ethtool --set-tunable roce0 pfc-prevention-tout 79
	[[ $output == *"Invalid argument"* ]]
	ours <<-END
		pfc: {storm_prevention_ms: 79}
	END
	refused 2 'RC-INP-005'
	ours <<-END
		pfc: {storm_prevention_ms: auto}
	END
	done_right
	on h1 ethtool --get-tunable roce0 pfc-prevention-tout | grep -qx 'pfc-prevention-tout: 100'
	run -0 on h1 rocecheck rollback
	on h1 ethtool --get-tunable roce0 pfc-prevention-tout | grep -qx 'pfc-prevention-tout: 0'
}

@test "mlx4: APP entries are shown and never reach the device" {
	become mlx4
	taken app add dev roce0 dscp-prio 26:3
	shows app 'AF31:3'
	[ "$(sent tx_prio_3_packets 26)" = 0 ]
	become mlx4
	ours <<-END
		trust: dscp
		app: {dscp: {26: 3}}
	END
	refused 3 'app.dscp'
	run on h1 dcb app show dev roce0
	[[ $output != *AF31* ]]
}

@test "bnxt: PFC before ETS is refused" {
	become bnxt
	unchanged pfc set dev roce0 prio-pfc all:off 3:on
	ours <<-END
		pfc: {enabled: [3]}
		ets: {prio_tc: [0, 0, 0, 1, 0, 0, 0, 0], tc_tsa: {0: ets, 1: ets}, tc_tx_bw: {0: 50, 1: 50}}
		policy: {disruption: allow}
	END
	done_right
	shows pfc '3:on'
}

@test "bnxt: reads zeros until it was set; they are no state to go back to" {
	become bnxt
	shows ets 'tc-tsa 0:strict 1:strict'
	run on h1 rocecheck show -i roce0
	[[ $output == *"unknown (the driver does not report it):"*"ets.tc_tsa"* ]]
	ours <<-END
		ets: {prio_tc: [0, 0, 0, 1, 0, 0, 0, 0], tc_tsa: {0: ets, 1: ets}, tc_tx_bw: {0: 50, 1: 50}}
		policy: {disruption: allow}
	END
	done_right
	run on h1 rocecheck rollback
	[ "$status" = 6 ]
	[[ $output == *"is unknown"* ]]
}

@test "bnxt: a class of 0 % is starving; dcb says nothing, ours says it before it writes" {
	become bnxt
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 1:ets 2:ets tc-bw all:0 0:60 1:40 \
		prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
	ours <<-END
		ets: {prio_tc: [0, 1, 2, 3, 4, 5, 6, 7], tc_tsa: {0: ets, 1: ets, 2: ets}, tc_tx_bw: {0: 60, 1: 40, 2: 0}}
		policy: {disruption: allow}
	END
	refused 2 'TC 2 is ets but has no share'
}

@test "bnxt: what it does not know, 524, arrives as ENOMEM; ours does not speak of memory" {
	become bnxt
	answers 'answer -12' ets 255 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7
	ours <<-END
		ets: {prio_tc: [0, 1, 2, 3, 4, 5, 6, 7], tc_tsa: {0: vendor}}
		policy: {disruption: allow}
	END
	[ "$status" = 3 ] || [ "$status" = 5 ] || [ "$status" = 6 ]
	[[ $output != *emory* ]]
	[[ $output == *support* || $output == *vendor* ]] || { echo "$output"; return 1; }
}

@test "bnxt: to add the new entry and delete the old one clears the DSCP; ours deletes first" {
	become bnxt
	taken ets set dev roce0 tc-tsa all:strict 0:ets tc-bw all:0 0:100 prio-tc all:0 3:3 4:4
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	taken app del dev roce0 dscp-prio 26:3
	shows app 'AF31:4'
	[ "$(sent tx_packets_pri4 26)" = 0 ]
	become bnxt
	taken ets set dev roce0 tc-tsa all:strict 0:ets tc-bw all:0 0:100 prio-tc all:0 3:3 4:4
	taken app add dev roce0 dscp-prio 26:3
	ours <<-END
		trust: dscp
		app: {dscp: {26: 4}}
	END
	done_right
	[ "$(sent tx_packets_pri4 26)" -ge 3 ]
}

@test "bnxt: its firmware's agent refuses all, which dcb does not say" {
	become bnxt fw_dcbx=1
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets tc-bw all:0 0:100
	ours <<-END
		ets: {prio_tc: [0, 0, 0, 1, 0, 0, 0, 0], tc_tsa: {0: ets, 1: ets}, tc_tx_bw: {0: 50, 1: 50}}
		policy: {disruption: allow}
	END
	refused 3 'NVM'
}

# cc FILE TEXT: a file of congestion control holds that, below sysfs or debugfs.
cc()
{
	[ "$(on h1 cat "/sys/$1")" = "$2" ] || { echo "$1: $(on h1 cat "/sys/$1")"; return 1; }
}

@test "mlx5: congestion control in the files of OFED and of the kernel, and back" {
	become mlx5
	ours <<-END
		congestion_control:
		  np: {enable: [3], cnp_dscp: 46, cnp_prio: 5, min_time_between_cnps_us: 5000}
		  rp: {enable: [3]}
		  params: {rpg_ai_rate: 3, dce_tcp_g: 900}
	END
	done_right
	cc class/net/roce0/ecn/roce_np/enable/3 1
	cc class/net/roce0/ecn/roce_rp/enable/3 1
	cc class/net/roce0/ecn/roce_np/enable/4 0
	cc class/net/roce0/ecn/roce_np/cnp_dscp 46
	cc kernel/debug/mlx5/mlx5_core.0/cc_params/np_cnp_prio 5
	cc kernel/debug/mlx5/mlx5_core.0/cc_params/rp_dce_tcp_g 900
	run -0 on h1 rocecheck rollback
	cc class/net/roce0/ecn/roce_np/cnp_dscp 48
	cc kernel/debug/mlx5/mlx5_core.0/cc_params/rp_dce_tcp_g 960
}

@test "bnxt: one switch for all of it" {
	become bnxt
	before=$(on h1 cat /sys/kernel/debug/bnxt_re/bnxt_en.0/cc_config/enable_cc)
	[ "$before" = 0 ] || on h1 sh -c 'echo 0 >/sys/kernel/debug/bnxt_re/bnxt_en.0/cc_config/enable_cc'
	ours <<-END
		congestion_control: {algorithm: dcqcn, np: {cnp_dscp: 46, cnp_prio: 7}, params: {rtt: 9000}}
	END
	done_right
	cc kernel/debug/bnxt_re/bnxt_en.0/cc_config/enable_cc 1
	cc kernel/debug/bnxt_re/bnxt_en.0/cc_config/alt_vlan_dscp 46
	cc kernel/debug/bnxt_re/bnxt_en.0/cc_config/rtt 9000
	ours <<-END
		congestion_control: {np: {enable: [3]}}
	END
	refused 3 'congestion_control.np.enable'
}

@test "generic: two priorities of one DSCP are no state that a profile has; ours says which" {
	become generic
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	shows app 'AF31:4'
	ours <<-END
		trust: dscp
		app: {dscp: {26: 5}}
	END
	refused 3 'DSCP 26'
}

@test "APP entries go with the driver, ETS and PFC as well; show tells it" {
	become mlx5
	taken app add dev roce0 dscp-prio 26:3
	become mlx5
	run on h1 dcb app show dev roce0
	[[ $output != *AF31* ]]
	run -0 on h1 rocecheck show -i roce0
	[[ $output =~ trust\ +pcp ]]
}

# roce DEVICE: what devlink says of its enable_roce.
roce()
{
	on h1 devlink -j dev param show "platform/$1" name enable_roce | jq '.param[][].values[].value'
}

@test "mlx5: RoCE counts after a reload, which takes all that was set; ours sets it again, and back" {
	become mlx5 roce=0
	taken pfc set dev roce0 prio-pfc all:off 3:on
	on h1 devlink dev param set platform/mlx5_core.0 name enable_roce value true cmode driverinit
	on h1 timeout 60 devlink dev reload platform/mlx5_core.0
	shows pfc '3:off'
	[ "$(on h1 cat /sys/class/net/roce0/mtu)" = 1500 ]
	become mlx5 roce=0
	[ "$(roce mlx5_core.0)" = false ]
	taken pfc set dev roce0 prio-pfc all:off 3:on
	taken app add dev roce0 dscp-prio 26:3
	profile=$'rdma: {enable_roce: on}\nmtu: {netdev: 4200}\npfc: {enabled: [3]}\napp: {dscp: {26: 3}}'
	ours <<<"$profile"
	refused 2 'reset'
	[ "$(roce mlx5_core.0)" = false ]
	ours <<<"$profile"$'\npolicy: {disruption: allow}'
	done_right
	[[ $output == *"already matches"* ]]
	[ "$(roce mlx5_core.0)" = true ]
	shows pfc '3:on'
	shows app 'AF31:3'
	[ "$(on h1 cat /sys/class/net/roce0/{mtu,carrier} | xargs)" = "4200 1" ]
	run -0 on h1 rocecheck rollback
	[ "$(roce mlx5_core.0)" = false ]
	shows pfc '3:on'
	shows app 'AF31:3'
	[ "$(on h1 cat /sys/class/net/roce0/mtu)" = 4200 ]
}

@test "ice takes RoCE at once, bnxt after a reset of the device, of which ours tells" {
	become ice roce=0
	ours <<<$'rdma: {enable_roce: on}\npolicy: {disruption: allow}'
	done_right
	[ "$(roce ice.0)" = true ]
	become bnxt roce=0
	ours <<<$'rdma: {enable_roce: on}\npolicy: {disruption: allow}'
	refused 3 'devlink dev param set platform/bnxt_en.0 name enable_roce value true cmode permanent, then reboot'
	[ "$(roce bnxt_en.0)" = false ]
}

@test "the kernel complains about nothing" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
