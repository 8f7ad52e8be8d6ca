#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lldpad as the one that sets ETS, PFC and APP: two hosts and a switch that agree by DCBX, or not. The
# oracles are lldptool, dcb and what the switch has heard. Runs from the root of the tree.

bats_require_minimum_version 1.5.0
load guests
load lldpad

setup_file()
{
	export LAB_DIR=${LAB_DIR:-$PWD/build/lab-dcbx}
	lab down
	mkdir -p "$LAB_DIR.d"
	sed 's/lldp: {interval: 2s/lldp: {interval: 1s/' tests/lab/topologies/two.yaml >"$LAB_DIR.d/two.yaml"
	lab up "$LAB_DIR.d/two.yaml"
}

teardown_file()
{
	lab down
	rm -r "$LAB_DIR.d"
}

teardown()
{
	lab switch '{"op": "set", "path": "port.p1.pfc", "value": [3]}' >/dev/null
	lab switch '{"op": "set", "path": "port.p1.lldp.willing", "value": false}' >/dev/null
}

@test "a willing host takes what the switch has, and that is no drift" {
	lab switch '{"op": "set", "path": "port.p1.pfc", "value": [3, 5]}' | jq -e .ok
	agent h1
	profile h1 <<-'EOF'
		dcbx: {agent: lldpad, peer: {require: ignore}}
		ets: {willing: on}
		pfc: {enabled: [3], willing: on}
	EOF
	run -0 apply h1 --settle 6s
	has h1 pfc '.prio_pfc[3] and .prio_pfc[5]'
	run -0 on h1 rocecheck plan /run/agent.yaml -i roce0 --exit-code
}

@test "a willing switch takes what a host has: both ends agree" {
	lab switch '{"op": "set", "path": "port.p2.lldp.willing", "value": true}' | jq -e .ok
	lab switch '{"op": "set", "path": "port.p2.prio.3.pfc", "value": "auto"}' | jq -e .ok
	lab switch '{"op": "stats"}' | jq -e '.switches.leaf1.ports.p2.prio["3"].pfc | not'
	agent h2
	speaker h2 ', peer: {require: fail, match: [pfc]}'
	run -0 apply h2 --settle 6s
	heard p2 '.settings.pfc.enabled == [3]'
	lab switch '{"op": "stats"}' | jq -e '.switches.leaf1.ports.p2.prio["3"].pfc'
	no_agent h2
}

@test "a switch that wants something else is found and named, with port and field" {
	lab switch '{"op": "set", "path": "port.p1.pfc", "value": [4]}' | jq -e .ok
	agent h1
	speaker h1 ', peer: {require: fail, match: [pfc]}'
	run -1 apply h1 --settle 6s
	[[ $output == *"roce0: neighbour leaf1 port p1 advertises pfc.enabled [4], expected [3]"* ]]
	run -1 --separate-stderr apply h1 --settle 6s --json
	jq -e '.outcome == "unchanged" and (.later | any(test("leaf1 port p1")))' <<<"$output"
	speaker h1 ', peer: {match: [pfc]}'
	run -0 apply h1 --settle 6s
	[[ $output == *"warning: roce0: neighbour leaf1"* ]]
}

@test "lldpad stopped: its file is changed, and it does so when it starts" {
	agent h1
	no_agent h1
	on h1 dcb pfc set dev roce0 prio-pfc all:off
	speaker h1
	run -0 apply h1 --settle 1s
	[[ $output == *"lldpad is not running"* ]]
	on h1 dcb -j pfc show dev roce0 | jq -e '.prio_pfc | any | not'
	on h1 sh -c 'rm -f /dev/shm/lldpad.state; lldpad -d'
	has h1 pfc '.prio_pfc[3]'
	run -0 on h1 rocecheck plan /run/agent.yaml -i roce0 --exit-code
	run -0 on h1 rocecheck rollback
	on h1 lldptool -t -i roce0 -V PFC -c willing | grep -q 'willing=yes'
}

@test "lldpad that dies in the dialogue: undone, in its file and in the kernel" {
	agent h1
	kernel h1 >"$BATS_TEST_TMPDIR/kernel"
	speaker h1
	on h1 bash -c 'kill -STOP $(pidof lldpad); (sleep 4; kill -KILL $(pidof lldpad)) >/dev/null 2>&1 &'
	run -5 apply h1
	[[ $output == *lldpad* ]]
	kernel h1 | diff "$BATS_TEST_TMPDIR/kernel" -
	run -1 on h1 grep -E 'enabled|up2tc|APP' /var/lib/lldpad/lldpad.conf
	no_agent h1
}

@test "lldpad started behind the back of an apply: the second look finds what it wiped, and names it" {
	lab switch '{"op": "set", "path": "port.p1.pfc", "value": [4]}' | jq -e .ok
	no_agent h1
	on h1 rm -f /var/lib/lldpad/lldpad.conf /dev/shm/lldpad.state
	profile h1 <<-'EOF'
		ets: {prio_tc: {3: 3}, tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 50, 3: 50}}
		pfc: {enabled: [3]}
	EOF
	on h1 bash -c 'touch /run/mark
		(until find /var/lib/rocecheck/tx -name journal -newer /run/mark -exec grep -l "\"done\"" {} + | grep -q .
		do sleep 0.1; done
		lldpad -d) >/dev/null 2>&1 &'
	run -1 apply h1 --settle 35s
	[[ $output == *"roce0: pfc.enabled is now "*", expected [3]; lldpad (pid "* ]]
	run -0 on h1 rocecheck rollback
	no_agent h1
}

@test "show --yaml of a host with lldpad is a profile that finds it in sync" {
	agent h1
	speaker h1
	run -0 apply h1 --settle 3s
	on h1 rocecheck show -i roce0 | grep -Eq 'pfc.willing +off'
	on h1 sh -c 'rocecheck show -i roce0 --yaml >/run/shown.yaml'
	on h1 grep -q 'agent: lldpad' /run/shown.yaml
	run -0 on h1 rocecheck plan /run/shown.yaml -i roce0 --exit-code
	run -0 on h1 rocecheck rollback
	no_agent h1
}

@test "an lldpad that listens alone (-R) stands beside a profile that says so, and in the way of others" {
	no_agent h1
	on h1 sh -c 'rm -f /var/lib/lldpad/lldpad.conf && dcb pfc set dev roce0 prio-pfc all:off && lldpad -dR'
	profile h1 <<<'pfc: {enabled: [3]}'
	run -3 apply h1
	[[ $output == *"lldpad (pid "*"is running"* ]]
	profile h1 <<<$'dcbx: {agent: lldpad}\npfc: {enabled: [3]}'
	run -3 apply h1
	[[ $output == *"was started with -R, so it changes no settings"* ]]
	profile h1 <<<$'dcbx: {agent: lldpad-readonly, peer: {require: ignore}}\npfc: {enabled: [3]}'
	run -0 apply h1 --settle 3s
	on h1 dcb -j pfc show dev roce0 | jq -e '.prio_pfc[3]'
	on h1 sh -c 'rocecheck show -i roce0 --yaml >/run/shown.yaml'
	on h1 cat /run/shown.yaml >"$BATS_TEST_TMPDIR/shown"
	grep -q 'enabled: \[3\]' "$BATS_TEST_TMPDIR/shown"
	run -1 grep -E '^ +agent:' "$BATS_TEST_TMPDIR/shown"
	on h1 bash -c 'rocecheck watch /run/agent.yaml -i roce0 --repair >/tmp/watch 2>&1 & echo $! >/tmp/watch.pid
		until grep -q roce0 /tmp/watch; do sleep 0.1; done
		dcb pfc set dev roce0 prio-pfc 3:off'
	has h1 pfc '.prio_pfc[3]'
	on h1 bash -c 'kill $(</tmp/watch.pid)'
	run -0 on h1 rocecheck rollback
	no_agent h1
}

@test "at boot a host whose lldpad was taken away is told of it, not passed over" {
	agent h1
	speaker h1
	run -0 apply h1 --settle 1s
	no_agent h1
	on h1 mv /var/lib/lldpad /var/lib/lldpad.away
	run -3 on h1 rocecheck apply --last --boot
	on h1 mv /var/lib/lldpad.away /var/lib/lldpad
	[[ $output == *"install lldpad"* ]]
}
