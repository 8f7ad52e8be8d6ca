#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the unit programs under build/, once when two ask for them. Gives way to whatever else runs: guests that
# boot meanwhile.
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p build
exec flock build/units.lock nice -n 19 make --no-print-directory -j"$(nproc)" BUILD=build build/units
