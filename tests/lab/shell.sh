#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shell.sh [TOPOLOGY.yaml | N]: a lab to work in: `lab up`, then a tmux session with a shell on each host and the
# switch's statistics above them. All of it goes down when the session is left, by whatever way.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
what=${1:-$here/topologies/three.yaml}
tree=$(cd "$here/../.." && pwd -P)
export LAB_DIR=${LAB_DIR:-$tree/build/lab}
server=
up=
failed=

say()
{
	echo "lab: $*" >&2
}

die()
{
	local code=$1

	shift
	say "$*"
	exit "$code"
}

mux()
{
	tmux -S "$server/tmux" "$@"
}

# What this run started, and no lab that was up before it or that another `up` is making.
leave()
{
	local code=$?

	trap '' INT TERM HUP
	trap - EXIT
	if [ -n "$server" ]; then
		mux kill-server 2>/dev/null || true
		rm -rf "$server"
	fi
	if [ -n "$up" ] && [ -z "$failed" ]; then
		kill "$up" 2>/dev/null || true
		wait "$up" 2>/dev/null || true
		"$here/lab" down
		say "all down. Logs: $LAB_DIR"
	fi
	exit "$code"
}

# pane HOST: the command of its shell; a guest that died leaves its last words on the screen.
pane()
{
	# shellcheck disable=SC2016
	printf '%q ssh %s; [ $? != 255 ] || { echo "%s: connection lost. Enter closes this."; read -r; }' \
		"$here/lab" "$1" "$1"
}

# A shell has ended: on to another one; the statistics alone are no reason to stay.
tend()
{
	local next

	next=$(mux list-panes -s -t lab -F '#{pane_active} #{pane_id} #{pane_start_command}' | grep ' ssh ' |
		sort -r | head -n1 | cut -d' ' -f2) || true # none left
	if [ -n "$next" ]; then
		mux select-pane -t "$next"
	else
		mux kill-session -t lab
	fi
}

# Side by side where each shell gets 60 columns, else a window each.
open_session()
{
	local columns=$1 lines=$2 host split="new-window"

	[ $((${#hosts[@]} * 60)) -gt "$columns" ] || split="split-window"
	mux -f /dev/null new-session -d -s lab -x "$columns" -y "$lines" -n "${hosts[0]}" "$(pane "${hosts[0]}")"
	mux set -g mouse on
	mux set -g status-left ''
	mux set -g status-right 'mouse, C-b n, C-b o: go round   C-b d: leave, all goes down '
	mux set -g status-right-length 80
	for host in "${hosts[@]:1}"; do
		mux "$split" -t lab "$(pane "$host")"
		if [ $split = split-window ]; then
			mux select-layout -t lab even-horizontal
		else
			mux rename-window -t lab "$host"
		fi
	done
	mux select-window -t lab:0
	mux select-pane -t lab:0.0
	if "$here/lab" switch '{"op":"stats"}' >/dev/null 2>&1; then
		if [ $split = split-window ]; then
			mux split-window -d -fbv -l 45% -t lab "exec $(printf %q "$here/lab") stats --watch"
		else
			mux new-window -d -n switch -t lab "exec $(printf %q "$here/lab") stats --watch"
		fi
	fi
	mux set-hook -t lab pane-exited "run-shell '$here/shell.sh --tend $server'"
}

if [ "${1:-}" = --tend ]; then
	server=$2
	tend
	exit
fi
[ $# -le 1 ] || die 2 "usage: shell.sh [TOPOLOGY.yaml | N]"
if [ ! -t 0 ] || [ ! -t 1 ]; then
	die 2 "a session needs a terminal. Without one: tests/lab/lab up $what; tests/lab/lab run h1 -- CMD"
fi
command -v tmux >/dev/null || die 3 "tmux is missing. Next: tests/lab/setup.sh check"
! "$here/lab" status >/dev/null 2>&1 || die 1 "a lab is up in $LAB_DIR. Next: tests/lab/lab ssh h1, or tests/lab/lab down"
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
"$here/lab" up "$what" &
up=$!
wait "$up" || { failed=$?; exit "$failed"; }
mapfile -t hosts < <("$here/lab" status | awk '/^h[0-9]+ running/ { print $1 }')
server=$(mktemp -d -t rocecheck-tmux.XXXXXX)
unset TMUX
read -r lines columns < <(stty size)
open_session "$columns" "$lines"
mux attach -t lab
