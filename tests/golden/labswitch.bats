#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# labswitch as a process: what its README says, bad files, sockets and mirrors, and its end.
bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	switch=$PWD/build/labswitch
	readme=tests/lab/switch/README.md
	tmp=$BATS_TEST_TMPDIR
	pids=()
}

teardown()
{
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null || true
}

# form [PORT-KEYS]: a file with one switch of two ports on standard output.
form()
{
	cat <<-END
		schema: rocecheck.switch/1
		control: ctl
		switches:
		  - name: s1
		    ports:
		      - {name: p1, local: p1.sw, remote: p1.vm}
		      - {name: p2, local: p2.sw, remote: p2.vm${1:+, $1}}
	END
}

# start NAME: runs $tmp/NAME/f.yaml there until it says that it is ready.
start()
{
	(cd "$tmp/$1" && exec "$switch" f.yaml </dev/null >out 2>err 3>&-) &
	pids+=($!)
	for _ in {1..200}; do
		! grep -q ready "$tmp/$1/out" 2>/dev/null || return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	cat "$tmp/$1/err"
	return 1
}

# ends PID: within 10 s; the exit code.
ends()
{
	for _ in {1..200}; do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.05
	done
	wait "$1"
}

@test "its README has the keys as the program reads them" {
	"$switch" --help-keys >"$tmp/keys"
	[ "$(grep -c '^| `' "$tmp/keys")" -gt 60 ]
	sed -n '/^\*\*The file\*\*/,/^## Faults/p' "$readme" | sed '$d' | sed '$d' | diff - "$tmp/keys"
}

@test "its README has every fault, drop reason, request and statistic" {
	mkdir "$tmp/a"
	form >"$tmp/a/f.yaml"
	start a
	"$switch" ctl "$tmp/a/ctl" '{"op":"fault","add":{"kind":"drop"}}' | jq -e .ok
	"$switch" ctl "$tmp/a/ctl" "{\"op\":\"mirror\",\"file\":\"$tmp/a/m.pcapng\"}" | jq -e .ok
	"$switch" ctl "$tmp/a/ctl" '{"op":"stats"}' >"$tmp/stats"
	jq -r '[paths[] | strings | select(test("^[a-z_0-9]+$"))] | unique[]' "$tmp/stats" |
		grep -vxE 's1|p[12]|drop|[0-7]' >"$tmp/words"
	[ "$(wc -l <"$tmp/words")" -gt 50 ]
	"$switch" --help-keys | sed -n 's/^| `kind` (needed) | \(.*\) | .*/\1/p' | tr -d '`' | tr ' ' '\n' >>"$tmp/words"
	"$switch" ctl "$tmp/a/ctl" '{"op":"x"}' | jq -r .hint | grep -oE '[a-z]+' | grep -vxE 'op|or' >>"$tmp/words"
	while read -r word; do
		grep -qE "[\`\"]${word}[\`\"]" "$readme" || { echo "not in the README: $word"; return 1; }
	done <"$tmp/words"
}

@test "SIGTERM, SIGINT and quit: exit 0, no socket is left" {
	local how

	for how in TERM INT quit; do
		mkdir "$tmp/$how"
		form >"$tmp/$how/f.yaml"
		start "$how"
		[ -S "$tmp/$how/p1.sw" ] && [ -S "$tmp/$how/p2.sw" ] && [ -S "$tmp/$how/ctl" ]
		if [ "$how" = quit ]; then
			"$switch" ctl "$tmp/$how/ctl" '{"op":"quit"}' | jq -e .ok
		else
			kill -"$how" "${pids[-1]}"
		fi
		ends "${pids[-1]}"
		[ -z "$(find "$tmp/$how" -type s)" ]
	done
}

@test "a killed switch's sockets are taken over, a living one's are named and left" {
	mkdir "$tmp/a"
	form >"$tmp/a/f.yaml"
	start a
	cd "$tmp/a"
	run -1 --separate-stderr "$switch" f.yaml
	[[ $stderr == *"port p1: p1.sw: Address already in use"* && $stderr == *"another switch runs there"* ]]
	"$switch" ctl ctl '{"op":"stats"}' | jq -e '.switches.s1.ports.p2'
	cd - >/dev/null
	kill -9 "${pids[0]}"
	wait "${pids[0]}" || true
	[ -S "$tmp/a/p1.sw" ]
	start a
}

@test "what cannot be: a file in place of a socket, a folder that is not there" {
	local case

	for case in 'local: f.yaml, remote: r|p2: f.yaml: Address already in use' \
		'local: no/p2.sw, remote: r|p2: no/p2.sw: No such file'; do
		rm -rf "$tmp/b"
		mkdir "$tmp/b"
		form | sed "s#local: p2.sw, remote: p2.vm#${case%%|*}#" >"$tmp/b/f.yaml"
		cd "$tmp/b"
		run -1 --separate-stderr "$switch" f.yaml
		cd - >/dev/null
		[[ $stderr == *"${case#*|}"* ]]
		[ -z "$(find "$tmp/b" -type s)" ]
		[ -s "$tmp/b/f.yaml" ]
	done
}

@test "a mirror that cannot be written ends the start, with its name" {
	local path

	mkdir "$tmp/a"
	for path in /dev/full /nowhere/m.pcapng "$tmp"; do
		{ form && echo "mirror: {file: $path}"; } >"$tmp/a/f.yaml"
		cd "$tmp/a"
		run -1 --separate-stderr "$switch" f.yaml
		cd - >/dev/null
		[[ $stderr == *"mirror $path: "* ]]
		[ -z "$(find "$tmp/a" -type s)" ]
	done
}

@test "errors of a file: all of them, with their places; exit 2" {
	form "rat: 1G, pfc: [9], trust: cos" | sed "s/p1.vm/$(printf 'x%.0s' {1..108})/" >"$tmp/f.yaml"
	echo 'faults: [{kind: dorp}, {kind: drop, port: p9}]' >>"$tmp/f.yaml"
	run -2 --separate-stderr "$switch" "$tmp/f.yaml"
	for word in rat pfc trust dorp p9 "108 characters" "6 errors"; do
		[[ $stderr == *"$word"* ]]
	done
	run -2 --separate-stderr "$switch" /nowhere.yaml
	[[ $stderr == *"/nowhere.yaml"* ]]
	run -2 "$switch"
	run -1 --separate-stderr "$switch" ctl "$tmp/none" '{}'
	[[ $stderr == *"$tmp/none"* ]]
}
