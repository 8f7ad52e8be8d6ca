#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The engine `ssh`: what it asks of the OpenSSH client, which targets it refuses, and the agent that a key can be
# restricted to. In the place of ssh is a script; OpenSSH says by -G what it makes of the options.
# shellcheck disable=SC2154,SC2016
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=${ROCECHECK:-$PWD/build/rocecheck}
	tmp=$BATS_TEST_TMPDIR
	real=$(command -v ssh)
	mkdir "$tmp/bin"
	PATH=$tmp/bin:$PATH
	export ARGV=$tmp/argv
}

# ssh_is LINE...: the script in place of ssh, which keeps its arguments.
ssh_is() {
	printf '#!/bin/sh\nprintf "%%s\\0" "$@" >>"$ARGV"\n' >"$tmp/bin/ssh"
	printf '%s\n' "$@" >>"$tmp/bin/ssh"
	chmod +x "$tmp/bin/ssh"
}

@test "forwarding, commands and terminals of the user's configuration do not count, the rest does" {
	cat >"$tmp/config" <<-END
		Host *
		    ForwardAgent yes
		    ForwardX11 yes
		    ForwardX11Trusted yes
		    LocalForward 7001 127.0.0.1:22
		    RemoteForward 7002 127.0.0.1:22
		    DynamicForward 7003
		    Tunnel yes
		    PermitLocalCommand yes
		    LocalCommand touch $tmp/local
		    RemoteCommand touch $tmp/remote
		    RequestTTY force
		    ControlMaster auto
		    ControlPath $tmp/master
		    User operator
		    Port 2222
	END
	cat >"$tmp/fleet.yaml" <<-END
		schema: rocecheck.fabric/1
		name: fleet
		profile: lab
		ssh: {config: $tmp/config}
		hosts: [{name: h1, target: "198.18.0.1", ports: [{interface: p0}]}]
	END
	ssh_is 'exit 255'
	run "$rc" plan --inventory "$tmp/fleet.yaml"
	mapfile -d '' -t argv <"$ARGV"
	printf '%s\n' "${argv[@]}"
	[ "${argv[*]: -4}" = "-- 198.18.0.1 rocecheck agent" ]
	"$real" -G "${argv[@]}" >"$tmp/made"
	cat "$tmp/made"
	for line in "forwardagent no" "forwardx11 no" "clearallforwardings yes" "tunnel false" "permitlocalcommand no" \
		"requesttty false" "batchmode yes" "controlmaster auto" "controlpath $tmp/master" "user operator" "port 2222"; do
		grep -qx "$line" "$tmp/made"
	done
	run -1 grep -Eq '^remotecommand |^(local|remote|dynamic)forward ' "$tmp/made"
}

@test "targets that ssh could take for options are refused before it is started" {
	ssh_is 'exit 255'
	for target in u@-oProxyCommand=id -oProxyCommand=id ssh://-oProxyCommand=id 'h1,-oProxyCommand=id' "h;id" 'h$(id)' \
		"$(printf 'h\342\200\256')"; do
		run "$rc" plan --hosts "$target" lab
		[ "$status" -eq 2 ]
		cat >"$tmp/fleet.yaml" <<-END
			schema: rocecheck.fabric/1
			name: fleet
			profile: lab
			hosts: [{name: h1, target: '$target', ports: [{interface: p0}]}]
		END
		run "$rc" plan --inventory "$tmp/fleet.yaml"
		[ "$status" -eq 2 ]
		[[ $output == *RC-INP-013* ]]
	done
	[ ! -e "$ARGV" ]
	run "$rc" plan --hosts root@h-1.dc_2 lab
	[ -s "$ARGV" ]
}

@test "agent --read-only refuses recordings of whole packets; addresses for its traffic are checked" {
	{
		echo '{"id":1,"op":"capture_start","netdev":"nonesuch0","full":true,"max_bytes":0}'
		echo '{"id":2,"op":"capture_start","netdev":"nonesuch0","full":false,"max_bytes":0}'
		echo '{"id":9,"op":"quit"}'
	} >"$tmp/in"
	run -0 --separate-stderr "$rc" agent --read-only --peer-address 198.18.0.0/24,fd00::1 <"$tmp/in"
	jq -se '.[] | select(.id == 1) | .error | .code == -1 and (.text | contains("refuses to capture whole packets"))' <<<"$output"
	jq -se '.[] | select(.id == 2) | .error.text | contains("nonesuch0")' <<<"$output"
	run -2 "$rc" agent --read-only --peer-address h2 </dev/null
	[[ $output == *"invalid address 'h2': expected ADDRESS or ADDRESS/LENGTH"* ]]
}

@test "agent --read-only refuses what changes settings, and answers everything else" {
	{
		id=0
		for op in apply confirm rollback transactions ping collect; do
			printf '{"id":%d,"op":"%s","tx":"20260101-000000-00"}\n' $((++id)) $op
		done
		echo '{"id":9,"op":"quit"}'
	} >"$tmp/in"
	run -0 --separate-stderr "$rc" agent --read-only <"$tmp/in"
	for id in 1 2 3; do
		jq -se '.[] | select(.id == '$id') | .error | .code == -1 and (.text | contains("--read-only"))' <<<"$output"
	done
	run -1 jq -se '[.[] | select(.id > 3 and .error != null) | .error.text | contains("--read-only")] | any' <<<"$output"
}
