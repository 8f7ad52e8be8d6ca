# SPDX-License-Identifier: GPL-2.0-or-later
# Fails when a folder includes a header of a folder it may not see, or a library that lives elsewhere.
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
