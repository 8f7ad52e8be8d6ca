# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How a bats file makes h1's NIC one of a driver, and what dcb, ethtool and the driver itself say then.

# become PERSONALITY [PARAMETER...]: h1's NIC anew, without Soft-RoCE.
become()
{
	local who=$1

	shift
	on h1 timeout 60 bash -ec 'rmmod labnic; insmod /run/lab/labnic.ko personality="$@"
		ip link set roce0 mtu 4200 up; ip address add 198.18.0.1/24 dev roce0
		for i in {1..50}; do [ $(</sys/class/net/roce0/carrier) = 1 ] && break; sleep 0.1; done' \
		become "$who" "$@"
}

# denied WHY COMMAND...: dcb says that the driver refused.
denied()
{
	local why=$1

	shift
	run on h1 dcb "$@"
	[[ $output == *"$why"* ]] || { echo "dcb $*: $output"; return 1; }
}

# unchanged OBJECT COMMAND...: dcb of Debian 12 does not always say that the driver refused ETS or
# PFC, so that what is read counts.
unchanged()
{
	local before

	before=$(on h1 dcb "$1" show dev roce0)
	run on h1 dcb "$@"
	[ "$(on h1 dcb "$1" show dev roce0)" = "$before" ] || { echo "taken: dcb $*"; return 1; }
}

# taken COMMAND...: dcb says no error; of ETS and PFC it may, though nothing is wrong: once more.
taken()
{
	local i

	for i in 1 2 3; do
		[ $i = 1 ] || echo "# retried: dcb $*: ${output%%$'\n'*}" >&3
		run on h1 dcb "$@"
		[ -n "$output" ] || return 0
	done
	echo "dcb $*: $output"
	return 1
}

# shows OBJECT TEXT: what dcb reads has it.
shows()
{
	run on h1 dcb "$1" show dev roce0
	[[ $output == *"$2"* ]] || { echo "dcb $1 show: $output"; return 1; }
}

# answers N REQUEST...: the driver's own answer (tools/dcbraw).
answers()
{
	local want=$1

	shift
	run -0 on h1 /rocecheck/build/tools/dcbraw roce0 "$@"
	[ "$output" = "$want" ] || { echo "$*: $output"; return 1; }
}

# stat NAME: what ethtool -S of h1 has.
stat()
{
	on h1 ethtool -S roce0 | awk -v name="$1:" '$1 == name { print $2 }'
}

driver_is()
{
	on h1 ethtool -i roce0 | grep -qx "driver: $1"
	[ "$(on h1 readlink /sys/class/net/roce0/device/driver)" != "" ]
	[ "$(on h1 sh -c 'basename $(readlink /sys/class/net/roce0/device/driver)')" = "$1" ]
}

has_statistics()
{
	local name

	on h1 ethtool -S roce0 | awk -F '[ ]+' 'NF > 2 { sub(/:$/, "", $2); print $2 }' \
		>"$BATS_TEST_TMPDIR/names"
	for name in "$@"; do
		grep -qx "$name" "$BATS_TEST_TMPDIR/names" || { echo "no $name"; return 1; }
	done
}

# downs: how often the carrier went off.
downs()
{
	on h1 cat /sys/class/net/roce0/carrier_down_count
}
