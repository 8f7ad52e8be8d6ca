#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The traffic generator beside perftest, between two guests of the lab over Soft-RoCE: both in turn, RUNS
# times (9), median of the ratios. perftest polls, as its users run it. What is compared with itself (every
# byte checked, a pace) alternates likewise. One line a figure: NAME VALUE UNIT TARGET ok|short; exit 1
# when one is short. The link of the lab's NIC is slower than the guests are: where bandwidth is compared it
# is opened, as one that both fill measures the link alone. Latency, checks and pace are those of the link as
# it is.
#
#   RUNS=3 tests/bench/probe-lab.sh [ROW...]     rows: write read send messages latency checked pace
set -euo pipefail

export LAB_DIR=${LAB_DIR:-$PWD/build/lab-bench}
runs=${RUNS:-9}
seconds=2
link_rate=25 # MB/s, the lab's own
open_rate=2000
work=$(mktemp -d)
code=0

lab()
{
	tests/lab/lab "$@" 3>&- 5>&- 6>&- 7<&- 8<&-
}

finish()
{
	exec 5>&- 6>&- 7<&- 8<&- || true
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

# answer FD: the next line of an end's answers. It sleeps on the pipe: a loop that looks again and
# again takes the core from the guests that it measures.
answer()
{
	local line

	read -r -t 30 -u "$1" line
	printf '%s\n' "$line"
}

# ours CLASS: the client's result, in $work/result. The server's is beside it, and both are shown when a run fails.
ours()
{
	local client server

	rm -f "$work"/*.in "$work"/*.out
	mkfifo "$work/c.in" "$work/s.in" "$work/c.out" "$work/s.out"
	lab run h1 -- rocecheck agent --traffic <"$work/c.in" >"$work/c.out" &
	client=$!
	lab run h2 -- rocecheck agent --traffic <"$work/s.in" >"$work/s.out" &
	server=$!
	exec 5>"$work/c.in" 6>"$work/s.in" 7<"$work/c.out" 8<"$work/s.out"
	spec client "$1" >&5
	spec server "$1" >&6
	answer 8 | jq -c .peer >&5
	answer 7 | jq -c .peer >&6
	answer 8 >/dev/null
	answer 7 >/dev/null
	echo '{"run":true}' >&6
	echo '{"run":true}' >&5
	answer 7 | jq -c .result >"$work/result"
	answer 8 | jq -c .result >"$work/server"
	exec 5>&- 6>&-
	wait "$client" "$server"
	exec 7<&- 8<&-
	jq -e '.cause == "none"' "$work/result" >/dev/null || { cat "$work/result" "$work/server" >&2; return 1; }
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

# beside NAME SIGN LIMIT TOOL COLUMN FACTOR CLASS FIGURE ARGS...: ours by theirs, the median. Who is first changes
# with each pair: what one leaves to the next counts for both.
beside()
{
	local name=$1 sign=$2 limit=$3 tool=$4 column=$5 factor=$6 class=$7 expression=$8 i a b

	shift 8
	: >"$work/ratios"
	for ((i = 0; i < runs; i++)); do
		((i % 2)) || a=$(theirs "$tool" "$column" "$@")
		ours "$class"
		b=$(figure "$expression")
		((i % 2 == 0)) || a=$(theirs "$tool" "$column" "$@")
		awk -v a="$a" -v b="$b" -v f="$factor" 'BEGIN { print b / (a * f) }' >>"$work/ratios"
		echo "$name: perftest $a, rocecheck $b" >&2
	done
	judge "$name" "$(median <"$work/ratios")" x "$sign" "$limit"
}

# link MB_PER_S: the rate of the NICs from now on.
link()
{
	local host

	for host in h1 h2; do
		lab run "$host" -- bash -c "echo $1 >/sys/module/labnic/parameters/rate"
	done
}

row_write()
{
	link $open_rate
	beside write_64k_vs_perftest '>=' 1.0 ib_write_bw 4 1048576 '{}' "$bytes_per_s" -s 65536 -D $seconds -f 0
}

row_read()
{
	link $open_rate
	beside read_64k_vs_perftest '>=' 1.0 ib_read_bw 4 1048576 '{"verb": "read"}' "$bytes_per_s" \
		-s 65536 -D $seconds -f 0
}

row_send()
{
	link $open_rate
	beside send_64k_vs_perftest '>=' 1.5 ib_send_bw 4 1048576 '{"verb": "send"}' "$bytes_per_s" \
		-s 65536 -D $seconds -f 0
}

row_messages()
{
	link $open_rate
	beside write_64_messages_vs_perftest '>=' 1.3 ib_write_bw 5 1000000 '{"message_bytes": 64}' \
		"$messages_per_s" -s 64 -D $seconds -f 0
}

# perftest tells half a round trip in microseconds.
row_latency()
{
	local probe='{"message_bytes": 64, "probe": true}'

	link $link_rate
	beside write_64_latency_median_vs_perftest '<=' 1.0 ib_write_lat 5 2000 "$probe" \
		'.classes[0].latency.p50_ns' -s 64 -n 1000
	beside write_64_latency_p99_vs_perftest '<=' 1.0 ib_write_lat 8 2000 "$probe" \
		'.classes[0].latency.p99_ns' -s 64 -n 1000
}

# checked_pair NAME: two runs with every byte checked between two without; the ratio of their bytes. What a machine
# with other tenants gives changes from one run to the next by more than what is to be seen: in this order a
# change that goes on for the four of them counts for neither side.
checked_pair()
{
	local check rate

	for check in none every every none; do
		ours '{"check": "'$check'"}'
		rate=$(figure "$bytes_per_s")
		echo "$1: $check $rate" >&2
		echo "$check $rate"
	done | awk '{ sum[$1] += $2 } END { print sum["every"] / sum["none"] }'
}

# Of both links: at the lab's rate there is time for the fill and the check. On an open link a guest's one core
# has none, which it shares with the kernel that moves the bytes, and where memcpy() makes 0.5 GB/s.
row_checked()
{
	local name rate i seconds=3

	for name in checked checked_open_link; do
		rate=$link_rate
		[ $name = checked ] || rate=$open_rate
		link "$rate"
		for ((i = 0; i < runs; i++)); do
			checked_pair $name
		done >"$work/ratios"
		judge "write_64k_${name}_vs_unchecked" "$(median <"$work/ratios")" x '>=' 0.95
	done
}

row_pace()
{
	local i percent rate seconds=4

	link $link_rate
	for percent in 10 50 90; do
		rate=$((link_rate * 10000 * percent))
		for ((i = 0; i < runs; i++)); do
			ours '{"rate_bytes_per_s": '$rate'}'
			figure ".bytes / $seconds" | awk -v r=$rate '{ d = $1 / r - 1; print (d < 0 ? -d : d) * 100 }'
		done | tee "$work/errors" >&2
		judge "pace_error_at_$percent" "$(median <"$work/errors")" % '<=' 1.0
	done
}

lab down >/dev/null 2>&1 || true
LAB_RATE=$link_rate lab up 2 >&2
for host in h1 h2; do
	lab run "$host" -- ip link set roce0 mtu 4200
done
for row in "${@:-write read send messages latency checked pace}"; do
	for name in $row; do
		"row_$name"
	done
done
exit $code
