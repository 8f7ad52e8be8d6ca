#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares our decoding of a capture file with tshark's, every field of every packet (tshark_agree.py).
#   tests/golden/tshark_agree.sh FILE ROCECHECK [--icrc] [-v]
# Exit 0: the same packets with the same fields, and with --icrc every ICRC is good; how many is on
# stdout, with what tshark is excused for, and with -v how many by name. Exit 1: the first differences
# are. Exit 77: a tool is missing.
set -u -o pipefail
file=${1:?FILE} rocecheck=${2:?ROCECHECK} icrc=
shift 2
if [ "${1:-}" = --icrc ]; then
	icrc=$1
	shift
fi
agree=${BASH_SOURCE[0]%.sh}.py

for tool in tshark jq python3; do
	command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
fields=()
while read -r field; do
	fields+=(-e "$field")
done < <(python3 "$agree" fields)

# Small SENDs look like RPC to a heuristic, and UDP source port 69 like TFTP.
tshark -n --disable-heuristic rpcrdma_infiniband --disable-protocol tftp -r "$file" \
	-Y 'infiniband.bth || macc.pause_time || macc.cbfc.enbv' -T fields -E separator=/t \
	-E occurrence=a -E 'aggregator=;' "${fields[@]}" >"$tmp/tshark" 2>"$tmp/tshark.err" &
"$rocecheck" capture decode --json "$file" >"$tmp/ours" 2>"$tmp/ours.err"
ours=$?
if ! wait $!; then
	echo "tshark cannot read $file:" && cat "$tmp/tshark.err" && exit 1
fi
if [ "$ours" -ne 0 ]; then
	echo "rocecheck cannot read $file:" && cat "$tmp/ours.err" && exit 1
fi
python3 "$agree" compare "$tmp/tshark" "$tmp/ours" "$@" >"$tmp/said"
code=$?
if [ $code -ne 0 ]; then
	echo "$file:"
fi
cat "$tmp/said"
if [ $code -ne 0 ]; then
	exit 1
fi
if [ -n "$icrc" ]; then
	bad=$(jq -r 'select(.opcode != null and .icrc != "good") | "frame \(.frame): icrc \(.icrc)"' "$tmp/ours")
	if [ -n "$bad" ]; then
		echo "$file: $(wc -l <<<"$bad") ICRCs are not good:" && head -n 20 <<<"$bad"
		exit 1
	fi
fi
