#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The verdict of a probe beside a switch that counts what it does to packets: what is lost, corrupted or queued as
# another class is found and named, what is not passes, and the counters are those that other tools read.
# shellcheck disable=SC2154,SC2016

bats_require_minimum_version 1.5.0
load guests
load probe

# hits: how many packets the fault has met since it began.
hits()
{
	lab switch '{"op": "stats"}' | jq '[.faults[].hits] | add'
}

# verdict WORD REASON TEXT: of the document in $output; the reason's line has the text.
verdict()
{
	is ".verdict.verdict == \"$1\" and ([.verdict.reasons[] | select(.reason == \"$2\" and (.text | contains(\"$3\")))] | length) > 0"
}

setup_file()
{
	own_lab "${LAB_DIR:-probe-verdict-lab}" tests/lab/topologies/two.yaml
	configured h1 h2
}

teardown_file()
{
	lab_ends
}

teardown()
{
	nothing_left
}

@test "nothing is wrong: every mode passes" {
	local options

	for options in "" "--verb read" "--mode strict" "--mode count -c UD --verb send -s 2048 --rate 8M"; do
		serve
		run --separate-stderr probe -D 2 "$options"
		echo "$options: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
		[ "$status" -eq 0 ]
		is '.verdict.verdict == "PASS"'
		served 0
	done
}

@test "a packet of a WRITE is lost: repeated or not, it is found" {
	local mode

	for mode in observe strict; do
		fault '{"kind": "drop", "port": "p2", "direction": "out", "opcode": 7, "every": 1200}'
		serve
		run --separate-stderr probe -D 3 --mode "$mode"
		[ "$(hits)" -ge 1 ]
		lab switch '{"op": "fault", "clear": true}' >/dev/null
		[ "$status" -eq 1 ]
		verdict FAIL lost "to 198.18.0.2"
		served 0
	done
}

@test "an ACK is lost: both ends' packets tell, with the direction" {
	fault '{"kind": "drop", "port": "p1", "direction": "out", "opcode": 17, "every": 100}'
	serve
	run --separate-stderr probe -D 3
	lost=$(hits)
	echo "$lost: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	[ "$lost" -ge 1 ]
	is "[.verdict.reasons[] | select((.reason == \"lost\" or .reason == \"answers-short\") and
		(.text | contains(\" 0 from h1 to 198.18.0.2 and $lost back\")))] | length == 1"
	served 0
}

@test "an answer of a READ is lost" {
	fault '{"kind": "drop", "port": "p1", "direction": "out", "opcode": 14, "every": 1200}'
	serve
	run --separate-stderr probe -D 3 --verb read
	[ "$(hits)" -ge 1 ]
	[ "$status" -eq 1 ]
	verdict FAIL lost ""
	served 0
}

@test "a bit is turned: the packet is lost, the data are right" {
	fault '{"kind": "corrupt", "port": "p2", "direction": "out", "opcode": 7, "every": 1200}'
	serve
	run --separate-stderr probe -D 3 --check every
	[ "$(hits)" -ge 1 ]
	[ "$status" -eq 1 ]
	verdict FAIL lost "bad ICRCs"
	is '[.ends[].report.mismatches] == [0, 0]'
	served 0
}

@test "datagrams are counted: as many are missing as were dropped" {
	fault '{"kind": "drop", "port": "p2", "direction": "out", "opcode": 100, "every": 200}'
	serve
	run --separate-stderr probe -D 3 --mode count -c UD --verb send -s 2048 --rate 8M
	lost=$(hits)
	echo "$lost: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	[ "$lost" -ge 1 ]
	verdict FAIL lost "$lost messages of class 0 never arrived"
	served 0
}

@test "classes at once are in their own priorities; a map that is swapped is named" {
	local classes="--class tos=104,rate=16M --class tos=0,rate=8M --class tos=192,rate=3M"

	serve
	run --separate-stderr -0 probe -D 2 "$classes"
	is '.verdict.verdict == "PASS"'
	is '[.ends[1].growth[] | select(.metric == "prio_rx_packets" and .load > 100) | .prio] == [0, 3, 6]'
	served 0
	on h2 dcb app del dev roce0 dscp-prio 26:3 48:6
	on h2 dcb app add dev roce0 dscp-prio 26:6 48:3
	serve
	run --separate-stderr probe -D 2 "$classes"
	on h2 dcb app del dev roce0 dscp-prio 26:6 48:3
	on h2 dcb app add dev roce0 dscp-prio 26:3 48:6
	[ "$status" -eq 1 ]
	verdict FAIL wrong-priority "priorities 3 and 6 are swapped"
	served 0
}

@test "counters are those of rdma statistic, ethtool -S and dcb read beside it" {
	local ours theirs

	serve
	run --separate-stderr probe -n 50 --tos 104
	served 0
	# The port is quiet now.
	ours=$(jq -c '.ends[1].observed.load_after | {sent: .rdma_tx_packets, came: .rdma_rx_packets, gaps: .out_of_sequence,
		copies: .duplicate_request, prio3: .prio_rx_packets[3], pauses: .pfc_rx_frames}' <<<"$output")
	theirs=$(jq -nc --argjson rdma "$(on h2 rdma -j statistic show link rxe0/1)" \
		--argjson prio3 "$(on h2 ethtool -S roce0 | awk '/ rx_prio3_packets:/ { print $2 }')" \
		--argjson dcb "$(on h2 dcb -s -j pfc show dev roce0)" \
		'$rdma[0] | {sent: .sent_pkts, came: .rcvd_pkts, gaps: .out_of_seq_request, copies: .duplicate_request, $prio3,
			pauses: $dcb.indications}')
	echo "$ours" "$theirs"
	[ "$ours" = "$theirs" ]
	is '.ends[1].observed.load_after.prio_rx_packets[3] > 500'
}
