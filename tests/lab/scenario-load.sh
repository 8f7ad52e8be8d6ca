# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `scenario` that makes load beside a command, or instead of one: perftest from one or more
# hosts to one, and ping. Each load is a process here; its results go to load.N.json of the scenario's
# folder: {"h1": {"exit": 0, "mb_s": 3.7}, ...} by sender.

# In guests: how long a load that meets a broken fabric may hang beyond its time.
load_margin=25

on()
{
	local host=$1

	shift
	"$lab" run "$host" -- "$@"
}

address_of()
{
	echo "198.18.$2.${1#h}"
}

# device_of HOST RAIL: the RDMA device of its wire.
device_of()
{
	of ".ports.${1}[$2].rdma"
}

# perftest NUMBER KIND TO SECONDS TOS SIZE QPS RAIL FROM...: servers on the receiver, then all clients
# at once.
perftest()
{
	local n=$1 kind=$2 to=$3 seconds=$4 tos=$5 size=$6 qps=$7 rail=$8 port=$((1000 + $1 * 10)) ports='' from
	local -a args

	shift 8
	args=(-x 1 --tclass "$tos" -s "$size" -q "$qps" -D "$seconds" -u 18)
	for from in "$@"; do
		port=$((port + 1))
		ports+=" or sport = $port"
		on "$to" timeout $((seconds + load_margin)) "ib_${kind}_bw" -d "$(device_of "$to" "$rail")" "${args[@]}" \
			-p $port >"$folder/load.$n.$from.server" 2>&1 &
	done
	on "$to" sh -c "for i in \$(seq 100); do
		[ \$(ss -Htln '${ports# or }' | wc -l) = $# ] && exit 0; sleep 0.1; done; exit 1"
	port=$((port - $#))
	for from in "$@"; do
		port=$((port + 1))
		on "$from" timeout $((seconds + load_margin)) "ib_${kind}_bw" -d "$(device_of "$from" "$rail")" \
			"${args[@]}" -p $port "$(address_of "$to" "$rail")" >"$folder/load.$n.$from" 2>&1 &
		senders+=($!)
	done
}

# What perftest says of its bandwidth, in MiB/s, or ping of its loss.
read_sender()
{
	awk '/packet loss/ {sub("%", ""); for (i = 2; i <= NF; i++) if ($(i + 1) == "packet") print "lost_percent", $i}
		$1 ~ /^[0-9]+$/ && NF == 5 {print "mb_s", $4}' "$1" | tail -n1
}

# end_senders NUMBER FROM...: their exit codes and what they say.
end_senders()
{
	local n=$1 from code

	shift
	for from in "$@"; do
		code=0
		wait "${senders[0]}" || code=$?
		senders=("${senders[@]:1}")
		jq -nc --arg host "$from" --argjson code $code --arg said "$(read_sender "$folder/load.$n.$from")" \
			'($said / " ") as [$key, $value] | {($host): ({exit: $code}
				+ if $value == null then {} else {($key): ($value | tonumber)} end)}' >>"$folder/load.$n.parts"
	done
	jq -s add "$folder/load.$n.parts" >"$folder/load.$n.json"
}

# pings NUMBER TO SECONDS TOS SIZE INTERVAL RAIL FROM...: by their number, for what is under way at a deadline counts as
# lost.
pings()
{
	local n=$1 to=$2 seconds=$3 tos=$4 size=$5 interval=$6 rail=$7 from count

	shift 7
	count=$(awk -v seconds="$seconds" -v interval="$interval" 'BEGIN { printf "%d", seconds / interval }')
	for from in "$@"; do
		on "$from" timeout $((seconds + load_margin)) ping -q -Q "$tos" -s "$size" -i "$interval" -c "$count" -W 2 \
			"$(address_of "$to" "$rail")" >"$folder/load.$n.$from" 2>&1 &
		senders+=($!)
	done
}

# load NUMBER: the load of this number, to its end.
load()
{
	local n=$1 kind to seconds after tos size qps interval rail from senders=()

	IFS=$'\t' read -r kind to seconds after tos size qps interval rail from < <(
		jq -r --argjson n "$n" '.load[$n] | [.kind, .to, .seconds, .after, .tos, .size, .qps, .interval, .rail,
			(.from | join(" "))] | @tsv' "$folder/scenario.json")
	sleep "$after"
	# shellcheck disable=SC2086
	case $kind in
	ping) pings "$n" "$to" "$seconds" "$tos" "$size" "$interval" "$rail" $from ;;
	*) perftest "$n" "$kind" "$to" "$seconds" "$tos" "$size" "$qps" "$rail" $from ;;
	esac
	# shellcheck disable=SC2086
	end_senders "$n" $from
	wait
}

start_loads()
{
	local n count

	count=$(jq '.load | length' "$folder/scenario.json")
	loads=()
	for ((n = 0; n < count; n++)); do
		load "$n" &
		loads+=($!)
	done
}

# Waits for all loads; a sender that failed and may not is a complaint.
end_loads()
{
	local pid n

	for pid in "${loads[@]}"; do
		wait "$pid" || true
	done
	for n in "${!loads[@]}"; do
		[ -s "$folder/load.$n.json" ] || echo '{}' >"$folder/load.$n.json"
		jq -r --argjson n "$n" --slurpfile got "$folder/load.$n.json" '.load[$n] | select(.may_fail | not)
			| .from[] | . as $host | $got[0][$host] | select(.exit != 0)
			| "load \($n): \($host) ended with \(.exit // "nothing"), see load.\($n).\($host)"' \
			"$folder/scenario.json" >>"$folder/complaints"
	done
	for n in "${!loads[@]}"; do
		cat "$folder/load.$n.json"
	done | jq -s . >"$folder/load.json"
}
