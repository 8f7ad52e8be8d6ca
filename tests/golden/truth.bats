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
		.lost_psns - .tail_psns, .missed_psns, .copies, .wasted, .nak_ns,
		.resend_ns] | @tsv' "$1" | sort
}

stats_lines() { # FILE
	jq -r '.flows[] | [.src, .dst, .dest_qpn, .packets, .payload_bytes, .requests, .responses,
		.acks, .naks_seq, .naks_other, .rnr, .cnp, .ecn[3], .icrc_good, .icrc_bad,
		.icrc_unverifiable, .new_connections, .psn_gaps, .psn_missing, .duplicates,
		.lost_psns, .missed_psns, .copies, .wasted_psns, .nak_ns, .resend_ns] | @tsv' \
		"$1" | sort
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

@test "one fault alone is what the truth names" {
	build/tools/capgen only=reordered fault_rate=500 "$tmp/r.pcap" >"$tmp/truth"
	jq -e '[.events[].fault] | unique == ["reordered"]' "$tmp/truth"
	jq -e '[.flows[].lost_psns, .flows[].missed_psns] | add == 0' "$tmp/truth"
	run -2 build/tools/capgen only=magic "$tmp/r.pcap"
}

@test "--max-flows bounds the flows, and those that are forgotten are counted" {
	build/tools/capgen requesters=100 frames=5000 "$tmp/f.pcap" >"$tmp/truth"
	"$rc" capture stats --json --max-flows 20 "$tmp/f.pcap" >"$tmp/stats"
	jq -e '(.flows | length) <= 20 and .totals.evicted_flows >= 80' "$tmp/stats"
	"$rc" capture flows --max-flows 20 "$tmp/f.pcap" >"$tmp/flows"
	grep -q 'idle flows were forgotten' "$tmp/flows"
	run -2 "$rc" capture stats --max-flows 1 "$tmp/f.pcap"
}
