#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `probe server` and `probe client` as far as they go without an RDMA device: options, tokens, the
# connection, and what each end says of the other's absence.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0


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
	token=$(jq -r '.token // empty' "$tmp/server")
}

# client ARGS...: a program in Python on stdin, in which `s` is a connection that has shown the token.
client() {
	local shown='import json, socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall((json.dumps({"probe": "rocecheck.probe/1", "token": sys.argv[2]}) + "\n").encode())
'
	python3 -c "$shown$(cat)" "$port" "$token" "$@"
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
	[[ $output == *"IBV_QPT_RC; ibv_post_send of IBV_WR_RDMA_WRITE, "* ]]
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
		[[ $output == *": not with --incast"*"each server by itself"* ]]
	done
	run -2 "$rc" probe client h2 h3 --incast -b
	[[ $output == *"class 0 does not go backward"* ]]
	run -2 "$rc" probe client h2 h3 --incast --verb read
	[[ $output == *"class 0 is READ"*"write_imm"* ]]
	run -2 "$rc" probe client h2 h3
	[[ $output == *"unexpected argument 'h3'"* ]]
	printf '0123456789abcdef\n' >"$tmp/same" && chmod 600 "$tmp/same"
	run -2 "$rc" probe client h2 h2 --incast --token-file "$tmp/same"
	[[ $output == *"h2 is named twice"* ]]
}

@test "an incast without any server: each one's error is told" {
	printf '0123456789abcdef\n' >"$tmp/same" && chmod 600 "$tmp/same"
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same"
	[[ $stderr == *"error: 127.0.0.1 "*"error: 127.0.0.2 "* ]]
	[ "$(grep -c 'error: ' <<<"$stderr")" -eq 2 ]
	# What there is of them is kept.
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same" \
		--json --out "$tmp/kept"
	[[ $stderr == *"record: $tmp/kept"* ]]
	jq -e --argjson told "$output" '. == $told and .servers == 2 and .exit == 3' "$tmp/kept/incast.json"
	jq -e '.schema == "rocecheck.run/1" and .hosts[1].name == "127.0.0.2"' "$tmp/kept/2-127.0.0.2/run.json"
	: >"$tmp/file"
	run -3 --separate-stderr "$rc" probe client 127.0.0.1 127.0.0.2 -p 1 --incast --token-file "$tmp/same" \
		--json --out "$tmp/file"
	[[ $stderr == *"$tmp/file"* ]]
	jq -e '.servers == 2' <<<"$output"
}

@test "explain: a sweep of sizes is so many runs" {
	run -0 "$rc" probe client --explain --sizes 96-1KiB
	[[ $output == *"sizes    96 B to 1 KiB: 5 runs one after another"* ]]
	run -2 "$rc" probe client h2 -a -s 64
	[[ $output == *"--all: --size says another size"* ]]
}

@test "usage errors name the option and what is accepted, exit 2" {
	run -2 "$rc" probe
	[[ $output == *"probe client"*"probe server"* ]]
	run -2 "$rc" probe clint
	[[ $output == *"did you mean 'probe client'"* ]]
	run -2 "$rc" probe client
	[[ $output == *"the host of the server"* ]]
	run -2 "$rc" probe client h2 </dev/null
	[[ $output == *"token"*"ROCECHECK_PROBE_TOKEN"* ]]
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
}

@test "token files: short, readable by others, missing" {
	echo short >"$tmp/t"
	chmod 600 "$tmp/t"
	run -2 "$rc" probe client h2 --token-file "$tmp/t"
	[[ $output == *"16 to 128 characters"* ]]
	echo 0123456789abcdef >"$tmp/t"
	chmod 644 "$tmp/t"
	run -2 "$rc" probe server --token-file "$tmp/t"
	[[ $output == *"others may read the token"*"chmod 600"* ]]
	run -2 "$rc" probe server --token-file "$tmp/none"
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
	[[ $output == *"no client came"* ]]
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

@test "three wrong tokens end the server, and no token of its own is shown again" {
	start
	for _ in 1 2 3; do
		ROCECHECK_PROBE_TOKEN=0123456789abcdef run -3 "$rc" probe client 127.0.0.1 -p "$port"
		[[ $output == *"the token is not that of the server"* ]]
	done
	ended 3
	run -1 grep -q "$token" "$tmp/server.err"
}

@test "a token of the user's own is not printed" {
	echo 0123456789abcdef-mine >"$tmp/t"
	chmod 600 "$tmp/t"
	start --token-file "$tmp/t"
	[ -z "$token" ]
	run -1 grep -q mine "$tmp/server" "$tmp/server.err"
	run -3 "$rc" probe client 127.0.0.1 -p "$port" --token-file - <"$tmp/t"
	[[ $output != *"the token"* ]]
	ended 0
}

@test "another service, and a server of another version" {
	start
	run -3 env ROCECHECK_PROBE_TOKEN="$token" python3 - "$rc" <<'PY'
import os, socket, subprocess, sys, threading

def serve(s, text):
    c, _ = s.accept()
    c.recv(4096)
    c.sendall(text)
    c.recv(4096)

codes = set()
for text, want in ((b"SSH-2.0-OpenSSH_9.2\r\n", "probe server"),
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
	grep -q "nothing heard of it for 3 s" "$tmp/server.err"
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
	grep -q "127.0.0.1: it is gone, and a call .* does not return" "$tmp/server.err"
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
assert ask(b'{"id":9,"op":"ping"}')["ok"]
s.sendall(b'{"id":10,"op":"quit"}\n')
PY
	ended 0
}
