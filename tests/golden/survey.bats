#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# survey of hosts that are replayed by survey/start: outliers, unknown values, lost and hostile hosts, drafts.
# GOLDEN_UPDATE=1 writes survey/six.out anew; read the diff before you commit it.
# shellcheck disable=SC2016,SC2154 # jq and bash inside quotes; stderr is of run
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=${ROCECHECK:-$PWD/build/rocecheck}
	umask 022 # a folder that the group may write to is refused
	export SURVEY_DIR=$BATS_TEST_TMPDIR
	SURVEY_BUILD=$("$rc" --version | cut -d ' ' -f 2)
	export SURVEY_BUILD
	start=$PWD/tests/golden/survey/start
}

# survey HOSTS OPTION...
survey() {
	"$rc" survey --interval 1s --launcher "$start {host}" --hosts "$@"
}

# A job that sends DSCP 0, and whose host drops.
dscp_0='.ports[].counters |= (.prio_tx_bytes[0] += 1000000000 | .prio_tx_bytes[3] -= 1000000000 | .rx_discards += 33)'

@test "mistakes on the command line: exit 2, and no host is asked" {
	run -2 "$rc" survey
	[[ $output == *"missing --hosts NODESET"* ]]
	for bad in '' 'h[1-' 'h1,h1' '-oProxyCommand=x' 'a b' 'h[1-4096],x'; do
		run -2 survey "$bad"
		[[ $output == *"--hosts: "* ]]
	done
	run -2 survey h1 --engine local
	[[ $output == *"--launcher and --engine exclude each other"* ]]
	run -2 "$rc" survey --hosts h1 --launcher start
	[[ $output == *"invalid --launcher 'start': {host} is missing"* ]]
	run -2 "$rc" survey --hosts h1 --engine telnet
	run -2 "$rc" survey --hosts h1 --agent -x
	run -2 "$rc" survey --hosts h1 --interval 100ms
	run -2 survey h1 h2
	[ ! -e "$SURVEY_DIR/log" ]
}

@test "equal hosts: exit 0, nothing but snapshots is asked, lint accepts the drafts" {
	run -0 --separate-stderr survey 'h[1-4]' --out "$SURVEY_DIR/draft"
	echo "$output"
	[[ $output == "NO OUTLIERS: 4 of 4 hosts answered, 4 RoCE ports, readings 1 s apart"* ]]
	[[ $output != *"Outliers"* ]]
	[[ $output == *"rail 0 (eth2): 4 ports on h[1-4]; PFC on 3; most bytes leave on priority 3"* ]]
	[ "$(cut -d ' ' -f 2 "$SURVEY_DIR/log" | sort | uniq -c | tr -s ' \n' ' ')" = " 8 collect 4 quit " ]
	run -0 "$rc" lint --strict "$SURVEY_DIR/draft/fabric.yaml" "$SURVEY_DIR/draft/profile.yaml"
	grep -qF "  - {name: 'h[1-4]', ports: [{interface: 'eth2', rail: 0}]}" "$SURVEY_DIR/draft/fabric.yaml"
	grep -qx '  dscp: {24-26: 3, 48: 6}' "$SURVEY_DIR/draft/profile.yaml"
	grep -qx '  enabled: \[3\]' "$SURVEY_DIR/draft/profile.yaml"
	grep -qx 'intent: lossless' "$SURVEY_DIR/draft/profile.yaml"
}

@test "six hosts: another DSCP map, a job that sends DSCP 0, one that is away; drafts leave it out" {
	echo '.ports[].qos.app.dscp["26"] = 4' >"$SURVEY_DIR/h2.jq"
	echo "$dscp_0" >"$SURVEY_DIR/h4.jq"
	echo 'echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255' >"$SURVEY_DIR/h5.sh"
	run -1 --separate-stderr survey 'h[1-6]' --out "$SURVEY_DIR/draft"
	[ -z "${GOLDEN_UPDATE:-}" ] || echo "$output" >tests/golden/survey/six.out
	diff tests/golden/survey/six.out - <<<"$output"
	run -0 "$rc" lint --strict "$SURVEY_DIR/draft/fabric.yaml"
	grep -qF "name: 'h[1-4,6]'" "$SURVEY_DIR/draft/fabric.yaml"
	run -1 --separate-stderr survey 'h[1-6]' --json
	jq -e '.schema == "rocecheck.survey/1" and .exit_code == 1 and .hosts == 6 and .answered == 5 and .ports == 5 and
		(.lost | map(.host)) == ["h5"] and (.lost[0].error | contains("Connection refused")) and
		(.outliers | map([.item, .value, .norm, .norm_count, .hosts])) == [["tx_prio", "0", "3", 4, "h4"],
		["app.dscp", "{26: 4}", "{26: 3}", 4, "h2"], ["rx_discards", "33 packets", "none", 4, "h4"]] and
		.outliers[2].low == 33 and .groups[.outliers[0].group].tx_prio == 3 and
		.groups[2].settings.pfc.enabled == [3] and .common[0].metric == "pfc_rx_frames"' <<<"$output"
}

@test "only lost hosts: exit 4; one that is lost between the readings keeps its settings" {
	echo 'echo gone >&2; exit 7' >"$SURVEY_DIR/h1.sh"
	run -4 --separate-stderr survey h1 --out "$SURVEY_DIR/draft"
	[[ $output == "INCOMPLETE, NOTHING TO COMPARE: 0 of 1 host answered"*"h1: gone"* ]]
	[[ $stderr == *"cannot reach any of 1 hosts"*"no draft: no host has a RoCE port"* ]]
	echo 'error("stop")' >"$SURVEY_DIR/h3.jq"
	run -4 --separate-stderr survey 'h[2-4]'
	echo "$output"
	[[ $output == "INCOMPLETE, NO OUTLIERS: 3 of 3 hosts answered, 3 RoCE ports"* ]]
	[[ $output == *"Incomplete: no answer, or only the first of two"$'\n'"  h3: "* ]]
	tr -s ' \n' ' ' <<<"$output" | grep -qF 'unknown on h3: main priority sent, main priority received, pauses, drops, retransmissions, cnps'
}

@test "ports that are alone are not compared: exit 4" {
	run -4 --separate-stderr survey h1
	[[ $output == "INCOMPLETE, NOTHING TO COMPARE: 1 of 1 host answered, 1 RoCE port, "* ]]
	[[ $output == *"; nothing to compare it with"* ]]
}

@test "without root: what cannot be read is unknown, and no outlier" {
	for h in 2 3; do
		echo '.privileged = false | .ports[].qos |= {mtu: .mtu} | .ports[].counters |= del(.cnp_tx, .cnp_rx)' >"$SURVEY_DIR/h$h.jq"
	done
	run -0 --separate-stderr survey 'h[1-4]'
	echo "$output"
	tr -s ' \n' ' ' <<<"$output" | grep -qF 'unknown on h[2-3]: trust, app.dscp, ets.prio_tc'
	tr -s ' \n' ' ' <<<"$output" | grep -qF 'cnps'
	[[ $output == *"Agents without CAP_NET_ADMIN: 2."*"--launcher 'ssh {host} sudo'"* ]]
	run -0 --separate-stderr survey 'h[1-4]' --json
	jq -e '.outliers == [] and any(.unknown[]; .hosts == "h[2-3]" and (.items | contains(["pfc.enabled", "ets.prio_tc", "cnps"])))' \
		<<<"$output"
}

@test "drafts of settings that cannot be read, and of settings that a profile must not have" {
	for h in 1 2; do
		echo '.privileged = false | .ports[].qos |= {mtu: .mtu}' >"$SURVEY_DIR/h$h.jq"
	done
	run -0 --separate-stderr survey 'h[1-2]' --out "$SURVEY_DIR/draft"
	run -0 "$rc" lint --strict "$SURVEY_DIR/draft/fabric.yaml"
	grep -q '^# intent is a guess: pfc.enabled could not be read' "$SURVEY_DIR/draft/profile.yaml"
	for h in 1 2; do
		echo '.ports[].qos.ets.tc_tx_bw = [10, 0, 0, 10, 0, 0, 0, 0]' >"$SURVEY_DIR/h$h.jq"
	done
	run -0 --separate-stderr survey 'h[1-2]' --out "$SURVEY_DIR/draft"
	[[ $stderr == *"the drafts need changes: run 'rocecheck lint $SURVEY_DIR/draft/fabric.yaml'"* ]]
	grep -q '^# RC-INP-023: ' "$SURVEY_DIR/draft/profile.yaml"
	run ! grep -q 'intent is a guess' "$SURVEY_DIR/draft/profile.yaml"
	# A folder that cannot be written costs the drafts, and not the report.
	touch "$SURVEY_DIR/file"
	run -3 --separate-stderr survey 'h[1-2]' --out "$SURVEY_DIR/file"
	[[ $output == "NO OUTLIERS: "* ]]
}

@test "a tie names both camps, and the draft leaves the setting out" {
	for h in 1 2; do
		echo '.ports[].qos.mtu.netdev = 1500' >"$SURVEY_DIR/h$h.jq"
	done
	run -1 --separate-stderr survey 'h[1-4]' --out "$SURVEY_DIR/draft"
	[[ $output == *"  mtu.netdev: 1500 on h[1-2]; no value leads"$'\n'"  mtu.netdev: 9000 on h[3-4]; no value leads"* ]]
	grep -qx '# mtu.netdev: 9000 on 2 of the ports; no value leads' "$SURVEY_DIR/draft/profile.yaml"
	run grep -A1 '^mtu' "$SURVEY_DIR/draft/profile.yaml"
	[[ $output != *"netdev:"* ]]
}

@test "eight rails are one line; ports are sorted as people count" {
	local rails='.ports = [.ports[0] as $p | range(2; 12) | . as $n | $p | .netdev = "eth\($n)" | .ibdev = "mlx5_\($n)"]'

	for h in 1 2 3; do
		echo "$rails" >"$SURVEY_DIR/h$h.first.jq"
		echo "$rails" >"$SURVEY_DIR/h$h.jq"
	done
	echo "$rails | .ports[].firmware = \"20.0\"" >"$SURVEY_DIR/h2.jq"
	run -1 --separate-stderr survey 'h[1-3]' --out "$SURVEY_DIR/draft"
	echo "$output"
	[ "$(grep -c 'firmware: 20.0 on h2; 28.41.1000 on 2 other ports of each rail' <<<"$output")" -eq 1 ]
	[ "$(grep -c 'mlx5_core, 400 Gb/s, rails 0-9 (eth\[2-11\]): 30 ports on h\[1-3\]' <<<"$output")" -eq 1 ]
	[ "$(wc -l <<<"$output")" -le 24 ]
	grep -qF "{interface: 'eth2', rail: 0}, {interface: 'eth3', rail: 1}," "$SURVEY_DIR/draft/fabric.yaml"
	grep -qF "{interface: 'eth11', rail: 9}]" "$SURVEY_DIR/draft/fabric.yaml"
}

@test "the report of many equal hosts is as long as that of a few" {
	survey 'g[01-03]' | wc -l >"$SURVEY_DIR/few"
	survey 'g[01-60]' | wc -l | diff "$SURVEY_DIR/few" -
	[ "$(cat "$SURVEY_DIR/few")" -le 24 ]
}

@test "hosts that an inventory has to name in several sets are all in the draft" {
	local hosts='rack-1-left[01,03,05,07,09,11,13,15,17,19,21,23,25,27,29,31,33,35],login,root@x9'

	run -0 --separate-stderr survey "$hosts" --out "$SURVEY_DIR/draft"
	run -0 "$rc" lint --strict "$SURVEY_DIR/draft/fabric.yaml"
	grep -qF "{name: 'x9', target: 'root@{name}', ports:" "$SURVEY_DIR/draft/fabric.yaml"
	grep -oE 'left\[[0-9,]*\]|login' "$SURVEY_DIR/draft/fabric.yaml" | grep -oE '[0-9]+|login' | sort | uniq -c |
		awk '$1 != 1 { bad = 1 } END { exit bad || NR != 19 }'
}

@test "hostile agents: no control of the terminal, no name of theirs in the draft, the others are compared" {
	# Escape sequences are no JSON text of ours: the host is named with an error.
	echo '.ports[0].firmware = "\u001b[2J gone"' >"$SURVEY_DIR/h2.jq"
	echo '.ports[0].netdev = "x: {}, y#\u0027" | .ports[0].driver = "'"$(printf 'd%.0s' {1..31})"'"' >"$SURVEY_DIR/h3.jq"
	cp "$SURVEY_DIR/h3.jq" "$SURVEY_DIR/h3.first.jq"
	# Counters that went back, that are as large as can be, and a time that stands still.
	echo '.ports[0].counters |= (.rx_discards = 0 | .retransmits = 9007199254740991 | .prio_tx_bytes = [range(8) | 9007199254740991])' \
		>"$SURVEY_DIR/h4.jq"
	echo '.ports[0].counters.when_ns = 1' >"$SURVEY_DIR/h6.jq"
	echo '.ports = [range(1000) as $n | .ports[0] | .netdev = "e\($n)" | del(.gids, .qos, .counters)]' >"$SURVEY_DIR/h7.jq"
	echo 'yes "$(printf "x%.0s" {1..4000})"' >"$SURVEY_DIR/h8.sh"
	run -1 --separate-stderr timeout 60 "$rc" survey --interval 1s --launcher "$start {host}" --hosts 'h[1-9]' --out "$SURVEY_DIR/draft"
	echo "$output" "$stderr"
	run ! grep -q $'\033' <<<"$output$stderr"
	run ! grep -q 'y#' "$SURVEY_DIR/draft/fabric.yaml"
	run -0 "$rc" lint "$SURVEY_DIR/draft/fabric.yaml"
	run -1 --separate-stderr timeout 60 "$rc" survey --json --interval 1s --launcher "$start {host}" --hosts 'h[1-9]'
	jq -e '(.lost | map(.host) | contains(["h2", "h8"])) and any(.outliers[]; .item == "retransmits" and .hosts == "h4") and
		all(.outliers[]; .item != "rx_discards")' <<<"$output"
}

@test "agents of this host, without privilege: nothing is written, nothing is compared without RoCE" {
	mkdir "$SURVEY_DIR/here" && chmod 777 "$SURVEY_DIR/here" && cd "$SURVEY_DIR/here"
	if ((EUID == 0)); then
		as=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
		chmod 755 "$SURVEY_DIR"
		"${as[@]}" "$rc" --version || skip 'another user cannot run the program'
	fi
	run --separate-stderr "${as[@]}" "$rc" survey --hosts 'h[1-2]' --engine local --agent "$rc" --interval 1s
	echo "$output" "$stderr"
	[ -z "$(ls -A "$SURVEY_DIR/here")" ]
	[[ $output == *"2 of 2 hosts answered"* ]]
	[ "$status" -eq 0 ] || [[ $status -eq 4 && $output == "INCOMPLETE, NOTHING TO COMPARE"* ]]
}
