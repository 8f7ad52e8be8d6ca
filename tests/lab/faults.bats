#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab does with bad input and when something breaks under it: a message that names the thing and the next
# step, the right exit code, the logs kept, and nothing else left behind.
bats_require_minimum_version 1.5.0

lab()
{
	tests/lab/lab "$@" 3>&- 4>&-
}

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	tmp=$BATS_TEST_TMPDIR
	export LAB_DIR=$tmp/lab
	two=$tmp/two.yaml
	sed '/h3\.sw/d' tests/lab/topologies/three.yaml >"$two"
	mkdir "$tmp/bin"
}

teardown()
{
	lab down
}

# nothing_left: no process, socket, key or initrd of this lab, within the time that QEMU takes to end.
nothing_left()
{
	local i left

	for i in {1..100}; do
		left=$(pgrep -af -- "$LAB_DIR/"
			ls -d "$LAB_DIR"/{sockets,sock,key,ssh_config,known_hosts,*.initrd,*.lab,*.pid,init.cpio} 2>/dev/null) || true
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "left: $left"
	return 1
}

# stand_in NAME SCRIPT: what runs in place of a tool; $real is the tool.
stand_in()
{
	printf '#!/bin/bash\nreal=%q\n%s\n' "$(command -v "$1")" "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# until_there FILE: not empty, within a minute.
until_there()
{
	local i

	for i in {1..600}; do
		[ ! -s "$1" ] || return 0
		sleep 0.1
	done
	echo "$1 never came"
	return 1
}

# up_in_background ARGUMENT...: with job control and no inherited deafness, so that an interrupt reaches all of it.
up_in_background()
{
	env --default-signal=INT bash -c 'set -m; tests/lab/lab up "$@" >"$LAB_DIR.out" 2>&1 & echo $! >"$LAB_DIR.up"; wait $!' up "$@" 3>&- 4>&- &
	up=$!
}

# ended CODE TEXT: the up in the background has ended so.
ended()
{
	local code=0

	wait "$up" || code=$?
	cat "$LAB_DIR.out"
	[ "$code" = "$1" ]
	grep -q -e "$2" "$LAB_DIR.out"
}

# refused FILE-NAME SED-SCRIPT TEXT: a topology changed so is refused with this text, before anything is made.
refused()
{
	sed "$2" tests/lab/topologies/three.yaml >"$tmp/$1.yaml"
	run -2 lab up "$tmp/$1.yaml"
	[[ $output == *"$tmp/$1.yaml"* ]]
	[[ $output == *"$3"* ]] || { echo "not said: $3 but: $output"; return 1; }
	[ ! -e "$LAB_DIR" ]
}

@test "a bad topology file is refused by name, line and reason" {
	refused unknown 's/buffer:/bufer:/' "did you mean 'buffer'?"
	refused hostless '/h[123]\.sw/d' "ports"
	refused nameless 's/h\([123]\)\.wire/w\1/' "no port has 'remote: h1.wire'"
	refused port-twice 's/name: p2/name: p1/' "given twice"
	refused socket-twice 's/h2\.sw/h1.sw/' "given twice"
	refused gap '/h2\.sw/d' "not h1 h3"
	refused seventh 's/h3\./h7./g' "must be h1 to h3, not h1 h2 h7"
	refused type 's/buffer: 4MB/buffer: [4]/' "buffer: expected a size, got a list"
	refused range 's/pfc: \[3\]/pfc: [9]/' "pfc: [9]"
	refused schema 's,switch/1,switch/9,' "unknown schema"
	refused syntax '$s/}//' "RC-INP-001"
	refused empty d "the file is empty"
	run -2 lab up "$tmp/none.yaml"
	[[ $output == *"No such file or directory"*"none.yaml is no topology. Next: "* ]]
	run -2 lab up 7
	[[ $output == *"or a topology file, not '7'"* ]]
}

@test "a tool that is missing is named, with what installs it" {
	stand_in qemu-system-x86_64 'echo "QEMU 6: Available netdev backend types: user socket"'
	PATH=$tmp/bin:$PATH run -3 lab up 1
	[[ $output == *"no '-netdev dgram': version 7.2 or later"* ]]
	CC=gcc-of-nowhere run -3 lab up 1
	[[ $output == *"gcc-of-nowhere is missing. Next: tests/lab/setup.sh build lab-host"* ]]
	[ ! -e "$LAB_DIR" ]
	LAB_DIR=/dev/null/lab run -3 lab up 1
	[[ $output == *"Next: set LAB_DIR"* ]]
}

@test "a management port that is taken is not used" {
	# The first QEMU finds its port taken by the time that it starts.
	stand_in qemu-system-x86_64 '
		port=$(grep -oE "hostfwd=tcp:127.0.0.1:[0-9]+" <<<"$*" | grep -oE "[0-9]+$")
		if [ -n "$port" ] && [ ! -e "$LAB_DIR.taken" ]; then
			echo "$port" >"$LAB_DIR.taken"
			python3 -c "import socket, sys, time
s = socket.socket(); s.bind((\"127.0.0.1\", int(sys.argv[1]))); s.listen()
open(sys.argv[2], \"w\").write(\"x\"); time.sleep(30)" "$port" "$LAB_DIR.held" >/dev/null 2>&1 &
			echo $! >"$LAB_DIR.holder"
			until [ -s "$LAB_DIR.held" ]; do sleep 0.1; done
		fi
		exec "$real" "$@"'
	PATH=$tmp/bin:$PATH lab up 1
	kill "$(cat "$LAB_DIR.holder")"
	[ -s "$LAB_DIR.taken" ]
	run -1 grep -w "Port $(cat "$LAB_DIR.taken")" "$LAB_DIR/ssh_config"
	[ "$(lab run h1 -- hostname)" = h1 ]
	lab down
	nothing_left
}

@test "QEMU that does not start is quoted" {
	stand_in qemu-system-x86_64 '[ "$1" != -netdev ] || exec "$real" "$@"
		echo "qemu-system-x86_64: no such luck" >&2; exit 1'
	PATH=$tmp/bin:$PATH run -3 lab up "$two"
	[[ $output == *"QEMU does not start for h1: qemu-system-x86_64: no such luck"*"h1.err"* ]]
	nothing_left
}

@test "QEMU that hangs before it starts is given up" {
	stand_in qemu-system-x86_64 '[ "$1" != -netdev ] || exec "$real" "$@"; exec sleep 1000'
	PATH=$tmp/bin:$PATH LAB_BOOT_SECONDS=2 run -3 lab up 1
	[[ $output == *"QEMU does not start for h1: it hangs, or was killed"* ]]
	nothing_left
}

@test "the NIC's module that does not build is said so, and where the compiler's words are" {
	local root

	root=$(tests/lab/root.sh)
	mkdir -p "$tmp/cache/${root##*/}"
	for part in root headers vmlinux initrd version; do
		ln -s "$root/$part" "$tmp/cache/${root##*/}/$part"
	done
	stand_in gcc 'grep -oE "/tmp/rocecheck-nic\.[A-Za-z0-9]+" <<<"$*" | head -n1 >>"$LAB_DIR.folder"
		[[ "$*" != *labnic* && "$*" != */main.o* ]] || { echo "no compiler today" >&2; exit 1; }
		exec "$real" "$@"'
	CC=$tmp/bin/gcc ROCECHECK_CACHE=$tmp/cache run -3 lab up 1
	[[ $output == *"module does not build: $LAB_DIR/nic.log"* ]]
	grep -q 'no compiler today' "$LAB_DIR/nic.log"
	[ -s "$LAB_DIR.folder" ]
	[ ! -e "$(sort -u "$LAB_DIR.folder" | grep . | head -n1)" ]
	nothing_left
}

@test "a guest that hangs in its boot, and one that dies, end the whole lab" {
	LAB_BOOT_SECONDS=10 up_in_background 1
	until_there "$LAB_DIR/ssh_config" # by then each QEMU has gone to the background
	kill -STOP "$(cat "$LAB_DIR/h1.pid")"
	ended 3 "h1 did not boot in 10 s. Its console: $LAB_DIR/h1.log"
	nothing_left
	[ -e "$LAB_DIR/h1.log" ]

	up_in_background "$two"
	until_there "$LAB_DIR/ssh_config"
	kill -KILL "$(cat "$LAB_DIR/h2.pid")"
	ended 3 "h2 died while booting. Its console: $LAB_DIR/h2.log"
	nothing_left
}

@test "Ctrl-C during the boot of a fabric ends guests and switch" {
	up_in_background "$two"
	until_there "$LAB_DIR/h2.pid"
	kill -INT -- "-$(cat "$LAB_DIR.up")"
	ended 130 "interrupted: nothing is up. Logs: $LAB_DIR"
	nothing_left
	[ -s "$LAB_DIR/switch.log" ]
}

@test "a guest that dies or hangs under a command is named; the others and the switch live on" {
	local command code=0

	lab up "$two"
	lab run h2 -- sleep 300 >"$tmp/out" 2>&1 &
	command=$!
	sleep 1
	kill -KILL "$(cat "$LAB_DIR/h2.pid")"
	wait $command || code=$?
	[ "$code" = 255 ]
	grep -q "h2 died while the command ran. Its console: $LAB_DIR/h2.log. Next: lab down; lab up" "$tmp/out"
	run -255 lab run h2 -- true
	[[ $output == *"h2 is not running. Next:"* ]]
	run -0 lab status
	[[ $output == *"switch running"*"h1 running"*"h2 stopped"* ]]
	# A command's own 255 is no lost guest.
	run -255 lab run h1 -- sh -c 'exit 255'
	[ -z "$output" ]

	# 90 s of silence are a hang; here 3.
	ssh -F "$LAB_DIR/ssh_config" -O exit h1
	sed -i 's/ServerAliveInterval .*/ServerAliveInterval 1/; s/CountMax .*/CountMax 3/' "$LAB_DIR/ssh_config"
	lab run h1 -- sleep 300 >"$tmp/out" 2>&1 &
	command=$!
	sleep 2
	kill -STOP "$(cat "$LAB_DIR/h1.pid")"
	code=0
	wait $command || code=$?
	[ "$code" = 255 ]
	grep -q 'h1 does not answer any more' "$tmp/out"

	kill -KILL "$(cat "$LAB_DIR/switch.pid")"
	run -255 lab switch '{"op":"stats"}'
	[[ $output == *"no switch runs"* ]]
	run -255 lab stats
	run -0 lab status
	[[ $output == *"switch stopped log $LAB_DIR/switch.log"* ]]
	# Down ends one that is stopped, too.
	lab down
	nothing_left
	[ -s "$LAB_DIR/h1.log" ]
	[ -s "$LAB_DIR/h2.log" ]
}

@test "Ctrl-C under a command ends it, and not the lab" {
	local code=0

	lab up 1
	env --default-signal=INT bash -c 'set -m; tests/lab/lab run h1 -- sleep 300 & echo $! >"$LAB_DIR.run"; wait $!' 3>&- 4>&- &
	sleep 2
	kill -INT -- "-$(cat "$LAB_DIR.run")"
	wait $! || code=$?
	[ "$code" = 130 ]
	run -1 pgrep -f -- "-F $LAB_DIR/ssh_config -T"
	[ "$(echo in | lab run h1 -- cat)" = in ]
}

# in_small MB FOLDER COMMAND...: the command where FOLDER is a file system of that size.
in_small()
{
	mkdir -p "$2" "$LAB_DIR"
	# shellcheck disable=SC2016
	unshare -rm bash -c 'mount -t tmpfs -o size="$0"m tmpfs "$1"; shift; "$@"; code=$?
		echo "left: $(ls -A "$LAB_DIR") $(ls -A "${ROCECHECK_CACHE:-/dev/null/}" 2>/dev/null)"; exit $code' "$@" 3>&- 4>&-
}

@test "a full disk is named with its folder, before and in the middle" {
	unshare -rm true 2>/dev/null || skip "no user namespaces here"
	export ROCECHECK_CACHE=$tmp/cache
	run -3 in_small 10 "$LAB_DIR" tests/lab/lab up "$two"
	[[ $output == *"$LAB_DIR: 10 MB free, 32 MB needed. Next: make room, or set LAB_DIR"* ]]
	run -3 in_small 10 "$ROCECHECK_CACHE" tests/lab/root.sh
	[[ $output == *"$ROCECHECK_CACHE: 10 MB free, 1000 MB needed"*"Next: make room, or set ROCECHECK_CACHE"*"left:  "* ]]
	unset ROCECHECK_CACHE
	stand_in cpio 'dd if=/dev/zero of="$LAB_DIR/filler" bs=1M 2>/dev/null; exec "$real" "$@"'
	PATH=$tmp/bin:$PATH run -3 in_small 40 "$LAB_DIR" tests/lab/lab up "$two"
	[[ $output == *"No space left on device"*"up could not go on, see above. Free: "*" MB in $LAB_DIR"* ]]
	[[ $output != *.initrd* && $output != *key* && $output != *sockets* ]]
	nothing_left
}
