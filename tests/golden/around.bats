#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# validate --around: the hosts are replayed by around/start, the jobs are commands of this host.
# GOLDEN_UPDATE=1 writes around/lossy.out anew; read the diff before you commit it.
bats_require_minimum_version 1.5.0
load ../record

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rc=$PWD/build/rocecheck
	umask 022 # a run folder that the group may write to is refused
	export AROUND_DIR=$BATS_TEST_TMPDIR
	AROUND_BUILD=$("$rc" --version | cut -d ' ' -f 2)
	export AROUND_BUILD
	dir=$BATS_TEST_TMPDIR
	cat >"$dir/fabric.yaml" <<-END
		schema: rocecheck.fabric/1
		name: cluster
		profile: ./profile.yaml
		launcher: '$PWD/tests/golden/around/start {host}'
		agent: rocecheck
		hosts:
		  - {name: 'h[1-2]', ports: [{interface: eth2}]}
	END
	cat >"$dir/profile.yaml" <<-END
		schema: rocecheck.profile/1
		name: site
		intent: lossless
		trust: dscp
		app: {dscp: {24-26: 3, 48: 6}}
		pfc: {enabled: [3]}
		mtu: {netdev: 9000}
		rdma: {cm_default_tos: {dscp: 26, ecn: ect0}}
	END
}

# around OPTION... -- CMD...
around() {
	"$rc" validate "$dir/fabric.yaml" --around --out "$dir/run" --allow-inconclusive RC-PFC-004 "$@"
}

# verdicts RULE: of each host in the last run.
verdicts() {
	jq -r --arg rule "$1" '[.findings[] | select(.rule == $rule) | .host + " " + .verdict] | sort | join(", ")' "$dir/run/report.json"
}

# DSCP 0: RDMA leaves on priority 0 at h1, and arrives on it at h2.
dscp_0() {
	echo '.when_ns += 1000000000 | .rdma_tx_bytes += 9000000 | .prio_tx_bytes[0] += 9900000' >"$dir/h1.jq"
	echo '.when_ns += 1000000000 | .rdma_rx_bytes += 9000000 | .prio_rx_bytes[0] += 9900000' >"$dir/h2.jq"
}

@test "mistakes on the command line: exit 2, and no host is asked" {
	for words in "--around" "f.yaml --around" "--around -- "; do
		# shellcheck disable=SC2086
		run -2 "$rc" validate $words
		[[ $output == *"--around needs FABRIC.yaml and the command of a job"* ]]
	done
	for words in "--no-traffic" "--maintenance 3" "--schedule ring" "--from $dir"; do
		# shellcheck disable=SC2086
		run -2 "$rc" validate "$dir/fabric.yaml" --around $words -- true
		[[ $output == *"--around excludes"* ]]
	done
	run -2 "$rc" validate "$dir/fabric.yaml" --around true -x
	[ ! -e "$dir/log" ]
}

@test "a job on the RoCE priority: exit 0, the job has the standard streams, nothing but counters is asked" {
	# shellcheck disable=SC2016
	run -0 --separate-stderr around -- sh -c 'read -r word; echo "out $word"; echo "err $word" >&2; ls /proc/self/fd | wc -l; sleep 1' <<<hello
	echo "$output" "$stderr"
	# No descriptor of rocecheck: as many as here.
	[[ $output == "out hello"$'\n'$(sh -c 'ls /proc/self/fd | wc -l')$'\n'"PASS"*"around the job: sh -c 'read -r word; "*"(exit code 0)"* ]]
	[[ $stderr == *"err hello"* ]]
	[ "$(verdicts RC-QOS-020)" = "h1 PASS, h2 PASS" ]
	[ "$(verdicts RC-META-012)" = " PASS" ]
	[ "$(verdicts RC-TRN-001)" = "h1 PASS, h2 PASS" ]
	[ "$(cut -d ' ' -f 2 "$dir/log" | sort -u | tr '\n' ' ')" = "collect counters quit users " ]
	# Twice before and after; and while the job runs, after 0.5 s.
	[ "$(grep -c collect "$dir/log")" -eq 4 ]
	[ "$(grep -c users "$dir/log")" -ge 2 ]
	jq -e '.job.exit_code == 0 and (.job.command | startswith("sh -c ")) and .traffic == false and .pairs == [] and
		all(.hosts[].ports[]; .users[0] == "2 queue pairs of python3 (pid 812, user alice)" and
		(.readings | keys == ["load_after", "load_before"]))' <(record_of "$dir/run")
}

@test "a job that sends DSCP 0: exit 1 with both directions, its processes, and what to set; the same offline" {
	dscp_0
	run -1 --separate-stderr around -- sleep 1
	# Without the numbers of checks: they grow with each new rule.
	output=$(sed "s/run [0-9TZ]*-[0-9a-f]*/run ID/; s#$dir#DIR#; s/^[0-9]* checks skipped/N checks skipped/; s/^[0-9]* checks: .*\. Exit/N checks. Exit/" <<<"$output")
	[ -z "${GOLDEN_UPDATE:-}" ] || echo "$output" >tests/golden/around/lossy.out
	diff tests/golden/around/lossy.out - <<<"$output"
	jq -e '.run.job == {command: "sleep 1", exit_code: 0, stopped: false}' "$dir/run/report.json"
	run -1 --separate-stderr "$rc" validate "$dir/fabric.yaml" --from "$dir/run" --json --allow-inconclusive RC-PFC-004
	diff <(jq -S '[.findings[] | [.rule, .verdict, .host, .text]]' "$dir/run/report.json") \
		<(jq -S '[.findings[] | [.rule, .verdict, .host, .text]]' <<<"$output")
}

@test "a job that fails: its exit code is in the report, exit 4; with a finding 1" {
	run -4 --separate-stderr around -- false
	echo "$output"
	[[ $output == INCOMPLETE* ]]
	[[ $output == *"around the job: false (exit code 1)"* ]]
	[[ $output == *"RC-META-012  fabric: the job failed with exit code 1"* ]]
	run -4 --separate-stderr around -- sh -c 'kill -9 $$'
	[[ $output == *"the job failed with exit code 137"* ]]
	dscp_0
	run -1 --separate-stderr around -- sh -c 'exit 3'
	[[ $output == *"RC-META-012"*"the job failed with exit code 3"* ]]
}

@test "a command that cannot be started: exit 3, and no report" {
	run -3 --separate-stderr around -- /nonexistent/mpirun
	[ -z "$output" ]
	[[ $stderr == *"cannot start '/nonexistent/mpirun': No such file or directory"* ]]
}

@test "a job without RDMA: exit 4, and no port passes" {
	for h in 1 2; do
		echo '.when_ns += 1000000000 | .rdma_tx_bytes += 900 | .prio_tx_bytes[0] += 90000000' >"$dir/h$h.jq"
	done
	run -4 --separate-stderr around -- true
	[[ $output == *"RC-META-012  fabric: no port of the inventory had RDMA while the job ran"* ]]
	[ "$(verdicts RC-QOS-020)" = "h1 SKIP, h2 SKIP" ]
}

@test "ports that count no bytes by priority: exit 4 with the reason" {
	echo 'del(.prio_tx_bytes, .prio_rx_bytes) | .rdma_tx_bytes += 9000000' >"$dir/h1.jq"
	run -4 --separate-stderr around -- sleep 1
	[ "$(verdicts RC-QOS-020)" = "h1 INCONCLUSIVE, h2 PASS" ]
	[[ $output == *"this port counts no bytes by priority"* ]]
}

@test "losses of the job's time are judged by the rules of a load" {
	echo '.when_ns += 1000000000 | .rdma_tx_bytes += 9000000 | .prio_tx_bytes[3] += 9900000 | .out_of_sequence += 5' >"$dir/h1.jq"
	run -1 --separate-stderr around -- sleep 1
	[ "$(verdicts RC-TRN-001)" = "h1 FAIL, h2 PASS" ]
	[ "$(verdicts RC-QOS-011)" = "h1 SKIP, h2 SKIP" ]
}

# interrupted SIGNAL PROGRAM...: sends it to rocecheck alone once the job runs.
interrupted() {
	local signal=$1

	shift
	rm -f "$dir/began"
	# shellcheck disable=SC2016
	run --separate-stderr env --default-signal="$signal" bash -c 'at=$1 signal=$2; shift 2; "$@" & pid=$!
		for ((i = 0; i < 100; i++)); do [ ! -e "$at" ] || break; sleep 0.1; done
		kill -"$signal" $pid; wait $pid' - "$dir/began" "$signal" env --default-signal="$signal" \
		"$rc" validate "$dir/fabric.yaml" --around --out "$dir/run" --allow-inconclusive RC-PFC-004 -- "$@"
	echo "$status" "$output" "$stderr"
}

@test "an interrupt ends a job that hangs, and what was learnt is reported: exit 4" {
	SECONDS=0
	# shellcheck disable=SC2016
	for signal in INT TERM; do
		interrupted $signal sh -c ': >"$AROUND_DIR/began"; exec sleep 600'
		[ "$status" -eq 4 ]
		[[ $output == *"RC-META-012  fabric: the job was stopped before its end"* ]]
		[ "$(verdicts RC-QOS-020)" = "h1 PASS, h2 PASS" ]
		jq -e '.job.stopped and .job.exit_code > 128' <(record_of "$dir/run")
	done
	((SECONDS < 60))
	dscp_0
	# shellcheck disable=SC2016
	interrupted INT sh -c 'trap "exit 0" INT; : >"$AROUND_DIR/began"; while :; do sleep 0.1; done'
	[ "$status" -eq 1 ]
	[[ $output == *"(exit code 0)"* ]]
}

@test "a host that is lost while the job runs: named, the job runs on, the others are judged" {
	# shellcheck disable=SC2016
	echo 'echo "{\"hello\":\"rocecheck.agent/1\",\"build\":\"$AROUND_BUILD\"}"; sleep 1; echo gone >&2; exit 7' >"$dir/h2.sh"
	# shellcheck disable=SC2016
	run --separate-stderr around -- sh -c 'sleep 2; : >"$AROUND_DIR/done"'
	((status == 4))
	[ -e "$dir/done" ]
	jq -e '[.findings[] | select(.rule == "RC-META-007" and .verdict == "FAIL") | .host] == ["h2"]' "$dir/run/report.json"
	[ "$(verdicts RC-QOS-020)" = "h1 PASS" ]
}

@test "hostile users: no control of the terminal; more than there is room for are counted" {
	dscp_0
	printf '[range(20) | "1 queue pair of \\u001b[2J%%(.) (pid %%(.))"]' | tr % '\\' >"$dir/users"
	run -1 --separate-stderr around -v -- sleep 1
	echo "$output"
	[[ $output == *"1 queue pair of "*"[2J0 (pid 0)"*"and 12 more with queue pairs"* ]]
	run ! grep -q $'\033' <<<"$output$stderr"
	echo '[7]' >"$dir/users"
	run -1 --separate-stderr around -- sleep 1
	[[ $output == *"no process had queue pairs here when it was asked"* ]]
}

@test "Ctrl-C at the terminal reaches the job once" {
	# shellcheck disable=SC2016
	echo 'trap "echo INT >>$AROUND_DIR/interrupts" INT; : >"$AROUND_DIR/began"; for i in {1..20}; do sleep 0.1; done' >"$dir/job"
	timeout 60 python3 - "$dir/began" "$rc" validate "$dir/fabric.yaml" --around --out "$dir/run" -- bash "$dir/job" <<'PY'
import os, pty, sys, time
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
os.write(fd, b"\x03")
try:
    while os.read(fd, 65536):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 4)
PY
	[ "$(cat "$dir/interrupts")" = INT ]
	jq -e '.job.stopped and all(.hosts[]; .after)' <(record_of "$dir/run")
}
