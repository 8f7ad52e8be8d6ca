#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The binary that is installed, by its ELF headers and imports: an overflow that gets past our own checks ends the
# process, and finds nothing at an address that is known before.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	readelf -hldW --dyn-syms build/rocecheck >"$BATS_FILE_TMPDIR/elf"
	objdump -d --no-show-raw-insn build/rocecheck >"$BATS_FILE_TMPDIR/code"
}

setup() {
	elf=$BATS_FILE_TMPDIR/elf
}

@test "position-independent executable" {
	grep -E '^ *Type: +DYN' "$elf"
	grep -E '\(FLAGS_1\).* PIE( |$)' "$elf"
}

@test "all symbols bound at the start, their table read-only" {
	grep -E '\(FLAGS\).*BIND_NOW' "$elf"
	grep -E '\(FLAGS_1\).* NOW( |$)' "$elf"
	grep -E '^ *GNU_RELRO ' "$elf"
}

@test "the stack is not executable, and no segment is both writable and executable" {
	grep -E '^ *GNU_STACK .* RW +0x' "$elf"
	! grep -E '^ *LOAD .* RWE ' "$elf"
}

@test "stack protector" {
	grep -E ' UND __stack_chk_fail(@|$)' "$elf"
}

@test "buffers of known size are checked (FORTIFY), memory and format functions alike" {
	for name in memcpy snprintf vsnprintf read; do
		grep -E " UND __${name}_chk(@|$)" "$elf"
	done
}

@test "x86: large stack frames are touched page by page, and jumps land where they may" {
	[ "$(uname -m)" = x86_64 ] || skip "other instructions on $(uname -m)"
	grep -q 'or[lq]\? \+$0x0,.*(%rsp' "$BATS_FILE_TMPDIR/code"
	# The mark of the whole program goes by the C library's start files, so the functions are looked at.
	[ "$(grep -c endbr64 "$BATS_FILE_TMPDIR/code")" -gt 1000 ]
}

@test "flags of the user's do not take the place of those that protect" {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	env -u MAKEFLAGS make -n -B V=1 CFLAGS=-Os build/profiles/base/base.o >"$BATS_TEST_TMPDIR/os"
	for flag in -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=3; do
		grep -e " $flag " "$BATS_TEST_TMPDIR/os"
	done
	# Without an optimizer, and beside the sanitizers, FORTIFY is a warning or in the way.
	env -u MAKEFLAGS make -n -B V=1 CFLAGS='-O2 -O0' build/profiles/base/base.o >"$BATS_TEST_TMPDIR/o0"
	env -u MAKEFLAGS make -n -B V=1 SAN=1 BUILD=build/san build/san/profiles/base/base.o >"$BATS_TEST_TMPDIR/san"
	! grep -e FORTIFY "$BATS_TEST_TMPDIR/o0" "$BATS_TEST_TMPDIR/san"
	grep -e ' -fstack-protector-strong ' "$BATS_TEST_TMPDIR/san"
}
