# SPDX-License-Identifier: GPL-2.0-or-later
# Fails when a folder includes a header of a folder it may not see, or a library that lives elsewhere,
# and when a file or folder is made, renamed or removed other than by profiles/file.c.
BEGIN {
	may["profiles"] = "profiles"
	may["dcb"]      = "profiles dcb"
	may["capture"]  = "profiles capture"
	may["probe"]    = "profiles dcb capture probe"
	may["reports"]  = "profiles dcb capture probe reports"
	may["cmd"]      = "profiles dcb capture probe reports cmd"
	owner["yaml.h"] = "profiles"
	owner["netlink/"] = "dcb"
	owner["libconfig.h"] = "dcb"
	owner["pcap"] = "capture"
	owner["libdeflate.h"] = "capture"
	owner["isa-l"] = "capture"
	owner["zlib.h"] = "capture"
	owner["zstd.h"] = "capture"
	owner["seccomp.h"] = "capture"
	owner["infiniband/"] = "probe"
	owner["rdma/rdma_cma.h"] = "probe"
	owner["uv.h"] = "probe"
	owner["nettle/"] = "probe"
	owner["pmix.h"] = "probe"
	owner["libxml/"] = "reports"
	owner["ncurses"] = "cmd"
	owner["curses.h"] = "cmd"
	owner["cap-ng.h"] = "capture"
	# Trees of the kernel, where a name is a setting.
	kernel["dcb/configfs.c"] = "mkdirat unlinkat"
	kernel["dcb/deadman.c"]  = "mkdir rmdir"
	writing = "(creat|mkstemp|mkostemp|mkdtemp|mkdir|mkdirat|mknod|mkfifo|rename|renameat|renameat2|" \
		"unlink|unlinkat|rmdir|chmod|fchmod|fchmodat|symlink|symlinkat|linkat|truncate|freopen)"
}
FNR == 1 { call = "" }
FILENAME != "profiles/file.c" && FILENAME ~ /\.c$/ {
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
function writes(name) {
	if (index(" " kernel[FILENAME] " ", " " name " ") == 0)
		bad("only profiles/file.c calls " name "() for files of ours: use profiles/file.h")
}
/^#[ \t]*include/ {
	split(FILENAME, from, "/")
	if (match($0, /"[^"]+"/)) {
		split(substr($0, RSTART + 1), to, "/")
		if (index(" " may[from[1]] " ", " " to[1] " ") == 0)
			bad("a " from[1] "/ file may not include " to[1] "/")
	} else {
		for (lib in owner)
			if (index($0, "<" lib) && from[1] != owner[lib])
				bad(lib " belongs to " owner[lib] "/")
	}
}
function bad(why) { printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why; n++ }
END { exit n > 0 }
