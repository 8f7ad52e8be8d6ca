#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The verdict of a probe beside a switch that counts what it does to packets: what is lost, corrupted or queued as
# another class is found and named, what is not passes, and the counters are those that other tools read.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031

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
	sh_on h1 'pkill -KILL ib_send_bw; true'
	sh_on h2 'pkill -KILL ib_send_bw; true'
	drain 0 64M
}

# One packet is lost, in each way of looking for it. Fields: what is lost; how it is sent; the fault, the port that
# the packet leaves by, its opcode and the how-manieth of these it is; verdicts that are right, one of the reasons
# that are, and what its text says. A WRITE of 64 KiB has 16 packets; with datagrams no packet is a READ's.
# An ACK is repeated by nobody when a later one stands in for it, and by its sender when it was of the last word.
# No rate is asked for beside such a WARN: one that a busy machine does not reach is INCONCLUSIVE, which goes before it.
losses()
{
	local write="-s 64KiB -n 40" datagrams="--mode count --verb send -s 2048 --rate 8M -n 400"
	local latency="--mode strict --latency -n 200"

	cat <<-EOF
		first packet|$write|drop p2 6 1|FAIL|lost|to 198.18.0.2
		middle|$write|drop p2 7 300|FAIL|lost|to 198.18.0.2
		tail|$write|drop p2 8 40|FAIL|lost| 1 from h1 to 198.18.0.2 and 0 back
		ACK|$write|drop p1 17 3|FAIL WARN|lost answers-short| 0 from h1 to 198.18.0.2 and 1 back
		READ response|$write --verb read|drop p1 14 300|FAIL|lost| 0 from h1 to 198.18.0.2 and 1 back
		flipped bit|$write --check every|corrupt p2 7 300|FAIL|lost|bad ICRCs
		first packet|--mode strict $write|drop p2 6 1|FAIL|lost|1 packets of class 0 were lost
		middle|--mode strict $write|drop p2 7 300|FAIL|lost|1 packets of class 0 were lost
		tail|--mode strict $write|drop p2 8 40|FAIL|lost|1 packets of class 0 were lost
		ACK|--mode strict $write|drop p1 17 3|FAIL WARN|lost answers-short| 0 from h1 to 198.18.0.2 and 1 back
		READ response|--mode strict $write --verb read|drop p1 14 300|FAIL|lost|between h1 and 198.18.0.2 (request or response): 1 packets of class 0 were lost
		flipped bit|--mode strict $write --check every|corrupt p2 7 300|FAIL|lost|1 packets of class 0 were lost
		message|$latency|drop p2 10 100|FAIL|lost|1 packets of class 0 were lost
		answer|$latency|drop p1 10 100|FAIL|lost|1 packets of class 0 were lost
		last message|$latency|drop p2 10 200|FAIL|lost|1 packets of class 0 were lost
		last answer|$latency|drop p1 10 200|FAIL|lost|1 packets of class 0 were lost
		first packet|$datagrams -c UD|drop p2 100 1|FAIL|lost|1 messages of class 0 never arrived
		middle|$datagrams -c UD|drop p2 100 200|FAIL|lost|1 messages of class 0 never arrived
		tail|$datagrams -c UD|drop p2 100 400|FAIL|lost|1 messages of class 0 never arrived
		ACK|--mode count --verb send -s 2048 -n 16 -c UD|drop p1 17 1|FAIL WARN|lost answers-short| 0 from h1 to 198.18.0.2 and 1 back
		flipped bit|$datagrams -c UD --check every|corrupt p2 100 200|FAIL|lost|1 messages of class 0 never arrived
		first packet|$datagrams -c UC|drop p2 36 1|FAIL|lost|1 messages of class 0 never arrived
		middle|$datagrams -c UC|drop p2 36 200|FAIL|lost|1 messages of class 0 never arrived
		tail|$datagrams -c UC|drop p2 36 400|FAIL|lost|1 messages of class 0 never arrived
		flipped bit|$datagrams -c UC --check every|corrupt p2 36 200|FAIL|lost|1 messages of class 0 never arrived
	EOF
}

# lose OPTIONS KIND PORT OPCODE WHICH VERDICTS REASONS TEXT: of one row.
lose()
{
	fault "{\"kind\": \"$2\", \"port\": \"$3\", \"direction\": \"out\", \"opcode\": $4, \"every\": $5, \"times\": 1}"
	serve
	idle=0 run --separate-stderr probe "$1"
	equal "packets lost" 1 "$(hits)" || { echo "$output$stderr"; return 1; }
	is "(.verdict.verdict | IN(\"${6// /\", \"}\")) and ([.verdict.reasons[] |
		select((.reason | IN(\"${7// /\", \"}\")) and (.text | contains(\"$8\")))] | length) == 1" || return 1
	is '[.ends[].report | .mismatches, .cause] == [0, "none", 0, "none"]' || return 1
	lab switch '{"op": "fault", "clear": true}' >/dev/null
	served 0
}

# equal WHAT WANTED GOT
equal()
{
	echo "$1: wanted $2, got $3"
	[ "$2" = "$3" ]
}

# All rows; each that is wrong is told.
check_losses()
{
	local what options kind port opcode which verdicts reasons text wrong=0

	while IFS='|' read -r what options fault verdicts reasons text <&4; do
		read -r kind port opcode which <<<"$fault"
		if lose "$options" "$kind" "$port" "$opcode" "$which" "$verdicts" "$reasons" "$text"; then
			echo "ok: $what, $options: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
		else
			echo "wrong: $what, $options"
			wrong=1
			teardown
		fi
	done 4< <(losses)
	return $wrong
}

@test "one packet is lost: each kind is found in each mode" {
	check_losses
}

@test "RoCE alone is dropped for good: loss between two hosts that live" {
	check_black_holes
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

# RoCE alone is dropped in mid-run and for good, at all or in one direction, while TCP goes on: both programs live, and
# what they saw is loss between these two hosts, in bounded time.
check_black_holes()
{
	local where options

	while IFS='|' read -r where options <&4; do
		serve
		probe_behind -D 60 --tos 104 "$options"
		fault "{\"kind\": \"drop\", \"prio\": [3], $where}"
		behind 1 30
		lab switch '{"op": "fault", "clear": true}' >/dev/null
		echo "$where $options: $(jq -c '[.ends[].report.cause], [.verdict.reasons[] | [.reason, .text]]' <<<"$output")"
		is '.verdict.verdict == "FAIL" and (.partial | not) and all(.ends[].report; . != null)'
		is '[.verdict.reasons[] | select(.reason == "lost" and (.text | contains("h1") and contains("198.18.0.2")))] | length > 0'
		reasons 'index("peer-gone") == null'
		served 0
	done 4<<-EOF
		"port": "p2"|
		"port": "p2"|--mode strict
		"port": "p2"|--mode count -c UD --verb send -s 2048 --rate 8M
		"port": "p2", "direction": "out"|
		"port": "p1", "direction": "out"|
	EOF
}

# Four classes, then with a map of h2 that swaps two of them.
check_classes()
{
	local classes="--class tos=104,rate=12M --class tos=0,rate=6M --class tos=192,rate=3M --class tos=136,rate=9M"

	serve
	run --separate-stderr -0 probe -D 2 "$classes"
	is '.verdict.verdict == "PASS"'
	is '[.ends[1].growth[] | select(.metric == "prio_rx_packets" and .load > 100) | .prio] == [0, 3, 4, 6]'
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

# What the document says of the server's port after the load is what these say now that the port is quiet.
check_counters()
{
	local ours theirs

	serve
	run --separate-stderr probe -n 50 --tos 104
	served 0
	ours=$(jq -c '.ends[1].observed.load_after | {sent: .rdma_tx_packets, came: .rdma_rx_packets, gaps: .out_of_sequence,
		copies: .duplicate_request, prio3: .prio_rx_packets[3], pauses: .pfc_rx_frames, paused: .pfc_tx_frames}' <<<"$output")
	theirs=$(jq -nc --argjson rdma "$(on h2 rdma -j statistic show link rxe0/1)" \
		--argjson prio3 "$(on h2 ethtool -S roce0 | awk '/ rx_prio3_packets:/ { print $2 }')" \
		--argjson dcb "$(on h2 dcb -s -j pfc show dev roce0)" \
		'$rdma[0] | {sent: .sent_pkts, came: .rcvd_pkts, gaps: .out_of_seq_request, copies: .duplicate_request, $prio3,
			pauses: $dcb.indications, paused: $dcb.requests}')
	equal "counters" "$theirs" "$ours"
	is '.ends[1].observed.load_after.prio_rx_packets[3] > 500'
}

# drain RATE LINK: how fast h2 empties its receive buffer, MB/s, 0 = at once; and its link, so that what comes while a
# guest stands still has room in that buffer.
drain()
{
	sh_on h2 "echo $1 >/sys/module/labnic/parameters/drain"
	lab switch "{\"op\": \"set\", \"path\": \"port.p2.rate\", \"value\": \"$2\"}" | jq -e .ok >/dev/null
}

reasons()
{
	is "[.verdict.reasons[].reason] | $1"
}

# A receiver that is slow pauses its sender on a lossless priority and drops what comes on another one: neither is the
# fabric's doing. One that posts no receives in time is not ready.
check_receivers()
{
	drain 2 32M
	serve
	run --separate-stderr probe -D 3 --tos 104
	served 0
	echo "slow, paused: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	is '.verdict.verdict | IN("PASS", "WARN")'
	is '[.ends[1].growth[] | select(.metric == "pfc_tx_frames") | .load] | add > 0'
	drain 2 64M
	serve
	run --separate-stderr probe -D 3 --tos 0
	served 0
	drain 0 64M
	echo "slow, dropping: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	verdict FAIL host-discard "198.18.0.2 itself dropped"
	reasons '(index("lost") or index("receiver-not-ready")) | not'
	sh_on h2 'setsid ib_send_bw -p 18600 -d rxe0 -x 1 -F -e -r 1 -s 4096 -n 1000000 </dev/null >/tmp/rnr.out 2>&1 &
		until ss -Hltn "sport = 18600" | grep -q .; do sleep 0.05; done'
	sh_on h1 'setsid ib_send_bw -p 18600 -d rxe0 -x 1 -F -e -t 16 -s 4096 -n 1000000 198.18.0.2 </dev/null >/tmp/rnr.out 2>&1 &'
	sh_on h2 'for i in $(seq 200); do [ "$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err)" -gt 5 ] && exit; sleep 0.1; done
		cat /tmp/rnr.out; exit 1'
	serve
	idle=0 run --separate-stderr probe -D 2
	for host in h1 h2; do
		on $host pkill -KILL ib_send_bw
	done
	served 0
	echo "not ready: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	reasons 'index("receiver-not-ready") != null and index("lost") == null'
	is '.verdict.verdict != "FAIL"'
}

# TCP beside RDMA, in priorities of their own: its bytes are not foreign, and what is lost of it, and sent again by TCP,
# is no RDMA loss.
check_background()
{
	fault '{"kind": "drop", "port": "p2", "direction": "out", "prio": [6], "every": 100}'
	serve
	run --separate-stderr probe -D 3 --tos 104 --rate 16M --tcp tos=192,streams=2,rate=24M
	served 0
	lost=$(hits)
	lab switch '{"op": "fault", "clear": true}' >/dev/null
	echo "TCP beside it, $lost lost: $(jq -c '[.verdict.reasons[].text], [.ends[].report.tcp[] | del(.goodput)]' <<<"$output")"
	[ "$lost" -ge 1 ]
	is '.verdict.verdict | IN("PASS", "WARN")'
	reasons 'index("lost") == null and index("foreign-traffic") == null'
	is '[.ends[].report | .mismatches, .cause, .tcp[0].tos_sent, .tcp[0].broken] == [0, "none", 192, 0, 0, "none", 192, 0]'
	is '.ends[0].report.tcp[0] | .retransmits > 0 and .sent_bytes <= .wire_bytes'
	is '.ends[1].report.tcp[0].arrived_bytes > 1000000'
	is '.ends[0].report.tcp[0].wire_bytes >= .ends[1].report.tcp[0].arrived_bytes * 0.5'
	# what came of it is what the NIC of h2 counted in priority 6
	is '([.ends[1].growth[] | select(.metric == "prio_rx_bytes" and .prio == 6) | .load] | add) as $came |
		.ends[1].report.tcp[0].arrived_bytes | . <= $came and . * 1.2 > $came'
	is '([.ends[1].growth[] | select(.metric == "prio_rx_packets" and .prio == 3) | .load] | add) ==
		([.ends[1].growth[] | select(.metric == "rdma_rx_packets") | .load] | add)'
}

# Somebody else's: 100 messages of 64 KiB while the probe runs, which its report tells, with their size.
check_foreign()
{
	sh_on h2 'setsid ib_send_bw -p 18600 -d rxe0 -x 1 -F -e -s 65536 -n 100 </dev/null >/tmp/other.out 2>&1 &
		until ss -Hltn "sport = 18600" | grep -q .; do sleep 0.05; done'
	serve
	probe_behind -D 8 --tos 104 --rate 8M -t 2 # with little under way there is little to repeat
	on h1 timeout 60 ib_send_bw -p 18600 -d rxe0 -x 1 -F -e -s 65536 -n 100 198.18.0.2 >/dev/null
	behind 4 40
	served 0
	echo "foreign: $(jq -c '[.verdict.reasons[].text]' <<<"$output")"
	verdict INCONCLUSIVE foreign-traffic "h1 roce0 moved"
	verdict INCONCLUSIVE foreign-traffic "198.18.0.2 roce0 moved"
	# 6.6 MB, their headers, and what was sent twice; both ends tell what moved in all
	is '.ends[0].report.bytes as $own | [.verdict.reasons[] | select(.reason == "foreign-traffic") | .text |
		[match("[0-9]+ bytes in|[0-9]+ out"; "g").string | split(" ")[0] | tonumber] | max - $own] |
		length == 2 and all(. > 6553600 and . < 20000000)'
}

@test "classes at once are in their own priorities; a map that is swapped is named" {
	check_classes
}

@test "counters are those of rdma statistic, ethtool -S and dcb read beside it" {
	check_counters
}

@test "a slow receiver, one that is not ready, and loss are told apart" {
	check_receivers
}

@test "TCP beside RDMA: each in its own figures, and its losses are its own" {
	check_background
}

@test "foreign traffic is told with its size" {
	check_foreign
}

@test "Linux 6.12: losses" {
	LAB_KERNEL=6.12 own_lab "$LAB_DIR" tests/lab/topologies/two.yaml
	configured h1 h2
	check_losses
	check_black_holes
}

@test "Linux 6.12: classes, counters, receivers" {
	check_classes
	check_counters
	check_receivers
	check_background
	check_foreign
}
