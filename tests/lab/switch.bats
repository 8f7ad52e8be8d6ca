#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Three hosts on the emulated switch: PFC for real, by perftest and other people's counters; DCBX TLVs
# heard by lldpad and by rocecheck; the switch's setting in the verdict.
bats_require_minimum_version 1.5.0
load guests
load ../record

setup_file()
{
	own_lab switch-lab tests/lab/topologies/three.yaml
	configured h1 h2 h3
	inventory fabric-three.yaml >"$BATS_FILE_TMPDIR/fabric.yaml"
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
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

# watch: the mirror of what the senders' ports pass, headers only. naks: how many NAKs are in it, all
# records there.
watch()
{
	for p in p1 p2; do
		lab switch "{\"op\": \"set\", \"path\": \"port.$p.mirror\", \"value\": true}" | jq -e .ok >/dev/null
	done
	lab switch "{\"op\": \"mirror\", \"file\": \"$tmp/mirror.pcapng\", \"snaplen\": 96}" | jq -e .ok >/dev/null
}

naks()
{
	lab switch '{"op": "stats"}' | jq -e '.mirror.dropped == 0 and .mirror.written > 1000' >/dev/null
	lab switch '{"op": "mirror", "file": null}' | jq -e .ok >/dev/null
	tshark -r "$tmp/mirror.pcapng" -Y 'infiniband.aeth.syndrome.opcode == 3' 2>/dev/null | wc -l
}

# same_pauses SENT GOT: since these counts, the NICs have received the PFC frames that the switch sent; the last
# ones may still be on their way.
same_pauses()
{
	local sent got

	for _ in {1..50}; do
		sent=$(($(pfc_sent) - $1)) got=$(($(paused) - $2))
		[ "$sent" != "$got" ] || break
		sleep 0.2
	done
	echo "PFC frames: switch sent $sent, NICs received $got"
	((sent > 20 && sent == got))
}

@test "2:1 incast with PFC: nothing dropped, no NAK, nothing out of sequence, pauses counted alike" {
	drops=$(of_ports dropped) errors=$(sequence_errors) sent=$(pfc_sent) got=$(paused)
	watch
	incast
	[ "$(of_ports dropped)" = "$drops" ]
	[ "$(sequence_errors)" = "$errors" ]
	[ "$(naks)" = 0 ]
	same_pauses "$sent" "$got"
	lab switch '{"op": "stats"}' | jq -e '.switches.leaf1 | .exact and .shared_bytes + .headroom_bytes == 0'
}

@test "the same without PFC on the switch: drops, NAKs and retransmissions" {
	pfc '[]'
	drops=$(of_ports dropped) errors=$(sequence_errors)
	watch
	incast || true # a queue pair may die of it
	(($(of_ports dropped) > drops + 10))
	(($(sequence_errors) > errors))
	(($(naks) > 0))
}

@test "host, switch TLV, counters and wire in one verdict: PASS" {
	run -0 --separate-stderr build/rocecheck --json validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "PASS")] | length == 3' <<<"$output"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004") | .evidence[] | select(.kind == "L")] | length == 3' <<<"$output"
}

# h3 is alone on its rail; the switch begins to pause it while h1 and h2 fill their links.
@test "an incast is stopped when a port that takes no part is paused: RC-PFC-018 names it" {
	{
		sed '/^hosts:/,$d' "$BATS_FILE_TMPDIR/fabric.yaml"
		cat <<-EOF
			hosts:
			  - {name: "h[1-2]", ports: [{interface: roce0, rdma: rxe0}]}
			  - {name: h3, ports: [{interface: roce0, rdma: rxe0, rail: 1}]}
		EOF
		sed -n '/^thresholds:/,$p' "$BATS_FILE_TMPDIR/fabric.yaml" | sed 's/traffic: .*/traffic: 20s/'
	} >"$tmp/fabric.yaml"
	build/rocecheck validate "$tmp/fabric.yaml" -v --phases quiet,incast --maintenance 3 --json --out "$tmp/run" \
		>"$tmp/report.json" 2>"$tmp/err" 3>&- &
	for _ in {1..600}; do
		! grep -q 'links are filled' "$tmp/err" || break
		sleep 0.1
	done
	sleep 3
	lab switch '{"op": "fault", "add": {"kind": "pause_storm", "port": "p3", "prio": [3]}}' | jq -e .ok
	SECONDS=0 code=0
	wait %1 || code=$?
	lab switch '{"op": "fault", "clear": true}' | jq -e .ok
	cat "$tmp/err"
	[ "$code" -eq 1 ]
	((SECONDS < 20)) # of 20 s for each of two rounds
	grep -q 'h3 roce0 takes no part in the incast, but it received [0-9]* pauses on priority 3: the load is stopped' "$tmp/err"
	jq -e '[.findings[] | select(.rule == "RC-PFC-018" and .verdict == "FAIL") | "\(.host) \(.port)"] == ["h3 roce0"]' \
		"$tmp/report.json"
	jq -e '[.pairs[] | select(.phase == "control")] == []' <(record_of "$tmp/run")
}

@test "a switch that pauses another priority is named by RC-PFC-004" {
	pfc '[4]'
	run -1 --separate-stderr build/rocecheck --json validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run"
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "FAIL") | .host] | sort == ["h1", "h2", "h3"]' <<<"$output"
}

# Settings of a port that have something to say in every TLV.
settings='{"pfc": [3, 5], "prio": {"0": {"tc": 0}, "1": {"tc": 1}, "3": {"tc": 3}, "5": {"tc": 5}, "6": {"tc": 6}},
	"tc": {"0": {"dwrr": 20}, "1": {"dwrr": 15}, "3": {"dwrr": 40}, "5": {"dwrr": 25}, "6": {"strict": true}},
	"dscp": {"24-26": 3, "40": 5, "48": 6},
	"lldp": {"app": [{"selector": "udp", "protocol": 4791, "prio": 3}, {"selector": "ethertype", "protocol": 35078, "prio": 5}]}}'

# state DIALECT: what port 1 should say, in $tmp/want; what tshark reads from the mirror, in $tmp/wire;
# what lldpad in h1 understood, in $tmp/host.
state()
{
	local key

	echo "$settings" >"$tmp/settings.json"
	lab switch '{"op": "set", "path": "port.p1.mirror", "value": true}' | jq -e .ok
	lab switch "{\"op\": \"mirror\", \"file\": \"$tmp/mirror.pcapng\", \"snaplen\": 1600}" | jq -e .ok
	for key in $(jq -r 'keys[]' "$tmp/settings.json"); do
		jq -c "{op: \"set\", path: \"port.p1.$key\", value: .[\"$key\"]}" "$tmp/settings.json" >"$tmp/request"
		lab switch "$(cat "$tmp/request")" | jq -e .ok
	done
	lab switch "{\"op\": \"set\", \"path\": \"port.p1.lldp.dialect\", \"value\": \"$1\"}" | jq -e .ok
	lab run h1 -- timeout 60 sh -c "lldpad -d; until lldptool -p >/dev/null 2>&1; do sleep 0.2; done
		lldptool -L -i roce0 adminStatus=rx >/dev/null
		until lldptool -t -n -i roce0 | grep -q '$2'; do sleep 0.2; done
		lldptool -t -n -i roce0; kill \$(pidof lldpad)
		while pidof lldpad >/dev/null; do sleep 0.1; done; rm -f /dev/shm/lldpad.state" >"$tmp/lldptool"
	lab switch '{"op": "mirror", "file": null}' | jq -e .ok
	tests/lab/tlvs.py config tests/lab/topologies/three.yaml p1 "$tmp/settings.json" "$1" >"$tmp/want"
	tests/lab/tlvs.py tshark "$tmp/mirror.pcapng" p1 "$1" >"$tmp/wire"
	tests/lab/tlvs.py lldptool "$tmp/lldptool" "$1" >"$tmp/host"
	cat "$tmp/want" "$tmp/lldptool"
}

# What the switch has heard from h1 of priority 3, in bytes, and when (seconds).
heard()
{
	echo "$EPOCHREALTIME $(lab switch '{"op": "stats"}' | jq '.switches.leaf1.ports.p1.prio["3"].rx_bytes')"
}

# 16 Mbit/s are 2 MB/s, which a guest can fill on a busy machine.
@test "a rate limit that apply sets is the rate that the switch hears" {
	local pids=() rate

	lab run h1 -- sh -c 'printf "%s\n" "schema: rocecheck.profile/1" "name: slow" "intent: lossy" \
		"ets: {tc_maxrate_kbps: {3: 16000}}" >/run/slow.yaml
		rocecheck apply /run/slow.yaml --auto-approve --accept-unproven'
	lab run h3 -- timeout 60 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -D 10 -u 20 >"$tmp/server" 2>&1 &
	pids+=($!)
	lab run h3 -- sh -c 'until ss -Htln sport = 18515 | grep -q .; do sleep 0.1; done'
	lab run h1 -- timeout 60 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -D 10 -u 20 198.18.0.3 >"$tmp/client" 2>&1 &
	pids+=($!)
	lab run h1 -- sh -c 'until rdma resource show qp link rxe0 | grep -q ib_write_bw; do sleep 0.1; done; sleep 2'
	heard >"$tmp/heard"
	sleep 6
	heard >>"$tmp/heard"
	wait "${pids[0]}" && wait "${pids[1]}" || { cat "$tmp/server" "$tmp/client"; return 1; }
	lab run h1 -- rocecheck rollback
	rate=$(awk 'NR == 1 { t = $1; b = $2 } NR == 2 { print ($2 - b) / ($1 - t) / 1000000 }' "$tmp/heard")
	echo "$rate MB/s"
	awk -v r="$rate" 'BEGIN { exit !(1.9 <= r && r <= 2.1) }'
}

@test "the switch's IEEE TLVs, by tshark from the mirror and by lldpad, say what is configured" {
	state ieee 'IEEE 8021QAZ APP TLV'
	[ "$(wc -l <"$tmp/want")" = 14 ]
	diff "$tmp/want" "$tmp/wire"
	diff "$tmp/want" "$tmp/host"
}

@test "the switch's CEE TLV, by tshark from the mirror and by lldpad, says what is configured" {
	state cee 'CEE DCBX TLV'
	[ "$(wc -l <"$tmp/want")" = 5 ]
	diff "$tmp/want" "$tmp/wire"
	diff "$tmp/want" "$tmp/host"
}

@test "a bad topology is refused with its line, and nothing is left running" {
	sed 's/pfc: \[3\]/pfc: [9]/' tests/lab/topologies/three.yaml >"$tmp/bad.yaml"
	LAB_DIR=$tmp/lab run lab up "$tmp/bad.yaml"
	[ "$status" -ne 0 ]
	[[ $output == *"pfc: [9]"* ]]
	LAB_DIR=$tmp/lab run lab status
	[ "$status" -eq 1 ]
}
