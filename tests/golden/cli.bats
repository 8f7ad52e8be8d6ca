#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line as a user meets it: usage, exit codes, streams, completion, installation, house rules.
bats_require_minimum_version 1.5.0


setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=build/rocecheck
	tmp=$BATS_TEST_TMPDIR
}

# The names of the usage's first column, "capture decode" and its like included.
commands() {
	"$rc" --help | sed -n '/^Commands:/,/^$/s/^  \(.\{18\}\) .*/\1/p' | sed 's/ *$//'
}

@test "no command: usage on stderr, exit 2" {
	run --separate-stderr "$rc"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == *"usage: rocecheck"* ]]
}

@test "--help: usage on stdout, exit 0, every command named" {
	run --separate-stderr "$rc" --help
	[ "$status" -eq 0 ]
	for c in show lint plan apply confirm rollback watch collect doctor survey validate top "capture decode" "capture stats" rules explain schema; do
		[[ $output == *"  $c "* ]]
	done
}

@test "every command answers --help with its usage" {
	commands >"$tmp/commands"
	[ "$(wc -l <"$tmp/commands")" -ge 13 ]
	while read -r c; do
		# shellcheck disable=SC2086
		run "$rc" $c --help
		[ "$status" -eq 0 ]
		[[ $output == "usage: rocecheck $c"*"Example: rocecheck $c"* ]]
	done <"$tmp/commands"
}

@test "an unknown command names the nearest one, exit 2" {
	run "$rc" validat
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean 'validate'"* ]]
}

@test "an unknown option names the nearest one, exit 2; no abbreviations" {
	run "$rc" show --jsn
	[ "$status" -eq 2 ]
	run "$rc" plan --exit-cod lab
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean '--exit-code'"* ]]
}

@test "a full stdout is not a success" {
	run bash -c "$rc rules >/dev/full"
	[ "$status" -eq 3 ]
	[[ $output == *"stdout"* ]]
}

@test "closed descriptors: nothing is written into a file that takes their number" {
	run bash -c "$rc rules <&- >&- 2>&-"
	[ "$status" -eq 0 ]
	run bash -c "$rc agent <&-"
	[ "$status" -ne 134 ]
	run bash -c "$rc lint profiles/lab.yaml 2>&-"
	[ "$status" -eq 0 ]
}

@test "--version prints one line" {
	run "$rc" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^rocecheck\ [0-9.]+$ ]]
}

@test "help texts do not end the quotes of completion scripts" {
	for shell in zsh fish; do
		"$rc" completion "$shell" >"$tmp/c"
		# A quote as text is '\'' in zsh and \' in fish; the others come in pairs.
		sed "s/'\\\\''//g; s/\\\\'//g" "$tmp/c" | awk -F"'" '(NF - 1) % 2 { print; bad = 1 }
			END { exit bad }'
	done
}

@test "completion scripts parse" {
	"$rc" completion bash >"$tmp/c.bash"
	bash -n "$tmp/c.bash"
	grep -q 'validate' "$tmp/c.bash"
	run "$rc" completion tcsh
	[ "$status" -eq 2 ]
}

@test "rules and explain agree; --json is one document" {
	"$rc" rules --json | jq -e '.rules | length >= 30'
	for id in $("$rc" rules --json | jq -r '.rules[].id'); do
		run "$rc" explain "$id"
		[ "$status" -eq 0 ]
		[[ $output == *"$id"* ]]
	done
	run "$rc" explain RC-PFC-999
	[ "$status" -eq 2 ]
	run -0 "$rc" rules
	for word in $(tail -n 4 <<<"$output"); do "$rc" explain "$word" >/dev/null; done
}

@test "what is installed: every manual page; units and udev rule, each naming the installed binary" {
	run -0 make -s install DESTDIR="$tmp/root" PREFIX=/opt/rc
	for page in cmd/man/*.[578]; do
		cmp "$page" "$tmp/root/opt/rc/share/man/man${page##*.}/${page##*/}"
	done
	[ -f "$tmp/root/opt/rc/lib/udev/rules.d/90-rocecheck.rules" ]
	for unit in cmd/dist/*.service; do
		grep -q '^ExecStart=/opt/rc/bin/rocecheck ' "$tmp/root/opt/rc/lib/systemd/system/${unit##*/}"
	done
	bash -n "$tmp/root/opt/rc/share/bash-completion/completions/rocecheck"
}

@test "every file that CONTRIBUTING names is there" {
	find profiles dcb capture probe reports cmd tests -type f >"$tmp/files"
	grep -oE '`[A-Za-z0-9_/.-]+\.(c|h|inc|sh|bats|txt|md|yaml)`' CONTRIBUTING.md | tr -d '`' | grep -vE 'GROUP|NAME' | sort -u >"$tmp/named"
	[ "$(wc -l <"$tmp/named")" -ge 80 ]
	while read -r name; do
		grep -qE "(^|/)${name//./\\.}\$" "$tmp/files" || { echo "not there: $name"; return 1; }
	done <"$tmp/named"
}

@test "layers: a planted wrong include is rejected" {
	mkdir -p "$tmp/tree"
	cp -r Makefile profiles dcb capture probe reports cmd tests "$tmp/tree/"
	run tests/layers.sh "$tmp/tree"
	[ "$status" -eq 0 ]
	printf '#include "reports/engine/rule.h"\n' >>"$tmp/tree/dcb/plan/plan.c"
	run tests/layers.sh "$tmp/tree"
	[ "$status" -eq 1 ]
	[[ $output == *"dcb/plan/plan.c"*"a file of dcb/plan/ may not include reports/engine/"* ]]
	mkdir "$tmp/planted" && cp -r tests "$tmp/planted/"
	while IFS='|' read -r file line error; do
		mkdir -p "$tmp/planted/${file%/*}"
		cat "$file" - <<<"$line" >"$tmp/planted/$file"
		run env -C "$tmp/planted" awk -f tests/layers.awk tests/layers.txt "$file"
		echo "$file: $line: $output"
		[ "$status" -eq "$([ "$error" ] && echo 1 || echo 0)" ]
		[ -z "$error" ] || [[ $output == "$file:"*": $line: $error" ]]
	done <<-'END'
		cmd/main.c|#include <yaml.h>|yaml.h belongs to profiles/yaml
		dcb/apply/saved.c|#include <netlink/msg.h>|netlink/ belongs to dcb/kernel
		dcb/apply/saved.c|#include "dcb/drift/drift.h"|a file of dcb/apply/ may not include dcb/drift/
		dcb/apply/saved.c|#include "dcb/plan/plan.h"|
		dcb/apply/saved.c|#include "dcb/plan/plan_priv.h"|dcb/plan/plan_priv.h is for dcb/plan/ and tests alone
		dcb/apply/saved.c|#include "dcb/apply/plan_priv.h"|
		dcb/apply/saved.c|#include "dcb/new/new.h"|dcb/new/ is no room of tests/layers.txt
		capture/reader.c|#include "dcb/kernel/dcb.h"|a file of capture/ may not include dcb/kernel/
		cmd/apply/apply.c|#include "cmd/probe/probe.h"|a file of cmd/apply/ may not include cmd/probe/
		probe/agent/agent.c|#include "cmd/cmd.h"|a file of probe/agent/ may not include cmd/
	END
}

@test "layers: a retired word and a static function without the name of its file are rejected" {
	cp -r tests "$tmp/"
	mkdir -p "$tmp/dcb/plan"
	while IFS='|' read -r file line error; do
		printf '%b\n' "$line" >"$tmp/$file"
		run env -C "$tmp" awk -f tests/words.awk tests/words.txt "$file"
		echo "$file: $line: $output"
		[ "$status" -eq "$([ "$error" ] && echo 1 || echo 0)" ]
		[ -z "$error" ] || [[ $output == "$file:1: $error"* ]]
	done <<-'END'
		dcb/plan/plan.c|int plan_take(void);|plan_take: 'take' is retired, use one of: read,
		dcb/plan/plan.c|#define PLAN_WISH 1|PLAN_WISH: 'wish' is retired
		dcb/plan/plan.c|int plan_stake(void); /* take */|
		dcb/plan/plan.c|/* one\\n take\\n*/ const char *said = "tell";|said: 'said' is retired
		dcb/plan/plan.c|const char *text = "take \\" it";|
		dcb/plan/plan.c|static int open_both(void)|open_both() does not carry the name of its file
		dcb/plan/plan.c|static int plan_open(void)|
		dcb/plan/plan.c|static void PRINTF_LIKE(1, 2) plan_print(const char *fmt, ...)|
	END
}

@test "layers: a file that is made without profiles/base/file.h is rejected" {
	mkdir -p "$tmp/tree"
	cp -r Makefile profiles dcb capture probe reports cmd tests "$tmp/tree/"
	while IFS='|' read -r call code; do
		cp probe/record/run.c "$tmp/tree/probe/record/run.c"
		printf 'static int planted(void)\n{\n%b\n}\n' "$code" >>"$tmp/tree/probe/record/run.c"
		run env -C "$tmp/tree" awk -f tests/layers.awk tests/layers.txt probe/record/run.c
		echo "$code: $output"
		[ "$status" -eq "$([ "$call" ] && echo 1 || echo 0)" ]
		[ -z "$call" ] || [[ $output == *"only profiles/base/file.c calls $call()"* ]]
	done <<-'END'
		mkdir|	if (!mkdir(path, 0700))\n\t\treturn 0;
		rename|	return rename(a, b);
		open|	return open(path, O_WRONLY | O_CREAT, 0600);
		open|	int fd = openat(dir, path, O_WRONLY |\n\t\t\tO_CREAT, 0600);
		open|	fd = open(path, O_TMPFILE | O_RDWR, 0600);
		fopen|	FILE *f = fopen(path, "we");
		fopen|	return fopen(path, "a") ? 0 : -1;
		mkdtemp|	return mkdtemp(dir) ? 0 : -1;
		|	FILE *f = fopen(path, "re");
		|	int fd = open(path, O_RDONLY | O_CLOEXEC);
		|	return file_descriptor(f, name, O_RDWR | O_CREAT, 0600, &fd, e);
		|	/* after mkdir() */
		|	return file_rename(f, a, f, b, e);
	END
}

# small_tree FILE_LINES FUNCTION_LINES: with one file of the house that long, and one function in another.
small_tree() {
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/profiles" "$tmp/tree/tests"
	yes '/* */' | head -n "$1" >"$tmp/tree/profiles/long.c"
	{
		printf 'int deep(int n)\n{\n'
		yes '	n++;' | head -n $(($2 - 4))
		printf '	return n;\n}\n'
	} >"$tmp/tree/profiles/deep.c"
}

@test "layers: two files of one name are rejected" {
	small_tree 10 10
	mkdir "$tmp/tree/profiles/base" && cp "$tmp/tree/profiles/long.c" "$tmp/tree/profiles/base/"
	run -1 tests/layers.sh "$tmp/tree"
	[ "$output" = "two files of one name: long.c" ]
}

@test "layers: 1,000 lines a file and 80 a function are taken, one more is not" {
	small_tree 1000 80
	run -0 tests/layers.sh "$tmp/tree"
	small_tree 1001 80
	run -1 tests/layers.sh "$tmp/tree"
	[ "$output" = "profiles/long.c: 1001 lines, at most 1000" ]
	small_tree 1000 81
	run -1 tests/layers.sh "$tmp/tree"
	[ "$output" = "profiles/deep.c:1: deep() has 81 lines, at most 80" ]
	small_tree 10 10
	yes '#' | head -n 1001 >"$tmp/tree/tests/long.sh"
	run -1 tests/layers.sh "$tmp/tree"
	[ "$output" = "tests/long.sh: 1001 lines, at most 1000" ]
}

@test "plan: --out - prints the plan alone" {
	run -0 --separate-stderr "$rc" plan lab -i lo --out -
	jq -e '.schema == "rocecheck.plan/1" and .profile and (.ports | map(.netdev) == ["lo"])' <<<"$output"
	run -2 "$rc" --json plan lab -i lo --out -
	[[ $output == *"both print to standard output"* ]]
}

@test "apply: options that do not go together, and a plan without an end" {
	run -2 "$rc" apply lab --settle 60s --confirm-within 30s
	[[ $output == *"--settle (60 s) must be shorter than --confirm-within (30 s)"* ]]
	run -2 "$rc" apply lab --boot
	[[ $output == *"--boot needs --last"* ]]
	run -2 "$rc" plan - < <(printf '{"a":"' && head -c 17M /dev/zero | tr '\0' x)
	[[ $output == *"standard input: more than 16 MiB"* ]]
}
