#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# doctor on a port that mlx5 would drive: settings that are wrong are found and named, right ones are clean, and
# nothing is written. The oracles are dcb, ethtool and sysfs in the guest. Runs from the root of the tree.

bats_require_minimum_version 1.5.0
load guests
load nics

setup_file()
{
	export LAB_DIR=${LAB_DIR:-$PWD/build/lab-doctor}
	lab down
	lab up 1
	become mlx5
	on h1 rdma link add rxe0 type rxe netdev roce0
	# Everything that a reader could have written.
	on h1 tee /tmp/state >/dev/null <<-'EOF'
		for object in ets pfc app dcbx buffer maxrate; do
			dcb -j "$object" show dev roce0
		done
		ethtool -a roce0
		cat /sys/class/net/roce0/mtu
		ls -R /sys/kernel/config/rdma_cm /var/lib/rocecheck 2>&1
		# But for unix_diag, which the kernel loads for the question who made lldpad's socket.
		cut -d' ' -f1 /proc/modules | grep -vx unix_diag | sort
		sysctl net.ipv4.conf.roce0
	EOF
}

teardown_file()
{
	lab down
}

# doctor CODE OPTION...: its report in $output, the port as it was.
doctor()
{
	local code=$1 before

	shift
	before=$(on h1 sh /tmp/state)
	run "-$code" --separate-stderr on h1 bash -c 'ulimit -l unlimited; rocecheck doctor "$@"' -- "$@"
	[ "$(on h1 sh /tmp/state)" = "$before" ]
}

# found RULE TEXT: the report says so.
found()
{
	jq -e --arg rule "$1" --arg text "$2" 'any(.findings[];
		.rule == $rule and .verdict == "FAIL" and (.text | contains($text)))' <<<"$output" >/dev/null ||
		{ echo "$1 says not: $2"; jq -r '.findings[] | "\(.verdict) \(.rule) \(.text)"' <<<"$output"; return 1; }
}

@test "wrong settings are found, each by its rule" {
	on h1 dcb ets set dev roce0 prio-tc all:0 tc-tsa all:strict tc-bw all:0
	on h1 dcb pfc set dev roce0 prio-pfc all:off 4:on
	on h1 ethtool -A roce0 rx on tx on
	on h1 ip link set roce0 mtu 1500
	# Stopped: some seconds after its start it writes settings of its own.
	on h1 sh -c 'lldpad -d && until pidof lldpad; do sleep 0.1; done; pkill -STOP -x lldpad'
	doctor 1 lab --json
	found RC-PFC-002 'pfc.enabled is [4], the profile wants [3]'
	found RC-PFC-007 'on together with PFC'
	found RC-QOS-001 'trust is pcp, the profile wants dscp'
	found RC-ETS-002 'traffic class 0'
	found RC-MTU-002 'the RDMA MTU is 1024'
	found RC-TOP-004 'lldpad runs'
	jq -e '.findings as $all | $all[] | select(.rule == "RC-PFC-002") | $all[.caused_by].rule == "RC-TOP-004"' <<<"$output"
	# Without a profile what is wrong is wrong all the same.
	doctor 1 --json
	found RC-PFC-007 'on together with PFC'
	found RC-ETS-002 'traffic class 0'
	found RC-QOS-009 'packets are untagged'
	on h1 sh -c 'pkill -KILL -x lldpad; while pidof lldpad; do sleep 0.1; done; rm -f /dev/shm/lldpad.state'
}

@test "right settings are clean" {
	on h1 rocecheck apply lab --auto-approve --accept-unproven >/dev/null
	doctor 0 lab --json
	jq -e '.counts.fail == 0 and .counts.pass > 30' <<<"$output"
	doctor 0 --json
}

@test "the environment is that of the port, by sysfs" {
	doctor 0 lab --env
	on h1 bash -ec "$output"'
		ports=/sys/class/infiniband/rxe0/ports/1
		[ "$(<$ports/gid_attrs/types/$UCX_IB_GID_INDEX)" = "RoCE v2" ]
		[ "$(<$ports/gids/$UCX_IB_GID_INDEX)" = 0000:0000:0000:0000:0000:ffff:c612:0001 ]
		[ "$NCCL_IB_GID_INDEX,$NCCL_IB_HCA,$UCX_NET_DEVICES" = "$UCX_IB_GID_INDEX,=rxe0:1,rxe0:1" ]
		[ "$NCCL_IB_TC,$UCX_IB_TRAFFIC_CLASS" = 106,106 ]'
}

@test "a bond has no queues: its ports are judged, and told apart" {
	on h1 bash -ec 'rdma link delete rxe0
		ip link add bond0 type bond mode active-backup
		ip link set roce0 down
		ip link set roce0 master bond0
		ip link set bond0 mtu 4200 up
		ip address add 198.18.0.1/24 dev bond0
		rdma link add rxe0 type rxe netdev bond0'
	doctor 1 lab --json
	jq -e 'all(.findings[] | select(.port != ""); .port == "roce0")' <<<"$output"
	jq -e 'any(.findings[]; .rule == "RC-PFC-002" and .verdict == "PASS")' <<<"$output"
	jq -e '.environment.UCX_NET_DEVICES == "rxe0:1"' <<<"$output"
}
