#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# plan and apply on many hosts, over ssh on two guests: the canary, a host that refuses, one that is not
# there, a connection that is cut in the middle, an interrupt. The oracle is dcb in the guests.
# Runs from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	export LAB_DIR=$PWD/build/lab-apply-hosts
	lab down
	lab up
	for host in h1 h2; do
		on "$host" tee /run/clean >/dev/null <<-'EOF'
			#!/bin/bash
			# A dead-man that does not see the confirmation any more would undo what it knows.
			for _ in {1..50}; do pgrep -x rocecheck >/dev/null || break; sleep 0.1; done
			pkill -KILL -x rocecheck
			rm -rf /var/lib/rocecheck /run/held /run/go
			dcb app flush dev roce0
			dcb ets set dev roce0 prio-tc all:0 tc-tsa all:strict tc-bw all:0
			dcb pfc set dev roce0 prio-pfc all:off delay 0
			ethtool -A roce0 rx on tx on || true
			ip link set roce0 mtu 4200
		EOF
		# Holds the next apply in its midst, till /run/go is there; says so in /run/held.
		on "$host" tee /run/hold >/dev/null <<-'EOF'
			#!/bin/bash
			until pid=$(pgrep -of '[r]ocecheck apply -'); do
				sleep 0.02
			done
			kill -STOP "$pid"
			touch /run/held
			until [ -e /run/go ]; do sleep 0.1; done
			kill -CONT "$pid"
		EOF
		on "$host" chmod 755 /run/clean /run/hold
	done
}

teardown_file()
{
	lab down
}

setup()
{
	inventory fabric.yaml >"$LAB_DIR/fabric.yaml"
	out=$BATS_TEST_TMPDIR/out
	on h1 /run/clean
	on h2 /run/clean
}

many()
{
	local command=$1

	shift
	build/rocecheck "$command" --inventory "$LAB_DIR/fabric.yaml" "$@" 3>&-
}

# is_set HOST: dcb says that priority 3 is lossless; is_clean HOST: that none is.
is_set()
{
	[ "$(on "$1" dcb -j pfc show dev roce0 | jq -c '[.prio_pfc[]] | index(true)')" = 3 ]
}

is_clean()
{
	[ "$(on "$1" dcb -j pfc show dev roce0 | jq -c '.prio_pfc | any')" = false ]
}

# undone HOST: its newest transaction is.
undone()
{
	[ "$(on "$1" rocecheck rollback --list --json | jq -r '.transactions[-1].state')" = undone ]
}

# waits_for SECONDS COMMAND...: until it succeeds.
waits_for()
{
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS <= end)) || return 1
		sleep 0.1
	done
}

@test "two hosts: planned, the canary first, applied, read back and confirmed" {
	run -1 --separate-stderr many plan --exit-code
	[[ $output == *"== h1 h2"*"Profile: lab"*"~ pfc.enabled"*"2 of 2 hosts would change. Nothing written."* ]]
	is_clean h1
	run -0 --separate-stderr many apply --auto-approve --accept-unproven --canary h2
	[[ $output == *"Wave 1: h2  (canary)"$'\n'"Wave 2: h1"* ]]
	[[ $output == *"2 applied."* ]]
	for host in h1 h2; do
		is_set "$host"
		on "$host" rocecheck rollback --list --json | jq -e '.transactions | length == 1 and
			.[0].state == "done" and (.[0].waits | not)'
		on "$host" test -e /var/lib/rocecheck/last/roce0.json
	done
	run -0 --separate-stderr many plan --exit-code --json
	run -0 --separate-stderr many apply --auto-approve --accept-unproven
	[[ $output == *"2 unchanged."* ]]
}

@test "a NIC that refuses: its host is as before and named, no other is begun" {
	on h1 sh -c 'echo 2 >/sys/module/labnic/parameters/refuse'
	run -5 --separate-stderr many apply --auto-approve --accept-unproven --max-fail 3
	[[ $output == *"h1  rolled back  "*"busy"* ]]
	[[ $output == *"h2  not started  h1 was rolled back"* ]]
	is_clean h1
	is_clean h2
	run -0 on h2 rocecheck rollback --list
	[[ $output == "No transactions in "* ]]
}

@test "a host that is not there is named, and with --max-fail the others go on" {
	sed -i 's/name: h2/name: h3/; s/198.18.0.2/198.18.0.3/' "$LAB_DIR/fabric.yaml"
	run -4 --separate-stderr many apply --auto-approve --accept-unproven
	[[ $output == *"h1  not started  h3 was not reached"* ]]
	is_clean h1
	run -4 --separate-stderr many apply --auto-approve --accept-unproven --max-fail 1
	[[ $output == *"h1  applied"* && $output == *"h3  failed"* ]]
	is_set h1
}

@test "a key that is restricted to agent --read-only: plan works, apply is refused by sshd's command" {
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/key"
	printf 'restrict,command="/rocecheck/build/rocecheck agent --read-only" %s\n' \
		"$(cat "$BATS_TEST_TMPDIR/key.pub")" | on h1 tee -a /run/lab/authorized_keys >/dev/null
	sed -e "s#^\( *\)IdentityFile .*#\1IdentityFile $BATS_TEST_TMPDIR/key#" -e 's#^\( *\)ControlPath .*#\1ControlPath none#' \
		"$LAB_DIR/ssh_config" >"$LAB_DIR/read_only_config"
	sed -i "s#$LAB_DIR/ssh_config#$LAB_DIR/read_only_config#" "$LAB_DIR/fabric.yaml"
	run -0 --separate-stderr many plan --hosts h1
	[[ $output == *"1 of 1 host would change"* ]]
	run ! many apply --hosts h1 --auto-approve --accept-unproven
	[[ $output == *"--read-only"* ]]
	is_clean h1
}

@test "a connection that is cut in the midst: the host is asked again, and confirmed" {
	on h1 /run/hold >/dev/null 2>&1 &
	build/rocecheck apply --inventory "$LAB_DIR/fabric.yaml" --hosts h1 --auto-approve \
		--accept-unproven --json >"$out" 2>"$out.err" 3>&- &
	rocecheck=$!
	waits_for 30 on h1 test -e /run/held
	kill -9 "$(pgrep -P "$rocecheck" ssh)"
	waits_for 20 grep -q 'to read the outcome' "$out.err"
	on h1 touch /run/go
	code=0
	wait "$rocecheck" || code=$?
	cat "$out" "$out.err"
	[ "$code" = 0 ]
	jq -e '.hosts[0] | .result == "applied" and .tx != ""' "$out"
	is_set h1
	on h1 rocecheck rollback --list --json | jq -e '.transactions[-1] | .state == "done" and (.waits | not)'
}

@test "interrupted: the host that runs comes to its end, no other is begun" {
	on h1 /run/hold >/dev/null 2>&1 &
	build/rocecheck apply --inventory "$LAB_DIR/fabric.yaml" --auto-approve --accept-unproven \
		>"$out" 2>"$out.err" 3>&- &
	rocecheck=$!
	waits_for 30 on h1 test -e /run/held
	kill -INT "$rocecheck"
	on h1 touch /run/go
	code=0
	wait "$rocecheck" || code=$?
	cat "$out" "$out.err"
	[ "$code" = 4 ]
	grep -q '^h1  applied' "$out"
	grep -q '^h2  not started  stopped$' "$out"
	is_set h1
	is_clean h2
}

@test "the coordinator is killed: the host goes on alone, and undoes what nobody confirms" {
	on h1 /run/hold >/dev/null 2>&1 &
	build/rocecheck apply --inventory "$LAB_DIR/fabric.yaml" --hosts h1 --auto-approve \
		--accept-unproven --confirm-within 8s >"$out" 2>"$out.err" 3>&- &
	rocecheck=$!
	waits_for 30 on h1 test -e /run/held
	kill -9 "$rocecheck"
	wait "$rocecheck" || true
	on h1 touch /run/go
	waits_for 20 is_set h1
	waits_for 30 is_clean h1
	waits_for 10 undone h1
	waits_for 10 on h1 sh -c '! pgrep -x rocecheck'
}
