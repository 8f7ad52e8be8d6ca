#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of large fabrics, judged offline: what is equal on many hosts is printed once, with the hosts as
# a node set; JSON and -v have all of it. Needs no privilege.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME" || exit 1
	rc=$(realpath "${ROCECHECK:-../../build/rocecheck}")
	export ROCECHECK_PROFILES=$PWD/../../profiles
	dir=$BATS_TEST_TMPDIR
	mkdir "$dir/snapshots"
}

# snapshots HOSTS PORTS [CHANGE]: of h1 to hHOSTS with healthy ports roce0 and so on; CHANGE is jq over a
# port of host $h.
snapshots() {
	jq -cn --argjson hosts "$1" --argjson ports "$2" --slurpfile base doctor/right.json '
		$base[0].ports[0] as $port | ([$port.qos.app.dscp | to_entries[] | select(.value == 3)] | from_entries) as $dscp |
		range(1; $hosts + 1) as $h | ($h + 10000 | tostring) as $n |
		$base[0] + {host: "h\($h)", ports: [range($ports) as $p |
			"10.\($p).\($h / 250 | floor).\($h % 250 + 1)" as $v4 | "fe80::\($h):\($p + 1)" as $v6 |
			$port + {netdev: "roce\($p)", ibdev: "mlx5_\($p)", bus: "0000:1\($p):00.0",
				mac: "02:00:00:\($n[1:3]):\($n[3:5]):0\($p)", addresses: [$v4, $v6]} |
			.gids |= map(.gid = if .gid | startswith("fe80") then $v6 else "::ffff:\($v4)" end) |
			.seat += {bdf: "0000:1\($p):00.0", subnets: [{cidr: "10.\($p).0.0/16"}]} |
			'"${3:-.}"']}' | split -l 1 -a 4 -d --additional-suffix=.json - "$dir/snapshots/"
}

# validate ARGS...: what a user sees on stdout.
validate() {
	run --separate-stderr "$rc" validate --from "$dir/snapshots" --profile nvidia-nvue-lossless \
		--allow-inconclusive RC-PFC-004 "$@"
	echo "$output" | head -60
}

@test "2,000 healthy hosts of 8 ports: fewer than 40 lines" {
	snapshots 2000 8
	validate
	[ "$status" -eq 0 ]
	[ "$(wc -l <<<"$output")" -lt 40 ]
	grep -q '^h\[1-2000\]  *roce\[0-7\]  *mlx5_\[0-7\]  *4096 .* PASS$' <<<"$output"
	grep -q '^h\[1-2000\]  *(host) .* PASS$' <<<"$output"
	[ "$(grep -cE '^h.* (PASS|FAIL|INCOMPLETE)$' <<<"$output")" -eq 2 ]
	grep -q '^  RC-PFC-004  h\[1-2000\] roce\[0-7\]: ' <<<"$output"
	grep -qx 'h\[1-3\]: h1, h2 and h3.' <<<"$output"
}

@test "200 hosts with one wrong PFC mask: one finding; JSON and -v have 200" {
	snapshots 300 1 'if $h <= 200 then .qos.pfc.enabled = [4] else . end'
	validate --format json="$dir/report.json"
	[ "$status" -eq 1 ]
	[ "$(grep -c '^FAIL  RC-' <<<"$output")" -eq 1 ]
	grep -q '^FAIL  RC-PFC-002  h\[1-200\] roce0 prio 3: pfc.enabled is \[4\], the profile wants \[3\]$' <<<"$output"
	grep -q '^      advice       on h\[1-200\]: ' <<<"$output"
	grep -q '^      -> FAIL RC-PFC-003 h\[1-200\] roce0: ' <<<"$output"
	grep -q '^h\[1-200\]  *roce0 .* FAIL$' <<<"$output"
	grep -q '^h\[201-300\]  *roce0 .* PASS$' <<<"$output"
	grep -q ' failed (1 root cause)' <<<"$output"
	[ "$(wc -l <<<"$output")" -lt 40 ]
	jq -e '[.findings[] | select(.rule == "RC-PFC-002" and .verdict == "FAIL") | .host] | unique | length == 200' "$dir/report.json"
	validate -v
	[ "$(grep -c '^FAIL  RC-PFC-002  h[0-9]* roce0 ' <<<"$output")" -eq 200 ]
	[ "$(grep -c '^h[0-9]*  *roce0 ' <<<"$output")" -eq 300 ]
}

@test "other texts on each of many hosts: three, and the number and hosts of the others" {
	snapshots 100 1 'if $h <= 40 then .qos.mtu.netdev = 1500 else . end'
	validate
	[ "$status" -eq 1 ]
	grep -q '^FAIL  RC-MTU-001  h\[1-40\] roce0 prio 3: the MTU differs' <<<"$output"
	grep -q '^      \[X\] mtu.netdev is 1500 on h1 roce0$' <<<"$output"
	grep -q '^      (evidence of h1 roce0 only; -v prints that of the 39 others)$' <<<"$output"
	rm "$dir"/snapshots/*
	snapshots 100 1 'if $h <= 40 then .qos.mtu.netdev = 1000 + $h else . end'
	validate
	[ "$(grep -c '^FAIL  RC-MTU-001  h[123] ' <<<"$output")" -eq 3 ]
	grep -q '^FAIL  RC-MTU-001  37 more on h\[4-40\]: -v prints them$' <<<"$output"
	[ "$(wc -l <<<"$output")" -lt 50 ]
	validate -v
	[ "$(grep -c '^FAIL  RC-MTU-001  h[0-9]* roce0 ' <<<"$output")" -eq 40 ]
	run ! grep -q -e '-v prints' <<<"$output"
}

@test "a node set of many ranges is wrapped, and cut except with -v" {
	snapshots 300 1 'if $h % 3 == 0 then .qos.pfc.enabled = [4] else . end'
	validate
	[ "$(grep -c '^FAIL  RC-' <<<"$output")" -eq 1 ]
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<<"$output")" -le 100 ]
	grep -q "237\] and 50 more roce0 " <<<"$output"
	validate -v
	[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<<"$output")" -le 100 ]
	run ! grep -q 'and [0-9]* more roce0' <<<"$output"
}

@test "ports of another name on each of many hosts: 24 rows, and the number and hosts of the others" {
	snapshots 60 1 '.netdev = "e\($h)"'
	validate
	[ "$status" -eq 0 ]
	[ "$(grep -c '^h[0-9]*  *e[0-9]* .* PASS$' <<<"$output")" -eq 24 ]
	grep -q '^PASS  36 more rows of h\[[0-9,-]*\]: -v prints them$' <<<"$output"
	grep -q '^  RC-PFC-004  h1 e1, .* and 54 more: no' <<<"$output"
	validate -v
	[ "$(grep -c '^h[0-9]*  *e[0-9]* .* PASS$' <<<"$output")" -eq 60 ]
	grep -zq 'RC-PFC-004  h1 e1, [he0-9,[:space:]]*: no' <<<"$output"
}

@test "hosts without an answer: one finding, and their ports were not checked" {
	cat >"$dir/fleet.yaml" <<-END
		schema: rocecheck.fabric/1
		name: fleet
		profile: lab
		engine: local
		agent: /nonexistent/rocecheck
		hosts: [{name: 'h[1-20]', ports: [{interface: lo}]}]
	END
	run --separate-stderr "$rc" validate "$dir/fleet.yaml" --no-traffic --out "$dir/run"
	echo "$output $stderr"
	[ "$status" -eq 4 ]
	[ "$(grep -c 'RC-META-007' <<<"$output")" -eq 1 ]
	grep -q '^INCOMPLETE  RC-META-007  h\[1-20\]: not reached: ' <<<"$output"
	grep -q '^h\[1-20\] .* INCOMPLETE$' <<<"$output"
	rm -r "$dir/run"
	sed -i 's/{interface: lo}/&, {interface: lo2}/' "$dir/fleet.yaml"
	run --separate-stderr "$rc" validate "$dir/fleet.yaml" --no-traffic --out "$dir/run"
	grep -q '^h\[1-20\] .*  lo,lo2 .* not checked$' <<<"$output"
	[ "$(jq '[.findings[] | select(.rule == "RC-META-007")] | length' "$dir/run/report.json")" -eq 20 ]
}
