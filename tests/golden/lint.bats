#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rocecheck lint on files good and bad: every tests/golden/lint/NAME.yaml has its expected output and
# exit code in NAME.out. GOLDEN_UPDATE=1 writes them anew; read the diff before you commit it.
bats_require_minimum_version 1.5.0

setup() {
	rc=${ROCECHECK:-$BATS_TEST_DIRNAME/../../build/rocecheck}
	rc=$(realpath "$rc")
	[ -x "$rc" ] || exit 1 # else GOLDEN_UPDATE would record that
	tmp=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_DIRNAME/lint" || exit 1
}

# Output and exit code of one file, run beside it so that no path stands in the output.
golden() {
	code=0
	"$rc" lint "$1.yaml" >"$tmp/got" 2>&1 || code=$?
	echo "exit $code" >>"$tmp/got"
	[ -z "$GOLDEN_UPDATE" ] || cp "$tmp/got" "$1.out"
	diff -u "$1.out" "$tmp/got"
}

@test "every file is judged as recorded" {
	failed=0
	for f in *.yaml; do
		golden "${f%.yaml}" || failed=1
	done
	[ "$failed" -eq 0 ]
}

@test "every recorded output has its file" {
	for f in *.out; do
		[ -e "${f%.out}.yaml" ]
	done
}

@test "shipped profiles have no error, and by name are what they are by path" {
	for f in ../../../profiles/*.yaml; do
		name=$(basename "$f" .yaml)
		"$rc" lint "$name" >"$tmp/name"
		"$rc" lint "$f" >"$tmp/path"
		diff <(sed "s,builtin:$name,$f,; s,^no findings in $name$,no findings in $f," "$tmp/name") "$tmp/path"
	done
}

@test "--strict makes warnings fail" {
	run "$rc" lint reserved.yaml
	[ "$status" -eq 0 ]
	run "$rc" lint --strict reserved.yaml
	[ "$status" -eq 1 ]
	run "$rc" lint --strict good.yaml
	[ "$status" -eq 0 ]
}

@test "several files: one report, the worst exit code" {
	run --separate-stderr "$rc" lint good.yaml key-twice.yaml cross-field.yaml
	[ "$status" -eq 1 ]
	[[ $output == *"in 2 files"* ]]
	run --separate-stderr "$rc" lint key-twice.yaml syntax-tab.yaml
	[ "$status" -eq 2 ]
}

@test "a file that cannot be read is named on stderr, exit 2, nothing on stdout" {
	run --separate-stderr "$rc" lint ./nowhere.yaml
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"./nowhere.yaml: No such file or directory"* ]]
}

@test "an unknown name lists the shipped profiles" {
	run "$rc" lint no-such-profile
	[ "$status" -eq 2 ]
	[[ $output == *"sonic-azure"* ]]
}

@test "--format gcc: one line a finding" {
	run "$rc" lint --format gcc keys-and-values.yaml
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "keys-and-values.yaml:3:9: error: intent: unknown word 'losless' [RC-INP-009]" ]
	for line in "${lines[@]}"; do
		[[ $line =~ ^keys-and-values\.yaml:[0-9]+:[0-9]+:\ (error|warning):\ .*\ \[RC-INP-[0-9]{3}\]$ ]]
	done
}

@test "--format json and --json: one document, the same findings" {
	"$rc" lint --format json keys-and-values.yaml >"$tmp/json" || [ $? -eq 1 ]
	"$rc" --json lint keys-and-values.yaml >"$tmp/json2" || [ $? -eq 1 ]
	cmp "$tmp/json" "$tmp/json2"
	python3 - "$tmp/json" <<-'EOF'
		import json, sys
		doc = json.load(open(sys.argv[1]))
		assert doc["schema"] == "rocecheck.lint/1"
		levels = [f["level"] for f in doc["findings"]]
		assert levels.count("error") == doc["errors"] > 5
		assert levels.count("warning") == doc["warnings"]
	EOF
}

@test "every rule that is found has an id that explain knows" {
	cat ./*.out | grep -o 'RC-INP-[0-9]*' | sort -u >"$tmp/rules"
	[ "$(wc -l <"$tmp/rules")" -ge 20 ]
	while read -r rule; do
		grep -q "\.id = \"$rule\"" ../../../profiles/yaml/diag.c
	done <"$tmp/rules"
}

@test "a huge file is refused in no time" {
	truncate -s 100M "$tmp/huge.yaml"
	run timeout 2 "$rc" lint "$tmp/huge.yaml"
	[ "$status" -eq 2 ]
	[[ $output == *"larger than 16 MiB"* ]]
}

@test "schema: JSON Schema of both kinds, unknown kinds are a usage error" {
	for kind in profile fabric; do
		"$rc" schema "$kind" | python3 -c 'import json, sys; assert json.load(sys.stdin)["properties"]["schema"]'
	done
	run "$rc" schema plan
	[ "$status" -eq 2 ]
	run "$rc" schema
	[ "$status" -eq 2 ]
}

# The oracle is another YAML reader and another checker. Keys of JSON objects are texts.
@test "the JSON Schema accepts what lint accepts, and refuses wrong keys and values" {
	python3 -c 'import jsonschema, yaml' 2>/dev/null || skip "python3-jsonschema or python3-yaml is missing"
	"$rc" schema profile >"$tmp/profile.json"
	"$rc" schema fabric >"$tmp/fabric.json"
	cat >"$tmp/check.py" <<-'EOF'
		import json, sys, jsonschema, yaml
		def texts(v):
		    if isinstance(v, dict): return {str(k): texts(x) for k, x in v.items()}
		    return [texts(x) for x in v] if isinstance(v, list) else v
		schema = json.load(open(sys.argv[1]))
		jsonschema.Draft202012Validator.check_schema(schema)
		try:
		    jsonschema.validate(texts(yaml.safe_load(open(sys.argv[2]))), schema)
		except jsonschema.ValidationError as e:
		    print(sys.argv[2], e.message)
		    sys.exit(1)
	EOF
	for f in ../../../profiles/*.yaml good.yaml child.yaml reserved.yaml cross-field.yaml; do
		python3 "$tmp/check.py" "$tmp/profile.json" "$f"
	done
	python3 "$tmp/check.py" "$tmp/fabric.json" fabric-good.yaml
	for f in keys-and-values.yaml fabric-good.yaml; do
		run python3 "$tmp/check.py" "$tmp/profile.json" "$f"
		[ "$status" -eq 1 ]
	done
	run python3 "$tmp/check.py" "$tmp/fabric.json" fabric-bad.yaml
	[ "$status" -eq 1 ]
}

@test "a full stdout is not a success" {
	run bash -c "$rc lint cross-field.yaml >/dev/full"
	[ "$status" -eq 3 ]
}
