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
	[ "$(grep -v '^#' 'rocecheck-apply@.service' | grep -c '%i')" = 4 ]
}

@test "the rule starts a unit for a port of a kept profile or of what is left to undo, and looks where the unit does" {
	local kept

	[ "$(grep -c '^ACTION=="add"' 90-rocecheck.rules)" = 2 ]
	for kept in /var/lib/rocecheck/last/\$name.{json,undo}; do
		grep -F "TEST==\"$kept\"" 90-rocecheck.rules | grep -F 'SYSTEMD_WANTS}+="rocecheck-apply@$name.service"'
		grep -Fx "ConditionPathExists=|${kept/\$name/%i}" 'rocecheck-apply@.service'
	done
	! grep '^ConditionPathExists=[^|]' 'rocecheck-apply@.service'
}

@test "the undo at boot comes before lldpad reads its file" {
	grep -E '^Before=(.* )?lldpad\.service( |$)' rocecheck-apply.service
}

@test "all waits at boot end before systemd ends the unit" {
	local ms s unit

	ms=$(sed -n 's/^#define BOOT_MS[^0-9]*\([0-9]*\)$/\1/p' ../apply/apply_boot.c)
	for unit in rocecheck-apply.service 'rocecheck-apply@.service'; do
		s=$(sed -n 's/^TimeoutStartSec=//p' "$unit")
		[ "$ms" -gt 0 ] && [ $((ms + 20000)) -le $((s * 1000)) ]
	done
}
