#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd units and the udev rule by what stands in them. How they run is tests/lab/boot.bats.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../../cmd/dist" || exit 1
}

# exposed UNIT LIMIT: at most that much, in tenths.
exposed() {
	systemd-analyze security --offline=true --no-pager --threshold="$2" "$1" >"$BATS_TEST_TMPDIR/report" || {
		grep -v '✓' "$BATS_TEST_TMPDIR/report"
		return 1
	}
}

@test "systemd-analyze security: at most 3.0 for what watches, 5.0 for what writes" {
	exposed rocecheck-watch.service 30
	exposed rocecheck-repair.service 50
	exposed rocecheck-apply.service 50
	exposed rocecheck-apply@.service 50
}

@test "every unit has a bound of capabilities, a read-only file system, a filter of calls, and time limits" {
	for unit in *.service; do
		for line in '^CapabilityBoundingSet=CAP_NET_ADMIN' '^ProtectSystem=strict$' '^NoNewPrivileges=yes$' \
			'^SystemCallFilter=@system-service$' '^TimeoutStartSec=[0-9]+$' '^MemoryDenyWriteExecute=yes$' '^UMask=0077$'; do
			grep -qE "$line" "$unit" || { echo "$unit has no $line"; return 1; }
		done
	done
}

@test "what watches writes nothing: no folder of state, no settings of the kernel" {
	grep -x 'ProtectKernelTunables=yes' rocecheck-watch.service
	! grep -E '^(ReadWritePaths|StateDirectory)=' rocecheck-watch.service
	! grep -E '^ExecStart=.*--repair' rocecheck-watch.service
	grep -E '^ExecStart=.* watch --repair ' rocecheck-repair.service
}

@test "the port's name goes to the unit and out of it unchanged" {
	grep -F '@$name.service' 90-rocecheck.rules
	! grep -v '^#' 'rocecheck-apply@.service' | grep -F '%I'
	[ "$(grep -v '^#' 'rocecheck-apply@.service' | grep -c '%i')" = 3 ]
}

@test "the rule starts a unit for a port of a kept profile alone, and looks where the unit does" {
	local kept

	kept=$(sed -n 's/.*TEST=="\([^"]*\)".*/\1/p' 90-rocecheck.rules)
	[ -n "$kept" ]
	grep -Fx "ConditionPathExists=${kept/\$name/%i}" 'rocecheck-apply@.service'
}
