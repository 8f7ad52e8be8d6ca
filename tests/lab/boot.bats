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
