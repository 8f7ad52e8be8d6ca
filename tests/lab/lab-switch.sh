# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `lab` that knows switches: one process plays all switches of a topology file, its ports
# are the other ends of the guests' wires. Sourced; dir, tree, topology and say/die are lab's.

# The switch is known by its pid file's name in its arguments, as a guest is.
switch_pid()
{
	local pid

	pid=$(cat "$dir/switch.pid" 2>/dev/null) || return 1
	[ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$dir/topology.yaml" &&
		echo "$pid"
}

stop_switch()
{
	local pid path

	pid=$(switch_pid) || pid=
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait_gone "$pid"
	fi
	rm -f "$dir/switch.pid"
	path=$(sockets) || return 0
	# Of one that was killed; its captures are kept.
	rm -f "$path"/*.sw "$path/control"
	! compgen -G "$path/*.pcapng" >/dev/null || mv "$path"/*.pcapng "$dir/"
}

# One process for all switches of the topology; socket paths of the file are relative to the sockets.
start_switch()
{
	local i path

	path=$(sockets)
	[ "$topology" = "$dir/topology.yaml" ] || cp "$topology" "$dir/topology.yaml"
	(cd "$path" && exec "$tree/build/labswitch" "$dir/topology.yaml" </dev/null >"$dir/switch.log" 2>&1 9>&-) &
	echo $! >"$dir/switch.pid"
	for i in {1..50}; do
		[ ! -S "$path/control" ] || return 0
		kill -0 "$(cat "$dir/switch.pid")" 2>/dev/null || break
		sleep 0.1
	done
	sed 's/^/lab: switch: /' "$dir/switch.log" >&2
	die 3 "the switch does not start. Its log: $dir/switch.log"
}

# The other end of a guest's wire: its port of the switch, or the other guest.
wire_peer()
{
	if [ -n "$topology" ]; then
		echo "$1.sw"
	else
		echo "h$((3 - ${1#h})).wire"
	fi
}

# read_topology FILE: checks it; its guests go to hosts, wires and bonds. They must be h1 to hN.
read_topology()
{
	local host list n mode

	[ -x "$tree/build/labswitch" ] || die 3 "build/labswitch is missing. Next: make"
	topology=$(realpath "$1")
	list=$("$tree/build/labswitch" --hosts "$topology") ||
		die 2 "$1 is no topology. Next: see tests/lab/topologies/ and tests/lab/switch/README.md"
	grep -qx 'control: control' "$topology" || die 2 "$1: 'control: control' is missing"
	while read -r host n mode; do
		[ -n "$host" ] || die 2 "$1: no port has 'remote: h1.wire'"
		hosts+=("$host")
		wires[$host]=$n
		bonds[$host]=$mode
	done < <(sort <<<"$list")
	[ "${hosts[*]}" = "${all_hosts[*]:0:${#hosts[@]}}" ] ||
		die 2 "$1: ${#hosts[@]} guests must be h1 to h${#hosts[@]}, not ${hosts[*]}"
}

ask_switch()
{
	[ $# = 1 ] || die 2 "usage: lab switch JSON"
	switch_pid >/dev/null || die 255 "no switch runs in $dir. Next: lab up TOPOLOGY.yaml"
	exec "$tree/build/labswitch" ctl "$(sockets)/control" "$1"
}
