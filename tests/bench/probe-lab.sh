#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The traffic generator beside perftest, between two guests of the lab over Soft-RoCE: both in turn, RUNS
# times (9), median of the ratios. perftest polls, as its users run it. What is compared with itself (every
# byte checked, a pace) alternates likewise. One line a figure: NAME VALUE UNIT TARGET ok|short; exit 1
# when one is short.
#
#   RUNS=3 tests/bench/probe-lab.sh [ROW...]     rows: write read send messages latency checked pace
set -euo pipefail

export LAB_DIR=${LAB_DIR:-$PWD/build/lab-bench}
runs=${RUNS:-9}
seconds=2
work=$(mktemp -d)
code=0

lab()
{
	tests/lab/lab "$@" 3>&-
}

finish()
{
	exec 5>&- 6>&- || true
	lab down >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap finish EXIT

# spec ROLE CLASS: of one class, which is given as an object of what differs from 64 KiB WRITE, unchecked.
spec()
{
	jq -nc --arg role "$1" --argjson class "$2" --argjson ms $((seconds * 1000)) '{$role, mode: "observe",
		bringup: "raw", ibdev: "rxe0", ib_port: 1, gid_index: 1, duration_ms: $ms, seed: 7, timeout: 0, mtu_bytes: 0,
		threads: 1, pin: false, huge_pages: false, classes: [{tos: 106, sl: 3, transport: "rc",
		verb: "write", direction: "forward", check: "none", probe: false, qps: 1, message_bytes: 65536,
		window: 0, rate_bytes_per_s: 0, count: 0} + $class]}'
}

# answer FILE LINE: waits for this line of an end's answers.
answer()
{
	local i

	for ((i = 0; i < 600; i++)); do
		if [ "$(wc -l <"$1")" -ge "$2" ]; then
			sed -n "$2p" "$1"
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# ours CLASS: the client's result, in $work/result.
ours()
{
	local client server

	rm -f "$work"/*.in "$work"/*.out
	mkfifo "$work/c.in" "$work/s.in"
	lab run h1 -- rocecheck agent --traffic <"$work/c.in" >"$work/c.out" &
	client=$!
	lab run h2 -- rocecheck agent --traffic <"$work/s.in" >"$work/s.out" &
	server=$!
	exec 5>"$work/c.in" 6>"$work/s.in"
	spec client "$1" >&5
	spec server "$1" >&6
	answer "$work/s.out" 1 | jq -c .peer >&5
	answer "$work/c.out" 1 | jq -c .peer >&6
	answer "$work/s.out" 2 >/dev/null
	answer "$work/c.out" 2 >/dev/null
	echo '{"run":true}' >&6
	echo '{"run":true}' >&5
	answer "$work/c.out" 3 | jq -c .result >"$work/result"
	answer "$work/s.out" 3 >/dev/null
	exec 5>&- 6>&-
	wait "$client" "$server"
	jq -e '.cause == "none"' "$work/result" >/dev/null || { cat "$work/result" >&2; return 1; }
}

# figure EXPRESSION: of the client's last result.
figure()
{
	jq -r "$1" "$work/result"
}

bytes_per_s='.bytes / .duration_ns * 1e9'
messages_per_s='.messages / .duration_ns * 1e9'

# theirs TOOL COLUMN ARGS...: a number of the last line that a perftest tool prints.
theirs()
{
	local tool=$1 column=$2 server

	shift 2
	lab run h2 -- timeout 60 "$tool" -d rxe0 -x 1 -F "$@" >/dev/null 2>&1 </dev/null &
	server=$!
	# Until the server listens.
	lab run h1 -- bash -c 'for i in {1..50}; do timeout 60 "$@" && exit 0; sleep 0.1; done; exit 1' - \
		"$tool" -d rxe0 -x 1 -F "$@" 198.18.0.2 </dev/null >"$work/perftest" 2>/dev/null
	wait "$server" || true
	awk -v c="$column" '/^ *[0-9]+ +[0-9]+ +[0-9.]+/ { v = $c } END { if (v == "") exit 1; print v }' \
		"$work/perftest"
}

# median: of the numbers of stdin.
median()
{
	sort -g | awk '{ v[NR] = $1 } END { printf "%.3f\n", v[int((NR + 1) / 2)] }'
}

# judge NAME VALUE UNIT SIGN LIMIT
judge()
{
	local verdict=short

	if awk -v v="$2" -v l="$5" -v s="$4" 'BEGIN { exit !(s == ">=" ? v >= l : v <= l) }'; then
		verdict=ok
	fi
	[ "$verdict" = ok ] || code=1
	echo "probe.lab.$1 $2 $3 $4$5 $verdict"
}

# beside NAME SIGN LIMIT TOOL COLUMN FACTOR CLASS FIGURE ARGS...: ours by theirs, the median.
beside()
{
	local name=$1 sign=$2 limit=$3 tool=$4 column=$5 factor=$6 class=$7 expression=$8 i a b

	shift 8
	: >"$work/ratios"
	for ((i = 0; i < runs; i++)); do
		a=$(theirs "$tool" "$column" "$@")
		ours "$class"
		b=$(figure "$expression")
		awk -v a="$a" -v b="$b" -v f="$factor" 'BEGIN { print b / (a * f) }' >>"$work/ratios"
		echo "$name: perftest $a, rocecheck $b" >&2
	done
	judge "$name" "$(median <"$work/ratios")" x "$sign" "$limit"
}

row_write()
{
	beside write_64k_vs_perftest '>=' 1.0 ib_write_bw 4 1048576 '{}' "$bytes_per_s" -s 65536 -D $seconds -f 0
}

row_read()
{
	beside read_64k_vs_perftest '>=' 1.0 ib_read_bw 4 1048576 '{"verb": "read"}' "$bytes_per_s" \
		-s 65536 -D $seconds -f 0
}

row_send()
{
	beside send_64k_vs_perftest '>=' 1.5 ib_send_bw 4 1048576 '{"verb": "send"}' "$bytes_per_s" \
		-s 65536 -D $seconds -f 0
}

row_messages()
{
	beside write_64_messages_vs_perftest '>=' 1.3 ib_write_bw 5 1000000 '{"message_bytes": 64}' \
		"$messages_per_s" -s 64 -D $seconds -f 0
}

# perftest tells half a round trip in microseconds.
row_latency()
{
	local probe='{"message_bytes": 64, "probe": true}'

	beside write_64_latency_median_vs_perftest '<=' 1.0 ib_write_lat 5 2000 "$probe" \
		'.classes[0].latency.p50_ns' -s 64 -n 1000
	beside write_64_latency_p99_vs_perftest '<=' 1.0 ib_write_lat 8 2000 "$probe" \
		'.classes[0].latency.p99_ns' -s 64 -n 1000
}

# A guest has one core, which the fill and the check share with the kernel that moves the bytes.
row_checked()
{
	local i a b

	: >"$work/ratios"
	for ((i = 0; i < runs; i++)); do
		ours '{}'
		a=$(figure "$bytes_per_s")
		ours '{"check": "every"}'
		b=$(figure "$bytes_per_s")
		awk -v a="$a" -v b="$b" 'BEGIN { print b / a }' >>"$work/ratios"
		echo "checked: none $a, every byte $b" >&2
	done
	judge write_64k_checked_vs_unchecked "$(median <"$work/ratios")" x '>=' 0.95
}

# The ports of the lab's switches have 64 Mbit/s.
row_pace()
{
	local i percent rate seconds=4

	for percent in 10 50 90; do
		rate=$((8000000 * percent / 100))
		for ((i = 0; i < runs; i++)); do
			ours '{"message_bytes": 16384, "rate_bytes_per_s": '$rate'}'
			figure ".bytes / $seconds" | awk -v r=$rate '{ d = $1 / r - 1; print (d < 0 ? -d : d) * 100 }'
		done | tee "$work/errors" >&2
		judge "pace_error_at_$percent" "$(median <"$work/errors")" % '<=' 1.0
	done
}

lab down >/dev/null 2>&1 || true
lab up 2 >&2
for host in h1 h2; do
	lab run "$host" -- ip link set roce0 mtu 4200
done
for row in "${@:-write read send messages latency checked pace}"; do
	for name in $row; do
		"row_$name"
	done
done
exit $code
