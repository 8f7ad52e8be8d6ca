#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fills the tables of the manual pages from the program, so that a page states what the program states.
#   cmd/man/tables.sh ROCECHECK PAGE...
# A table stands between `.\" table NAME [ARGUMENTS]` and `.\" end`. Its rows are written anew. Text of a row that is
# written by hand follows `.\" more` and stays with its row; text whose row is gone is an error. The tables:
#   usage COMMAND       the line of SYNOPSIS
#   options [COMMAND]   the options of a command, without one those before the command
#   commands            the commands of `rocecheck --help`, each with its page
#   exit CODE...        these exit codes
#   keys profile|fabric the keys of an input file
#   rules PREFIX        the rules whose id begins so
set -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 2
[ $# -ge 2 ] || { sed -n 's/^#   \(cmd.*\)/usage: \1/p' "$0" >&2; exit 2; }
rc=$1
shift

# usage COMMAND: "usage: rocecheck plan [OPTIONS] PROFILE | PLAN.json" as macros.
usage() {
	# shellcheck disable=SC2086
	"$rc" $1 --help | awk -v command="$1" 'NR == 1 {
		print ".Nm rocecheck\n.Cm " command
		$0 = substr($0, length("usage: rocecheck ") + length(command) + 1)
		line = ""
		for (i = 1; i <= NF; i++) {
			w = $i
			if (w == "[OPTIONS]") { print ".Op Ar options"; continue }
			n = split(w, alternative, "|")
			if (n > 1 && w != "|") {
				w = "Cm " alternative[1]
				for (k = 2; k <= n; k++) w = w " | " alternative[k]
			}
			else if (w ~ /^\[/) w = "Op Ar " substr(w, 2, length(w) - 2)
			else if (w ~ /^--/) w = "Fl " substr(w, 2)
			else if (w != "|") w = "Ar " w
			line = line " " w
		}
		if (line) print "." substr(line, 2)
	}'
}

# options [COMMAND]: a row for each option of --help, and the words it takes.
options() {
	# shellcheck disable=SC2086
	"$rc" $1 --help | awk '
	/^Options:/ { on = 1; next }
	!on { next }
	!NF { exit }
	/^ [^ ]/ { next } # a heading
	# A text goes on at column 37; words of an option are further in.
	match($0, /^ */) && RLENGTH == 37 { sub(/^ +/, " "); printf "%s", $0; next }
	open { print ""; open = 0 }
	match($0, /^ */) && RLENGTH < 20 {
		letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : ""
		rest = substr($0, 9)
		name = substr(rest, 1, match(rest " ", / /) - 1)
		rest = substr(rest, length(name) + 1)
		arg = ""
		if (match(rest, /^ [^ ]+/)) { arg = substr(rest, 2, RLENGTH - 1); rest = substr(rest, RLENGTH + 1) }
		sub(/^ +/, "", rest)
		printf ".It Fl %s-%s%s\n%s", letter ? letter " , " : "", name, arg ? " Ar " arg : "", rest
		open = 1
		next
	}
	{ sub(/^ +/, ""); print ".Pq Cm " $0 }
	END { if (open) print "" }' | sentences
}

# Each line of text becomes safe for roff, and ends as a sentence.
sentences() {
	awk '/^\./ { print; next }
	{
		gsub(/\\/, "\\e")
		gsub(/--/, "\\-\\-")
		sub(/^['\''.]/, "\\\\\\&&")
		print $0 (/[.:?]$/ ? "" : ".")
	}'
}

# commands: a row for each command of --help.
commands() {
	"$rc" --help | awk '/^Commands:/ { on = 1; next } on && !NF { exit }
	on {
		name = substr($0, 3, 18)
		sub(/ +$/, "", name)
		split(name, word, " ")
		printf ".It Cm %s\n%s\n.Pq Xr rocecheck-%s 8 .\n", name, substr($0, 22), word[1]
	}' | sed 's/--/\\-\\-/g'
}

# exit CODE...: a row for each of these exit codes, as --help lists them.
exits() {
	"$rc" --help | awk -v codes=" $* " '/^Exit codes:/ { on = 1 }
	on && index(codes, " " $1 " ") { printf ".It %s\n%s\n", $1, substr($0, 6) }' | sentences
}

# keys profile|fabric: a row for each key of the schema, with what it takes.
keys() {
	"$rc" schema "$1" | jq -r -f "$here/keys.jq" | sentences
}

# rules PREFIX: a row for each rule.
rules() {
	"$rc" rules --json | jq -r --arg prefix "$1" '.rules[] | select(.id | startswith($prefix))
		| ".It Ic \(.id) Pq \(.severity)\(if .evidence == "" then "" else ", \(.evidence)" end)\(if (.level // "quick") == "quick" then "" else ", \(.level)" end)\n\(.title)"' | sentences
}

# rows NAME [ARGUMENTS]: the rows of a table; fails when there are none.
rows() {
	local name=$1
	shift
	case $name in
	usage) usage "$*" ;;
	options) options "$*" ;;
	commands) commands ;;
	exit) exits "$@" ;;
	keys) keys "$@" ;;
	rules) rules "$@" ;;
	*) echo "no such table: $name" >&2 && return 1 ;;
	esac | grep .
}

# fill PAGE: the page with its tables written anew, on standard output.
fill() {
	local line table='' failed=0
	while IFS= read -r line; do
		if [[ $line == '.\" end' && $table ]]; then
			# shellcheck disable=SC2086
			rows $table >"$tmp/new" || { echo "$1: table $table: no rows" >&2; failed=1; }
			awk -v where="$1: $table" -f "$here/more.awk" "$tmp/old" "$tmp/new" || failed=1
			table=
		fi
		if [ "$table" ]; then
			printf '%s\n' "$line" >>"$tmp/old"
		else
			printf '%s\n' "$line"
		fi
		if [[ $line == '.\" table '* ]]; then
			table=${line#'.\" table '}
			: >"$tmp/old"
		fi
	done <"$1"
	[ -z "$table" ] || { echo "$1: table $table: no end" >&2; failed=1; }
	return $failed
}

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
status=0
for page; do
	if ! fill "$page" >"$tmp/page"; then
		status=1
	elif ! cmp -s "$tmp/page" "$page"; then
		cat "$tmp/page" >"$page" || status=1
	fi
done
exit $status
