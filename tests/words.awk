# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the retired words of words.txt, then files of the house. Fails on an identifier with a retired word in it,
# and on a static function of a .c file that does not carry a word of its file's name.
BEGIN { FS = "[ \t]+" }
FILENAME ~ /words\.txt$/ {
	if ($1 == "keep") {
		for (i = 2; i <= NF; i++)
			keep[$i] = 1
	} else if (/^[a-z]/) {
		word = $1
		sub(/^[^ \t]+[ \t]+/, "")
		instead[word] = $0
	}
	next
}
FNR == 1 {
	comment = 0
	parts = split(base_of(FILENAME), part, "_")
	for (i = 1; i <= parts; i++)
		sub(/s$/, "", part[i])
}
/^static [^=;]*[A-Za-z0-9_]+\(/ && FILENAME ~ /\.c$/ {
	line = $0
	sub(/(__attribute__|PRINTF_LIKE)\(.*\) /, "", line)
	if (match(line, /[A-Za-z0-9_]+\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		if (name !~ /^(__attribute__|PRINTF_LIKE)$/ && !carries(name))
			bad(name "() does not carry the name of its file")
	}
}
{
	line = code_of($0)
	while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
		name = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		n = name in keep ? 0 : split(tolower(name), piece, "_")
		for (i = 1; i <= n; i++)
			if (piece[i] in instead)
				bad(name ": '" piece[i] "' is retired, use one of: " instead[piece[i]])
	}
}
END { exit n_bad > 0 }
# The line without its strings and comments.
function code_of(line,  out, at, rest)
{
	out = ""
	for (;;) {
		if (comment) {
			at = index(line, "*/")
			if (!at)
				return out
			line = substr(line, at + 2)
			comment = 0
		}
		if (!match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)+'/))
			return out line
		out = out substr(line, 1, RSTART - 1) " "
		rest = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (rest == "//")
			return out
		if (rest == "/*")
			comment = 1
	}
}
function base_of(path)
{
	sub(/^.*\//, "", path)
	sub(/\.[a-z]+$/, "", path)
	return path
}
function carries(name,  i)
{
	for (i = 1; i <= parts; i++)
		if (index(name, part[i]))
			return 1
	return 0
}
function bad(why) { printf "%s:%d: %s\n", FILENAME, FNR, why; n_bad++ }
