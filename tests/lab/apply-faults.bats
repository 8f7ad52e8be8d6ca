#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Faults under an apply: a plan of twelve steps with each of them refused and each of them the last
# before a kill -9, devices that go away, files that cannot be written, a kernel that is locked down.
# What the state is say dcb, ip, ethtool and the files themselves.
# Runs from the root of the tree; the lab is one of its own.

bats_require_minimum_version 1.5.0
load guests

setup_file()
{
	export LAB_DIR=${LAB_DIR:-$PWD/build/lab-apply-faults}
	export TOOLS=/rocecheck/build/tools
	lab down
	lab up
	# What others read of the port. One process each: dcb 6.1 reads a second answer wrong.
	on h1 tee /run/state >/dev/null <<-'EOF'
		#!/bin/bash -e
		for object in ets pfc app buffer maxrate; do
			/usr/sbin/dcb -j "$object" show dev roce0
		done
		ip -j link show roce0
		ethtool -a roce0
		cd /sys/class/net/roce0/ecn/roce_np
		echo "cnp $(<cnp_dscp) $(<cnp_802p_prio) $(<min_time_between_cnps)"
		echo "tos $(</sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos)"
	EOF
	# One setting a step: a wish for each of twelve objects.
	on h1 tee /run/twelve.yaml >/dev/null <<-'EOF'
		schema: rocecheck.profile/1
		name: twelve
		intent: lossy
		link_pause: {rx: off}
		mtu: {netdev: 4096}
		app:
		  dscp: {48: 6}
		  udp: {4791: 3}
		ets:
		  prio_tc: [0, 0, 0, 3, 0, 0, 6, 0]
		  tc_maxrate_kbps: {6: 100000}
		pfc: {enabled: [3]}
		buffer: {prio2buffer: {3: 1}}
		congestion_control:
		  np: {cnp_dscp: 46, cnp_prio: 5, min_time_between_cnps_us: 50}
		rdma: {cm_default_tos: {dscp: 26, ecn: ect0}}
	EOF
	# A port that somebody has set before. tx must be off: link pause and PFC exclude each other.
	on h1 tee /run/dirty >/dev/null <<-'EOF'
		#!/bin/bash -e
		rm -rf /var/lib/rocecheck/tx
		dcb app flush dev roce0
		dcb app add dev roce0 dscp-prio 26:4 stream-port-prio 3260:4
		dcb ets set dev roce0 prio-tc all:0 4:2 tc-tsa all:strict
		dcb pfc set dev roce0 prio-pfc all:off 4:on delay 5
		dcb buffer set dev roce0 prio-buffer all:0 buffer-size all:0 0:131072 1:131072
		ethtool -A roce0 rx on tx off || true
		ip link set roce0 mtu 4200
		mkdir -p /sys/kernel/config/rdma_cm/rxe0
	EOF
	on h1 tee /run/load >/dev/null <<-'EOF'
		#!/bin/bash -e
		. /run/lab/env
		insmod /run/lab/labnic.ko "rate=$RATE" "$@"
		ip link set roce0 mtu 4200 up
		ip address add 198.18.0.1/24 dev roce0
		rdma link add rxe0 type rxe netdev roce0
	EOF
	on h1 chmod 755 /run/state /run/dirty /run/load
}

teardown_file()
{
	lab down
}

# Processes cost an emulated guest much: what the last test has found as before need not be made anew.
setup()
{
	before=$BATS_FILE_TMPDIR/before
	if [ ! -e "$before.found" ]; then
		on h1 /run/dirty
		on h1 /run/state >"$before"
	fi
	rm -f "$before.found"
}

as_before()
{
	on h1 /run/state | diff "$before" -
	touch "$before.found"
}

apply()
{
	on h1 rocecheck apply "$@" --auto-approve --accept-unproven
}

@test "twelve steps, each refused and each the last before kill -9: 24 of 24 end where they should" {
	[ "$(on h1 rocecheck plan /run/twelve.yaml --json | jq .changes)" = 12 ]
	on h1 tee /run/table >/dev/null <<-'EOF'
		#!/bin/bash
		# Of rdma_cm no NIC refuses anything; a mount that is read only does.
		good=0 refuse=/sys/module/labnic/parameters/refuse
		apply="rocecheck apply /run/twelve.yaml --auto-approve --accept-unproven"

		kill="/rocecheck/build/tools/killat -s"

		# Writes that the journal has, all of them before the first one.
		planned()
		{
			grep -o '"port":' /var/lib/rocecheck/tx/*/journal | wc -l
		}

		judge()
		{
			/run/state >/run/after
			if [ "$2" = "$3" ] && cmp -s /run/before /run/after; then
				good=$((good + 1))
			else
				echo "$1: $2, not $3"
				cat /run/said
				diff /run/before /run/after
			fi
			rm -rf /var/lib/rocecheck/tx
		}

		/run/state >/run/before
		for n in {1..11}; do
			echo $n >$refuse
			$apply >/run/said 2>&1
			judge "step $n refused" "exit $?, refuse $(<$refuse)" "exit 5, refuse 0"
		done
		unshare --mount sh -c 'mount -o remount,ro,bind /sys/kernel/config && exec "$@"' sh $apply >/run/said 2>&1
		judge "step 12 refused" "exit $?" "exit 5"
		for n in {1..12}; do
			# Of some that wait for a confirmation another process undoes what was killed.
			if ((n % 4)); then
				$kill $n $apply >/run/said 2>&1
				killed="$? at $(planned)"
				rocecheck rollback >>/run/said 2>&1
				judge "step $n killed" "$killed, rollback $?" "0 at 12, rollback 0"
			else
				$kill $n $apply --confirm-within 600s >/run/said 2>&1
				killed="$? at $(planned)"
				for i in {1..200}; do
					pidof -q rocecheck || break
					sleep 0.1
				done
				judge "step $n killed, dead-man" "$killed, left $(pidof rocecheck)" "0 at 12, left "
			fi
		done
		echo "$good of 24"
	EOF
	run -0 on h1 bash /run/table
	echo "$output"
	[ "$output" = "24 of 24" ]
}

@test "a device that goes away between plan and apply, and one that comes back as another" {
	on h1 rocecheck plan /run/twelve.yaml --out /run/plan.json >/dev/null
	on h1 bash -ec 'rmdir /sys/kernel/config/rdma_cm/rxe0; rdma link delete rxe0'
	run -3 apply /run/plan.json
	[[ $output == *"roce0 is gone since the plan was made"* ]] || { echo "$output"; return 1; }
	run -3 apply /run/plan.json -i roce0
	[[ $output == *"roce0: the RDMA device was rxe0 when the plan was made"* ]] || { echo "$output"; return 1; }
	on h1 rmmod labnic
	run -3 apply /run/plan.json
	[[ $output == *"roce0 is gone since the plan was made"* ]] || { echo "$output"; return 1; }
	run ! on h1 test -e /var/lib/rocecheck/tx
	on h1 /run/load
	run -3 apply /run/plan.json
	[[ $output == *"has changed since the plan was made"* ]] || { echo "$output"; return 1; }
}

@test "a device that is away when its time is up is put back when it returns" {
	on h1 bash -ec 'printf "%s\n" "schema: rocecheck.profile/1" "name: away" "intent: lossy" "pfc: {enabled: [3]}" >/run/away.yaml
		rocecheck apply /run/away.yaml --auto-approve --accept-unproven --confirm-within 3s >/dev/null
		rmdir /sys/kernel/config/rdma_cm/rxe0; rdma link delete rxe0; rmmod labnic
		for i in {1..100}; do
			rocecheck rollback --list | grep -q restored && break
			sleep 0.2
		done'
	on h1 /run/load
	on h1 timeout 30 sh -c 'until ! pidof -q rocecheck; do sleep 0.2; done'
	run -0 on h1 rocecheck rollback --list
	[[ $(tail -n1 <<<"$output") == *undone* ]] || { echo "$output"; return 1; }
	[ "$(on h1 dcb -j pfc show dev roce0 | jq -c '.prio_pfc | map(if . then 1 else 0 end)')" = "[0,0,0,0,1,0,0,0]" ]
}

@test "sysfs that is read only: exit 5, and all before it is undone" {
	run -5 on h1 unshare --mount sh -c 'mount -o remount,ro,bind /sys && exec "$@"' sh \
		rocecheck apply /run/twelve.yaml --auto-approve --accept-unproven
	[[ $output == *"cnp"*"Read-only file system"* ]] || { echo "$output"; return 1; }
	as_before
}

@test "a setting that is busy is named, and so is the driver's word" {
	on h1 sh -c 'echo 5 >/sys/module/labnic/parameters/refuse'
	run -5 apply /run/twelve.yaml
	[[ $output == *"roce0"*"Device or resource busy"* ]] || { echo "$output"; return 1; }
	[[ $output == *"the host has its former settings"* ]]
	as_before
}

@test "a user namespace may read and not write" {
	run -0 on h1 unshare --user --map-root-user rocecheck plan /run/twelve.yaml
	run -3 on h1 unshare --user --map-root-user rocecheck apply /run/twelve.yaml --auto-approve --accept-unproven
	[[ $output == *"CAP_NET_ADMIN"* ]] || { echo "$output"; return 1; }
	as_before
}

@test "two applies at once: one of them is done, the other says why not" {
	on h1 bash -c 'for n in 1 2; do
			{ rocecheck apply /run/twelve.yaml --auto-approve --accept-unproven >/run/said.$n 2>&1; echo $? >/run/rc.$n; } &
		done; wait'
	run on h1 sh -c 'cat /run/rc.1 /run/rc.2 | sort | tr "\n" " "; cat /run/said.1 /run/said.2'
	# The second may come when the first is done: then there is nothing left to do.
	[[ $output == "0 3 "*"another apply or rollback is running"* || $output == "0 0 "*"already matches"* ]] ||
		{ echo "$output"; return 1; }
	run -0 on h1 rocecheck rollback
	as_before
}

# The last one: a kernel stays locked down.
@test "debugfs that is locked down: what it holds is unknown, said so, and never guessed" {
	on h1 bash -ec 'rmdir /sys/kernel/config/rdma_cm/rxe0; rdma link delete rxe0; rmmod labnic
		/run/load personality=bnxt
		mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
		printf "%s\n" "schema: rocecheck.profile/1" "name: locked" "intent: lossy" \
			"congestion_control: {params: {rtt: 9000}}" >/run/locked.yaml'
	run -0 on h1 rocecheck plan /run/locked.yaml -i roce0
	[[ $output != *"unsupported: "* ]] || { echo "$output"; return 1; }
	on h1 sh -c 'echo integrity >/sys/kernel/security/lockdown'
	run -0 on h1 rocecheck plan /run/locked.yaml -i roce0
	[[ $output == *"unsupported: "*"lockdown"* ]] || { echo "$output"; return 1; }
	run -3 apply /run/locked.yaml -i roce0
}
