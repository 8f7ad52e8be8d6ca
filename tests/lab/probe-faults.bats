#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What goes wrong around a probe: each fault ends it in bounded time, its cause is named, no process is left, and the
# next probe runs. LAB_KERNEL=6.12 for that kernel.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031

bats_require_minimum_version 1.5.0
load guests
load probe

# limited SECONDS PROBE-OPTIONS...: a probe that ends by itself in time.
limited()
{
	local before=$SECONDS limit=$1

	shift
	run --separate-stderr probe "$@"
	echo "after $((SECONDS - before)) s, exit $status: $stderr"
	[ $((SECONDS - before)) -le "$limit" ]
}

# refused CODE TEXT...: it ended so, and said these.
refused()
{
	local text

	[ "$status" -eq "$1" ]
	shift
	for text; do
		[[ $stderr == *"$text"* ]] || { echo "it did not say: $text"; return 1; }
	done
}

# reason VERDICT WORD [TEXT]: the verdict of the document, one of its reasons, and what that says.
reason()
{
	is ".verdict.verdict == \"$1\" and ([.verdict.reasons[] | select(.reason == \"$2\" and (.text | contains(\"${3:-}\")))] | length) > 0"
}

# runs: a probe without a fault passes, on hosts that nothing is left on.
runs()
{
	serve
	idle=0 run --separate-stderr probe -n 20
	is '.verdict.verdict == "PASS" or .verdict.verdict == "WARN"'
	served 0
}

# device up|down HOST: Soft-RoCE on roce0, and its module.
device()
{
	case $1 in
	down) sh_on "$2" 'rdma link del rxe0; for i in $(seq 50); do rmmod rdma_rxe && exit; sleep 0.2; done; exit 1' ;;
	up)
		sh_on "$2" '[ -d /sys/module/rdma_rxe ] || modprobe rdma_rxe
			[ -d /sys/class/infiniband/rxe0 ] || rdma link add rxe0 type rxe netdev roce0'
		;;
	esac
}

# signal_traffic SIGNAL: to h2's traffic process, by one command: each takes seconds on a guest under load.
signal_traffic()
{
	on h2 pkill "-$1" -f '[a]gent --traffic'
}

# slowed: from now on until `slowed_ends` the guests stand still for three quarters of the time, as on a machine under load.
slowed()
{
	local pids

	pids=("$(cat "$LAB_DIR/h1.pid")" "$(cat "$LAB_DIR/h2.pid")")
	(
		trap 'kill -CONT "${pids[@]}"; exit' TERM
		while kill -STOP "${pids[@]}"; do
			sleep 0.03
			kill -CONT "${pids[@]}"
			sleep 0.01
		done
	) </dev/null >/dev/null 2>&1 3>&- &
	slower=$!
}

slowed_ends()
{
	[ -n "${slower:-}" ] || return 0
	kill "$slower"
	wait "$slower" || true
	slower=
}

# cannot_send [COMMAND]: the MTU of h1 is lowered in mid-run, after COMMAND. Linux 6.1 then keeps the processor of h1 for
# seconds, and no program runs there, while 6.12 ends the queue pair. The guest does it by itself: on a machine under load a
# command from here may come when the traffic is over.
cannot_send()
{
	serve
	sh_on h1 'rm -f /tmp/client.err; (for i in $(seq 300); do grep -q "probe: traffic" /tmp/client.err && break; sleep 0.1; done
		sleep 2; ip link set roce0 mtu 1500) </dev/null >/dev/null 2>&1 &'
	probe_behind -D 8
	$1
	behind 1 40
	slowed_ends
	is '.verdict.verdict == "FAIL"'
	is '[.verdict.reasons[] | select(.cause | IN("host-send", "queue-pair", "stall"))] | length > 0'
	is '[.verdict.reasons[].reason] | index("lost") == null'
	served '[04]'
	on h1 ip link set roce0 mtu 4200
	runs
}

setup_file()
{
	own_lab "${LAB_DIR:-probe-faults-lab}"
}

teardown_file()
{
	lab_ends
}

teardown()
{
	local host

	slowed_ends
	for host in h1 h2; do
		sh_on $host 'pkill -KILL rocecheck; pkill -KILL -f "[a]gent --traffic"; ip link set roce0 up; ip link set roce0 mtu 4200
			umount /tmp/full 2>/dev/null; true'
		device up $host
	done
}

@test "no RDMA device, at either end: named, with what to do" {
	device down h1
	serve
	limited 15 -n 20
	refused 3 "h1" "no RDMA device"
	served 0
	device up h1
	device down h2
	serve
	limited 15 -n 20
	refused 3 "198.18.0.2" "no RDMA device"
	served 0
	device up h2
	runs
}

@test "no memory may be locked: the limit is named" {
	serve
	run --separate-stderr sh_on h1 "umask 077; echo $token >/tmp/token; ulimit -l 64
		setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock rocecheck probe client 198.18.0.2 --token-file /tmp/token --json \
			--baseline 0 -n 20"
	refused 3 "h1" "registering" "limit of locked memory is 64 KiB" "ulimit -l"
	served 0
	runs
}

@test "a wrong GID: one that is not there, one of another family, one that goes away" {
	serve
	limited 15 -x 200
	refused 3 "h1" "no GID at index 200"
	served 0
	serve
	limited 15 -x 0
	refused 3 "GID"
	served 0
	serve
	probe_behind -D 60
	on h2 ip address del 198.18.0.2/24 dev roce0
	behind '[14]' 20
	on h2 ip address add 198.18.0.2/24 dev roce0
	is '.partial and (.why | contains("198.18.0.2"))'
	served 4
	runs
}

@test "unequal MTUs" {
	on h2 ip link set roce0 mtu 1500
	serve
	limited 15 -n 20
	refused 3 "unequal RDMA MTUs" "4096" "1024" "-m 1024"
	served 0
}

@test "a peer of another version" {
	sh_on h2 'LC_ALL=C sed "s/\b0\.1\.0\b/0.1.9/g" "$(command -v rocecheck)" >/tmp/rocecheck && chmod 755 /tmp/rocecheck && /tmp/rocecheck --version | grep -q 0.1.9'
	serve h2 /tmp/rocecheck
	limited 15 -n 20
	refused 3 "198.18.0.2: runs rocecheck 0.1.9, this host runs 0.1.0" "install the same version"
	served 0
}

@test "what listens there is no probe server" {
	token=00112233445566778899aabbccddeeff # of nobody
	limited 15 -n 20 -p 22
	refused 3 "SSH-2.0" "check that 'rocecheck probe server' listens"
	limited 15 -n 20
	refused 3 "198.18.0.2" "refused"
}

@test "the traffic process of the peer is killed, and the peer as a whole" {
	serve
	probe_behind -D 60
	signal_traffic KILL
	behind '[14]' 20
	is '.why | contains("198.18.0.2") and contains("signal 9")'
	served 0
	serve
	probe_behind -D 60
	on h2 pkill -KILL -o -x rocecheck
	behind '[14]' 20
	is '.partial and (.why | contains("198.18.0.2"))'
	is '.ends[0].report.messages > 0 and .ends[1].report == null'
	served 137
	runs
}

@test "the link goes down, at this end and at the other" {
	local host

	for host in h1 h2; do
		serve
		probe_behind -D 60
		on $host ip link set roce0 down
		behind '[14]' 20
		is '.partial'
		served 4
		on $host ip link set roce0 up
	done
	sh_on h1 'for i in $(seq 100); do ping -c 1 -W 1 198.18.0.2 >/dev/null && exit; sleep 0.1; done; exit 1'
	runs
}

@test "the MTU is lowered in mid-run: the host that cannot send is named" {
	cannot_send
}

@test "the same on hosts that get a quarter of their processors: what both ends saw is not lost" {
	cannot_send slowed
}

@test "the module is removed in mid-run: the kernel keeps it while queue pairs live, and the run ends as it should" {
	serve
	probe_behind -D 6
	sh_on h2 'rmmod rdma_rxe' && return 1
	sh_on h2 'setsid rdma link del rxe0 </dev/null >/dev/null 2>&1 &'
	behind '[014]' 40
	is '.ends[0].report != null'
	served '[04]'
	sh_on h2 'for i in $(seq 100); do [ -d /sys/class/infiniband/rxe0 ] || exit 0; sleep 0.1; done; exit 1'
	sh_on h2 'for i in $(seq 50); do rmmod rdma_rxe && exit; sleep 0.2; done; exit 1'
	serve
	limited 15 -n 20
	refused 3 "198.18.0.2" "no RDMA device"
	served 0
	device up h2
	runs
}

@test "the receiver is stalled: its traffic process, and its whole program" {
	serve
	probe_behind -D 8
	signal_traffic STOP
	behind '[14]' 45
	reason FAIL stalled
	served 0
	serve
	probe_behind -D 60
	on h2 pkill -STOP -x rocecheck
	behind '[14]' 20
	is '.why | contains("198.18.0.2") and contains("no message for 3 s")'
	on h2 pkill -CONT -x rocecheck
	served 4
	runs
}

@test "the disk is full: the result is told, the record is not, and the file is named" {
	serve
	run --separate-stderr sh_on h1 "mkdir -p /tmp/full && mount -t tmpfs -o size=16k tmpfs /tmp/full; umask 077; echo $token >/tmp/token
		rocecheck probe client 198.18.0.2 --token-file /tmp/token --json --baseline 0 -n 20 --out /tmp/full/rec"
	refused 3 "/tmp/full/rec" "No space left"
	is '.verdict.verdict == "PASS" and .schema == "rocecheck.probe/1"'
	served 0
	sh_on h1 '! find /tmp/full -type f -name "*.json" -size -1 | grep .'
}
