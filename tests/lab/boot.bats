#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest whose process 1 is systemd, with what `make install` installs: settings come back
# after a driver's reload, lldpad is not woken, and a login that ends does not end the
# process that undoes what nobody confirmed. The oracles are dcb, systemctl and the kernel's list of sockets.
# Runs from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
. tests/lab/guests.bash

setup_file()
{
	export LAB_DIR=${LAB_DIR:-$PWD/build/lab-boot} LAB_INIT=systemd
	lab down
	rm -rf "$LAB_DIR/h1.disk"
	mkdir -p "$LAB_DIR/h1.disk"
	make -s install DESTDIR="$LAB_DIR/h1.disk/install"
	lab up 1
	on h1 systemctl is-active lab-ready.service
}

teardown_file()
{
	lab down
}

pfc()
{
	on h1 dcb -j pfc show dev roce0 | jq -c '[."prio-pfc" // .prio_pfc | .[]] | map(if . then 1 else 0 end)'
}

# soon SECONDS COMMAND...: until it succeeds in the guest.
soon()
{
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return
		sleep 0.5
	done
}

lossless()
{
	[ "$(pfc)" = "[0,0,0,1,0,0,0,0]" ]
}

lossy()
{
	[ "$(pfc)" = "[0,0,0,0,0,0,0,0]" ]
}

@test "lldpad's socket is listened for, and apply does not wake it" {
	on h1 grep -q '@/com/intel/lldpad$' /proc/net/unix
	on h1 systemctl is-active lldpad.socket
	on h1 rocecheck plan lab
	run -3 on h1 systemctl is-active lldpad.service
	# Whether it goes on or stops is the owner's rule; it must not have started the daemon.
	on h1 rocecheck apply lab --auto-approve --accept-unproven ||:
	run -3 on h1 systemctl is-active lldpad.service
	on h1 systemctl disable --now lldpad.socket
	on h1 rocecheck apply lab --auto-approve --accept-unproven
	lossless
}

@test "a login that ends before it confirms: what it applied is undone" {
	on h1 dcb pfc set dev roce0 prio-pfc 3:off
	lossy
	ssh -F "$LAB_DIR/ssh_config" -o ControlPath=none h1 \
		rocecheck apply lab --auto-approve --accept-unproven --confirm-within 8s
	lossless
	soon 30 lossy
	on h1 rocecheck apply lab --auto-approve --accept-unproven
	lossless
}

@test "a driver that is loaded again has its settings again" {
	on h1 bash -ec '. /run/lab/env; rdma link del rxe0; rmmod labnic
		insmod /run/lab/labnic.ko lower=eth0 name=roce0 rate=$RATE
		rdma link add rxe0 type rxe netdev roce0'
	soon 40 lossless
	on h1 journalctl -u rocecheck-apply@roce0 --no-pager | grep 'roce0: profile lab: applied'
}

@test "a port whose name has a '-' has its settings again; one of which nothing is kept starts no unit" {
	on h1 sh -ec 'printf "schema: rocecheck.profile/1\nname: big\nintent: lossy\nmtu: {netdev: 4200}\n" >/tmp/big.yaml
		ip link add veth-1 type veth peer name veth-2
		rocecheck apply /tmp/big.yaml -i veth-1 --auto-approve --accept-unproven
		[ "$(cat /sys/class/net/veth-1/mtu)" = 4200 ]
		ip link del veth-1
		ip link add veth-1 mtu 1500 type veth peer name veth-2'
	soon 40 on h1 grep -x 4200 /sys/class/net/veth-1/mtu
	on h1 journalctl -u rocecheck-apply@veth-1 --no-pager | grep 'veth-1: profile big: applied'
	# The one was started, the other never.
	[ -n "$(on h1 systemctl show -P InactiveExitTimestamp rocecheck-apply@veth-1)" ]
	[ -z "$(on h1 systemctl show -P InactiveExitTimestamp rocecheck-apply@veth-2)" ]
	on h1 sh -c 'ip link del veth-1; rm /var/lib/rocecheck/last/veth-1*'
}

@test "the units run as they are bounded: one reports drift, the other puts it back" {
	on h1 systemctl start rocecheck-watch
	soon 20 sh -c 'tests/lab/lab run h1 -- journalctl -u rocecheck-watch -o cat --no-pager | grep "baseline"'
	on h1 dcb pfc set dev roce0 prio-pfc 3:off
	soon 20 sh -c 'tests/lab/lab run h1 -- journalctl -u rocecheck-watch -o cat --no-pager | grep -i drift'
	lossy
	on h1 systemctl start rocecheck-repair
	run -3 on h1 systemctl is-active rocecheck-watch
	soon 20 lossless
	on h1 dcb pfc set dev roce0 prio-pfc 3:off
	soon 20 lossless
	on h1 systemctl stop rocecheck-repair
	run on h1 journalctl --no-pager -o cat -u rocecheck-watch -u rocecheck-repair
	[[ $output != *"not permitted"* && $output != *"Read-only"* ]] || { echo "$output"; return 1; }
}

@test "systemd finds nothing wrong with the units" {
	run -0 on h1 systemd-analyze verify --man=no /usr/local/lib/systemd/system/rocecheck-{apply,apply@roce0,watch,repair}.service
	[ -z "$output" ] || { echo "$output"; return 1; }
}

@test "after a reboot the profile is in force before there is a network" {
	local units="$LAB_DIR/h1.disk/install/etc/systemd/system" boots id

	# What a host keeps on its disk: lldpad off, our unit on.
	mkdir -p "$units/multi-user.target.wants"
	ln -sf /dev/null "$units/lldpad.socket"
	ln -sf /usr/local/lib/systemd/system/rocecheck-apply.service "$units/multi-user.target.wants/"
	on h1 rocecheck apply lab --auto-approve --accept-unproven
	lossless
	id=$(on h1 cat /proc/sys/kernel/random/boot_id)
	boots=$(grep -c LAB-READY "$LAB_DIR/h1.log")
	on h1 systemctl reboot || true
	ssh -F "$LAB_DIR/ssh_config" -O exit h1 2>/dev/null || true
	until [ "$(grep -c LAB-READY "$LAB_DIR/h1.log")" -gt "$boots" ]; do
		[ $SECONDS -lt 600 ] || return
		sleep 0.5
	done
	[ "$(on h1 cat /proc/sys/kernel/random/boot_id)" != "$id" ]
	lossless
	on h1 rocecheck plan lab --exit-code
	on h1 journalctl -b -u rocecheck-apply --no-pager | grep 'roce0: profile lab: applied'
	run on h1 sh -c 'for unit in rocecheck-apply.service lab-network.service; do
		systemctl show --value -p ActiveEnterTimestampMonotonic $unit; done'
	[ "${lines[0]}" -gt 0 ] && [ "${lines[0]}" -lt "${lines[1]}" ] || { echo "$output"; return 1; }
}
