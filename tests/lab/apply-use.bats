#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A port in use: who uses it is named, and it is not disturbed without leave. The NIC is mlx5's, on
# which a change of PFC takes the link down.

bats_require_minimum_version 1.5.0
load guests
load nics

setup_file()
{
	export LAB_DIR="$PWD/build/lab-use"
	lab down
	lab up
	become mlx5
	on h1 rdma link add rxe0 type rxe netdev roce0
	on h2 sh -c 'cat >/run/id && chmod 600 /run/id' <"$LAB_DIR/key/id"
	on h1 sh -c 'cat >/run/pfc.yaml' <<-END
		schema: rocecheck.profile/1
		name: pfc
		intent: lossless
		pfc: {enabled: [3]}
		link_pause: {rx: off, tx: off}
	END
}

teardown_file()
{
	lab down
}

apply()
{
	on h1 rocecheck apply /run/pfc.yaml -i roce0 --auto-approve --accept-unproven "$@"
}

@test "queue pairs of a process: named in the plan, and the link stays up without leave" {
	on h1 sh -c 'ib_send_lat -d rxe0 -x 1 -D 100 -u 20 >/run/server.log 2>&1 & echo $! >/run/server.pid'
	on h1 timeout 60 sh -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
	on h2 sh -c 'ib_send_lat -d rxe0 -x 1 -D 100 -u 20 h1 >/run/client.log 2>&1 & echo $! >/run/client.pid'
	on h1 timeout 60 sh -c 'until rdma resource show qp link rxe0 | grep -q "state RTS.*ib_send_lat"; do sleep 0.1; done'
	pid=$(on h1 cat /run/server.pid)
	before=$(downs)
	run -0 on h1 rocecheck plan /run/pfc.yaml -i roce0
	[[ $output == *"used by: 1 queue pair of ib_send_lat (pid $pid, user root)"* ]] || { echo "$output"; return 1; }
	run -0 on h1 rocecheck plan /run/pfc.yaml -i roce0 --json
	[[ $(jq -r '.ports[0].used_by[0]' <<<"$output") == *"(pid $pid, user root)" ]]
	run -2 apply
	[[ $output == *"roce0 is in use by 1 queue pair of ib_send_lat (pid $pid, user root)"* ]]
	[ "$(downs)" = "$before" ]
	run on h1 dcb pfc show dev roce0
	[[ $output == *3:off* ]]
	run -0 apply --accept-disruption
	[ "$(downs)" = $((before + 1)) ]
	on h1 sh -c 'kill -KILL $(cat /run/server.pid)'
	on h2 sh -c 'kill -KILL $(cat /run/client.pid) 2>/dev/null; true'
	on h1 rocecheck rollback
}

@test "the login that comes in over the port, also behind another user's shell" {
	on h1 timeout 60 sh -c 'while rdma resource show qp link rxe0 | grep -q ib_send_lat; do sleep 0.1; done'
	on h2 timeout 60 sh -c 'until ping -q -c 1 -W 1 198.18.0.1 >/dev/null; do sleep 0.1; done'
	run -0 on h2 ssh -i /run/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 198.18.0.1 \
		"env -u SSH_CONNECTION rocecheck plan /run/pfc.yaml -i roce0; true"
	[[ $output == *"used by: this login, from 198.18.0.2"* ]] || { echo "$output"; return 1; }
	# Over the management port there is nobody.
	run -0 on h1 rocecheck plan /run/pfc.yaml -i roce0
	[[ $output != *"used by"* ]]
}
