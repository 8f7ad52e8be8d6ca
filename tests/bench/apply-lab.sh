#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an apply costs beside the same work by the tools that come with Linux, in a guest of the lab: read
# everything, set everything with a look behind each setting, read everything again. Both sides in
# turn, RUNS times, from the same state. Processor time is the median of the ratios; netlink messages are
# counted once. One line a figure: NAME VALUE UNIT TARGET ok|short; exit 1 when one is short.
set -euo pipefail

export LAB_DIR=${LAB_DIR:-$PWD/build/lab-bench}
runs=${RUNS:-5}

lab()
{
	tests/lab/lab "$@" 3>&-
}

trap 'lab down >/dev/null 2>&1 || true' EXIT
lab down >/dev/null 2>&1 || true
lab up 1 >&2
lab run h1 -- tee /run/tools >/dev/null <<'END'
#!/bin/bash
# The wishes of apply.yaml, by hand. The guest's own wrapper of dcb is left out: it starts it again
# where an answer is misread, which is more work.
show()
{
	for object in dcbx ets pfc app buffer maxrate; do
		/usr/sbin/dcb -j "$object" show dev roce0
	done
	ethtool -a roce0
	ip -j link show roce0
}
for ((dscp = 0; dscp < 64; dscp++)); do
	map+=("$dscp:$((dscp / 8))")
done
show
/usr/sbin/dcb dcbx set dev roce0 host ieee
/usr/sbin/dcb -j dcbx show dev roce0
/usr/sbin/dcb app replace dev roce0 dscp-prio "${map[@]}" dgram-port-prio 4791:3
/usr/sbin/dcb -j app show dev roce0
/usr/sbin/dcb ets set dev roce0 prio-tc all:0 3:3 6:6 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50
/usr/sbin/dcb -j ets show dev roce0
ethtool -A roce0 rx off tx off
ethtool -a roce0
/usr/sbin/dcb pfc set dev roce0 prio-pfc all:off 3:on
/usr/sbin/dcb -j pfc show dev roce0
ip link set roce0 mtu 4200
ip -j link show roce0
show
END
lab run h1 -- tee /run/ours >/dev/null <<'END'
#!/bin/bash
exec rocecheck apply /rocecheck/tests/bench/apply.yaml -i roce0 --auto-approve --accept-unproven
END
lab run h1 -- tee /run/reset >/dev/null <<'END'
#!/bin/bash
rm -rf /var/lib/rocecheck
dcb app flush dev roce0
dcb ets set dev roce0 prio-tc all:0 tc-tsa all:strict tc-bw all:0
dcb pfc set dev roce0 prio-pfc all:off
ethtool -A roce0 rx on tx on
ip link set roce0 mtu 1500
END
# One line: microseconds of the tools and of ours, of each run; then the messages of both.
lab run h1 -- tee /run/measure >/dev/null <<'END'
#!/bin/bash
# effort WHAT SCRIPT: the number; the wishes must be there afterwards.
effort()
{
	/run/reset >/dev/null 2>&1
	/rocecheck/build/tools/effort "$1" "$2" >/run/said 2>&1
	[ "$(dcb -j app show dev roce0 | jq '.dscp_prio | length')" = 64 ] &&
		rocecheck plan /rocecheck/tests/bench/apply.yaml -i roce0 --exit-code >/run/plan ||
		{ cat /run/said /run/plan >&2; exit 1; }
	sed -n 's/^effort: \([0-9]*\) .*/\1/p' /run/said
}

chmod 755 /run/tools /run/ours /run/reset
effort cpu /run/ours >/dev/null && effort cpu /run/tools >/dev/null || exit 1 # into memory
for ((i = 0; i < $1; i++)); do
	theirs=$(effort cpu /run/tools) && ours=$(effort cpu /run/ours) || exit 1
	echo "cpu $theirs $ours"
done
theirs=$(effort messages /run/tools) && ours=$(effort messages /run/ours) || exit 1
echo "messages $theirs $ours"
END
lab run h1 -- bash /run/measure "$runs" >"$LAB_DIR/figures"
cat "$LAB_DIR/figures" >&2

# ratio NAME: ours to theirs, the median.
ratio()
{
	awk -v name="$1" '$1 == name { print $3 / $2 }' "$LAB_DIR/figures" | sort -g |
		awk '{ r[NR] = $1 } END { printf "%.2f\n", r[int((NR + 1) / 2)] }'
}

code=0
for name in cpu messages; do
	value=$(ratio "$name")
	verdict=ok
	awk -v v="$value" 'BEGIN { exit !(v > 1) }' && verdict=short
	[ "$verdict" = ok ] || code=1
	echo "apply.guest.${name}_vs_tools $value x <=1 $verdict"
done
exit "$code"
