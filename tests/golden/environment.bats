#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a caller can put around the program: closed descriptors, few descriptors, a PATH, a TMPDIR, a HOME and a
# locale of somebody else's. Commands that change the host do it to a veth pair in a namespace of the test.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/build/rocecheck
	golden=$PWD/tests/golden
	tmp=$BATS_TEST_TMPDIR
	export rc golden tmp
	cat >"$tmp/mtu.yaml" <<-END
		schema: rocecheck.profile/1
		name: small
		intent: lossy
		mtu: {netdev: 1400}
	END
	cat >"$tmp/fabric.yaml" <<-END
		schema: rocecheck.fabric/1
		name: one
		profile: $tmp/mtu.yaml
		engine: local
		agent: $rc
		hosts: [{name: a, ports: [{interface: v0}]}]
	END
	(umask 077 && printf '%032x\n' 7 >"$tmp/token")
}

# Runs a function of this file as root in network and mount namespaces with the pair v0 - v1, or skips.
net() {
	[ "$(id -u)" = 0 ] || skip 'needs root'
	unshare -nm ip link add name v0 type veth peer name v1 2>/dev/null ||
		skip 'no namespace with a veth pair can be made here'
	# shellcheck disable=SC2163 # the function that is named
	export -f "$1" in_net commands
	unshare -nm bash -c 'in_net "$@"' - "$@"
}

in_net() {
	set -euo pipefail
	ip link add name v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	mount -t sysfs sysfs /sys
	mkdir -p "$tmp/state"
	"$@"
}

# commands RUNNER...: every command behind it; none may be ended by a signal or by the time limit. Those with a '+' do
# what they are asked for. With few=1 each ends as it did before, or says that it has too few descriptors and what to do.
commands() {
	local line code good n=0

	while read -r good line; do
		code=0
		# shellcheck disable=SC2086 # words
		"$@" timeout 60 "$rc" $line >"$tmp/stdout" 2>"$tmp/stderr" || code=$?
		echo "$code: $line"
		n=$((n + 1))
		if [ -z "${few:-}" ]; then
			echo $code >"$tmp/code.$n"
		elif [ $code != "$(<"$tmp/code.$n")" ]; then
			grep -h 'Too many open files' "$tmp/stdout" "$tmp/stderr"
			cat "$tmp/stdout" "$tmp/stderr" | tr -s ' \n' '  ' |
				grep -o 'raise the limit of open files: ulimit -n 1024'
			good=-
		fi
		((code <= 6)) && [ "$good$code" != "+${code#0}" ] || { cat "$tmp/stderr"; return 1; }
	done <<-END
		+ show -i v0
		+ show -i v0 --json
		+ lint $tmp/mtu.yaml
		- plan $tmp/mtu.yaml -i v0
		- doctor
		+ collect -i v0
		+ collect -i v0 --lldp 1
		+ rules
		+ explain RC-PFC-002
		+ schema profile
		+ capture stats $golden/capture/loss.pcap
		- capture check $golden/capture/loss.pcap
		+ capture record -i v1 -w $tmp/$RANDOM.pcap --duration 100ms
		+ capture decode $golden/capture/loss.pcap
		+ capture flows $golden/capture/loss.pcap
		- top --batch --count 1
		- probe client 127.0.0.1 --token-file $tmp/token
		- probe server --listen 127.0.0.1 --port 0 --wait 100ms
		- validate $tmp/fabric.yaml --out $tmp/run-$RANDOM$RANDOM
		- watch $tmp/mtu.yaml -i v0 --once --state-dir $tmp/state
		- confirm --state-dir $tmp/state
		+ completion bash
		+ apply $tmp/mtu.yaml -i v0 --state-dir $tmp/state --auto-approve
		+ rollback --list --state-dir $tmp/state
		+ rollback --state-dir $tmp/state
	END
}

few_descriptors() {
	local code=0

	(
		ulimit -n 24
		commands env
	)
	(
		ulimit -n 16
		few=1 commands env
	)
	# Here a transaction is too much, unless root may raise the limit: nothing is begun, and the reason is told.
	(
		ulimit -n 16
		"$rc" apply "$tmp/mtu.yaml" -i v0 --state-dir "$tmp/state" --auto-approve --accept-unproven
	) 2>"$tmp/stderr" || code=$?
	cat "$tmp/stderr"
	if ((code)); then
		grep 'Too many open files' "$tmp/stderr"
		[ "$(</sys/class/net/v0/mtu)" = 1500 ]
		"$rc" rollback --list --state-dir "$tmp/state" | grep -v running
	fi
}

@test "few descriptors are enough, or the error says so and nothing is begun" {
	net few_descriptors
}

# shellcheck disable=SC2094
closed_descriptors() {
	local how

	for how in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do
		echo "== $how"
		rm -f "$tmp/host.json"
		eval '"$rc" collect -i v0 --out "$tmp/host.json"' "$how"
		# Nothing but the document is in the file.
		jq -e .schema "$tmp/host.json"
		[ "$(jq -s length "$tmp/host.json")" = 1 ]
		eval '"$rc" capture record -q -i v1 -w "$tmp/closed.pcap" --duration 100ms' "$how"
		"$rc" capture stats "$tmp/closed.pcap"
		rm "$tmp/closed.pcap"
		eval '"$rc" apply "$tmp/mtu.yaml" -i v0 --state-dir "$tmp/state" --auto-approve --accept-unproven' "$how"
		eval '"$rc" rollback --state-dir "$tmp/state"' "$how"
	done
	# Nor in the journal.
	for file in "$tmp"/state/tx/*/journal; do
		jq -es 'length > 1' "$file"
	done
}

unanswered() {
	local code=0

	"$rc" apply "$tmp/mtu.yaml" -i v0 --state-dir "$tmp/state" --accept-unproven </dev/null 2>"$tmp/stderr" || code=$?
	cat "$tmp/stderr"
	[ "$code" = 2 ]
	grep 'stdin is not a terminal. .* is not verified on hardware yet (tier: source)' "$tmp/stderr"
	grep -- --auto-approve "$tmp/stderr"
	[ "$(</sys/class/net/v0/mtu)" = 1500 ]
}

@test "apply without a terminal: one refusal, which names the tier of the driver" {
	net unanswered
}

@test "closed standard descriptors: nothing of what is printed gets into a file" {
	net closed_descriptors
}

# Every program that a shell or a library could look for, in the folder that comes first.
planted() {
	local name

	mkdir "$tmp/bin"
	for name in sh bash ssh ip dcb lldptool lldpad ethtool modprobe systemctl devlink rdma tc env cat id hostname \
		sysctl mlnx_qos rocecheck; do
		printf '#!/bin/bash\necho %s >>%s/ran\n' "$name" "$tmp" >"$tmp/bin/$name"
		chmod +x "$tmp/bin/$name"
	done
	cp -r "$tmp/bin/." "$tmp/here"
	cd "$tmp/here"
	commands /usr/bin/env "PATH=.:$tmp/bin:$PATH" IFS=/ ENV="$tmp/bin/sh" BASH_ENV="$tmp/bin/sh" /usr/bin/env
	[ ! -e "$tmp/ran" ]
}

@test "no program of PATH or of the current folder is run by a command that acts on this host" {
	net planted
}

surroundings() {
	mkfifo "$tmp/fifo"
	commands env TMPDIR="$tmp/fifo" HOME="$tmp/fifo"
	commands env TMPDIR=/nonexistent HOME=relative XDG_CONFIG_HOME=/nonexistent
	commands env -i
	for locale in tr_TR.UTF-8 ja_JP.SJIS '%n%n%s' "$(printf 'x%.0s' {1..5000})"; do
		commands env LC_ALL="$locale" LANGUAGE="$locale" NLSPATH="$tmp/%N" TERM='%s' COLUMNS=-1 LINES=99999999999
	done
}

@test "TMPDIR, HOME, locale and terminal of somebody else's" {
	net surroundings
}
