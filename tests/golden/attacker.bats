#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A user without rights does what he can while root works: links, FIFOs and files under names that are easy to
# guess, folders moved away under a running command, locks held, lldpad's name taken, processes ended. All of it
# on a copy of this machine's file system that keeps what is written apart: so what has changed is known in full.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	[ "$(id -u)" = 0 ] || skip "not root: no namespaces here"
	unshare -m -n -p --fork true 2>/dev/null || skip "no namespaces here"
	export rc=${ROCECHECK:-$PWD/build/rocecheck}
	tmp=$(mktemp -d /var/tmp/rocecheck-attacker.XXXXXX)
	printf '%s\n' "schema: rocecheck.profile/1" "name: mtu" "intent: lossy" "mtu: {netdev: 4200}" >"$tmp/mtu.yaml"
	cat >"$tmp/here.yaml" <<-END
		schema: rocecheck.fabric/1
		name: here
		profile: lab
		engine: local
		agent: $rc
		capture: full
		hosts:
		  - {name: a, ports: [{interface: v0}]}
		  - {name: b, ports: [{interface: v1}]}
		thresholds: {quiet: 1s, traffic: 1s}
	END
	attacks >"$tmp/attacks"
	chmod -R a+rX "$tmp"
}

teardown() {
	[ -z "${tmp:-}" ] || rm -rf "$tmp"
}

# What the user runs in the folder "shared", where everybody may make files, until he is killed. ./victim, /etc and the
# state folder are what he would like to have changed.
attacks() {
	cat <<-'END'
		exec 2>/dev/null
		cd "$1/shared" || exit 1
		# The names that are on the command lines, and those of a run.
		while :; do
			for name in run collect.json record.pcapng; do
				ln -sfn ../victim/file $name || { mv -T $name moved.$RANDOM; ln -sfn ../victim $name; }
			done
			rm -rf run; mkdir -p run/captures; ln -sf ../../victim/file run/run.json; ln -sf /etc/passwd run/report.txt
			mkfifo run/report.json; ln -sfn /etc run/snapshots
			rm -f collect.json; install -m 666 /dev/null collect.json
			mv -T rec moved.$RANDOM && ln -sfn ../victim rec
		done &
		# Folders of the default name, a second each.
		while :; do
			for ahead in 0 1 2 3; do
				name=rocecheck-run-$(date -u -d "$ahead seconds" +%Y%m%dT%H%M%SZ)
				mkdir $name && ln -s ../../victim/file $name/run.json
			done
			sleep 0.2
		done &
		# The state, its locks, and the lock of whoever asks for one in /tmp or /run.
		while :; do
			for at in /var/lib/rocecheck /var/lib/rocecheck/tx /var/lib/rocecheck/last /run/rocecheck /tmp; do
				ln -sfn "$1/victim/file" $at/lock; ln -sfn "$1/victim" $at/tx; chmod 777 $at
				flock -x $at/lock sleep 1
			done
			sleep 0.2
		done &
		# Processes with his uid are his to end; those of others he tries to.
		while :; do
			for pid in $(pgrep -x rocecheck); do kill -STOP $pid; kill -KILL $pid; done
			sleep 0.3
		done &
		exec /usr/bin/python3 -c 'if 1:
			import os, socket
			s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
			s.bind("\0/com/intel/lldpad")
			while True:
			    data, who = s.recvfrom(4096)
			    for answer in (b"R00M100000001", b"\x1b[2J", data):
			        try: s.sendto(answer, who)
			        except OSError: pass'
	END
}

# What runs in the copy, as root, before SCRIPT.
beginning() {
	cat <<-'END'
		set -euo pipefail
		top=$1
		cd "$top"
		apply() {
			"$rc" apply "$@" --auto-approve --accept-unproven --accept-disruption
		}
		mtu() {
			cat /sys/class/net/v0/mtu
		}
		# to_end CODES COMMAND...: it ends with one of these, and at all.
		to_end() {
			local code=0 codes=$1
			shift
			timeout 30 "$@" >"$top/said" 2>&1 || code=$?
			[[ " $codes " == *" $code "* ]] || { echo "exit $code: $*"; cat "$top/said"; exit 1; }
		}
		# becomes MTU SECONDS
		becomes() {
			local end=$((SECONDS + $2 + 1))
			until [ "$(mtu)" = "$1" ]; do
				[ $SECONDS -lt $end ] || { echo "still $(mtu) after $2 s"; exit 1; }
				sleep 0.1
			done
		}
		setpriv --reuid 65534 --regid 65534 --clear-groups bash "$1/attacks" "$1" >/dev/null 2>&1 &
		sleep 0.5
	END
}

# while_attacked SCRIPT: it has a port v0, whose peer is v1, and runs in the copy while the user is
# at work. Afterwards $tmp/changed has a line for each file and folder that is not as it was: its name, owner and mode.
while_attacked() {
	{ beginning && echo "$1"; } >"$tmp/work"
	run timeout 120 unshare -m -n -p --fork --propagation private bash -ec '
		export tmp=$1
		mkdir "$tmp/fs" && mount -t tmpfs none "$tmp/fs" && mkdir "$tmp/fs/"{upper,work,root}
		root=$tmp/fs/root
		mount -t overlay none -o "lowerdir=/,upperdir=$tmp/fs/upper,workdir=$tmp/fs/work" "$root"
		mount -t proc none "$root/proc" && mount -t sysfs none "$root/sys" && mount --rbind /dev "$root/dev"
		ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && ip link set lo up
		mkdir -m 700 "$root$tmp/victim" && mkdir -m 1777 "$root$tmp/shared" && mkdir "$root$tmp/named"
		echo mine >"$root$tmp/victim/file"
		code=0
		chroot "$root" bash "$tmp/work" "$tmp" || code=$?
		cd "$tmp/fs/upper"
		# A folder is here also when only what is in it has changed.
		find . -mindepth 1 ! -uid 65534 -printf "%P %u %m %y\n" | sort | while read -r name owner mode type; do
			[ "$type" != d ] || [ "$owner $mode" != "$(stat -c "%U %a" "/$name" 2>/dev/null)" ] || continue
			echo "$name $owner $mode"
		done >"$tmp/changed"
		[ "$(cat "./$tmp/victim/file")" = mine ] || echo "the file of the victim has changed" >>"$tmp/changed"
		exit $code' - "$tmp"
	echo "$output"
	# What the script itself was told to make.
	sed -Ei "\,^${tmp#/}/(fs|said|victim|shared|named|victim/file|named/.*) ,d; /^$/d" "$tmp/changed"
	cat "$tmp/changed"
}

# only PREFIX...: nothing else has changed.
only() {
	local prefix

	for prefix in "$@"; do
		sed -Ei "\\,^$prefix,d" "$tmp/changed"
	done
	[ ! -s "$tmp/changed" ] || { echo "changed:"; cat "$tmp/changed"; return 1; }
}

@test "what is changed is seen: a file, a mode, a file that is gone" {
	while_attacked 'echo >/etc/planted; chmod 770 /var/lib; rm -f /etc/hostname; echo other >victim/file'
	[ "$status" -eq 0 ]
	grep -qx 'etc/planted root 644' "$tmp/changed"
	grep -qx 'var/lib root 770' "$tmp/changed"
	grep -q '^etc/hostname ' "$tmp/changed"
	grep -qx 'the file of the victim has changed' "$tmp/changed"
}

@test "apply --confirm-within, --last --boot, rollback and watch: undone in time, and nothing but the state is written" {
	while_attacked 'apply mtu.yaml -i v0 --confirm-within 2s
		[ "$(mtu)" = 4200 ]
		to_end 0 "$rc" watch --once -i v0 mtu.yaml
		becomes 1500 6
		apply mtu.yaml -i v0
		[ "$(mtu)" = 4200 ]
		to_end 0 "$rc" watch --once -i v0
		to_end 0 "$rc" rollback
		[ "$(mtu)" = 1500 ]
		apply mtu.yaml -i v0 && ip link set v0 mtu 1500
		to_end 0 "$rc" apply --last --boot
		[ "$(mtu)" = 4200 ]'
	[ "$status" -eq 0 ]
	[ "$(grep -c '^var/lib/rocecheck/tx/.*/journal root 600' "$tmp/changed")" -ge 3 ]
	only var/lib/rocecheck run/rocecheck
}

@test "the dead-man undoes when its tool is killed while the user is at work" {
	while_attacked 'apply mtu.yaml -i v0 --confirm-within 6s --settle 5s &
		becomes 4200 10
		kill -KILL $(pgrep -ox -u root rocecheck)
		becomes 1500 10'
	[ "$status" -eq 0 ]
	only var/lib/rocecheck run/rocecheck
}

@test "validate, with a folder named in one that everybody may write to and without" {
	while_attacked 'for i in 1 2 3; do
			to_end "1 3 4" "$rc" validate here.yaml --out shared/run
		done
		cd shared
		to_end "0 1 3 4" "$rc" validate ../here.yaml --no-traffic
		cd ..
		to_end "0 1 4" "$rc" validate here.yaml --out named/run'
	[ "$status" -eq 0 ]
	# A folder that root made for itself, which nobody else can look into.
	only "${tmp#/}/shared/run" "${tmp#/}/shared/rocecheck-run-" "${tmp#/}/shared/moved"
}

@test "collect and capture record, into a folder that everybody may write to" {
	while_attacked 'for i in 1 2 3 4 5; do
			to_end "0 3" "$rc" collect -i v0 --out shared/collect.json
		done
		mkdir shared/rec
		for i in 1 2 3; do
			to_end "0 1 3 4" "$rc" capture record -i v0 -d 1s -w shared/record.pcapng
			to_end "0 1 3 4" "$rc" capture record -i v0 -d 1s --file-time 200ms -w shared/rec/a.pcap
			mkdir -p shared/rec || true
		done
		to_end 0 "$rc" collect -i v0 --out named/collect.json'
	[ "$status" -eq 0 ]
	only "${tmp#/}/shared/(collect.json|record|rec|moved)"
}
