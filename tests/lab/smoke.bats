#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab of `make check`: two hosts on a switch, and what a user does with them in turn. Capture, apply, rollback,
# validate, top, probe and DCBX, each once, beside the tools of others. Every one has files of its own for the rest,
# which `make lab-check` and `make fabric-check` run.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
load guests
load ../record
load probe
load captures # after probe: `fault` is that of captures
load lldpad

setup_file()
{
	at_root
	mkdir -p build/smoke-lab.d
	# A host hears its neighbour sooner.
	sed 's/lldp: {interval: 2s/lldp: {interval: 1s/' tests/lab/topologies/two.yaml >build/smoke-lab.d/two.yaml
	own_lab smoke-lab build/smoke-lab.d/two.yaml
}

teardown_file()
{
	lab_ends
	rm -r build/smoke-lab.d
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
}

teardown()
{
	nothing_left
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

# truth: what the tools of others read on h1, as one JSON object.
truth()
{
	on h1 bash -c 'ethtool -S roce0 | awk "/: [0-9]+\$/ { printf \"%s %s\n\", \$1, \$2 }"
		dcb -s pfc show dev roce0 | awk "/^(requests|indications)/ {
			for (i = 2; i <= 9; i++) { split(\$i, v, \":\"); printf \"%s%d: %s\n\", \$1, v[1], v[2] } }"
		rdma statistic show link rxe0/1 | tr " " "\n" | awk "
			name { printf \"rdma_%s: %s\n\", name, \$1; name = \"\"; next }
			/^[a-z_]+\$/ && \$1 != \"link\" { name = \$1 }"' |
		jq -Rn '[inputs | capture("^(?<key>[^ ]+): (?<value>[0-9]+)$") | .value |= tonumber]
			| from_entries'
}

# agrees FROM TOTALS TO: each total lies between what was read before it and after it.
agrees()
{
	jq -ne --argjson from "$1" --argjson got "$2" --argjson to "$3" '
		def between($name; $value): if $from[$name] == null then error("no oracle: " + $name)
			elif $from[$name] <= $value and $value <= $to[$name] then true
			else error("\($name): \($from[$name]) <= \($value) <= \($to[$name])") end;
		[range(8) as $p |
			between("indications\($p)"; $got.pfc_rx_frames[$p]),
			between("requests\($p)"; $got.pfc_tx_frames[$p]),
			between("rx_prio\($p)_pause"; $got.pfc_rx_frames[$p]),
			between("rx_prio\($p)_pause_duration"; $got.pfc_rx_pause_us[$p]),
			between("rx_prio\($p)_bytes"; $got.prio_rx_bytes[$p]),
			between("tx_prio\($p)_bytes"; $got.prio_tx_bytes[$p]),
			between("tx_prio\($p)_packets"; $got.prio_tx_packets[$p]),
			between("rx_prio\($p)_discards"; $got.prio_rx_discards[$p])] +
		[between("rx_discards_phy"; $got.rx_discards),
			between("rdma_sent_pkts"; $got.rdma_tx_packets),
			between("rdma_rcvd_pkts"; $got.rdma_rx_packets),
			between("rdma_out_of_seq_request"; $got.out_of_sequence),
			between("rdma_rcvd_seq_err"; $got.seq_nak_rx),
			between("rdma_completer_retry_err"; $got.retransmits)] | all'
}

# state HOST: ETS, PFC, APP and link pause of the port, its MTU and the devices that have a default ToS, as
# the tools of others read them.
state()
{
	# shellcheck disable=SC2016 # for the guest's shell
	on "$1" bash -ec 'for object in ets pfc app; do dcb -j $object show dev roce0; done
		ethtool -a roce0
		cat /sys/class/net/roce0/mtu
		ls /sys/kernel/config/rdma_cm'
}

# validate: h1 and h2 by the profile lab, into $tmp/run.
validate()
{
	inventory fabric.yaml >"$LAB_DIR/fabric.yaml"
	build/rocecheck validate "$LAB_DIR/fabric.yaml" --out "$tmp/run" 3>&-
}

@test "capture: recorded headers, a whole recording and tcpdump's are the same packets; the one loss is told" {
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

@test "capture: tshark agrees on what was recorded" {
	command -v tshark || skip "tshark is not installed"
	record h2 live -i roce0 -w /tmp/live.pcapng --full
	flow ib_read_bw -m 512 -s 4096 -n 50
	ended h2 live
	fetch h2 /tmp/live.pcapng "$tmp/live.pcapng"
	tests/golden/tshark_agree.sh "$tmp/live.pcapng" build/rocecheck --icrc
}

@test "apply makes the port what the profile says, and a second plan is empty" {
	run -1 on h1 rocecheck plan lab --exit-code
	[[ $output == *"Profile: lab"*"~ pfc.enabled"*"[] -> [3]"* ]]
	[[ $output == *"Nothing written."* ]]
	run -0 on h1 rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"Read back: 10 of 10 settings match"*"Transaction "*" is final"* ]]
	run -0 on h1 rocecheck plan lab --exit-code
	[[ $output == *"already matches lab"* ]]
	on h1 dcb pfc show dev roce0 prio-pfc | grep -q '3:on'
	[ "$(on h1 dcb -j app show dev roce0 | jq -c '.dscp_prio[26]')" = "[26,3]" ]
	[ "$(on h1 cat /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos)" = 106 ]
	# Once more changes nothing at all.
	run -0 on h1 /rocecheck/build/tools/dcbmon rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"changes 0"* ]]
	run -0 on h1 rocecheck rollback --list --json
	[ "$(jq -r '.transactions[].state' <<<"$output")" = "done" ]
}

@test "rollback puts back what somebody had set before" {
	on h2 bash -ec 'dcb app add dev roce0 dscp-prio 26:4 stream-port-prio 3260:4
		dcb ets set dev roce0 prio-tc all:0 4:2 tc-tsa all:strict 0:ets 2:ets tc-bw all:0 0:30 2:70
		dcb pfc set dev roce0 prio-pfc all:off 4:on
		ethtool -A roce0 rx off tx off || true'
	state h2 >"$tmp/before"
	run -0 on h2 rocecheck apply lab --auto-approve --accept-unproven
	state h2 >"$tmp/applied"
	run ! cmp -s "$tmp/before" "$tmp/applied"
	run -0 on h2 rocecheck rollback
	[[ $output == *"is undone"* ]]
	state h2 | diff "$tmp/before" -
	run -0 on h2 rocecheck rollback
	[[ $output == "Nothing to roll back"* ]]
}

@test "validate: a healthy pair passes, and a PFC mask that is wrong on h2 is found" {
	configured h2
	run --separate-stderr validate
	grep -vE '^(PASS|SKIP| +\[)' <<<"$output" || true
	echo "$stderr"
	[ "$status" -eq 0 ]
	jq -e '[.pairs[] | "\(.client.host) \(.server.host) \(.verb)"] ==
		["h1 h2 write", "h1 h2 send", "h1 h2 read", "h2 h1 write", "h2 h1 send", "h2 h1 read"]' <(record_of "$tmp/run")
	jq -e 'all(.pairs[]; .ran and .error == "" and ((if .verb == "read" then .client else .server end).result
		| .mismatches == 0 and .checked_bytes > 0) and .client.result.bytes ==
		.client.result.checked_bytes + .server.result.checked_bytes)' <(record_of "$tmp/run")
	jq -e 'any(.findings[]; .rule == "RC-PFC-002" and .verdict == "PASS")' "$tmp/run/report.json"
	on h2 dcb pfc set dev roce0 prio-pfc all:off 4:on
	run -1 validate
	on h2 dcb pfc set dev roce0 prio-pfc all:off 3:on
	jq -r '.findings[] | select(.verdict == "FAIL") | "\(.rule) \(.host): \(.text)"' "$tmp/run/report.json"
	jq -e '[.findings[] | select(.verdict == "FAIL" and .caused_by == null) | "\(.rule) \(.host) \(.prio)"]
		| .[0] == "RC-PFC-002 h2 [3]"' "$tmp/run/report.json"
}

@test "top --batch under traffic agrees with ethtool -S, dcb -s pfc and rdma statistic" {
	write_behind 50 # ended below: who reads beside it may be slow
	sleep 2
	from=$(truth)
	on h1 rocecheck top --batch -n 2 --json >"$BATS_TEST_TMPDIR/top"
	to=$(truth)
	cat "$BATS_TEST_TMPDIR/top"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/top")" -eq 2 ]
	while read -r line; do
		agrees "$from" "$(jq -c .totals <<<"$line")" "$to"
	done <"$BATS_TEST_TMPDIR/top"
	# Traffic and pause were there, on priority 3; a rate is the difference over the interval.
	jq -se '.[0] as $a | .[1] as $b | $b.rates.prio_tx_bytes[3] > 1e6
		and $b.totals.pfc_rx_frames[3] > $a.totals.pfc_rx_frames[3]
		and $b.rates.pfc_rx_frames[3] > 0 and $b.rates.pfc_rx_frames[4] == 0
		and ((($b.totals.prio_tx_bytes[3] - $a.totals.prio_tx_bytes[3]) / $b.interval_s
			- $b.rates.prio_tx_bytes[3]) | fabs) < 1
		and $b.rates.cnp_tx == 0 and $b.totals.icrc_errors == null' "$BATS_TEST_TMPDIR/top"
	both sh -c 'pkill -x ib_write_bw; true' # the peer of one that ended ends by itself
	wait
	# At rest it is not only between them, but the same.
	sleep 1
	from=$(truth)
	line=$(on h1 rocecheck top --batch -n 1 --interval 100ms --json)
	to=$(truth)
	agrees "$from" "$(jq -c .totals <<<"$line")" "$to"
	jq -ne --argjson a "$from" --argjson b "$to" '$a.tx_prio3_bytes == $b.tx_prio3_bytes'
}

@test "probe: nothing is wrong, and every mode passes" {
	local options i why=()

	for options in "" "--verb read" "--mode strict" "--mode count -c UD --verb send -s 2048 --rate 4M"; do
		# A guest that the machine starves sends less than the rate, and never makes up for it.
		for i in 1 2 3; do
			[ $i = 1 ] || echo "# retried: ${why[*]}" >&3
			serve
			run --separate-stderr probe -D 2 "$options"
			mapfile -t why < <(jq -r '.verdict.reasons[] | select(.verdict != "PASS") | .text' <<<"$output")
			echo "$options: ${why[*]}" "$stderr"
			[[ ${#why[@]} -eq 1 && ${why[0]} == *" reached "*" asked" ]] || break
			served 0
		done
		[ "$status" -eq 0 ]
		is '.verdict.verdict == "PASS"'
		served 0
	done
}

@test "DCBX: without dcbx.agent a running lldpad stops an apply, with it everything goes through lldpad" {
	agent h1
	tlvs h1 >"$BATS_FILE_TMPDIR/tlvs"
	kernel h1 >"$BATS_FILE_TMPDIR/kernel"
	speaker h1
	on h1 sed -i 's/agent: lldpad, advertise.*}/mode: [host]}/' /run/agent.yaml
	run -3 apply h1
	[[ $output == *"dcbx.agent: lldpad"* ]]
	speaker h1
	run -0 apply h1 --settle 6s
	[[ $output == *"Read back: "*" match"* ]]
	[[ $output == *"warning: roce0: neighbour leaf1 port p1 advertises ets.tc_tx_bw {0: 50, 3: 50}, expected {0: 40, 3: 60}"* ]]
	[[ $output != *"advertises pfc"* ]]

	run -0 config h1
	[[ $output == *adminStatus=rxtx* ]]
	[[ $output == *"up2tc=0:0,1:0,2:0,3:3,4:0,5:0,6:6,7:0"* ]]
	[[ $output == *"tcbw=40,0,0,60,0,0,0,0"* ]]
	[ "$(grep -c 'willing=no' <<<"$output")" = 1 ]
	[ "$(grep -c 'enableTx=yes' <<<"$output")" = 3 ]
	[[ $output == *"(3,5,26) local"* ]]
	[[ $output == *"(3,3,4791) local"* ]]
	run -0 on h1 lldptool -t -i roce0 -V PFC
	[[ $output == *"Willing: no"*"PFC enabled: 3 "* ]]
	has h1 pfc '.prio_pfc[3] and (.prio_pfc | map(select(.)) | length == 1)'
	has h1 ets '.tc_bw[0] == 40 and .tc_bw[3] == 60 and .tc_tsa[6] == "strict" and .prio_tc[3] == 3'
	has h1 app '.dscp_prio | any(. == [26, 3])'
	heard p1 '.settings.pfc.enabled == [3]'
	run -0 on h1 rocecheck plan /run/agent.yaml -i roce0 --exit-code
}

@test "DCBX: a rollback gives lldpad and the kernel back what they had" {
	local i

	run -0 on h1 rocecheck rollback
	for ((i = 0; i < 20; i++)); do
		tlvs h1 >"$BATS_TEST_TMPDIR/tlvs"
		cmp -s "$BATS_FILE_TMPDIR/tlvs" "$BATS_TEST_TMPDIR/tlvs" && break
		sleep 0.5
	done
	diff "$BATS_FILE_TMPDIR/tlvs" "$BATS_TEST_TMPDIR/tlvs"
	kernel h1 | diff "$BATS_FILE_TMPDIR/kernel" -
}
