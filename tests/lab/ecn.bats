#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Congestion control of the lab NIC: the switch marks, a NIC answers with CNPs, another slows the flow
# that they name. The traffic is perftest's, the oracles are the switch's statistics, ethtool, tcpdump
# and tshark. Runs from the root of the tree; the lab is one of its own.
bats_require_minimum_version 1.5.0
load guests

everywhere()
{
	local host

	for host in h1 h2 h3; do
		on $host "$@"
	done
}

setup_file()
{
	own_lab ecn-lab tests/lab/topologies/ecn.yaml
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
	flows=()
	ask '{"op": "fault", "clear": true}'
	mark false
}

teardown()
{
	stop_flows
	points h1 1 1
	points h3 1 1
}

ask()
{
	lab switch "$1" | jq -e .ok >/dev/null
}

# mark BOOLEAN: the queue to h3 marks from Kmin on.
mark()
{
	ask "{\"op\": \"set\", \"path\": \"port.p3.tc.3.ecn.on\", \"value\": $1}"
}

# fault PORT NAME KIND KEYS: of what leaves there; KEYS are more of it, as JSON.
fault()
{
	local where="\"port\": \"$1\", \"direction\": \"out\""

	ask "{\"op\": \"fault\", \"add\": {\"name\": \"$2\", \"kind\": \"$3\", $where, $4}}"
}

# Everything that goes to h3 on priority 3 is marked.
mark_all()
{
	fault p3 all mark_ce '"prio": [3]'
}

# points HOST NP RP: the two points of priority 3, 0 or 1.
points()
{
	on "$1" sh -c "cd /sys/class/net/roce0/ecn && echo $2 >roce_np/enable/3 && echo $3 >roce_rp/enable/3"
}

# of_switch EXPRESSION: a number of the ports of the switch.
of_switch()
{
	lab switch '{"op": "stats"}' | jq ".switches.leaf1.ports | $1"
}

# counter HOST NAME
counter()
{
	on "$1" ethtool -S roce0 | awk -v name="$2:" '$1 == name { print $2 }'
}

sequence_errors()
{
	everywhere rdma -j statistic show link rxe0/1 |
		jq -s '[.[][] | .out_of_seq_request + .rcvd_seq_err] | add'
}

# rate PORT: kB/s that came into the switch there, on priority 3, over a second.
rate()
{
	local before=$EPOCHREALTIME bytes

	bytes=$(of_switch ".$1.prio[\"3\"].rx_bytes")
	sleep 1
	echo $((($(of_switch ".$1.prio[\"3\"].rx_bytes") - bytes) * 1000 /
		(${EPOCHREALTIME/./} - ${before/./})))
}

# until_true SECONDS COMMAND...: asks until it is.
until_true()
{
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < end)) || { echo "never: $*"; return 1; }
		sleep 0.2
	done
}

at_most()
{
	local now

	now=$(rate "$1")
	echo "$1: $now kB/s, wanted at most $2" >&2
	((now <= $2))
}

at_least()
{
	local now

	now=$(rate "$1")
	echo "$1: $now kB/s, wanted at least $2" >&2
	((now >= $2))
}

# counted HOST NAME VALUE: at least.
counted()
{
	(($(counter "$1" "$2") >= $3))
}

# flow HOST TCP-PORT OPTIONS...: RC WRITE to h3 until it is stopped, or as long as -D says.
flow()
{
	local host=$1 port=$2

	shift 2
	on h3 timeout 100 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 -p "$port" -D 90 "$@" \
		>"$tmp/server$port" 2>&1 3>&- &
	flows+=($!)
	on h3 bash -c "until ss -Hltn 'sport = $port' | grep -q .; do sleep 0.1; done"
	on "$host" timeout 100 ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 -p "$port" -D 90 "$@" \
		198.18.0.3 >"$tmp/client$port" 2>&1 3>&- &
	flows+=($!)
}

wait_flows()
{
	local pid code=0

	for pid in "${flows[@]}"; do
		wait "$pid" || code=1
	done
	flows=()
	return $code
}

# At full rate: Soft-RoCE complains of a queue pair that is destroyed while frames of it wait too long.
stop_flows()
{
	[ ${#flows[@]} -gt 0 ] || return 0
	ask '{"op": "fault", "clear": true}'
	points h1 1 0
	everywhere sh -c 'pkill -x ib_write_bw; true'
	wait_flows || true
}

# one_flow: h1 writes to h3 at its rate; prints that.
one_flow()
{
	flow h1 1001
	until_true 20 at_least p1 1500 2>/dev/null
	steady=$(rate p1)
	echo "unmarked: $steady kB/s"
}

# incast: h1 and h2 for 4 s into h3, two queue pairs each; prints the PFC frames of that.
incast()
{
	local sent

	sent=$(of_switch '[.[].prio["3"].pfc_xoff_sent] | add')
	flow h1 1001 -D 4 -q 2
	flow h2 1002 -D 4 -q 2
	wait_flows
	echo $(($(of_switch '[.[].prio["3"].pfc_xoff_sent] | add') - sent))
}

# cnps_add_up: every CNP of h3 was handled, or dropped where that is counted: at the guest's full ring, or by the switch.
cnps_add_up()
{
	local dropped

	sent=$(counter h3 np_cnp_sent) one=$(counter h1 rp_cnp_handled) two=$(counter h2 rp_cnp_handled)
	dropped=$(($(on h3 cat /sys/class/net/roce0/statistics/tx_dropped) +
		$(of_switch '[.[].prio["6"].dropped] | add')))
	echo "CNPs: h3 sent $sent, h1 took $one, h2 took $two, $dropped frames were dropped on the way" >&2
	((sent >= one + two && sent <= one + two + dropped))
}

@test "2:1 incast: marking halves the pauses at least, nothing is lost or out of sequence" {
	drops=$(of_switch '[.[].prio["3"].dropped] | add') errors=$(sequence_errors)
	incast >"$tmp/without"
	mark true
	incast >"$tmp/with"
	without=$(<"$tmp/without") with=$(<"$tmp/with")
	echo "pauses: $without unmarked, $with marked"
	((without > 20 && 2 * with <= without))
	[ "$(of_switch '[.[].prio["3"].dropped] | add')" = "$drops" ]
	[ "$(sequence_errors)" = "$errors" ]
	until_true 10 cnps_add_up
	((one > 5 && two > 5))
	[ "$(counter h3 np_ecn_marked_roce_packets)" -ge "$sent" ]
	[ "$(counter h1 rp_cnp_ignored)" = 0 ]
	[ "$(counter h2 rp_cnp_ignored)" = 0 ]
}

@test "the rate falls while CNPs come and recovers when they end" {
	one_flow
	before=$(counter h1 rp_cnp_handled)
	mark_all
	until_true 20 at_most p1 $((steady / 2))
	counted h1 rp_cnp_handled $((before + 2))
	ask '{"op": "fault", "clear": true}'
	until_true 20 at_least p1 $((steady * 2 / 3))
}

@test "without a notification point no CNP, and no rate falls" {
	points h3 0 1
	one_flow
	sent=$(counter h3 np_cnp_sent) marked=$(counter h3 np_ecn_marked_roce_packets)
	mark_all
	until_true 20 counted h3 np_ecn_marked_roce_packets $((marked + 500))
	until_true 20 at_least p1 $((steady / 2))
	[ "$(counter h3 np_cnp_sent)" = "$sent" ]
}

@test "without a reaction point CNPs are ignored and passed on, and no rate falls" {
	points h1 1 0
	one_flow
	handled=$(counter h1 rp_cnp_handled) ignored=$(counter h1 rp_cnp_ignored)
	mark_all
	until_true 20 counted h1 rp_cnp_ignored $((ignored + 20))
	on h1 timeout 20 tcpdump -n -i roce0 -c 2 'udp dst port 4791 and udp[8] = 0x81' >/dev/null
	until_true 20 at_least p1 $((steady / 2))
	[ "$(counter h1 rp_cnp_handled)" = "$handled" ]
}

# ports_of HOST: the UDP source port of each of its RC queue pairs, from both QPNs (linux,
# rdma_get_udp_sport()).
ports_of()
{
	local local_qpn remote_qpn v

	on "$1" rdma -j resource show qp link rxe0 |
		jq -r '.[] | select(.type == "RC" and .state == "RTS") | "\(.lqpn) \(.rqpn)"' |
		while read -r local_qpn remote_qpn; do
			v=$((local_qpn * remote_qpn))
			v=$(((v ^ v >> 20 ^ v >> 40) & 0xfffff))
			echo $((0xc000 | ((v & 0x3fff) ^ v >> 14)))
		done
}

# connected COUNT: so many of h1's queue pairs send.
connected()
{
	[ "$(ports_of h1 | wc -l)" = "$1" ]
}

# seen NAME: frames that a fault of that name has met.
seen()
{
	lab switch '{"op": "stats"}' | jq ".faults[\"$1\"].seen"
}

# packets_of SPORT...: of each over 2 s, by a fault that sets the DSCP they have.
packets_of()
{
	local port

	for port in "$@"; do
		fault p3 "n$port" dscp "\"value\": 26, \"sport\": $port"
	done
	sleep 2
	for port in "$@"; do
		seen "n$port"
	done
}

@test "CNPs of one flow do not slow another between the same hosts" {
	flow h1 1001
	flow h1 1002
	until_true 20 connected 2
	mapfile -t ports < <(ports_of h1)
	fault p3 one mark_ce "\"sport\": ${ports[0]}"
	sleep 2 # the rate is cut each 8 ms
	mapfile -t packets < <(packets_of "${ports[@]}")
	echo "marked: ${packets[0]} packets in 2 s, the other: ${packets[1]}"
	((packets[0] > 0 && packets[1] > 2 * packets[0]))
}

# cnps OPTIONS FILTER: some CNPs that h1 gets, as they are on its wire, in $tmp/cnp.pcap.
cnps()
{
	# shellcheck disable=SC2086
	flow h1 1001 $1
	mark_all
	on h1 timeout 40 tcpdump -n -i eth0 -c 5 -U -w - "udp dst port 4791 and $2" \
		>"$tmp/cnp.pcap" 2>"$tmp/tcpdump"
	qpn=$(on h1 rdma -j resource show qp link rxe0 | jq '.[] | select(.type == "RC") | .lqpn')
	[ "$(on h1 timeout 3 tcpdump -n -i roce0 -c 1 "udp dst port 4791 and $2" 2>/dev/null)" = "" ]
}

# decoded DSCP FILTER: rocecheck and tshark agree on the five CNPs, each good and for the queue pair.
decoded()
{
	tests/golden/tshark_agree.sh "$tmp/cnp.pcap" build/rocecheck --icrc
	build/rocecheck capture decode --json "$tmp/cnp.pcap" | jq -se --argjson qpn "$qpn" --argjson dscp "$1" '
		[.[] | select(.opcode == 129 and .dest_qpn == $qpn and .icrc == "good" and .dscp == $dscp and
			.ecn == 2 and .becn)] | length == 5'
	[ "$(tshark -n -r "$tmp/cnp.pcap" -Y "infiniband.bth.opcode == 129 && $2" 2>/dev/null | wc -l)" = 5 ]
}

@test "CNPs on the wire: for the sender's queue pair, DSCP 48, ECT(0), good ICRC" {
	cnps '' 'udp[8] = 0x81'
	decoded 48 'ip.dsfield.dscp == 48 && ip.dsfield.ecn == 2 && udp.checksum == 0'
}

@test "the same over IPv6, with a DSCP and a priority of their own" {
	on h3 sh -c 'cd /sys/class/net/roce0/ecn/roce_np && echo 46 >cnp_dscp && echo 5 >cnp_802p_prio'
	before=$(counter h3 tx_prio5_packets)
	cnps '-x 0' 'ip6[48] = 0x81'
	counted h3 tx_prio5_packets $((before + 5))
	on h3 sh -c 'cd /sys/class/net/roce0/ecn/roce_np && echo 48 >cnp_dscp && echo 6 >cnp_802p_prio'
	decoded 46 'ipv6.tclass.dscp == 46 && ipv6.tclass.ecn == 2'
}

@test "CNPs keep their interval" {
	on h3 sh -c 'echo 200000 >/sys/class/net/roce0/ecn/roce_np/min_time_between_cnps'
	points h1 1 0
	one_flow
	mark_all
	before=$(counter h3 np_cnp_sent) start=${EPOCHREALTIME/./}
	sleep 3
	sent=$(($(counter h3 np_cnp_sent) - before)) took_ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	on h3 sh -c 'echo 4000 >/sys/class/net/roce0/ecn/roce_np/min_time_between_cnps'
	echo "$sent CNPs in $took_ms ms"
	((sent >= 2 && sent <= took_ms / 200 + 1))
}

@test "a corrupt CNP slows nothing" {
	one_flow
	fault p1 bad corrupt '"opcode": 129'
	handled=$(counter h1 rp_cnp_handled) ignored=$(counter h1 rp_cnp_ignored)
	mark_all
	until_true 20 counted h1 rp_cnp_ignored $((ignored + 20))
	until_true 20 at_least p1 $((steady / 2))
	[ "$(counter h1 rp_cnp_handled)" = "$handled" ]
}

@test "rocecheck counts CNPs, and its verdict names the host that sends none" {
	points h3 0 1
	fault p3 some mark_ce '"prio": [3], "every": 20'
	fault p1 too mark_ce '"prio": [3], "every": 20'
	run --separate-stderr build/rocecheck --json validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run"
	jq -r '.findings[] | select(.rule == "RC-ECN-006") | "\(.verdict) \(.host) \(.text)"' <<<"$output"
	[ "$status" -eq 1 ]
	jq -e '[.findings[] | select(.rule == "RC-ECN-006")] |
		any(.host == "h1" and .verdict == "PASS") and any(.host == "h3" and .verdict == "FAIL")' <<<"$output"
	jq -e '[.findings[] | select(.rule == "RC-ECN-006" and .host == "h1") | .evidence[].text] |
		any(test("np_cnp_sent"))' <<<"$output"
}

@test "no kernel complains" {
	for host in h1 h2 h3; do
		run on $host sh -c 'dmesg | grep -A 30 -E "BUG|WARNING|Oops|refcount|Call Trace"'
		echo "$host: $output"
		[ "$status" -eq 1 ]
	done
}

# The last ones: they change the NIC of h1.
@test "personalities have their switches and parameters where the driver has them" {
	lab reset h1:personality=mlx5
	# shellcheck disable=SC2016 # for the guest's shell
	on h1 bash -ec 'cd /sys/kernel/debug/mlx5/*/cc_params; [ "$(cat np_cnp_dscp rp_gd)" = "48
11" ]; echo 40 >np_cnp_dscp; [ "$(cat /sys/class/net/roce0/ecn/roce_np/cnp_dscp)" = 40 ]'
	run on h1 sh -c 'echo 64 >/sys/class/net/roce0/ecn/roce_np/cnp_dscp'
	[[ $status -ne 0 && $output == *"Invalid argument"* ]]
	run on h1 sh -c 'echo 2 >/sys/class/net/roce0/ecn/roce_rp/enable/3'
	[[ $status -ne 0 && $output == *"Invalid argument"* ]]
	lab reset h1:personality=bnxt
	# shellcheck disable=SC2016
	on h1 bash -ec 'cd /sys/kernel/debug/bnxt_re/*/cc_config; [ "$(cat enable_cc alt_vlan_dscp)" = "1
48" ]; echo 0 >enable_cc; [ "$(cat enable_cc)" = 0 ]
		ethtool -S roce0 | grep -q "rx_cnp_pkts: 0"; [ ! -e /sys/class/net/roce0/ecn ]
		[ ! -e /sys/kernel/debug/mlx5 ]'
	run on h1 bash -c 'echo 1 >/sys/kernel/debug/bnxt_re/*/cc_config/tx_queue'
	[[ $status -ne 0 && $output == *"not supported"* ]]
	lab reset h1:personality=ice
	on h1 sh -ec '[ ! -e /sys/class/net/roce0/ecn ]; [ ! -e /sys/kernel/debug/bnxt_re ]'
	lab reset h1:np=0 h1:rp=0
	# shellcheck disable=SC2016
	on h1 sh -ec 'cd /sys/class/net/roce0/ecn; [ "$(cat roce_?p/enable/* | tr -d "\n")" = 0000000000000000 ]'
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
