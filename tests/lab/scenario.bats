#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The runner of scenarios, against a lab that only writes down what it was asked. No guest boots.
bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	tmp=$BATS_TEST_TMPDIR
	export LAB_DIR=$tmp/lab SCENARIO_OUT=$tmp/out SCENARIO_LAB=$tmp/stub
	unset SCENARIO_RETRY
	mkdir -p "$LAB_DIR" "$tmp/s"
	stub
}

# A lab with one guest. A file `dead` is a guest that died, `answers` what the switch counts,
# `count` what the NIC counts.
stub()
{
	cat >"$SCENARIO_LAB" <<-'EOF'
		#!/bin/bash
		echo "$*" >>"$LAB_DIR/asked"
		case $1 in
		up)
			rm -f "$LAB_DIR/dead"
			cp "$2" "$LAB_DIR/booted"
			;;
		status) [ -e "$LAB_DIR/dead" ] && echo "h1 stopped log x" || echo "h1 running pid 1 log x" ;;
		switch)
			case $2 in
			*stats*) cat "$LAB_DIR/answers" ;;
			*) echo '{"ok": true}' ;;
			esac
			;;
		run)
			shift 3
			if [[ $* == *'echo "port'* ]]; then
				printf 'port roce0\ncount %s\n' "$(cat "$LAB_DIR/count" 2>/dev/null || echo 0)"
			else
				exec "$@"
			fi
			;;
		esac
	EOF
	chmod +x "$SCENARIO_LAB"
	stats >"$LAB_DIR/answers"
}

# stats [FAULTS]: of a switch with a port.
stats()
{
	echo '{"switches": {"leaf1": {"ports": {"p1": {"prio": {"3": {"dropped": 0, "rx_frames": 5}}}}}},
		"faults": {'"${1:-}"'}}'
}

scenario()
{
	tests/lab/scenario "$@" 3>&-
}

# file NAME LINE...: a scenario that is well-formed, and these lines.
file()
{
	local name=$1

	shift
	{
		echo "schema: rocecheck.scenario/1"
		echo "about: a test"
		printf '%s\n' "$@"
		[[ "$*" == *topology:* ]] || echo "topology: two.yaml"
		[[ "$*" == *profile:* ]] || echo "profile: none"
		[[ "$*" == *fault:* || "$*" == *spoil:* ]] || echo 'fault: {switch: {port.p1.pfc: [4]}}'
	} >"$tmp/s/$name.yaml"
}

@test "all that are shipped are well-formed: 30 and more, at least 8 of them healthy" {
	run -0 scenario --list
	[ "${#lines[@]}" -ge 30 ]
	healthy=$(grep -l '^spoil:' tests/lab/scenarios/*.yaml | wc -l)
	echo "$healthy healthy"
	[ "$healthy" -ge 8 ]
	[ "$(grep -l '^smoke: true' tests/lab/scenarios/*.yaml | wc -l)" -ge 3 ]
	[ ! -e "$LAB_DIR/asked" ]
}

@test "a bad file is refused with its name, before anything boots" {
	while IFS='|' read -r line want; do
		file bad "$line" 'output: [x]'
		run -2 --separate-stderr scenario "$tmp/s/bad.yaml"
		echo "$line: $stderr"
		[[ $stderr == *"$tmp/s/bad.yaml: "*"$want"* ]]
		[ ! -e "$LAB_DIR/asked" ]
	done <<-'EOF'
		bogus: 1|unknown key 'bogus'; one of: schema about
		find: [{rule: RC-PFC-001, hosts: h1}]|scenario.find: unknown key 'hosts'
		find: [{host: h1}]|scenario.find: 'rule' is missing
		find: [{rule: PFC-001}]|scenario.find.rule: the id of a rule
		find: some|scenario.find: a list of maps
		load: [{kind: flood, from: [h1], to: h2}]|scenario.load.kind: one of: write
		load: [{kind: ping, to: h2}]|scenario.load: 'from' is missing
		hosts: [h9]|scenario.hosts: a list of hosts
		exit: "1"|scenario.exit: a number
		smoke: on|scenario.smoke: true or false
		never: [all]|scenario.never: others, or a list
		never: others|never: others than what
		command: load|'load' is missing
		command: {h1: [a]}|scenario.command: validate, load, or one host
		prepare: {h2: dcb}|scenario.prepare: hosts with a list
		topology: none.yaml|topology: no file of this name
		profile: none.yaml|profile: no file of this name
	EOF
}

@test "what is no YAML, or says a thing twice, is refused with its name" {
	echo 'about: [' >"$tmp/s/bad.yaml"
	run -2 --separate-stderr scenario "$tmp/s/bad.yaml"
	[[ $stderr == *"bad.yaml: "*"line 2"* ]]
	printf 'about: 1\nabout: 2\n' >"$tmp/s/bad.yaml"
	run -2 --separate-stderr scenario "$tmp/s/bad.yaml"
	[[ $stderr == *"bad.yaml: line 2: 'about' is given twice"* ]]
	run -2 scenario nonsense
	[[ $output == *"no scenario 'nonsense'"* ]]
	file none 'fault: {switch: {a: 1}}' 'spoil: {switch: {a: 1}}' 'output: [x]'
	run -2 scenario "$tmp/s/none.yaml"
	[[ $output == *"one of 'fault'"* ]]
}

@test "one boot, a clean state for each, topologies in turn, parameters of NICs handed on" {
	file a 'topology: three.yaml' 'command: {h1: "echo done"}' 'output: ["^done$"]'
	file b 'topology: clos.yaml' 'command: {h1: "echo done"}' 'output: ["^done$"]' \
		'nic: {rate: 8, h2: {personality: mlx5}}'
	file c 'topology: three.yaml' 'command: {h1: "echo done"}' 'output: ["^done$"]'
	run scenario "$tmp"/s/{a,b,c}.yaml
	echo "$output"
	[[ $output == *"1..3"*"ok 1 - b # "*"ok 2 - a # "*"ok 3 - c # "* ]]
	grep -E '^(up|down|reset)' "$LAB_DIR/asked" | sed "s#$PWD/tests/lab/topologies/##;s#up .*#up#" >"$tmp/asked"
	diff - "$tmp/asked" <<-'EOF'
		down
		up
		reset clos.yaml rate=8 h2:personality=mlx5
		reset three.yaml
		reset three.yaml
		down
	EOF
	grep -q 'remote: h4.wire' "$LAB_DIR/booted" # the largest
	[ -z "$(find "$SCENARIO_OUT" -name '.work*')" ]
}

@test "what was expected, what came and where the logs are" {
	file a 'command: {h1: "echo no; exit 3"}' 'output: ["yes"]' 'statistics: ["drops(3) > 0", "nics(\"nothing\") == 0"]'
	run -1 scenario "$tmp/s/a.yaml"
	echo "$output"
	[[ $output == *"not ok 1 - a # "* ]]
	[[ $output == *"exit: 0 expected, 3 came"* ]]
	[[ $output == *"'yes' is not in it; it ends with: no"* ]]
	[[ $output == *"not true: drops(3) > 0 (is: false)"* ]]
	[[ $output == *"there is no nothing"* ]]
	[[ $output == *"logs: $SCENARIO_OUT/a"* ]]
	[ -s "$SCENARIO_OUT/a/stdout" ]
}

@test "differences are what statistics see, and a fault that did nothing is a complaint" {
	echo 7 >"$LAB_DIR/count"
	stats '"drop": {"seen": 9, "hits": 0}' >"$LAB_DIR/answers"
	file a 'fault: {faults: [{kind: drop}]}' 'command: {h1: "echo 9 >$LAB_DIR/count"}' \
		'statistics: ["nic(\"h1\"; \"count\") == 2", ".after.nic.h1.roce0.count == 9"]'
	run -1 scenario "$tmp/s/a.yaml"
	echo "$output"
	[[ $output == *"fault drop did nothing (it saw 9)"* ]]
	[[ $output != *"not true"* ]]
	grep -q 'switch {"op":"fault","add":{"kind":"drop"}}' "$LAB_DIR/asked"
}

@test "without its fault a scenario has to fail, and one that cannot fail is told" {
	file can 'fault: {prepare: {h1: ["touch $LAB_DIR/wrong"]}}' 'command: {h1: "ls $LAB_DIR/wrong"}' 'output: [wrong]'
	file cannot 'fault: {prepare: {h1: ["true"]}}' 'command: {h1: "echo always"}' 'output: [always]'
	file healthy 'spoil: {prepare: {h1: ["touch $LAB_DIR/spoilt"]}}' 'command: {h1: "test ! -e $LAB_DIR/spoilt"}' \
		'output: []'
	run -0 scenario "$tmp/s/can.yaml"
	rm "$LAB_DIR/wrong"
	run -1 scenario --without-fault "$tmp"/s/{can,cannot}.yaml
	echo "$output"
	[[ $output == *"ok 1 - can # "*"seen: exit: 0 expected"*"not ok 2 - cannot # "*"expected to fail"* ]]
	[ ! -e "$LAB_DIR/wrong" ]
	run -0 scenario "$tmp/s/healthy.yaml"
	run -0 scenario --without-fault "$tmp/s/healthy.yaml"
	[ -e "$LAB_DIR/spoilt" ]
	# What could not be set up is no proof.
	file broken 'prepare: {h1: ["exit 3"]}' 'command: {h1: "true"}' 'output: [x]'
	run -1 scenario --without-fault "$tmp/s/broken.yaml"
	[[ $output == *"not ok 1 - broken # "*"'exit 3' failed with 3"* ]]
}

@test "a guest that dies fails its scenario, the lab is booted anew, the rest goes on" {
	file a 'command: {h1: "touch $LAB_DIR/dead; exit 255"}' 'output: [x]'
	file b 'command: {h1: "echo x"}' 'output: [x]'
	run -1 scenario "$tmp"/s/{a,b}.yaml
	echo "$output"
	[[ $output == *"not ok 1 - a"*"a host was lost"*"booted anew"*"ok 2 - b"* ]]
	[ "$(grep -c '^up' "$LAB_DIR/asked")" = 2 ]
}

@test "Ctrl-C leaves nothing behind" {
	file a 'command: {h1: "echo $$ >$LAB_DIR/pid; exec sleep 100"}' 'output: [x]'
	tests/lab/scenario "$tmp/s/a.yaml" >"$tmp/said" 2>&1 3>&- &
	pid=$!
	for i in {1..100}; do
		[ ! -s "$LAB_DIR/pid" ] || break
		sleep 0.1
	done
	kill -TERM $pid
	code=0
	wait $pid || code=$?
	[ $code = 143 ]
	# Ended; process 1 of a container may be slow to reap it.
	run cat "/proc/$(cat "$LAB_DIR/pid")/stat"
	[[ $status != 0 || $output == *") Z "* ]]
	[ "$(grep -v status "$LAB_DIR/asked" | tail -n1)" = down ]
	[ -z "$(find "$SCENARIO_OUT" -name '.work*')" ]
}

# finding RULE VERDICT HOST PRIO [CAUSED_BY]
finding()
{
	jq -nc --arg rule "$1" --arg verdict "$2" --arg host "$3" --argjson prio "[$4]" --argjson cause "${5:-null}" \
		'{rule: $rule, verdict: $verdict, host: $host, port: "roce0", prio: $prio, text: "told", caused_by: $cause}'
}

# judged EXPECTATIONS...: what the runner says of the findings on stdin, exit 1.
judged()
{
	file a "$@" 'exit: 1'
	mkdir -p "$SCENARIO_OUT/a"
	jq -s '{findings: .}' >"$SCENARIO_OUT/a/report.json"
	echo 1 >"$SCENARIO_OUT/a/exit"
	echo '[]' >"$SCENARIO_OUT/a/load.json"
	echo '{"switch": {"faults": {}}, "nic": {}}' | tee "$SCENARIO_OUT/a/before.json" >"$SCENARIO_OUT/a/after.json"
	scenario --judge "$tmp/s/a.yaml"
}

@test "findings: rule, verdict, host, port, priority, which leads, and what must not come" {
	{
		finding RC-PFC-002 FAIL h2 3
		finding RC-PFC-003 FAIL '' '' 0
		finding RC-META-006 WARN h1 ''
		finding RC-PFC-004 PASS h1 3
	} >"$tmp/found"
	while IFS='|' read -r line want; do
		echo "$line: $want"
		run judged "$line" <"$tmp/found"
		echo "$output"
		if [ "$want" = good ]; then
			[[ $output == "ok 1 - a"* ]]
		else
			[[ $output == "not ok 1 - a"*"$want"* ]]
		fi
	done <<-'EOF'
		find: [{rule: RC-PFC-002, host: h2, port: roce0, prio: 3, text: told, lead: true}]|good
		find: [{rule: RC-PFC-002}, {rule: RC-PFC-003}, {rule: RC-META-006, verdict: WARN}]|good
		find: [{rule: RC-PFC-004, verdict: PASS}]|good
		find: [{rule: RC-PFC-002, host: h1}]|FAIL RC-PFC-002 h1 did not come; of this rule came: FAIL RC-PFC-002 h2 roce0 prio 3: told
		find: [{rule: RC-PFC-002, prio: 4}]|prio 4 did not come
		find: [{rule: RC-PFC-002, port: roce1}]|roce1 did not come
		find: [{rule: RC-PFC-002, text: other}]|'other' did not come
		find: [{rule: RC-META-006}]|FAIL RC-META-006 did not come
		find: [{rule: RC-META-006, verdict: WARN, lead: true}]|does not lead; what leads: FAIL RC-PFC-002 h2
		find: none|find: none expected, came: FAIL RC-PFC-003
		find: none|find: none expected, came: WARN RC-META-006
	EOF
}

@test "findings: never" {
	{
		finding RC-PFC-002 FAIL h2 3
		finding RC-PFC-003 FAIL '' '' 0
		finding RC-META-006 WARN h1 ''
	} >"$tmp/found"
	run -1 judged 'find: [{rule: RC-PFC-002}]' 'never: others' <"$tmp/found"
	[[ $output == *"never: others came: WARN RC-META-006 h1"* ]]
	[[ $output != *RC-PFC-003* ]] # a consequence
	run -0 judged 'find: [{rule: RC-PFC-002}, {rule: RC-META-006, verdict: WARN}]' 'never: others' <"$tmp/found"
	run -1 judged 'find: [{rule: RC-PFC-002}]' 'never: [RC-PFC-003, RC-PFC-004]' <"$tmp/found"
	[[ $output == *"never: came: FAIL RC-PFC-003"* ]]
	run -0 judged 'find: [{rule: RC-PFC-002}]' 'never: [RC-PFC-004]' <"$tmp/found"
	run -1 judged 'find: [{rule: RC-PFC-002}]' </dev/null
	[[ $output == *"RC-PFC-002 did not come"* ]]
}

@test "the page of keys has every key" {
	page=tests/lab/scenarios/README.md
	for key in $(jq -rn -L tests/lab 'import "scenario-keys" as k; k::tables[] | keys[]' | sort -u); do
		echo "$key"
		grep -q "\`$key[:\`]" "$page"
	done
	for word in $(sed -n 's/^def \([a-z_]*\)[(:].*/\1/p' tests/lab/scenario-statistics.jq |
		grep -vxE 'minus|differences|there|port_of|ports|idle_faults'); do
		echo "$word"
		grep -q "\`$word[(\`]" "$page"
	done
}

@test "on request what fails is played once more, and its first complaints are told" {
	file a 'command: {h1: "[ ! -e $LAB_DIR/once ] || echo seen; touch $LAB_DIR/once"}' 'output: [seen]'
	SCENARIO_RETRY=1 run -0 scenario "$tmp/s/a.yaml"
	[[ $output == *"# retried: a failed and is played again:"*"seen"*"ok 1 - a"* ]]
	rm "$LAB_DIR/once"
	run -1 scenario "$tmp/s/a.yaml"
	[[ $output == *"not ok 1 - a"* && $output != *again* ]]
	SCENARIO_RETRY=1 run -0 scenario "$tmp/s/a.yaml"
	[[ $output != *again* ]]
}
