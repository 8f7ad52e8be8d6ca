#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The demo, as the README has it: a healthy pair, and each fault set wrongly on h2 alone.
bats_require_minimum_version 1.5.0
load ../record

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	# Beside a lab that somebody has up.
	export LAB_DIR=$PWD/build/demo-lab
	# All faults in one lab; each test below looks at its own.
	rm -rf build/demo-faults
	tests/lab/demo.sh pfc-mask dscp-map ets mtu cm-tos ecn-off >"$BATS_FILE_TMPDIR/faults" 2>&1 3>&- || true
	mv build/demo build/demo-faults
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	demo=tests/lab/demo.sh
	report=build/demo/report.json
}

# The finding that leads the report.
leading() {
	jq -r 'first(.findings[] | select(.verdict == "FAIL" or .verdict == "WARN") | select(.caused_by == null))
		| "\(.rule) \(.verdict) \(.host) \(.port) \(.prio | map(tostring) | join(","))"' "$report"
}

@test "healthy: exit 0, at least 15 rules pass on named evidence" {
	SECONDS=0
	run "$demo"
	echo "$output"
	[ "$status" -eq 0 ]
	((SECONDS < 300))
	# A rule passes when none of its findings is anything else but SKIP and one is PASS.
	passed=$(jq '[.findings | group_by(.rule)[] | select(all(.verdict == "PASS" or .verdict == "SKIP"))
		| select(any(.verdict == "PASS")) | .[0].rule] | length' "$report")
	echo "$passed rules passed"
	((passed >= 15))
	jq -e '[.findings[] | select(.verdict == "PASS") | select(.evidence | length == 0)] == []' "$report"
}

@test "every SKIP and INCONCLUSIVE stands with its reason on the list" {
	jq -r '.findings[] | select(.verdict == "SKIP" or .verdict == "INCONCLUSIVE")
		| "\(.rule) \(.verdict) \(.host):\(.port) \(.text)"' "$report" | LC_ALL=C sort >"$BATS_TEST_TMPDIR/got"
	[ -z "${GOLDEN_UPDATE:-}" ] || cp "$BATS_TEST_TMPDIR/got" tests/lab/demo.expected
	diff -u tests/lab/demo.expected "$BATS_TEST_TMPDIR/got"
}

@test "priority 3 is proven lossless, and a lossy one loses packets" {
	jq -e '.claim == {level: "maintenance", text: "lossless under congestion: proven on priority 3", required: false,
		lossless: true, proven: [3], failed: [], not_proven: []}' "$report"
	jq -e '[.pairs[] | select(.phase == "control") | .losses] | add > 0' <(record_of build/demo)
}

@test "bandwidth and counters are real, every received byte was checked" {
	record_of build/demo >"$BATS_TEST_TMPDIR/run.json"
	run_json=$BATS_TEST_TMPDIR/run.json
	jq -e '[.pairs[] | select(.ran)] | length >= 6' "$run_json"
	jq -e 'all(.pairs[] | select(.phase == null); .client.result.messages > 10 and
		((if .verb == "read" then .client else .server end).result | .mismatches == 0 and .checked_bytes > 500000))' \
		"$run_json"
}

@test "tshark agrees on opcode, QPN, PSN and AETH of every packet; every ICRC is good" {
	n=0
	for f in build/demo/captures/*.pcap; do
		tests/golden/tshark_agree.sh "$f" build/rocecheck --icrc
		n=$((n + 1))
	done
	((n == 2))
}

@test "JUnit is well-formed" {
	build/rocecheck validate tests/lab/fabric.yaml --from build/demo --format junit=build/demo/junit.xml \
		--require lossless
	xmllint --noout build/demo/junit.xml
}

# fault NAME RULE: exit 1, and the leading finding names rule, host, port and priority.
fault() {
	sed -n "/^== h2: .*/,/^== $1: exit/p" "$BATS_FILE_TMPDIR/faults"
	grep -qx "== $1: exit 1" "$BATS_FILE_TMPDIR/faults"
	report=build/demo-faults/$1/report.json
	echo "leading: $(leading)"
	[ "$(leading)" = "$2 FAIL h2 roce0 3" ]
}

@test "FAULT=pfc-mask" { fault pfc-mask RC-PFC-002; }
@test "FAULT=dscp-map" { fault dscp-map RC-QOS-003; }
@test "FAULT=ets" { fault ets RC-ETS-004; }
@test "FAULT=mtu" { fault mtu RC-MTU-002; }
@test "FAULT=cm-tos" { fault cm-tos RC-QOS-013; }
@test "FAULT=ecn-off" { fault ecn-off RC-ECN-004; }

@test "an unknown fault is refused before anything starts" {
	run "$demo" nonsense
	[ "$status" -eq 2 ]
}
