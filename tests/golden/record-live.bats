#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# capture record while its interface changes: every way of libpcap through a live source, under the filter of the
# process that decodes. One end of a veth pair in a network namespace is recorded, the other plays frames.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/build/rocecheck tmp=$BATS_TEST_TMPDIR
	export rc tmp
	unshare -Urn ip link add name v0 type veth peer name v1 2>/dev/null ||
		skip 'no namespace with a veth pair can be made here'
	command -v python3 >/dev/null || skip 'python3 is not installed'
}

# recorded SCRIPT: in a namespace with the pair v0 - v1, with a recording of v1 under way: its pid is in $pid, that of
# the process that decodes in $decoder. Its exit code and what it said is in $output.
recorded() {
	run timeout 60 unshare -Urn bash -c '
		set -euo pipefail
		ip link add name v0 type veth peer name v1
		ip link set v0 up
		ip link set v1 up
		# play [TIMES]: sends as many frames through v0.
		play() {
			until ip link show v0 | grep -q "state UP"; do sleep 0.05; done
			python3 -c "
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((\"v0\", 0))
for i in range(int(sys.argv[1])):
    s.send(bytes(12) + b\"\\x89\\x15\" + bytes(1400))" "${1:-10}"
		}
		: >"$tmp/said"
		"$rc" capture record --full -i v1 -w "$tmp/a.pcap" >>"$tmp/said" 2>&1 3>&- &
		pid=$!
		trap "kill $pid 2>/dev/null || true" EXIT
		for i in $(seq 200); do
			! grep -q recording "$tmp/said" || break
			sleep 0.05
		done
		decoder=$(<"/proc/$pid/task/$pid/children")
		play
		eval "$1"
		kill -TERM "$pid" 2>/dev/null || true
		code=0
		wait "$pid" || code=$?
		cat "$tmp/said"
		echo "exit $code"' bash "$1"
	echo "$output"
	[ "$status" = 0 ]
}

# goes_on FRAMES
goes_on() {
	[[ $output == *" $1 frames"* ]]
	[ "${lines[-1]}" = 'exit 0' ]
}

@test "an interface that goes down and comes up again is recorded before and after" {
	recorded 'ip link set v1 down; sleep 1; ip link set v1 up; play'
	goes_on 20
}

@test "an interface that goes down three times at once, with its peer, is recorded" {
	recorded 'for i in 1 2 3; do ip link set v1 down; ip link set v1 up; ip link set v0 down; ip link set v0 up; done; play'
	goes_on 20
}

@test "a recording ends in order while its interface is down" {
	recorded 'ip link set v1 down; sleep 1'
	goes_on 10
}

@test "an interface that is gone ends the recording, with a word about it" {
	recorded 'ip link del v1; wait "$pid" || true'
	[[ $output == *"v1: capture: The interface disappeared"* ]]
	[ "${lines[-1]}" != 'exit 0' ]
	[ -s "$tmp/a.pcap" ]
}

@test "an interface that is down and then gone ends the recording, with a word about it" {
	recorded 'ip link set v1 down; sleep 0.5; ip link del v1; wait "$pid" || true'
	[[ $output == *"v1: capture: The interface disappeared"* ]]
	[ "${lines[-1]}" != 'exit 0' ]
}

@test "an interface that is renamed while it is up is recorded further" {
	recorded 'ip link set v1 name other || echo "not here" >>"$tmp/said"; play'
	[[ $output != *"not here"* ]] || skip 'this kernel renames no interface that is up'
	goes_on 20
}

@test "an interface that is renamed while it is down ends the recording: libpcap looks for it by name" {
	recorded 'ip link set v1 down; ip link set v1 name other; ip link set other up; wait "$pid" || true'
	[[ $output == *"v1: capture: The interface disappeared"* ]]
	[ "${lines[-1]}" != 'exit 0' ]
}

@test "an interface whose MTU changes is recorded further" {
	recorded 'ip link set v1 mtu 9000; play; ip link set v1 mtu 2000; play'
	goes_on 30
}

@test "an interface that moves to another namespace ends the recording" {
	recorded 'unshare -n sleep 20 & sleep 0.5; ip link set v1 netns $!; wait "$pid" || true; kill %2'
	[[ $output == *"v1: capture: The interface disappeared"* ]]
}

@test "a recording goes on without promiscuous mode" {
	recorded 'ip link set v1 promisc on; ip link set v1 promisc off; ip link set v1 allmulticast on; play'
	goes_on 20
}

@test "a ring that is full loses frames and counts them" {
	recorded 'kill -STOP "$decoder"; play 60000; kill -CONT "$decoder"; sleep 1; play'
	[[ $output =~ ([0-9]+)" frames" ]]
	((BASH_REMATCH[1] > 10 && BASH_REMATCH[1] < 60020))
	[[ $output != *" 0 lost"* ]]
	[ "${lines[-1]}" = 'exit 0' ]
}

@test "signals to the process that decodes change nothing" {
	recorded 'for s in HUP INT TERM QUIT PIPE TSTP XFSZ WINCH URG CHLD; do kill -$s $decoder; done; kill -STOP $decoder; kill -CONT $decoder; play'
	goes_on 20
}
