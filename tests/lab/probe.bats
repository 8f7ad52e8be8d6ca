#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `probe server` and `probe client` between two guests: every kind of traffic comes out as asked, the
# figures agree with other people's tools, and each fault ends in time with its cause, nothing left.
# shellcheck disable=SC2154,SC2016

bats_require_minimum_version 1.5.0
load guests
load probe

setup_file()
{
	own_lab "${LAB_DIR:-probe-lab}"
}

teardown_file()
{
	lab down
}

teardown()
{
	sh_on h1 'pkill -KILL rocecheck; ip link set roce0 up; ip link set roce0 mtu 4200; tc qdisc del dev roce0 root 2>/dev/null; true'
	sh_on h2 'pkill -KILL rocecheck; ip link set roce0 up; ip link set roce0 mtu 4200; true'
}

# moves OPTIONS: a second of it, and both ends agree.
moves()
{
	echo "options: $1"
	serve
	run --separate-stderr probe -D 1 "$1"
	echo "$stderr"
	is '.exit == 0 or .exit == 4'
	is '.partial == false and (.ends | length) == 2'
	is '[.ends[].report.cause] == ["none", "none"]'
	is '[.ends[].report.mismatches] == [0, 0]'
	is '.ends[0].report.messages + .ends[1].report.messages > 0'
	is '.ends[0].port.device == "rxe0" and .ends[0].port.gid_index > 0 and .ends[1].port.gid == "198.18.0.2"'
	is '.verdict.verdict != "FAIL" and all(.verdict.reasons[]; .reason != "unaccounted")'
	served 0
}

@test "each verb moves messages, and both ends agree" {
	local options

	for options in "" "--verb write_imm" "--verb read" "--verb send" "--verb send_imm" "--verb atomic" \
		"-b -q 2 -s 16KiB" "--direction backward" "--check every -n 50" "--mode strict" "--latency --verb send"; do
		moves "$options"
	done
}

@test "so do unreliable transports, and queue pairs of the connection manager" {
	moves "-c UC --verb send -s 1024 --rate 2M"
	moves "-c UD --rate 2M"
	moves "-R -q 2 --tos 104"
	is '[.ends[].report.classes[0] | .tos_read, .tos_other] == [2, 0, 2, 0]'
}

@test "a sweep of sizes: each is in both documents, and the counters are around all of them" {
	local moved

	serve
	run --separate-stderr probe -D 1 --sizes 3000-8KiB --out /tmp/sizes
	is '[.sizes[] | .message_bytes] == [3000, 4096, 8192] and all(.sizes[]; .messages > 0 and .verdict.verdict != "FAIL")'
	is '[.sizes[].ends[1].spec.classes[0].message_bytes] == [3000, 4096, 8192]'
	is '[.sizes[].bytes] as $b | [.ends[1].growth[] | select(.metric == "rx_bytes").load][0] > ($b | add)'
	moved=$(jq '[.sizes[].messages]' <<<"$output")
	output=$(on h1 bash -c '. /rocecheck/tests/record.bash; record_of /tmp/sizes')
	jq -e --argjson moved "$moved" '[.pairs[] | .message_bytes] == [3000, 4096, 8192] and all(.pairs[]; .ran) and
		[.pairs[].client.result.messages] == $moved' <<<"$output"
	served 0
}

@test "the process that moves data has no rights of root, with raw verbs and with rdma_cm" {
	local how

	for how in "" "-R"; do
		serve
		probe_behind -D 15 --verb send "$how"
		for host in h1 h2; do
			# One that is starting is not it: its name is that of whoever starts it.
			on "$host" bash -c 'for i in {1..25}; do
					pid=$(pgrep -f "[a]gent --traffic" | tail -1) && grep -qx 500 /proc/$pid/oom_score_adj &&
						status=$(cat /proc/$pid/status) &&
						grep -q "^Uid:.65534.65534.65534.65534" <<<"$status" && break
					sleep 0.2
				done
				grep -E "^(Uid|Cap|NoNew)" <<<"$status"
				((i < 25)) &&
					[ "$(grep -cE "^Cap(Inh|Prm|Eff|Bnd|Amb):.0000000000000000" <<<"$status")" = 5 ] &&
					grep -q "^NoNewPrivs:.1" <<<"$status"'
		done
		behind 0 40
		is '[.ends[].report.cause] == ["none", "none"]'
		served 0
	done
}

# Control by addresses that no RDMA device has.
@test "traffic to another address than that of the control connection is refused at each end, unless it allows it" {
	sh_on h1 'ip addr add 198.18.7.1/32 dev lo; ip route add 198.18.7.2 via 198.18.0.2 src 198.18.7.1'
	sh_on h2 'ip addr add 198.18.7.2/32 dev lo; ip route add 198.18.7.1 via 198.18.0.1 src 198.18.7.2'
	serve
	sh_on h1 "umask 077; echo $token >/tmp/token"
	run --separate-stderr -3 sh_on h1 "rocecheck probe client 198.18.7.2 --token-file /tmp/token --json --baseline 0 -n 20"
	[[ $stderr == *"refusing to send to 198.18.0.2"*"control connection, 198.18.7.2"*"start the client with --peer-address 198.18.0.2"* ]]
	served 0
	serve
	sh_on h1 "umask 077; echo $token >/tmp/token"
	run --separate-stderr -3 sh_on h1 "rocecheck probe client 198.18.7.2 --peer-address 198.18.0.2 --token-file /tmp/token --json --baseline 0 -n 20"
	[[ $stderr == *"refusing to send to 198.18.0.1"*"control connection, 198.18.7.1"*"--peer-address 198.18.0.1"* ]]
	served 0
	serve h2 rocecheck "--peer-address 198.18.0.0/24"
	sh_on h1 "umask 077; echo $token >/tmp/token"
	run --separate-stderr -0 sh_on h1 "rocecheck probe client 198.18.7.2 --peer-address 198.18.0.0/24 --token-file /tmp/token --json --baseline 0 -n 20"
	served 0
	sh_on h1 'ip addr del 198.18.7.1/32 dev lo'
	sh_on h2 'ip addr del 198.18.7.2/32 dev lo'
}

@test "three classes at once, each with its own marking and its own figures" {
	serve
	run --separate-stderr probe -D 2 --class tos=104,rate=8M --class tos=0,rate=4M,verb=send --class latency,verb=send,tos=32
	echo "$stderr"
	is '[.ends[0].spec.classes[].tos] == [104, 0, 32]'
	is '[.ends[0].report.classes[] | .messages > 0] == [true, true, true]'
	is '.ends[0].report.classes[0].bytes > .ends[0].report.classes[1].bytes'
	is '.ends[0].report.classes[2].latency.count > 10'
	served 0
}

@test "a sweep of sizes: a verdict each, small ones unchecked, datagrams up to the MTU" {
	serve
	run --separate-stderr probe --sizes 32-128 -D 500ms
	echo "$stderr"
	is '.partial == false and [.sizes[].message_bytes] == [32, 64, 128]'
	is '[.sizes[].check] == ["none", "sampled", "sampled"]'
	is 'all(.sizes[]; .messages > 0 and .mismatches == 0 and .goodput_bytes_per_s > 0)'
	is 'all(.sizes[]; .verdict.verdict != "FAIL") and .verdict.verdict != "FAIL"'
	served 0
	serve
	run --separate-stderr probe --sizes 2KiB-8MiB -D 500ms -c UD --rate 8M
	is '[.sizes[].message_bytes] == [2048, 4096]'
	served 0
}

@test "counters of the record are those of rdma statistic read beside it" {
	local before after

	serve
	before=$(on h2 rdma -j statistic show link rxe0/1 | jq '.[0].rcvd_pkts')
	run --separate-stderr -0 probe -n 100 --verb send --tos 106
	after=$(on h2 rdma -j statistic show link rxe0/1 | jq '.[0].rcvd_pkts')
	is "[.ends[1].growth[] | select(.metric == \"rdma_rx_packets\") | .load] == [$((after - before))]"
	# all of them came through the host's IP stack, marked ECT(0)
	is "[.ends[1].growth[] | select(.metric | startswith(\"host_\")) | .load] == [0, $((after - before)), 0]"
	is '.ends[1].report.classes[0].arrived == 100'
	served 0
}

@test "text for people, and the record of --out" {
	serve
	run --separate-stderr sh_on h1 "cd /tmp && rm -rf rec && umask 077 && echo $token >token && rocecheck probe client 198.18.0.2 --token-file token --baseline 0 -n 20 --out rec"
	echo "$output" "$stderr"
	[[ $output == *"client  h1: rxe0 port 1 on roce0"*"RC WRITE, 1 QP, 64 KiB"*"  probe of h1 with 198.18.0.2, run "* ]]
	[[ $output == *"memory  client: "*" in host pages, registered in "* ]]
	[[ $output == *"GPU path not tested: rxe0 cannot register dma-buf memory, and no GPU driver"* ]]
	run --separate-stderr -0 on h1 rocecheck probe client --explain -d roce0
	[[ $output == *"registration  rxe0: "*" per MiB in host pages"*"not measured in huge pages of 2 MiB: "*"GPU path not tested"* ]]
	sh_on h1 'jq -e ".schema == \"rocecheck.probe/1\"" /tmp/rec/probe.json && jq -e .schema /tmp/rec/run.json && ls /tmp/rec/snapshots'
	served 0
	run -3 sh_on h1 "cd /tmp && rocecheck probe client 198.18.0.2 --token-file token"
}

@test "a disk that is full costs the record, not the result" {
	serve
	run --separate-stderr -3 sh_on h1 "mkdir -p /tmp/full && mount -t tmpfs -o size=16k tmpfs /tmp/full; umask 077; echo $token >/tmp/token; rocecheck probe client 198.18.0.2 --token-file /tmp/token --baseline 0 -n 20 --out /tmp/full/rec"
	[[ $output == *" probe of h1 with 198.18.0.2, run "* ]]
	[[ $stderr == *"/tmp/full/rec"*"No space left"* ]]
	on h1 umount /tmp/full
	served 0
}

@test "Ctrl-C: what there is, exit 4, and the server is done" {
	serve
	probe_behind -D 60
	on h1 pkill -INT -o -x rocecheck
	behind 4 10
	is '.partial and (.why | contains("stopped"))'
	is '.ends[0].report.messages > 0 and .ends[1].report.messages > 0'
	is '[.verdict.reasons[].reason] | index("aborted") != null'
	served 0
}

@test "until stopped: Ctrl-C is its end, not a fault" {
	serve
	probe_behind -D 0
	on h1 pkill -INT -o -x rocecheck
	behind '[04]' 10
	is '.partial == false and .why == null and .ends[0].report.messages > 0'
	is '[.verdict.reasons[].reason] | index("aborted") == null'
	served 0
}

@test "the server is killed: named within seconds, with what this end had" {
	serve
	probe_behind -D 60
	on h2 pkill -KILL -o -x rocecheck
	behind '[14]' 15
	is '.partial and (.why | contains("198.18.0.2"))'
	is '.ends[0].report.messages > 0 and .ends[1].report == null'
	served 137
}

@test "the client is killed: the server ends in 4 and tells what it had" {
	serve
	probe_behind -D 60
	on h1 pkill -KILL -o -x rocecheck
	served 4
	on h2 grep -q 'partial: [1-9]' /tmp/probe.out
}

@test "the path is gone: both ends notice within the 3 s of silence" {
	serve
	probe_behind -D 60
	on h1 ip link set roce0 down
	behind '[14]' 15
	is '.partial'
	served 4
	on h1 ip link set roce0 up
}

@test "unequal MTUs are an error that says what to do, and -m takes the smaller one" {
	on h2 ip link set roce0 mtu 1500
	serve
	run --separate-stderr -3 probe -n 20
	[[ $stderr == *"unequal RDMA MTUs"*"-m 1024"* ]]
	served 0
	serve
	run --separate-stderr probe -n 20 -m 1024
	is '.exit == 0 or .exit == 4'
	is '.ends[0].report.mtu == 1024'
	served 0
	on h2 ip link set roce0 mtu 4200
}

@test "devices and GIDs that are not there" {
	serve
	run --separate-stderr -3 probe -d mlx5_9
	[[ $stderr == *"no RDMA device mlx5_9"*"rxe0"* ]]
	served 0
	serve
	run --separate-stderr -3 probe --peer-gid-index 200
	[[ $stderr == *"198.18.0.2"*"no GID at index 200"* ]]
	served 0
}

@test "XRC: refused at once, with what the device lacks" {
	serve
	run --separate-stderr -3 probe -c XRC
	[[ $stderr == *"rxe0 does not support XRC: no IBV_DEVICE_XRC"* ]]
	is '.why != null and .ends[0].report == null'
	served 0
}

@test "lost packets are found in each mode" {
	local mode

	for mode in "--mode strict" "--mode count" ""; do
		serve
		on h1 tc qdisc add dev roce0 root netem loss 2%
		run --separate-stderr probe -D 3 "$mode" -s 1024 --rate 2M
		on h1 tc qdisc del dev roce0 root
		echo "$mode: $status $stderr"
		[ "$status" -eq 1 ]
		is '.verdict.verdict == "FAIL"'
		served 0
	done
}
