#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fabric run over ssh between two guests: what it measures, and what it does when a host is
# unreachable, dies, loses its link or its MTU, or the coordinator is killed. The lab is one of its
# own, beside one that may be up in build/lab.

bats_require_minimum_version 1.5.0
load guests
load ../record

# What the lab cannot show: a switch that speaks LLDP.
allowed=(--allow-inconclusive RC-PFC-004)

validate()
{
	build/rocecheck validate -v "$LAB_DIR/fabric.yaml" --out "$out" "$@" 3>&-
}

# healthy: a run of the pair finds nothing to complain of; what it found otherwise is told.
healthy()
{
	run --separate-stderr validate "${allowed[@]}"
	grep -vE '^(PASS|SKIP| +\[)' <<<"$output" || true
	echo "$stderr"
	[ "$status" -eq 0 ]
}

# agents HOST: rocecheck processes there.
agents()
{
	lab run "$1" -- pgrep -c rocecheck || true
}

# gone HOST SECONDS: no rocecheck process within so long.
gone()
{
	local end=$((SECONDS + $2))

	until [ "$(agents "$1")" = 0 ]; do
		((SECONDS <= end)) || { lab run "$1" -- pgrep -a rocecheck; return 1; }
		sleep 0.2
	done
}

# cleared: none is left over from the test before.
cleared()
{
	gone h1 3 && gone h2 3
}

# said TEXT: waits until the run in the background has said so.
said()
{
	local i

	for i in {1..300}; do
		grep -q -- "$1" "$out.err" && return 0
		sleep 0.1
	done
	cat "$out.err"
	return 1
}

# flowing: the run in the background moves packets, however long it took to get there.
flowing()
{
	said 'MB in total'
	# shellcheck disable=SC2016
	timeout 60 tests/lab/lab run h1 -- sh -c 'sent=/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
		before=$(cat $sent); until [ $(cat $sent) -ge $((before + 50)) ]; do sleep 0.1; done'
}

# slow: an inventory with 4 s of each of the three verbs for each pair.
slow()
{
	sed -i 's/traffic: .*/traffic: 12s/' "$LAB_DIR/fabric.yaml"
}

setup_file()
{
	export LAB_DIR=$PWD/build/validate-lab
	lab down
	lab up
	configured h1 h2
}

teardown_file()
{
	lab down
}

setup()
{
	out=$BATS_TEST_TMPDIR/run
	inventory fabric.yaml >"$LAB_DIR/fabric.yaml"
}

@test "a healthy pair: real bandwidth both ways, every byte right, exit 0" {
	healthy
	# Half of 5 % of 25 MB/s at least: time that a starved guest lost is not made up for. The probe of smoke.bats has to
	# reach its rate.
	jq -e 'all(.pairs[]; .asked_bytes_per_s == 1218467 and
		(.client.result.bytes * 1e9 / .client.result.duration_ns / 1250000 | . > 0.5 and . < 1.1))' <(record_of "$out")
	jq -e '[.pairs[] | "\(.client.host) \(.server.host) \(.verb)"] ==
		["h1 h2 write", "h1 h2 send", "h1 h2 read", "h2 h1 write", "h2 h1 send", "h2 h1 read"]' <(record_of "$out")
	jq -e 'all(.pairs[]; .ran and .error == "" and .client.tos == 106 and .server.tos == 106 and
		.client.result.cause == "none" and .server.result.cause == "none" and
		.server.result.mismatches == 0 and .client.result.mismatches == 0 and .server.result.mtu == 4096 and
		(if .verb == "read" then .client else .server end).result.checked_bytes == .client.result.bytes and
		.client.result.bytes > 1000000)' <(record_of "$out")
	# What the NICs counted is what was sent: at least 6 x 1 s x 1.22 MB/s, half of it each way.
	jq -e 'all(.hosts[].ports[].readings; (.load_after.rx_bytes - .load_before.rx_bytes) > 3400000)' \
		<(record_of "$out")
	[ "$(cat "$out/schedule-rail0.txt")" = $'h2,h1\nh1,h2' ]
	grep -q '7.5 MB in total' <<<"$stderr"
	cleared
}

@test "captures of both hosts are stored, private, and whole" {
	sed -i 's/capture: .*/capture: full/' "$LAB_DIR/fabric.yaml"
	healthy
	for host in h1 h2; do
		file=$out/captures/$host-roce0.pcap
		[ "$(stat -c %a "$file")" = 600 ]
		frames=$(tshark -r "$file" 2>/dev/null | wc -l)
		jq -e --argjson n "$frames" --arg h "$host" \
			'.hosts[] | select(.name == $h) | .ports[0].capture.totals.frames == $n and $n > 1500' \
			<(record_of "$out")
	done
	grep -qa RCCK "$out/captures/h1-roce0.pcap" # the magic of our messages
	# Both directions of every byte, both times judged good.
	jq -e 'all(.hosts[].ports[].capture; .drops == "zero" and
		all(.flows[]; .icrc_bad == 0 and .icrc_good == .packets))' <(record_of "$out")
}

@test "headers alone hold no user data" {
	sed -i 's/capture: .*/capture: headers/' "$LAB_DIR/fabric.yaml"
	healthy
	# The longest: Ethernet, VLAN, IPv6, UDP, BTH, extension headers.
	longest=$(tshark -r "$out/captures/h1-roce0.pcap" -T fields -e frame.cap_len 2>/dev/null |
		sort -n | tail -n1)
	((longest < 160))
	run ! grep -qa RCCK "$out/captures/h1-roce0.pcap"
	jq -e 'all(.hosts[].ports[].capture.flows[]; .icrc_bad == 0 and .icrc_good == .packets)' \
		<(record_of "$out")
}

@test "what was recorded gives the same verdict offline" {
	healthy
	build/rocecheck validate "$LAB_DIR/fabric.yaml" --from "$out" "${allowed[@]}" --json \
		>"$BATS_TEST_TMPDIR/offline.json"
	diff <(jq -S '[.findings[] | [.rule, .verdict, .host, .port, .text]]' "$out/report.json") \
		<(jq -S '[.findings[] | [.rule, .verdict, .host, .port, .text]]' "$BATS_TEST_TMPDIR/offline.json")
	run --separate-stderr build/rocecheck validate --from "$out/snapshots" --profile lab
	((status == 0 || status == 4))
	[ ! -e rocecheck-run* ]
}

@test "TCP beside RDMA: its bytes are its own, and the verdict is that of RDMA" {
	sed -i 's/traffic: .*/traffic: 3s\n  tcp: [{tos: 0, streams: 2, rate: 8M}]/' "$LAB_DIR/fabric.yaml"
	healthy
	jq -e '[.findings[] | select(.verdict == "FAIL" or .verdict == "WARN")] == []' "$out/report.json"
	grep -q '^      TCP background, 6 pairs: TCP 0, 2 streams, 8 Mb/s, ToS 0 (DSCP 0): [0-9.]* MB arrived,' <<<"$output"
	grep -q 'h1 -> h2 in parallel: TCP 0, 2 streams, 8 Mb/s' <<<"$stderr"
	jq -e 'all(.pairs[]; .tcp == [{tos: 0, direction: "forward", streams: 2, rate_bytes_per_s: 1000000}] and
		.server.tcp[0].arrived_bytes > 100000 and .server.tcp[0].broken == 0 and .client.tcp[0].broken == 0 and
		.client.tcp[0].wire_bytes >= .server.tcp[0].arrived_bytes * 0.5)' <(record_of "$out")
	# RDMA has its pace: a second of 1.22 MB/s in messages of 64 KiB, half of it in a starved guest. What arrived in
	# priority 3 is RDMA alone; TCP is in priority 0, with its headers.
	jq -e 'all(.pairs[].client.result; .cause == "none" and .bytes >= 625000 and .bytes <= 1500000)' <(record_of "$out")
	jq -e '[.pairs[] | select(.server.host == "h2") | .server.tcp[0].arrived_bytes] | add' <(record_of "$out") >"$BATS_TEST_TMPDIR/tcp"
	jq -e --slurpfile tcp "$BATS_TEST_TMPDIR/tcp" '.hosts[1].ports[0].readings |
		(.load_after.prio_rx_packets[3] - .load_before.prio_rx_packets[3]) == (.load_after.rdma_rx_packets - .load_before.rdma_rx_packets) and
		(.load_after.prio_rx_bytes[0] - .load_before.prio_rx_bytes[0] | . >= $tcp[0] and . < $tcp[0] * 1.3)' <(record_of "$out")
}

@test "--no-traffic sends nothing" {
	before=$(lab run h1 -- sh -c 'cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts')
	run --separate-stderr validate --no-traffic
	((status == 0 || status == 4))
	[ "$before" = "$(lab run h1 -- sh -c 'cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts')" ]
	jq -e '.traffic == false and .pairs == [] and all(.hosts[]; .reached and .before and .after)' \
		<(record_of "$out")
}

# spec ROLE VERB SEED: of one end, 1 s at 5 MB/s.
spec()
{
	echo '{"role":"'"$1"'","mode":"observe","bringup":"raw","ibdev":"rxe0","ib_port":1,"gid_index":1,' \
		'"duration_ms":1000,"seed":'"$3"',"timeout":0,"mtu_bytes":0,"threads":1,"pin":false,"huge_pages":false,' \
		'"classes":[{"tos":106,"sl":0,"transport":"rc","verb":"'"$2"'","direction":"forward",' \
		'"check":"every","probe":false,"qps":1,"message_bytes":4097,"window":0,' \
		'"rate_bytes_per_s":5000000,"count":0}]}'
}

# answer FILE LINE: waits for this line of an end's answers.
answer()
{
	local i

	for i in {1..200}; do
		[ "$(wc -l <"$1")" -lt "$2" ] || break
		sleep 0.1
	done
	sed -n "$2p" "$1"
}

# ends VERB CLIENT-SEED SERVER-SEED: two traffic ends, without agents.
ends()
{
	cd "$BATS_TEST_TMPDIR"
	rm -f c.in s.in
	mkfifo c.in s.in
	(cd "$OLDPWD" && lab run h1 -- rocecheck agent --traffic) <c.in >c.out &
	(cd "$OLDPWD" && lab run h2 -- rocecheck agent --traffic) <s.in >s.out &
	exec 5>c.in 6>s.in
	spec client "$1" "$2" >&5
	spec server "$1" "$3" >&6
	answer s.out 1 | jq -c .peer >&5
	answer c.out 1 | jq -c .peer >&6
	answer s.out 2 >/dev/null
	answer c.out 2 >/dev/null
	echo '{"run":true}' >&6
	echo '{"run":true}' >&5
	answer c.out 3 >/dev/null
	answer s.out 3 >/dev/null
	exec 5>&- 6>&-
	wait
	cat c.out s.out
	cd "$OLDPWD"
}

@test "traffic: messages of odd size arrive whole, both verbs" {
	for verb in write_imm send; do
		ends "$verb" 7 7
		jq -es '.[2].result | .cause == "none" and .messages > 50' "$BATS_TEST_TMPDIR/c.out"
		jq -es '.[2].result | .cause == "none" and .messages > 50 and .mismatches == 0 and
			.checked_bytes == 4097 * .messages' "$BATS_TEST_TMPDIR/s.out"
	done
}

@test "traffic: bytes that are not the expected ones are wrong data" {
	for verb in write_imm send; do
		ends "$verb" 7 8
		jq -es '.[2].result | .cause == "wrong-data"' "$BATS_TEST_TMPDIR/c.out"
		jq -es '.[2].result | .cause == "wrong-data" and .messages > 0 and
			.mismatches == .messages' "$BATS_TEST_TMPDIR/s.out"
	done
}

# With captures off, as on NICs that hide RoCE from them.
@test "a hop rewrites the ToS byte: the marking test names path, direction and source ports" {
	lab run h2 -- sh -c 'tc qdisc add dev roce0 clsact && tc filter add dev roce0 egress protocol ip u32 \
		match ip protocol 17 0xff action pedit munge ip tos set 0x28 pipe action csum ip'
	sed 's/^capture: .*/capture: off/' "$LAB_DIR/fabric.yaml" >"$BATS_TEST_TMPDIR/fabric.yaml"
	run -1 --separate-stderr build/rocecheck validate "$BATS_TEST_TMPDIR/fabric.yaml" --out "$out"
	lab run h2 -- tc qdisc del dev roce0 clsact
	echo "$output" "$stderr"
	for rule in RC-QOS-007 RC-QOS-008; do
		jq -e --arg rule $rule '[.findings[] | select(.rule == $rule) | "\(.host) \(.verdict)"] | sort ==
			["h1 FAIL", "h2 PASS"]' "$out/report.json"
	done
	[[ $output == *"RC-QOS-007  h1 roce0 prio 3: DSCP 26 from h2 arrives as 10: rewritten on the path"* ]]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"DSCP 26 arrives as 10 (512 of 512), on all 16 source ports"* ]]
	jq -e '[.findings[] | select(.rule == "RC-NET-009") | .verdict] | unique == ["PASS"]' "$out/report.json"
}

# perftest TCLASS: a job on both guests, started from here.
perftest()
{
	cat >"$BATS_TEST_TMPDIR/job" <<-'END'
		#!/bin/bash
		test=(timeout 90 ib_write_bw -d rxe0 -x 1 --tclass "$1" -s 65536 -u 18 -n 600 -F)
		tests/lab/lab run h2 -- "${test[@]}" >/dev/null 2>&1 &
		tests/lab/lab run h2 -- timeout 60 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
		tests/lab/lab run h1 -- "${test[@]}" 198.18.0.2 >/dev/null || exit
		wait $!
	END
	chmod +x "$BATS_TEST_TMPDIR/job"
	run --separate-stderr validate "${allowed[@]}" --around -- "$BATS_TEST_TMPDIR/job" "$1"
	echo "$output" "$stderr"
}

@test "around perftest with ToS 0: its priority, both directions, and the processes are named; with ToS 106 exit 0" {
	perftest 0
	[ "$status" -eq 1 ]
	[[ $(tr -s ' \n' ' ' <<<"$output") == *"RC-QOS-020 h1 roce0 prio 0: RDMA leaves "*"on lossy priority 0"*"the default of rdma_cm is right"* ]]
	jq -e '[.findings[] | select(.rule == "RC-QOS-020") | "\(.host) \(.verdict)"] | sort == ["h1 FAIL", "h2 FAIL"]' "$out/report.json"
	jq -e '[.findings[] | select(.rule == "RC-META-012") | .verdict] == ["PASS"]' "$out/report.json"
	jq -e 'all(.hosts[].ports[]; any(.users[]; test("^1 queue pair of ib_write_bw \\(pid [0-9]+, user root\\)$")))' <(record_of "$out")
	jq -e '.pairs == [] and .marking == [] and .job.exit_code == 0' <(record_of "$out")
	perftest 106
	[ "$status" -eq 0 ]
	jq -e '[.findings[] | select(.rule == "RC-QOS-020") | .verdict] == ["PASS", "PASS"]' "$out/report.json"
}

@test "an unreachable host is named with the next step, the other one is judged: exit 4" {
	sed '/^Host h2/,/ControlPath/{s/Port .*/Port 1/;s/ControlPath .*/ControlPath none/}' \
		"$LAB_DIR/ssh_config" >"$LAB_DIR/ssh_bad"
	sed -i "s#config: .*#config: $LAB_DIR/ssh_bad#" "$LAB_DIR/fabric.yaml"
	run --separate-stderr validate
	echo "$output" "$stderr"
	[ "$status" -eq 4 ]
	jq -e '.hosts[1].reached == false and (.hosts[1].error | contains("Connection refused")) and
		.hosts[0].has_before != false and .hosts[0].reached' <(record_of "$out")
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] == ["h2"]' \
		"$out/report.json"
	grep -q 'h2: .*Connection refused (no sshd' <<<"$stderr"
}

@test "an agent that is not there, or is another program, is named" {
	for agent in /nonexistent/rocecheck /bin/echo; do
		sed -i "s#^agent: .*#agent: $agent#" "$LAB_DIR/fabric.yaml"
		run --separate-stderr validate
		echo "$stderr"
		[ "$status" -eq 4 ]
		grep -q 'cannot reach any of 2 hosts' <<<"$stderr"
		jq -e 'all(.hosts[]; .reached == false and (.error | contains("agent")))' <(record_of "$out")
	done
}

@test "a host key that is not known is not taken" {
	sed "s#UserKnownHostsFile.*#UserKnownHostsFile /dev/null#;s#ControlPath .*#ControlPath none#" \
		"$LAB_DIR/ssh_config" >"$LAB_DIR/ssh_bad"
	sed -i "s#config: .*#config: $LAB_DIR/ssh_bad#" "$LAB_DIR/fabric.yaml"
	run --separate-stderr validate
	[ "$status" -eq 4 ]
	jq -e 'all(.hosts[]; .error | contains("Host key verification failed"))' <(record_of "$out")
}

@test "the coordinator is killed: its agents are gone in 3 s" {
	slow
	validate >"$out.txt" 2>"$out.err" &
	flowing
	(($(agents h1) >= 2 && $(agents h2) >= 2)) # agent and traffic process
	# Not $!: that is the shell of the function.
	pid=$(pgrep -f "^build/rocecheck validate -v $LAB_DIR/fabric.yaml")
	kill -KILL "$pid"
	sleep 3
	[ "$(agents h1) $(agents h2)" = "0 0" ]
}

@test "a coordinator that is frozen loses its agents too" {
	slow
	validate >"$out.txt" 2>"$out.err" &
	said 'MB in total'
	pid=$(pgrep -f "^build/rocecheck validate -v $LAB_DIR/fabric.yaml")
	kill -STOP "$pid"
	sleep 4
	count="$(agents h1) $(agents h2)"
	kill -CONT "$pid"
	wait %1 || true
	[ "$count" = "0 0" ]
}

@test "Ctrl-C: a partial report with exit 4, and no agents" {
	slow
	validate >"$out.txt" 2>"$out.err" &
	flowing
	SECONDS=0
	kill -INT "$(pgrep -f "^build/rocecheck validate -v $LAB_DIR/fabric.yaml")"
	code=0
	wait %1 || code=$?
	[ "$code" -eq 4 ]
	((SECONDS <= 2))
	grep -q 'the run was stopped' "$out.err"
	grep -q 'checks: ' "$out.txt"
	jq -e '.hosts[0].reached' <(record_of "$out")
	cleared
}

@test "the link goes down in mid-run: cause port-down, the run ends in time" {
	slow
	(
		flowing
		lab run h1 -- sh -c 'ip link set roce0 down; sleep 2; ip link set roce0 up'
	) &
	SECONDS=0
	validate >"$out.txt" 2>"$out.err" || true
	((SECONDS < 100)) # a busy machine takes 60
	wait
	jq -e '.pairs[0].client.result | .cause == "port-down" and .messages > 0 and .detail != ""' \
		<(record_of "$out")
	configured h1
}

@test "the MTU is lowered in mid-run: the run ends in time, nothing hangs" {
	slow
	(
		flowing
		lab run h1 -- ip link set roce0 mtu 1500
	) &
	SECONDS=0
	validate >"$out.txt" 2>"$out.err" || true
	((SECONDS < 100))
	wait
	cat "$out.err"
	jq -e '.pairs[0] | (.client.result.cause != "none" or .error != "")' <(record_of "$out")
	# A traffic process that could not answer is killed by its watchdog. Soft-RoCE may have spun in its system call
	# until then: the processor owes others that time before the process can end.
	gone h1 60
	gone h2 60
	lab run h1 -- ip link set roce0 mtu 4200
	configured h1
}

@test "a host is cut off in mid-run: it is named, its traffic ends in 3 s, no agent is left" {
	local cut='tc qdisc add dev mgmt0 clsact
		for way in ingress egress; do tc filter add dev mgmt0 $way matchall action drop; done
		sleep 4; pgrep -c rocecheck >/tmp/left; sleep 20; tc qdisc del dev mgmt0 clsact'

	slow
	(
		flowing
		lab run h2 -- sh -c "nohup setsid sh -c '$cut' >/tmp/cut.log 2>&1 </dev/null &"
	) &
	SECONDS=0
	code=0
	validate >"$out.txt" 2>"$out.err" || code=$?
	cat "$out.txt" "$out.err"
	((SECONDS < 100))
	wait
	[ "$code" -eq 4 ]
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] == ["h2"]' "$out/report.json"
	jq -e '.phases == ["quiet", "marking"] and (.pairs[0].error | startswith("h2: "))' <(record_of "$out")
	[ "$(agents h1)" = 0 ]
	gone h2 30
	[ "$(lab run h2 -- cat /tmp/left)" = 0 ]
}

# The last one: h2 does not come back.
@test "a host dies in mid-run: META-007 names it, the run ends in time, exit 4" {
	slow
	(
		flowing
		lab stop h2
	) &
	SECONDS=0
	code=0
	validate >"$out.txt" 2>"$out.err" || code=$?
	cat "$out.txt" "$out.err"
	((SECONDS < 100)) # a busy machine takes 60
	wait
	[ "$code" -eq 4 ]
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] == ["h2"]' \
		"$out/report.json"
	jq -e '.pairs[0].error | startswith("h2: ")' <(record_of "$out")
	[ "$(agents h1)" = 0 ]
}
