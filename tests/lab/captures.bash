# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How a bats file makes traffic from h1 to h2, lets the switch do something to it, records it, in the guests and at
# the switch, and reads what everybody counted. Beside guests.bash; `tmp` is a folder of the test.

ask()
{
	lab switch "$1" | jq -e .ok >/dev/null
}

# fault NAME KIND PORT DIRECTION [KEYS]: what the switch does wrong from now on; KEYS are more of it, as JSON.
fault()
{
	ask "{\"op\": \"fault\", \"add\": {\"name\": \"$1\", \"kind\": \"$2\", \"port\": \"$3\", \"direction\": \"$4\"${5:+, $5}}}"
}

hits()
{
	lab switch '{"op": "stats"}' | jq ".faults[\"$1\"].hits"
}

no_faults()
{
	ask '{"op": "fault", "clear": true}'
}

# set_port PORT KEY VALUE
set_port()
{
	ask "{\"op\": \"set\", \"path\": \"port.$1.$2\", \"value\": $3}"
}

# fast_pair NAME: the lab of the file is h1 and h2 with the profile, at a switch that is faster than they are.
fast_pair()
{
	own_lab "$1" tests/lab/topologies/two.yaml
	configured h1 h2
	set_port p1 rate '"10G"'
	set_port p2 rate '"10G"'
}

# mirror FILE SNAP PORT...: the switch copies what passes these ports.
mirror()
{
	local file=$1 snap=$2 port

	shift 2
	for port in p1 p2; do
		set_port $port mirror "$([[ " $* " == *" $port "* ]] && echo true || echo false)"
	done
	ask "{\"op\": \"mirror\", \"file\": \"$file\", \"snaplen\": $snap}"
}

# mirrored: the file is complete, and the switch says that it lost nothing.
mirrored()
{
	lab switch '{"op": "stats"}' | jq -e '.mirror.dropped == 0' >/dev/null
	ask '{"op": "mirror", "file": null}'
}

# record HOST NAME OPTION...: records into /tmp/NAME.* of that guest; comes back when it listens. What it says at its end
# is JSON, unless `format` is empty.
record()
{
	local host=$1 name=$2

	shift 2
	# shellcheck disable=SC2016 # for the guest's shell
	on "$host" env FORMAT="${format---json}" bash -ec 'name=$1; shift
		rocecheck $FORMAT capture record "$@" >/tmp/$name.json 2>/tmp/$name.err </dev/null &
		echo $! >/tmp/$name.pid
		for i in {1..600}; do
			grep -q recording /tmp/$name.err && exit 0
			kill -0 $! 2>/dev/null || break
			sleep 0.05
		done
		cat /tmp/$name.err; exit 1' record "$name" "$@"
}

# finished HOST NAME...: they are no more, within two minutes. What they said of themselves is in $tmp/NAME.json.
finished()
{
	local host=$1 name

	shift
	# shellcheck disable=SC2016 # for the guest's shell
	on "$host" bash -c 'for name; do
		for _ in {1..2400}; do kill -0 $(</tmp/$name.pid) 2>/dev/null || continue 2; sleep 0.05; done
		echo "$name does not end:"; cat /tmp/$name.err; exit 1
	done' finished "$@"
	for name; do
		on "$host" cat "/tmp/$name.json" >"$tmp/$name.json"
	done
}

# ended HOST NAME...: ends them as a user does.
ended()
{
	local host=$1

	shift
	# shellcheck disable=SC2016
	on "$host" bash -ec 'for name; do kill -TERM $(</tmp/$name.pid); done' ended "$@"
	finished "$host" "$@"
}

# tcpdumped HOST NAME FRAMES: tcpdump holds so many frames in /tmp/NAME.pcap, or will not any more, and is ended. What the
# kernel dropped of them, for want of room or of time, is in `dump_dropped`. It writes when it gets its turn, and what it
# has not read at its end it forgets.
tcpdumped()
{
	local n=0

	for _ in {1..240}; do
		n=$(on "$1" rocecheck --json capture stats "/tmp/$2.pcap" 2>/dev/null | jq .totals.frames) || true
		((${n:-0} < $3)) || break
		sleep 0.25
	done
	ended "$1" "$2"
	on "$1" cat "/tmp/$2.err" >"$tmp/$2.err"
	dump_dropped=$(awk '/dropped by kernel/ { print $1 }' "$tmp/$2.err")
	if ((${n:-0} < $3)); then
		echo "# tcpdump has ${n:-0} of $3 frames: $(tr '\n' ';' <"$tmp/$2.err")" | tee /dev/fd/3
	fi
	[ -n "$dump_dropped" ]
}

fetch()
{
	on "$1" cat "$2" >"$3"
}

# flow TOOL OPTION...: a client on h1, its server on h2; prints what they say when they fail, or take longer than `seconds`.
# Soft-RoCE arms its timer with one request and leaves it for the next ones: with nothing lost it retries when it runs
# out while one of these is under way. 2^20 * 4.096 us are longer than most that is done here; `ack_timeout` sets others.
flow()
{
	local tool=$1 server code=0 rdma=(-d rxe0 -x "${gid:-1}" --tclass 106 -u "${ack_timeout:-20}" -F)

	shift
	on h2 timeout "${seconds:-120}" "$tool" "${rdma[@]}" "$@" >"$tmp/server" 2>&1 &
	server=$!
	on h2 timeout 60 bash -c 'until ss -Hltn "sport = 18515" | grep -q .; do sleep 0.05; done'
	on h1 timeout "${seconds:-120}" "$tool" "${rdma[@]}" "$@" 198.18.0.2 >"$tmp/client" 2>&1 || code=$?
	wait $server || code=$?
	[ $code = 0 ] || cat "$tmp/client" "$tmp/server"
	return $code
}

# enough WHAT NUMBER COUNT FLOW...: makes the flow, up to ten times, until the command COUNT has grown by NUMBER. How often
# is the machine's: one that never makes so many is no fault of what is tested.
enough()
{
	local what=$1 number=$2 count=$3 begin now

	shift 3
	begin=$($count)
	for _ in {1..10}; do
		flow "$@"
		now=$($count)
		((now - begin < number)) || return 0
	done
	skip "needed $number $what, and got $((now - begin)) on this machine"
}

# sent_pauses: PFC frames of priority 3 that the switch has sent to h1.
sent_pauses()
{
	lab switch '{"op": "stats"}' | jq '.switches.leaf1.ports.p1.prio["3"] | .pfc_xoff_sent + .pfc_xon_sent'
}

# mirrored_frames: that the switch has copied so far.
mirrored_frames()
{
	lab switch '{"op": "stats"}' | jq .mirror.written
}

# counters NAME: all that the two hosts count, into $tmp/NAME.counters, one "h1.rdma.KEY value" a line.
counters()
{
	local host

	for host in h1 h2; do
		on $host bash -c 'rdma -j statistic show link rxe0/1; echo; ethtool -S roce0' |
			awk -v host=$host 'NR == 1 {
				gsub(/[][{}" ]/, ""); n = split($0, part, ",")
				for (i = 1; i <= n; i++) if (split(part[i], kv, ":") == 2) print host ".rdma." kv[1], kv[2]
				next
			}
			NF == 2 && $2 ~ /^[0-9]+$/ { sub(/:$/, "", $1); print host ".nic." $1, $2 }'
	done >"$tmp/$1.counters"
}

# counted KEY: since `counters before` until `counters after`.
counted()
{
	local before after

	before=$(awk -v key="$1" '$1 == key { print $2 }' "$tmp/before.counters")
	after=$(awk -v key="$1" '$1 == key { print $2 }' "$tmp/after.counters")
	if [ -z "$before" ] || [ -z "$after" ]; then
		echo "no counter $1" >&2
		return 1
	fi
	echo $((after - before))
}

# flows FILE KEY: the sum of a counter of all flows.
flows()
{
	[ -s "$1.stats" ] || build/rocecheck --json capture stats "$1" >"$1.stats"
	jq "[.flows[].$2] | add // 0" "$1.stats"
}

# total FILE KEY
total()
{
	[ -s "$1.stats" ] || build/rocecheck --json capture stats "$1" >"$1.stats"
	jq ".totals.$2" "$1.stats"
}

# equal WHAT WANTED GOT: says so, and it is.
equal()
{
	echo "$1: wanted $2, got $3"
	[ "$2" = "$3" ]
}
