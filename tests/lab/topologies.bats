#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests boot once, with two wires, and serve many topologies, each from a clean state: all hosts reach
# each other without loss, flows go where the topology says, and validate has its verdict.
bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$PWD/build/topologies-lab
	lab down
	LAB_WIRES=2 lab up tests/lab/topologies/clos.yaml
}

teardown_file()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	lab down
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# on_each COMMAND...: in h1 to hN at once, N in $hosts.
on_each()
{
	local pids=() pid host

	for ((host = 1; host <= ${hosts:?}; host++)); do
		on "h$host" "$@" >"$BATS_TEST_TMPDIR/each$host" 2>&1 </dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$BATS_TEST_TMPDIR"/each*; return 1; }
	done
}

# load NAME: the guests on that topology, lossless on priority 3.
load()
{
	lab reset "tests/lab/topologies/$1.yaml"
	hosts=$(build/labswitch --hosts "tests/lab/topologies/$1.yaml" | wc -l)
	on_each bash -c 'for path in /sys/class/net/roce*; do
			dcb app add dev ${path##*/} dscp-prio 26:3 &&
			dcb pfc set dev ${path##*/} prio-pfc all:off 3:on && ethtool -A ${path##*/} rx off tx off
		done'
}

# total FILTER: the sum of what a jq filter finds in the switches' statistics.
total()
{
	lab switch '{"op": "stats"}' | jq "[.switches | $1] | add"
}

dropped()
{
	total '.[].ports[].prio[].dropped'
}

# write_bw CLIENT SERVER [RAIL [ARGUMENT...]]: RC WRITE marked DSCP 26. A bond's IPv4 GID moves when the
# bond changes over.
write_bw()
{
	local client=$1 server=$2 rail=${3:-0} log=$BATS_TEST_TMPDIR/$1-$2-${3:-0} pid
	local args=(timeout 60 bash -c 'cd /sys/class/infiniband/$0/ports/1/gids
		exec ib_write_bw -d $0 -x $(grep -ls :ffff:c612: {0..9} | head -n 1) "$@"'
		"rxe$rail" --tclass 106 -u 18 -p "1$rail${client#h}${server#h}0" "${@:4}")

	on "$server" "${args[@]}" >"$log.server" 2>&1 3>&- &
	pid=$!
	on "$server" timeout 30 bash -c "until ss -Hltn 'sport = 1$rail${client#h}${server#h}0' | grep -q .; do sleep 0.1; done"
	on "$client" "${args[@]}" "198.18.$rail.${server#h}" >"$log.client" 2>&1 3>&- && wait $pid ||
		{ cat "$log".*; return 1; }
}

# pairwise [RAIL]: each host with each other, all at once; 64 KiB of each pair are under way.
pairwise()
{
	local pids=() pid a b

	for ((a = 1; a < ${hosts:?}; a++)); do
		for ((b = a + 1; b <= hosts; b++)); do
			write_bw h$a h$b "${1:-0}" -s 65536 -n 20 -t 1 &
			pids+=($!)
		done
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
}

# ping_all SUBNET: all hosts from all hosts.
ping_all()
{
	on_each bash -c 'for ((n = 1; n <= $1; n++)); do ping -q -c 1 -W 10 198.18.$0.$n; done' "$1" "$hosts"
}

# cut on|off SWITCH PORT HOST WIRE: takes a wire away at both its ends, or gives it back.
cut()
{
	local updown=down

	[ "$1" = on ] || updown=up
	lab switch "{\"op\": \"set\", \"path\": \"$2.port.$3.shut\", \"value\": \"$1\"}" | jq -e .ok
	on "$4" ip link set "$5" $updown
}

# validate: what rocecheck says of the lab, with less traffic than by default.
validate()
{
	on_each rocecheck apply lab --auto-approve --accept-unproven >/dev/null || true # no DCB on a bond
	lab fabric | sed 's/quiet: 2s, traffic: 3s/quiet: 1s, traffic: 1s/' >"$BATS_TEST_TMPDIR/fabric.yaml"
	build/rocecheck --json validate "$BATS_TEST_TMPDIR/fabric.yaml" --out "$BATS_TEST_TMPDIR/run" \
		"$@" 3>&-
}

@test "one switch, two and four hosts" {
	for name in two four; do
		load $name
		ping_all 0
		pairwise
		[ "$(dropped)" = 0 ]
		[ "$(lab switch '{"op": "stats"}' | jq -c '.switches | [keys, [.[].ports[].link]]')" = \
			"$(jq -nc --argjson n "$hosts" '[["leaf1"], [range($n) | "up"]]')" ]
	done
}

@test "leaves and spines: flows are spread over both uplinks and nothing is lost" {
	load clos
	ping_all 0
	pairwise
	up1=$(total '.leaf1.ports.u1.prio["3"].tx_frames') up2=$(total '.leaf1.ports.u2.prio["3"].tx_frames')
	write_bw h1 h4 0 -s 4096 -n 100 -t 4 -q 16
	up1=$(($(total '.leaf1.ports.u1.prio["3"].tx_frames') - up1))
	up2=$(($(total '.leaf1.ports.u2.prio["3"].tx_frames') - up2))
	echo "of 1600 messages $up1 by the one uplink, $up2 by the other"
	((up1 >= 100 && up2 >= 100 && up1 + up2 >= 1600))
	# What went up came down, by the same spine.
	[ "$(total '.spine1.ports.d2.prio["3"].tx_frames')" = "$(total '.leaf1.ports.u1.prio["3"].tx_frames')" ]
	[ "$(total '.spine2.ports.d2.prio["3"].tx_frames')" = "$(total '.leaf1.ports.u2.prio["3"].tx_frames')" ]
	[ "$(dropped)" = 0 ]
	run -0 --separate-stderr validate
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "PASS")] | length == 4' <<<"$output"
}

@test "rails: each carries its own, and there is no way between them" {
	load rails
	ping_all 0
	ping_all 1
	pairwise 0
	[ "$(total '.leaf2.ports[].prio["3"].rx_frames')" = 0 ]
	before=$(total '.leaf1.ports[].prio["3"].rx_frames')
	pairwise 1
	[ "$(total '.leaf1.ports[].prio["3"].rx_frames')" = "$before" ]
	run on h1 ping -q -c 1 -W 2 -I roce0 198.18.1.2 # h2, on the other leaf
	[ "$status" -ne 0 ]
	[ "$(dropped)" = 0 ]
	run -0 --separate-stderr validate
	jq -e '[.findings[] | select(.rule == "RC-PFC-004" and .verdict == "PASS")] | length == 6' <<<"$output"
}

# A queue pair of Soft-RoCE on such a bond dies when it changes over (the kernel gives the bond new
# GIDs); a new one works.
@test "a bond of one wire at a time survives the loss of that wire" {
	load bond
	ping_all 0
	pairwise
	[ "$(total '.leaf2.ports.p1.prio["3"].rx_frames')" = 0 ]
	on h1 ping -i 0.1 -c 60 -W 2 h2 >"$BATS_TEST_TMPDIR/ping" 3>&- &
	until grep -q icmp_seq=5 "$BATS_TEST_TMPDIR/ping"; do
		sleep 0.1
	done
	cut on leaf1 p1 h1 eth0
	wait $! || true # of 60 some are lost
	echo "$(grep -c 'icmp_seq.*time=' "$BATS_TEST_TMPDIR/ping") of 60 answers"
	grep -q 'icmp_seq=60 .*time=' "$BATS_TEST_TMPDIR/ping"
	[ "$(on h1 cat /sys/class/net/bond0/bonding/active_slave)" = roce1 ]
	write_bw h1 h2 0 -s 65536 -n 20
	(($(total '.leaf2.ports.p1.prio["3"].rx_frames') > 300))
	cut off leaf1 p1 h1 eth0
	ping_all 0
}

@test "a bond of both wires spreads flows over them, both ways" {
	[ "$(on h3 cat /sys/class/net/bond0/bonding/mode)" = "balance-xor 2" ]
	# 1600 messages one way, their acknowledgements the other.
	write_bw h3 h1 0 -s 4096 -n 100 -t 4 -q 16
	for what in p3.rx p4.rx p3.tx p4.tx; do
		(($(total ".leaf1.ports.${what%.*}.prio[\"3\"].${what#*.}_frames") >= 200))
	done
}

@test "a bond of both wires loses the one its traffic goes by, and the traffic goes on" {
	hosts=3
	three=$(total '.leaf1.ports.p3.prio["3"].rx_bytes') four=$(total '.leaf1.ports.p4.prio["3"].rx_bytes')
	write_bw h3 h1 0 -s 65536 -D 5 &
	three3=0 four3=0
	until ((three3 > three + 1000000 || four3 > four + 1000000)); do
		sleep 0.1
		three3=$(total '.leaf1.ports.p3.prio["3"].rx_bytes')
		four3=$(total '.leaf1.ports.p4.prio["3"].rx_bytes')
	done
	if ((three3 - three > four3 - four)); then
		lost=(leaf1 p3 h3 eth0) left=p4
	else
		lost=(leaf1 p4 h3 eth1) left=p3
	fi
	before=$(total ".leaf1.ports.$left.prio[\"3\"].rx_bytes")
	cut on "${lost[@]}"
	wait $!
	moved=$(($(total ".leaf1.ports.$left.prio[\"3\"].rx_bytes") - before))
	echo "${lost[1]} was lost; $moved bytes went by $left"
	((moved > 1000000))
	cut off "${lost[@]}"
	ping_all 0
}

@test "a bond is planned as its two ports" {
	on h1 sh -c 'for p in roce0 roce1; do dcb pfc set dev $p prio-pfc all:off; done'
	run -0 --separate-stderr on h1 rocecheck --json plan lab -i bond0
	[ "$(jq -c '[.ports[].netdev] | sort' <<<"$output")" = '["roce0","roce1"]' ]
	jq -e 'all(.ports[]; .ibdev == "rxe0" and (.steps | length) > 0)' <<<"$output"
}

@test "a bond is set port by port, its RDMA device once, and comes back" {
	local before

	before=$(on h1 sh -c 'for p in roce0 roce1; do dcb -j pfc show dev $p; dcb -j ets show dev $p; done')
	run -0 on h1 rocecheck apply lab -i bond0 --auto-approve --accept-unproven --accept-disruption
	run -0 on h1 rocecheck plan lab -i bond0 --exit-code
	for port in roce0 roce1; do
		on h1 dcb pfc show dev "$port" prio-pfc | grep -q 3:on
	done
	[ "$(on h1 cat /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos)" = 106 ]
	run -0 on h1 rocecheck rollback
	[ "$(on h1 sh -c 'for p in roce0 roce1; do dcb -j pfc show dev $p; dcb -j ets show dev $p; done')" = "$before" ]
}

@test "of a bond rocecheck says what it cannot see: it has no DCB of its own" {
	hosts=3
	run -4 --separate-stderr validate
	jq -e '[.findings[] | select(.rule == "RC-PFC-001") | .verdict] ==
		["INCONCLUSIVE", "INCONCLUSIVE", "INCONCLUSIVE"]' <<<"$output"
	jq -e '[.findings[] | select(.verdict == "FAIL")] == []' <<<"$output"
}

@test "reset leaves nothing of the past" {
	lab reset tests/lab/topologies/three.yaml
	lab switch '{"op": "set", "path": "port.p2.pfc", "value": []}' | jq -e .ok
	on h2 bash -c 'rocecheck apply lab --auto-approve --accept-unproven; lldpad -d
		ip link add link roce0 name v5 type vlan id 5; tc qdisc add dev eth0 root netem delay 1ms
		mkdir -p /sys/kernel/config/rdma_cm/rxe0
		setsid sleep 1000 & ib_write_bw -d rxe0 & tcpdump -U -i roce0 -w /tmp/y' \
		</dev/null >"$BATS_TEST_TMPDIR/past" 2>&1 3>&- &
	on h2 timeout 60 sh -c 'until pgrep ib_write_bw >/dev/null && [ -s /tmp/y ]; do sleep 0.1; done'
	on h2 ls /var/lib/rocecheck/tx /sys/class/net/v5
	lab reset
	run -1 on h2 pgrep -x 'lldpad|ib_write_bw|tcpdump'
	run -1 on h2 pgrep -f 'sleep 1000'
	[ -z "$(on h2 sh -c 'ls -A /var/lib/rocecheck /tmp /dev/shm' | grep -v ':$')" ]
	[ "$(on h2 ls /sys/class/net)" = $'eth0\neth1\nlo\nmgmt0\nroce0' ]
	run -1 on h2 sh -c 'tc qdisc show | grep netem'
	on h2 rdma link show rxe0/1 | grep -q 'state ACTIVE .* netdev roce0'
	[ "$(on h2 dcb -j pfc show dev roce0 | jq '.prio_pfc | any')" = false ]
	[ "$(on h2 sh -c 'ls /sys/kernel/config/rdma_cm')" = "" ]
	lab switch '{"op": "stats"}' | jq -e '.switches.leaf1.ports.p2.prio["3"] | .pfc and .rx_frames == 0'
	on h1 ping -q -c 1 -W 5 h2
}

@test "reset gives NICs their parameters, of all hosts or of one, and takes them back" {
	lab reset rate=8 h2:personality=mlx5 h2:rate=6
	[ "$(for h in h1 h2 h3; do on $h cat /sys/module/labnic/parameters/{rate,personality}; done)" = \
		$'8\ngeneric\n6\nmlx5\n8\ngeneric' ]
	lab reset
	[ "$(for h in h1 h2; do on $h cat /sys/module/labnic/parameters/{rate,personality}; done)" = \
		$'25\ngeneric\n25\ngeneric' ]
}

@test "reset refuses what it does not know before it touches anything" {
	on h1 touch /tmp/here
	for word in rat=8 h7:rate=8 h1:lower=eth1 rate nowhere.yaml; do
		run -2 lab reset "$word"
		echo "$output"
		[[ $output == *"$word"* ]]
	done
	run -2 lab reset tests/lab/topologies/six.yaml
	[[ $output == *"six.yaml: h5 needs 1 wires and was booted with 0. Next: lab down"* ]]
	sed 's/rate:/rat:/' tests/lab/topologies/two.yaml >"$BATS_TEST_TMPDIR/bad.yaml"
	run -2 lab reset "$BATS_TEST_TMPDIR/bad.yaml"
	[[ $output == *"unknown key 'rat'"*"bad.yaml:5:3"*"bad.yaml is no topology"* ]]
	on h1 ls /tmp/here
	run -3 lab reset h1:personality=none
	[[ $output == *"h1 cannot be reset"*"no personality 'none'"* ]]
	lab reset
	on h1 ping -q -c 1 -W 5 h2
	LAB_DIR=$BATS_TEST_TMPDIR/none run -255 lab reset
	[[ $output == *"Next: lab up"* ]]
}
