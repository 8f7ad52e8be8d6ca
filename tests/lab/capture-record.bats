#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# capture record in a guest, on real RoCE traffic: rotation, the filters of the kernel, what it says of its own losses,
# and what it says where the packets pass it by. Runs from the root of the tree; the lab is one of its own.
bats_require_minimum_version 1.5.0
load guests
load captures

setup_file()
{
	fast_pair capture-record-lab
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
	set_port p2 rate '"10G"'
	on h2 sh -c 'rm -rf /tmp/*.pcap* /tmp/rec && mkdir /tmp/rec'
}

@test "files follow each other; together they hold every packet, in order, and each says what it lost" {
	record h2 all -i roce0 -w /tmp/all.pcapng
	record h2 parts -i roce0 -w /tmp/rec/parts.pcapng --file-frames 500
	record h2 size -i roce0 -w /tmp/rec/size.pcap --file-size 1 --files 2 --full
	flow ib_write_bw -m 1024 -s 65536 -n 50
	ended h2 all parts size
	files=$(jq .files "$tmp/parts.json") frames=$(jq .frames "$tmp/parts.json")
	# LLDP comes whenever it likes.
	equal frames "$(jq .roce "$tmp/all.json")" "$(jq .roce "$tmp/parts.json")"
	equal files $(((frames + 499) / 500)) "$files"
	fetch h2 /tmp/all.pcapng "$tmp/all.pcapng"
	roce='select(.opcode != null) | del(.frame, .events)'
	for i in $(seq "$files"); do
		part=$(printf 'parts-%05d.pcapng' "$i")
		fetch h2 "/tmp/rec/$part" "$tmp/$part"
		build/rocecheck --json capture stats "$tmp/$part" | jq -e '.dropped == 0'
		build/rocecheck --json capture decode "$tmp/$part" | jq -c "$roce" >>"$tmp/parts"
	done
	build/rocecheck --json capture decode "$tmp/all.pcapng" | jq -c "$roce" | diff -q - "$tmp/parts"
	# Of 3 MB in files of 1 MiB the last two are kept.
	(($(jq .files "$tmp/size.json") >= 3))
	equal 'files kept' 2 "$(on h2 sh -c 'ls /tmp/rec/size-*.pcap | wc -l')"
	equal modes 600 "$(on h2 sh -c 'stat -c %a /tmp/all.pcapng /tmp/rec/* | sort -u')"
}

lost_packets()
{
	hits lost
}

@test "the kernel's filters take what a whole recording has of it, and no more" {
	for what in cnp nak; do
		record h2 $what -i eth0 -w /tmp/$what.pcapng -f $what
	done
	record h1 all -i eth0 -w /tmp/all.pcapng
	for what in cnp nak pfc; do
		record h1 $what -i eth0 -w /tmp/$what.pcapng -f $what
	done
	# Ends with the first; one comes every 2 s.
	record h1 lldp -i eth0 -w /tmp/lldp.pcapng -f lldp --limit 1
	set_port p2 rate '"64M"'
	# Congestion alone: a sender that gets CNPs or retransmits may be too slow for a pause.
	enough 'PFC frames' 6 sent_pauses ib_write_bw -m 1024 -s 65536 -n 50 -q 2
	fault marked mark_ce p1 in '"every": 20, "prio": [3]'
	fault lost drop p1 in '"every": 400, "prio": [3]'
	enough 'lost packets' 6 lost_packets ib_write_bw -m 1024 -s 65536 -n 50 -q 2
	set_port p2 rate '"10G"'
	finished h1 lldp
	ended h1 all cnp nak pfc
	ended h2 cnp nak
	fetch h1 /tmp/all.pcapng "$tmp/all.pcapng"
	lldp=$(total "$tmp/all.pcapng" lldp) pfc=$(total "$tmp/all.pcapng" pfc_frames)
	cnp=$(total "$tmp/all.pcapng" cnp) nak=$(($(flows "$tmp/all.pcapng" naks_seq) + $(flows "$tmp/all.pcapng" rnr)))
	echo "# CNPs $cnp, NAKs $nak, PFC $pfc, LLDP $lldp" >&3
	((cnp > 2 && nak > 2 && pfc > 2 && lldp > 0))
	for what in cnp nak pfc; do
		equal $what ${!what} "$(jq .frames "$tmp/$what.json")"
		fetch h1 /tmp/$what.pcapng "$tmp/$what.pcapng"
	done
	equal LLDP 1 "$(jq .frames "$tmp/lldp.json")"
	fetch h1 /tmp/lldp.pcapng "$tmp/lldp.pcapng"
	equal 'LLDP by the filter' 1 "$(total "$tmp/lldp.pcapng" lldp)"
	equal 'NAKs by the filter' "$nak" $(($(flows "$tmp/nak.pcapng" naks_seq) + $(flows "$tmp/nak.pcapng" rnr)))
	equal 'CNPs by the filter' "$cnp" "$(total "$tmp/cnp.pcapng" cnp)"
	equal 'PFC by the filter' "$pfc" "$(total "$tmp/pfc.pcapng" pfc_frames)"
}

@test "what the recording itself loses is counted, in the file too, and is no loss of the network" {
	record h2 slow -i roce0 -w /tmp/slow.pcapng --full
	# The process that reads the frames is the child of the one that was started.
	# shellcheck disable=SC2016 # for the guest's shell
	on h2 bash -c 'kill -STOP $(</proc/$(</tmp/slow.pid)/task/$(</tmp/slow.pid)/children)'
	counters before
	flow ib_write_bw -m 4096 -s 1048576 -n 110
	# shellcheck disable=SC2016
	on h2 bash -c 'kill -CONT $(</proc/$(</tmp/slow.pid)/task/$(</tmp/slow.pid)/children)'
	flow ib_write_bw -m 4096 -s 65536 -n 8
	counters after
	ended h2 slow
	fetch h2 /tmp/slow.pcapng "$tmp/slow.pcapng"
	on h2 rm /tmp/slow.pcapng
	dropped=$(jq .dropped "$tmp/slow.json") frames=$(jq .frames "$tmp/slow.json")
	echo "# recorded $frames, lost $dropped" >&3
	((dropped > 1000))
	build/rocecheck --json capture stats "$tmp/slow.pcapng" >"$tmp/stats"
	equal 'in the file' "$dropped" "$(jq .dropped "$tmp/stats")"
	jq -e '[.flows[].lost_psns] | add == 0' "$tmp/stats"
	# Guests that have no time retry.
	(($(jq '[.flows[].timeouts] | add' "$tmp/stats") <= $(counted h1.rdma.completer_retry_err)))
	run build/rocecheck capture check --format json "$tmp/slow.pcapng"
	jq -e --argjson n "$dropped" '.findings[] | select(.rule == "RC-CAP-001") | .verdict == "WARN" and
		(.text | contains("\($n) packets"))' <<<"$output"
	jq -e '[.findings[] | select(.rule == "RC-CAP-004") | .verdict] == ["INCONCLUSIVE"]' <<<"$output"
}

@test "where RDMA counters grow and no packet comes, the reason and the ways out are told" {
	# Two queue pairs of one device meet in the device: nothing of it is on the interface.
	format='' record h2 blind -i roce0 -w /tmp/blind.pcapng
	before=$(on h2 rdma -j statistic show link rxe0/1 | jq '.[0].sent_pkts')
	# shellcheck disable=SC2016
	on h2 bash -ec 'ib_write_bw -d rxe0 -x 1 -u 20 -F -n 50 >/tmp/server 2>&1 & until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.05; done
		ib_write_bw -d rxe0 -x 1 -u 20 -F -n 50 198.18.0.2 >/tmp/client; wait $!'
	(($(on h2 rdma -j statistic show link rxe0/1 | jq '.[0].sent_pkts') > before + 100))
	ended h2 blind
	grep ', 0 RoCE' "$tmp/blind.json"
	grep -E 'no RoCE captured, but rxe0 counted [0-9]{3,} packets: the NIC bypasses the kernel' "$tmp/blind.json"
	grep '^alternative .*mirror port' "$tmp/blind.json"
	fetch h2 /tmp/blind.pcapng "$tmp/blind.pcapng"
	run build/rocecheck capture check "$tmp/blind.pcapng"
	[ "$status" -eq 4 ]
	[[ $(tr -s ' \n' '  ' <<<"$output") == *'the NIC bypasses the kernel'*'alternative: '* ]]
}
