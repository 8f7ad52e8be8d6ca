#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Our decoding and tshark's of the same lab traffic, every field of every packet: perftest, rping and the connection
# manager's datagrams over Soft-RoCE, whole as the switch's mirror has them, some of it lost, doubled, reordered,
# corrupted and marked. Runs from the root of the tree; the lab is one of its own.
bats_require_minimum_version 1.5.0
load guests
load captures

setup()
{
	at_root
	for tool in tshark jq python3; do
		command -v "$tool" || skip "$tool is not installed"
	done
	export LAB_DIR=$PWD/build/capture-agree-lab
	tmp=$BATS_TEST_TMPDIR
	lab down
}

teardown()
{
	lab down
}

boot()
{
	LAB_KERNEL=$1 lab up tests/lab/topologies/two.yaml
	configured h1 h2
	# Fast enough for the guests, and slow enough for some pauses.
	set_port p1 rate '"10G"'
	set_port p2 rate '"160M"'
	mirror "$tmp/mirror.pcapng" 9000 p2
}

clean_traffic() # FACTOR
{
	local n=$1 size

	flow ib_write_bw -m 1024 -s 65536 -n $((10 * n))
	flow ib_write_bw -m 256 -s 65536 -n $((5 * n))
	flow ib_write_bw -m 512 -s 16384 -n $((20 * n)) -c UC
	flow ib_read_bw -m 1024 -s 32768 -n $((10 * n))
	flow ib_send_bw -m 2048 -s 65536 -n $((10 * n))
	flow ib_atomic_bw -A FETCH_AND_ADD -n $((40 * n))
	flow ib_atomic_bw -A CMP_AND_SWAP -n $((40 * n))
	for size in 1 2 3 1000; do
		flow ib_send_lat -m 1024 -s $size -n $((5 * n))
	done
	# Of a game of question and answer without retransmission nothing comes after the first loss in a guest.
	seconds=20 flow ib_send_lat -c UC -m 1024 -s 3 -n $((5 * n)) || true
	seconds=20 flow ib_send_lat -c UD -m 1024 -s 1 -n $((5 * n)) || true
	# Over IPv6: the first GID is the link-local one.
	gid=0 flow ib_write_bw -m 4096 -s 65536 -n $((10 * n))
}

managed_traffic()
{
	local server

	on h2 timeout 60 rping -s -C 50 -S 3000 -a 198.18.0.2 >"$tmp/rping" 2>&1 &
	server=$!
	on h2 timeout 30 bash -c 'until rdma resource show cm_id link rxe0 | grep -q LISTEN; do sleep 0.05; done'
	on h1 timeout 60 rping -c -C 50 -S 3000 -a 198.18.0.2
	wait $server
	# UD by the connection manager (SIDR), and a connection that is refused.
	on h2 timeout 60 udaddy -c 3 -C 20 >"$tmp/udaddy" 2>&1 &
	server=$!
	on h2 timeout 30 bash -c 'until rdma resource show cm_id link rxe0 | grep -q LISTEN; do sleep 0.05; done'
	on h1 timeout 60 udaddy -c 3 -C 20 -s 198.18.0.2
	wait $server
	run on h1 timeout 60 rping -c -C 1 -a 198.18.0.2 -p 9
	[ "$status" -ne 0 ]
}

lossy_traffic() # FACTOR
{
	# Where the end of a message is lost, it is waited for.
	fault lost drop p1 in '"every": 401, "prio": [3]'
	fault twice duplicate p1 in '"every": 307, "prio": [3]'
	fault late reorder p1 in '"every": 509, "window": 3, "prio": [3]'
	fault broken corrupt p1 in '"every": 601, "prio": [3]'
	fault marked mark_ce p1 in '"every": 50, "prio": [3]'
	ack_timeout=18 flow ib_write_bw -m 1024 -s 65536 -n $((10 * $1))
	fault answers drop p2 in '"every": 211, "opcode": 14'
	ack_timeout=18 flow ib_read_bw -m 1024 -s 32768 -n $((5 * $1))
	ack_timeout=18 flow ib_send_bw -m 512 -s 8192 -n $((10 * $1))
	for name in lost twice late broken marked answers; do
		echo "# $name: $(hits $name)" | tee -a "$tmp/faults"
		(($(hits $name) > 0))
	done
	broken=$(hits broken)
	no_faults
}

# agreed PACKETS: at least so many are compared; of the ICRCs those are bad that the switch broke.
agreed()
{
	local unverifiable

	mirrored
	tests/golden/tshark_agree.sh "$tmp/mirror.pcapng" build/rocecheck -v >"$tmp/agree" || { cat "$tmp/agree"; return 1; }
	sed 's/^/# /' "$tmp/agree" >&3
	[ "$(grep -oE '^[0-9]+' "$tmp/agree" | head -n1)" -ge "$1" ]
	equal 'bad ICRCs' "$broken" "$(flows "$tmp/mirror.pcapng" icrc_bad)"
	unverifiable=$(flows "$tmp/mirror.pcapng" icrc_unverifiable)
	equal 'ICRCs that cannot be verified' 0 "$unverifiable"
	# Every kind of traffic was there.
	build/rocecheck --json capture stats --by opcode "$tmp/mirror.pcapng" >"$tmp/opcodes"
	jq -r '.rows[] | "# \(.packets) \(.key)"' "$tmp/opcodes" >&3
	for name in RC_SEND_FIRST RC_RDMA_WRITE_MIDDLE RC_RDMA_READ_REQUEST RC_RDMA_READ_RESPONSE_MIDDLE RC_ACK \
		RC_FETCH_ADD RC_COMPARE_SWAP RC_ATOMIC_ACK UC_RDMA_WRITE_FIRST UC_SEND_ONLY UD_SEND_ONLY CNP; do
		jq -e --arg name $name 'any(.rows[]; .key == $name and .packets > 10)' "$tmp/opcodes"
	done
}

compared() # KERNEL
{
	boot "$1"
	clean_traffic 30
	managed_traffic
	lossy_traffic 30
	# How much is lost and sent again is the machine's. Some frames are of TCP and LLDP.
	missing=$((110000 - $(mirrored_frames)))
	((missing <= 0)) || enough frames "$missing" mirrored_frames ib_write_bw -m 256 -s 65536 -n 50
	agreed 100000
}

@test "tshark agrees on 100 000 packets of lab traffic" {
	compared 6.1
}

@test "tshark agrees on 100 000 packets of the newer kernel" {
	compared 6.12
}
