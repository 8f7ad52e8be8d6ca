#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the unit programs plain, then with ASan and UBSan under build/san. Gives way to whatever else runs: guests
# that boot meanwhile.
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL
tests/units.sh || exit
exec nice -n 19 make --no-print-directory -j"$(nproc)" SAN=1 BUILD=build/san build/san/units
