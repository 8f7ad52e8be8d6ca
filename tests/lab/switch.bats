#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Three hosts on the emulated switch: PFC for real, by perftest and other people's counters; DCBX TLVs
# heard by lldpad and by rocecheck; the switch's setting in the verdict.
bats_require_minimum_version 1.5.0

lab()
{
	tests/lab/lab "$@" 3>&-
}

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$PWD/build/switch-lab
	lab down
	lab up tests/lab/topologies/three.yaml
	for host in h1 h2 h3; do
		lab run $host -- rocecheck apply lab --auto-approve --accept-unproven >/dev/null 2>&1
	done
	sed "s#\.\./\.\./build/lab#$LAB_DIR#" tests/lab/fabric-three.yaml >"$BATS_FILE_TMPDIR/fabric.yaml"
}

teardown_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	lab down
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	tmp=$BATS_TEST_TMPDIR
	pfc '[3]'
}

# pfc JSON-LIST: lossless priorities of all ports of the switch.
pfc()
{
	for p in p1 p2 p3; do
		lab switch "{\"op\": \"set\", \"path\": \"port.$p.pfc\", \"value\": $1}" | jq -e .ok >/dev/null
	done
}

# of_ports KEY: the sum of a statistic of priority 3.
of_ports()
{
	lab switch '{"op": "stats"}' | jq "[.switches.leaf1.ports[].prio[\"3\"].$1] | add"
}

pfc_sent()
{
	echo $(($(of_ports pfc_xoff_sent) + $(of_ports pfc_xon_sent)))
}

# of_hosts COMMAND: the sum of a number that each host prints.
of_hosts()
{
	local sum=0 host

	for host in h1 h2 h3; do
		sum=$((sum + $(lab run $host -- sh -c "$1")))
	done
	echo $sum
}

paused()
{
	of_hosts "ethtool -S roce0 | sed -n 's/.*rx_prio3_pause: //p'"
}

sequence_errors()
{
	of_hosts "rdma -j statistic show link rxe0/1 | jq '.[0].out_of_seq_request + .[0].rcvd_seq_err'"
}

# Both senders at once, each for 4 s into h3.
incast()
{
	local pids=() pid i

	for i in 1 2; do
		lab run h3 -- timeout 60 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -D 4 -u 18 -p 100$i \
			>"$tmp/server$i" 2>&1 &
		pids+=($!)
	done
	lab run h3 -- sh -c 'until [ "$(ss -Htln sport = 1001 or sport = 1002 | wc -l)" = 2 ]; do sleep 0.1; done'
	for i in 1 2; do
		lab run h$i -- timeout 60 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -D 4 -u 18 -p 100$i 198.18.0.3 \
			>"$tmp/client$i" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return 1
	done
}

@test "2:1 incast with PFC: nothing is dropped, nothing out of sequence, pauses counted alike" {
	drops=$(of_ports dropped) errors=$(sequence_errors) sent=$(pfc_sent) got=$(paused)
	incast
	[ "$(of_ports dropped)" = "$drops" ]
	[ "$(sequence_errors)" = "$errors" ]
	sent=$(($(pfc_sent) - sent)) got=$(($(paused) - got))
	echo "PFC frames: switch sent $sent, NICs received $got"
	((sent > 20 && sent == got))
}

@test "the same without PFC on the switch: drops and retransmissions" {
	pfc '[]'
	drops=$(of_ports dropped) errors=$(sequence_errors)
	incast || true # a queue pair may die of it
	(($(of_ports dropped) > drops + 10))
	(($(sequence_errors) > errors))
}

@test "host, switch TLV, counters and wire in one verdict: PASS" {
	run -0 --separate-stderr build/rocecheck --json validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run" \
		--allow-inconclusive RC-PFC-010
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "PASS")] | length == 3' <<<"$output"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004") | .evidence[] | select(.kind == "L")] | length == 3' <<<"$output"
}

@test "a switch that pauses another priority is named by RC-PFC-004" {
	pfc '[4]'
	run -1 --separate-stderr build/rocecheck --json validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "FAIL") | .host] | sort == ["h1", "h2", "h3"]' <<<"$output"
}

@test "lldpad reads the switch's TLVs as they are configured" {
	lab run h1 -- sh -c 'lldpad -d; until lldptool -p >/dev/null 2>&1; do sleep 0.2; done
		lldptool -L -i roce0 adminStatus=rx; for i in $(seq 50); do
			lldptool -t -n -i roce0 | grep -q "PFC" && break; sleep 0.2; done
		lldptool -t -n -i roce0; kill $(pidof lldpad); rm -f /dev/shm/lldpad.state' >"$tmp/tlvs"
	cat "$tmp/tlvs"
	grep -A4 'IEEE 8021QAZ PFC TLV' "$tmp/tlvs" | grep -q 'PFC enabled: *3'
	grep -q 'IEEE 8021QAZ ETS Configuration TLV' "$tmp/tlvs"
	grep -q '4791' "$tmp/tlvs"
}

@test "a bad topology is refused with its line, and nothing is left running" {
	sed 's/pfc: \[3\]/pfc: [9]/' tests/lab/topologies/three.yaml >"$tmp/bad.yaml"
	LAB_DIR=$tmp/lab run lab up "$tmp/bad.yaml"
	[ "$status" -ne 0 ]
	[[ $output == *"pfc: [9]"* ]]
	LAB_DIR=$tmp/lab run lab status
	[ "$status" -eq 1 ]
}
