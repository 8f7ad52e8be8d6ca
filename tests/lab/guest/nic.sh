# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest's lab NICs and Soft-RoCE on them, made alike when it boots (start.sh) and when it is reset
# (reset.sh). Sourced; NUMBER and RATE are of /run/lab/env, `fail` is what the caller does when a
# command failed. Few processes: an emulated guest needs 60 ms for each.

try()
{
	"$@" || fail "$*"
}

# links LINE...: commands of ip, by one process.
links()
{
	local said

	said=$(printf '%s\n' "$@" | ip -batch - 2>&1) || fail "ip: $said"
}

# What the module says of a parameter it does not take is in the kernel's log alone.
load_nic()
{
	insmod /run/lab/labnic.ko "$@" || fail "insmod labnic.ko $*: $(dmesg | grep labnic | tail -n1)"
}

load_rdma()
{
	local module missing=()

	for module in configfs ib_uverbs rdma_cm rdma_ucm crc32_generic rdma_rxe; do
		[ -d "/sys/module/$module" ] || missing+=("$module")
	done
	[ ${#missing[@]} = 0 ] || try modprobe -a "${missing[@]}"
	[ -d /sys/kernel/config/rdma_cm ] || try mount -t configfs configfs /sys/kernel/config
}

# Each NIC is a rail of its own: an address and an RDMA device.
raise_rails()
{
	local n lines=()

	for ((n = 0; n < $1; n++)); do
		# Frames of the wire are the NIC's: nothing of the host speaks on eth0 itself.
		echo 1 >"/proc/sys/net/ipv6/conf/eth$n/disable_ipv6"
		lines+=("link set eth$n up" "link set roce$n mtu 4200 up"
			"address add 198.18.$n.$NUMBER/24 dev roce$n")
	done
	links "${lines[@]}"
	for ((n = 0; n < $1; n++)); do
		try rdma link add "rxe$n" type rxe netdev "roce$n"
	done
}

# Two NICs as one: no address and no RDMA device on the NICs themselves.
raise_bond()
{
	local mode=$1

	echo 1 | tee /proc/sys/net/ipv6/conf/eth[01]/disable_ipv6 >/dev/null
	try modprobe bonding max_bonds=0
	links "link set eth0 up" "link set eth1 up" \
		"link add bond0 type bond mode $mode miimon 50 xmit_hash_policy layer3+4" \
		"link set roce0 master bond0" "link set roce1 master bond0" "link set bond0 mtu 4200 up" \
		"address add 198.18.0.$NUMBER/24 dev bond0"
	try rdma link add rxe0 type rxe netdev bond0
}

# raise_nics WIRES BOND [PARAM=VALUE...]: NICs on so many wires, bonded in a mode of `ip link` or
# not (-), with parameters of the module.
raise_nics()
{
	local wires=$1 bond=$2 of_two=

	shift 2
	[ "$wires" -lt 2 ] || of_two=yes
	load_nic "lower=eth0${of_two:+,eth1}" "name=roce0${of_two:+,roce1}" "rate=$RATE" "$@"
	load_rdma
	if [ "$bond" = - ]; then
		raise_rails "$wires"
	else
		raise_bond "$bond"
	fi
}
