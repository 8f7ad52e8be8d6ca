#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab NIC does beyond a plain one: it has the traps of the driver whose personality it has,
# there may be several, and they may be in a bond. The oracles are dcb and ethtool in the guests. Runs
# from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
load guests
load nics

setup_file()
{
	export LAB_DIR="$PWD/build/lab-nic"
	lab down
	lab up
}

teardown_file()
{
	lab down
}

@test "a personality that does not exist is refused" {
	on h1 rmmod labnic
	run on h1 insmod /run/lab/labnic.ko personality=none
	[ "$status" -ne 0 ]
	on h1 dmesg | grep -q "no personality 'none'"
	on h1 insmod /run/lab/labnic.ko
	driver_is labnic
}

# pair HOST [PARAMETER...]: two NICs, the second one's frames in a VLAN of the same wire.
pair()
{
	local host=$1

	shift
	on "$host" timeout 60 bash -ec 'rmmod labnic
		[ -e /sys/class/net/wire1 ] || ip link add link eth0 name wire1 type vlan id 100
		echo 1 >/proc/sys/net/ipv6/conf/wire1/disable_ipv6
		ip link set wire1 up
		insmod /run/lab/labnic.ko lower=eth0,wire1 "$@"
		for i in 0 1; do
			ip link set "roce$i" mtu 4200 up
			ip address add "198.18.$i.${HOSTNAME#h}/24" dev "roce$i"
			rdma link add "rxe$i" type rxe netdev "roce$i"
		done' pair "$@"
}

@test "two NICs of one module are two to everybody, and one's end is not the other's" {
	pair h1 name=roce0,roce1
	pair h2
	[ "$(on h1 ethtool -i roce0 | sed -n 's/^bus-info: //p')" = labnic.0 ]
	[ "$(on h1 ethtool -i roce1 | sed -n 's/^bus-info: //p')" = labnic.1 ]
	[ "$(on h1 cat /sys/class/infiniband/rxe1/parent)" = roce1 ]
	taken pfc set dev roce1 prio-pfc all:off 3:on
	shows pfc '3:off'
	on h1 ping -q -c 2 -i 0.2 198.18.0.2
	on h1 ping -q -c 2 -i 0.2 198.18.1.2
	on h1 ip link delete wire1
	[ "$(on h1 cat /sys/class/net/roce1/operstate)" = down ]
	on h1 ping -q -c 2 -i 0.2 198.18.0.2
	on h1 rmmod labnic
	run on h1 insmod /run/lab/labnic.ko lower=eth0,none
	[[ $output == *"No such device"* ]]
	run on h1 insmod /run/lab/labnic.ko lower=eth0 name=a,b
	[[ $output == *"Invalid"* ]]
	[ -z "$(on h1 sh -c 'ls /sys/bus/platform/devices | grep labnic')" ]
	on h1 insmod /run/lab/labnic.ko
	on h2 bash -ec 'rmmod labnic; ip link delete wire1; insmod /run/lab/labnic.ko
		ip link set roce0 mtu 4200 up; ip address add 198.18.0.2/24 dev roce0
		rdma link add rxe0 type rxe netdev roce0'
}

@test "mlx5: names, boot state, exact ETS sum" {
	become mlx5
	driver_is mlx5_core
	has_statistics rx_prio3_pause rx_prio3_pause_duration tx_prio3_bytes rx_discards_phy
	shows ets 'tc-tsa 0:vendor 1:vendor'
	shows ets 'prio-tc 0:1 1:0 2:2 3:3'
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:50 5:10
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:100
}

@test "mlx5: APP replaces without a word, its first and last entry flip trust" {
	become mlx5
	denied 'Invalid argument' app add dev roce0 ethtype-prio 0x8915:3
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	shows app 'dscp-prio AF31:4'
	denied 'No such file or directory' app del dev roce0 dscp-prio 26:3
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_prio4_packets:" { print $2 }')" -ge 3 ]
	taken app del dev roce0 dscp-prio 26:4
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(on h1 ethtool -S roce0 | awk '$1 == "tx_prio4_packets:" { print $2 }')" -lt 6 ]
}

@test "mlx5: PFC takes the link down when it changes, DCBX goes to firmware and back" {
	become mlx5
	before=$(downs)
	taken pfc set dev roce0 prio-pfc all:off 3:on
	[ "$(downs)" = $((before + 1)) ]
	sleep 0.5
	[ "$(on h1 cat /sys/class/net/roce0/carrier)" = 1 ]
	taken pfc set dev roce0 prio-pfc all:off 3:on
	[ "$(downs)" = $((before + 1)) ]
	shows dcbx 'host cee ieee'
	run on h1 dcb dcbx set dev roce0 lld-managed ieee
	shows dcbx 'host cee ieee'
	become mlx5 fw_dcbx=1
	run on h1 dcb dcbx show dev roce0
	[[ $output == *"cee ieee"* && $output != *host* ]]
	taken dcbx set dev roce0 host ieee
	shows dcbx 'host ieee'
	# A rate is rounded down to 100 Mbit/s, and is at least that (12 500 kbyte/s as dcb has it).
	taken maxrate set dev roce0 tc-maxrate 3:128kbit
	shows maxrate '3:800Kbit'
}

# Of 0 to 7: TSA, shares or classes.
strict='0 0 0 0 0 0 0 0'
spread='0 1 2 3 4 5 6 7'

@test "mlx5: ETS reads what registers have" {
	become mlx5
	answers 'answer 0' ets 2 0 0 0 0 0 0 0 100 7 7 7 7 7 7 7 $strict
	taken ets set dev roce0 willing on
	shows ets 'willing off'
	shows ets 'tc-bw 0:100 1:0 2:0'
	shows ets 'reco-tc-bw 0:0 1:0'
	# A class of 0 % is served last, and reads so.
	taken ets set dev roce0 tc-tsa all:strict 0:ets 1:ets tc-bw all:0 1:100
	shows ets 'tc-bw 0:0 1:100 2:0'
	answers 'answer -22' ets 2 2 0 0 0 0 0 0 50 40 0 0 0 0 0 0 $spread
	answers 'answer -95' ets 1 0 0 0 0 0 0 0 $strict $spread
	answers 'answer -22' ets $strict $strict 0 0 0 0 0 0 0 8
}

# At 7 m and MTU 4200 xoff is 24 064 bytes; a frame and a cell more are 33 408.
@test "mlx5: a lossless buffer has to hold what the cable does" {
	become mlx5
	on h1 ethtool -A roce0 rx off tx off
	taken pfc set dev roce0 prio-pfc all:off 3:on
	answers 'answer 0' pfc 8 20
	shows pfc 'delay 20'
	answers 'answer 0' pfc 8 1000
	shows pfc 'delay 20'
	answers 'answer 0' pfc 8 7
	answers 'answer 0' buffer $strict 300000 33407 0 0 0 0 0 0
	answers 'answer -12' buffer 0 0 0 1 0 0 0 0 300000 33407 0 0 0 0 0 0
	shows buffer 'prio-buffer 0:0 1:0 2:0 3:0'
	answers 'answer 0' buffer $strict 300000 33408 0 0 0 0 0 0
	answers 'answer 0' buffer 0 0 0 1 0 0 0 0 300000 33408 0 0 0 0 0 0
	shows buffer 'prio-buffer 0:0 1:0 2:0 3:1'
	# The map comes before the sizes of the same request.
	answers 'answer -12' buffer 0 0 0 2 0 0 0 0 300000 33408 40000 0 0 0 0 0
	answers 'answer -22' buffer 0 0 0 1 0 0 0 0 300000 0 0 0 0 0 0 0
	answers 'answer -22' buffer 0 0 0 1 0 0 0 0 400000 33408 0 0 0 0 0 0
	answers 'answer -22' buffer 0 0 0 8 0 0 0 0 300000 33408 0 0 0 0 0 0
	answers 'answer -12' pfc 8 100
	shows pfc 'delay 7'
	# Of buffer 1 priority 3 is the only one: with PFC on 0 the other one is large enough.
	answers 'answer 0' pfc 1 100
	answers 'answer -12' pfc 8 100
	shows pfc '3:on'
}

@test "mlx5: 0 hands DCBX to the firmware, HOST takes it" {
	become mlx5
	answers 'answer 13' gdcbx
	answers 'answer 0' sdcbx 0
	answers 'answer 12' gdcbx
	answers 'answer 1' sdcbx 11
	answers 'answer 1' sdcbx 8
	answers 'answer 12' gdcbx
	answers 'answer 0' sdcbx 9
	answers 'answer 9' gdcbx
	answers 'answer 0' gcap
	# Above 25.5 Gbit/s in steps of 1, to 255 (dcb hands on bytes as kbit).
	taken maxrate set dev roce0 tc-maxrate 3:244mbit
	shows maxrate '3:240Mbit'
	unchanged maxrate set dev roce0 tc-maxrate 3:2400mbit
}

@test "mlx4: APP entries are kept by the kernel and do not reach the NIC" {
	become mlx4
	driver_is mlx4_en
	has_statistics rx_pause_prio_3 rx_pause_duration_prio_3 tx_prio_3_packets
	taken app add dev roce0 dscp-prio 26:3
	shows app 'AF31:3'
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(stat tx_prio_3_packets)" = 0 ]
	unchanged ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:50
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60
	answers 'answer 1' sdcbx 2
	answers 'answer 0' sdcbx 9
}

@test "bnxt: nothing to read before the first set, ETS before PFC" {
	become bnxt
	driver_is bnxt_en
	has_statistics rx_pfc_ena_frames_pri3 pfc_pri3_rx_duration_us rx_discard_packets_cos3
	answers 'error -95' gcap
	shows ets 'tc-tsa 0:strict 1:strict'
	answers 'answer -22' pfc 8 0
	taken ets set dev roce0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50 prio-tc 3:3 4:4 5:5
	shows ets 'tc-bw 0:50 1:0 2:0 3:50'
	answers 'answer -22' pfc 0x38 0
	before=$(downs)
	answers 'answer 0' pfc 0x18 0
	shows pfc '3:on 4:on'
	# Their queues became lossless ones: the NIC was closed and opened, once.
	[ "$(downs)" = $((before + 1)) ]
	answers 'answer 0' pfc 0x8 0
	answers 'answer 0' pfc 0x18 0
	[ "$(downs)" = $((before + 1)) ]
	# Adding first and deleting then clears the map of the DSCP.
	taken app add dev roce0 dscp-prio 26:3
	taken app add dev roce0 dscp-prio 26:4
	taken app del dev roce0 dscp-prio 26:3
	shows app 'AF31:4'
	on h1 ping -q -c 3 -i 0.2 -Q 104 h2
	[ "$(stat tx_packets_pri4)" = 0 ]
}

@test "bnxt: what it checks of ETS, 524 arrives as 12" {
	become bnxt
	answers 'answer -12' ets 255 0 0 0 0 0 0 0 $strict $spread
	answers 'answer -22' ets 2 2 2 0 0 0 0 0 60 30 20 0 0 0 0 0 $spread
	answers 'answer -22' ets 2 2 2 0 0 0 0 0 60 40 0 0 0 0 0 0 $spread
	answers 'answer -22' ets $strict $strict 0 0 0 0 0 0 0 8
	shows ets 'tc-tsa 0:strict 1:strict'
	answers 'answer 0' ets 2 2 2 0 0 0 0 0 60 30 0 0 0 0 0 0 $spread
	# The highest class in use, 1 here, is not looked at.
	answers 'answer 0' ets 2 255 0 0 0 0 0 0 100 100 0 0 0 0 0 0 0 1 0 0 0 0 0 0
	shows ets 'tc-tsa 0:ets 1:vendor'
}

# A buffer that a frame fills by a sixth asks for a pause at once.
@test "bnxt: pauses that come in are counted as frames, transitions and time" {
	become bnxt
	on h2 bash -ec 'dcb app add dev roce0 dscp-prio 8:1 || true; dcb pfc set dev roce0 prio-pfc all:off 1:on
		dcb buffer set dev roce0 buffer-size all:0 0:24000
		echo 1 >/sys/module/labnic/parameters/drain'
	run on h1 timeout 20 ping -q -i 0.01 -c 20 -s 4000 -Q 32 h2
	on h2 sh -c 'echo 0 >/sys/module/labnic/parameters/drain
		dcb buffer set dev roce0 buffer-size 0:300000'
	[ "$(stat rx_pfc_ena_frames_pri1)" -ge 2 ]
	[ "$(stat pfc_pri1_rx_transitions)" -ge 2 ]
	[ $(($(stat pfc_pri1_rx_transitions) % 2)) = 0 ]
	[ "$(stat pfc_pri1_rx_duration_us)" -gt 0 ]
	[ "$(stat pfc_pri2_rx_transitions)" = 0 ]
	on h2 dcb pfc set dev roce0 prio-pfc all:off
}

@test "bnxt: a firmware agent owns everything" {
	become bnxt fw_dcbx=1
	shows dcbx 'lld-managed ieee'
	answers 'answer -22' ets 2 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 $strict
	answers 'answer -22' pfc 8 0
	answers 'answer -22' app 5 26 3
	answers 'answer 1' sdcbx 9
	shows dcbx 'lld-managed ieee'
}

@test "ice: the first DSCP entry rewrites ETS, the last one to go restores the defaults" {
	become ice
	driver_is ice
	has_statistics rx_priority_3_xoff.nic tx_priority_3_xon.nic rx_dropped.nic
	shows ets 'willing on'
	taken ets set dev roce0 willing on tc-tsa all:ets tc-bw all:0 0:40 1:60 prio-tc all:0 3:1
	shows ets 'reco-tc-bw 0:40 1:60'
	before=$(downs)
	taken app add dev roce0 dscp-prio 26:3
	[ "$(downs)" -gt "$before" ]
	shows ets 'willing off'
	shows ets 'tc-bw 0:100 1:0'
	shows ets 'prio-tc 0:0 1:1 2:2 3:3'
	denied 'Invalid argument' app add dev roce0 dscp-prio 26:2
	shows app 'AF31:3'
	denied 'Invalid argument' app add dev roce0 dscp-prio 27:4
	taken pfc set dev roce0 prio-pfc all:off 3:on
	unchanged pfc set dev roce0 prio-pfc all:off 3:on 2:on
	run on h1 ethtool -A roce0 rx on
	[[ $output == *"not supported"* ]] || { echo "ethtool -A: $output"; return 1; }
	on h1 ethtool -a roce0 | grep -q '^RX:.*off'
	taken app del dev roce0 dscp-prio 26:3
	shows ets 'willing on'
	shows ets 'prio-tc 0:0 1:0 2:0 3:0'
	shows pfc '3:off'
	unchanged ets set dev roce0 prio-tc 3:5
}

# Classes 0 and 2 have a gap: then there is one class, and it has everything.
@test "ice: ETS that was refused spoils what comes next, and APP entries without a word" {
	become ice
	answers 'answer 0' ets 2 2 2 0 0 0 0 0 30 0 70 0 0 0 0 0 0 2 0 0 0 0 0 0
	shows ets 'tc-bw 0:100 1:0 2:70'
	answers 'answer 0' app 5 26 3
	answers 'answer -22' ets 2 2 2 2 0 0 0 0 30 30 30 0 0 0 0 0 $strict
	shows ets 'tc-bw 0:100 1:0'
	answers 'answer -22' pfc 8 0
	answers 'answer 1' app 5 12 2
	shows app 'AF12:2'
	on h1 ping -q -c 3 -i 0.2 -Q 48 h2
	answers 'answer 0' ets 2 2 2 2 0 0 0 0 30 30 40 0 0 0 0 0 $strict
	answers 'answer 0' pfc 8 0
	answers 'answer 0' app 5 13 2
	shows pfc '3:on'
}

@test "ice: the agent's private flag owns DCB" {
	become ice fw_dcbx=1
	on h1 ethtool --show-priv-flags roce0 | grep -q 'fw-lldp-agent *: on'
	answers 'answer -22' pfc 8 0
	answers 'answer -22' ets 2 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 $strict
	answers 'answer -22' app 5 26 3
	answers 'answer 1' sdcbx 9
	on h1 ethtool --set-priv-flags roce0 fw-lldp-agent off
	shows dcbx 'host ieee'
	answers 'answer 1' sdcbx 9
	taken app add dev roce0 dscp-prio 26:3
	run on h1 ethtool --set-priv-flags roce0 fw-lldp-agent on
	[ "$status" -ne 0 ]
}

@test "each set of DCB is announced, a refused one, too" {
	become generic
	run -0 on h1 /rocecheck/build/tools/dcbmon /rocecheck/build/tools/dcbraw roce0 pfc 8 0
	[[ $output == *"answer 0"*"changes 1" ]]
	run -0 on h1 /rocecheck/build/tools/dcbmon /rocecheck/build/tools/dcbraw roce0 app 5 64 3
	[[ $output == *"answer -22"*"changes 1" ]]
	run -0 on h1 /rocecheck/build/tools/dcbmon /rocecheck/build/tools/dcbraw roce0 gdcbx
	[[ $output == *"changes 0" ]]
}

# writes CLASS: 100 WRITEs of that class from h1 to h2.
writes()
{
	local command=(timeout 40 ib_write_bw -d rxe0 -x 1 --tclass $(($1 * 32 + 2)) -s 65536 -u 18 -n 100)

	on h2 "${command[@]}" >"$BATS_TEST_TMPDIR/server" 2>&1 3>&- &
	on h2 timeout 60 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
	on h1 "${command[@]}" h2 >"$BATS_TEST_TMPDIR/client" 2>&1 && wait $! ||
		{ cat "$BATS_TEST_TMPDIR/server" "$BATS_TEST_TMPDIR/client"; return 1; }
}

# bond HOST [PARAMETER...]: two NICs as the slaves of bond0 with Soft-RoCE on it. The two VLANs of
# the wire meet nowhere, so that the other slave's frames count, too.
bond()
{
	local host=$1

	shift
	on "$host" timeout 60 bash -ec 'rmmod labnic
		[ -e /sys/class/net/wire1 ] || ip link add link eth0 name wire1 type vlan id 100
		echo 1 >/proc/sys/net/ipv6/conf/wire1/disable_ipv6
		ip link set wire1 up
		insmod /run/lab/labnic.ko lower=eth0,wire1 "$@"
		modprobe bonding max_bonds=0
		ip link add bond0 type bond mode active-backup miimon 20 all_slaves_active 1
		for i in 0 1; do ip link set "roce$i" master bond0; done
		ip link set bond0 mtu 4200 up
		ip address add "198.18.0.${HOSTNAME#h}/24" dev bond0
		rdma link add rxe0 type rxe netdev bond0' bond "$@"
}

unbond()
{
	on "$1" timeout 60 bash -ec 'ip link delete bond0; rmmod labnic; ip link delete wire1
		insmod /run/lab/labnic.ko; ip link set roce0 mtu 4200 up
		ip address add "198.18.0.${HOSTNAME#h}/24" dev roce0
		rdma link add rxe0 type rxe netdev roce0'
}

# active SLAVE: it becomes that within some seconds.
active()
{
	on h1 timeout 60 bash -c 'until [ "$(</sys/class/net/bond0/bonding/active_slave)" = "$0" ]; do
		sleep 0.05; done' "$1"
}

# Soft-RoCE of 6.1 loses the GIDs of a bond that fails over, until an address comes anew.
@test "two NICs under a bond are bonded PFs: addresses, DCB of their own, failover" {
	bond h1 personality=mlx5
	bond h2 personality=mlx5
	active roce0
	on h1 grep -q 'Speed: 200 Mbps' /proc/net/bonding/bond0
	[ "$(on h1 cat /sys/class/infiniband/rxe0/parent)" = bond0 ]
	on h1 ip link set bond0 address 02:00:c6:12:77:01
	[ "$(on h1 cat /sys/class/net/roce1/address)" = 02:00:c6:12:77:01 ]
	on h1 ping -q -c 2 -i 0.2 h2
	run on h1 dcb pfc show dev bond0
	[ "$status" -ne 0 ]
	writes 0
	[ "$(stat tx_prio0_packets)" -ge 1600 ]
	# A change of PFC takes the link of this slave down, and of no other.
	taken pfc set dev roce0 prio-pfc all:off 3:on
	active roce1
	on h1 dcb pfc show dev roce1 | grep -q '3:off'
	on h1 ping -q -c 2 -i 0.2 h2
	on h1 ip address del 198.18.0.1/24 dev bond0
	on h1 ip address add 198.18.0.1/24 dev bond0
	before=$(stat tx_prio0_packets)
	writes 0
	[ "$(stat tx_prio0_packets)" = "$before" ]
	# So does a lower netdev that goes.
	on h1 ip link set wire1 down
	active roce0
	on h1 ip link set wire1 up
	on h1 ping -q -c 2 -i 0.2 h2
}

@test "ice: nothing can be set in a bond" {
	unbond h1
	bond h1 personality=ice
	answers 'answer -22' ets 2 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 $strict
	answers 'answer -22' pfc 8 0
	answers 'answer -22' app 5 26 3
	answers 'answer 1' sdcbx 5
	on h1 ip link set roce0 nomaster
	answers 'answer 0' pfc 8 0
	unbond h1
	unbond h2
}

# What lldpad does not find it leaves alone: ETS, PFC and DCBX are there.
@test "lldpad takes the NIC for one with DCB, and what it sets arrives" {
	on h1 timeout 60 bash -ec 'rm -f /dev/shm/lldpad.state; lldpad -d
		until lldptool -p >/dev/null 2>&1; do sleep 0.1; done
		lldptool -L -i roce0 adminStatus=rxtx >/dev/null
		lldptool -T -i roce0 -V PFC enabled=3 willing=no >/dev/null
		until dcb pfc show dev roce0 | grep -q 3:on; do sleep 0.2; done'
	run -0 on h1 lldptool -t -i roce0 -V PFC
	[[ $output == *"enabled=3"* || $output == *"PFC enabled: 3"* ]]
	run -0 on h1 lldptool -t -i roce0
	[[ $output == *"IEEE 8021QAZ ETS Configuration TLV"*"IEEE 8021QAZ PFC TLV"* ]]
	on h1 bash -c 'kill "$(lldptool -p)"'
}

@test "rdma and ethtool count what was sent" {
	before=$(on h1 rdma -j statistic show link rxe0/1 | grep -o '"sent_pkts":[0-9]*' | cut -d: -f2)
	writes 1
	after=$(on h1 rdma -j statistic show link rxe0/1 | grep -o '"sent_pkts":[0-9]*' | cut -d: -f2)
	packets=$(stat tx_prio0_packets)
	echo "rxe sent $((after - before)), the NIC $packets"
	[ $((after - before)) -gt 1000 ]
	[ "$packets" -ge $((after - before)) ]
	[ "$packets" -le $((after - before + 200)) ]
}

@test "no personality makes the kernel complain" {
	run -1 on h1 sh -c 'dmesg | grep -E "BUG|WARNING|Oops|refcount|Call Trace"'
}
