#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The first look at six hosts while their users' jobs run: the host with another DSCP map and the job that sends
# DSCP 0 are named, and nothing on the hosts changes.
bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	own_lab survey-lab tests/lab/topologies/six.yaml
	configured h1 h2 h3 h4 h5 h6
}

teardown_file()
{
	lab_ends
}

setup()
{
	at_root
	tmp=$BATS_TEST_TMPDIR
}

# job FROM TO TOS PORT: RC WRITE in the background.
job()
{
	local args=(ib_write_bw -d rxe0 -x 1 --tclass "$3" -s 65536 -u 18 -D 40 -p "$4")

	on "$2" timeout 90 "${args[@]}" >"$tmp/job-$2-$4" 2>&1 3>&- &
	on "$2" bash -c "until ss -Hltn 'sport = $4' | grep -q .; do sleep 0.1; done"
	on "$1" timeout 90 "${args[@]}" "$2" >"$tmp/job-$1-$4" 2>&1 3>&- &
}

settings()
{
	local host

	for host in h1 h2 h3 h4 h5 h6; do
		on "$host" bash -c 'dcb ets show dev roce0; dcb pfc show dev roce0 prio-pfc; dcb app show dev roce0; ethtool -a roce0
			ls -R /sys/kernel/config/rdma_cm; cat /sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos'
	done
}

# An agent that leaves in /tmp/calls what it opens, changes and sends; on the other hosts one as it is.
agents()
{
	local host run='exec strace -f -qq -o /tmp/calls -e trace=%file,%network'

	for host in h1 h2 h3 h4 h5 h6; do
		printf '#!/bin/sh\n%s /rocecheck/build/rocecheck "$@"\n' "$run" | on "$host" tee /tmp/agent >/dev/null
		on "$host" chmod +x /tmp/agent
		run='exec'
	done
}

# only_reads: the agent of h1 asked for settings, set none, and opened no file to write but the device of the queries.
only_reads()
{
	on h1 cat /tmp/calls >"$tmp/calls"
	grep -q 'send.*RTM_GETDCB' "$tmp/calls"
	run ! grep -E 'send.*nlmsg_type=RTM_(SET|NEW|DEL)' "$tmp/calls"
	run ! grep -E '^[0-9]+ +(mkdir|unlink|rename|mount|chmod|chown|symlink|link|truncate)' "$tmp/calls"
	run ! grep -E 'O_(WRONLY|RDWR|CREAT)' <(grep -v '"/dev/infiniband/uverbs' "$tmp/calls")
}

@test "survey names the host with another DSCP map and the job on DSCP 0, and changes nothing" {
	local host monitors=()

	on h2 dcb app replace dev roce0 dscp-prio 26:0
	agents
	settings >"$tmp/before"
	job h1 h3 106 1001
	job h3 h4 106 1002
	job h4 h1 106 1003
	job h5 h6 0 1004
	for host in h1 h2 h3 h4 h5 h6; do
		on "$host" /rocecheck/build/tools/dcbmon sh -c 'until [ -e /tmp/surveyed ]; do sleep 0.2; done' \
			>"$tmp/changes-$host" 3>&- &
		monitors+=($!)
	done
	sleep 3
	run --separate-stderr build/rocecheck survey --hosts 'h[1-6]' --interval 5s --out "$tmp/draft" \
		--launcher "ssh -F $LAB_DIR/ssh_config {host}" --agent /tmp/agent
	echo "$output" "$stderr"
	for host in h1 h2 h3 h4 h5 h6; do
		on "$host" touch /tmp/surveyed
	done
	wait "${monitors[@]}"
	settings >"$tmp/after"
	[ "$status" -eq 1 ]
	[ "$(cat "$tmp"/changes-* | uniq -c | xargs)" = "6 changes 0" ] # of DCB, as the kernel announces them
	diff "$tmp/before" "$tmp/after"
	grep -q '^OUTLIERS on .*: 6 of 6 hosts answered, 6 RoCE ports, readings 5 s apart' <<<"$output"
	grep -q 'app\.dscp.* on h2' <<<"$output"
	grep -q 'main priority sent: 0 on h\[*5' <<<"$output"
	build/rocecheck lint "$tmp/draft/fabric.yaml"
	build/rocecheck lint "$tmp/draft/profile.yaml"
	only_reads
	wait
}
