#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the switch does wrong on purpose is what the capture reports: seen on the sender, on the receiver and at the
# switch, and beside the counters of Soft-RoCE, of the NICs and of the switch. One line a fault is printed.
bats_require_minimum_version 1.5.0
load guests
load captures

setup_file()
{
	fast_pair capture-loss-lab
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
	no_faults
	set_port p1 rate '"10G"'
	set_port p2 rate '"10G"'
	# Of a test that failed.
	for host in h1 h2; do
		on $host sh -c 'pkill -KILL -x rocecheck; rm -f /tmp/*.pcapng; true'
	done
}

# watch: recordings of both hosts and of the switch's port to h2, and all counters.
watch()
{
	record h1 sender -i roce0 -w /tmp/sender.pcapng --snap 128
	record h2 receiver -i roce0 -w /tmp/receiver.pcapng --snap 128
	mirror "$tmp/mirror.pcapng" 9000 p2
	counters before
}

# watched NAME: they are complete, and what the switch did is `injected`.
watched()
{
	local host where

	injected=$(hits "$1")
	counters after
	no_faults
	mirrored
	for where in h1:sender h2:receiver; do
		ended ${where/:/ }
		fetch ${where%:*} /tmp/${where#*:}.pcapng "$tmp/${where#*:}.pcapng"
		on ${where%:*} rm /tmp/${where#*:}.pcapng
		jq -e '.dropped == 0 and .roce > 0' "$tmp/${where#*:}.json"
		equal "drops of $where" 0 "$(build/rocecheck --json capture stats "$tmp/${where#*:}.pcapng" | jq '.dropped')"
	done
	sender=$tmp/sender.pcapng receiver=$tmp/receiver.pcapng mirror=$tmp/mirror.pcapng
	told "$1"
}

# told NAME: a line of the table.
told()
{
	local file text

	text="$1: injected $injected; NIC: $(counted h1.nic.tx_prio3_packets) to $(counted h2.nic.rx_prio3_packets), "
	text+="back $(counted h2.nic.tx_prio3_packets) to $(counted h1.nic.rx_prio3_packets); Soft-RoCE:"
	for key in h2.rdma.out_of_seq_request h1.rdma.rcvd_seq_err h2.rdma.duplicate_request h1.rdma.completer_retry_err; do
		text+=" $key $(counted $key)"
	done
	echo "# $text" >&3
	for file in sender receiver mirror; do
		[ -s "$tmp/$file.pcapng.stats" ] || build/rocecheck --json capture stats "$tmp/$file.pcapng" >"$tmp/$file.pcapng.stats"
		jq -r --arg file $file '[.flows[] | to_entries[] | select(.value | type == "number")] |
			group_by(.key) | map({key: .[0].key, value: (map(.value) | add)}) | from_entries |
			with_entries(select(.value != 0 and (.key | test(
				"lost|missed|reorder|copies|losses|corrupt|go_back|wasted|selective|timeouts|retries|unexp|naks_seq|naks_other|rnr$|gaps|psn_missing|duplic|icrc_bad|new_conn|unjudged")))) |
			"# \($file): \(tojson)"' "$tmp/$file.pcapng.stats" >&3
	done
}

# A message of 64 packets at a time, so that the number of an answer is known.
one_by_one()
{
	flow ib_write_bw -m 1024 -s 65536 -t 1 "$@"
}

@test "nothing is lost: nothing is reported, by any of the three" {
	watch
	fault none drop p1 in '"every": 1000000, "prio": [3]'
	flow ib_write_bw -m 1024 -s 65536 -n 50
	watched none
	for file in "$sender" "$receiver" "$mirror"; do
		for key in lost_psns missed_psns psn_gaps duplicates unexplained timeouts naks_seq reordered copies new_connections; do
			equal "$key" 0 "$(flows "$file" $key)"
		done
	done
	equal requests 3200 "$(flows "$receiver" requests)"
}

@test "one packet is lost" {
	watch
	fault one drop p1 in '"every": 290, "opcode": 7'
	one_by_one -n 8
	watched one
	equal injected 1 "$injected"
	equal 'NIC' 1 $(($(counted h1.nic.tx_prio3_packets) - $(counted h2.nic.rx_prio3_packets)))
	equal out_of_seq_request 1 "$(counted h2.rdma.out_of_seq_request)"
	equal rcvd_seq_err 1 "$(counted h1.rdma.rcvd_seq_err)"
	for file in "$receiver" "$mirror"; do
		equal 'lost before' 1 "$(flows "$file" lost_psns)"
		equal losses_before 1 "$(flows "$file" losses_before)"
		equal losses_after 0 "$(flows "$file" losses_after)"
	done
	equal 'lost behind the sender' 1 "$(flows "$sender" losses_after)"
	for file in "$sender" "$receiver" "$mirror"; do
		equal naks_seq 1 "$(flows "$file" naks_seq)"
		equal go_back_n 1 "$(flows "$file" go_back_n)"
		for key in missed_psns timeouts reordered unexplained copies; do
			equal $key 0 "$(flows "$file" $key)"
		done
	done
}

@test "loss at a rate, of one direction" {
	watch
	fault rate drop p1 in '"every": 211, "prio": [3]'
	flow ib_write_bw -m 1024 -s 65536 -n 80
	watched rate
	((injected >= 20))
	equal NIC "$injected" $(($(counted h1.nic.tx_prio3_packets) - $(counted h2.nic.rx_prio3_packets)))
	naks=$(counted h2.rdma.out_of_seq_request)
	for file in "$sender" "$receiver" "$mirror"; do
		equal naks_seq "$naks" "$(flows "$file" naks_seq)"
		equal missed_psns 0 "$(flows "$file" missed_psns)"
	done
	# Packets that were sent again and lost again are in it.
	for file in "$receiver" "$mirror"; do
		equal lost_psns "$injected" "$(flows "$file" lost_psns)"
		equal losses_before "$naks" "$(flows "$file" losses_before)"
	done
	equal losses_after "$naks" "$(flows "$sender" losses_after)"
}

# restarts FILE: of any cause but a NAK. Soft-RoCE acknowledges a request that comes twice with the PSN before what it
# waits for, so that the sender, who lacks an ACK, starts more than once.
restarts()
{
	echo $(($(flows "$1" timeouts) + $(flows "$1" unexplained)))
}

@test "an ACK is lost" {
	watch
	fault ack drop_ack p2 in '"every": 70'
	one_by_one -n 75
	watched ack
	((injected >= 1))
	equal NIC "$injected" $(($(counted h2.nic.tx_prio3_packets) - $(counted h1.nic.rx_prio3_packets)))
	(($(restarts "$sender") >= 1))
	equal restarts "$(counted h1.rdma.completer_retry_err)" "$(restarts "$sender")"
	equal 'ACKs that did not come' "$injected" $(($(flows "$receiver" acks) - $(flows "$sender" acks)))
	for file in "$sender" "$receiver"; do
		for key in naks_seq lost_psns losses_before losses_after missed_psns psn_gaps; do
			equal $key 0 "$(flows "$file" $key)"
		done
		equal duplicates "$(counted h2.rdma.duplicate_request)" "$(flows "$file" duplicates)"
	done
}

@test "the tail is lost" {
	watch
	fault tail drop p1 in '"every": 5, "opcode": 8'
	one_by_one -n 8
	watched tail
	equal injected 1 "$injected"
	equal NIC 1 $(($(counted h1.nic.tx_prio3_packets) - $(counted h2.nic.rx_prio3_packets)))
	equal out_of_seq_request 0 "$(counted h2.rdma.out_of_seq_request)"
	for file in "$sender" "$receiver"; do
		equal timeouts "$(counted h1.rdma.completer_retry_err)" "$(flows "$file" timeouts)"
		equal naks_seq 0 "$(flows "$file" naks_seq)"
	done
}

@test "READ responses are lost" {
	watch
	fault answer drop p2 in '"every": 290, "opcode": 14'
	flow ib_read_bw -m 1024 -s 65536 -n 8 -o 1 -t 1
	watched answer
	equal injected 1 "$injected"
	equal NIC 1 $(($(counted h2.nic.tx_prio3_packets) - $(counted h1.nic.rx_prio3_packets)))
	for file in "$sender" "$receiver"; do
		equal read_retries 1 "$(flows "$file" read_retries)"
		equal lost_psns 0 "$(flows "$file" lost_psns)"
		equal missed_psns 0 "$(flows "$file" missed_psns)"
	done
}

@test "corrupt frames" {
	watch
	fault broken corrupt p1 in '"every": 290, "opcode": 7'
	one_by_one -n 8
	watched broken
	equal injected 1 "$injected"
	equal NIC 0 $(($(counted h1.nic.tx_prio3_packets) - $(counted h2.nic.rx_prio3_packets)))
	equal out_of_seq_request 1 "$(counted h2.rdma.out_of_seq_request)"
	# Only the whole packets of the mirror can be verified.
	equal icrc_bad 1 "$(flows "$mirror" icrc_bad)"
	equal corruptions 1 "$(flows "$mirror" corruptions)"
	equal corrupted_psns 1 "$(flows "$mirror" corrupted_psns)"
	equal lost_psns 0 "$(flows "$mirror" lost_psns)"
	run build/rocecheck capture check --format json "$mirror"
	[ "$status" -eq 1 ]
	jq -e '.findings[] | select(.rule == "RC-CAP-011") | .verdict == "FAIL"' <<<"$output"
}

@test "packets come twice" {
	watch
	fault twice duplicate p1 in '"every": 290, "opcode": 7'
	one_by_one -n 12
	watched twice
	((injected >= 2))
	equal NIC "$injected" $(($(counted h2.nic.rx_prio3_packets) - $(counted h1.nic.tx_prio3_packets)))
	equal duplicate_request "$injected" "$(counted h2.rdma.duplicate_request)"
	for file in "$receiver" "$mirror"; do
		equal 'sent twice' "$injected" $(($(flows "$file" duplicates) + $(flows "$file" copies)))
		equal lost_psns 0 "$(flows "$file" lost_psns)"
	done
	equal 'on the sender' 0 $(($(flows "$sender" duplicates) + $(flows "$sender" copies)))
}

@test "packets of UC come late, and some never" {
	watch
	fault late reorder p1 in '"every": 300, "window": 1, "prio": [3]'
	flow ib_write_bw -c UC -m 1024 -s 65536 -n 40
	watched late
	equal reordered "$injected" $(($(flows "$receiver" reordered) + $(flows "$receiver" lost_psns)))
	equal psn_missing 0 "$(flows "$receiver" psn_missing)"
	rm "$tmp"/*.stats
	watch
	fault never drop p1 in '"every": 300, "prio": [3]'
	flow ib_write_bw -c UC -m 1024 -s 65536 -n 40
	watched never
	equal psn_missing "$injected" "$(flows "$receiver" psn_missing)"
	equal lost_psns 0 "$(flows "$receiver" lost_psns)"
}

@test "pauses: as long as the sender's NIC says, and as many frames as the switch" {
	# An emulated guest sees the begin of a pause, while it sends, some milliseconds later than its end. So a pause is
	# long: the 50 kB between xoff and xon leave by 5 MB/s. At 1 Gbit/s it is renewed after 17 ms and would run out after
	# 34: a switch that is scheduled late comes in time.
	set_port p1 rate '"1G"'
	set_port p2 rate '"40M"'
	mirror "$tmp/mirror.pcapng" 9000 p1
	counters before
	sent=$(sent_pauses)
	enough 'PFC frames' 40 sent_pauses ib_write_bw -m 1024 -s 65536 -n 150 -q 2
	counters after
	sent=$(($(sent_pauses) - sent))
	mirrored
	set_port p1 rate '"10G"'
	set_port p2 rate '"10G"'
	mirror=$tmp/mirror.pcapng
	build/rocecheck --json capture stats --link-speed 1 "$mirror" >"$mirror.stats"
	nic_us=$(counted h1.nic.rx_prio3_pause_duration)
	capture_us=$(($(total "$mirror" 'paused_ns_by_prio[3]') / 1000))
	pauses=$(total "$mirror" 'pauses_by_prio[3]') ran_out=$(total "$mirror" 'pauses_ran_out_by_prio[3]')
	echo "# pauses: switch sent $sent frames, capture $(total "$mirror" 'pfc_by_prio[3]'), NIC" \
		"$(counted h1.nic.rx_prio3_pause); paused by the NIC $nic_us us, by the capture $capture_us us in" \
		"$pauses pauses, $ran_out without an end" >&3
	((sent > 20))
	equal 'PFC frames' "$sent" "$(total "$mirror" 'pfc_by_prio[3]')"
	equal 'of the NIC' "$sent" "$(counted h1.nic.rx_prio3_pause)"
	# Of a pause that ran out the capture knows no end, and leaves it out.
	((ran_out < pauses))
	((capture_us > nic_us * (pauses - ran_out) / pauses / 2 && capture_us < nic_us * 3 / 2))
}

@test "marks and CNPs are those of the switch and of the NICs" {
	watch
	fault marked mark_ce p1 in '"every": 10, "prio": [3]'
	flow ib_write_bw -m 1024 -s 65536 -n 80
	watched marked
	((injected > 100))
	equal 'CE marks' "$injected" "$(jq '[.flows[].ecn[3]] | add' "$receiver.stats")"
	equal np_ecn_marked_roce_packets "$injected" "$(counted h2.nic.np_ecn_marked_roce_packets)"
	equal 'CE marks before the switch' 0 "$(jq '[.flows[].ecn[3]] | add' "$sender.stats")"
	equal CNPs "$(counted h2.nic.np_cnp_sent)" "$(flows "$mirror" cnp)"
	(($(flows "$mirror" cnp) > 1))
}
