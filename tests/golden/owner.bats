#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Who passes for lldpad: processes of a user without rights beside the real kernel, each in a network namespace of
# its own. Abstract names of sockets are a namespace's.
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	# The folders of bats are not for other users.
	OWNER_DIR=$(mktemp -d)
	export OWNER_DIR
	cat >"$OWNER_DIR/bind.py" <<-'END'
		# bind.py KIND LOG: takes the name, and writes what it receives into LOG until stdin ends.
		import array, select, socket, sys
		kind, log = sys.argv[1:]
		s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if kind == "stream" else socket.SOCK_DGRAM)
		name = "\0/com/intel/lldpad"
		if kind == "line":
		    name = "\0x\n0: 00000002 00000000 00000000 0002 01 1 @/com/intel/lldpad"
		s.bind(name)
		if kind == "hidden":
		    # In flight between two sockets: in no process's table of descriptors.
		    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])
		    s.close()
		print("ready", flush=True)
		while True:
		    ready = select.select([sys.stdin] + ([s] if kind == "plain" else []), [], [])[0]
		    if sys.stdin in ready:
		        break
		    open(log, "ab").write(s.recv(4096))
	END
	cat >"$OWNER_DIR/diag.py" <<-'END'
		# Whether the kernel lists sockets of AF_UNIX: SOCK_DIAG_BY_FAMILY, a dump of those in any state.
		import socket, struct, sys
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
		s.send(struct.pack("=IHHII", 40, 20, 0x301, 1, 0) + struct.pack("=BBHIIIII", 1, 0, 0, 0xffffffff, 0, 0x41, 0, 0))
		sys.exit(struct.unpack("=H", s.recv(65536)[4:6])[0] == 2)
	END
	chmod 755 "$OWNER_DIR" "$OWNER_DIR/bind.py"
}

teardown_file() {
	rm -rf "$OWNER_DIR"
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	[ "$(id -u)" = 0 ] || skip "needs root, to be somebody else"
	has_unix_diag || skip "this kernel does not say who made a socket"
	rc=$PWD/build/rocecheck
	bind=$OWNER_DIR/bind.py
	tmp=$OWNER_DIR/$BATS_TEST_NUMBER
	mkdir -m 755 "$tmp"
	mkdir -m 777 "$tmp/theirs"
}

# beside UID COMMAND... -- COMMAND...: the second one while the first runs as that user, in a new network namespace.
# The first one has said its first line by then, and ends with the second.
beside() {
	local uid=$1 theirs=()

	shift
	while [ "$1" != -- ]; do
		theirs+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016
	unshare -n bash -c 'uid=$1 n=$2; shift 2
		rm -f "$0/in" "$0/out"; mkfifo "$0/in"; sleep 60 >"$0/in" & hold=$!
		(cd "$0/theirs"; exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "${@:1:n}") <"$0/in" >"$0/out" 3>&- &
		pid=$!
		echo $pid >"$0/pid"
		for ((i = 0; i < 100; i++)); do [ ! -s "$0/out" ] || break; sleep 0.1; done
		"${@:n+1}"; rc=$?
		kill $pid $hold 2>/dev/null; wait
		exit $rc' "$tmp" "$uid" ${#theirs[@]} "${theirs[@]}" "$@" 3>&-
}

# The pid of lldpad and who sets DCB, as a snapshot has it.
owners() {
	jq -c '[.machine.lldpad, (.machine.owners[] | [.kind, .name])]'
}

collected() {
	beside "$@" -- timeout 20 "$rc" collect -i lo | owners
}

has_unix_diag() {
	unshare -n /usr/bin/python3 "$OWNER_DIR/diag.py"
}

@test "a user's process that has the name of lldpad's socket: no lldpad, and nothing is sent to it" {
	run -0 collected 65534 /usr/bin/python3 "$bind" plain log
	[ "$output" = '[0,["stranger","uid 65534"]]' ] || { echo "$output"; return 1; }
	[ ! -e "$tmp/theirs/log" ]
}

@test "a set-uid program that a user starts by a link called lldpad" {
	# tail -f FILE, for lldpad -f FILE.
	install -m 4755 /usr/bin/tail "$tmp/tail"
	ln -s ../tail "$tmp/theirs/lldpad"
	echo 'lldp : { lo : { tlvid0080c20b : { enabled = 255; willing = 0; }; }; };' >"$tmp/theirs/conf"
	beside 65534 ./lldpad -f conf -- sh -c 'grep -E "^(Name|Uid)" /proc/$(cat "$1")/status' - "$tmp/pid" >"$tmp/status"
	grep -P 'Name:\tlldpad' "$tmp/status"
	grep -qP 'Uid:\t65534\t0\t' "$tmp/status" || skip "the folder of tests does not allow set-uid"
	cat >"$tmp/theirs/both" <<-END
		#!/bin/sh
		exec 4<&0
		/usr/bin/python3 $bind plain log <&4 >bound &
		until [ -s bound ]; do sleep 0.1; done
		exec ./lldpad -f conf
	END
	chmod 755 "$tmp/theirs/both"
	run -0 collected 65534 ./both
	rm "$tmp/theirs/bound"
	[ "$output" = '[0,["stranger","uid 65534"]]' ] || { echo "$output"; return 1; }
	# Its file is not what lldpad was told.
	printf 'schema: rocecheck.profile/1\nname: p\ndcbx: {agent: lldpad}\npfc: {willing: off, enabled: [3]}\n' >"$tmp/p.yaml"
	run beside 65534 ./both -- timeout 20 "$rc" plan "$tmp/p.yaml" -i lo
	[ "$status" -ne 124 ]
	[[ $output != *0,1,2* ]]
	rm "$tmp/theirs/bound"
	# A FIFO has nobody waiting for a writer.
	rm "$tmp/theirs/conf"
	mkfifo -m 666 "$tmp/theirs/conf"
	run beside 65534 ./both -- timeout 20 "$rc" plan "$tmp/p.yaml" -i lo
	[ "$status" -ne 124 ]
}

@test "a name in a socket that no process has open is a stranger's as well" {
	run -0 collected 65534 /usr/bin/python3 "$bind" hidden log
	[ "$output" = '[0,["stranger","uid 65534"]]' ] || { echo "$output"; return 1; }
}

@test "a name with a line break, and a stream socket, are not lldpad's" {
	run -0 collected 65534 /usr/bin/python3 "$bind" line log
	[ "$output" = '[0]' ] || { echo "$output"; return 1; }
	run -0 collected 65534 /usr/bin/python3 "$bind" stream log
	[ "$output" = '[0]' ] || { echo "$output"; return 1; }
}

@test "a socket that root made waits for lldpad, as systemd does" {
	run -0 collected 0 /usr/bin/python3 "$bind" plain log
	[ "$output" = '[0,["lldpad-socket",""]]' ] || { echo "$output"; return 1; }
}
