#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# capture record and tcpdump side by side in a guest, on real RoCE traffic of which the switch drops one packet: the
# same packets, headers only and no keys, and the loss is reported once. More of this is in capture-*.bats.
bats_require_minimum_version 1.5.0
load guests
load captures

setup_file()
{
	own_lab capture-lab tests/lab/topologies/two.yaml
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
}

# lines FIELDS FILE...: RoCE packets in FILE.lines, without their times, their numbers and these fields. LLDP may come
# before the later one listens.
lines()
{
	local f fields=$1

	shift
	for f; do
		build/rocecheck --json capture decode "$tmp/$f" |
			jq -c "select(.opcode != null) | del(.frame, .time_ns, $fields)" >"$tmp/$f.lines"
	done
}

# missing MOST: what tcpdump has is what we have in the same order, but for so many that it lacks, or fewer.
missing()
{
	local more

	more=$(diff "$tmp/whole.pcapng.lines" "$tmp/dump.pcap.lines" | grep -c '^>') || true
	equal 'packets that only tcpdump has' 0 "$more"
	(($(wc -l <"$tmp/whole.pcapng.lines") - $(wc -l <"$tmp/dump.pcap.lines") <= $1))
}

@test "recorded headers, a whole recording and tcpdump's are the same packets; the one loss is told" {
	record h2 whole -i roce0 -w /tmp/whole.pcapng --full
	record h2 heads -i roce0 -w /tmp/heads.pcap
	# shellcheck disable=SC2016 # for the guest's shell
	on h2 bash -ec 'grep -E "^(Cap(Prm|Eff)|Seccomp|NoNewPrivs):" /proc/$(</tmp/heads.pid)/status
		tcpdump -i roce0 -s 2048 -B 8192 -U --immediate-mode -w /tmp/dump.pcap "udp dst port 4791" >/tmp/dump.err 2>&1 </dev/null &
		echo $! >/tmp/dump.pid
		echo "{}" >/tmp/dump.json
		for i in {1..600}; do grep -q listening /tmp/dump.err && exit 0; sleep 0.05; done; exit 1' >"$tmp/status"
	grep 'CapPrm:.0000000000000000$' "$tmp/status"
	grep 'CapEff:.0000000000000000$' "$tmp/status"
	grep 'NoNewPrivs:.1$' "$tmp/status"
	mirror "$tmp/mirror.pcapng" 9000 p2
	counters before
	fault one drop p1 in '"every": 290, "opcode": 7'
	flow ib_write_bw -m 1024 -s 65536 -t 1 -n 8
	equal injected 1 "$(hits one)"
	counters after
	mirrored
	ended h2 whole heads
	tcpdumped h2 dump "$(jq .roce "$tmp/whole.json")"
	for f in whole.pcapng heads.pcap dump.pcap; do
		fetch h2 /tmp/$f "$tmp/$f"
	done
	equal modes 600 "$(on h2 stat -c %a /tmp/whole.pcapng /tmp/heads.pcap | sort -u)"
	jq -e '.dropped == 0 and .roce > 500 and .rdma_packets > 500 and .full' "$tmp/whole.json"

	lines .none whole.pcapng dump.pcap
	# shellcheck disable=SC2154 # of tcpdumped()
	if ((dump_dropped)); then
		echo "# tcpdump says that the kernel dropped $dump_dropped packets of its: the others are compared" >&3
		lines .events whole.pcapng dump.pcap
		missing "$dump_dropped"
		lines .none whole.pcapng
	else
		cmp "$tmp/whole.pcapng.lines" "$tmp/dump.pcap.lines"
	fi
	jq -es 'length > 500 and all(.icrc == "good")' "$tmp/whole.pcapng.lines"
	lines '.icrc, .reth.rkey' whole.pcapng heads.pcap
	cmp "$tmp/whole.pcapng.lines" "$tmp/heads.pcap.lines"
	# The two directions cross at the switch in another order.
	lines .events whole.pcapng mirror.pcapng
	cmp <(sort "$tmp/whole.pcapng.lines") <(sort "$tmp/mirror.pcapng.lines")
	build/rocecheck --json capture decode "$tmp/heads.pcap" |
		jq -es '[.[].reth.rkey | values] | length >= 8 and all(. == 0)'
	build/rocecheck --json capture decode "$tmp/whole.pcapng" |
		jq -es '[.[].reth.rkey | values] | length >= 8 and all(. != 0)'

	dumps=(dump.pcap)
	((!dump_dropped)) || dumps=()
	for f in whole.pcapng heads.pcap ${dumps[@]+"${dumps[@]}"}; do
		equal lost_psns 1 "$(flows "$tmp/$f" lost_psns)"
		equal go_back_n 1 "$(flows "$tmp/$f" go_back_n)"
		run build/rocecheck capture check --format json "$tmp/$f"
		[ "$status" -eq 1 ]
		jq -e '[.findings[] | select(.verdict == "FAIL" or .verdict == "WARN") | .rule] | sort == ["RC-CAP-004", "RC-CAP-007"]' <<<"$output"
	done
	equal out_of_seq_request 1 "$(counted h2.rdma.out_of_seq_request)"
}

@test "tshark agrees on what was recorded" {
	command -v tshark || skip "tshark is not installed"
	record h2 live -i roce0 -w /tmp/live.pcapng --full
	flow ib_read_bw -m 512 -s 4096 -n 50
	ended h2 live
	fetch h2 /tmp/live.pcapng "$tmp/live.pcapng"
	tests/golden/tshark_agree.sh "$tmp/live.pcapng" build/rocecheck --icrc
}
