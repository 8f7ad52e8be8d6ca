# SPDX-License-Identifier: GPL-2.0-or-later
# Puts text that is written by hand (from `.\" more` to the next row) behind the row that it belongs to.
#   awk -v where=PLACE -f more.awk OLD-ROWS NEW-ROWS
# A row is known by its long option, key, rule or code. Text whose row is gone is an error.

# The word that tells a row from the others.
function row_key(i) {
	for (i = NF; i > 1; i--)
		if ($i ~ /^-./) return $i
	return $2 ~ /^(Ic|Xr)$/ ? $3 : $2 == "Cm" ? $0 : $2
}

# Ends the row before: its text of the old table follows.
function end_row() {
	if (key in more) printf "%s", more[key]
	delete more[key]
}

FILENAME == ARGV[1] {
	if (/^\.Bl/) depth++
	if (/^\.It/ && !depth) { key = row_key(); kept = 0 }
	if (/^\.\\" more/) kept = 1
	if (kept) more[key] = more[key] $0 "\n"
	if (/^\.El/) depth--
	next
}
FNR == 1 { key = "" }
/^\.It/ { end_row(); key = row_key() }
{ print }
END {
	end_row()
	for (key in more)
		if (more[key]) { print where ": text about " key ", which is no row any more" >"/dev/stderr"; bad = 1 }
	exit bad
}
