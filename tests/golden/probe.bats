#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `probe server` and `probe client` as far as they go without an RDMA device: options, tokens, the
# connection, and what each end says of the other's absence.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
load ../record


setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=build/rocecheck
	tmp=$BATS_TEST_TMPDIR
	unset ROCECHECK_PROBE_TOKEN
	server=
}

teardown() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
}

# start OPTIONS...: a server on a free port of the loopback; its port and token.
start() {
	"$rc" probe server -p 0 --listen 127.0.0.1 --wait 20s --json "$@" >"$tmp/server" 2>"$tmp/server.err" 3>&- &
	server=$!
	for _ in {1..100}; do
		[ -s "$tmp/server" ] && jq -e .port "$tmp/server" >/dev/null 2>&1 && break
		sleep 0.05
	done
	port=$(jq .port "$tmp/server")
	token=$(jq -r .token "$tmp/server")
}

# The two proofs of the door, by another implementation than ours: a Python module.
door() {
	cat >"$tmp/door.py" <<'PY'
import hashlib, hmac, json, os, socket

def text(a):
    return "%s port %d" % a

def proof(token, role, client, server):
    """Over both greetings, each with its newline."""
    return hmac.new(token.encode(), b"rocecheck.probe/3 " + role.encode() + b"\n" + client + server, "sha256").hexdigest()

def line(s):
    got = b""
    while not got.endswith(b"\n"):
        one = s.recv(1)
        if not one:
            return got
        got += one
    return got

def say(s, doc):
    sent = json.dumps(doc, separators=(",", ":")).encode() + b"\n"
    s.sendall(sent)
    return sent

def greet(s):
    """A client's greeting and the server's."""
    mine = say(s, {"probe": "rocecheck.probe/3", "build": "0.1.0", "nonce": os.urandom(32).hex(),
                   "client": text(s.getsockname()), "server": text(s.getpeername())})
    return mine, line(s)

def enter(s, token):
    """As a client; False: refused."""
    both = greet(s)
    say(s, {"proof": proof(token, "client", *both)})
    return json.loads(line(s)).get("proof") == proof(token, "server", *both)

def let_in(s, token):
    """As a server."""
    both = line(s), say(s, {"probe": "rocecheck.probe/3", "build": "0.1.0", "nonce": os.urandom(32).hex()})
    assert json.loads(line(s))["proof"] == proof(token, "client", *both)
    say(s, {"proof": proof(token, "server", *both)})
PY
}

# client ARGS...: a program in Python on stdin, in which `s` is a connection that has proven the token.
client() {
	local proven='import json, socket, sys
from door import *
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
assert enter(s, sys.argv[2])
'
	door
	PYTHONPATH=$tmp python3 -c "$proven$(cat)" "$port" "$token" "$@"
}

# ended CODE: the server ends with this exit code, within 10 s.
ended() {
	local code=0

	for _ in {1..200}; do
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	wait "$server" || code=$?
	server=
	[ "$code" -eq "$1" ]
}

@test "explain: what would be measured, without a peer" {
	run -0 "$rc" probe client --explain --mode strict --class tos=104,qps=4,rate=2G --class latency,verb=write \
		--tcp tos=32,streams=4,rate=1G --sweep 64
	[[ $output == *"RC WRITE, 4 QPs, 64 KiB, 2 Gb/s, ToS 104 (DSCP 26)"* ]]
	[[ $output == *"TCP 0    4 streams, 1 Gb/s, ToS 32 (DSCP 8)"* ]]
	[[ $output == *"strict"*"retry count 0"* ]]
	told=$output
	[[ $output == *"IBV_QPT_RC; ibv_post_send of IBV_WR_RDMA_WRITE in lists of "* ]]
	[[ $output == *"registration  "* ]]
	for word in strict rc write paced sampled latency tcp memory baseline raw marking sweep verbs registration gpu; do
		grep -q "^  $word " <<<"$told"
		run -0 "$rc" explain "$word"
		[[ $output == "$word (probe): "* ]]
	done
}

@test "an incast: several hosts, all traffic towards this one" {
	local option

	run -0 "$rc" probe client --explain --incast
	for option in --marking "--sweep 9" -a "--sizes 64-128"; do
		# shellcheck disable=SC2086 # an option and its value
		run -2 "$rc" probe client h2 h3 --incast $option
		[[ $output == *" cannot be combined with --incast"*"one probe per server"* ]]
	done
	run -2 "$rc" probe client h2 h3 --incast -b
	[[ $output == *"class 0 must have direction backward"* ]]
	run -2 "$rc" probe client h2 h3 --incast --verb read
	[[ $output == *"class 0 is READ"*"write_imm"* ]]
	run -2 "$rc" probe client h2 h3
	[[ $output == *"unexpected argument 'h3'"* ]]
	printf '0123456789abcdef0123456789abcdef\n' >"$tmp/same" && chmod 600 "$tmp/same"
	run -2 "$rc" probe client h2 h2 --incast --token-file "$tmp/same"
	[[ $output == *"h2 is listed twice"* ]]
}

@test "an incast without any server: each one's error is told" {
	printf '0123456789abcdef0123456789abcdef\n' >"$tmp/same" && chmod 600 "$tmp/same"
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same"
	[[ $stderr == *"error: 127.0.0.1 "*"error: 127.0.0.2 "* ]]
	[ "$(grep -c 'error: ' <<<"$stderr")" -eq 2 ]
	# What there is of them is kept.
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same" \
		--json --out "$tmp/kept"
	[[ $stderr == *"record: $tmp/kept"* ]]
	jq -e --argjson told "$output" '. == $told and .servers == 2 and .exit == 3' "$tmp/kept/incast.json"
	jq -e '.schema == "rocecheck.run/1" and [.hosts[1, 2].name] == ["127.0.0.1", "127.0.0.2"]' <(record_of "$tmp/kept")
	: >"$tmp/file"
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same" \
		--json --out "$tmp/file"
	[[ $stderr == *"$tmp/file: is a file, not a folder"* ]]
	[ -z "$output" ] # before anything is sent
}

@test "explain: a sweep of sizes is so many runs" {
	run -0 "$rc" probe client --explain --sizes 96-1KiB
	[[ $output == *"sizes    96 B to 1 KiB: 5 runs, one after another"* ]]
	run -2 "$rc" probe client h2 -a -s 64
	[[ $output == *"--all cannot be combined with --size"* ]]
}

@test "usage errors name the option and what is accepted, exit 2" {
	run -2 "$rc" probe
	[[ $output == *"probe client"*"probe server"* ]]
	run -2 "$rc" probe clint
	[[ $output == *"did you mean 'probe client'"* ]]
	run -2 "$rc" probe client
	[[ $output == *"missing HOST"* ]]
	run -2 "$rc" probe client h2 </dev/null
	[[ $output == *"token"*"ROCECHECK_PROBE_TOKEN"* ]]
	run -2 "$rc" probe client h2 --allow-inconclusive RC-TRN-999 --token-file /none
	[[ $output == *"unknown rule 'RC-TRN-999'"* ]]
	run -2 "$rc" probe client h2 --format xml
	[[ $output == *"text"*"json"*"junit"* ]]
	run -2 "$rc" probe client h2 -c DC
	[[ $output == *"rc, uc, ud, xrc"* ]]
	run -2 "$rc" probe client h2 --class tps=1
	[[ $output == *"did you mean 'tos'"* ]]
	run -2 "$rc" probe client h2 --mode strict --verb send
	[[ $output == *"strict"* ]]
	run -2 "$rc" probe server now
	[[ $output == *"unexpected argument"* ]]
	run -2 "$rc" probe server --listen h2
	[[ $output == *"numeric address"* ]]
	for end in server "client h2"; do
		run -2 "$rc" probe $end --peer-address 198.18.0.1,h2
		[[ $output == *"invalid address 'h2': expected ADDRESS or ADDRESS/LENGTH"* ]]
	done
}

@test "token files: short, readable by others, missing" {
	echo short >"$tmp/t"
	chmod 600 "$tmp/t"
	run -2 "$rc" probe client h2 --token-file "$tmp/t"
	[[ $output == *"invalid token: expected 32 hexadecimal digits"* ]]
	echo 0123456789abcdef0123456789abcdef >"$tmp/t"
	chmod 644 "$tmp/t"
	run -2 "$rc" probe client h2 --token-file "$tmp/t"
	[[ $output == *"other users can read the token"*"chmod 600"* ]]
	ln -s "$tmp/t" "$tmp/link"
	run -2 "$rc" probe client h2 --token-file "$tmp/link"
	[[ $output == *"link: the token file must not be a symbolic link"* ]]
	run -2 "$rc" probe client h2 --token-file "$tmp/none"
	[[ $output == *"none: No such file"* ]]
	ROCECHECK_PROBE_TOKEN=x run -2 "$rc" probe client h2
	[[ $output == *"ROCECHECK_PROBE_TOKEN"* ]]
}

@test "a signal while the token is asked for: it ends so, and the terminal shows again what is typed" {
	local signal

	for signal in INT TERM; do
		rm -f "$tmp/pid"
		timeout 15 script -qefc "sh -c 'echo \$\$ >$tmp/pid; exec $rc probe client 127.0.0.1'; echo ended \$?; stty -a" \
			/dev/null >"$tmp/said" 2>&1 3>&- < <(exec sleep 15 3>&-) &
		server=$!
		for _ in {1..200}; do
			grep -q 'token of the server' "$tmp/said" && break
			sleep 0.05
		done
		sleep 0.2
		kill -s "$signal" "$(<"$tmp/pid")"
		wait "$server" || true
		grep -q "ended $((128 + $(kill -l $signal)))" "$tmp/said"
		grep -qE '(^|[ ;])echo ' "$tmp/said"
	done
}

@test "nobody there: the address, and what to start" {
	start
	kill "$server"
	ended 4
	ROCECHECK_PROBE_TOKEN=$token run -3 "$rc" probe client 127.0.0.1 -p "$port"
	[[ $output == *"127.0.0.1 port $port: Connection refused"*"probe server"* ]]
}

@test "a port in use, and nobody who comes" {
	start
	run -3 "$rc" probe server -p "$port" --listen 127.0.0.1
	[[ $output == *"in use"*"-p"* ]]
	run -3 "$rc" probe server -p 0 --wait 100ms
	[[ $output == *"no client connected"* ]]
}

@test "without an RDMA device both ends say so, and end" {
	[ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] || skip "this machine has one"
	start
	ROCECHECK_PROBE_TOKEN=$token run --separate-stderr -3 "$rc" probe client 127.0.0.1 -p "$port" --json
	[[ $stderr == *"no RDMA device"*"doctor"* ]]
	jq -e '.schema == "rocecheck.probe/1" and .exit == 3 and .verdict == null and
		(.why | contains("no RDMA device")) and .ends[1].version == .ends[0].version' <<<"$output"
	ended 0
	grep -q "127.0.0.1: connected" "$tmp/server.err"
}

@test "strangers are slowed down and end nothing, and no token is shown" {
	local i

	start
	for i in 1 2 3 4; do
		ROCECHECK_PROBE_TOKEN=0123456789abcdef0123456789abcdef run -3 "$rc" probe client 127.0.0.1 -p "$port"
		[[ $output == *"the token does not match the server's token"* ]]
	done
	# A port scanner, a web client, and one that says nothing.
	PYTHONPATH=$tmp python3 - "$port" <<'PY'
import socket, sys
at = ("127.0.0.1", int(sys.argv[1]))
socket.create_connection(at).close()
web, silent = socket.create_connection(at), socket.create_connection(at)
web.sendall(b"GET / HTTP/1.1\r\n\r\n")
PY
	# During a run nobody is heard.
	client <<'PY'
assert b"hello" in s.recv(4096)
try:
    socket.create_connection(s.getpeername())
    sys.exit("the port is open")
except ConnectionRefusedError:
    pass
PY
	ended 4
	grep -Eq "127.0.0.1 port [0-9]+: refused: the token does not match the server's token" "$tmp/server.err"
	grep -Eq "[67] connections without the token, the last one from 127.0.0.1 port" "$tmp/server.err"
	run -1 grep -q "$token" "$tmp/server.err"
}

# strangers KIND: in the background, from the client's address, as many at once as the server takes and more; they are
# silent, or send a greeting, or a wrong proof. Ends with the process of $strangers.
strangers() {
	door
	cat >"$tmp/strangers.py" <<'PY'
import collections, os, socket, sys, threading
from door import *
port, kind = int(sys.argv[1]), sys.argv[2]

def stand():
    kept = collections.deque(maxlen=100)
    while True:
        try:
            s = socket.create_connection(("127.0.0.1", port), 5)
            kept.append(s)
            if kind != "silent":
                greet(s)
            if kind == "wrong":
                say(s, {"proof": "22" * 32})
        except (OSError, ValueError):
            pass

for _ in range(6):
    threading.Thread(target=stand, daemon=True).start()
sys.stdin.read()
os._exit(0)
PY
	exec 7> >(PYTHONPATH=$tmp exec python3 "$tmp/strangers.py" "$port" "$1" 2>"$tmp/strangers.err" 3>&-)
}

@test "a stranger at every waiting place, from the client's address: the client connects within 5 s" {
	local kind began took

	for kind in silent greeting wrong; do
		start
		strangers $kind
		sleep 1
		began=${EPOCHREALTIME/./}
		ROCECHECK_PROBE_TOKEN=$token run timeout 20 "$rc" probe client 127.0.0.1 -p "$port"
		took=$((${EPOCHREALTIME/./} - began))
		exec 7>&-
		echo "$kind: $took us: $output"
		grep "127.0.0.1: connected" "$tmp/server.err" || { cat "$tmp/server.err" "$tmp/strangers.err"; false; }
		[ "$took" -lt 5000000 ]
		[ "$(grep -c refused "$tmp/server.err")" -le 8 ] # one a second
		kill "$server" 2>/dev/null || true
		wait "$server" || true
	done
}

@test "a connection that gave way to strangers: the client comes again" {
	door
	PYTHONPATH=$tmp python3 - "$rc" <<'PY'
import socket, subprocess, sys, threading
from door import *
token = "0123456789abcdef" * 2
listener = socket.create_server(("127.0.0.1", 0))

def serve():
    line(listener.accept()[0])
    s, _ = listener.accept()
    let_in(s, token)
    say(s, {"hello": "rocecheck.agent/1", "build": "9.9.9"})
    s.recv(4096)

threading.Thread(target=serve, daemon=True).start()
r = subprocess.run([sys.argv[1], "probe", "client", "127.0.0.1", "-p", str(listener.getsockname()[1])],
                   env={"ROCECHECK_PROBE_TOKEN": token}, capture_output=True, text=True, timeout=60)
assert r.returncode == 3 and "9.9.9" in r.stderr, r.stderr
PY
}

@test "the token is on no wire: a recorded connection has neither it nor a proof for another one" {
	start
	door
	PYTHONPATH=$tmp python3 - "$rc" "$port" "$token" <<'PY'
import socket, subprocess, sys, threading
from door import *
rc, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
heard = [b"", b""]

def relay(a, b, n):
    try:
        while data := a.recv(4096):
            heard[n] += data
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

def serve(listener):
    a, _ = listener.accept()
    b = socket.create_connection(("127.0.0.1", port))
    for args in ((a, b, 0), (b, a, 1)):
        threading.Thread(target=relay, args=args, daemon=True).start()

# Passed on as it is: other addresses.
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
r = subprocess.run([rc, "probe", "client", "127.0.0.1", "-p", str(listener.getsockname()[1])],
                   env={"ROCECHECK_PROBE_TOKEN": token}, capture_output=True, text=True, timeout=30)
assert r.returncode == 3 and "addresses differ" in r.stderr, r.stderr
assert token.encode() not in heard[0] + heard[1] and b"token" not in heard[0]

# A server without the token: it hears a greeting and a proof, and nothing more.
listener = socket.create_server(("127.0.0.1", 0))
said = []

def lie():
    s, _ = listener.accept()
    said.append(line(s))
    say(s, {"probe": "rocecheck.probe/3", "build": "0.1.0", "nonce": "11" * 32})
    said.append(line(s))
    say(s, {"proof": "22" * 32})
    said.append(s.recv(4096))

t = threading.Thread(target=lie)
t.start()
r = subprocess.run([rc, "probe", "client", "127.0.0.1", "-p", str(listener.getsockname()[1])],
                   env={"ROCECHECK_PROBE_TOKEN": token}, capture_output=True, text=True, timeout=30)
t.join()
assert r.returncode == 3 and "the server does not know the token" in r.stderr, r.stderr
assert said[2] == b"" and token.encode() not in b"".join(said), said
PY
}

@test "an older client is told so, and so is a client of an older server" {
	start
	PYTHONPATH=$tmp python3 - "$rc" "$port" "$token" <<'PY'
import json, socket, subprocess, sys, threading
rc, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
s = socket.create_connection(("127.0.0.1", port))
s.sendall((json.dumps({"probe": "rocecheck.probe/1", "token": token}) + "\n").encode())
error = json.loads(s.makefile().readline())["error"]
assert "uses protocol rocecheck.probe/1" in error["text"] and "rocecheck.probe/3" in error["text"], error
assert "same version" in error["hint"]

def old(listener):
    s, _ = listener.accept()
    s.recv(4096)
    s.sendall(b'{"error":{"code":-71,"text":"this is no client of rocecheck.probe/1",'
              b'"hint":"install one version of rocecheck at both ends"}}\n')

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=old, args=(listener,), daemon=True).start()
r = subprocess.run([rc, "probe", "client", "127.0.0.1", "-p", str(listener.getsockname()[1])],
                   env={"ROCECHECK_PROBE_TOKEN": token}, capture_output=True, text=True, timeout=30)
assert r.returncode == 3 and "rocecheck.probe/1" in r.stderr and "one version" in r.stderr, r.stderr
PY
	kill "$server"
	ended 4
}

@test "a token a server: a line HOST TOKEN for each, and a host without one" {
	printf '127.0.0.1 0123456789abcdef0123456789abcdef\n127.0.0.2 fedcba9876543210fedcba9876543210\n' >"$tmp/each" && chmod 600 "$tmp/each"
	run -2 "$rc" probe client 127.0.0.1 127.0.0.3 --incast --token-file "$tmp/each"
	[[ $output == *"$tmp/each: no token for 127.0.0.3"*"add a line '127.0.0.3 TOKEN'"* ]]
	run -2 "$rc" probe client 127.0.0.1 127.0.0.2 --incast </dev/null
	[[ $output == *"missing token of the server 127.0.0.1"* ]]
	# Each server hears the proof of its own token.
	door
	PYTHONPATH=$tmp python3 - "$rc" "$tmp/each" <<'PY'
import socket, subprocess, sys, threading
from door import *
rc, file = sys.argv[1:]
first = socket.create_server(("127.0.0.1", 0))
port = first.getsockname()[1]
second = socket.create_server(("127.0.0.2", port))
right = []

def serve(listener, token):
    s, _ = listener.accept()
    let_in(s, token)
    right.append(token)
    say(s, {"hello": "rocecheck.agent/1", "build": "9.9.9"})
    s.recv(4096)

for args in ((first, "0123456789abcdef0123456789abcdef"), (second, "fedcba9876543210fedcba9876543210")):
    threading.Thread(target=serve, args=args, daemon=True).start()
r = subprocess.run([rc, "probe", "client", "127.0.0.1", "127.0.0.2", "-p", str(port), "--incast", "--token-file", file],
                   capture_output=True, text=True, timeout=60)
assert sorted(right) == ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"], (right, r.stderr)
assert r.stderr.count("9.9.9") == 2, r.stderr
PY
}

@test "a server takes no token of the user: no option, and not the environment's" {
	echo 0123456789abcdef0123456789abcdef >"$tmp/t"
	chmod 600 "$tmp/t"
	run -2 "$rc" probe server -p 0 --token-file "$tmp/t"
	[[ $output == *"--token-file"* ]]
	ROCECHECK_PROBE_TOKEN=0123456789abcdef0123456789abcdef start
	[[ $token =~ ^[0-9a-f]{32}$ && $token != 0123456789abcdef0123456789abcdef ]]
	echo "$token" >"$tmp/t"
	run -3 "$rc" probe client 127.0.0.1 -p "$port" --token-file - <"$tmp/t"
	[[ $output != *"the token"* ]]
	ended 0
}

@test "a token of the environment is taken out of it" {
	local client

	start
	kill -STOP "$server"
	ROCECHECK_PROBE_TOKEN=$token "$rc" probe client 127.0.0.1 -p "$port" >"$tmp/client" 2>&1 3>&- &
	client=$!
	for _ in {1..100}; do
		# before its exec the process is a shell, without the variable
		[ "/proc/$client/exe" -ef "$rc" ] && ! grep -qz ROCECHECK "/proc/$client/environ" && break
		sleep 0.05
	done
	run -1 grep -q "$token" "/proc/$client/environ"
	kill -CONT "$server"
	wait "$client" || [ $? -eq 3 ]
	run -1 grep "the token" "$tmp/client"
	ended 0
}

@test "another service, and a server of another version" {
	start
	door
	run -3 env ROCECHECK_PROBE_TOKEN="$token" PYTHONPATH="$tmp" python3 - "$rc" <<'PY'
import os, socket, subprocess, sys, threading
from door import let_in

def serve(s, text):
    c, _ = s.accept()
    if b"hello" in text:
        let_in(c, os.environ["ROCECHECK_PROBE_TOKEN"])
    else:
        c.recv(4096)
    c.sendall(text)
    c.recv(4096)

codes = set()
for text, want in ((b"SSH-2.0-\x1b[2JOpenSSH_9.2\r\n", "not a probe server of protocol rocecheck.probe/3: it sent 'SSH-2.0-?[2JOpenSSH_9.2'"),
                   (b'{"hello":"rocecheck.agent/1","build":"9.9.9"}\n', "9.9.9")):
    s = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(s, text), daemon=True).start()
    r = subprocess.run([sys.argv[1], "probe", "client", "127.0.0.1", "-p", str(s.getsockname()[1])],
                       capture_output=True, text=True, timeout=30)
    if want not in r.stderr:
        sys.exit("no '%s' in: %s" % (want, r.stderr))
    codes.add(r.returncode)
sys.exit(codes.pop() if len(codes) == 1 else 99)
PY
}

@test "a client that goes away, or says nothing: the server ends in 4, within its time" {
	start
	client <<'PY'
assert b"hello" in s.recv(4096)
PY
	ended 4
	grep -q "closed the connection" "$tmp/server.err"
	start
	client <<'PY'
import time
begin = time.time()
while s.recv(4096):
    pass
assert 2.5 < time.time() - begin < 6, time.time() - begin
PY
	ended 4
	grep -q "no message from the client for 3 s" "$tmp/server.err"
}

# A thread that its tracer has stopped returns no more than one in a driver that waits for ever.
@test "a client that goes away while a call does not return: the server says so, and ends in 4" {
	start
	client "$server" <<'PY'
import ctypes, os, time
SEIZE, INTERRUPT = 0x4206, 0x4207
libc = ctypes.CDLL(None, use_errno=True)
assert b"hello" in s.recv(4096)
pid = int(sys.argv[3])
for request in (SEIZE, INTERRUPT):
    assert libc.ptrace(request, pid, None, None) == 0, os.strerror(ctypes.get_errno())
os.waitpid(pid, 0x40000000)  # __WALL: it has stopped
begin = time.time()
s.close()
while not os.WIFEXITED(os.waitpid(pid, 0x40000000)[1]):
    pass
assert time.time() - begin < 6, time.time() - begin
PY
	ended 4
	grep -q "127.0.0.1: the client is gone, .* stuck in a kernel or driver call" "$tmp/server.err"
}

@test "hostile lines: each is answered or ends the connection, none more than a probe may do" {
	start
	client <<'PY'
f = s.makefile("rb")
assert b"hello" in f.readline()

def ask(line):
    s.sendall(line + b"\n")
    while True:
        answer = json.loads(f.readline())
        if "event" not in answer:
            return answer

for op in ("plan", "apply", "confirm", "rollback", "transactions", "capture_start", "capture_read"):
    assert ask(json.dumps({"id": 1, "op": op}).encode())["error"]["code"] == -1, op
for line in (b"", b"{", b"[]", b"\xff\xfe", b'{"id":1}', b'{"id":-1,"op":"ping"}', b'{"id":1,"id":2,"op":"ping"}',
             b'{"id":1,"op":"traffic_open"}', b'{"id":1,"op":"traffic_open","spec":{"classes":[]}}',
             b'{"id":1,"op":"traffic_run","handle":64}', b'{"id":1,"op":"traffic_run","handle":0,"progress_ms":1}',
             b'{"id":1,"op":"traffic_stop","handle":-1}', b'{"id":1,"op":"counters","ports":[{"netdev":"../../etc"}]}',
             b'{"id":1,"op":"counters","ports":7}', b'{"id":1,"op":"collect","machine":7}', b"[" * 100000,
             b"x" * (1 << 21)):
    answer = ask(line)
    assert "error" in answer or "ports" in answer, (line[:80], answer)
# 8 TiB of messages.
spec = {"role": "client", "mode": "observe", "bringup": "raw", "ibdev": "rxe0", "ib_port": 1, "gid_index": 1,
        "duration_ms": 1000, "seed": 1, "timeout": 0, "mtu_bytes": 0, "threads": 1, "pin": False, "huge_pages": False,
        "classes": [{"tos": 0, "sl": 0, "transport": "rc", "verb": "write", "direction": "forward", "check": "every",
                     "probe": False, "qps": 256, "message_bytes": 8 << 20, "window": 4096, "rate_bytes_per_s": 0,
                     "count": 0}]}
answer = ask(json.dumps({"id": 8, "op": "traffic_open", "spec": spec}).encode())
assert "traffic needs 819" in answer["error"]["text"] and "available" in answer["error"]["text"], answer
assert ask(b'{"id":9,"op":"ping"}')["ok"]
s.sendall(b'{"id":10,"op":"quit"}\n')
PY
	ended 0
}
