#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares our decoding of a capture file with tshark's: BTH of every RoCE packet, AETH of RC.
# Of the messages of the connection manager, what REQ and REP say.
#   tests/golden/tshark_agree.sh FILE ROCECHECK [--icrc]
# Exit 0: the same packets with the same fields, and with --icrc every ICRC is good. Exit 1: the first
# differences are on stdout. Exit 77: a tool is missing. Not compared, because tshark 4.0 does not know
# them: AETH of XRC, FECN and BECN, names, and extension headers of CNP, XRC, FLUSH and ATOMIC WRITE.
set -u -o pipefail
file=${1:?FILE} rocecheck=${2:?ROCECHECK} icrc=${3:-}

for tool in tshark jq; do
	command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
# Ours and tshark's names, in one order.
req=(qpn:localqpn starting_psn:startpsn responder_resources:responderres initiator_depth:initdepth
	cm_timeout:remoteresptout transport:transpsvctype retry_count:retrcount rnr_retry:rnrretrcount
	pkey:pkey ack_timeout:prim_localacktout sl:prim_sl traffic_class:prim_tfcclass)
rep=(qpn:localqpn starting_psn:startpsn responder_resources:respres initiator_depth:initdepth
	ack_delay:tgtackdelay rnr_retry:rnrretrcount qkey:localqkey remote_id:remotecommid)
cm=()
for f in "${req[@]}"; do cm+=(-e "infiniband.cm.req.${f#*:}"); done
for f in "${rep[@]}"; do cm+=(-e "infiniband.cm.rep.${f#*:}"); done
keys() { printf '"%s",' "${@%%:*}" | sed 's/,$//'; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# Small SENDs look like RPC to a heuristic, and UDP source port 69 like TFTP.
if ! tshark -n --disable-heuristic rpcrdma_infiniband --disable-protocol tftp -r "$file" -Y infiniband.bth \
	-T fields -E separator=, -E occurrence=f -e frame.number -e infiniband.bth.opcode \
	-e infiniband.bth.destqp -e infiniband.bth.psn -e infiniband.bth.se -e infiniband.bth.m \
	-e infiniband.bth.padcnt -e infiniband.bth.p_key -e infiniband.bth.a \
	-e infiniband.aeth.syndrome -e infiniband.aeth.msn "${cm[@]}" >"$tmp/tshark.raw" 2>"$tmp/tshark.err"; then
	echo "tshark cannot read $file:" && cat "$tmp/tshark.err" && exit 1
fi
awk -F, '
	function number(s, i, n) { # tshark prints some fields in hexadecimal
		if (s !~ /^0x/) return s == "True" ? 1 : s == "False" ? 0 : s
		n = 0
		for (i = 3; i <= length(s); i++) n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1
		return sprintf("%.0f", n)
	}
	{
		line = $1
		for (f = 2; f <= 9; f++) line = line "," number($f)
		rc = number($2) < 32
		line = line "," (rc ? number($10) : "") "," (rc ? number($11) : "")
		for (f = 12; f <= NF; f++) line = line "," ($f == "" ? "" : number($f))
		print line
	}' "$tmp/tshark.raw" >"$tmp/tshark"

if ! "$rocecheck" capture decode --json "$file" >"$tmp/ours.json" 2>"$tmp/ours.err"; then
	echo "rocecheck cannot read $file:" && cat "$tmp/ours.err" && exit 1
fi
jq -r 'select(.opcode != null)
	| (if .aeth and .opcode < 32
	   then [({ack: 0, rnr: 32, reserved: 64, nak: 96}[.aeth.kind] + .aeth.value), .aeth.msn] else ["", ""] end) as $aeth
	| . as $p
	| ['"$(keys "${req[@]}")"' | if $p.cm.message == "REQ" then $p.cm[.] else "" end] as $req
	| ['"$(keys "${rep[@]}")"' | if $p.cm.message == "REP" then $p.cm[.] else "" end] as $rep
	| [.frame, .opcode, .dest_qpn, .psn, (if .se then 1 else 0 end), (if .migreq then 1 else 0 end),
	   .pad, .pkey, (if .ackreq then 1 else 0 end)] + $aeth + $req + $rep | map(tostring) | join(",")' \
	"$tmp/ours.json" >"$tmp/ours" || exit 1

packets=$(wc -l <"$tmp/ours")
if [ "$packets" -eq 0 ]; then
	echo "$file: no RoCE packet to compare" && exit 1
fi
if ! diff "$tmp/tshark" "$tmp/ours" >"$tmp/diff"; then
	echo "$file: frame,opcode,qpn,psn,se,m,pad,pkey,ackreq,syndrome,msn,REQ,REP: < tshark, > rocecheck"
	head -n 20 "$tmp/diff"
	exit 1
fi
if [ "$icrc" = --icrc ]; then
	bad=$(jq -r 'select(.opcode != null and .icrc != "good") | "frame \(.frame): icrc \(.icrc)"' "$tmp/ours.json")
	if [ -n "$bad" ]; then
		echo "$file: $(wc -l <<<"$bad") of $packets ICRCs are not good:" && head -n 20 <<<"$bad"
		exit 1
	fi
fi
echo "$packets packets agree"
