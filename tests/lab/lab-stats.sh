# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of `lab` that shows what the switch counts: a line for each port and priority that has carried
# something. Rates are over the last second; all else is counted since the switch began. Sourced.

# rows: two statistics, a second apart, as lines of tab-separated fields.
stats_rows()
{
	jq -rn --slurpfile d /dev/stdin '
		$d[0] as $old | $d[1] as $new | ([$new.time_ms - $old.time_ms, 1] | max / 1000) as $s
		| ($new.switches | to_entries[]) as $box | ($box.value.ports | to_entries[]) as $port
		| [$port.value.prio | to_entries[]
			| select(.value | .rx_frames + .tx_frames + .dropped + .pfc_xoff_sent + .pfc_received > 0)] as $used
		| ($used + (if $used == [] then [{key: "-", value: null}] else [] end))[]
		| .value as $n | $old.switches[$box.key].ports[$port.key].prio[.key] as $o
		| [$box.key, $port.key, .key] + if $n == null then [if $port.value.link == "up" then "idle" else "no link" end]
			else [($n.rx_bytes - $o.rx_bytes) / $s, ($n.tx_bytes - $o.tx_bytes) / $s,
				$n.dropped, ($n.dropped - $o.dropped) / $s, $n.ecn_marked, $n.pfc_xoff_sent, $n.pfc_received,
				($n.paused_ns - $o.paused_ns) / $s / 1e7, $n.queue_bytes, $n.ingress_max_bytes] end
		| map(tostring) | join("\t")'
}

stats_table()
{
	stats_rows | awk -F '\t' '
		BEGIN { printf "%-7s %-5s %4s %7s %7s %7s %7s %7s %7s %7s %6s %8s %7s\n", "SWITCH", "PORT", "PRIO",
			"RX MB/s", "TX MB/s", "DROPS", "DROPS/s", "ECN", "XOFFout", "PFCin", "PAUSED", "QUEUE kB", "PEAK kB" }
		NF == 4 { printf "%-7s %-5s %4s %s\n", $1, $2, $3, $4; next }
		{ printf "%-7s %-5s %4s %7.2f %7.2f %7d %7d %7d %7d %7d %5.0f%% %8.0f %7.0f\n", $1, $2, $3,
			$4 / 1e6, $5 / 1e6, $6, $7, $8, $9, $10, $11, $12 / 1e3, $13 / 1e3 }'
}

# Faults that are under way, for who wonders at what is above.
stats_faults()
{
	jq -r '.faults[] | select(.active) | "fault \(.name) (\(.kind)) on \(.port): \(.hits) of \(.seen) frames"'
}

stats()
{
	local watch='' old new text clear='' columns=500

	[ "${1:-}" != --watch ] || { watch=1; shift; }
	[ $# = 0 ] || die 2 "usage: lab stats [--watch]"
	[ -z "$watch" ] || [ ! -t 1 ] || clear=$'\e[H\e[J'
	old=$(ask_switch '{"op":"stats"}') || exit
	while sleep 1; do
		new=$(ask_switch '{"op":"stats"}') || exit
		[ -z "$clear" ] || columns=$(stty size </dev/tty | cut -d' ' -f2) || exit
		text=$(stats_table <<<"$old$new" && stats_faults <<<"$new")
		printf '%s%s\n' "$clear" "$(cut -c "1-$columns" <<<"$text")"
		[ -n "$watch" ] || return 0
		old=$new
	done
}
