#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The marking echo and the source-port sweep of a probe beside switches that rewrite, mark and lose: named are the
# direction, the class and the source ports that have it, and no others. Two of the four hosts of clos.yaml have two
# equal ways between them.
# shellcheck disable=SC2154,SC2016

bats_require_minimum_version 1.5.0
load guests
load probe

# echoed OPTIONS...: a short probe of two classes with its marking echo, in $output.
echoed()
{
	serve
	run --separate-stderr probe -D 500ms --class tos=104,rate=1M --class tos=0,rate=1M "$*"
	jq -c '.marking | {why, path_mtu, findings: [.findings[].text]}' <<<"$output" || { echo "$output$stderr"; return 1; }
	served 0
}

# found KIND WAY CLASS FROM TO: the one finding there is, in all of that class and way.
found()
{
	is ".marking.why == null and (.marking.findings | length) == 1 and (.marking.findings[0] |
		.kind == \"$1\" and .way == \"$2\" and .class == $3 and .from == $4 and .to == $5 and .count == .of)"
}

setup_file()
{
	own_lab "${LAB_DIR:-probe-marking-lab}" tests/lab/topologies/two.yaml
}

teardown_file()
{
	lab_ends
}

teardown()
{
	nothing_left
}

@test "nothing is wrong: all arrives as it was sent, at the MTU of both ports" {
	echoed --marking
	is '.marking.why == null and .marking.findings == [] and .marking.path_mtu == [4096, 4096]'
	is '[.marking.ends[].result.flows[].sent] | all(. > 0)'
	is '[.verdict.reasons[].reason] | all(IN("marking-changed", "datagrams-lost", "path-mtu", "marking-unseen") | not)'
}

@test "DSCP rewritten, for one class and one way" {
	fault '{"kind": "dscp", "port": "p2", "direction": "out", "prio": [3], "value": 10}'
	echoed --marking
	found dscp-rewritten "client to server" 0 26 10
	[ "$status" -eq 1 ]
}

@test "DSCP rewritten on the way of answers and ACKs" {
	fault '{"kind": "dscp", "port": "p1", "direction": "out", "prio": [3], "value": 10}'
	echoed --marking
	found dscp-rewritten "server to client" 0 26 10
	[ "$status" -eq 1 ]
}

@test "ECT cleared" {
	fault '{"kind": "clear_ecn", "port": "p2", "direction": "out", "prio": [0]}'
	echoed --marking
	found ect-cleared "client to server" 1 2 0
	[ "$status" -eq 1 ]
}

@test "CE set on one way, for one priority" {
	fault '{"kind": "mark_ce", "port": "p1", "direction": "out", "prio": [3]}'
	echoed --marking
	found ce-marked "server to client" 0 2 3
	is '[.verdict.reasons[] | select(.reason == "marked-while-idle") | .verdict] == ["WARN"]'
}

@test "a smaller MTU on one way" {
	fault '{"kind": "mtu", "port": "p2", "direction": "out", "value": 2200}'
	echoed --marking -m 2048
	is '.marking.path_mtu == [2048, 4096]'
	is '[.marking.findings[] | [.kind, .way, .bytes]] == [["path-mtu", "client to server", 2048]]'
	[ "$status" -eq 1 ]
}

@test "a sweep has a verdict for each source port; a member that loses is named" {
	local lost

	echoed --sweep 32
	is '[.marking.ports[][].verdict] == [range(64) | "arrived"]'
	is '[.marking.ports[0][].port] | unique | length > 24 and all(. >= 49152)'
	lab down
	lab up tests/lab/topologies/clos.yaml
	fault '{"kind": "ecmp_loss", "port": "leaf1/u1", "direction": "out", "opcode": 100}'
	serve h3
	run --separate-stderr sh_on h1 "umask 077; echo $token >/tmp/token
		rocecheck probe client 198.18.0.3 --token-file /tmp/token --json --baseline 0 -D 500ms -T 104 --rate 1M --sweep 32"
	jq -c '[.marking.findings[].text]' <<<"$output"
	[ "$status" -eq 1 ]
	lost=$(jq '[.marking.ports[0][] | select(.verdict == "lost")] | length' <<<"$output")
	[ "$lost" -ge 4 ] && [ "$lost" -le 28 ]
	is '[.marking.ports[0][].verdict] | unique == ["arrived", "lost"]'
	is ".marking.findings | length == 1 and (.[0] | .kind == \"lost\" and .way == \"client to server\" and
		.ports == $lost and .whole == $lost and .ports_of == 32)"
}
