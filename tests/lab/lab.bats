#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab itself: guests, management path, and that the NIC is one that a RoCE test can believe.
# The oracles are dcb, ethtool, rdma, lldptool and perftest in the guests. Runs from the root of
# the tree; the lab is one of its own, beside one that may be up in build/lab.

bats_require_minimum_version 1.5.0
load guests

# counter HOST NAME: one statistic of the NIC.
counter()
{
	on "$1" ethtool -S roce0 | awk -v name="$2:" '$1 == name { print $2; found = 1 }
		END { exit !found }'
}

# write_bw SECONDS: RC WRITE from h1 to h2 marked DSCP 26; prints MB/s (10^6). The timeout of 2^18
# x 4 us is above the time that the 128 packets in flight need at the slowest rate used here: after
# a needless retry, Soft-RoCE of 6.1 may retry for 50 s while the queue pair is destroyed. Beside other work
# perftest may not find out at what rate its clock goes: it then reports nothing, and is asked again.
write_bw()
{
	local args=(ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 --report_gbits -D "$1")
	local said=$BATS_TEST_TMPDIR/write_bw code rate i

	for i in 1 2 3; do
		[ $i = 1 ] || echo "# retried: perftest did not know the rate of its clock" >&3
		: >"$said"
		on h2 timeout 30 "${args[@]}" >/dev/null 2>>"$said" 3>&- &
		on h2 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
		code=0
		rate=$(on h1 timeout 30 "${args[@]}" h2 2>>"$said" |
			awk '$1 == 65536 { print $4 * 125; found = 1 } END { exit !found }') || code=$?
		wait $! || code=$?
		grep -q '^Correlation coefficient' "$said" || break
	done
	cat "$said" >&2
	echo "$rate"
	return $code
}

# lossless: PFC on the priority that setup_file gave DSCP 26, no link pause.
lossless()
{
	both bash -c 'dcb pfc set dev roce0 prio-pfc all:off 3:on && ethtool -A roce0 rx off tx off'
}

# processes: what runs for this lab.
processes()
{
	pgrep -f -- "$LAB_DIR/" || true
}

setup_file()
{
	export LAB_DIR="$PWD/build/lab test"
	lab down
	lab up
	both bash -c 'dcb app add dev roce0 dscp-prio 26:3'
}

teardown_file()
{
	lab down
}

@test "up is refused while it is up, and changes nothing" {
	run -1 lab up
	[[ $output == *"already up"* ]]
	on h1 true
	on h2 true
}

@test "run passes stdin, stdout, arguments and the exit code" {
	[ "$(echo 'from outside' | on h2 cat)" = "from outside" ]
	[ "$(on h1 hostname)" = h1 ]
	[ "$(on h1 printf '%s|' 'a b' '$HOME' "it's" '')" = "a b|\$HOME|it's||" ]
	run -7 on h1 sh -c 'exit 7'
	run -2 lab run h7 -- true
	run -2 lab run h1 true
}

@test "ssh works with the generated configuration and checks the host's key" {
	ssh -F "$LAB_DIR/ssh_config" -o ControlPath=none h1 true
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/other"
	echo "h1 $(cut -d' ' -f1,2 "$BATS_TEST_TMPDIR/other.pub")" >"$BATS_TEST_TMPDIR/known"
	run -255 ssh -F "$LAB_DIR/ssh_config" -o ControlPath=none \
		-o UserKnownHostsFile="$BATS_TEST_TMPDIR/known" h1 true
	[[ $output == *"IDENTIFICATION HAS CHANGED"* || $output == *"erification failed"* ]]
}

@test "only loopback reaches the guests' ssh" {
	local port

	for port in $(awk '$1 == "Port" { print $2 }' "$LAB_DIR/ssh_config"); do
		[ "$(ss -Hltn "sport = $port" | awk '{ print $4 }')" = "127.0.0.1:$port" ]
	done
}

@test "Soft-RoCE is active with an IB MTU of 4096" {
	local host

	for host in h1 h2; do
		on $host rdma link show rxe0/1 | grep -q 'state ACTIVE .* netdev roce0'
		on $host ibv_devinfo -d rxe0 | grep -q 'active_mtu:.*4096'
	done
	run -1 on h1 sh -c 'tc qdisc show | grep codel'
	on h1 test -c /dev/infiniband/rdma_cm
	on h1 test -d /sys/kernel/config/rdma_cm
	on h1 mountpoint -q /sys/kernel/debug
	on h1 mountpoint -q /dev/shm
}

@test "the tree is at /rocecheck, read-only" {
	on h1 test -r /rocecheck/tests/lab/lab.bats
	run -1 on h1 touch /rocecheck/x
	on h1 touch /var/lib/rocecheck/x
	[[ $(on h1 printenv PATH) == /rocecheck/build:* ]]
}

@test "the NIC names itself, its speed and its pause" {
	run -0 on h1 ethtool -i roce0
	[[ $output == *"driver: labnic"* && $output == *"firmware-version: 1"* ]]
	on h1 ethtool roce0 | grep -q 'Speed: 200Mb/s'
	on h1 ethtool -A roce0 rx off tx on
	on h1 ethtool -a roce0 | grep -q '^RX:.*off'
	on h1 ethtool -a roce0 | grep -q '^TX:.*on'
	both ethtool -A roce0 rx off tx off
	run on h1 ethtool -A roce0 autoneg on
	[ "$status" -ne 0 ]
}

@test "dcb sets and reads ETS, PFC, APP and buffers" {
	on h1 dcb ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60 prio-tc 3:3
	run -0 on h1 dcb -j ets show dev roce0
	[ "$(jq -c '[.tc_bw[0], .tc_bw[3], .tc_tsa[3], .prio_tc[3]]' <<<"$output")" = '[40,60,"ets",3]' ]
	on h1 dcb pfc set dev roce0 prio-pfc all:off 3:on
	[ "$(on h1 dcb -j pfc show dev roce0 | jq -c '.prio_pfc')" = \
		'[false,false,false,true,false,false,false,false]' ]
	on h1 dcb app show dev roce0 | grep -q 'AF31:3'
	on h1 dcb buffer set dev roce0 prio-buffer all:0 3:1 buffer-size all:0 0:131072 1:262144
	on h1 dcb buffer show dev roce0 | grep -q 'buffer-size 0:128Kb 1:256Kb'
	on h1 dcb buffer set dev roce0 prio-buffer all:0 buffer-size all:0 0:393216
}

# dcb of Debian 12 exits 0 when the driver refused, so that what is read counts.
@test "the NIC refuses ETS that hardware refuses" {
	local before

	before=$(on h1 dcb ets show dev roce0)
	run on h1 dcb ets set dev roce0 tc-bw 0:40 3:50
	[ "$(on h1 dcb ets show dev roce0)" = "$before" ]
	run on h1 dcb ets set dev roce0 tc-tsa 1:cbs
	[ "$(on h1 dcb ets show dev roce0)" = "$before" ]
	run on h1 dcb dcbx set dev roce0 lld-managed ieee
	[ "$(on h1 dcb dcbx show dev roce0)" = "host ieee " ]
}

@test "ethtool -S has the names of mlx5" {
	local name prio

	on h1 ethtool -S roce0 | awk -F '[ :]+' 'NF > 2 { print $2 }' >"$BATS_TEST_TMPDIR/names"
	for prio in 0 1 2 3 4 5 6 7; do
		for name in rx_@_bytes rx_@_packets rx_@_discards tx_@_bytes tx_@_packets rx_@_pause \
			rx_@_pause_duration tx_@_pause tx_@_pause_duration; do
			grep -qx "${name/@/prio$prio}" "$BATS_TEST_TMPDIR/names"
		done
	done
	for name in rx_discards_phy rx_global_pause tx_global_pause; do
		grep -qx "$name" "$BATS_TEST_TMPDIR/names"
	done
}

@test "traffic goes by its DSCP and not faster than the link" {
	local sent received other rate

	lossless
	sent=$(counter h1 tx_prio3_bytes)
	received=$(counter h2 rx_prio3_bytes)
	other=$(counter h1 tx_prio0_bytes)
	rate=$(write_bw 2)
	within 0.5 "$rate" 25
	[ $(($(counter h1 tx_prio3_bytes) - sent)) -gt 8000000 ]
	[ $(($(counter h2 rx_prio3_bytes) - received)) -gt 8000000 ]
	[ $(($(counter h1 tx_prio0_bytes) - other)) -lt 100000 ]
	on h1 sh -c 'echo 4 >/sys/module/labnic/parameters/rate'
	rate=$(write_bw 3)
	on h1 sh -c 'echo 25 >/sys/module/labnic/parameters/rate'
	within 0.5 "$rate" 4.05
}

@test "with PFC a slow receiver pauses the sender and loses nothing" {
	local rate pauses

	lossless
	# A guest that shares its core obeys late: at 4 MB/s the headroom above xoff lasts for 80 ms.
	on h1 sh -c 'echo 4 >/sys/module/labnic/parameters/rate'
	on h2 sh -c 'echo 2 >/sys/module/labnic/parameters/drain'
	rate=$(write_bw 3)
	within 0.5 "$rate" 2.05
	[ "$(counter h2 rx_prio3_discards)" = 0 ]
	[ "$(counter h2 tx_prio3_pause)" -gt 0 ]
	pauses=$(counter h1 rx_prio3_pause)
	[ "$pauses" -gt 0 ]
	[ "$(counter h1 rx_prio3_pause_duration)" -gt 100000 ]
	[ "$(counter h1 rx_prio0_pause)" = 0 ]
	[ "$(on h1 dcb -s -j pfc show dev roce0 | jq '.indications[3]')" = "$pauses" ]
}

@test "without PFC the same receiver discards" {
	both dcb pfc set dev roce0 prio-pfc all:off
	on h2 sh -c 'echo 2 >/sys/module/labnic/parameters/drain'
	write_bw 3
	on h2 sh -c 'echo 0 >/sys/module/labnic/parameters/drain'
	[ "$(counter h2 rx_prio3_discards)" -gt 0 ]
	[ "$(counter h2 rx_discards_phy)" = "$(counter h2 rx_prio3_discards)" ]
}

@test "the link follows the wire's netdev" {
	on h1 ip link set eth0 down
	on h1 sh -c 'sleep 0.3; ip -br link show roce0' | grep -q NO-CARRIER
	on h1 ip link set eth0 up
	on h1 sh -c 'sleep 0.5; rdma link show rxe0/1' | grep -q ACTIVE
}

@test "lldpad of both guests exchanges DCBX TLVs" {
	local host i

	both bash -c 'lldpad -d && sleep 0.5 && lldptool -L -i roce0 adminStatus=rxtx &&
		lldptool -T -i roce0 -V PFC willing=no enabled=3 &&
		lldptool -T -i roce0 -V APP app=3,5,26 && lldptool -T -i roce0 -V APP enableTx=yes' >/dev/null
	for host in h1 h2; do
		for i in {1..100}; do
			on $host lldptool -t -n -i roce0 >"$BATS_TEST_TMPDIR/tlvs"
			grep -q 'dscp:  26' "$BATS_TEST_TMPDIR/tlvs" && break
			sleep 0.2
		done
		grep -q 'PFC enabled: 3' "$BATS_TEST_TMPDIR/tlvs"
		grep -q 'IEEE 8021QAZ ETS Configuration TLV' "$BATS_TEST_TMPDIR/tlvs"
		grep -q 'dscp:  26' "$BATS_TEST_TMPDIR/tlvs"
	done
	both bash -c 'kill $(pidof lldpad); while pidof -q lldpad; do sleep 0.1; done'
}

@test "the NIC's module survives reloads under Soft-RoCE" {
	on h1 dmesg -C
	on h1 timeout 30 bash -ec 'for i in 1 2 3; do
		rmmod labnic
		insmod /run/lab/labnic.ko
		ip link set roce0 mtu 4200 up
		ip address add 198.18.0.1/24 dev roce0
		rdma link add rxe0 type rxe netdev roce0
	done'
	on h1 ping -q -c 1 -W 5 h2
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}

@test "a guest that is off is said to be off" {
	lab stop h2
	run -255 on h2 true
	[[ $output == *"h2 is not running"* ]]
	run -0 lab status
	[[ $output == *"h1 running"* && $output == *"h2 stopped"* ]]
	on h1 true
}

@test "down ends everything and leaves the logs" {
	[ -n "$(processes)" ]
	lab down
	[ -z "$(processes)" ]
	[ -s "$LAB_DIR/h1.log" ]
	[ ! -e "$LAB_DIR/key" ]
	run -255 on h1 true
	run -1 lab status
	lab down
}

@test "a boot that hangs ends with a message, a log and no process" {
	lab down
	LAB_BOOT_SECONDS=0 run -3 lab up 1
	[[ $output == *"did not boot in 0 s"*"$LAB_DIR/h1.log"* ]]
	[ -z "$(processes)" ]
}

@test "an interrupted up leaves nothing" {
	local code=0

	lab down
	# A shell of its own, with job control and no inherited deafness: else it would ignore the interrupt, as all
	# do that a shell without job control has put into the background. One guest could be up by then.
	env --default-signal=INT bash -c 'set -m; tests/lab/lab up tests/lab/topologies/three.yaml &
		until [ -s "$LAB_DIR/h1.pid" ]; do sleep 0.1; done
		kill -INT -- -$!; wait $!' 3>&- || code=$?
	[ "$code" = 130 ]
	[ -z "$(processes)" ]
}
