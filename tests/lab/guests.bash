# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How a bats file speaks with its lab. Run from the root of the tree; LAB_DIR says which lab.

# What a lab leaves running must not keep bats' own descriptor. No command takes that long: one that waits for what
# does not come fails its test, with its name. Of a guest that died `lab down` says so, past what bats keeps to itself.
lab()
{
	local out=1

	[ "${1:-}" != down ] || [ -z "${BATS_VERSION:-}" ] || out=3
	timeout 400 tests/lab/lab "$@" >&$out 3>&-
}

# on HOST COMMAND...: in a guest.
on()
{
	local host=$1

	shift
	lab run "$host" -- "$@"
}

# both COMMAND...: in each guest.
both()
{
	on h1 "$@" && on h2 "$@"
}

# own_lab NAME ARGUMENT...: a lab of this file alone is up, in build/NAME or where an absolute NAME says; ARGUMENTs are
# those of `lab up`.
own_lab()
{
	at_root
	case $1 in
	/*) export LAB_DIR=$1 ;;
	*) export LAB_DIR=$PWD/build/$1 ;;
	esac
	shift
	lab down
	lab up "$@"
}

lab_ends()
{
	at_root
	lab down
}

# at_root: where the files run, at the root of the tree.
at_root()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# configured HOST...: by the profile lab, side by side.
configured()
{
	local pids=() pid host

	for host; do
		on "$host" rocecheck apply lab --auto-approve --accept-unproven >"$BATS_FILE_TMPDIR/apply-$host" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || { cat "$BATS_FILE_TMPDIR"/apply-*; return 1; }
	done
}

# inventory FILE: that of tests/lab, with the hosts of this lab.
inventory()
{
	sed "s#\.\./\.\./build/lab#$LAB_DIR#" "tests/lab/$1"
}

# within LOW VALUE HIGH
within()
{
	awk -v l="$1" -v v="$2" -v h="$3" 'BEGIN { exit !(l <= v && v <= h) }' ||
		{ echo "$2 is not within $1 to $3"; return 1; }
}

# write_behind SECONDS: RC WRITE from h1 to h2 on DSCP 26, in the background.
write_behind()
{
	local args=(ib_write_bw -d rxe0 -x 1 --tclass 106 -s 65536 -u 18 -D "$1")

	on h2 timeout 60 "${args[@]}" >/dev/null 2>&1 3>&- &
	on h2 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.1; done'
	on h1 timeout 60 "${args[@]}" h2 >/dev/null 2>&1 3>&- &
}
