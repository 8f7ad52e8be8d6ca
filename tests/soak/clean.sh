#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A million packets of lab traffic to which nothing happens: no finding, in the switch's mirror as a whole and in
# what `capture record` wrote in a guest, file by file. Soft-RoCE and the switch have to say the same.
#   tests/soak/clean.sh [PACKETS]      LAB_KERNEL as for the lab
# Exit 0: nothing was reported. Exit 1: something was, or the run was no clean one; what, is on stdout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/lab/guests.bash
. tests/lab/guests.bash
# shellcheck source=tests/lab/captures.bash
. tests/lab/captures.bash

want=${1:-1000000}
export LAB_DIR=${LAB_DIR:-$PWD/build/soak-clean-lab} LAB_RATE=${LAB_RATE:-60}
files_of=200000
tmp=$(mktemp -d)
code=0
trap 'lab down; rm -rf "$tmp"' EXIT

wrong()
{
	echo "WRONG $*"
	code=1
}

written()
{
	lab switch '{"op": "stats"}' | jq .mirror.written
}

# judged NAME FILE: exit 0, every rule passed or does not apply, and the counters of all flows are zero.
judged()
{
	local key n

	build/rocecheck capture check --fail-on warn --format json "$2" >"$tmp/report" || wrong "$1: capture check ends with $?"
	jq -r '.findings[] | select(.verdict != "PASS" and .verdict != "SKIP") | "\(.rule) \(.verdict) \(.text)"' \
		"$tmp/report" >"$tmp/findings"
	[ ! -s "$tmp/findings" ] || wrong "$1: $(cat "$tmp/findings")"
	for key in lost_psns missed_psns reordered copies psn_gaps psn_missing duplicates timeouts unexplained naks_seq \
		naks_other rnr icrc_bad new_connections read_retries; do
		n=$(flows "$2" $key)
		[ "$n" = 0 ] || wrong "$1: $key $n"
	done
	echo "$1: $(total "$2" roce) RoCE packets in $(total "$2" frames) frames of $(jq '.flows | length' "$2.stats") flows," \
		"ICRC good $(flows "$2" icrc_good) bad $(flows "$2" icrc_bad), lost by the capture $(jq .dropped "$2.stats"):" \
		"$(jq '[.findings[] | select(.verdict == "PASS")] | length' "$tmp/report") rules pass," \
		"$(wc -l <"$tmp/findings") findings"
}

# A round of every kind of traffic, about N * 1000 packets, most of them WRITEs of half a kilobyte: emulated guests
# spend their time on bytes.
traffic()
{
	flow ib_write_bw -m 512 -s 65536 -n $((6 * $1))
	flow ib_read_bw -m 1024 -s 65536 -n $((2 * $1))
	flow ib_send_bw -m 4096 -s 65536 -n "$1"
	flow ib_write_bw -c UC -m 256 -s 16384 -n "$1"
	flow ib_atomic_bw -A FETCH_AND_ADD -n $((10 * $1))
}

lab down
lab up tests/lab/topologies/two.yaml
for host in h1 h2; do
	on $host rocecheck apply lab --auto-approve --accept-unproven >/dev/null 2>&1
done
for port in p1 p2; do
	set_port $port rate '"10G"'
	# More than two hosts have under way: pauses would be reported, with reason.
	set_port $port xoff '"2MB"'
	set_port $port xon '"1MB"'
done
counters before

# Whole packets first, so that ICRCs are judged.
mirror "$tmp/whole.pcapng" 9000 p2
traffic 20
mirrored
judged 'whole packets' "$tmp/whole.pcapng"
rm "$tmp/whole.pcapng"

mirror "$tmp/mirror.pcapng" 128 p2
record h2 heads -i roce0 -w /tmp/heads.pcapng --file-frames $files_of
until (($(written) >= want)); do
	traffic 200
	echo "$(written) packets after $SECONDS s"
done
ended h2 heads
mirrored
counters after

judged mirror "$tmp/mirror.pcapng"
[ "$(jq .dropped "$tmp/heads.json")" = 0 ] || wrong "the recording lost $(jq .dropped "$tmp/heads.json") packets"
(($(jq .roce "$tmp/heads.json") >= want)) || wrong "only $(jq .roce "$tmp/heads.json") packets were recorded"
for i in $(seq "$(jq .files "$tmp/heads.json")"); do
	file=$(printf 'heads-%05d.pcapng' "$i")
	fetch h2 "/tmp/$file" "$tmp/$file"
	judged "recording $i" "$tmp/$file"
done
for key in h1.rdma.out_of_seq_request h2.rdma.out_of_seq_request h1.rdma.rcvd_seq_err h1.rdma.completer_retry_err \
	h2.rdma.duplicate_request; do
	n=$(counted $key)
	[ "$n" = 0 ] || wrong "$key $n: the run was not clean"
done
drops=$(lab switch '{"op": "stats"}' | jq '[.switches[].ports[].prio[].dropped] | add')
[ "$drops" = 0 ] || wrong "the switch dropped $drops"
if [ $code = 0 ]; then
	echo "clean: $want packets and more in $SECONDS s, nothing reported"
fi
exit $code
