# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How a bats file speaks with its lab. Run from the root of the tree; LAB_DIR says which lab.

# What a lab leaves running must not keep bats' own descriptor.
lab()
{
	tests/lab/lab "$@" 3>&-
}

# on HOST COMMAND...: in a guest.
on()
{
	local host=$1

	shift
	lab run "$host" -- "$@"
}
