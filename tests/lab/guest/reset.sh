#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# reset.sh WIRES BOND [PARAM=VALUE...]: this guest as after a boot, in a second: nothing of the past
# runs or is stored, NICs and Soft-RoCE are new (see raise_nics in nic.sh). 0 wires leave it without
# a NIC. Spared are the ways in: sshd, and shells on a terminal.
. /run/lab/env # HOST NUMBER RATE
. /run/lab/nic.sh
shopt -s nullglob dotglob

fail()
{
	echo "$*" >&2
	exit 1
}

# What runs and should not, in the array `left`: not the kernel's threads (of 2), not the sessions of
# process 1 (0) and of this script. linux Documentation/filesystems/proc.rst, table 1-4.
find_processes()
{
	local path pid name state parent session tty own

	left=()
	read -r _ _ _ _ _ own _ <"/proc/$$/stat"
	for path in /proc/[0-9]*; do
		read -r pid name 2>/dev/null <"$path/stat" || continue # just ended
		read -r state parent _ session tty _ <<<"${name##*) }"
		name=${name%)*}
		name=${name#(}
		if ((parent == 2 || session == 0 || session == own)) ||
			[[ $state == [ZX] || $name == sshd || $name == bash && $tty != 0 ]]; then
			continue
		fi
		left+=("$pid $name")
	done
}

# A process with a queue pair may be long in its end, and its RDMA device cannot go before.
end_processes()
{
	local left deadline=$((SECONDS + 20))

	find_processes
	while [ ${#left[@]} -gt 0 ]; do
		[ $SECONDS -lt $deadline ] || fail "does not end: ${left[*]}"
		kill -KILL "${left[@]%% *}" 2>/dev/null
		sleep 0.05
		find_processes
	done
}

# NICs go with their module, and Soft-RoCE with the NICs.
remove_nics()
{
	local path modules=()

	for path in /sys/kernel/config/rdma_cm/*/; do
		try rmdir "$path"
	done
	for path in /sys/class/net/*/; do
		path=${path%/}
		path=${path##*/}
		[[ $path =~ ^(lo|mgmt0|eth[01]|roce[01])$ ]] ||
			ip link delete "$path" 2>/dev/null # or it went with another
	done
	for path in labnic rdma_rxe bonding; do
		[ ! -d /sys/module/$path ] || modules+=("$path")
	done
	[ ${#modules[@]} = 0 ] || try rmmod "${modules[@]}"
	for path in /sys/class/net/eth[01]; do
		# Qdiscs that are modules are none of the kernel's own accord.
		[ -z "$(echo /sys/module/sch_*)" ] || tc qdisc delete dev "${path##*/}" root 2>/dev/null
	done
	[ ! -d /sys/class/net/eth1 ] || try ip link set eth1 down
}

remove_files()
{
	local found=({/var/lib/rocecheck,/var/lib/lldpad,/dev/shm,/tmp,/var/tmp}/*)

	[ ${#found[@]} = 0 ] || try rm -rf "${found[@]}"
}

end_processes
dmesg -C
remove_nics
remove_files
try cp -pu /rocecheck/build/rocecheck /run/lab/rocecheck # starts sooner than over 9p
[ "$1" = 0 ] || raise_nics "$@"
