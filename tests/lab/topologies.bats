#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests boot once and serve many topologies, each from a clean state.
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

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$PWD/build/topologies-lab
	lab down
	lab up tests/lab/topologies/three.yaml
}

teardown_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	lab down
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

@test "reset leaves nothing of the past" {
	lab switch '{"op": "set", "path": "port.p2.pfc", "value": []}' | jq -e .ok
	on h2 bash -c 'rocecheck apply lab --auto-approve --accept-unproven; lldpad -d
		ip link add link roce0 name v5 type vlan id 5; tc qdisc add dev eth0 root netem delay 1ms
		mkdir -p /sys/kernel/config/rdma_cm/rxe0
		setsid sleep 1000 & ib_write_bw -d rxe0 & tcpdump -U -i roce0 -w /tmp/y' \
		</dev/null >"$BATS_TEST_TMPDIR/past" 2>&1 3>&- &
	on h2 timeout 60 sh -c 'until pgrep ib_write_bw >/dev/null && [ -s /tmp/y ]; do sleep 0.1; done'
	on h2 ls /var/lib/rocecheck/tx /sys/class/net/v5
	lab reset
	run -1 on h2 pgrep -x 'lldpad|ib_write_bw|tcpdump'
	run -1 on h2 pgrep -f 'sleep 1000'
	[ -z "$(on h2 sh -c 'ls -A /var/lib/rocecheck /tmp /dev/shm' | grep -v ':$')" ]
	[ "$(on h2 ls /sys/class/net)" = $'eth0\nlo\nmgmt0\nroce0' ]
	run -1 on h2 sh -c 'tc qdisc show | grep netem'
	on h2 rdma link show rxe0/1 | grep -q 'state ACTIVE .* netdev roce0'
	[ "$(on h2 dcb -j pfc show dev roce0 | jq '.prio_pfc | any')" = false ]
	[ "$(on h2 sh -c 'ls /sys/kernel/config/rdma_cm')" = "" ]
	lab switch '{"op": "stats"}' | jq -e '.switches.leaf1.ports.p2.prio["3"] | .pfc and .rx_frames == 0'
	on h1 ping -q -c 1 -W 5 h2
}

@test "reset gives NICs their parameters, of all hosts or of one, and takes them back" {
	lab reset rate=8 h2:personality=mlx5 h2:rate=6
	[ "$(for h in h1 h2 h3; do on $h cat /sys/module/labnic/parameters/{rate,personality}; done)" = \
		$'8\ngeneric\n6\nmlx5\n8\ngeneric' ]
	lab reset
	[ "$(for h in h1 h2; do on $h cat /sys/module/labnic/parameters/{rate,personality}; done)" = \
		$'25\ngeneric\n25\ngeneric' ]
}

@test "reset refuses what it does not know before it touches anything" {
	on h1 touch /tmp/here
	for word in rat=8 h7:rate=8 h1:lower=eth1 rate nowhere.yaml; do
		run -2 lab reset "$word"
		echo "$output"
		[[ $output == *"$word"* ]]
	done
	on h1 ls /tmp/here
	run -3 lab reset h1:personality=none
	[[ $output == *"h1 cannot be reset"*"no personality 'none'"* ]]
	lab reset
	on h1 ping -q -c 1 -W 5 h2
	LAB_DIR=$BATS_TEST_TMPDIR/none run -255 lab reset
	[[ $output == *"Next: lab up"* ]]
}
