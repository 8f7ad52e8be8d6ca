#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# capture record on one end of a veth pair in a network namespace of its own; the other end plays the
# frames of a capture file.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/build/rocecheck
	golden=$PWD/tests/golden/capture
	tmp=$BATS_TEST_TMPDIR
	export rc golden tmp
	export -f record play in_net decoder confined ask
}

teardown() {
	if [ -n "${own:-}" ]; then rm -rf "$own"; fi
}

# Runs a function of this file in a namespace with the pair v0 - v1, or skips.
net() { # FUNCTION [ARGUMENT]...
	unshare -Urn ip link add name v0 type veth peer name v1 2>/dev/null ||
		skip 'no namespace with a veth pair can be made here'
	command -v python3 >/dev/null || skip 'python3 is not installed'
	# shellcheck disable=SC2163 # the function that is named
	export -f "$1"
	# Another user is only there where root is the real one.
	unshare "${unshare:--Urn}" bash -c 'in_net "$@"' - "$@"
}

in_net() {
	set -euo pipefail
	ip link add name v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	"$@"
}

# Starts a recording of v1 and waits until it listens: its pid is in $pid.
record() { # OPTION...
	"$rc" capture record -i v1 "$@" >"$tmp/out" 2>"$tmp/err" 3>&- &
	pid=$!
	for _ in $(seq 200); do
		if grep -q recording "$tmp/err"; then return 0; fi
		if ! kill -0 "$pid" 2>/dev/null; then break; fi
		sleep 0.05
	done
	cat "$tmp/err"
	return 1
}

# Sends the frames of a little-endian pcap through v0.
play() { # FILE [TIMES]
	python3 - "$1" "${2:-1}" <<-'END'
		import socket, struct, sys
		b = open(sys.argv[1], "rb").read()
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("v0", 0))
		frames, at = [], 24
		while at < len(b):
		    n = struct.unpack("<I", b[at + 8:at + 12])[0]
		    frames.append(b[at + 16:at + 16 + n])
		    at += 16 + n
		for frame in frames * int(sys.argv[2]):
		    s.send(frame)
	END
}

# What a switch mirrors, and of it headers alone: RoCE within is decoded from the recording.
mirrored() {
	local n

	n=$("$rc" --json capture stats "$golden/mirror.pcap" | jq .totals.frames)
	record -w "$tmp/m.pcap" --filter mirror --limit "$n"
	play "$golden/loss.pcap"
	play "$golden/mirror.pcap"
	wait "$pid"
	"$rc" --json capture stats "$golden/mirror.pcap" | jq '.totals.roce' >"$tmp/want"
	"$rc" --json capture stats "$tmp/m.pcap" | jq '.totals.roce' >"$tmp/got"
	diff -u "$tmp/want" "$tmp/got"
}

@test "a mirror's tunnels are recorded, and nothing beside them" {
	net mirrored
}

everything() {
	local n

	n=$("$rc" --json capture stats "$golden/opcodes.pcap" | jq .totals.frames)
	record -w "$tmp/a.pcapng" --full --limit "$n"
	play "$golden/opcodes.pcap"
	wait "$pid"
	# The same packets, whenever they came: a slow machine may make a timeout of a pause.
	for f in "$golden/opcodes.pcap" "$tmp/a.pcapng"; do
		"$rc" --json capture decode "$f" | jq -c 'del(.time_ns) | .events? -= ["timeout"]' >"$tmp/${f##*/}.json"
	done
	diff -u "$tmp/opcodes.pcap.json" "$tmp/a.pcapng.json"
	[[ $("$rc" capture stats "$tmp/a.pcapng") == *'drops        0 packets lost by the capture itself'* ]]
}

@test "what is on the wire is in the recording, with its drop counter" {
	net everything
}

backlog() {
	local n

	n=$("$rc" --json capture stats "$golden/opcodes.pcap" | jq .totals.frames)
	# A file a frame: far slower than they come.
	record -w "$tmp/a.pcap" --file-frames 1 --files 2
	kill -STOP "$pid"
	play "$golden/opcodes.pcap" 150
	kill -TERM "$pid"
	kill -CONT "$pid"
	wait "$pid"
	cat "$tmp/out"
	grep " $((150 * n)) frames" "$tmp/out"
}

@test "what waited when a recording was ended is recorded all the same" {
	net backlog
}

headers() {
	local n

	n=$("$rc" --json capture stats "$golden/cm.pcap" | jq .totals.frames)
	record -w "$tmp/a.pcap" --limit "$n"
	play "$golden/cm.pcap"
	wait "$pid"
	# Connection management is whole.
	for f in "$golden/cm.pcap" "$tmp/a.pcap"; do
		"$rc" --json capture decode "$f" | jq -c '[.psn, .opcode, .cm]' >"$tmp/${f##*/}.json"
	done
	diff -u "$tmp/cm.pcap.json" "$tmp/a.pcap.json"
	n=$("$rc" --json capture stats "$golden/opcodes.pcap" | jq .totals.frames)
	record -w "$tmp/b.pcap" --limit "$n"
	play "$golden/opcodes.pcap"
	wait "$pid"
	"$rc" --json capture decode "$tmp/b.pcap" >"$tmp/b.json"
	# shellcheck disable=SC2016 # jq's
	jq -es 'length > 50 and all(.reth == null or .reth.rkey == 0)' "$tmp/b.json"
	[ "$(stat -c %a "$tmp/b.pcap")" = 600 ]
}

@test "headers only: no keys, connection management whole, files 0600" {
	net headers
}

powers() {
	record -w "$1/a.pcapng" --duration 60s
	grep '^CapPrm:.0000000000000000$' "/proc/$pid/status"
	grep '^CapEff:.0000000000000000$' "/proc/$pid/status"
	grep '^NoNewPrivs:.1$' "/proc/$pid/status"
	grep "^Uid:.$2.$2.$2.$2\$" "/proc/$pid/status"
	grep "^Gid:.$2.$2.$2.$2\$" "/proc/$pid/status"
	grep "^Groups:[[:space:]]*$3\$" "/proc/$pid/status"
	kill -TERM "$pid"
	wait "$pid"
	[ "$(stat -c '%u %a' "$1/a.pcapng")" = "$2 600" ]
}

@test "the process that makes the files has no privilege left" {
	net powers "$tmp" 0 '.*'
}

# Its number, once it is confined.
decoder() {
	for _ in $(seq 100); do
		child=$(cat "/proc/$1/task/$1/children")
		child=${child% }
		[ -n "$child" ] && grep -q '^Seccomp:.2$' "/proc/$child/status" && return
		sleep 0.1
	done
	return 1
}

confined() {
	grep '^CapPrm:.0000000000000000$' "/proc/$1/status"
	grep '^CapEff:.0000000000000000$' "/proc/$1/status"
	grep '^CapBnd:.0000000000000000$' "/proc/$1/status"
	grep '^NoNewPrivs:.1$' "/proc/$1/status"
	grep '^Seccomp:.2$' "/proc/$1/status"
	grep '^Uid:.65534.65534.65534.65534$' "/proc/$1/status"
	grep '^Gid:.65534.65534.65534.65534$' "/proc/$1/status"
}

decoding() {
	record -w "$tmp/a.pcapng" --duration 60s
	decoder "$pid"
	confined "$child"
	kill -TERM "$pid"
	wait "$pid"
	[ "$(stat -c '%u %a' "$tmp/a.pcapng")" = "0 600" ]
}

@test "the process that decodes has no privilege, no root uid and a filter, in root's folder too" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	unshare=-n
	net decoding
}

# The request lines of a coordinator, and the numbered reply.
ask() {
	echo "$1" >&6
	while read -r -t 20 reply <&5; do
		[[ $reply != *'"id":'"$2"* ]] || break
	done
	echo "$reply"
	[[ $reply == *'"ok":true'* ]]
}

agent_decodes() {
	mkfifo "$tmp/in" "$tmp/out"
	"$rc" agent <"$tmp/in" >"$tmp/out" &
	pid=$!
	exec 6>"$tmp/in" 5<"$tmp/out"
	ask '{"id":1,"op":"capture_start","netdev":"v0","full":false,"max_bytes":1000000}' 1
	decoder "$pid"
	confined "$child"
	ask '{"id":2,"op":"capture_stop","handle":0}' 2 >"$tmp/stopped"
	jq -e '.summary.drops == "zero" and .bytes > 20 and .complaint == ""' "$tmp/stopped"
	[ ! -e "/proc/$child" ]
	ask '{"id":3,"op":"capture_read","handle":0,"offset":0}' 3 | jq -e '.eof == false'
	if ask '{"id":4,"op":"capture_stop","handle":0}' 4 >"$tmp/again"; then return 1; fi
	grep -q 'already stopped' "$tmp/again"
	ask '{"id":5,"op":"quit"}' 5
	wait "$pid"
}

@test "an agent decodes in a process without privilege, too" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	unshare=-n
	net agent_decodes
}

agent_dies() {
	mkfifo "$tmp/in" "$tmp/out"
	"$rc" agent <"$tmp/in" >"$tmp/out" &
	pid=$!
	exec 6>"$tmp/in" 5<"$tmp/out"
	ask '{"id":1,"op":"capture_start","netdev":"v0","full":false,"max_bytes":1000000}' 1
	decoder "$pid"
	kill -KILL "$pid"
	for _ in $(seq 100); do
		[ -e "/proc/$child" ] || return 0
		sleep 0.1
	done
	return 1
}

@test "a decoding process does not outlive its agent" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	unshare=-n
	net agent_dies
}

listening() {
	mount -t sysfs sysfs /sys # of this network namespace
	"$rc" collect -i v0 --lldp 30 >"$tmp/host.json" &
	pid=$!
	decoder "$pid"
	confined "$child"
	kill -KILL "$pid"
}

@test "collect listens for LLDP in a process without privilege" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	unshare=-nm
	net listening
}

@test "root becomes the owner of the directory it records into" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	own=$(mktemp -d)
	unshare=-n
	chown 65534:65534 "$own"
	net powers "$own" 65534 ''
}

filters() { # FILTER FRAMES WHAT-HOLDS-OF-THEIR-TOTALS
	record -w "$tmp/$1.pcap" -f "$1" -n "$2"
	for f in opcodes loss control; do play "$golden/$f.pcap"; done
	wait "$pid"
	"$rc" --json capture stats "$tmp/$1.pcap" | jq -e ".totals | .frames == $2 and $3"
}

@test "each filter takes its frames and no others" {
	net filters cnp 1 '.cnp == 1'
	net filters nak 2 '.roce == 2 and .cnp == 0'
	net filters pfc 2 '.pfc_frames == 1 and .roce == 0 and .lldp == 0'
	net filters lldp 3 '.lldp == 3'
}

interrupted() {
	for signal in INT TERM HUP; do
		record -w "$tmp/$signal.pcap"
		play "$golden/opcodes.pcap"
		kill -"$signal" "$pid"
		wait "$pid"
		[ "$("$rc" --json capture stats "$tmp/$signal.pcap" | jq .totals.frames)" -eq \
			"$("$rc" --json capture stats "$golden/opcodes.pcap" | jq .totals.frames)" ]
	done
}

@test "a signal ends it in order: what came before is in the file" {
	net interrupted
}

rotating() {
	record -w "$tmp/r.pcapng" --file-frames 10 --files 3 -n 55
	play "$golden/opcodes.pcap"
	wait "$pid"
	(cd "$tmp" && echo r-*)
	[ "$(cd "$tmp" && echo r-*)" = 'r-00004.pcapng r-00005.pcapng r-00006.pcapng' ]
	[ "$("$rc" --json capture stats "$tmp/r-00005.pcapng" | jq .totals.frames)" -eq 10 ]
	[ "$("$rc" --json capture stats "$tmp/r-00006.pcapng" | jq .totals.frames)" -eq 5 ]
	grep '^files        6, last: .*r-00006.pcapng$' "$tmp/out"
}

@test "files follow each other, and the oldest go" {
	net rotating
}

quiet() {
	local began=$SECONDS

	"$rc" --json capture record -i v1 -w "$tmp/q.pcap" -f nak -d 1s >"$tmp/q.json"
	[ $((SECONDS - began)) -lt 30 ]
	jq -e '.schema == "rocecheck.record/1" and .frames == 0 and .dropped == 0 and .rdma_packets == null' "$tmp/q.json"
	"$rc" capture record -i v1 -w "$tmp/q2.pcap" -d 100ms >"$tmp/out"
	grep 'the NIC bypasses the kernel' "$tmp/out"
	grep '^alternative .*mirror port' "$tmp/out"
}

@test "where nothing comes, the time ends it and the reason is told" {
	net quiet
}

# What is said of a recording on standard output goes to standard error.
piped() {
	"$rc" capture record -i v1 -w - --limit 5 2>"$tmp/err" 3>&- >"$tmp/pipe.pcap" &
	pid=$!
	for _ in $(seq 200); do
		if grep -q recording "$tmp/err"; then break; fi
		sleep 0.05
	done
	play "$golden/loss.pcap"
	wait "$pid"
	grep -q '^recorded     5 frames' "$tmp/err"
	"$rc" --json capture stats - <"$tmp/pipe.pcap" | jq -e '.totals.frames == 5'
	[ ! -e ./- ]
}

@test "a recording goes to standard output, one file of it" {
	net piped
	for args in --json '--file-frames 1'; do
		# shellcheck disable=SC2086
		run -2 "$rc" capture record -i lo -w - $args
		[[ $output == *"--write - excludes"* ]]
	done
}

@test "what cannot be recorded is said, and nothing is left behind" {
	for args in '' "-i lo" "-w $tmp/x" "-i lo -w $tmp/x -f tcp" "-i lo -w $tmp/x --files 2" \
		"-i lo -w $tmp/x operand"; do
		# shellcheck disable=SC2086
		run "$rc" capture record $args
		[ "$status" -eq 2 ]
	done
	run "$rc" capture record -i absent0 -w "$tmp/x"
	[ "$status" -eq 3 ]
	[[ $output == *absent0* ]]
	run "$rc" capture record -i lo -w /nonexistent/x
	[ "$status" -eq 3 ]
	[[ $output == */nonexistent/x* ]]
	[ ! -e "$tmp/x" ]
}
