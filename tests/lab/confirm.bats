#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Applies that somebody has to confirm: on time, late, never; by a login over the very port, which is
# gone by then; with the tool killed in the middle. dcb and ip in the guest say what is set.

bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	export LAB_DIR="$PWD/build/lab-confirm"
	lab down
	lab up
	on h1 sh -c 'cat >/run/id && chmod 600 /run/id' <"$LAB_DIR/key/id"
	on h2 sh -c 'cat >/run/guarded.yaml' <<-END
		schema: rocecheck.profile/1
		name: guarded
		intent: lossless
		trust: dscp
		app: {dscp: {26: 3, 48: 6}}
		ets:
		  prio_tc: [0, 0, 0, 3, 0, 0, 6, 0]
		  tc_tsa: {0: ets, 3: ets, 6: strict}
		  tc_tx_bw: {0: 50, 3: 50}
		pfc: {enabled: [3]}
		mtu: {netdev: 2000}
		policy: {disruption: allow}
	END
}

teardown_file()
{
	lab down
}

# The state of h2's port, as others read it.
state()
{
	on h2 bash -c 'for object in ets pfc app; do dcb -j $object show dev roce0; done
		cat /sys/class/net/roce0/mtu'
}

# Within a minute h2's MTU is that.
mtu_becomes()
{
	on h2 timeout 60 sh -c 'until [ "$(cat /sys/class/net/roce0/mtu)" = "$0" ]; do sleep 0.2; done' "$1"
}

apply()
{
	on h2 rocecheck apply /run/guarded.yaml --auto-approve --accept-unproven "$@"
}

# No dead-man is left, and no cgroup of one.
nobody_waits()
{
	on h2 timeout 20 sh -c 'while pidof -q rocecheck; do sleep 0.2; done'
	run on h2 sh -c 'ls -d /sys/fs/cgroup/rocecheck-* 2>/dev/null'
	[ -z "$output" ]
}

@test "nobody confirms: it comes back by itself, and says so" {
	state >"$BATS_TEST_TMPDIR/before"
	run -0 apply --confirm-within 3s
	[[ $output == *"Not final: rocecheck undoes this at "*" unless you run: rocecheck confirm"* ]]
	run -0 on h2 rocecheck rollback --list
	[[ $output == *"waits for confirmation"* ]]
	mtu_becomes 4200
	nobody_waits
	state | diff "$BATS_TEST_TMPDIR/before" -
	run -1 on h2 rocecheck confirm
	[[ $output == *"is undone: it was not confirmed in time"* ]]
}

@test "confirmed it stays, once; another one cannot begin before" {
	run -0 apply --confirm-within 10s
	run -3 on h2 rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"waits for confirmation"* ]]
	run -0 on h2 rocecheck confirm
	nobody_waits
	[ "$(on h2 cat /sys/class/net/roce0/mtu)" = 2000 ]
	run -1 on h2 rocecheck confirm
	run -0 on h2 rocecheck rollback
	[ "$(on h2 cat /sys/class/net/roce0/mtu)" = 4200 ]
}

@test "a login over the port itself is lost with all it ran: the port comes back" {
	state >"$BATS_TEST_TMPDIR/before"
	on h1 sh -c 'ssh -i /run/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 198.18.0.2 \
		"rocecheck apply /run/guarded.yaml --auto-approve --accept-unproven --confirm-within 5s; sleep 100"' \
		>"$BATS_TEST_TMPDIR/login" 2>&1 3>&- &
	mtu_becomes 2000
	# The session of sshd that has the connection from h1, and what runs in it, at once.
	on h2 bash -c 'for session in $(ss -Htnp "sport = 22" dst 198.18.0.1 | grep -o "pid=[0-9]*" | cut -d= -f2 | sort -u); do
		pkill -KILL -P "$session"; kill -KILL "$session"; done; pkill -KILL -x sleep; true'
	wait $! || true
	mtu_becomes 4200
	nobody_waits
	state | diff "$BATS_TEST_TMPDIR/before" -
}

@test "the tool is killed in the middle: undone at once, long before its time" {
	state >"$BATS_TEST_TMPDIR/before"
	run -0 on h2 /rocecheck/build/tools/killat -s 1 rocecheck apply /run/guarded.yaml --auto-approve \
		--accept-unproven --confirm-within 600s
	nobody_waits
	state | diff "$BATS_TEST_TMPDIR/before" -
	run -0 on h2 rocecheck rollback --list
	[[ $(tail -n1 <<<"$output") == *undone* ]]
}

@test "out of memory: what runs with the login is killed, the dead-man is not" {
	state >"$BATS_TEST_TMPDIR/before"
	# All in the login's cgroup ends when it has no memory. The dead-man is in another one, and where the host has none it is
	# passed over.
	on h2 sh -c 'mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup'
	run -0 on h2 bash -c 'cd /sys/fs/cgroup && echo +memory >cgroup.subtree_control && mkdir -p login &&
			echo 1 >login/memory.oom.group || exit
		(echo $BASHPID >login/cgroup.procs
		exec rocecheck apply /run/guarded.yaml --auto-approve --confirm-within 15s --settle 10s >/run/said 2>&1) &
		tool=$!
		until grep -q "rocecheck confirm" /run/said; do sleep 0.1; done
		cat /proc/$(cat rocecheck-*/cgroup.procs)/oom_score_adj
		echo 30M >login/memory.max
		(echo $BASHPID >login/cgroup.procs; exec head -c 200M /dev/zero | tail -c 200M >/dev/null)
		wait $tool; echo "tool $?, MTU $(cat /sys/class/net/roce0/mtu), dead-men $(pidof rocecheck | wc -w)"
		grep oom_kill login/memory.events; rmdir login'
	echo "$output"
	[[ $output == "-1000"*"tool 137, MTU 2000, dead-men 1"* ]]
	mtu_becomes 4200
	nobody_waits
	state | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a reboot before the confirmation: lldpad's file and the kernel are as before" {
	on h2 sh -c 'mkdir -p /var/lib/lldpad && cat >/run/agent.yaml' <<-END
		schema: rocecheck.profile/1
		name: agent
		intent: lossless
		dcbx: {agent: lldpad, peer: {require: ignore}}
		pfc: {enabled: [3]}
		mtu: {netdev: 2000}
		policy: {disruption: allow}
	END
	state >"$BATS_TEST_TMPDIR/before"
	changes=$(on h2 rocecheck plan /run/agent.yaml --json | jq .changes)
	[ "$changes" -ge 2 ]
	run -0 on h2 rocecheck apply /run/agent.yaml --auto-approve --accept-unproven --confirm-within 600s
	on h2 grep -q 'enabled' /var/lib/lldpad/lldpad.conf
	# What a host has lost after a reboot: its processes and its boot id.
	on h2 sh -c 'kill -KILL $(pidof rocecheck); cat /proc/sys/kernel/random/uuid >/run/boot_id
		mount --bind /run/boot_id /proc/sys/kernel/random/boot_id'
	run -0 on h2 rocecheck apply --last --boot
	[[ $output == *"is undone (not confirmed before the reboot)"* ]]
	on h2 umount /proc/sys/kernel/random/boot_id
	state | diff "$BATS_TEST_TMPDIR/before" -
	[ "$(on h2 rocecheck plan /run/agent.yaml --json | jq .changes)" = "$changes" ]
}
