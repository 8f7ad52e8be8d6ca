#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An incast of two servers to one host beside a switch: both start at one instant, which the switch's copies of their
# packets show; without congestion it is INCONCLUSIVE, paused and whole it passes, and with a loss it fails.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031

bats_require_minimum_version 1.5.0
load guests
load probe

ask()
{
	lab switch "$1" | jq -e .ok >/dev/null
}

# servers: one on each of h2 and h3; their tokens are in /tmp/token of h1.
servers()
{
	sh_on h1 'rm -f /tmp/token'
	for at in 2 3; do
		serve h$at
		sh_on h1 "umask 077; echo 198.18.0.$at $token >>/tmp/token"
	done
}

incast()
{
	sh_on h1 "rocecheck probe client 198.18.0.2 198.18.0.3 --incast --token-file /tmp/token --json --baseline 500ms --tos 104 $*"
}

# ended CODE: both servers, and nothing is left anywhere.
ended()
{
	local host

	for host in h2 h3; do
		sh_on $host "for i in \$(seq 100); do grep -q '^exit' /tmp/probe.out && break; sleep 0.1; done
			cat /tmp/probe.out; grep -q '^exit $1' /tmp/probe.out"
	done
	for host in h1 h2 h3; do
		sh_on $host 'for i in $(seq 50); do pgrep -x rocecheck >/dev/null || exit 0; sleep 0.1; done; pgrep -a rocecheck; exit 1'
	done
}

tells()
{
	jq -e "$1" <<<"$output" >/dev/null || {
		jq -c '{starts, verdict, exit}, [.probes[].why], [.probes[].ends[].report | {messages, cause, detail}?]' <<<"$output"
		echo "$stderr"
		return 1
	}
}

setup_file()
{
	own_lab "${LAB_DIR:-probe-incast-lab}" tests/lab/topologies/three.yaml
	configured h1 h2 h3
}

teardown_file()
{
	lab_ends
}

teardown()
{
	local host

	ask '{"op": "fault", "clear": true}'
	for host in h1 h2 h3; do
		sh_on $host 'pkill -KILL rocecheck; true'
	done
}

@test "slow servers stress nothing: INCONCLUSIVE, and all of it came" {
	servers
	run --separate-stderr incast -D 2 -s 4096 --rate 1M
	jq -c '.starts, [.verdict.reasons[]?.text]' <<<"$output"
	[ "$status" -eq 4 ]
	tells '.verdict.verdict == "INCONCLUSIVE" and ([.verdict.reasons[].reason] | index("not-stressed") != null and index("lost") == null)'
	tells '[.probes[].ends[0].report.classes[0].arrived] | length == 2 and all(. > 5)'
	tells '.schema == "rocecheck.incast/1" and .servers == 2 and [.probes[].ends[1].host] == ["198.18.0.2", "198.18.0.3"]'
	ended 0
}

@test "both start at one instant, by their own word and on the wire" {
	local spread

	ask '{"op": "set", "path": "port.p1.mirror", "value": true}'
	ask "{\"op\": \"mirror\", \"file\": \"$BATS_TEST_TMPDIR/mirror.pcapng\", \"snaplen\": 128}"
	servers
	run --separate-stderr incast -D 1 --rate 16M
	ask '{"op": "mirror", "file": null}'
	ask '{"op": "set", "path": "port.p1.mirror", "value": false}'
	ended 0
	jq -c .starts <<<"$output"
	tells '[.starts[] | .late_ns[], .round_trip_ns] | length == 6 and all(. < 200000000)'
	# The first WRITE of each (opcodes 6 to 11) to h1 whose queue pair carries the load.
	spread=$(build/rocecheck --json capture decode "$BATS_TEST_TMPDIR/mirror.pcapng" |
		jq -s '[.[] | select(.opcode == 6 and .dst == "198.18.0.1")] | group_by(.src) | map(.[0].time_ns) | [length, (max - min) / 1e6]')
	echo "first WRITEs: $spread ms"
	jq -e '.[0] == 2 and .[1] < 150' <<<"$spread"
}

@test "flat out on a lossless class: paused, and nothing is lost" {
	servers
	run --separate-stderr incast -D 3
	jq -c '.starts, [.verdict.reasons[]?.text]' <<<"$output"
	tells '.verdict.verdict | IN("PASS", "WARN")'
	tells '[.verdict.reasons[].reason] | index("not-stressed") == null'
	tells '[.probes[].ends[].growth[] | select(.metric == "pfc_rx_frames") | .load] | add > 0'
	ended 0
}

# TCP from both servers too, in a priority of its own: paced and strict, then flat out and lossy.
@test "TCP beside an incast: its bytes are its own, its losses and pauses no sign" {
	servers
	run --separate-stderr incast -D 3 --tcp tos=192,streams=2,rate=8M
	jq -c '.starts, [.verdict.reasons[]?.text], [.probes[].ends[].report.tcp[]? | del(.goodput)]' <<<"$output"
	tells '.verdict.verdict | IN("PASS", "WARN")'
	tells '[.verdict.reasons[].reason] | (index("not-stressed") or index("lost") or index("foreign-traffic")) | not'
	tells '[.probes[].ends[0].report.tcp[0].arrived_bytes] | length == 2 and all(. > 500000)'
	tells '[.probes[].ends[].report.tcp[0] | .broken, .tos_sent] == [0, 192, 0, 192, 0, 192, 0, 192]'
	ended 0
	servers
	run --separate-stderr incast -D 3 --tcp tos=0,streams=4
	jq -c '.starts, [.verdict.reasons[]?.text], [.probes[].ends[].report.tcp[]? | del(.goodput)]' <<<"$output"
	tells '.verdict.verdict | IN("PASS", "WARN")'
	ended 0
}

@test "on a terminal a line tells what all servers send, and the record is kept" {
	local line='[0-9.]+ [kM]?B/s, [0-9]+ s left, 0 wrong, 0 lost, slowest of 2 198.18.0.[23] [0-9.]+ [kM]?B/s, fastest 198.18.0.[23] [0-9.]+ [kM]B/s'

	servers
	ssh -F "$LAB_DIR/ssh_config" -tt h1 "stty cols 150; rm -rf /tmp/record
		rocecheck probe client 198.18.0.2 198.18.0.3 --incast --token-file /tmp/token --baseline 0 -D 3 --out /tmp/record >/tmp/text
		echo exit \$?" </dev/null >"$BATS_TEST_TMPDIR/terminal" 2>"$BATS_TEST_TMPDIR/err" || cat "$BATS_TEST_TMPDIR/err"
	tr '\r' '\n' <"$BATS_TEST_TMPDIR/terminal"
	grep -a -q -E "$line" "$BATS_TEST_TMPDIR/terminal"
	grep -a -q $'\r\e\\[Krocecheck probe: record: /tmp/record' "$BATS_TEST_TMPDIR/terminal" # the line is gone
	ended 0
	output=$(on h1 cat /tmp/record/incast.json)
	tells '.schema == "rocecheck.incast/1" and (.probes | length) == 2 and .verdict.verdict != null'
	output=$(on h1 bash -c '. /rocecheck/tests/record.bash; record_of /tmp/record')
	tells '[.hosts[].name] == ["h1", "198.18.0.2", "198.18.0.3"] and (.pairs | length) == 2 and
		all(.pairs[]; .ran and .message_bytes == 65536 and .client.host == "h1")'
	run -1 on h1 sh -c 'grep -q "slowest of" /tmp/text'
}

@test "a packet of one server is lost: found" {
	ask '{"op": "fault", "add": {"kind": "drop", "port": "p1", "direction": "out", "opcode": 7, "every": 300, "times": 1}}'
	servers
	run --separate-stderr incast -D 3
	jq -c '[.verdict.reasons[]?.text]' <<<"$output"
	[ "$status" -eq 1 ]
	tells '.verdict.verdict == "FAIL" and ([.verdict.reasons[].reason] | index("lost") != null)'
	ended 0
}

@test "a server that is not there: nobody sends, and it is named" {
	servers
	on h3 pkill -KILL -x rocecheck
	run --separate-stderr -3 incast -D 3
	[[ $stderr == *"198.18.0.3"*"refused"* ]]
	tells '.verdict == null and [.probes[].ends[]?.report] == [null, null, null, null]'
	sh_on h2 "for i in \$(seq 100); do grep -q '^exit' /tmp/probe.out && break; sleep 0.1; done; grep '^exit 0' /tmp/probe.out"
}

@test "a server is killed in mid-run: the others go on, and it is named" {
	servers
	sh_on h1 "rm -f /tmp/client.exit
		(setsid rocecheck probe client 198.18.0.2 198.18.0.3 --incast --token-file /tmp/token --json -v --baseline 0 -D 6; echo \$? >/tmp/client.exit) \
			</dev/null >/tmp/client.json 2>/tmp/client.err &
		for i in \$(seq 200); do [ \$(grep -c ': traffic' /tmp/client.err) = 2 ] && exit; sleep 0.1; done; cat /tmp/client.err; exit 1"
	sleep 2 # the start, and some of it
	on h3 pkill -KILL -o -x rocecheck
	sh_on h1 'for i in $(seq 400); do [ -s /tmp/client.exit ] && break; sleep 0.1; done; cat /tmp/client.err'
	output=$(on h1 cat /tmp/client.json)
	on h1 grep -q '^[14]$' /tmp/client.exit
	tells '[.verdict.reasons[].reason] | index("aborted") != null'
	tells '(.probes[1].why | contains("198.18.0.3")) and .probes[0].why == null'
	tells '.probes[0].ends[1].report.messages > 0 and .probes[1].ends[1].report == null'
}
