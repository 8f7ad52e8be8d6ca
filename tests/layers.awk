# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the rules of layers.txt, then the files of the house. Fails on an include of a room below, of a
# foreign _priv.h or of a library that lives elsewhere, and where a file or folder is made, renamed or
# removed other than by profiles/base/file.c.
BEGIN {
	writing = "(creat|mkstemp|mkostemp|mkdtemp|mkdir|mkdirat|mknod|mkfifo|rename|renameat|renameat2|" \
		"unlink|unlinkat|rmdir|chmod|fchmod|fchmodat|symlink|symlinkat|linkat|truncate|freopen)"
}
FILENAME ~ /layers\.txt$/ {
	if ($1 == "room") {
		floors++
		for (i = 2; i <= NF; i++)
			floor[$i] = floors
	} else if ($1 == "apart") {
		apart[$2, $3] = apart[$3, $2] = 1
	} else if ($1 == "library") {
		owner[$2] = " " substr($0, index($0, $3)) " "
	} else if ($1 == "kernel") {
		kernel[$2] = " " substr($0, index($0, $3)) " "
	} else if (/^[^#]/) {
		bad("no rule of this file begins so")
	}
	next
}
FNR == 1 {
	call = ""
	room = room_of(FILENAME)
	if (!(room in floor))
		bad(room "/ is no room of tests/layers.txt")
}
FILENAME != "profiles/base/file.c" && FILENAME ~ /\.c$/ {
	line = $0
	if (line ~ /^[ \t]*(\/\*|\*)/)
		line = ""
	rest = line
	while (match(rest, "(^|[^A-Za-z0-9_])" writing "\\(")) {
		name = substr(rest, RSTART, RLENGTH - 1)
		gsub(/[^a-z0-9]/, "", name)
		writes(name)
		rest = substr(rest, RSTART + RLENGTH)
	}
	if (line ~ /fopen\([^;]*, *"[^"]*[wa+][^"]*"\)/)
		writes("fopen")
	# The flags may be on a later line than the call.
	call = call line
	if (line ~ /O_CREAT|O_TMPFILE/ && call ~ /(^|[^A-Za-z0-9_])(open|openat)\([^;]*O_(CREAT|TMPFILE)/)
		writes("open")
	if (line ~ /[;{}]/)
		call = ""
}
/^#[ \t]*include[ \t]*"/ {
	match($0, /"[^"]+"/)
	header = substr($0, RSTART + 1, RLENGTH - 2)
	to = room_of(header)
	if (!(to in floor))
		bad(to "/ is no room of tests/layers.txt")
	else if (to != room && (floor[to] >= floor[room] || (folder_of(to), folder_of(room)) in apart))
		bad("a file of " room "/ may not include " to "/")
	else if (to != room && header ~ /_priv\.h$/)
		bad(header " is for " to "/ and tests alone")
}
/^#[ \t]*include[ \t]*</ {
	for (lib in owner)
		if (index($0, "<" lib) && index(owner[lib], " " room " ") == 0)
			bad(lib " belongs to" substr(owner[lib], 1, length(owner[lib]) - 1))
}
END { exit n > 0 }
function room_of(path) { sub(/\/[^\/]*$/, "", path); return path }
function folder_of(path) { sub(/\/.*/, "", path); return path }
function writes(name) {
	if (index(kernel[FILENAME], " " name " ") == 0)
		bad("only profiles/base/file.c calls " name "() for files of ours: use profiles/base/file.h")
}
function bad(why) { printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why; n++ }
