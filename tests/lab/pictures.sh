#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the pictures of the README from what the program prints on lab hosts: cmd/pictures/report.svg, the verdict
# on a host with one wrong setting, and cmd/pictures/top.svg, a host whose priority is paused.
#   tests/lab/pictures.sh
set -eu
cd "$(dirname "$0")/../.."
. tests/lab/guests.bash
export LAB_DIR=$PWD/build/lab-pictures TERM=screen-256color
out=$PWD/cmd/pictures
work=$(mktemp -d)
unset TMUX NO_COLOR
trap 'tmux -S "$work/tmux" kill-server 2>/dev/null || true; lab down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# screen COLUMNS ROWS COMMAND: a terminal of that size runs it.
screen()
{
	tmux -S "$work/tmux" -f /dev/null new-session -d -s t -x "$1" -y "$2" "$3; echo END; exec sleep 1000"
}

# picture NAME TITLE LAST COMMAND: the screen once it matches LAST; the first line is the command that was typed.
picture()
{
	for _ in {1..600}; do
		tmux -S "$work/tmux" capture-pane -p -t t >"$work/plain"
		! grep -q -e "$3" "$work/plain" || break
		sleep 0.2
	done
	grep -q -e "$3" "$work/plain"
	{
		printf '\033[1m$ %s\033[0m\n' "$4"
		tmux -S "$work/tmux" capture-pane -e -p -t t | sed '/^END$/d'
	} | LC_ALL=C awk -v title="$2" -f tests/lab/terminal-svg.awk >"$out/$1.svg"
	tmux -S "$work/tmux" kill-server
}

mkdir -p "$out"
lab down
lab up
both rocecheck apply lab --auto-approve >/dev/null
sed "s#\.\./\.\./build/lab#$LAB_DIR#" tests/lab/fabric.yaml >"$work/fabric.yaml"

on h2 sh -c 'echo 42 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos'
screen 124 60 "build/rocecheck validate $work/fabric.yaml --out $work/run 2>/dev/null"
picture report "rocecheck validate names the host and the setting" '^END$' "rocecheck validate fabric.yaml"

both rocecheck apply lab --auto-approve >/dev/null
on h2 sh -c 'echo 8 >/sys/module/labnic/parameters/drain'
write_behind 60
screen 112 12 'tests/lab/lab ssh h1 rocecheck top --interval 1s'
sleep 8
picture top "rocecheck top: priority 3 is paused" '^[*!] roce0  *3  *[0-9.]*[kM]' "rocecheck top"
