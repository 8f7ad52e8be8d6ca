#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a default run takes of a link, as the switch counts it: at most 5 % in any second and 10 % in any 100 ms, with
# messages of 4 KiB. The NICs are of 200 Mb/s. Runs from the root of the tree; the lab is one of its own.
bats_require_minimum_version 1.5.0
load guests

link=25000000 # bytes per second

setup_file()
{
	own_lab share-lab tests/lab/topologies/three.yaml
	configured h1 h2 h3
	inventory fabric-three.yaml | sed '/^  load:/d; s/^capture: .*/capture: off/' >"$BATS_FILE_TMPDIR/fabric.yaml"
	echo '  message: 4KiB' >>"$BATS_FILE_TMPDIR/fabric.yaml"
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
}

# sampled PID: what the switch counts, some twenty times a second, while the process runs.
sampled()
{
	while kill -0 "$1" 2>/dev/null; do
		build/labswitch ctl "$(cat "$LAB_DIR/sockets")/control" '{"op": "stats"}'
		sleep 0.04
	done
}

# volumes: of a list of such statistics, the bytes of each port and direction.
volumes()
{
	jq -c '{t: .time_ms, ports: [.switches[].ports | to_entries[] | . as $p | ["rx_bytes", "tx_bytes"][] as $way
		| {key: "\($p.key) \($way)", value: ([$p.value.prio[][$way]] | add)}] | from_entries}'
}

# most MS FILE: the largest share of a link, in percent, in any window of so many milliseconds or a little more.
most()
{
	jq -s --argjson ms "$1" --argjson link $link '. as $s | [range(length) as $i
		| (first(range($i + 1; $s | length) | select($s[.].t - $s[$i].t >= $ms)) // empty) as $k
		| ($s[$i].ports | keys[]) as $port
		| ($s[$k].ports[$port] - $s[$i].ports[$port]) / (($s[$k].t - $s[$i].t) / 1000) / $link * 100] | max' "$2"
}

# stamped: each line behind the time it came at, in microseconds.
stamped()
{
	local line

	while IFS= read -r line; do
		printf '%s %s\n' "${EPOCHREALTIME/[^0-9]/}" "$line"
	done
}

@test "a default run takes at most 5 % of a link in any second and 10 % in any 100 ms" {
	build/rocecheck validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run" >"$tmp/out" 2>&1 3>&- &
	pid=$!
	sampled $pid >"$tmp/stats"
	wait $pid || code=$?
	cat "$tmp/out"
	[ "${code:-0}" = 0 ] || [ "${code:-0}" = 4 ]
	volumes <"$tmp/stats" >"$tmp/samples"
	second=$(most 1000 "$tmp/samples")
	tenth=$(most 100 "$tmp/samples")
	echo "# $(wc -l <"$tmp/samples") samples; at most $second % of a link in a second, $tenth % in 100 ms" >&3
	within 1 "$second" 5
	within 1 "$tenth" 10
}

@test "a run takes as long as it says" {
	build/rocecheck validate "$BATS_FILE_TMPDIR/fabric.yaml" --out "$tmp/run" 2>&1 >"$tmp/out" 3>&- | stamped >"$tmp/err"
	cat "$tmp/err"
	part=$(awk '/all phases: about/ { from = $1; for (i = 1; i < NF; i++) if ($i == "about") said = $(i + 1) }
		/rocecheck: collect$/ { to = $1 } END { print (to - from) / 1e6 / said }' "$tmp/err")
	echo "# $part of the time it said" >&3
	within 0.8 "$part" 1.2
}
