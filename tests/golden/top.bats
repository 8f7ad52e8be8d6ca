#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# top and collect on the loopback of this machine: lines, JSON, the screen at several sizes in a
# terminal of tmux, and a terminal that is itself again however top ends.
bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/${ROCECHECK:-build/rocecheck}
	socket=$BATS_TEST_TMPDIR/tmux starts=0
	unset NO_COLOR TMUX
	export TERM=screen-256color
}

teardown()
{
	tmux -S "$socket" kill-server 2>/dev/null || true
}

mux()
{
	tmux -S "$socket" "$@" 3>&- 4>&-
}

# start WIDTH HEIGHT COMMAND: a terminal that runs it and then shows how it left the line settings.
# Each has a socket of its own: a server that is still ending would take the new session with it.
start()
{
	socket=$BATS_TEST_TMPDIR/tmux$((++starts))
	printf '%s\n' "$3" 'echo "exit $?"' 'stty -a | grep -ow -e -icanon -e icanon -e -echo -e echo' \
		'exec sleep 100' >"$BATS_TEST_TMPDIR/run.sh"
	mux -f /dev/null new-session -d -s t -x "$1" -y "$2" "bash $BATS_TEST_TMPDIR/run.sh"
}

screen()
{
	mux capture-pane -p -t t
}

# shows PATTERN: waits up to 5 s for it to be on the screen.
shows()
{
	for _ in {1..50}; do
		screen | grep -q -e "$1" && return
		sleep 0.1
	done
	screen
	echo "never on the screen: $1"
	return 1
}

# hides PATTERN: it is not there (a "!" in front of a command fails no test).
hides()
{
	if screen | grep -q -e "$1"; then
		screen
		echo "on the screen: $1"
		return 1
	fi
}

@test "batch: a heading, and a line an interval" {
	run --separate-stderr "$rc" top -i lo --batch -n 3 --interval 100ms
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[0]} == TIME*PORT*PRIO*TX*RX*PFCrx*DROP ]]
	[[ ${lines[2]} =~ ^[0-9:]{8}\ \ \ lo\ +all\  ]]
	[[ ${lines[2]} == *n/a* ]]
}

@test "batch without a terminal is implied, and the chosen priorities are shown" {
	run --separate-stderr "$rc" top -i lo -n 1 --interval 100ms --prio 3,4
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[3]} =~ lo\ +3\  ]]
	[[ ${lines[4]} =~ lo\ +4\  ]]
}

@test "JSON: a line a port and interval; absent is null, totals are what the kernel says" {
	before=$(</sys/class/net/lo/statistics/rx_bytes)
	"$rc" top -i lo --json -n 2 --interval 200ms >"$BATS_TEST_TMPDIR/out"
	after=$(</sys/class/net/lo/statistics/rx_bytes)
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 2 ]
	echo "from $before to $after: $(<"$BATS_TEST_TMPDIR/out")"
	jq -se --argjson before "$before" --argjson after "$after" '
		all(.[]; .schema == "rocecheck.top/1" and .port == "lo" and .stale == false
			and .totals.rx_bytes >= $before and .totals.rx_bytes <= $after
			and .totals.pfc_rx_frames == null and .rates.pfc_rx_frames == null
			and .interval_s > 0.19 and .interval_s < 2)
		and .[0].number == 1 and .[1].number == 2
		and (((.[1].totals.rx_bytes - .[0].totals.rx_bytes) / .[1].interval_s
			- .[1].rates.rx_bytes) | fabs) < 1' "$BATS_TEST_TMPDIR/out"
}

@test "collect: a snapshot of a named netdev; --out is atomic and the same" {
	"$rc" collect -i lo >"$BATS_TEST_TMPDIR/a.json"
	jq -e '.schema == "rocecheck.snapshot/1" and (.ports | map(select(.netdev == "lo")) | length) == 1
		and (.ports[] | select(.netdev == "lo") | .kind == "ethernet"
			and (.addresses | index("127.0.0.1")) != null
			and .counters.pfc_rx_frames == null
			and .counters.sources.rx_bytes == "netdev statistics/rx_bytes")' \
		"$BATS_TEST_TMPDIR/a.json"
	"$rc" collect -i lo --out "$BATS_TEST_TMPDIR/b.json"
	mask='del(.taken_unix_ns, .ports[].counters)'
	[ "$(jq -S "$mask" "$BATS_TEST_TMPDIR/a.json")" = "$(jq -S "$mask" "$BATS_TEST_TMPDIR/b.json")" ]
	[ "$(find "$BATS_TEST_TMPDIR" -name 'b.json*' | wc -l)" -eq 1 ]
}

@test "a netdev that does not exist is exit 3 and named" {
	for command in collect "top --batch"; do
		run --separate-stderr "$rc" $command -i nonic9
		[ "$status" -eq 3 ]
		[[ $stderr == *"nonic9: no such network device"* ]]
		[ -z "$output" ]
	done
}

@test "wrong words are exit 2" {
	for args in "--prio 8" "--prio 3,,4" "--prio 3-5" "--interval 1ms" "-n 0" "lo"; do
		run --separate-stderr "$rc" top --batch $args
		echo "$args: $status $stderr"
		[ "$status" -eq 2 ]
	done
}

@test "screen: columns follow the size, and nothing wraps" {
	start 100 30 "$rc top -i lo --prio 3"
	shows 'PORT .*LINK .*PFCtx .*DROP$'
	shows '^  lo  *3 '
	shows 'q quit'
	for size in 60x16 40x10 80x24 41x11 100x30; do
		mux resize-window -t t -x "${size%x*}" -y "${size#*x}"
		shows '^  lo  *3 '
		shows 'q quit'
		# Title, two lines of heading, two rows, rule, keys: nothing wrapped into a line more.
		sleep 0.3
		[ "$(screen | grep -c .)" -eq 7 ]
	done
	mux resize-window -t t -x 60 -y 16
	shows 'PAUrx   DROP$'
	hides CNPrx
	mux resize-window -t t -x 40 -y 10
	shows 'PFCrx PAUrx$'
	mux resize-window -t t -x 39 -y 9
	shows '0 crit 0 warn  lo'
	[ "$(screen | grep -c .)" -eq 1 ]
	mux send-keys -t t q
	shows 'exit 0'
}

@test "screen: help, freeze, priorities, interval, Esc" {
	start 100 30 "$rc top -i lo --interval 200ms"
	shows 'LIVE'
	mux send-keys -t t '?'
	shows 'not counted by the driver'
	mux send-keys -t t x
	shows 'LIVE'
	mux send-keys -t t Space
	shows 'FROZEN'
	mux send-keys -t t Space
	shows 'LIVE'
	mux send-keys -t t p
	shows '^  lo  *7 '
	mux send-keys -t t p
	shows 'prio 0'
	hides '^  lo  *7 '
	mux send-keys -t t +
	shows '0.4s'
	mux send-keys -t t -
	shows '0.2s'
	mux send-keys -t t Escape
	shows 'exit 0'
}

@test "screen: the terminal is itself again after q, signals and a crash" {
	for end in q TERM HUP INT SEGV ABRT; do
		start 80 24 "echo before; $rc top -i lo"
		shows 'LIVE'
		pid=$(pgrep -P "$(mux display-message -p -t t '#{pane_pid}')")
		if [ $end = q ]; then
			mux send-keys -t t q
		else
			kill -s $end "$pid"
		fi
		shows '^exit '
		shows '^icanon'
		shows '^echo'
		screen | grep -q '^before' # the screen that was there before, not ours
		hides LIVE
		mux kill-server
	done
}

@test "screen: no colour with NO_COLOR, and lines of the locale" {
	start 100 30 "NO_COLOR=1 LC_ALL=C.UTF-8 $rc top -i lo"
	shows '──────'
	[ "$(mux capture-pane -e -p -t t | grep -c $'\033\\[3[0-7]m')" -eq 0 ]
	mux kill-server
	start 100 30 "LC_ALL=C $rc top -i lo"
	shows '------'
}

@test "a terminal without description: says so and what to do" {
	start 100 30 "TERM=dumb $rc top -i lo"
	shows 'exit 3'
	shows 'rocecheck top --batch'
}
