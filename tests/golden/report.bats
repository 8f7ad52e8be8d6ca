#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of recorded runs: every tests/golden/report/NAME/run.json is judged again and told in all
# formats as recorded. GOLDEN_UPDATE=1 writes them anew; read the diff before you commit it.
bats_require_minimum_version 1.5.0

setup() {
	rc=${ROCECHECK:-$BATS_TEST_DIRNAME/../../build/rocecheck}
	rc=$(realpath "$rc")
	[ -x "$rc" ] || exit 1 # else GOLDEN_UPDATE would record that
	tmp=$BATS_TEST_TMPDIR
	export ROCECHECK_PROFILES=$BATS_TEST_DIRNAME/../../profiles
	cd "$BATS_TEST_DIRNAME/report" || exit 1
}

# judge NAME: all formats of one run into $tmp, and the exit code as the last line of the text.
judge() {
	code=0
	"$rc" validate --from "$1" --profile lab --allow-inconclusive=RC-PFC-004 \
		--allow-inconclusive=RC-PFC-010 --format "json=$tmp/report.json" \
		--format "junit=$tmp/junit.xml" >"$tmp/report.txt" 2>"$tmp/talk" || code=$?
	echo "exit $code" >>"$tmp/report.txt"
	# The path of the profile and the version are not the report's.
	jq 'del(.tool.version, .profile.path, .findings[].wish.path?)' "$tmp/report.json" >"$tmp/report"
	mv "$tmp/report" "$tmp/report.json"
}

@test "every run is judged and told as recorded" {
	failed=0
	for run in */run.json; do
		name=${run%/run.json}
		judge "$name"
		for f in report.txt report.json junit.xml; do
			[ -z "$GOLDEN_UPDATE" ] || cp "$tmp/$f" "$name/$f"
			diff -u "$name/$f" "$tmp/$f" || failed=1
		done
	done
	[ "$failed" -eq 0 ]
}

@test "JUnit is well-formed and names every case once" {
	for f in */junit.xml; do
		xmllint --noout "$f"
		twice=$(grep -o '<testcase name="[^"]*"' "$f" | sort | uniq -d)
		echo "$twice"
		[ -z "$twice" ]
	done
}

@test "each PASS names its evidence, each SKIP and INCONCLUSIVE its reason" {
	for f in */report.json; do
		jq -e 'all(.findings[]; .text != "")' "$f"
		jq -e '[.findings[] | select(.verdict == "PASS" and (.evidence | length) == 0)] == []' "$f"
	done
}

@test "every consequence points at a finding that leads" {
	for f in */report.json; do
		jq -e '. as $r | all(.findings[] | select(.caused_by != null);
			$r.findings[.caused_by] | .caused_by == null and (.verdict == "FAIL" or .verdict == "WARN"))' "$f"
	done
}

@test "rules and explain know every rule of the reports" {
	"$rc" --json rules | jq -r '.rules[].id' >"$tmp/ids"
	[ "$(sort "$tmp/ids" | uniq -d)" = "" ]
	for id in $(jq -r '.findings[].rule' */report.json | sort -u); do
		grep -qx "$id" "$tmp/ids"
		"$rc" explain "$id" | grep -q "^$id "
	done
	run -2 "$rc" explain RC-PFC-02
	[[ $output == *"did you mean RC-PFC-002"* ]]
}
