#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# rocecheck doctor over snapshots: what it finds, its exit codes, its formats, the environment it prints. Needs no
# RDMA device and no privilege.
bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	rocecheck=${ROCECHECK:-$PWD/build/rocecheck}
	snaps=tests/golden/snapshots
	dir=$BATS_TEST_TMPDIR
}

# refused TEXT ARGS...: exit 2, nothing on stdout, TEXT on stderr.
refused()
{
	local text=$1

	shift
	run --separate-stderr "$rocecheck" doctor "$@"
	echo "$output" "$stderr"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	grep -qF -- "$text" <<<"$stderr"
}

@test "mistakes on the command line are exit 2" {
	refused "unexpected argument 'b'" lab b
	refused 'give one' lab --profile lab
	refused 'not both' --from "$snaps/iwarp.json" --listen 5
	refused "unknown rule 'RC-PFC-999'" --allow-inconclusive RC-PFC-999
	refused 'xml' --format xml
	refused 'no shipped profile' nonesuch
	refused 'No such file' --from "$dir/none.json"
}

# golden NAME CODE ARGS...: stdout is tests/golden/doctor/NAME.txt.
golden()
{
	local name=$1 code=$2

	shift 2
	run "-$code" --separate-stderr "$rocecheck" --color never doctor "$@"
	[ -z "$stderr" ]
	diff -u "tests/golden/doctor/$name.txt" - <<<"$output"
}

@test "a host of two rails that is set right: exit 0" {
	golden right 0 --from tests/golden/doctor/right.json nvidia-nvue-lossless
}

@test "the same host set wrong: every fault by its rule, consequences below their causes" {
	golden wrong 1 --from tests/golden/doctor/wrong.json nvidia-nvue-lossless
}

@test "without a profile: what is wrong whatever is wished" {
	golden wrong-no-profile 1 --from tests/golden/doctor/wrong.json
	"$rocecheck" doctor --from tests/golden/doctor/right.json --json | jq -e '.profile == null and .exit_code == 0'
}

@test "one port alone; --fail-on warn" {
	local from=tests/golden/doctor/wrong.json

	run -1 --separate-stderr "$rocecheck" doctor --from "$from" -i mlx5_1 --json
	jq -e 'all(.findings[]; .port == "" or .port == "enp133s0f0np0")' <<<"$output"
	jq 'del(.machine.lldpad, .machine.owners) | .machine.memlock_bytes = null | .machine.ipc_lock = null' \
		"$from" >"$dir/warn.json"
	run -4 --separate-stderr "$rocecheck" doctor --from "$dir/warn.json" -i mlx5_1
	grep -qx '      not PASS: evidence is missing for RC-HST-005' <<<"$output"
	run -0 --separate-stderr "$rocecheck" doctor --from "$dir/warn.json" -i mlx5_1 --allow-inconclusive RC-HST-005
	[[ $output == "PASS with "*" warnings  "* ]]
	grep -q '      this PASS has no evidence for .*RC-HST-005' <<<"$output"
	run -1 --separate-stderr "$rocecheck" doctor --from "$dir/warn.json" -i mlx5_1 --fail-on warn
}

@test "a link partner in the snapshot is compared, one that nobody listened for is not" {
	jq '.ports[0].peer = {name: "leaf1", port: "Ethernet4", dialect: "cee", qos: {pfc: {enabled: [4]}}}' \
		tests/golden/doctor/right.json >"$dir/peer.json"
	run -1 --separate-stderr "$rocecheck" doctor --from "$dir/peer.json" -i mlx5_0 nvidia-nvue-lossless --json
	jq -e '[.findings[] | select(.verdict == "FAIL" or .verdict == "WARN").rule] | sort ==
		["RC-PFC-004", "RC-TOP-003"]' <<<"$output"
	run -0 --separate-stderr "$rocecheck" doctor --from tests/golden/doctor/right.json nvidia-nvue-lossless --json
	jq -e 'all(.findings[] | select(.rule == "RC-PFC-004"); .verdict == "SKIP")' <<<"$output"
}

@test "a guest is told where its QoS is set; nothing of the port is called good" {
	run --separate-stderr "$rocecheck" doctor --from "$snaps/guest-mana.json" lab --json
	jq -e '.findings[] | select(.rule == "RC-ENV-001") | .verdict == "WARN"' <<<"$output"
	jq -e 'all(.findings[] | select(.rule | test("^RC-(PFC|ETS)-")); .verdict == "SKIP")' <<<"$output"
}

@test "MANA on a kernel that does not know it; a VF is told what is set on its physical function" {
	jq '.kernel = "6.1.0-18-cloud-amd64" | .rdma_core = "50.0"' "$snaps/guest-mana.json" >"$dir/old.json"
	run -1 --separate-stderr "$rocecheck" doctor --from "$dir/old.json"
	grep -q 'FAIL  RC-ENV-008 .* kernel 6.1.0-18-cloud-amd64: RDMA over MANA needs 6.8' <<<"$output"
	jq '.kernel = "6.8.0" | .rdma_core = "44.0"' "$snaps/guest-mana.json" >"$dir/old.json"
	run -1 --separate-stderr "$rocecheck" doctor --from "$dir/old.json"
	grep -q 'FAIL  RC-ENV-008 .* rdma-core 44.0: RDMA over MANA needs 50' <<<"$output"
	run --separate-stderr "$rocecheck" doctor --from "$snaps/sriov-vf.json"
	grep -q 'WARN  RC-ENV-001 .*: QoS of this virtual function (VF) is set on its PF' <<<"$output"
	grep -q 'not set here: .*set it on its physical function' <<<"$output"
}

@test "the environment is shell, and JSON" {
	run --separate-stderr "$rocecheck" doctor --from "$snaps/sriov-vf.json" lab --env
	echo "$output"
	[ "$status" -eq 0 ]
	bash -n <<<"$output"
	[ "$(bash -c "$output"'; echo $UCX_IB_TRAFFIC_CLASS')" = 106 ]
	run ! grep -vE "^(#.*|export [A-Za-z0-9_]+='?[A-Za-z0-9_.:,=-]+'?)\$" <<<"$output"
	"$rocecheck" doctor --from "$snaps/sriov-vf.json" lab --env --json |
		jq -e '.schema == "rocecheck.env/1" and .environment.UCX_IB_TRAFFIC_CLASS == "106"'
}

@test "text, json and junit are one verdict" {
	local code

	run --separate-stderr "$rocecheck" doctor --from "$snaps/sriov-vf.json" lab
	code=$status
	grep -q "Exit code $code\.\$" <<<"$output"
	run -"$code" --separate-stderr "$rocecheck" doctor --from "$snaps/sriov-vf.json" lab --format json
	jq -e --argjson code "$code" '.exit_code == $code and .environment and .profile.name == "lab"' <<<"$output"
	run -"$code" --separate-stderr "$rocecheck" doctor --from "$snaps/sriov-vf.json" lab --format junit
	xmllint --noout - <<<"$output"
}

@test "no RoCE port at all: incomplete; a port that was named and is none: exit 1" {
	jq '.ports = []' "$snaps/sriov-vf.json" >"$dir/none.json"
	run -4 --separate-stderr "$rocecheck" doctor --from "$dir/none.json"
	grep -q 'RC-META-010' <<<"$output"
	run -1 --separate-stderr "$rocecheck" doctor --from "$dir/none.json" -i roce9
	grep -q 'FAIL  RC-HST-008 .* roce9' <<<"$output"
}

@test "this machine, whatever it has: judged, nothing on stderr" {
	run --separate-stderr "$rocecheck" doctor
	((status == 0 || status == 1 || status == 4))
	[ -z "$stderr" ]
	run -1 --separate-stderr "$rocecheck" doctor -i lo
	grep -q 'lo has no RDMA device' <<<"$output"
}
