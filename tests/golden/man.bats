#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages: their tables state what the program states, each command has a page, and every page is well-formed and
# refers to pages that exist. `make man` writes the tables anew.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=build/rocecheck
	tmp=$BATS_TEST_TMPDIR
	mkdir "$tmp/man" && cp cmd/man/* "$tmp/man/"
}

# The names of the usage's first column, and the command that usage does not show.
commands() {
	"$rc" --help | sed -n '/^Commands:/,/^$/s/^  \(.\{18\}\) .*/\1/p' | sed 's/ *$//'
	echo agent
}

# page_of COMMAND: the page of a command, by its first word.
page_of() {
	echo "$tmp/man/rocecheck-${1%% *}.8"
}

# check_tables: the difference between the pages and the program.
check_tables() {
	cp -r "$tmp/man" "$tmp/filled"
	cmd/man/tables.sh "${1:-$rc}" "$tmp"/filled/*.[578] && diff -ru "$tmp/man" "$tmp/filled"
}

# check_commands: each command has a page, which has its usage, its options and its exit codes as tables.
check_commands() {
	local c page failed=0
	while read -r c; do
		page=$(page_of "$c")
		if [ ! -f "$page" ]; then
			echo "$c: no page ${page##*/}" && failed=1
			continue
		fi
		grep -qx '\.\\" table usage '"$c" "$page" || { echo "$c: no table usage in ${page##*/}" && failed=1; }
		grep -q '^\.\\" table exit ' "$page" || { echo "$c: no table exit in ${page##*/}" && failed=1; }
		# shellcheck disable=SC2086
		if "$rc" $c --help | grep -q '^Options:' && ! grep -qx '\.\\" table options '"$c" "$page"; then
			echo "$c: no table options in ${page##*/}" && failed=1
		fi
	done < <(commands)
	return "$failed"
}

# check_references: each page of rocecheck that a page names is there, and the map names each page.
check_references() {
	local page name section failed=0
	for page in "$tmp"/man/*.[578]; do
		while read -r _ name section _; do
			[ -f "$tmp/man/$name.$section" ] || { echo "${page##*/}: $name($section) is not there" && failed=1; }
		done < <(grep -hoE 'Xr rocecheck[a-z-]* [0-9]' "$page")
		name=$(basename "${page%.*}")
		[ "$name" = rocecheck ] || grep -q "^\.Xr $name ${page##*.}" "$tmp/man/rocecheck.8" ||
			{ echo "rocecheck.8: does not name $name(${page##*.})" && failed=1; }
	done
	return "$failed"
}

# check_sections: a page of a command has every section that users look for, with two examples at least.
check_sections() {
	local page section failed=0
	for page in "$tmp"/man/*.8; do
		for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
			grep -qx "\.Sh $section" "$page" || { echo "${page##*/}: no section $section" && failed=1; }
		done
	done
	for page in "$tmp"/man/*.[578]; do
		[ "$(sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$page" | grep -cE '^(\.Dl )?.*rocecheck ')" -ge 2 ] ||
			{ echo "${page##*/}: fewer than two examples" && failed=1; }
	done
	return "$failed"
}

@test "every table states what the program states" {
	run -0 check_tables
}

@test "every page passes mandoc" {
	run -0 mandoc -T lint -W warning cmd/man/*.[578]
	[ -z "$output" ]
}

@test "every command has a page with its usage, options and exit codes" {
	[ "$(commands | wc -l)" -ge 23 ]
	run -0 check_commands
}

@test "every page that is named is there" {
	run -0 check_references
}

@test "every page has its sections and examples" {
	run -0 check_sections
}

@test "every rule, and every key of profiles and inventories, is in its page" {
	for id in $("$rc" rules --json | jq -r '.rules[].id'); do
		grep -q "^\.It Ic $id " cmd/man/rocecheck-rules.7 || { echo "rocecheck-rules.7: no $id"; return 1; }
	done
	for input in profile fabric; do
		"$rc" schema "$input" | jq -r '[paths | select(.[-1] == "description" and .[-2] != "properties")[:-1]
			| map(if . == "items" then "[]" else . end) | map(select(. != "properties")) | join(".")] | unique[]' |
			sed 's/\.\[\]/[]/g' >"$tmp/keys"
		[ "$(wc -l <"$tmp/keys")" -ge 25 ]
		while read -r key; do
			grep -qF ".It Ic $key :" "cmd/man/rocecheck-$input.5" || { echo "rocecheck-$input.5: no $key"; return 1; }
		done <"$tmp/keys"
	done
}

# A program with another option, another word and another rule, in the place of rocecheck.
other_program() {
	cat >"$tmp/other" <<-END
		#!/bin/sh
		$PWD/$rc "\$@" | sed 's/--dry-run /--dry-walk/; s/text | gcc | json/text | gcc | xml/; s/The host is willing/The host waits/'
	END
	chmod +x "$tmp/other"
}

@test "planted: a page that states another option, word or rule is found" {
	other_program
	run -1 check_tables "$tmp/other"
	[[ $output == *"+.It Fl n , -dry-walk"* ]]
	[[ $output == *"+.Pq Cm text | gcc | xml"* ]]
	[[ $output == *"+The host waits: it accepts settings"* ]]
}

@test "planted: a page or a reference that is missing is found" {
	rm "$tmp/man/rocecheck-top.8"
	run -1 check_commands
	[ "$output" = "top: no page rocecheck-top.8" ]
	run -1 check_references
	[[ $output == *"rocecheck.8: rocecheck-top(8) is not there"* ]]
}

@test "tables: text written by hand stays with its row; without its row it is an error" {
	printf '%s\n' '.\" table options schema lint' '.\" end' >"$tmp/none"
	run -1 cmd/man/tables.sh "$rc" "$tmp/none"
	[[ $output == *"no rows"* ]]
	printf '%s\n' '.\" table options lint' '.It Fl -strict' 'old' '.\" more' 'By hand.' '.Bl -item' '.It' 'x' '.El' '.\" end' >"$tmp/page"
	run -0 cmd/man/tables.sh "$rc" "$tmp/page"
	run -0 sed -n "/Fl -strict/,\$p" "$tmp/page"
	[ "${lines[1]}" = "exit 1 on warnings, too." ]
	[ "${lines[3]}" = "By hand." ]
	[ "${lines[7]}" = ".El" ]
	sed -i 's/Fl -strict/Fl -strictly/' "$tmp/page"
	cp "$tmp/page" "$tmp/before"
	run -1 cmd/man/tables.sh "$rc" "$tmp/page"
	[[ $output == *"options lint: text about -strictly, which is no row any more" ]]
	cmp "$tmp/page" "$tmp/before"
}
