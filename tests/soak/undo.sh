#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Transactions that nobody confirms, with the tool, its dead-man or both killed at random: the settings before come
# back every time. Where both are gone it is the boot that undoes; the reboot is played by another boot id.
#   tests/soak/undo.sh [RUNS]
# A run counts when the port was written to: of those that were killed before, the settings are looked at all the same.
# State folders on ext4, btrfs, xfs, tmpfs and overlayfs, each in namespaces of its own with a veth as the port.
# Exit 0: all were as before. Exit 1: one was not; its state folder and the talk are kept under build/soak/undo/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${1:-200}
kept=$PWD/build/soak/undo
kinds=(ext4 btrfs xfs tmpfs overlay)
export rc=$PWD/build/rocecheck killat=$PWD/build/tools/killat
[ "$(id -u)" = 0 ] || { echo "undo: not root: no namespaces here"; exit 77; }
tmp=$(mktemp -d /tmp/rocecheck-undo.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
rm -rf "$kept"
mkdir -p "$kept"

# In the namespaces: KIND RUNS FOLDER KEPT.
cat >"$tmp/runs" <<'END'
set -euo pipefail
kind=$1 runs=$2 kept=$4
cd "$3"

# Processes of the program in this network namespace.
ours()
{
	local pid mine

	mine=$(readlink /proc/self/ns/net)
	for pid in $(pgrep -x rocecheck); do
		[ "$(readlink "/proc/$pid/ns/net")" != "$mine" ] || echo "$pid"
	done
}

# Those that have the state folder open where a dead-man has it.
deadman()
{
	local pid

	for pid in $(ours); do
		[ "$pid" = "${tool:-}" ] || [[ $(readlink "/proc/$pid/fd/4") != */fs/state ]] || echo "$pid"
	done
}

mtu()
{
	cat /sys/class/net/v0/mtu
}

# Until the dead-men have gone, and so have done what they do.
settled()
{
	local end=$((SECONDS + 30))

	while [ -n "$(ours)" ] && [ $SECONDS -lt $end ]; do
		sleep 0.1
	done
}

nap()
{
	sleep "0.$(printf %03d $((RANDOM % $1)))"
}

options=(apply mtu.yaml -i v0 --auto-approve --accept-unproven --accept-disruption --confirm-within 2s --settle 1s
	--state-dir fs/state)

# one VICTIM: an apply with it killed somewhere.
one()
{
	local pid

	case $1 in
	tool-at)
		# At one of its calls that change something.
		"$killat" $((RANDOM % 24 + 1)) "$rc" "${options[@]}" >said 2>&1 || true
		return ;;
	esac
	"$rc" "${options[@]}" >said 2>&1 &
	tool=$!
	if [ "$1" = tool ]; then
		nap 999
		kill -KILL $tool 2>/dev/null || true
	else
		until [ -n "$(deadman)" ] || [ ! -e /proc/$tool ]; do :; done
		nap 600
		[ "$1" != both ] || kill -KILL $tool 2>/dev/null || true
		for pid in $(deadman); do kill -KILL "$pid" 2>/dev/null || true; done
	fi
	[ "$1" != deadman ] || [ ! -e /proc/$tool ] || early=$((early + 1))
	wait $tool 2>/dev/null || true
	tool=
}

mount -t sysfs none /sys
mount -t tmpfs none /run
ip link add v0 type veth peer name v1
ip link set v0 up && ip link set v1 up
# Every change of the port, as the kernel reports it.
ip -o monitor link dev v0 >changes &
monitor=$!
trap 'kill $monitor' EXIT
mkdir fs
case $kind in
tmpfs)
	mount -t tmpfs none fs ;;
overlay)
	mkdir low up
	mount -t tmpfs none low
	mount -t tmpfs none up
	mkdir up/u up/w
	mount -t overlay none -o lowerdir=low,upperdir=up/u,workdir=up/w fs ;;
*)
	truncate -s 320M image
	"mkfs.$kind" -q image >mkfs 2>&1
	mount -o loop image fs ;;
esac
printf '%s\n' "schema: rocecheck.profile/1" "name: undo" "intent: lossy" "mtu: {netdev: 9000}" >mtu.yaml
cat /proc/sys/kernel/random/boot_id >boot_id
mount --bind boot_id /proc/sys/kernel/random/boot_id
victims=(tool tool-at deadman both)
bad=0 boots=0 early=0 written=0
for ((i = 0; written < runs && i < 10 * runs; i++)); do
	victim=${victims[i % ${#victims[@]}]}
	before=$((1400 + RANDOM % 2000))
	ip link set v0 mtu $before
	changes=$(wc -l <changes)
	one "$victim"
	[ "$victim" = both ] || settled
	if [ "$(mtu)" != $before ] && { [ "$victim" = both ] || { [ "$victim" = deadman ] && grep -q "rocecheck undoes this at" said; }; }; then
		# Nobody is left who could.
		for pid in $(ours); do kill -KILL "$pid" 2>/dev/null || true; done
		cat /proc/sys/kernel/random/uuid >boot_id
		boots=$((boots + 1))
		"$rc" apply --last --boot --state-dir fs/state >>said 2>&1 || echo "boot: exit $?" >>said
	fi
	settled
	! tail -n +$((changes + 1)) changes | grep -q "mtu 9000 " || written=$((written + 1))
	if [ "$(mtu)" != $before ]; then
		bad=$((bad + 1))
		echo "$kind run $i, $victim killed: MTU $(mtu), not $before"
		mkdir -p "$kept/$kind-$i"
		cp -a fs/state said "$kept/$kind-$i/"
		"$rc" rollback --state-dir fs/state >/dev/null 2>&1 || true
	fi
	# The next one begins with the transactions of all before it.
	"$rc" rollback --list --state-dir fs/state >list 2>&1 || true
done
echo "$kind: $((i - bad)) of $i as before, $written of them after a write, $boots of them by the boot; $early dead-men were killed before their tool had ended;" \
	"$(grep -c undone list || true) undone in the journals"
umount fs
[ $bad = 0 ] && [ $written = "$runs" ]
END

pids=()
for n in "${!kinds[@]}"; do
	kind=${kinds[n]}
	mkdir "$tmp/$kind"
	share=$(((runs + ${#kinds[@]} - 1 - n) / ${#kinds[@]}))
	unshare -m -n --propagation private bash "$tmp/runs" "$kind" "$share" "$tmp/$kind" "$kept" 2>"$tmp/$kind/errors" &
	pids+=($!)
done
code=0
for pid in "${pids[@]}"; do
	wait "$pid" || code=1
done
grep -hv ": line [0-9]*: .* Killed " "$tmp"/*/errors || true
echo "undo: $runs transactions with a write in $SECONDS s$([ $code = 0 ] && echo ", all as before" || echo ": NOT ALL AS BEFORE, see $kept")"
exit $code
