#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on two lab hosts: a shipped profile is applied to both, RDMA traffic runs between them,
# and one verdict comes out.
#   tests/lab/demo.sh [FAULT]
# FAULT sets one thing wrongly on h2 after the profile was applied. JSON, text, JUnit and the captures
# are left under build/demo/. The lab is stopped whatever happens. The exit code is validate's.
set -eu
cd "$(dirname "$0")/../.."
lab=tests/lab/lab
out=build/demo
fault=${1:-}
export LAB_DIR=${LAB_DIR:-$PWD/build/lab}

# Rules of severity error that two hosts on a direct wire cannot decide, each for the reason that
# tests/lab/demo.expected states.
allow=(RC-PFC-004 RC-PFC-010)

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

case $fault in # known before two hosts are started for it
'' | pfc-mask | dscp-map | ets | mtu | cm-tos | ecn-off) ;;
*) inject "$fault" ;; # names the words
esac

trap '$lab down >/dev/null 2>&1 || true' EXIT
trap 'exit 130' INT TERM
rm -rf "$out"
mkdir -p "$out" && chmod go-w "$out"

echo "== two lab hosts"
$lab up
for host in h1 h2; do
	echo "== $host: rocecheck apply lab"
	$lab run "$host" -- rocecheck apply lab --auto-approve --accept-unproven
done
[ -z "$fault" ] || inject "$fault"

fabric=tests/lab/fabric.yaml
if [ "$LAB_DIR" != "$PWD/build/lab" ]; then # beside another lab: the inventory with its ssh_config
	sed "s#\.\./\.\./build/lab#$LAB_DIR#" "$fabric" >"$LAB_DIR/fabric.yaml"
	fabric=$LAB_DIR/fabric.yaml
fi
echo "== rocecheck validate $fabric"
set +e
build/rocecheck validate "$fabric" --out "$out" "${allow[@]/#/--allow-inconclusive=}"
rc=$?
set -e
echo "== $out: $(cd "$out" && ls -d -- * captures/* 2>/dev/null | tr '\n' ' ')"
exit "$rc"
