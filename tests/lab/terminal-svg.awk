# SPDX-License-Identifier: GPL-2.0-or-later
# Draws the screen of a terminal, as `tmux capture-pane -e -p` prints it, as an SVG picture.
#   awk -v title=TEXT -f tests/lab/terminal-svg.awk SCREEN >PICTURE.svg
# Of SGR it knows what rocecheck prints: 0, bold 1, dim 2, reverse 7, the foregrounds 30 to 37 and 90 to 97, and 39.
BEGIN {
	char = 8.43 # width of one in the fonts below, at 14 pixels
	line = 18
	split("#57606a #cf222e #1a7f37 #9a6700 #0969da #8250df #1b7c83 #24292f", colour, " ")
	reset()
}
{
	sub(/[ \t\r]+$/, "")
	text[NR] = $0
	if ($0 != "")
		last = NR
}
END {
	for (i = 1; i <= last; i++)
		body = body draw(text[i], i)
	w = int(widest * char + 32)
	h = last * line + 24
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", w, h, w, h
	printf "<title>%s</title>\n", escape(title)
	printf "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#f6f8fa\" stroke=\"#d0d7de\"/>\n"
	printf "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#24292f\" xml:space=\"preserve\">\n"
	printf "%s</g>\n</svg>\n", body
}
function reset() { bold = dim = reverse = 0; fore = "" }
# draw(S, ROW): the runs of one line, each at its column.
function draw(s, row,  out, column, n, run)
{
	out = ""
	column = 0
	while (s != "") {
		if (match(s, /^\033\[[0-9;]*m/)) {
			select_graphic(substr(s, 3, RLENGTH - 3))
			s = substr(s, RLENGTH + 1)
			continue
		}
		n = index(s, "\033")
		run = n ? substr(s, 1, n - 1) : s
		if (n == 1) # no sequence of these
			run = substr(s, 1, 1)
		s = substr(s, length(run) + 1)
		out = out piece(run, column, row)
		column += columns(run)
	}
	if (column > widest)
		widest = column
	return out
}
function piece(run, column, row,  style, x, y, under)
{
	if (run ~ /^ *$/ && !reverse)
		return ""
	x = 16 + column * char
	y = 14 + row * line
	if (fore != "")
		style = " fill=\"" (reverse ? "#ffffff" : fore) "\""
	else if (reverse)
		style = " fill=\"#f6f8fa\""
	if (bold)
		style = style " font-weight=\"bold\""
	if (dim)
		style = style " opacity=\"0.6\""
	if (reverse)
		under = sprintf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x, y - 14,
			columns(run) * char, line, fore == "" ? "#57606a" : fore)
	return under sprintf("<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\"%s>%s</text>\n", x, y, columns(run) * char,
		style, escape(run))
}
function select_graphic(list,  n, i, one)
{
	n = split(list == "" ? "0" : list, one, ";")
	for (i = 1; i <= n; i++) {
		if (one[i] == 0)
			reset()
		else if (one[i] == 1)
			bold = 1
		else if (one[i] == 2)
			dim = 1
		else if (one[i] == 7)
			reverse = 1
		else if (one[i] >= 30 && one[i] <= 37)
			fore = colour[one[i] - 29]
		else if (one[i] >= 90 && one[i] <= 97)
			fore = colour[one[i] - 89]
		else if (one[i] == 39)
			fore = ""
	}
}
# columns(S): characters, where awk may count the bytes of UTF-8.
function columns(s,  n, i)
{
	gsub(/[\200-\277]/, "", s)
	return length(s)
}
function escape(s)
{
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	return s
}
