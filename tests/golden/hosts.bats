#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# plan and apply over many hosts, which are scripts (hosts/agent): order, recap, exit codes, JSON.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/build/rocecheck
	export HOSTS_DIR=$BATS_TEST_TMPDIR
	HOSTS_BUILD=$("$rc" --version | cut -d ' ' -f 2)
	export HOSTS_BUILD
}

# inventory GROUP HOST...: fleet.yaml with these hosts, "good1:r1" is in rack r1, all with port p0.
inventory() {
	local group=$1 host

	shift
	cat >"$HOSTS_DIR/p.yaml" <<-'END'
		schema: rocecheck.profile/1
		name: p
		intent: lossy
		pfc: {enabled: []}
	END
	{
		printf 'schema: rocecheck.fabric/1\nname: fleet\nprofile: ./p.yaml\nengine: local\n'
		printf 'failure_group: %s\nhosts:\n' "$group"
		for host in "$@"; do
			ln -sf "$BATS_TEST_DIRNAME/hosts/agent" "$HOSTS_DIR/${host%:*}"
			printf '  - {name: %s, agent: %s, ports: [{interface: p0}]' "${host%:*}" \
				"$HOSTS_DIR/${host%:*}"
			[[ $host != *:* ]] || printf ', rack: %s' "${host#*:}"
			printf '}\n'
		done
	} >"$HOSTS_DIR/fleet.yaml"
}

many() {
	local command=$1

	shift
	"$rc" "$command" --inventory "$HOSTS_DIR/fleet.yaml" "$@"
}

# asked OP...: which host was asked for it, in order.
asked() {
	grep -E " ($1)\$" "$HOSTS_DIR/log" | tr '\n' ';'
}

@test "plan prints each plan once, names the hosts of it, writes nothing" {
	inventory fleet good1 good2 same1
	run -0 --separate-stderr many plan
	[[ $output == *"== good1 good2"$'\n'"  p0"$'\n'"    ~ pfc.enabled [] -> [3]"* ]]
	[[ $output == *"== same1"$'\n'"  p0"$'\n'"      in sync"* ]]
	[[ $output == *"2 of 3 hosts would change. Nothing written."* ]]
	run -1 many plan --exit-code
	run -0 --separate-stderr many plan --json
	jq -e '.schema == "rocecheck.plans/1" and .changes == 2 and (.hosts | map(.name)) ==
		["good1", "good2", "same1"] and .hosts[0].plan.ports[0].netdev == "p0"' <<<"$output"
	[ -z "$(asked 'apply|confirm|rollback')" ]
}

@test "launcher: a command of the inventory starts the agents; one that hangs, dies or prints rubbish is named" {
	inventory fleet good1 good2 good3 good4 good5
	cat >"$HOSTS_DIR/start" <<-'END'
		#!/bin/sh
		echo "start $*" >>"$HOSTS_DIR/started"
		case $1 in
		good3) exec sleep 60 ;;
		good4) echo "start: no such node: $1" >&2 && exit 3 ;;
		good5) echo "Welcome to $1" ;;
		esac
		host=$1
		shift
		exec "$@"
	END
	chmod +x "$HOSTS_DIR/start"
	sed -i "s|^engine: local|launcher: '$HOSTS_DIR/start {host}'\nthresholds: {connect_timeout: 1s}|" "$HOSTS_DIR/fleet.yaml"
	run -4 --separate-stderr many plan
	[[ $output == *"== good1 good2"$'\n'"  p0"$'\n'"    ~ pfc.enabled [] -> [3]"* ]]
	[[ $stderr == *"good3"*"no answer to the connection within 6.0 s"* ]]
	[[ $stderr == *"good4"*"start: no such node: good4"* ]]
	[[ $stderr == *"good5"*"the agent sent 'Welcome to good5'"* ]]
	grep -qx "start good1 $HOSTS_DIR/good1 agent" "$HOSTS_DIR/started"
	sed -i "s|start {host}|start|" "$HOSTS_DIR/fleet.yaml"
	run -2 many plan
	[[ $output == *"RC-INP-013"*"launcher: {host} is missing in"* ]]
}

@test "a soft limit of open files does not bound the hosts; a hard one is told" {
	mapfile -t hosts < <(seq -f 'good%g' 40)
	inventory fleet "${hosts[@]}"
	ulimit -S -n 64
	run -0 --separate-stderr many plan
	[[ $output == *"40 of 40 hosts would change."* ]]
	ulimit -n 110 # two files a host, and some
	run -0 --separate-stderr many plan
	ulimit -n 64
	run -4 --separate-stderr many plan
	[[ $stderr == *"Too many open files"*"ulimit -n 1024"* ]]
}

@test "a jump host that refuses the eleventh login at once: all hosts are reached" {
	mapfile -t hosts < <(seq -f 'good%g' 40)
	inventory fleet "${hosts[@]}"
	mkdir "$HOSTS_DIR/logins"
	: >"$HOSTS_DIR/refused"
	cat >"$HOSTS_DIR/jump" <<-'END'
		#!/bin/sh
		shift
		touch "$HOSTS_DIR/logins/$$"
		if [ "$(ls "$HOSTS_DIR/logins" | wc -l)" -gt 10 ]; then
			rm "$HOSTS_DIR/logins/$$"
			echo refused >>"$HOSTS_DIR/refused"
			printf 'kex_exchange_identification: Connection closed by remote host\r\n' >&2
			printf 'Connection closed by UNKNOWN port 65535\r\n' >&2
			exit 255
		fi
		for _ in 0 1 2 3 4 5 6 7 8 9; do # until ten were refused, 3 s at most
			[ "$(wc -l <"$HOSTS_DIR/refused")" -lt 10 ] || break
			sleep 0.3
		done
		rm "$HOSTS_DIR/logins/$$"
		exec "$@"
	END
	chmod +x "$HOSTS_DIR/jump"
	sed -i "s|^engine: local|launcher: '$HOSTS_DIR/jump {host}'|" "$HOSTS_DIR/fleet.yaml"
	run -0 --separate-stderr many plan
	[[ $output == *"40 of 40 hosts would change."* ]]
	[ "$(wc -l <"$HOSTS_DIR/refused")" -ge 10 ]
	printf '#!/bin/sh\necho Connection closed by UNKNOWN port 65535 >&2\nexit 255\n' >"$HOSTS_DIR/jump"
	inventory fleet good1
	sed -i "s|^engine: local|launcher: '$HOSTS_DIR/jump {host}'|" "$HOSTS_DIR/fleet.yaml"
	SECONDS=0
	run -4 --separate-stderr many plan
	[[ $stderr == *"good1"*"Connection closed by UNKNOWN port 65535"* ]]
	((SECONDS < 15))
}

@test "apply: the canary alone, one disrupted port at a time, a line a host" {
	inventory fleet same1 good1 good2 quiet1
	run -0 --separate-stderr many apply --auto-approve --accept-disruption
	[[ $output == *"Wave 1: good1  (canary)"$'\n'"Wave 2: same1 good2 quiet1"* ]]
	[[ $output == *"good1   applied      1 change, "*"transaction 20260101-000000-00"* ]]
	[[ $output == *"same1   unchanged"* ]]
	[[ $output == *"3 applied, 1 unchanged."* ]]
	[[ $(asked 'apply|confirm') == "good1 apply;good1 confirm;"* ]]
	run -0 many plan --exit-code
	# What the host is told: its port alone, a dead-man, and what was accepted.
	jq -e '.plan.profile.interfaces == ["p0"] and .confirm_within_s == 60 and .disruption and
		(.unproven | not)' "$HOSTS_DIR/good1.asked"
}

@test "failure groups: racks go side by side, in a rack one after the other" {
	inventory rack good1:a good2:a good3:b good4:b
	run -0 --separate-stderr many apply --auto-approve --accept-disruption
	[[ $output == *"Wave 1: good1  (canary)"$'\n'"Wave 2: good2 good3"$'\n'"Wave 3: good4"* ]]
	inventory fleet good5 good6 good7
	run -0 --separate-stderr many apply --auto-approve --accept-disruption --canary good6
	[[ $output == *"Wave 1: good6  (canary)"$'\n'"Wave 2: good5"$'\n'"Wave 3: good7"* ]]
	[[ $(asked 'apply|confirm') == *"good6 confirm;good5 apply;good5 confirm;good7 apply;good7 confirm;" ]]
}

@test "the canary fails: nothing else is begun, and it is named" {
	inventory fleet undo1 quiet1 quiet2
	run -5 --separate-stderr many apply --auto-approve --accept-disruption --max-fail 7
	[[ $output == *"undo1   rolled back  p0: pfc.enabled: refused"* ]]
	[[ $output == *"quiet2  not started  undo1 was rolled back"* ]]
	[[ $output == *"1 rolled back, 2 not started."* || $output == *"2 not started"* ]]
	[ "$(asked apply)" = "undo1 apply;" ]
}

@test "--max-fail: how many may fail before no more are begun" {
	inventory fleet quiet1 refuse1 quiet2
	run -3 --separate-stderr many apply --auto-approve --accept-disruption --parallel 1
	[[ $output == *"refuse1  failed       lldpad (pid 7) is running (stop it)"* ]]
	[[ $output == *"quiet2   not started  refuse1 failed"* ]]
	inventory fleet quiet3 refuse2 quiet4
	run -3 --separate-stderr many apply --auto-approve --accept-disruption --parallel 1 --max-fail 1
	[[ $output == *"quiet4   applied"* ]]
}

@test "a host that is away: nothing is begun, or it is allowed for; exit 4" {
	inventory fleet quiet1 away1
	run -4 --separate-stderr many apply --auto-approve
	[[ $output == *"away1   failed       "*"Connection refused (no sshd listens on that port"* ]]
	[[ $output == *"quiet1  not started  away1 was not reached"* ]]
	[ -z "$(asked apply)" ]
	run -4 --separate-stderr many apply --auto-approve --max-fail 1
	[[ $output == *"quiet1  applied"* ]]
	run -0 --separate-stderr many apply --auto-approve --hosts quiet1
	[[ $output == *"1 unchanged."* || $output == *"1 applied."* ]]
}

@test "a connection that is cut: the host is asked again what became of it" {
	inventory fleet cut1 quiet1
	run -5 --separate-stderr many apply --auto-approve --accept-disruption
	[[ $output == *"cut1    rolled back  "*"lost during apply"*"the host rolled back by itself"* ]]
	# shellcheck disable=SC2154
	[[ $stderr == *"cut1: "*"trying for"*"to read the outcome"* ]]
	inventory fleet cut2 quiet2
	run -5 --separate-stderr many apply --auto-approve --accept-disruption --json
	jq -e '.schema == "rocecheck.rollout/1" and .hosts[0].result == "rolled back" and
		.hosts[1].result == "not started" and .count["not started"] == 1' <<<"$output"
}

@test "nobody is asked off a terminal, and what flaps links wants a word of its own" {
	inventory fleet good1
	run -2 many apply
	[[ $output == *"refusing to apply without confirmation: stdin is not a terminal. Apply changes settings of these hosts"* ]]
	run -2 many apply --auto-approve
	[[ $output == *"--accept-disruption"* ]]
	run -0 --separate-stderr many apply --dry-run
	[[ $output == *"1 of 1 host would change. Nothing written."* ]]
	[ -z "$(asked 'apply|confirm|rollback')" ]
}

@test "hosts and options that cannot be meant: exit 2" {
	inventory fleet good1 good2
	run -2 many apply --canary good3
	[[ $output == *"no host 'good3'"* ]]
	run -2 many apply --hosts good1,good3
	[[ $output == *"no host 'good3'"* ]]
	run -2 "$rc" plan --hosts good1
	[[ $output == *"missing PROFILE"* ]]
	for bad in '' ',' '-oProxyCommand=x' 'a b' 'a,a' 'h[1-' 'h[1-9999]' "\$(id)"; do
		run -2 "$rc" plan --hosts "$bad" lab
	done
	run -2 many apply plan.json
	run -2 many apply --last
	run -2 many plan --out x.json
	run -2 "$rc" apply lab --canary h1
	run -2 many apply --confirm-within 2h
	run -2 many apply --parallel 0
}
