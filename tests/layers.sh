#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of the house that a machine can check: who includes whom, which library belongs where,
# no header cycle, every header compiles alone, no file over 1,000 lines, no function over 80, no two files
# of one name, no retired word in a name, and static functions that carry the name of their file.
# tests/layers.txt states the order of the rooms, tests/words.txt the retired words.
#   tests/layers.sh [ROOT]
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/..}" || exit 2
rc=0
layers="profiles dcb capture probe reports cmd"
mapfile -t files < <(for d in $layers; do find "$d" -name '*.[ch]' 2>/dev/null; done | LC_ALL=C sort)

awk -f "$here/layers.awk" "$here/layers.txt" "${files[@]}" || rc=1
awk -f "$here/words.awk" "$here/words.txt" "${files[@]}" || rc=1

for d in */; do
	case " $layers tests build " in
	*" ${d%/} "*) ;;
	*) echo "$d: no such folder in the house" && rc=1 ;;
	esac
done

twice=$(printf '%s\n' "${files[@]##*/}" | LC_ALL=C sort | uniq -d)
[ -z "$twice" ] || { echo "two files of one name: $twice" && rc=1; }

# Header cycles: pairs "file included"; tsort names the loop.
loop=$(grep -H '^#include "' "${files[@]}" | grep '\.h:' | sed 's/:#include "\([^"]*\)".*/ \1/' | tsort 2>&1 >/dev/null)
if [ -n "$loop" ]; then
	echo "header cycle:" && echo "$loop" && rc=1
fi

cflags=$(pkg-config --cflags libxml-2.0 libnl-3.0 jansson 2>/dev/null)
for h in "${files[@]}"; do
	case $h in
	*.h) # shellcheck disable=SC2086
		gcc -std=gnu11 -D_GNU_SOURCE -I. $cflags -fsyntax-only -x c "$h" || { echo "$h: does not compile alone" && rc=1; } ;;
	esac
done

mapfile -t tests < <(find tests -name '*.[ch]' -o -name '*.bats' -o -name '*.bash' -o -name '*.sh')
wc -l "${files[@]}" "${tests[@]}" | awk '$2 != "total" && $1 > 1000 { print $2 ": " $1 " lines, at most 1000"; bad = 1 } END { exit bad }' || rc=1

if command -v ctags >/dev/null && ctags --version | grep -q Universal; then
	printf '%s\n' "${files[@]}" | grep '\.c$' |
		ctags -L - --languages=C --kinds-C=f --fields=+ne -f - 2>/dev/null | awk -F'\t' '
		{ l = e = 0; for (i = 4; i <= NF; i++) { if ($i ~ /^line:/) l = substr($i, 6); if ($i ~ /^end:/) e = substr($i, 5) }
		  if (e - l + 1 > 80) { printf "%s:%d: %s() has %d lines, at most 80\n", $2, l, $1, e - l + 1; bad = 1 } }
		END { exit bad }' || rc=1
fi
exit $rc
