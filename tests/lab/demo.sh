#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on two lab hosts behind an emulated lossless switch: a shipped profile is applied to both, RDMA
# traffic runs between them, fills their links, and one verdict comes out: is the fabric lossless?
#   tests/lab/demo.sh [FAULT...]
# FAULT sets one thing wrongly on h2 after the profile was applied, and links are not filled then; several are
# played in turn, and leave their files under build/demo/FAULT/. JSON, text, JUnit and the captures are left under build/demo/. The lab is stopped
# whatever happens. The exit code is validate's, of several the last one that is not 0.
set -eu
cd "$(dirname "$0")/../.."
lab=tests/lab/lab
demo=build/demo
[ $# -gt 0 ] || set -- ''
export LAB_DIR=${LAB_DIR:-$PWD/build/lab}

# What an operator would do by hand: other people's tools, on h2 alone.
inject() {
	tos=/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos
	case $1 in
	pfc-mask) set -- dcb pfc set dev roce0 prio-pfc all:off 4:on ;;
	dscp-map) set -- dcb app replace dev roce0 dscp-prio 26:0 ;;
	ets) set -- dcb ets set dev roce0 tc-bw 0:90 3:10 ;;
	mtu) set -- ip link set dev roce0 mtu 1500 ;;
	cm-tos) set -- sh -c "echo 42 >$tos" ;; # DSCP 10, ECT(0)
	ecn-off) set -- sh -c "echo 104 >$tos" ;; # DSCP 26, Not-ECT
	*)
		echo "demo: unknown FAULT '$1'; one of: pfc-mask dscp-map ets mtu cm-tos ecn-off" >&2
		exit 2
		;;
	esac
	echo "== h2: $*"
	$lab run h2 -- "$@"
}

for fault; do # known before two hosts are started for it
	case $fault in
	'' | pfc-mask | dscp-map | ets | mtu | cm-tos | ecn-off) ;;
	*) inject "$fault" ;; # names the words
	esac
done

trap '$lab down >/dev/null 2>&1 || true' EXIT
trap 'exit 130' INT TERM
rm -rf "$demo"
mkdir -p "$demo" && chmod go-w "$demo"

fabric=tests/lab/fabric.yaml
if [ "$LAB_DIR" != "$PWD/build/lab" ]; then # beside another lab: the inventory with its ssh_config
	sed "s#\.\./\.\./build/lab#$LAB_DIR#" "$fabric" >"$LAB_DIR.yaml"
	fabric=$LAB_DIR.yaml
fi

# play FAULT OUT: the profile on both hosts, the fault on h2, and the verdict, whose exit code it returns.
play() {
	local rc=0 maintenance=(--maintenance 3)

	[ -z "$1" ] || maintenance=()
	for host in h1 h2; do
		echo "== $host: rocecheck apply lab"
		$lab run "$host" -- rocecheck apply lab --auto-approve
	done
	[ -z "$1" ] || inject "$1"
	echo "== rocecheck validate $fabric ${maintenance[*]}"
	build/rocecheck validate "$fabric" --out "$2" "${maintenance[@]}" || rc=$?
	echo "== $2: $(cd "$2" && ls -d -- * captures/* 2>/dev/null | tr '\n' ' ')"
	return "$rc"
}

echo "== two lab hosts on an emulated switch"
$lab up tests/lab/topologies/demo.yaml
code=0
for fault; do
	rc=0
	out=$demo
	if [ $# -gt 1 ]; then
		out=$demo/$fault
		mkdir "$out" && chmod go-w "$out"
	fi
	play "$fault" "$out" || rc=$?
	[ $# -eq 1 ] || echo "== $fault: exit $rc"
	[ "$rc" -eq 0 ] || code=$rc
done
exit "$code"
