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
	export -f record play in_net
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
	# The same packets; of their times and numbers nothing is said.
	for f in "$golden/opcodes.pcap" "$tmp/a.pcapng"; do
		"$rc" --json capture decode "$f" | jq -c 'del(.time_ns)' >"$tmp/${f##*/}.json"
	done
	diff -u "$tmp/opcodes.pcap.json" "$tmp/a.pcapng.json"
	[[ $("$rc" capture stats "$tmp/a.pcapng") == *'drops        0, as the capture counted'* ]]
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

@test "the recording process has no privilege left" {
	net powers "$tmp" 0 '.*'
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
	grep '^files        6, the last one .*r-00006.pcapng$' "$tmp/out"
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
	grep 'hardware RoCE bypasses' "$tmp/out"
	grep '^way out .*mirror port' "$tmp/out"
}

@test "where nothing comes, the time ends it and the reason is told" {
	net quiet
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
