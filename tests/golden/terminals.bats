#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Terminals take no orders from hosts, servers, journals and files: whatever those say, what rocecheck
# prints of it holds no control character and nothing that reorders or hides text.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=${ROCECHECK:-$PWD/build/rocecheck}
	tmp=$BATS_TEST_TMPDIR
	# CSI, ST and OSC as C1 in UTF-8, U+202E, U+2066, U+200B, a tag: in printf's words.
	hostile='\302\2332J\302\23332mPASS \302\2350;owned\302\234 \342\200\256lla\342\201\246x\342\200\213\363\240\201\201'
}

# clean FILE...: has text, is UTF-8, and none of it drives or deceives a terminal. --color always adds our own
# styles and nothing else.
clean() {
	python3 - "$@" <<'PY'
import re, sys, unicodedata
for path in sys.argv[1:]:
    text = open(path, "rb").read().decode("utf-8")
    text = re.sub("\x1b\\[(0|1|2|3[12346]|1;3[13])m", "", text)
    if not text.strip():
        sys.exit("%s: nothing was printed" % path)
    for c in text:
        if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"):
            sys.exit("%s: U+%04X in %r" % (path, ord(c), text))
PY
}

# both CODE WORD ARGS...: rocecheck ends in CODE, says WORD, and both of its streams are clean, with and without
# colour; one of them may be empty.
both() {
	local code=$1 word=$2 colour got

	shift 2
	for colour in never always; do
		got=0
		timeout 60 "$rc" --color "$colour" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
		cat "$tmp/out" "$tmp/err" >"$tmp/all"
		cat -v "$tmp/all"
		[ "$got" -eq "$code" ]
		clean "$tmp/all"
		grep -qF -- "$word" "$tmp/all"
		run -1 grep -q $'\e\[32mPASS' "$tmp/all"
	done
}

# agent HELLO REPLY [TEXT]: an agent that begins with the bytes of HELLO, in printf's words, and answers every question
# with the object REPLY beside its id, the one for a plan as text with TEXT; and an inventory of it. %s in REPLY and TEXT
# is the hostile text.
agent() {
	# shellcheck disable=SC2059
	printf "$1" >"$tmp/hello"
	printf '%s' "${2//%s/$(printf '%b' "$hostile")}" >"$tmp/reply"
	printf '%s' "${3//%s/$(printf '%b' "$hostile")}" >"$tmp/text"
	cat >"$tmp/agent" <<-END
		#!/usr/bin/env python3
		import json, sys
		sys.stdout.buffer.write(open("$tmp/hello", "rb").read())
		sys.stdout.flush()
		for line in sys.stdin:
		    asked = json.loads(line)
		    if asked["id"]:
		        reply = open("$tmp/text" if asked.get("as_text") else "$tmp/reply", "rb").read()
		        sys.stdout.buffer.write(b'{"id":%d,' % asked["id"] + reply + b"}\n")
		        sys.stdout.flush()
	END
	chmod +x "$tmp/agent"
	cat >"$tmp/fleet.yaml" <<-END
		schema: rocecheck.fabric/1
		name: fleet
		profile: lab
		engine: local
		hosts: [{name: h1, agent: $tmp/agent, ports: [{interface: p0}]}]
	END
}

@test "an agent: its errors and hints, its build, a line that is no answer, its stderr" {
	hello='{"hello":"rocecheck.agent/1","build":"'$("$rc" --version | cut -d ' ' -f 2)'"}\n'
	agent "$hello" '"error":{"code":-5,"text":"%s","hint":"run: %s"}'
	both 3 'run: ?2J' plan --inventory "$tmp/fleet.yaml"
	agent "$hello" '"ok":true,"exit":3,"output":null,"said":"rocecheck: error: %s\n"'
	both 3 '?2J?32mPASS' plan --inventory "$tmp/fleet.yaml"
	agent "{\"hello\":\"rocecheck.agent/1\",\"build\":\"$hostile\"}\\n" ''
	both 4 'h1' plan --inventory "$tmp/fleet.yaml"
	agent "$hostile\\033[31m\\n" ''
	both 4 '?2J?32mPASS' plan --inventory "$tmp/fleet.yaml"
	printf '#!/bin/sh\nprintf "%s\\233\\033[31m\\n" >&2\nexit 1\n' "$hostile" >"$tmp/agent"
	both 4 '?2J?32mPASS' plan --inventory "$tmp/fleet.yaml"
}

@test "an agent: the lines of its plan" {
	agent '{"hello":"rocecheck.agent/1","build":"'"$("$rc" --version | cut -d ' ' -f 2)"'"}\n' \
		'"ok":true,"exit":0,"output":{"schema":"rocecheck.plan/1","ports":[{"netdev":"p0","tier":"recorded","used_by":["%s"],"steps":[]}]},"said":"%s"' \
		'"ok":true,"exit":0,"output":"p0 %s\u001b[32mPASS\n","said":"%s"'
	both 3 'p0 ?2J' plan --inventory "$tmp/fleet.yaml"
}

@test "an agent: its plan makes no section of another host" {
	agent '{"hello":"rocecheck.agent/1","build":"'"$("$rc" --version | cut -d ' ' -f 2)"'"}\n' \
		'"ok":true,"exit":0,"output":{"schema":"rocecheck.plan/1","ports":[{"netdev":"p0","tier":"recorded","used_by":[],"steps":[]}],"transactions":[]},"said":""' \
		'"ok":true,"exit":0,"output":"p0\n    in sync\n\n== b c d\nnothing to do\n1 of 1 host would change. Nothing written.\n","said":""'
	for command in plan 'apply --dry-run'; do
		# shellcheck disable=SC2086
		both 0 '  == b c d' $command --inventory "$tmp/fleet.yaml"
		[ "$(grep -E '^[^ ]' "$tmp/out")" = $'== h1\n0 of 1 host would change. Nothing written.' ]
	done
}

@test "ssh: its complaints" {
	mkdir "$tmp/bin"
	printf '#!/bin/sh\nprintf "%s\\033[2J\\233\\n" >&2\nexit 255\n' "$hostile" >"$tmp/bin/ssh"
	chmod +x "$tmp/bin/ssh"
	PATH=$tmp/bin:$PATH both 4 '?2J?32mPASS' plan --hosts h1 lab
}

@test "a probe server: its errors, hints, build and lines" {
	cat >"$tmp/server.py" <<'PY'
import socket, subprocess, sys, threading

H = "\u009b2J\u009bH\u009b32mPASS \u009d0;owned\u009c \u202ella".encode()

def serve(s, text):
    while True:
        c, _ = s.accept()
        c.sendall(text)
        c.recv(4096)

status = 0
for text in (H + b"\n",
             b"\x9b2J\x1b[8m\n",
             b'{"error":{"code":-13,"text":"' + H + b'","hint":"run: ' + H + b'"}}\n',
             b'{"error":{"code":-13,"text":"\\u001b[2J\\u009b","hint":"run: \\u202e"}}\n',
             b'{"hello":"rocecheck.agent/1","build":"' + H + b'"}\n',
             b'{"' + H + b'":1\n'):
    s = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(s, text), daemon=True).start()
    r = subprocess.run([sys.argv[1], "--color", "never", "probe", "client", "127.0.0.1", "-p",
                        str(s.getsockname()[1])], capture_output=True, timeout=30)
    sys.stdout.buffer.write(r.stdout + r.stderr)
    if not r.stderr or not r.returncode:
        status = 1
sys.exit(status)
PY
	ROCECHECK_PROBE_TOKEN=0123456789abcdef0123456789abcdef python3 "$tmp/server.py" "$rc" >"$tmp/all"
	cat -v "$tmp/all"
	clean "$tmp/all"
}

@test "a journal: rollback --list, and rollback itself" {
	tx=$tmp/state/tx/20260101-000000-00
	mkdir -p "$tx"
	printf '{"schema":"rocecheck.tx/2","id":"20260101-000000-00","time":"\\u001b[2J%s","confirm_within":0,"deadline":1,"ports":[{"netdev":"\\u001b[8m\\u202e%s","ibdev":"","ib_port":0,"driver":"mlx5_core","before":{}}],"plan":[]}\n' \
		'\u009bH' '\u009b' >"$tx/journal"
	both 0 '?[2J?H' rollback --list --state-dir "$tmp/state"
	both 0 '20260101-000000-00' --json rollback --list --state-dir "$tmp/state"
	jq -e '.transactions[0].ports[0] == "?[8m??"' "$tmp/out"
}

@test "files: errors that quote JSON and YAML, and the names in them" {
	printf '{"schema":"rocecheck.snapshot/1", \302\2332J\342\200\256}\n' >"$tmp/s.json"
	printf '{"schema":"rocecheck.plan/1" \302\233}' >"$tmp/plan.json"
	both 2 's.json' doctor lab --from "$tmp/s.json"
	both 2 'plan.json' apply "$tmp/plan.json"
	printf 'schema: rocecheck.profile/1\nname: "a\\u202eb\\e[31m"\n\302\205x: 1\n' >"$tmp/p.yaml"
	both 1 'p.yaml' lint "$tmp/p.yaml"
	both 2 'b.yaml' lint "$tmp/$(printf 'a\302\233\033[2J\342\200\256b.yaml')"
	both 2 'unknown command' "$(printf 'a\302\233\033[2J\342\200\256b')"
}

@test "only four files print past the streams; what they print is their own or clean" {
	run -0 grep -rlE --include='*.c' '(dprintf|write)\((STD(OUT|ERR)_FILENO|[12],)' cmd reports probe dcb capture profiles
	[ "$(LC_ALL=C sort <<<"$output")" = "$(printf '%s\n' cmd/probe/probe_server.c cmd/progress.c cmd/top/screen.c \
		profiles/base/sandbox.c)" ]
}
