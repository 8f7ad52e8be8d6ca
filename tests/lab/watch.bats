#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# watch on the lab's NIC: what dcb, ip and lldpad do behind an apply's back is told within seconds, and put
# back on request. The oracle is dcb in the guest. Runs from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
. tests/lab/guests.bash

setup_file()
{
	export LAB_DIR=${LAB_DIR:-$PWD/build/lab-watch}
	lab down
	lab up 1
	on h1 rocecheck apply lab --auto-approve --accept-unproven >/dev/null
}

teardown_file()
{
	lab down
}

setup()
{
	on h1 bash -c 'pkill -x rocecheck; pkill -x lldpad; rm -f /tmp/watch /dev/shm/lldpad.state
		while pidof -q rocecheck lldpad; do sleep 0.1; done
		rocecheck apply lab --auto-approve --accept-unproven >/dev/null' ||:
}

# start OPTION...: a watch in the background of the guest, until it has said its first line.
start()
{
	on h1 bash -c 'rm -f /tmp/watch; rocecheck watch -i roce0 "$@" >>/tmp/watch 2>/tmp/watch.err & echo $! >/tmp/watch.pid
		until grep -q start /tmp/watch; do sleep 0.1; done' -- "$@"
}

# told SECONDS PATTERN: once the watch has told that.
told()
{
	on h1 bash -c 'for ((i = 0; i < $1 * 5; i++)); do
			grep -E -m1 -- "$2" /tmp/watch && exit
			sleep 0.2
		done
		cat /tmp/watch /tmp/watch.err >&2
		exit 1' -- "$@"
}

# ended SIGNAL CODE: that is how the watch ends.
ended()
{
	on h1 bash -c 'pid=$(</tmp/watch.pid); kill -$1 $pid
		for i in {1..100}; do [ -d /proc/$pid ] || exit 0; sleep 0.1; done; exit 1' -- "$1"
}

@test "somebody sets PFC: field, values, port and program; a return; the exit codes" {
	run -0 on h1 rocecheck watch --once
	[[ $output == *"start roce0 baseline: settings after transaction "* ]]
	start
	# One that is still there when it is looked for: it waits for its next line.
	on h1 bash -c '{ echo "pfc set dev roce0 prio-pfc 3:off"; sleep 3; } | /usr/sbin/dcb -b - || true'
	run -0 told 10 'DRIFT roce0'
	[[ $output == *"pfc.enabled: [3] -> [] (wanted [3])"* ]]
	told 10 'priority 3 is no longer lossless'
	told 10 'possibly changed by [(]running at that time[)]:.* dcb [(]pid '
	told 10 'to restore: rocecheck apply --last -i roce0 '
	run -1 on h1 rocecheck watch --once --json
	jq -se '.[1] | .schema == "rocecheck.watch/1" and .event == "drift" and .port == "roce0" and
		.fields[0] == {key: "pfc.enabled", from: [3], to: [], want: [3]}' <<<"$output"
	on h1 dcb pfc set dev roce0 prio-pfc 3:on
	run -0 told 10 'OK again roce0'
	[[ $output == *"pfc.enabled: [] -> [3]"* ]]
	ended INT
	run -0 on h1 rocecheck watch --once lab
	[[ $output == *"baseline: profile lab"* ]]
}

@test "what has no notice is polled" {
	start --interval 2s
	on h1 bash -c 'mkdir -p /sys/kernel/config/rdma_cm/rxe0
		echo 42 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos'
	told 10 'DRIFT roce0 rdma.cm_default_tos: \{dscp: 26, ecn: ect0\} -> \{dscp: 10,'
	ended TERM
}

@test "lldpad started behind our back is found and named" {
	start --json
	on h1 lldpad -d
	run -0 told 60 '"drift".*"lldpad"'
	jq -e '.fields | any(.key | startswith("ets.") or startswith("pfc."))' <<<"$output"
	jq -e --argjson pid "$(on h1 pidof lldpad)" '.suspects | any(.name == "lldpad" and .pid == $pid and
		(.started | test("^20..-..-..T..:..:..Z$")))' <<<"$output"
	ended INT
}

@test "our own apply is no drift, and what it left is what is compared from then on" {
	start
	on h1 dcb pfc set dev roce0 prio-pfc 5:on
	told 10 'DRIFT roce0 pfc.enabled: \[3\] -> \[3, 5\]'
	on h1 bash -c ': >/tmp/watch; rocecheck apply lab --auto-approve --accept-unproven >/dev/null'
	told 10 'start roce0 baseline: settings after transaction'
	sleep 2
	run -1 on h1 grep -i drift /tmp/watch
	ended TERM
}

@test "repair: three times, then it only watches; and not beside lldpad" {
	start --repair
	for _ in 1 2 3; do
		on h1 bash -c ': >/tmp/watch; dcb pfc set dev roce0 prio-pfc 3:off'
		run -0 told 10 'repaired roce0'
		[[ $output == *"pfc.enabled: [] -> [3] (transaction "* ]]
		on h1 dcb -j pfc show dev roce0 | jq -e '."prio-pfc"[3] == true or ."prio_pfc"[3] == true'
	done
	on h1 bash -c ': >/tmp/watch; dcb pfc set dev roce0 prio-pfc 3:off'
	run -0 told 10 'repair-held'
	[[ $output == *"3 repairs in 10 minutes: no more repairs of this port"* ]]
	ended INT
	# Another watch compares with the apply, not with a repair.
	run -1 on h1 rocecheck watch --once
	on h1 lldpad -d
	start --repair
	run -0 told 60 'repair-held'
	[[ $output == *"lldpad (pid "* ]]
	ended INT
}

@test "a device that goes and comes; a flood of notices; no memory lost" {
	start
	on h1 bash -c 'rss() { awk "/VmRSS/ { print \$2 }" /proc/$(</tmp/watch.pid)/status; }
		for i in {1..20}; do ip link set roce0 mtu $((4000 + i % 2)); done; sleep 1; rss >/tmp/rss
		kill -STOP $(</tmp/watch.pid)
		for i in {1..600}; do echo "link set roce0 mtu $((3000 + i))"; done >/tmp/batch
		ip -batch /tmp/batch
		kill -CONT $(</tmp/watch.pid)'
	told 10 'Z overrun: '
	told 10 'DRIFT.*mtu.netdev: .* -> 3600'
	on h1 bash -c 'rss() { awk "/VmRSS/ { print \$2 }" /proc/$(</tmp/watch.pid)/status; }
		[ $(rss) -lt $(($(</tmp/rss) + 200)) ] || { cat /tmp/rss; rss; exit 1; } >&2'
	on h1 bash -c 'rdma link del rxe0; rmmod labnic'
	told 10 'removed roce0'
	on h1 bash -c '. /run/lab/env; insmod /run/lab/labnic.ko lower=eth0 name=roce0 rate=$RATE
		ip link set roce0 up'
	told 20 'arrived roce0'
	told 20 'DRIFT roce0 pfc.enabled'
	ended INT
}
