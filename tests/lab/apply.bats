#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# show, plan, apply and rollback on the lab's NIC. The oracles are dcb, ethtool and ip in the guest, and the
# kernel's own announcements of DCB changes. Runs from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0

lab()
{
	tests/lab/lab "$@" 3>&-
}

on()
{
	lab run h1 -- "$@"
}

setup_file()
{
	export LAB_DIR=$PWD/build/lab-apply
	export TOOLS=/rocecheck/build/tools
	lab down
	lab up 1
	# What only a shell in the guest can do: everything that can be read of the port, as text.
	on tee /tmp/state >/dev/null <<-'EOF'
		#!/bin/bash -e
		rocecheck show -i roce0 --json
		# One process each: dcb 6.1 reads the answers of the second in a batch wrong.
		for object in ets pfc app dcbx buffer maxrate; do
			dcb -j "$object" show dev roce0
		done
		ethtool -a roce0
		echo "mtu $(</sys/class/net/roce0/mtu)" /sys/kernel/config/rdma_cm/*
	EOF
	on chmod 755 /tmp/state
	on tee /tmp/small.yaml >/dev/null <<-'EOF'
		schema: rocecheck.profile/1
		name: small
		intent: lossless
		trust: dscp
		app:
		  dscp: {26: 3, 48: 6}
		  udp: {4791: 3}
		ets:
		  prio_tc: [0, 0, 0, 3, 0, 0, 6, 0]
		  tc_tsa: {0: ets, 3: ets, 6: strict}
		  tc_tx_bw: {0: 50, 3: 50}
		pfc:
		  enabled: [3]
		link_pause: {rx: off, tx: off}
		mtu: {netdev: 4096}
		rdma:
		  roce_version: v2
		  cm_default_tos: {dscp: 26, ecn: ect0}
	EOF
}

teardown_file()
{
	lab down
}

# reset PRIO_TC TSA BW PFC DELAY: the port so, and no transactions.
reset()
{
	on bash -ec 'rm -rf /var/lib/rocecheck/tx
		dcb app flush dev roce0
		dcb ets set dev roce0 prio-tc $1 tc-tsa $2 tc-bw $3
		dcb pfc set dev roce0 prio-pfc $4 delay $5
		ethtool -A roce0 rx on tx on || true
		ip link set roce0 mtu 4200
		rmdir /sys/kernel/config/rdma_cm/rxe0 2>/dev/null || true' -- "$@"
}

clean()
{
	reset all:0 all:strict all:0 all:off 0
}

# A port that somebody has set before, so that there is something to put back.
dirty()
{
	reset "all:0 4:2" "all:strict 0:ets 2:ets" "all:0 0:30 2:70" "all:off 4:on" 5
	on dcb app add dev roce0 dscp-prio 26:4 8:1 dgram-port-prio 4791:2 stream-port-prio 3260:4
	[ "$(on dcb -j pfc show dev roce0 | jq -c '[.prio_pfc[4], .delay]')" = "[true,5]" ]
}

@test "show says what dcb, ethtool and ip say, field by field" {
	local ours theirs

	dirty
	on dcb app add dev roce0 ethtype-prio 35093:3 default-prio 1
	on rocecheck show -i roce0 --json >"$BATS_TEST_TMPDIR/show"
	ours=$(jq -cS '.ports[0].qos | {ets: {willing: .ets.willing, cap: .ets.cap, bw: .ets.tc_tx_bw,
			tsa: .ets.tc_tsa, prio_tc: .ets.prio_tc},
		pfc: {cap: .pfc.cap, delay: .pfc.delay, enabled: .pfc.enabled},
		dscp: .app.dscp, apps: [.app.entries[] | [.selector, .protocol, .prio]] | sort,
		dcbx: .dcbx.mode | sort, prio_buffer: .buffer.prio2buffer, size: .buffer.size,
		mtu: .mtu.netdev}' "$BATS_TEST_TMPDIR/show")
	theirs=$(on bash -c 'for o in ets pfc app dcbx buffer; do dcb -j $o show dev roce0; done
			ip -j link show roce0' |
		jq -csS '{ets: (.[0] | {willing, cap: .ets_cap, bw: .tc_bw, tsa: .tc_tsa, prio_tc}),
		pfc: (.[1] | {cap: .pfc_cap, delay, enabled: [.prio_pfc | to_entries[] |
			select(.value) | .key]}),
		dscp: (.[2] | [.dscp_prio[] | {(.[0] | tostring): .[1]}] | add),
		apps: (.[2] | [(.ethtype_prio[] | ["ethertype", .[0], .[1]]),
			(.default_prio[] | ["ethertype", 0, .]),
			(.stream_port_prio[] | ["tcp", .[0], .[1]]),
			(.dgram_port_prio[] | ["udp", .[0], .[1]])] | sort),
		dcbx: (.[3] | [to_entries[] | select(.value) | .key] | sort),
		prio_buffer: .[4].prio_buffer, size: .[4].buffer_size, mtu: .[5][0].mtu}')
	[ "$ours" = "$theirs" ] || { diff <(jq . <<<"$ours") <(jq . <<<"$theirs"); false; }
	# The JSON of this ethtool has autoneg wrong, its text is right.
	theirs=$(on ethtool -a roce0 | awk '/^RX|^TX|^Auto/ { printf "%s ", $2 }')
	ours=$(jq -r '.ports[0].qos.link_pause | [.autoneg, .rx, .tx] |
		map(if . then "on" else "off" end) | join(" ")' "$BATS_TEST_TMPDIR/show")
	[ "$ours " = "$theirs" ]
	on ibv_devinfo -d rxe0 | grep -q "active_mtu:.*$(jq '.ports[0].qos.mtu.ib_min' "$BATS_TEST_TMPDIR/show")"
}

@test "show --yaml is a profile of the port as it is, applied or found" {
	on rocecheck apply lab --auto-approve --accept-unproven >/dev/null
	run -0 on bash -ec 'rocecheck show -i roce0 --yaml >/tmp/live.yaml
		rocecheck lint /tmp/live.yaml && rocecheck plan /tmp/live.yaml -i roce0 --exit-code'
	[[ $output == *"already matches"* ]]
	dirty
	run -1 on rocecheck plan /tmp/live.yaml -i roce0 --exit-code
	# What no profile may say stays in, and is complained of.
	on bash -ec 'rocecheck show -i roce0 --yaml >/tmp/dirty.yaml'
	on grep -q '^# RC-INP-028: link pause and PFC are both on' /tmp/dirty.yaml
	run -2 on rocecheck plan /tmp/dirty.yaml -i roce0 --exit-code
	on bash -ec 'ethtool -A roce0 rx off tx off; rocecheck show -i roce0 --yaml >/tmp/dirty.yaml
		rocecheck plan /tmp/dirty.yaml -i roce0 --exit-code'
	on bash -ec 'rocecheck apply /tmp/live.yaml -i roce0 --auto-approve --accept-unproven >/dev/null
		rocecheck plan lab --exit-code'
}

@test "a kept plan is applied if the host is as it was, and only then" {
	clean
	on rocecheck plan /tmp/small.yaml --out /tmp/plan.json >/dev/null
	on dcb pfc set dev roce0 prio-pfc 4:on
	run -3 on rocecheck apply /tmp/plan.json --auto-approve --accept-unproven
	[[ $output == *"roce0: pfc.enabled has changed since the plan was made"* ]]
	on dcb pfc set dev roce0 prio-pfc 4:off
	run -0 on rocecheck apply /tmp/plan.json --auto-approve --accept-unproven
	run -0 on rocecheck plan /tmp/small.yaml --exit-code
}

@test "rollback puts everything back, byte for byte" {
	dirty
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	on rocecheck apply /tmp/small.yaml --auto-approve --accept-unproven
	on /tmp/state >"$BATS_TEST_TMPDIR/after"
	run ! cmp -s "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	run -0 on rocecheck rollback
	[[ $output == *"is undone"* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
	run -0 on rocecheck rollback
	[[ $output == "Nothing to roll back"* ]]
	run -2 on rocecheck rollback 20000101-000000-00
}

# Killed before each of its system calls that change anything: files, directories, netlink sets.
@test "apply killed at any step is rolled back to the byte" {
	dirty
	on tee /tmp/kill-all >/dev/null <<-'EOF'
		#!/bin/bash
		# Prints one line for each point at which the state did not come back.
		/tmp/state >/tmp/before && grep -q '"prio_pfc"' /tmp/before || exit 1
		for ((n = 1; n < 400; n++)); do
			"$1" $n rocecheck apply /tmp/small.yaml --auto-approve --accept-unproven >/tmp/apply.log 2>&1
			killed=$?
			[ $killed = 1 ] || [ $killed = 0 ] || echo "killat failed at $n: $killed"
			rocecheck rollback >/tmp/rollback.log 2>&1 || { echo "rollback at $n: $?"; cat /tmp/rollback.log; }
			/tmp/state >/tmp/after || echo "no state at $n"
			cmp -s /tmp/before /tmp/after || { echo "at $n:"; diff /tmp/before /tmp/after; }
			rm -rf /var/lib/rocecheck/tx
			[ $killed = 0 ] || break
		done
		echo "points $n"
	EOF
	run -0 on bash /tmp/kill-all "$TOOLS/killat"
	echo "$output"
	[[ $output =~ ^points\ ([0-9]+)$ ]]
	[ "${BASH_REMATCH[1]}" -ge 20 ]
}

@test "what the NIC refuses is undone, exit 5" {
	dirty
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	on sh -c 'sed "s/6: strict/6: cbs/" /tmp/small.yaml >/tmp/cbs.yaml'
	run -5 on rocecheck apply /tmp/cbs.yaml --auto-approve --accept-unproven
	[[ $output == *"does not support this value"* ]]
	[[ $output == *"the host has its former settings"* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
	run -0 on rocecheck rollback --list
	[[ $output == *" undone"* ]]
}

@test "reading changes nothing: no DCB set, no configfs directory, no lldpad" {
	dirty
	for command in "show" "show -i eth0" "plan lab" "plan lab --json" "collect" "doctor --env"; do
		# shellcheck disable=SC2086
		run -0 on "$TOOLS/dcbmon" rocecheck $command
		[[ $output == *"changes 0" ]]
	done
	# And the listener does hear a change.
	run -0 on "$TOOLS/dcbmon" dcb pfc set dev roce0 prio-pfc 5:off
	[[ $output == *"changes 1" ]]
	[ -z "$(on ls /sys/kernel/config/rdma_cm)" ]
	run -1 on pidof lldpad
	run ! on test -e /var/lib/rocecheck/tx
}

@test "an unknown device, a netdev without DCB, nobody's rights" {
	clean
	run -3 on rocecheck show -i nope0
	[[ $output == *"'nope0': no such"* ]]
	run -3 on rocecheck plan lab -i nope0
	run -3 on rocecheck show -d nope_0
	run -0 on rocecheck show -i eth0
	[[ $output == *"no DCB"* && $output == *"unknown (the driver does not report it):"*"pfc.enabled"* ]]
	run -0 on rocecheck plan lab -i eth0
	[[ $output == *"! unsupported (the device does not offer it): "*"pfc.enabled"* ]]
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	run -3 on rocecheck apply lab -i eth0 --auto-approve --accept-unproven
	[[ $output == *"not supported on eth0"* ]]
	run -0 on setpriv --reuid 65534 --regid 65534 --clear-groups rocecheck plan lab
	run -3 on setpriv --reuid 65534 --regid 65534 --clear-groups rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"CAP_NET_ADMIN"* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
}

@test "nobody is asked off a terminal, and --dry-run stops after the plan" {
	clean
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	run -2 on rocecheck apply lab
	[[ $output == *"--auto-approve"* ]]
	run -0 on rocecheck apply lab --dry-run
	[[ $output == *"Nothing written."* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a DSCP with two priorities is not touched" {
	clean
	on dcb app add dev roce0 dscp-prio 26:3 26:5
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"DSCP 26 has priorities"* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a running lldpad stops apply" {
	clean
	on bash -c 'lldpad -d; until grep -q @/com/intel/lldpad$ /proc/net/unix; do sleep 0.1; done'
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"lldpad (pid "* ]]
	on rocecheck plan lab 2>&1 | grep -q 'warning: lldpad'
	on bash -c 'kill $(pidof lldpad); while pidof -q lldpad; do sleep 0.1; done; rm -f /dev/shm/lldpad.state'
	run -0 on rocecheck apply lab --auto-approve --accept-unproven
	on rocecheck rollback
}

@test "and so does what comes with the next boot, a timer's service and a connection with DCB" {
	local units=/etc/systemd/system

	clean
	on bash -ec 'mkdir -p "$1"/a.target.wants /lib/systemd/system; cd /lib/systemd/system
		[ -e lldpad.service ] || echo "[Unit]" >lldpad.service
		ln -s "$PWD/lldpad.service" "$1/a.target.wants/"' boot "$units"
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"lldpad is not running, but $units/a.target.wants/lldpad.service starts it at boot"* ]]
	on bash -ec 'rm "$1"/a.target.wants/*; cd "$1"; printf "[Timer]\nOnBootSec=1\n" >qos.timer
		printf "[Service]\nExecStart=mlnx_qos -i roce0 --pfc 0,0,0,1,0,0,0,0\n" >qos.service
		ln -s ../qos.timer a.target.wants/' timer "$units"
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"$units/a.target.wants/qos.timer runs mlnx_qos (in $units/qos.service)"* ]]
	on bash -ec 'rm -r "$1"/{qos.*,a.target.wants}; mkdir -p /etc/NetworkManager/system-connections
		printf "[connection]\nid=store\ninterface-name=roce0\n[dcb]\npriority-flow-control-flags=1\n" \
			>/etc/NetworkManager/system-connections/store
		cp "$(type -P sleep)" /tmp/NetworkManager
		/tmp/NetworkManager 600 </dev/null >/dev/null 2>&1 & echo $! >/run/nm.pid' nm "$units" 3>&-
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"NetworkManager connection 'store'"*"sets DCB whenever it comes up"* ]]
	on bash -ec 'kill "$(cat /run/nm.pid)"; rm -r /etc/NetworkManager /tmp/NetworkManager'
	run -0 on rocecheck apply lab --auto-approve --accept-unproven
	on rocecheck rollback
}

@test "two at once: the second waits for nobody" {
	clean
	# The first one stands still in its midst, before its last write; one that was through before it was seen there is undone and begins again.
	# shellcheck disable=SC2016 # for the guest's shell
	on bash -c 'held() {
			inode=$(stat -c %i /run/rocecheck/lock 2>/dev/null) && grep "OFDLCK.*:$inode " /proc/locks
		}
		for i in {1..10}; do
			rocecheck apply lab --auto-approve --accept-unproven </dev/null >/dev/null 2>&1 &
			until held >/dev/null || ! kill -0 $!; do :; done
			kill -STOP $! && echo $! >/run/first.pid && sleep 0.2 && held && ! rocecheck plan lab --exit-code >/dev/null && exit
			kill -CONT $!
			wait $!
			rocecheck rollback
		done
		exit 1'
	run -3 on rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *"another apply or rollback is running"* ]]
	# shellcheck disable=SC2016
	on timeout 60 bash -c 'kill -CONT $(</run/first.pid); while kill -0 $(</run/first.pid) 2>/dev/null; do sleep 0.1; done'
	on rocecheck rollback
}

@test "no room for the journal, a folder that is read only, a user namespace: nothing is written" {
	clean
	on /tmp/state >"$BATS_TEST_TMPDIR/before"
	on bash -c 'mkdir -p /run/full && mount -t tmpfs -o size=4k,mode=700 tmpfs /run/full && echo x >/run/full/x'
	run -3 on rocecheck apply lab --auto-approve --accept-unproven --state-dir /run/full
	[[ $output == *"No space left on device"* ]]
	on mount -o remount,ro /run/full
	run -3 on rocecheck apply lab --auto-approve --accept-unproven --state-dir /run/full
	[[ $output == *"Read-only file system"* ]]
	on umount /run/full
	run -3 on unshare --user --map-root-user rocecheck apply lab --auto-approve --accept-unproven
	[[ $output == *permit* || $output == *"CAP_NET_ADMIN"* ]]
	on /tmp/state | diff "$BATS_TEST_TMPDIR/before" -
}
