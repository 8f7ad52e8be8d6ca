#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What `capture decode`, `capture stats`, `capture flows` and `capture check` say of the files in capture/, byte for byte, and whether
# tshark says the same. GOLDEN_UPDATE=1 writes the expected output anew.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=${ROCECHECK:-build/rocecheck}
	golden=tests/golden/capture
	tmp=$BATS_TEST_TMPDIR
}

# Runs a capture command on a file; stdout, stderr and exit code together are what is expected. The
# words of libpcap are left out.
expect() { # FILE COMMAND [OPTION]
	local want=$golden/${1%.pcap*}.$2${3:+.json}.out
	local code=0
	"$rc" capture "$2" ${3:+"$3"} "$golden/$1" >"$tmp/got" 2>&1 || code=$?
	echo "exit $code" >>"$tmp/got"
	sed -i 's/\(cannot read beyond frame [0-9]*\):.*/\1: LIBPCAP/' "$tmp/got"
	if [ -n "${GOLDEN_UPDATE:-}" ]; then
		cp "$tmp/got" "$want"
	fi
	diff -u "$want" "$tmp/got"
}

files() {
	(cd "$golden" && ls ./*.pcap ./*.pcapng | sed 's/^\.\///')
}

@test "a file is read one way: no option chooses another" {
	for command in stats flows check; do
		run -2 "$rc" capture $command --jobs 2 "$golden/loss.pcap"
		[[ $output == *"--jobs"* ]]
	done
}

@test "the report of a file that breaks off tells the exit code" {
	run -2 --separate-stderr "$rc" capture check --json "$golden/broken.pcap"
	jq -e '.exit_code == 2 and .verdict == "ERROR"' <<<"$output"
	run -2 --separate-stderr "$rc" capture check "$golden/broken.pcap"
	grep '\. Exit code 2\.$' <<<"$output"
}

# Sections and interfaces by hand, for no tool writes such a file from one capture.
block() { # TYPE LENGTH BODY, as hexadecimal little endian
	printf '%s%s%s%s' "$1" "$2" "$3" "$2"
}

@test "interfaces of different link types: the error says what to do" {
	{
		block 0a0d0d0a 1c000000 4d3c2b1a01000000ffffffffffffffff
		block 01000000 14000000 0100000000000000
		block 01000000 14000000 7100000000000000
	} | sed 's/../\\x&/g' >"$tmp/hex"
	printf '%b' "$(cat "$tmp/hex")" >"$tmp/mixed.pcapng"
	run -2 --separate-stderr "$rc" capture decode "$tmp/mixed.pcapng"
	grep 'record each interface to its own file' <<<"$stderr"
}

@test "standard input says what the file says, its clock as well" {
	command -v jq || skip "jq is not installed"
	local step head=0000000000000000ffff000001000000
	local -A clocks=(
		["d4c3b2a102000400$head"]=1000 ["4d3cb2a102000400$head"]=1
		["a1b23c4d00020004${head:0:16}0000ffff00000001"]=1
	)
	for step in 06:1000 09:1 03:1000 94:1 93:1000; do
		clocks["$(block 0a0d0d0a 1c000000 4d3c2b1a01000000ffffffffffffffff)$(
			block 01000000 20000000 010000000000000009000100${step%:*}00000000000000
		)"]=${step#*:}
	done
	for bytes in "${!clocks[@]}"; do
		printf '%b' "$(sed 's/../\\x&/g' <<<"$bytes")" >"$tmp/clock"
		"$rc" capture stats --json "$tmp/clock" >"$tmp/want"
		jq -e --argjson step "${clocks[$bytes]}" '.totals.time_step_ns == $step' "$tmp/want"
		"$rc" capture stats --json - <"$tmp/clock" | diff "$tmp/want" -
	done
	for f in $(files); do
		"$rc" capture stats --json "$golden/$f" >"$tmp/want" 2>"$tmp/error" || [ "$f" = broken.pcap ]
		cat "$golden/$f" | "$rc" capture stats --json - 2>"$tmp/error" >"$tmp/got" || [ "$f" = broken.pcap ]
		diff "$tmp/want" "$tmp/got"
	done
}

@test "decode prints what is expected" {
	for f in $(files); do expect "$f" decode; done
}

@test "decode --json prints what is expected" {
	for f in $(files); do expect "$f" decode --json; done
}

@test "stats prints what is expected" {
	for f in $(files); do expect "$f" stats; done
}

@test "stats --json prints what is expected" {
	for f in $(files); do expect "$f" stats --json; done
}

@test "flows prints what is expected" {
	for f in $(files); do expect "$f" flows; done
}

@test "flows --json has the flows of stats, each with a verdict" {
	command -v jq || skip "jq is not installed"
	for f in $(files); do
		"$rc" capture flows --json "$golden/$f" >"$tmp/flows" 2>/dev/null || [ "$f" = broken.pcap ]
		"$rc" capture stats --json "$golden/$f" 2>/dev/null | jq -S '{flows, totals}' >"$tmp/want" || true
		jq -S '{flows: [.flows[] | del(.verdict, .verdict_text)], totals}' "$tmp/flows" >"$tmp/got"
		diff -u "$tmp/want" "$tmp/got"
		jq -e '.schema == "rocecheck.flows/1" and all(.flows[]; .verdict | length > 1)' "$tmp/flows"
		# The text of the lines is the same.
		"$rc" capture flows "$golden/$f" 2>/dev/null >"$tmp/text" || [ "$f" = broken.pcap ]
		tr -s ' \n' '  ' <"$tmp/text" >"$tmp/lines"
		while IFS= read -r text; do
			grep -qF " $text" "$tmp/lines"
		done < <(jq -r '.flows[].verdict_text' "$tmp/flows")
	done
}

@test "stats --by: each table counts every packet" {
	command -v jq || skip "jq is not installed"
	for by in opcode dscp host time; do
		run "$rc" capture stats --json --by "$by" "$golden/loss.pcap"
		[ "$status" -eq 0 ]
		jq -e --arg by "$by" '.by == $by and ([.rows[].packets] | add) == 18 and ([.rows[].ce] | add) == 1' <<<"$output"
		"$rc" capture stats --by "$by" "$golden/loss.pcap" | grep -q "^$by .*packets"
	done
	# Also what was cut or is broken before the BTH, which has neither QP nor opcode.
	for f in snap52.pcap malformed.pcap; do
		n=$("$rc" capture stats --json "$golden/$f" | jq .totals.roce)
		for by in opcode dscp host time; do
			"$rc" capture stats --json --by "$by" "$golden/$f" |
				jq -e --argjson n "$n" '([.rows[].packets] | add) == $n and .rows[-1].key == "no BTH"'
			"$rc" capture stats --by "$by" "$golden/$f" | tail -1 | grep -q '^no BTH '
			"$rc" capture stats --json --by "$by" --qp 0x11 "$golden/$f" |
				jq -e 'all(.rows[]; .key != "no BTH")'
		done
	done
	run "$rc" capture stats --by qpn "$golden/loss.pcap"
	[ "$status" -eq 2 ]
	# The packets that decode prints, and no others.
	for filter in '--qp 0x11' '--verdict duplicate --verdict ce' '--opcode RC_ACK --address 198.18.0.1'; do
		read -ra words <<<"$filter"
		n=$("$rc" capture decode --json "${words[@]}" "$golden/loss.pcap" | wc -l)
		[ "$n" -gt 0 ]
		for by in opcode dscp host time; do
			"$rc" capture stats --json --by "$by" "${words[@]}" "$golden/loss.pcap" |
				jq -e --argjson n "$n" '.bytes_of == "wire" and ([.rows[].packets] | add) == $n'
		done
	done
	run "$rc" capture stats --qp 0x11 "$golden/loss.pcap"
	[ "$status" -eq 2 ]
	[[ $output == *"--by"* ]]
}

@test "check prints what is expected" {
	for f in $(files); do expect "$f" check; done
}

@test "pauses are judged by the speed of the link, and it is said whose word that is" {
	command -v jq || skip "jq is not installed"
	pauses() { # FILE [OPTION]...
		"$rc" capture stats --json "${@:2}" "$1" | jq -c '.totals | [.link_mbps, .link_mbps_of, .pauses_ran_out_by_prio[3]]'
	}
	[ "$(pauses "$golden/pace.pcap")" = '[10000,"assumed",1]' ]
	[ "$(pauses "$golden/pace.pcap" --link-speed 400)" = '[400000,"given",41]' ]
	[ "$(pauses - --link-speed 400 <"$golden/pace.pcap")" = '[400000,"given",41]' ]
	[ "$("$rc" capture flows --json --link-speed 400 "$golden/pace.pcap" | jq .totals.link_mbps)" = 400000 ]
	# An interface of 200 Gbit/s, as the file itself says.
	{
		printf '\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0'
		printf '\x01\0\0\0\x24\0\0\0\x01\0\0\0\0\0\0\0\x08\0\x08\0\x00\xd0\xed\x90\x2e\0\0\0\0\0\0\0\x24\0\0\0'
	} >"$tmp/speed.pcapng"
	[ "$(pauses "$tmp/speed.pcapng")" = '[200000,"file",0]' ]
	[ "$(pauses "$tmp/speed.pcapng" --link-speed 400)" = '[200000,"file",0]' ]
	[ "$(pauses - <"$tmp/speed.pcapng")" = '[200000,"file",0]' ]
	"$rc" capture check --link-speed 100 "$golden/pace.pcap" | tr -s ' \n' '  ' >"$tmp/report" || true
	grep -q 'RC-CAP-022 [^[]*, at 100 Gbit/s, as given ' "$tmp/report"
	"$rc" capture decode --json --link-speed 400 "$golden/pace.pcap" >"$tmp/fast"
	"$rc" capture decode --json "$golden/pace.pcap" >"$tmp/slow"
	[ "$(grep -c '"held"' "$tmp/fast")" -lt "$(grep -c '"held"' "$tmp/slow")" ]
	run -2 "$rc" capture stats --link-speed 0 "$golden/pace.pcap"
}

@test "check: exit 0, 1 and 4, and the same findings in every format" {
	for tool in jq xmllint; do
		command -v "$tool" || skip "$tool is not installed"
	done
	run "$rc" capture check --format json "$golden/loss.pcap"
	[ "$status" -eq 1 ]
	jq -e '.schema == "rocecheck.report/1" and .exit_code == 1 and .profile == null and
		(.findings | map(select(.rule == "RC-CAP-011"))[0].evidence[0].text | contains("frame 15"))' <<<"$output"
	run "$rc" capture check --format junit "$golden/loss.pcap"
	[ "$status" -eq 1 ]
	[ "$(xmllint --xpath 'string(/testsuites/@failures)' - <<<"$output")" -eq 2 ]
	run "$rc" capture check "$golden/control.pcap"
	[ "$status" -eq 4 ]
	[[ $output == *"alternative: a mirror port"* ]]
	run "$rc" capture check --fail-on warn "$golden/drops.pcapng"
	[ "$status" -eq 1 ]
	run "$rc" capture check --allow-inconclusive RC-CAP-004 --allow-inconclusive RC-CAP-010 "$golden/drops.pcapng"
	[ "$status" -eq 0 ]
	run "$rc" capture check --allow-inconclusive RC-CAP-999 "$golden/drops.pcapng"
	[ "$status" -eq 2 ]
}

@test "every expected output belongs to a capture file" {
	for out in "$golden"/*.out; do
		base=$(basename "$out")
		compgen -G "$golden/${base%%.*}.pcap*" >/dev/null
	done
}

@test "tshark agrees on every opcode, encapsulation and field" {
	for tool in tshark jq python3; do
		command -v "$tool" || skip "$tool is not installed"
	done
	for f in opcodes encaps cm; do
		tests/golden/tshark_agree.sh "$golden/$f.pcap" "$rc" --icrc -v >>"$tmp/said"
	done
	for f in loss.pcap mirror.pcap drops.pcapng raw.pcap sll2.pcap cm128.pcap snap64.pcap; do
		tests/golden/tshark_agree.sh "$golden/$f" "$rc" -v >>"$tmp/said"
	done
	build/tools/capgen frames=2000 fault_rate=300 "$tmp/some.pcap" >"$tmp/truth"
	# PFC and PAUSE alone are not compared.
	cat "$golden/control.pcap" >"$tmp/control.pcap"
	tail -c +25 "$golden/loss.pcap" >>"$tmp/control.pcap"
	for f in some control; do
		tests/golden/tshark_agree.sh "$tmp/$f.pcap" "$rc" -v >>"$tmp/said"
	done
	# No row of the table is without a packet, and nothing else is compared.
	awk 'NF == 2 && $1 ~ /^[0-9]+$/ { print $2 }' "$tmp/said" | sort -u >"$tmp/got"
	python3 tests/golden/tshark_agree.py names | diff -u - "$tmp/got"
}

@test "the comparison with tshark can fail" {
	for tool in tshark jq python3; do
		command -v "$tool" || skip "$tool is not installed"
	done
	run tests/golden/tshark_agree.sh "$golden/loss.pcap" "$rc" --icrc
	[ "$status" -eq 1 ]
	[[ $output == *"frame 15: icrc bad"* ]]
	run tests/golden/tshark_agree.sh "$golden/control.pcap" "$rc"
	[ "$status" -eq 1 ]
	[[ $output == *"no RoCE packet"* ]]
	run tests/golden/tshark_agree.sh "$golden/broken.pcap" "$rc"
	[ "$status" -eq 1 ]
	cat >"$tmp/liar" <<-EOF
		#!/bin/sh
		"$(realpath "$rc")" "\$@" | sed 's/"psn":1,/"psn":2,/'
	EOF
	chmod +x "$tmp/liar"
	tests/golden/tshark_agree.sh "$golden/sll2.pcap" "$rc"
	run tests/golden/tshark_agree.sh "$golden/sll2.pcap" "$tmp/liar"
	[ "$status" -eq 1 ]
	[[ $output == *"psn: tshark 1, rocecheck 2"* ]]
}

@test "standard input is read as a file is" {
	"$rc" capture decode "$golden/loss.pcap" >"$tmp/file"
	"$rc" capture decode - <"$golden/loss.pcap" >"$tmp/stdin"
	cat "$golden/loss.pcap" | "$rc" capture decode - >"$tmp/pipe"
	cmp "$tmp/file" "$tmp/stdin"
	cmp "$tmp/file" "$tmp/pipe"
}

@test "--limit stops after so many lines" {
	run "$rc" capture decode --json --limit 3 "$golden/loss.pcap"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	run "$rc" capture decode --limit 0 "$golden/loss.pcap"
	[ "$status" -eq 2 ]
}

@test "filters choose packets and leave the flows as they are" {
	"$rc" capture decode --json "$golden/loss.pcap" >"$tmp/all"
	"$rc" capture decode --json --verdict nak_seq --verdict psn_gap "$golden/loss.pcap" >"$tmp/got"
	grep -E '"(nak_seq|psn_gap)"' "$tmp/all" >"$tmp/want"
	diff -u "$tmp/want" "$tmp/got"
	"$rc" capture decode --json --opcode RC_ACK --qp 34 --address 198.18.0.1 "$golden/loss.pcap" >"$tmp/got"
	grep '"name":"RC_ACK"' "$tmp/all" | grep '"dest_qpn":34,' >"$tmp/want"
	[ -s "$tmp/want" ]
	diff -u "$tmp/want" "$tmp/got"
	run "$rc" capture decode --verdict gap "$golden/loss.pcap"
	[ "$status" -eq 2 ]
	[[ $output == *"psn_gap, "* ]]
}

@test "every line of --json is an object with the promised keys" {
	command -v jq || skip "jq is not installed"
	"$rc" capture decode --json "$golden/opcodes.pcap" >"$tmp/out"
	jq -e -s 'length > 60 and all(.[]; (["frame", "time_ns", "encap", "src", "dst", "sport", "dscp", "ecn",
		"vid", "pcp", "opcode", "name", "se", "migreq", "pad", "pkey", "fecn", "becn", "dest_qpn", "ackreq",
		"psn", "payload_len", "icrc", "events"] - keys) == [])' "$tmp/out"
	jq -e -s 'map(select(.opcode == 6))[0].reth | keys == ["dma_len", "rkey", "va"]' "$tmp/out"
	jq -e -s 'map(select(.opcode == 17))[0].aeth | keys == ["kind", "msn", "value"]' "$tmp/out"
	jq -e -s 'map(select(.opcode == 100))[0].deth | keys == ["qkey", "src_qpn"]' "$tmp/out"
}

@test "a full stdout: exit 3 and one line, also in the middle of JSON" {
	[ -w /dev/full ] || skip 'no /dev/full'
	for args in 'decode' 'decode --json' 'stats' 'stats --json' 'flows' 'flows --json' 'check' 'check --format junit'; do
		run --separate-stderr bash -c "$rc capture $args tests/golden/capture/opcodes.pcap >/dev/full"
		echo "$args: $status $stderr"
		[ "$status" -eq 3 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

@test "what cannot be used: exit 2, and the file is named" {
	: >"$tmp/empty.pcap"
	for f in "$tmp/empty.pcap" "$tmp/absent.pcap" tests/golden/capture.bats; do
		for c in decode stats flows check; do
			run --separate-stderr "$rc" capture "$c" "$f"
			[ "$status" -eq 2 ]
			[ -z "$output" ]
			[[ $stderr == *"$f"* ]]
		done
	done
	run "$rc" capture decode "$tmp/empty.pcap"
	[[ $output == *"the file is empty"*"pcap or pcapng"* ]]
	run "$rc" capture decode - </dev/null
	[[ $output == *"standard input: not a capture file: the file is empty"* ]]
	# Each tells the next step.
	while read -r want args; do
		# shellcheck disable=SC2086 # options
		run "$rc" capture $args
		echo "$args: $output"
		[ "$status" -eq 2 ]
		[[ $output == *"= help: "*"$want"* ]]
	done <<-END
		time stats --by when x
		lldp record --filter x
		lists decode --qqqqq x
		addresses decode --address gpu01 x
		opcode decode --opcode RC_FOO x
	END
	run "$rc" capture decode
	[ "$status" -eq 2 ]
	run "$rc" capture stats a b
	[ "$status" -eq 2 ]
	xz -c "$golden/loss.pcap" >"$tmp/loss.pcap.xz"
	run "$rc" capture decode "$tmp/loss.pcap.xz"
	[ "$status" -eq 2 ]
	[[ $output == *"xz -dc"* ]]
}

@test "compressed files are read as the files they hold, from a pipe too" {
	for f in loss.pcap drops.pcapng; do
		"$rc" capture stats "$golden/$f" >"$tmp/want"
		for pack in gzip zstd; do
			"$pack" -qc "$golden/$f" >"$tmp/packed"
			"$rc" capture stats "$tmp/packed" >"$tmp/got"
			diff -u "$tmp/want" "$tmp/got"
			# shellcheck disable=SC2002 # a pipe is the point
			cat "$tmp/packed" | "$rc" capture stats - >"$tmp/got"
			diff -u "$tmp/want" "$tmp/got"
			head -c -9 "$tmp/packed" >"$tmp/cut"
			run --separate-stderr "$rc" capture stats "$tmp/cut"
			[ "$status" -eq 2 ]
			[[ $stderr == *"is truncated"* ]]
		done
	done
}

@test "a file is read in confinement" {
	for c in decode stats; do
		mkfifo "$tmp/$c"
		"$rc" capture "$c" "$tmp/$c" >"$tmp/out" 3>&- &
		pid=$!
		exec 4>"$tmp/$c"
		# Before the first byte: the header of the file is hostile as well.
		for _ in $(seq 100); do
			grep -q '^Seccomp:.*2' "/proc/$pid/status" && break
			sleep 0.1
		done
		grep '^Seccomp:.*2' "/proc/$pid/status"
		grep '^CapPrm:.0000000000000000$' "/proc/$pid/status"
		grep '^NoNewPrivs:.1$' "/proc/$pid/status"
		[ "$(id -u)" -ne 0 ] || grep '^Uid:.65534.65534.65534.65534$' "/proc/$pid/status"
		head -c 100 "$golden/loss.pcap" >&4
		tail -c +101 "$golden/loss.pcap" >&4
		exec 4>&-
		wait "$pid"
		"$rc" capture "$c" "$golden/loss.pcap" | diff -u - "$tmp/out"
	done
}

@test "progress is for a terminal, and leaves nothing there" {
	for tool in script python3; do
		command -v "$tool" || skip "$tool is not installed"
	done
	# The same packets many times over: JSON of so many takes longer than a second.
	python3 - "$golden/opcodes.pcap" "$tmp/long.pcap" <<-'EOF'
		import sys
		b = open(sys.argv[1], "rb").read()
		with open(sys.argv[2], "wb") as out:
		    out.write(b[:24] + b[24:] * 6000)
	EOF
	script -qec "$rc --json capture decode $tmp/long.pcap >/dev/null" /dev/null >"$tmp/got" </dev/null
	grep -a -q '\[#* *\] [0-9]* %, [0-9]* frames, [0-9]* s left' "$tmp/got"
	[ "$(tail -c 4 "$tmp/got")" = $'\r\e[K' ]
	"$rc" capture stats "$tmp/long.pcap" >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ]
}
