#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make lab`: the session that a person works in, played through tmux: what is on the screen, and that nothing
# stays behind however it is left.
bats_require_minimum_version 1.5.0

mux()
{
	tmux -S "$BATS_TEST_TMPDIR/tmux" "$@" 3>&- 4>&-
}

# session COLUMNS LINES ARGUMENT...: shell.sh on a terminal of that size, which stays when it ends.
session()
{
	printf 'tests/lab/shell.sh %q; echo "exit $?"; exec sleep 1000\n' "${@:3}" >"$BATS_TEST_TMPDIR/run.sh"
	mux -f /dev/null new-session -d -s t -x "$1" -y "$2" "bash $BATS_TEST_TMPDIR/run.sh"
}

# shows TEXT: on the screen within 150 s, a boot on a loaded machine included.
shows()
{
	local i

	for i in {1..1500}; do
		mux capture-pane -p -t t | grep -q -e "$1" && return
		sleep 0.1
	done
	mux capture-pane -p -t t
	echo "never on the screen: $1"
	return 1
}

# gone TEXT: not on the screen any more.
gone()
{
	local i

	for i in {1..200}; do
		mux capture-pane -p -t t | grep -q -e "$1" || return 0
		sleep 0.1
	done
	echo "still on the screen: $1"
	return 1
}

# nothing_left: within 20 s, no process of this lab, no socket, no key, no folder of the session's.
nothing_left()
{
	local i

	for i in {1..200}; do
		left=$(pgrep -af -- "$LAB_DIR/"; ls -d "$LAB_DIR"/{sockets,sock,key,ssh_config} "$TMPDIR"/* 2>/dev/null) || true
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "left: $left"
	return 1
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$BATS_TEST_TMPDIR/lab TERM=screen-256color
	unset TMUX
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	sed '/h3\.sw/d' tests/lab/topologies/three.yaml >"$BATS_TEST_TMPDIR/two.yaml"
}

teardown()
{
	mux kill-server 2>/dev/null || true
	tests/lab/lab down 3>&-
}

@test "without a terminal there is a message and no lab" {
	run -2 tests/lab/shell.sh "$BATS_TEST_TMPDIR/two.yaml" </dev/null
	[[ $output == *"needs a terminal"*"lab up"* ]]
	[ ! -e "$LAB_DIR/key" ]
}

@test "a shell on each host, the switch's statistics live, and all goes down with the last shell" {
	session 160 40 "$BATS_TEST_TMPDIR/two.yaml"
	shows '^SWITCH *PORT *PRIO .*XOFFout'
	shows '\[root@h1 .*\[root@h2 '
	mux send-keys -t t 'ping -q -c 60 -i 0.05 -s 4000 -Q 104 h2' Enter
	# 104 is DSCP 26: priority 3 of the switch; both ports have received and sent something.
	shows '^leaf1 *p1 *3 .* 0\.[0-9]*[1-9]'
	shows '^leaf1 *p2 *3 .* 0\.[0-9]*[1-9]'
	shows '60 received'
	# A second lab in the same place is refused, and this one lives on.
	run -1 script -qec 'tests/lab/shell.sh 1' /dev/null </dev/null
	[[ $output == *"is up in"* ]]
	mux send-keys -t t C-d
	gone '\[root@h1'
	mux send-keys -t t C-d
	shows 'all down'
	shows 'exit 0'
	nothing_left
	[ -s "$LAB_DIR/h1.log" ]
}

@test "on a small terminal each host has a window; a hang-up ends it all" {
	session 80 24 1
	shows '\[root@h1 .*#'
	shows '0:h1'
	mux kill-session -t t
	nothing_left
}

@test "Ctrl-C while it boots ends it all" {
	session 80 24 "$BATS_TEST_TMPDIR/two.yaml"
	for _ in {1..600}; do
		[ ! -s "$LAB_DIR/h1.pid" ] || break
		sleep 0.1
	done
	mux send-keys -t t C-c
	shows 'exit 130'
	nothing_left
}

@test "a bad topology is refused as by lab up" {
	echo 'x: 1' >"$BATS_TEST_TMPDIR/bad.yaml"
	session 80 24 "$BATS_TEST_TMPDIR/bad.yaml"
	shows "bad.yaml"
	shows 'exit 2'
	nothing_left
}
