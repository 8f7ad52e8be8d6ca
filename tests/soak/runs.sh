#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A hundred probes between two hosts to which nothing happens: each has to be a PASS.
#   tests/soak/runs.sh [RUNS]      LAB_KERNEL as for the lab
# Exit 0: they were. Exit 1: one was not, or the switch lost a packet; the document and the talk of that run are kept
# under build/soak/runs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/lab/guests.bash
. tests/lab/guests.bash
# shellcheck source=tests/lab/probe.bash
. tests/lab/probe.bash

runs=${1:-100}
export LAB_DIR=${LAB_DIR:-$PWD/build/soak-runs-lab}
kept=build/soak/runs
# Every mode, with the verbs that it has; the priority with PFC and the one without. With PFC paced to less than an
# emulated host takes: a host that is paused half of the time is told, with reason.
kinds=(
	"-D 1"
	"-D 1 --verb read"
	"-D 2 --verb send"
	"-D 2 --tos 104 --rate 4M -q 2 -s 16KiB --check every"
	"-D 1 --verb send -b"
	"-D 2 --mode strict"
	"-D 1 --mode strict --verb read --tos 104 --rate 4M -s 16KiB"
	"-D 1 --mode strict -s 1024"
	"-D 1 --mode count -c UD --verb send -s 2048 --rate 8M"
	"-D 1 --mode count -c UC --verb send -s 2048 --rate 8M --tos 104"
)
declare -A counts=()
code=0
trap 'lab down' EXIT

# waited: ms that the guests have been ready to run, and no core was free. A pace that is not reached, and a process that
# is not there in time, are this machine's doing then.
waited()
{
	local pid

	for pid in "$LAB_DIR"/h?.pid; do
		cat /proc/"$(<"$pid")"/task/*/schedstat
	done | awk '{ ns += $2 } END { printf "%d", ns / 1e6 }'
}

# one NUMBER OPTIONS: a probe, and the line of it.
one()
{
	local name begin=$SECONDS before verdict exit=0 server=0

	before=$(waited)
	name=$kept/$(printf '%03d' "$1")
	serve || { echo "run $1: no server" && on h2 cat /tmp/probe.out; } || true
	probe "$2" >"$name.json" 2>"$name.err" || exit=$?
	served 0 >"$name.server" || server=$?
	verdict=$(jq -r '.verdict.verdict // "NONE"' "$name.json" 2>/dev/null) || true
	verdict=${verdict:-NONE}
	counts[$verdict]=$((${counts[$verdict]:-0} + 1))
	echo "run $1: $verdict, $((SECONDS - begin)) s (guests waited $(($(waited) - before)) ms for a core), probe $2"
	if [ "$verdict" = PASS ] && [ $exit = 0 ] && [ $server = 0 ]; then
		rm "$name".{json,err,server}
		return
	fi
	code=1
	echo "run $1: exit $exit, $name.*:"
	jq -r '.why // empty, (.verdict.reasons[]? | "  \(.verdict) \(.reason): \(.text)")' "$name.json" || true
	cat "$name.err" "$name.server"
	nothing_left
}

rm -rf "$kept"
mkdir -p "$kept"
lab down
lab up tests/lab/topologies/two.yaml
for host in h1 h2; do
	on $host rocecheck apply lab --auto-approve --accept-unproven >/dev/null 2>&1
done
for ((i = 1; i <= runs; i++)); do
	one $i "${kinds[(i - 1) % ${#kinds[@]}]}"
done
for verdict in "${!counts[@]}"; do
	echo "runs: ${counts[$verdict]} $verdict"
done
lost=$(lab switch '{"op": "stats"}' | jq '[.switches[].ports[].prio[].dropped] | add')
if [ "$lost" != 0 ]; then
	echo "runs: the switch dropped $lost packets: this was no clean fabric"
	code=1
fi
echo "runs: $runs in $SECONDS s$([ $code = 0 ] || echo ", not all a PASS")"
exit $code
