#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd units and the udev rule by what stands in them. How they run is tests/lab/boot.bats.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../../cmd/dist" || exit 1
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

@test "no unit at boot waits for ever" {
	for unit in rocecheck-apply*.service; do
		grep -qE '^TimeoutStartSec=[0-9]+$' "$unit" || { echo "$unit has no time limit"; return 1; }
	done
}
