#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rocecheck validate without a lab: offline over snapshots, on agents of this host, and its mistakes.
# Needs no RDMA device and no privilege.
bats_require_minimum_version 1.5.0
load ../record

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rocecheck=${ROCECHECK:-$PWD/build/rocecheck}
	dir=$BATS_TEST_TMPDIR
	umask 022 # a run folder that the group may write to is refused
	mkdir -p "$dir/snaps"
	cp tests/golden/snapshots/*.json "$dir/snaps/"
	cat >"$dir/here.yaml" <<-END
		schema: rocecheck.fabric/1
		name: here
		profile: lab
		engine: local
		agent: $rocecheck
		capture: off
		hosts:
		  - {name: a, ports: [{interface: lo}]}
		  - {name: b, ports: [{interface: lo}]}
		thresholds: {quiet: 1s, traffic: 1s}
	END
}

# refused TEXT ARGS...: exit 2, nothing on stdout, TEXT on stderr.
refused()
{
	local text=$1

	shift
	run --separate-stderr "$rocecheck" validate "$@"
	echo "$output" "$stderr"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	grep -qF -- "$text" <<<"$stderr"
}

@test "mistakes on the command line are exit 2" {
	refused 'missing FABRIC.yaml or --from DIR'
	refused 'needs --profile' --from "$dir/snaps"
	refused "unexpected argument 'b.yaml'" a.yaml b.yaml
	refused "unknown rule 'RC-PFC-999'" --from "$dir/snaps" --profile lab --allow-inconclusive RC-PFC-999
	refused "invalid format 'xml'" --from "$dir/snaps" --profile lab --format xml
	refused "invalid format 'json='" --from "$dir/snaps" --profile lab --format json=
	refused "two formats for standard output" --from "$dir/snaps" --profile lab --format json --format text
	refused "two formats for standard output" --from "$dir/snaps" --profile lab --json --format text
	refused "two formats for standard output" --from "$dir/snaps" --profile lab --format json=- --format text
	refused 'info' --from "$dir/snaps" --profile lab --fail-on info
	refused "$dir/none: No such file" --from "$dir/none" --profile lab
	refused 'no shipped profile' --from "$dir/snaps" --profile nonesuch
	refused 'No such file' "$dir/none.yaml"
}

@test "a schedule with an error is refused at its place, before any host is asked" {
	cd "$dir"
	printf '# pairs\na,b\nb,a;c,a\n' >s.txt
	refused "s.txt:3:5: unknown host 'c'" here.yaml --schedule s.txt
	: >s.txt
	refused 's.txt:1:1: no round in this file: expected lines of server,client' here.yaml --schedule s.txt
	refused "schedule '.': Is a directory" here.yaml --schedule .
	refused "schedule 'tournamnt': No such file" here.yaml --schedule tournamnt
	refused 'expected a file, or tournament, ring, shift,' here.yaml --schedule tournamnt
	refused '--schedule excludes --no-traffic and --from' here.yaml --schedule ring --no-traffic
	refused '--schedule excludes --no-traffic and --from' --from snaps --profile lab --schedule ring
	[ -z "$(find . -name 'rocecheck-run-*')" ]
}

# scheduled ARGS...: runs, with the lines of progress in $stderr, and the pairs in order in $pairs.
scheduled()
{
	run --separate-stderr "$rocecheck" validate -v "$dir/here.yaml" --out "$dir/run" "$@"
	echo "$output" "$stderr"
	((status == 1 || status == 4))
	pairs=$(jq -c '.pairs[] | [.verb, .server.host, .server.netdev, .client.host, .client.netdev]' <(record_of "$dir/run"))
}

@test "every port of a rail is tested, and a schedule of a run runs again" {
	sed -i 's/name: a, ports: .*/name: a, ports: [{interface: lo}, {interface: lo2}, {interface: lo3, rail: 1}]}/' \
		"$dir/here.yaml"
	scheduled
	grep -q 'rail 0: schedule tournament: 4 rounds, 4 pairs, .* about 8 s, ' <<<"$stderr"
	grep -q 'rail 1: no pair: expected ports of at least 2 hosts' <<<"$stderr"
	[ "$(sort <"$dir/run/schedule-rail0.txt")" = $'a:lo,b\na:lo2,b\nb,a:lo\nb,a:lo2' ]
	cp "$dir/run/schedule-rail0.txt" "$dir/again.txt"
	first=$pairs
	[ "$(wc -l <<<"$first")" -eq 12 ] # WRITE, SEND and READ
	scheduled --schedule "$dir/again.txt"
	[ "$pairs" = "$first" ]
	diff "$dir/again.txt" "$dir/run/schedule.txt"
	[ ! -e "$dir/run/schedule-rail0.txt" ]
}

@test "ports without a partner are no test: exit 4" {
	sed -i 's/name: b, ports: .*/name: b, ports: [{interface: lo, rail: 1}]}/' "$dir/here.yaml"
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/run" --json
	((status == 4 || status == 1))
	jq -e '.findings[] | select(.rule == "RC-META-010") | .verdict == "FAIL" and
		(.text | contains("no two ports form a pair"))' <<<"$output"
}

@test "--maintenance takes lossless priorities on which traffic can be sent" {
	refused "invalid --maintenance '8': expected priorities, e.g. 3 or 3,4" "$dir/here.yaml" --maintenance 8
	refused "invalid --maintenance '3,': expected priorities" "$dir/here.yaml" --maintenance 3,
	refused "--maintenance 0,3: the lossless priorities of profile 'lab' are 3" "$dir/here.yaml" --maintenance 0,3
	refused '--maintenance excludes --level, --no-traffic and --from' "$dir/here.yaml" --maintenance 3 --level quick
	sed '/dscp_default:/d; s/enabled: \[3\]/enabled: [3, 5]/; s/prio_tc: .*/prio_tc: [0, 0, 0, 3, 0, 5, 6, 0]/
		s/tc_tsa: .*/tc_tsa: {0: ets, 3: ets, 5: ets, 6: strict}/; s/tc_tx_bw: .*/tc_tx_bw: {0: 50, 3: 25, 5: 25}/' \
		profiles/lab.yaml >"$dir/two.yaml"
	refused "--maintenance 3,5: no DSCP of profile 'lab' maps to priority 5, so no traffic can be sent on it" \
		"$dir/here.yaml" --profile "$dir/two.yaml" --maintenance 3,5
}

@test "--phases chooses; what was left out is no pass, and an unknown phase is refused" {
	refused "--phases quiet,pear: unknown phase 'pear'" "$dir/here.yaml" --phases quiet,pear
	refused 'expected a list of quiet, marking, pairs, incast, control, shares' "$dir/here.yaml" --phases ''
	refused 'phase incast needs --maintenance PRIOS' "$dir/here.yaml" --phases incast
	refused '--phases excludes --no-traffic and --from' "$dir/here.yaml" --phases quiet --no-traffic
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/run" --phases quiet --json
	echo "$stderr"
	((status == 1 || status == 4))
	jq -e '.phases == ["quiet"] and .pairs == [] and .marking == []' <(record_of "$dir/run")
	jq -e 'all(.hosts[].ports[].readings; .quiet_after and (.load_before | not))' <(record_of "$dir/run")
	jq -e '.findings[] | select(.rule == "RC-META-010") | .verdict == "INCONCLUSIVE" and
		(.text | contains("phase pairs did not run to its end"))' <<<"$output"
	run ! grep -q 'phase pairs' <<<"$stderr"
}

@test "the plan comes first, then a line for each phase; --quiet prints neither" {
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/run"
	diff - <(grep -v 'run folder' <<<"$stderr") <<-'END'
		rocecheck: connect
		rocecheck: collect
		rocecheck: phase quiet: about 1 s, no traffic (traffic of others while this run sends nothing)
		rocecheck: phase marking: about 2 s, 0.3 MB, at most 1 % of a link (DSCP of each class, ECN and MTU of each path)
		rocecheck: phase pairs: about 4 s, 12.5 MB, at most 5 % of a link (delivery between pairs of ports)
		rocecheck: all phases: about 7 s, 12.8 MB
		rocecheck: quiet (1 of 3): about 1 s left
		rocecheck: marking (2 of 3): 0 of 1 round, about 2 s left
		rocecheck: pairs (3 of 3): 0 of 2 rounds, about 4 s left
		rocecheck: collect
	END
	run --separate-stderr "$rocecheck" -q validate "$dir/here.yaml" --out "$dir/run"
	[ -z "$stderr" ]
}

@test "a terminal has a bar of its width, which is erased before the report" {
	script -qec "sh -c 'stty cols 40; exec $rocecheck --color never validate $dir/here.yaml --out $dir/run'" \
		/dev/null >"$dir/screen" || true
	python3 - "$dir/screen" <<-'PY'
		import re, sys
		text = open(sys.argv[1], newline="").read().replace("\r\n", "\n")
		bars = re.findall("\r([^\r\n\x1b]*)\x1b\\[K", text)
		assert any(b.startswith("quiet (1 of 3) [    ") for b in bars), bars
		assert any(b.startswith("pairs (3 of 3) [##########          ]") for b in bars), bars
		assert max(map(len, bars)) == 39, bars
		rest = re.sub("\r[^\r\n\x1b]*\x1b\\[K", "", text)
		assert "\x1b" not in rest and "\r" not in rest, rest
		assert "\nFAIL  fabric here" in rest and "of 3)" not in rest, rest
		assert "\r\x1b[K" in text.split("FAIL  fabric here")[0], text
	PY
}

@test "snapshots alone are judged; the reports go where they were asked to" {
	run --separate-stderr "$rocecheck" validate --from "$dir/snaps" --profile lab --json \
		--format junit="$dir/j.xml" --format text="$dir/t.txt"
	((status == 0 || status == 1 || status == 4))
	jq -e --argjson code "$status" '.schema == "rocecheck.report/1" and .exit_code == $code' <<<"$output"
	jq -e '[.findings[] | select(.verdict == "PASS" or .verdict == "FAIL")] | length > 0' <<<"$output"
	xmllint --noout "$dir/j.xml"
	grep -q 'checks: ' "$dir/t.txt"
	[ "$(find "$dir" -name run.json | wc -l)" -eq 0 ]
}

# Verdict and text of a rule on h1 in the recorded run $dir/run, with the given options.
judged()
{
	local rule=$1

	shift
	run --separate-stderr "$rocecheck" validate --from "$dir/run" --profile lab --json "$@"
	jq -r --arg rule "$rule" '.findings[] | select(.rule == $rule and .host == "h1") | "\(.verdict) \(.text)"' <<<"$output"
}

@test "what a level does not claim is skipped; a violation stands at every level" {
	cp -r tests/golden/report/cm-tos "$dir/run"
	[[ $(judged RC-PFC-010) == "SKIP not tested at level standard: nothing was lost"* ]] # as recorded: none is stated
	[[ $(judged RC-PFC-010 --level quick) == "SKIP not tested at level quick: "* ]]
	[[ $(judged RC-META-001 --level quick) == "SKIP not tested at level quick: "* ]]
	[[ $(judged RC-META-001 --level standard) == "INCONCLUSIVE "* ]]
	[[ $(judged RC-QOS-011 --level quick) == "FAIL "* ]]
	jq '.level = "maintenance" | .maintenance = 8' tests/golden/report/cm-tos/run.json >"$dir/run/run.json"
	[[ $(judged RC-PFC-010) == "INCONCLUSIVE nothing was lost"* ]]
	run -2 "$rocecheck" validate --from "$dir/run" --profile lab --level maintenance
}

# healthy FILTER: a recorded run with its one fault removed, in $dir/run.
healthy()
{
	mkdir -p "$dir/run"
	jq '(.hosts[1] | .before, .after).ports[0] |= (.active_mtu = 4096 | .qos.mtu.netdev = 4200 | .qos.mtu.ib_min = 4096) |
		'"$1" tests/golden/report/mtu/run.json >"$dir/run/run.json"
}

@test "--require lossless: exit 4 with the next step, until a run has proven it" {
	local judge=(validate --from "$dir/run" --profile lab --allow-inconclusive RC-PFC-004)

	healthy .
	run -0 --separate-stderr "$rocecheck" "${judge[@]}"
	[[ $output == PASS\ * ]]
	grep -qx '      level standard; lossless under congestion: not tested' <<<"$output"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}" --require lossless
	[[ $output == INCOMPLETE\ * ]]
	grep -qF -- '--require lossless is not met; next step: rocecheck validate FABRIC.yaml --maintenance 3' <<<"$output"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}" --require lossless --json
	jq -e '.exit_code == 4 and .verdict == "INCOMPLETE" and (.claim | .required and (.lossless | not) and .level == "standard")' <<<"$output"
	healthy '.level = "maintenance" | .maintenance = 8'
	run -4 --separate-stderr "$rocecheck" "${judge[@]}" --require lossless
	grep -qx '      level maintenance; lossless under congestion: not proven on priority 3' <<<"$output"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}" --allow-inconclusive RC-PFC-010 --require lossless
	run -0 --separate-stderr "$rocecheck" "${judge[@]}" --allow-inconclusive RC-PFC-010
	healthy '.level = "maintenance" | .maintenance = 8 | .hosts[].ports[0].readings.load_after.pfc_tx_frames[3] += 5'
	run -0 --separate-stderr "$rocecheck" "${judge[@]}" --require lossless --format json="$dir/j.json" --format junit="$dir/j.xml"
	grep -qx '      level maintenance; lossless under congestion: proven on priority 3' <<<"$output"
	jq -e '.claim == {level: "maintenance", text: "lossless under congestion: proven on priority 3", required: true,
		lossless: true, proven: [3], failed: [], not_proven: []}' "$dir/j.json"
	grep -qF '<property name="claim" value="lossless under congestion: proven on priority 3"/>' "$dir/j.xml"
	healthy '.level = "maintenance" | .maintenance = 8 | .hosts[].ports[0].readings.load_after.out_of_sequence += 5'
	run -1 --separate-stderr "$rocecheck" "${judge[@]}" --require lossless
	grep -qx '      level maintenance; lossless under congestion: failed on priority 3' <<<"$output"
	refused "fast" --from "$dir/run" --profile lab --require fast
}

# inventory ENTRY...: of the recorded run, with these exceptions.
inventory()
{
	printf 'schema: rocecheck.fabric/1\nname: lab\nprofile: lab\nhosts: [{name: "h[1-2]", ports: [{interface: roce0}]}]\n'
	[ $# -eq 0 ] || printf 'allow:\n'
	[ $# -eq 0 ] || printf '  - {%s}\n' "$@"
}

@test "what the inventory allows is shown with its reason and not counted, until its day is over" {
	local judge=(validate --from "$dir/run" "$dir/allow.yaml") why='reason: switches get DCBX in spring'

	healthy .
	inventory >"$dir/allow.yaml"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}"
	inventory "rule: RC-PFC-004, $why, until: 2026-11-20" >"$dir/allow.yaml" # the day of the run
	run -0 --separate-stderr "$rocecheck" "${judge[@]}" --fail-on warn --format json="$dir/j.json" --format junit="$dir/j.xml"
	echo "$output"
	grep -qx '      2 findings are allowed by the inventory, listed below' <<<"$output"
	grep -A2 -F "  RC-PFC-004  until 2026-11-20, $dir/allow.yaml, line 6: switches get" <<<"$output" | tr -s ' \n' ' ' |
		grep -qF 'INCONCLUSIVE h[1-2] roce0: no link partner was heard (LLDP)'
	grep -q ' 2 allowed, .* skipped. Exit code 0.' <(tr '\n' ' ' <<<"$output")
	jq -e '[.findings[] | select(.allowed) | [.rule, .verdict, .host, .blocks, .allowed.line]] ==
		[["RC-PFC-004", "INCONCLUSIVE", "h1", false, 6], ["RC-PFC-004", "INCONCLUSIVE", "h2", false, 6]] and .counts.allowed == 2' "$dir/j.json"
	[ "$(grep -c '<skipped message="allowed until 2026-11-20: switches get DCBX in spring">' "$dir/j.xml")" -eq 2 ]
	inventory "rule: RC-PFC-004, hosts: h2, $why, until: 2026-12-31" >"$dir/allow.yaml"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}"
	inventory "rule: RC-PFC-004, $why, until: 2026-11-19" >"$dir/allow.yaml"
	run -4 --separate-stderr "$rocecheck" "${judge[@]}"
	grep -qF 'WARN  RC-META-011  fabric: the exception for RC-PFC-004 on all hosts has expired: it ended on' <<<"$output"
	run ! grep -q 'allowed by the inventory' <<<"$output"
	# A fault that is accepted, and one of another rule.
	inventory "rule: RC-MTU-002, hosts: h2, $why, until: 2026-12-31" "rule: RC-PFC-004, $why, until: 2026-12-31" >"$dir/allow.yaml"
	cp tests/golden/report/mtu/run.json "$dir/run/run.json"
	run -1 --separate-stderr "$rocecheck" "${judge[@]}" --json
	jq -e '[.findings[] | select(.verdict == "FAIL" and (.allowed | not)) | [.rule, .caused_by]] == [["RC-MTU-001", null]]' <<<"$output"
}

@test "an exception for a rule that does not exist is named with its line, before any host is asked" {
	inventory 'rule: RC-PFC-999, reason: x, until: 2026-12-31' >"$dir/allow.yaml"
	refused "$dir/allow.yaml, line 6: allow: unknown rule 'RC-PFC-999'" "$dir/allow.yaml" --out "$dir/out"
	healthy .
	refused "$dir/allow.yaml, line 6: allow: unknown rule 'RC-PFC-999'" --from "$dir/run" "$dir/allow.yaml"
	[ ! -e "$dir/out" ]
	inventory 'rule: RC-META-010, reason: x, until: 2026-12-31' >"$dir/allow.yaml"
	refused 'RC-META-010 cannot be allowed' --from "$dir/run" "$dir/allow.yaml"
	inventory 'rule: RC-PFC-004, hosts: h3, reason: x, until: 2026-12-31' >"$dir/allow.yaml"
	refused "unknown host 'h3'" --from "$dir/run" "$dir/allow.yaml"
}

@test "hosts that were copied with their address and MAC are one finding, whatever their number" {
	rm "$dir/snaps"/*
	for n in 1 2 3 4; do
		jq --arg host "h$n" '.host = $host' tests/golden/snapshots/sriov-vf.json >"$dir/snaps/h$n.json"
	done
	run "$rocecheck" validate --from "$dir/snaps" --profile lab
	echo "$output"
	[ "$(grep -c '^FAIL  RC-GID-006' <<<"$output")" -eq 2 ]
	grep -q '^FAIL  RC-GID-006  h\[2-4\] eth1 .*: MAC .* is also on h1 eth1' <<<"$output"
}

@test "broken snapshots are named" {
	echo '{"schema":' >"$dir/snaps/x.json"
	refused 'x.json:' --from "$dir/snaps" --profile lab
	echo '{"schema":"rocecheck.snapshot/2"}' >"$dir/snaps/x.json"
	refused 'must be rocecheck.snapshot/1' --from "$dir/snaps" --profile lab
	echo '{"schema":"rocecheck.snapshot/1"}' >"$dir/snaps/x.json"
	refused 'x.json:' --from "$dir/snaps" --profile lab
}

@test "agents on this host: both answer, a port without RDMA is said to have none" {
	run --separate-stderr "$rocecheck" validate -v "$dir/here.yaml" --out "$dir/run"
	echo "$output" "$stderr"
	((status == 1 || status == 4))
	jq -e '[.hosts[] | select(.reached and .error == "") | .name] == ["a", "b"]' <(record_of "$dir/run")
	jq -e '[.pairs[] | select(.ran == false and (.error | contains("no RDMA device")))] | length == 6' \
		<(record_of "$dir/run")
	jq -e 'all(.hosts[].ports[]; .capture_error | contains("capture is off"))' <(record_of "$dir/run")
	jq -e 'all(.hosts[].ports[].readings; .quiet_before and .load_after)' <(record_of "$dir/run")
	[ "$(cat "$dir/run/schedule-rail0.txt")" = $'b,a\na,b' ]
	run --separate-stderr "$rocecheck" validate --from "$dir/run" "$dir/here.yaml" --json
	diff <(jq -S '[.findings[] | [.rule, .verdict, .host, .text]]' "$dir/run/report.json") \
		<(jq -S '[.findings[] | [.rule, .verdict, .host, .text]]' <<<"$output")
}

@test "an agent that is no agent is named, the other host is judged" {
	sed -i 's#{name: b, #{name: b, agent: /bin/cat, #' "$dir/here.yaml"
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/run"
	((status == 1 || status == 4))
	jq -e '.hosts[0].reached and (.hosts[1].reached | not) and .hosts[1].error != ""' <(record_of "$dir/run")
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] == ["b"]' \
		"$dir/run/report.json"
}

@test "a run folder that cannot be is told before any host is asked" {
	touch "$dir/file"
	for out in "$dir/file" "$dir/file/run" ''; do
		run --separate-stderr "$rocecheck" validate -v "$dir/here.yaml" --out "$out"
		echo "$stderr"
		[ "$status" -eq 3 ]
		[ -z "$output" ]
		run ! grep -q connecting <<<"$stderr"
	done
	grep -qF "''" <<<"$stderr"
}

@test "the default run folder has the time of the run's id" {
	cd "$dir"
	run --separate-stderr "$rocecheck" validate --no-traffic "$dir/here.yaml"
	((status == 1 || status == 4))
	id=$(jq -r .id rocecheck-run-*/run.json)
	[ "$(echo rocecheck-run-*)" = "rocecheck-run-${id%-*}" ]
}

@test "nothing of a former run stays in its folder" {
	mkdir -p "$dir/run/captures"
	touch "$dir/run/captures/a-lo.pcap" "$dir/run/captures/mine.pcap" "$dir/run/schedule-rail0.txt"
	run --separate-stderr "$rocecheck" validate --no-traffic "$dir/here.yaml" --out "$dir/run"
	((status == 1 || status == 4))
	[ -e "$dir/run/run.json" ]
	[ ! -e "$dir/run/schedule-rail0.txt" ]
	[ "$(ls "$dir/run/captures")" = mine.pcap ]
}

@test "a user who stops the run early is not told that hosts are missing" {
	printf '#!/bin/sh\n: >"%s"\nexec sleep 20\n' "$dir/began" >"$dir/slow"
	chmod +x "$dir/slow"
	sed -i "s#^agent: .*#agent: $dir/slow#" "$dir/here.yaml"
	# shellcheck disable=SC2016
	run --separate-stderr env --default-signal=INT bash -c '"$@" & pid=$!
		for ((i = 0; i < 100; i++)); do [ ! -e "$0" ] || break; sleep 0.1; done
		kill -INT $pid; wait $pid' "$dir/began" env --default-signal=INT "$rocecheck" validate "$dir/here.yaml" --out "$dir/run"
	echo "$stderr"
	jq -e 'all(.hosts[]; .error | contains("stopped before"))' <(record_of "$dir/run")
	run ! grep -q 'no answer' <<<"$output"
}

@test "an agent does not drive the terminal" {
	cat >"$dir/evil" <<-'END'
		#!/bin/sh
		echo '{"hello":"rocecheck.agent/1","build":"VERSION"}'
		n=0
		while read -r line; do
			case $line in *collect*) n=$((n + 1)) ;; *) continue ;; esac
			printf '{"id":%d,"error":{"code":-5,"text":"\\\\u001b[2J gone"}}\n' $n
		done
	END
	sed -i "s/VERSION/$("$rocecheck" --version | cut -d' ' -f2)/" "$dir/evil"
	chmod +x "$dir/evil"
	sed -i "s#^agent: .*#agent: $dir/evil#" "$dir/here.yaml"
	run --separate-stderr "$rocecheck" validate -v "$dir/here.yaml" --no-traffic --out "$dir/run"
	echo "$stderr"
	grep -qF '[2J gone' <<<"$stderr"
	run ! grep -q $'\033' <<<"$stderr$output"
}

@test "no agent at all: exit 4, and still a report" {
	sed -i "s#^agent: .*#agent: /nonexistent/rocecheck#" "$dir/here.yaml"
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/run"
	[ "$status" -eq 4 ]
	grep -q 'cannot reach any of 2 hosts' <<<"$stderr"
	grep -q 'RC-META-007' <<<"$output"
}

@test "a full disk: one line with the file, exit 3, the verdict is printed" {
	[ -w /dev/full ] || skip 'no /dev/full'
	for format in text json junit text=- json=- junit=-; do
		run --separate-stderr bash -c \
			"$rocecheck validate --from $dir/snaps --profile lab --format $format >/dev/full"
		[ "$status" -eq 3 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	((EUID == 0)) && unshare -m true || skip 'a small disk needs root'
	mkdir "$dir/small"
	# shellcheck disable=SC2016
	for option in '--format json=$1/small/r.json' '--out $1/small/run'; do
		run --separate-stderr unshare -m bash -c "mount -t tmpfs -o size=8k none \$1/small &&
			\$2 validate --from \$1/snaps --profile lab $option
			code=\$?; find \$1/small -name '.*' >\$1/left; exit \$code" - "$dir" "$rocecheck"
		echo "$stderr"
		[ "$status" -eq 3 ]
		grep -q 'checks: ' <<<"$output"
		[ "$(grep -c 'json:.*No space left on device' <<<"$stderr")" -eq 1 ]
		[ ! -s "$dir/left" ]
	done
	# shellcheck disable=SC2016
	run --separate-stderr unshare -m bash -c 'mount -t tmpfs -o size=8k none $1/small && $2 validate $1/here.yaml --out $1/small/run' \
		- "$dir" "$rocecheck"
	echo "$stderr"
	[ "$status" -eq 3 ]
	grep -q 'checks: ' <<<"$output"
	[ "$(grep -c 'warning: .*jsonl\?:.*No space left on device' <<<"$stderr")" -eq 1 ]
	[ "$(grep -c 'error: .*jsonl\?:.*No space left on device' <<<"$stderr")" -eq 1 ]
}

@test "an agent answers nonsense with errors, and ends with its input" {
	printf '%s\n' 'x' '{"id":1}' '{"id":2,"op":"ping"}' | "$rocecheck" agent >"$dir/answers"
	jq -es 'length == 4 and .[0].hello == "rocecheck.agent/1" and .[1].error.code < 0 and
		.[2].id == 1 and .[2].error.code < 0 and (.[3] | .id == 2 and .ok and .now_ns > 0)' "$dir/answers"
	head -c 300000 /dev/urandom | timeout 10 "$rocecheck" agent >/dev/null
}

# eight ENGINE: inventory of eight hosts whose agents replay a snapshot; the line says how they are started.
eight() {
	printf 'schema: rocecheck.fabric/1\nname: fleet\nprofile: lab\n%s\nthresholds: {connect_timeout: 1s}\nhosts:\n' "$1"
	for n in 1 2 3 4 5 6 7 8; do
		[ -e "$dir/agents/h$n" ] || cp "$dir/agent" "$dir/agents/h$n"
		printf '  - {name: h%d, agent: %s, ports: [{interface: %s}]}\n' $n "$dir/agents/h$n" "$netdev"
	done
}

@test "eight agents give the same findings by ssh, locally and by a command; one that hangs, dies, raves or is of another version is named" {
	netdev=$(jq -r '.ports[0].netdev' tests/golden/snapshots/sriov-vf.json)
	mkdir -p "$dir/agents" "$dir/bin"
	cat >"$dir/agent" <<-END
		#!/bin/bash
		host=\${0##*/}
		echo '{"hello":"rocecheck.agent/1","build":"$("$rocecheck" --version | cut -d ' ' -f 2)"}'
		while read -r line; do
			id=\$(jq .id <<<"\$line")
			case \$line in
			*'"id":0'*) ;;
			*'"collect"'*) jq -c --argjson id "\$id" --arg host "\$host" '{id: \$id, snapshot: (.host = \$host)}' \
				$PWD/tests/golden/snapshots/sriov-vf.json ;;
			*) echo "{\"id\":\$id}" ;;
			esac
		done
	END
	chmod +x "$dir/agent"
	# In place of ssh and of a site's launcher: what follows the host is run here.
	printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec "$@"\n' >"$dir/bin/ssh"
	printf '#!/bin/sh\nshift\nexec "$@"\n' >"$dir/bin/start"
	chmod +x "$dir/bin/ssh" "$dir/bin/start"
	for engine in 'engine: local' 'engine: ssh' "launcher: '$dir/bin/start {host}'"; do
		eight "$engine" >"$dir/fleet.yaml"
		PATH=$dir/bin:$PATH run --separate-stderr "$rocecheck" validate "$dir/fleet.yaml" --no-traffic --json --out "$dir/run"
		echo "$engine: $status $stderr"
		((status == 0 || status == 1 || status == 4))
		jq -S '[.findings[] | [.rule, .verdict, .host, .port, .text]]' <<<"$output" >"$dir/${engine%%:*}.found"
		rm -r "$dir/run"
		[ ! -e "$dir/first" ] || diff "$dir/first" "$dir/${engine%%:*}.found"
		cp "$dir/${engine%%:*}.found" "$dir/first"
	done
	jq -e '[.[][2]] | unique | length >= 8' "$dir/first"
	printf '#!/bin/sh\nexec sleep 60\n' >"$dir/agents/h2"
	printf '#!/bin/sh\necho no memory >&2\nexit 7\n' >"$dir/agents/h3"
	printf '#!/bin/sh\necho Welcome\nexec sleep 60\n' >"$dir/agents/h4"
	cp --remove-destination "$dir/agent" "$dir/agents/h6"
	sed -i '/"hello"/s/"build":"[^"]*/&-other/' "$dir/agents/h6"
	run --separate-stderr "$rocecheck" validate "$dir/fleet.yaml" --no-traffic --json --out "$dir/run"
	echo "$stderr"
	[ "$status" -eq 4 ] || [ "$status" -eq 1 ]
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] | sort == ["h2", "h3", "h4", "h6"]' <<<"$output"
	for said in "h6 install the same version on both hosts" "h2 no answer to the connection within 6.0 s" "h3 no memory" "h4 the agent sent 'Welcome'"; do
		jq -e --arg said "${said#* }" --arg host "${said%% *}" '.findings[] |
			select(.rule == "RC-META-007" and .host == $host) | .text | contains($said)' <<<"$output"
	done
	jq -S '[.findings[] | [.rule, .verdict, .host, .port] | select(.[2] == "h5")]' <<<"$output" |
		diff <(jq -S '[.[] | select(.[2] == "h5") | .[:4]]' "$dir/first") -
}

# two: an inventory of two hosts whose agents replay a snapshot; h2 does not answer the requests that
# $dir/hang has a word of, dies of one that $dir/die has a word of, and does not start while $dir/gone exists.
two() {
	netdev=$(jq -r '.ports[0].netdev' tests/golden/snapshots/sriov-vf.json)
	cp tests/golden/snapshots/sriov-vf.json "$dir/now.json"
	echo 11-22 >"$dir/boot"
	mkdir -p "$dir/agents"
	cat >"$dir/agents/h1" <<-END
		#!/bin/bash
		host=\${0##*/}
		[ "\$host" = h1 ] || [ ! -e $dir/gone ] || exit 7
		echo '{"hello":"rocecheck.agent/1","build":"$("$rocecheck" --version | cut -d ' ' -f 2)","boot":"'\$(cat $dir/boot)'"}'
		while read -r line; do
			id=\$(jq .id <<<"\$line")
			case \$line in
			*'"id":0'*) continue ;;
			esac
			[ "\$host" = h1 ] || [ ! -e $dir/die ] || [[ \$line != *\$(cat $dir/die)* ]] || exit 9
			case \$line in
			*'"collect"'*) jq -c --argjson id "\$id" --arg host "\$host" '{id: \$id, snapshot: (.host = \$host)}' $dir/now.json ;;
			*) [ "\$host" = h1 ] || [ ! -e $dir/hang ] || [[ \$line != *\$(cat $dir/hang)* ]] || { : >$dir/began && continue; }
				echo "{\"id\":\$id}" ;;
			esac
		done
	END
	chmod +x "$dir/agents/h1"
	cp "$dir/agents/h1" "$dir/agents/h2"
	printf 'schema: rocecheck.fabric/1\nname: two\nprofile: lab\nengine: local\ncapture: off\nhosts:\n' >"$dir/two.yaml"
	for n in 1 2; do
		printf '  - {name: h%d, agent: %s, ports: [{interface: %s}]}\n' $n "$dir/agents/h$n" "$netdev"
	done >>"$dir/two.yaml"
	echo 'thresholds: {quiet: 1s, traffic: 1s}' >>"$dir/two.yaml"
}

# resumed ARGS...: continues $dir/run.
resumed() {
	run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --resume "$dir/run" "$@"
	echo "$stderr"
	((status == 1 || status == 4))
}

# Each phase, and what it asks an agent for.
phases='quiet:"counters" marking:echo_open pairs:traffic_open incast:traffic_open control:traffic_open shares:traffic_open'

# interrupted OP ARGS...: a run in which h2 does not answer OP is interrupted then, and ends within 4 s.
interrupted() {
	local op=$1

	shift
	echo "$op" >"$dir/hang"
	rm -f "$dir/began"
	# shellcheck disable=SC2016
	run --separate-stderr env --default-signal=INT bash -c '"$@" & pid=$!
		for ((i = 0; i < 100; i++)); do [ ! -e "$0" ] || break; sleep 0.1; done
		kill -INT $pid; SECONDS=0; wait $pid; code=$?; ((SECONDS < 4)) || exit 9; exit $code' "$dir/began" \
		env --default-signal=INT "$rocecheck" validate "$dir/two.yaml" --out "$dir/run" "$@"
	echo "$op $*: $status $stderr"
	((status == 1 || status == 4))
}

@test "incast_senders: more senders, more rounds, up to all others to one" {
	local n case

	two
	for n in 3 4 5 6; do
		cp "$dir/agents/h1" "$dir/agents/h$n"
		sed -i "/name: h2/{p;s/h2/h$n/g}" "$dir/two.yaml"
	done
	for case in 2:3 4:5 40:6; do
		sed -i "s/^thresholds.*/thresholds: {quiet: 1s, traffic: 1s, incast_senders: ${case%:*}}/" "$dir/two.yaml"
		run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --out "$dir/run" --maintenance 3 --phases incast
		echo "$case: $status $stderr"
		((status == 1 || status == 4))
		grep -q "incast (1 of 1): 0 of ${case#*:} rounds" <<<"$stderr"
		rm -r "$dir/run"
	done
}

@test "Ctrl-C in any phase ends the run at once, with a report" {
	two
	for at in $phases; do
		interrupted "${at#*:}" --maintenance 3 "--phases=${at%:*}"
		[ -e "$dir/began" ]
		grep -q 'the run was stopped: the results are incomplete' <<<"$stderr"
		[ -n "$output" ]
		run ! pgrep -f "$dir/agents"
		rm -r "$dir/run"
	done
}

@test "Ctrl-C keeps what was learnt, and --resume runs the rest" {
	two
	interrupted echo_open
	[ -e "$dir/began" ]
	grep -q 'the run was stopped: the results are incomplete' <<<"$stderr"
	grep -qF "to continue, give the same options and --resume $dir/run" <<<"$stderr"
	[ -n "$output" ]
	jq -e '.phases == ["quiet"]' <(record_of "$dir/run")
	run ! pgrep -f "$dir/agents"
	id=$(jq .id <(record_of "$dir/run"))
	rm "$dir/hang"
	resumed
	grep -qx 'rocecheck: phase quiet: kept from the earlier run' <<<"$stderr"
	grep -q 'marking (1 of 2)' <<<"$stderr"
	run ! grep -q 'phase quiet: about' <<<"$stderr"
	jq -e --argjson id "$id" '.id == $id and .phases == ["quiet", "marking", "pairs"] and (.pairs | length) == 6 and
		(.marking | length) == 1' <(record_of "$dir/run")
	# A host that is gone now costs nothing of the earlier run.
	: >"$dir/gone"
	resumed
	jq -e '.phases == ["quiet", "marking", "pairs"] and (.pairs | length) == 6 and .hosts[1].boot_id == "11-22" and
		.hosts[1].before.host == "h2" and .hosts[1].error != ""' <(record_of "$dir/run")
	rm "$dir/gone"
	resumed
	jq -e '.hosts[1].error == "" and (.pairs | length) == 6' <(record_of "$dir/run")
	[ "$(grep -c 'kept from the earlier run' <<<"$stderr")" -eq 3 ]
}

# lost_in PHASE TEXT: the finished run names h2 with TEXT, and what was learnt before PHASE stands.
lost_in() {
	((status == 1 || status == 4))
	jq -e --arg text "$2" '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") |
		[.host, (.text | contains($text))]] == [["h2", true]]' <<<"$output"
	jq -e '[.findings[] | select(.host == "h1" and .verdict == "PASS")] | length > 5' <<<"$output"
	jq -e --arg phase "$1" '.hosts[1].before.host == "h2" and
		.phases == (if $phase == "quiet" then [] else ["quiet"] end)' <(record_of "$dir/run")
	run ! pgrep -f "$dir/agents"
	rm -r "$dir/run"
}

@test "a host that dies in any phase is named, what was learnt before stands, and no agent is left" {
	local at

	two
	for at in $phases; do
		echo "${at#*:}" >"$dir/die"
		SECONDS=0
		run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --json --out "$dir/run" --maintenance 3 \
			"--phases=quiet,${at%:*}"
		echo "$at: $status in $SECONDS s: $stderr"
		((SECONDS < 12))
		lost_in "${at%:*}" 'status 9'
	done
}

@test "a host that hangs in a phase is named after 15 s, what was learnt before stands, and no agent is left" {
	two
	echo echo_open >"$dir/hang"
	run --separate-stderr timeout 25 "$rocecheck" validate "$dir/two.yaml" --json --out "$dir/run" --phases=quiet,marking
	lost_in marking 'no answer to echo_open within 15.0 s'
}

@test "--resume runs all phases again where a host has booted or has other settings" {
	two
	run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --out "$dir/run"
	echo 33-44 >"$dir/boot"
	resumed
	grep -qx 'rocecheck: h1: the host has booted since: all phases run again' <<<"$stderr"
	grep -q 'quiet (1 of 3)' <<<"$stderr"
	jq -e '.phases == ["quiet", "marking", "pairs"] and (.pairs | length) == 6' <(record_of "$dir/run")
	jq '.ports[0].qos.mtu.netdev = 1400' "$dir/now.json" >"$dir/next.json"
	mv "$dir/next.json" "$dir/now.json"
	resumed
	grep -qx "rocecheck: h1 $netdev: settings changed since: all phases run again" <<<"$stderr"
	resumed
	grep -q 'phase pairs: kept' <<<"$stderr"
}

@test "--resume: another inventory, profile, level or threshold is an error that names it" {
	two
	run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --out "$dir/run"
	local resume=(--resume "$dir/run")
	refused '--resume excludes --no-traffic, --from and --out' "$dir/two.yaml" "${resume[@]}" --out "$dir/x"
	refused 'that run was of another profile' "$dir/two.yaml" "${resume[@]}" --profile azure-local-s2d
	refused 'another --level or --maintenance (level standard)' "$dir/two.yaml" "${resume[@]}" --level quick
	refused 'that run had another --schedule' "$dir/two.yaml" "${resume[@]}" --schedule ring
	sed 's/traffic: 1s/traffic: 2s/' "$dir/two.yaml" >"$dir/other.yaml"
	refused "other 'thresholds'" "$dir/other.yaml" "${resume[@]}"
	sed 's/name: h2/name: h3/' "$dir/two.yaml" >"$dir/other.yaml"
	refused "the inventory has host 'h3' where that run has 'h2'" "$dir/other.yaml" "${resume[@]}"
	sed '/name: h2/d' "$dir/two.yaml" >"$dir/other.yaml"
	refused 'the inventory has 1 host, that run has 2' "$dir/other.yaml" "${resume[@]}"
	sed "s/interface: $netdev/&, rail: 3/" "$dir/two.yaml" >"$dir/other.yaml"
	refused "host 'h1': the inventory has port $netdev on rail 3" "$dir/other.yaml" "${resume[@]}"
	refused "$dir/snaps/run.json: No such file" "$dir/two.yaml" --resume "$dir/snaps"
	echo h1,h2 >"$dir/s.txt"
	run --separate-stderr "$rocecheck" validate "$dir/two.yaml" --out "$dir/scheduled" --schedule "$dir/s.txt"
	echo h2,h1 >"$dir/s.txt"
	refused 'that run had another --schedule' "$dir/two.yaml" --resume "$dir/scheduled" --schedule "$dir/s.txt"
	jq 'del(.profile_sum)' "$dir/run/run.json" >"$dir/snaps/run.json"
	cp "$dir/run/"*.jsonl "$dir/snaps/"
	refused 'cannot be continued' "$dir/two.yaml" --resume "$dir/snaps"
	echo '{}' >"$dir/snaps/run.json"
	refused 'run.json' "$dir/two.yaml" --resume "$dir/snaps"
}
