#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots collected on two hosts, judged on a third machine without RDMA: the configuration findings of
# the run that asked the hosts themselves.
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export LAB_DIR=$BATS_FILE_TMPDIR/lab
	tests/lab/lab up >/dev/null
	for host in h1 h2; do
		tests/lab/lab run $host -- rocecheck apply lab --auto-approve --accept-unproven >/dev/null 2>&1
	done
	sed "s#\.\./\.\./build/lab#$LAB_DIR#" tests/lab/fabric.yaml >"$BATS_FILE_TMPDIR/fabric.yaml"
}

teardown_file() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	tests/lab/lab down >/dev/null 2>&1
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	fabric=$BATS_FILE_TMPDIR/fabric.yaml
	tmp=$BATS_TEST_TMPDIR
}

collect_all() {
	mkdir -p "$1"
	for host in h1 h2; do
		tests/lab/lab run $host -- rocecheck collect >"$1/$host.json"
	done
}

# What is violated, and where the wish stands.
violations() {
	jq -cS '[.findings[] | select(.verdict == "FAIL" or .verdict == "WARN")
		| {rule, host, port, prio, text}] | sort_by(.rule, .host)'
}

@test "a healthy pair: nothing is violated on either way, exit 0" {
	collect_all "$tmp/dir"
	run -0 --separate-stderr build/rocecheck --json validate "$fabric" --from "$tmp/dir" --allow-inconclusive RC-PFC-004
	[ "$(violations <<<"$output")" = "[]" ]
	jq -e '[.findings[] | select(.verdict == "PASS")] | length >= 20' <<<"$output"
}

@test "several faults: the findings are those of the hosts themselves" {
	tests/lab/lab run h2 -- dcb pfc set dev roce0 prio-pfc all:off 4:on
	tests/lab/lab run h2 -- dcb ets set dev roce0 tc-bw 0:90 3:10
	tests/lab/lab run h2 -- sh -c 'echo 104 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos'
	run -1 --separate-stderr build/rocecheck --json validate "$fabric" --no-traffic --out "$tmp/run"
	violations <<<"$output" >"$tmp/online"
	collect_all "$tmp/dir"
	run -1 --separate-stderr build/rocecheck --json validate "$fabric" --from "$tmp/dir"
	violations <<<"$output" >"$tmp/offline"
	jq -e 'map(.rule) | contains(["RC-ECN-004", "RC-ETS-004", "RC-PFC-002"])' "$tmp/online"
	diff "$tmp/online" "$tmp/offline"
}

@test "without an inventory: the profile is enough" {
	collect_all "$tmp/dir"
	run -1 --separate-stderr build/rocecheck --json validate --from "$tmp/dir" --profile lab
	[[ $(violations <<<"$output") == *'"RC-PFC-002"'* ]]
}
