# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# lldpad in the guests, profiles that go through it, and the views of it that lldptool, dcb and the switch have.
# For bats files that have loaded guests.

# agent HOST: lldpad from the beginning, as after its installation.
agent()
{
	on "$1" timeout 60 bash -ec 'end_agent() { kill $(pidof lldpad); while pidof -q lldpad; do sleep 0.1; done; }
		pidof -q lldpad && end_agent
		rm -f /dev/shm/lldpad.state /var/lib/lldpad/lldpad.conf
		lldpad -d
		# It listens only, until it has heard a neighbour with DCBX.
		until lldptool -t -i roce0 -V PFC 2>/dev/null | grep -q Willing; do sleep 0.2; done'
}

no_agent()
{
	on "$1" timeout 60 bash -ec 'pidof -q lldpad || exit 0
		kill $(pidof lldpad)
		while pidof -q lldpad; do sleep 0.1; done
		rm -f /dev/shm/lldpad.state'
}

# profile HOST: what is on standard input, after what all have in common.
profile()
{
	local text

	text=$(printf 'schema: rocecheck.profile/1\nname: agent\nintent: lossless\n' && cat)
	on "$1" sh -c 'printf "%s\n" "$1" >/run/agent.yaml' sh "$text"
}

# Sends all it has, and takes nothing.
speaker()
{
	profile "$1" <<-EOF
		dcbx: {agent: lldpad, advertise: [ets_cfg, ets_rec, pfc, app]${2:-}}
		trust: dscp
		app: {dscp: {26: 3, 48: 6}, udp: {4791: 3}}
		ets: {prio_tc: {3: 3, 6: 6}, tc_tsa: {0: ets, 3: ets, 6: strict}, tc_tx_bw: {0: 40, 3: 60}}
		pfc: {enabled: [3]}
		link_pause: {rx: off, tx: off}
	EOF
}

# apply HOST [OPTION...]
apply()
{
	local host=$1

	shift
	on "$host" timeout 120 rocecheck apply /run/agent.yaml -i roce0 --auto-approve --accept-unproven "$@"
}

# config HOST: what lldpad was told about roce0, but for PFC: its answer breaks the rules of its own protocol, so that
# lldptool prints nothing.
config()
{
	on "$1" bash -c 'lldptool -l -i roce0 adminStatus
		for tlv in ETS-CFG ETS-REC APP; do lldptool -t -i roce0 -V $tlv -c; done'
}

# tlvs HOST: what lldpad says of ETS, PFC and APP. It has no shares before the first are set, and takes none that do
# not sum up to 100 after it; of strict classes they say nothing.
tlvs()
{
	on "$1" bash -c 'lldptool -l -i roce0 adminStatus
		for tlv in ETS-CFG ETS-REC PFC APP; do lldptool -t -i roce0 -V $tlv; done' | grep -v 'bandwidth'
}

# kernel HOST: ETS, PFC and APP as dcb has them.
kernel()
{
	on "$1" bash -c 'for object in ets pfc app; do dcb -j $object show dev roce0; echo; done' |
		jq -cS 'del(.requests, .indications)'
}

# heard PORT FILTER: once the switch has heard that of the host on a port.
heard()
{
	local i

	for ((i = 0; i < 100; i++)); do
		lab switch '{"op": "stats"}' | jq -e ".switches.leaf1.ports.$1.neighbour | $2" >/dev/null && return
		sleep 0.2
	done
	lab switch '{"op": "stats"}' | jq -c ".switches.leaf1.ports.$1.neighbour"
	return 1
}

# has HOST OBJECT FILTER: once dcb has it in the kernel.
has()
{
	local i

	for ((i = 0; i < 100; i++)); do
		on "$1" dcb -j "$2" show dev roce0 | jq -e "$3" >/dev/null && return
		sleep 0.2
	done
	on "$1" dcb "$2" show dev roce0
	return 1
}
