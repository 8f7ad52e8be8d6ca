#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Root writes where another local user (nobody) was first: links, FIFOs, devices and files under the
# names of a run, folders of the default name, folders of that user. Needs root, no lab.
bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	((EUID == 0)) || skip 'needs root'
	rocecheck=${ROCECHECK:-$PWD/build/rocecheck}
	umask 022
	dir=$(mktemp -d /tmp/rocecheck-hostile.XXXXXX)
	chmod 755 "$dir"
	mkdir -p "$dir/snaps" "$dir/victim" "$dir/own"
	mkdir -m 1777 "$dir/shared"
	cp tests/golden/snapshots/*.json "$dir/snaps/"
	chmod 700 "$dir/victim"
	(umask 077 && echo secret >"$dir/victim/shadow")
	attacker=
}

teardown()
{
	if [ -n "${attacker-}" ]; then
		kill "$attacker" && wait "$attacker" || true
	fi
	# What the attacker had started may still write.
	[ -z "${dir-}" ] || rm -rf "$dir" || { sleep 1 && rm -rf "$dir"; }
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# inventory CAPTURE: two agents of this host, without RDMA.
inventory()
{
	cat >"$dir/here.yaml" <<-END
		schema: rocecheck.fabric/1
		name: here
		profile: lab
		engine: local
		agent: $rocecheck
		capture: $1
		hosts:
		  - {name: a, ports: [{interface: lo}]}
		  - {name: b, ports: [{interface: lo}]}
		thresholds: {quiet: 1s, traffic: 1s}
	END
}

# offline ARGS...: a report of recorded snapshots; an end that never comes is status 124.
offline()
{
	run --separate-stderr timeout 20 "$rocecheck" validate --from "$dir/snaps" --profile lab "$@"
	echo "status $status: $stderr"
}

victim_is_whole()
{
	[ "$(cat "$dir/victim/shadow")" = secret ]
	[ "$(stat -c '%U %a' "$dir/victim/shadow")" = 'root 600' ]
	[ "$(ls -A "$dir/victim")" = shadow ]
}

@test "a run folder of another user is refused, with its owner and the next step" {
	nobody mkdir -m 755 "$dir/shared/run"
	nobody ln -s "$dir/victim/shadow" "$dir/shared/run/run.json"
	offline --out "$dir/shared/run"
	victim_is_whole
	[ "$status" -eq 3 ]
	grep -qF "$dir/shared/run: refusing a folder of user 65534 (mode 0755)" <<<"$stderr"
	grep -q 'folder of your own' <<<"$stderr"
	[ "$(ls "$dir/shared/run")" = run.json ]
}

@test "a run folder that others can write to is refused, sticky or not" {
	for mode in 775 777 1777; do
		mkdir -m "$mode" "$dir/own/$mode"
		offline --out "$dir/own/$mode"
		[ "$status" -eq 3 ]
		grep -q 'other users can write to' <<<"$stderr"
		[ -z "$(ls -A "$dir/own/$mode")" ]
	done
}

@test "a run folder that is a link is refused" {
	nobody ln -s "$dir/victim" "$dir/shared/run"
	for out in run run/ run//; do
		offline --out "$dir/shared/$out"
		victim_is_whole
		[ "$status" -eq 3 ]
		grep -q 'is a symbolic link, not a folder' <<<"$stderr"
	done
}

@test "links, FIFOs and devices in a run folder are refused by name, and nothing waits for them" {
	for file in run.json hosts.jsonl pairs.jsonl marking.jsonl report.json report.txt junit.xml; do
		rm -rf "$dir/own/run" && mkdir "$dir/own/run"
		ln -s "$dir/victim/shadow" "$dir/own/run/$file"
		offline --out "$dir/own/run"
		victim_is_whole
		[ "$status" -eq 3 ]
		grep -qF "run/$file: is a symbolic link" <<<"$stderr"
		rm "$dir/own/run/$file" && mkfifo "$dir/own/run/$file"
		offline --out "$dir/own/run"
		[ "$status" -eq 3 ]
		grep -qF "run/$file: is a FIFO" <<<"$stderr"
		rm "$dir/own/run/$file"
		mknod "$dir/own/run/$file" c 1 3 || continue
		offline --out "$dir/own/run"
		[ "$status" -eq 3 ]
		grep -qF "run/$file: is a character device" <<<"$stderr"
		[ -c "$dir/own/run/$file" ]
	done
	rm -rf "$dir/own/run" && mkdir "$dir/own/run"
	ln -s "$dir/victim" "$dir/own/run/snapshots"
	offline --out "$dir/own/run"
	victim_is_whole
	[ "$status" -eq 3 ]
	grep -qF 'run/snapshots: is a symbolic link, not a folder' <<<"$stderr"
}

@test "folders of the default name that another user made are left alone" {
	inventory off
	now=$(date +%s)
	cd "$dir/shared"
	for ((at = now; at < now + 20; at++)); do
		name=rocecheck-run-$(date -u -d "@$at" +%Y%m%dT%H%M%SZ)
		nobody mkdir "$name"
		nobody ln -s "$dir/victim/shadow" "$name/run.json"
	done
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --no-traffic
	echo "status $status: $stderr"
	victim_is_whole
	((status == 1 || status == 4))
	made=$(find "$dir/shared" -mindepth 1 -maxdepth 1 -user root)
	[ "$(stat -c '%U %a' "$made")" = 'root 700' ]
	[ -f "$made/run.json" ]
	grep -qF "run folder: ${made##*/}" <<<"$stderr"
	[ -z "$(find "$dir/shared" -type f ! -path "$made/*")" ]
}

@test "recordings and schedules do not go into files that another user made first" {
	inventory full
	nobody mkdir -p "$dir/shared/run/captures"
	# What a former run left is removed at the start of one: so they are made again and again.
	# shellcheck disable=SC2016
	nobody bash -c 'while cd "$1"; do
		[ -e captures/a-lo.pcap ] || install -m 666 /dev/null captures/a-lo.pcap
		[ -h schedule-rail0.txt ] || ln -s ../victims-own schedule-rail0.txt
	done' - "$dir/shared/run" 2>/dev/null 3>&- &
	attacker=$!
	echo mine >"$dir/shared/victims-own"
	run --separate-stderr "$rocecheck" validate "$dir/here.yaml" --out "$dir/shared/run"
	echo "status $status: $stderr"
	[ "$(cat "$dir/shared/victims-own")" = mine ]
	[ ! -s "$dir/shared/run/captures/a-lo.pcap" ]
	[ "$status" -eq 3 ]
}

@test "one file in a folder of another user: no link is followed, and the file is the caller's" {
	nobody mkdir "$dir/shared/theirs"
	nobody ln -s "$dir/victim/shadow" "$dir/shared/theirs/host.json"
	run --separate-stderr "$rocecheck" collect -i lo --out "$dir/shared/theirs/host.json"
	echo "status $status: $stderr"
	victim_is_whole
	[ "$status" -eq 3 ]
	grep -qF 'theirs/host.json: is a symbolic link' <<<"$stderr"
	nobody rm "$dir/shared/theirs/host.json"
	nobody install -m 666 /dev/null "$dir/shared/theirs/host.json"
	run -0 --separate-stderr "$rocecheck" collect -i lo --out "$dir/shared/theirs/host.json"
	[ "$(stat -c '%U %a' "$dir/shared/theirs/host.json")" = 'root 644' ]
	[ "$(ls -A "$dir/shared/theirs")" = host.json ]
	# In a sticky folder, too.
	nobody ln -s "$dir/victim/shadow" "$dir/shared/host.json"
	offline --format json="$dir/shared/host.json"
	victim_is_whole
	[ "$status" -eq 3 ]
	run -0 --separate-stderr "$rocecheck" collect -i lo --out "$dir/shared/new.json"
}

# Each datagram to the port of RoCE is a frame on lo, and a file of its own.
rotate()
{
	ip link set lo up
	"$rocecheck" capture record -i lo -w "$1/rec/a.pcap" --file-frames 1 >"$1/out" 2>&1 3>&- &
	for ((i = 0; i < 100; i++)); do
		grep -q recording "$1/out" && break
		sleep 0.05
	done
	for ((i = 0; i < 20; i++)); do
		echo >/dev/udp/127.0.0.1/4791 || true
		sleep 0.05
		if ((i == 5)); then
			nobody mv "$1/rec" "$1/moved"
			nobody ln -s "$2" "$1/rec"
		fi
	done
	kill -INT $!
	wait $! || true
	cat "$1/out"
}

@test "a recording stays in its folder when another user moves it away and puts a link there" {
	nobody mkdir "$dir/shared/theirs"
	nobody mkdir "$dir/shared/theirs/rec"
	chown root: "$dir/shared/theirs/rec"
	nobody touch "$dir/shared/theirs/out" && chmod 666 "$dir/shared/theirs/out"
	export -f rotate nobody
	export rocecheck
	unshare -n bash -c 'rotate "$@"' - "$dir/shared/theirs" "$dir/victim"
	victim_is_whole
	[ "$(find "$dir/shared/theirs/moved" -name 'a-*.pcap' | wc -l)" -gt 6 ]
}

@test "the umask holds, and a private file stays private" {
	(umask 027 && offline --out "$dir/own/run" --format json="$dir/own/r.json")
	[ "$(stat -c %a "$dir/own/r.json")" = 640 ]
	[ "$(stat -c %a "$dir/own/run")" = 700 ]
	[ "$(stat -c %a "$dir/own/run/snapshots")" = 700 ]
	[ "$(find "$dir/own/run" -type f ! -perm 640)" = '' ]
	chmod 600 "$dir/own/r.json"
	offline --format json="$dir/own/r.json"
	[ "$(stat -c %a "$dir/own/r.json")" = 600 ]
}

@test "standard output is -, its device is refused with that advice" {
	run -0 --separate-stderr "$rocecheck" collect -i lo --out -
	jq -e '.schema == "rocecheck.snapshot/1"' <<<"$output"
	[ ! -e - ]
	for path in /dev/stdout /dev/fd/1 /proc/self/fd/1 /dev/full; do
		run --separate-stderr "$rocecheck" collect -i lo --out "$path"
		echo "$stderr"
		[ "$status" -eq 3 ]
		[ -z "$output" ]
		grep -qF "$path: is a " <<<"$stderr"
		grep -qF -- '- for standard output' <<<"$stderr"
	done
}
