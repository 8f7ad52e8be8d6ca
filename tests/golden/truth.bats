#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What `capture stats --json` counts in generated files, beside what was put into them.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=${ROCECHECK:-build/rocecheck}
	tmp=$BATS_TEST_TMPDIR
	command -v jq >/dev/null || skip "jq is not installed"
}

# Both sides as one line a flow, under the names of the truth.
truth_lines() { # FILE
	jq -r '.flows[] | select(.packets > 0) | [.src, .dst, .dest_qpn, .packets, .payload_bytes,
		.requests, .responses, .acks, .naks_seq, .naks_other, .rnr, .cnp, .ce, .icrc_good,
		.icrc_bad, .icrc_unverifiable, .new_connections, .gaps, .missing, .again,
		.lost_psns - .tail_psns, .missed_psns, .copies, .wasted, .nak_ns, .resend_ns,
		.held, .held_ns, .held_unknown, .cnp_span_ns, .cnp_min_ns, .cnp_close] | @tsv' \
		"$1" | sort
	jq -c '.frames, .mirrors.packets, .mirrors.gaps, .mirrors.missing, .pauses.pfc_frames,
		.pauses.pause_frames, (.pauses.priorities | map(.frames), map(.pauses),
		map(.ran_out), map(.ns), map(.longest_ns))' "$1"
}

stats_lines() { # FILE
	jq -r '.flows[] | [.src, .dst, .dest_qpn, .packets, .payload_bytes, .requests, .responses,
		.acks, .naks_seq, .naks_other, .rnr, .cnp, .ecn[3], .icrc_good, .icrc_bad,
		.icrc_unverifiable, .new_connections, .psn_gaps, .psn_missing, .duplicates,
		.lost_psns, .missed_psns, .copies, .wasted_psns, .nak_ns, .resend_ns, .held,
		.held_ns, .held_unknown, .cnp_span_ns, .cnp_min_ns, .cnp_close] | @tsv' "$1" | sort
	jq -c '.totals | .frames, .mirror_packets, .mirror_gaps, .mirror_missing, .pfc_frames,
		.pause_frames, .pfc_by_prio, .pauses_by_prio, .pauses_ran_out_by_prio,
		.paused_ns_by_prio, .longest_pause_ns_by_prio' "$1"
}

agree() { # NAME [KEY=VALUE]...
	build/tools/capgen "${@:2}" "$tmp/$1" >"$tmp/truth"
	"$rc" capture stats --json "$tmp/$1" >"$tmp/stats"
	diff <(truth_lines "$tmp/truth") <(stats_lines "$tmp/stats")
}

@test "stats counts what was put into a pcap" {
	for seed in 1 2 3; do
		agree "$seed.pcap" "seed=$seed" fault_rate=200 wrap=1
	done
}

@test "stats counts what was put into a pcapng of headers" {
	for seed in 4 5 6; do
		agree "$seed.pcapng" "seed=$seed" pcapng=1 snap=128 fault_rate=200 requesters=100
	done
}

@test "stats counts what was put into a mixture of all that is known" {
	for seed in 7 8 9; do
		agree "$seed.pcapng" "seed=$seed" mix=all pcapng=1 statistics=1 pmtu=0 requesters=20 \
			frames=5000 fault_rate=200 wrap=1
		jq -e --slurpfile truth "$tmp/truth" '.drops == "some" and .dropped == $truth[0].dropped' "$tmp/stats"
	done
}

@test "check finds nothing in clean traffic of any kind" {
	for mix in rc uc ud xrc ops nets cm; do
		for seed in 1 2 3; do
			build/tools/capgen "seed=$seed" "mix=$mix" frames=1500 requesters=40 pmtu=0 \
				fault_rate=0 ce_rate=0 wrap=1 pcapng=1 statistics=1 "$tmp/c.pcapng" >"$tmp/truth"
			"$rc" capture check --format json "$tmp/c.pcapng" >"$tmp/report" ||
				{ echo "$mix $seed" && cat "$tmp/report" && false; }
			jq -e '[.findings[] | select(.verdict != "PASS" and .verdict != "SKIP")] == []' "$tmp/report"
		done
	done
}

@test "tshark reads the mixture as we do" {
	for tool in tshark jq python3; do
		command -v "$tool" || skip "$tool is not installed"
	done
	build/tools/capgen mix=all frames=2000 requesters=40 pmtu=0 fault_rate=300 "$tmp/all.pcap" >"$tmp/truth"
	tests/golden/tshark_agree.sh "$tmp/all.pcap" "$rc"
}

@test "one fault alone is what the truth names" {
	build/tools/capgen only=reordered fault_rate=500 "$tmp/r.pcap" >"$tmp/truth"
	jq -e '[.events[].fault] | unique == ["reordered"]' "$tmp/truth"
	jq -e '[.flows[].lost_psns, .flows[].missed_psns] | add == 0' "$tmp/truth"
	run -2 build/tools/capgen only=magic "$tmp/r.pcap"
	run -2 build/tools/capgen mix=magic "$tmp/r.pcap"
	run -2 build/tools/capgen --help
	[[ $output == "capgen [KEY=VALUE]"* ]]
	[ ! -e --help ]
}

@test "check begins with size, losses and worst flows, and counts what it does not show" {
	build/tools/capgen requesters=100 frames=5000 "$tmp/w.pcap" >"$tmp/truth"
	run -1 "$rc" capture check "$tmp/w.pcap"
	[[ ${lines[0]} == 'FAIL  capture w.pcap: 5050 frames, 5050 RoCE in 100 flows, duration '* ]]
	grep -q '^      network loss  RC-CAP-004 FAIL: ' <<<"$output"
	grep -q '^      capture loss  RC-CAP-001 WARN: ' <<<"$output"
	grep -q '^      worst flows   from .* to .* QP 0x.*: [0-9]* PSNs lost, ' <<<"$output"
	grep -Eq '^ {20}3 of [0-9]+ flows shown$' <<<"$output"
	tr -s ' \n' '  ' <<<"$output" | grep -q '(4 of [0-9]* shown)'
	grep -q 'other flows: [0-9]* more frames$' <<<"$output"
}

@test "--max-flows bounds the flows, and those that are forgotten are counted" {
	build/tools/capgen requesters=100 frames=5000 "$tmp/f.pcap" >"$tmp/truth"
	"$rc" capture stats --json --max-flows 20 "$tmp/f.pcap" >"$tmp/stats"
	jq -e '(.flows | length) <= 20 and .totals.evicted_flows >= 80' "$tmp/stats"
	"$rc" capture flows --max-flows 20 "$tmp/f.pcap" >"$tmp/flows"
	grep -q 'idle flows evicted' "$tmp/flows"
	run -2 "$rc" capture stats --max-flows 1 "$tmp/f.pcap"
	build/tools/capgen requesters=400 frames=10000 "$tmp/f.pcap" >"$tmp/truth"
	"$rc" capture stats --json --max-flows 300 "$tmp/f.pcap" >"$tmp/stats"
	jq -e '(.flows | length) <= 300 and .totals.evicted_flows >= 100' "$tmp/stats"
}
