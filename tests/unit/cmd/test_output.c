/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream behind stdout and stderr: whatever is printed and however it is cut into writes, what
 * arrives holds no control but tab, newline and, where colour is on, our own styles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/output.h"
#include "profiles/base/base.h"
#include "profiles/base/text.h"

static const struct {
	const char *in, *plain, *coloured;
} cases[] = {
	{"a\tb\nc", "a\tb\nc", "a\tb\nc"},
	{"gr\xc3\xbc\xf0\x9f\x90\x9f", "gr\xc3\xbc\xf0\x9f\x90\x9f", "gr\xc3\xbc\xf0\x9f\x90\x9f"},
	{TEXT_RED "bad" TEXT_RESET "\n", "?[31mbad?[0m\n", TEXT_RED "bad" TEXT_RESET "\n"},
	{TEXT_BOLD_RED "x" TEXT_DIM "y", "?[1;31mx?[2my", TEXT_BOLD_RED "x" TEXT_DIM "y"},
	{"\033[8mhidden\033[30m\033[1;34m", "?[8mhidden?[30m?[1;34m", "?[8mhidden?[30m?[1;34m"},
	{"\033\033[31m", "??[31m", "?" TEXT_RED},
	{"\033[3\033[2J\033]0;t\a", "?[3?[2J?]0;t?", "?[3?[2J?]0;t?"},
	{"\xc2\x9b\x32J\x9b\x33\x31m\x90", "?2J?31m?", "?2J?31m?"},
	{"\xe2\x80\xae\r\b\x7f", "????", "????"},
	{"\xe2\x82|\xf0\x9f\x90|\xc3|", "??|???|?|", "??|???|?|"},
	{"\xe2\xc2\x9b\xc3\xbc", "??\xc3\xbc", "??\xc3\xbc"},
	{"\xf0\x9f\x90\x9f\xed\xa0\x80", "\xf0\x9f\x90\x9f???", "\xf0\x9f\x90\x9f???"},
};

/* Writes `size` bytes in pieces of `step`, and returns what arrived. */
static size_t pass(const char *in, size_t size, size_t step, bool colour, char *got, size_t room)
{
	int fd = memfd_create("output", MFD_CLOEXEC);
	struct output *o = calloc(1, sizeof(*o));
	FILE *stream = output_open(o, fd);
	ssize_t n;

	assert_non_null(stream);
	o->colour = colour;
	for (size_t at = 0; at < size; at += step) {
		size_t piece = size - at < step ? size - at : step;

		assert_int_equal(fwrite(in + at, 1, piece, stream), piece);
		assert_int_equal(fflush(stream), 0);
	}
	assert_int_equal(fclose(stream), 0);
	n = pread(fd, got, room, 0);
	assert_true(n >= 0);
	close(fd);
	free(o);
	return (size_t)n;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (size_t step = 1; step <= 8; step++)
			for (int colour = 0; colour < 2; colour++) {
				const char *want = colour ? cases[i].coloured : cases[i].plain;
				char got[128];
				size_t n = pass(cases[i].in, strlen(cases[i].in), step, colour, got,
						sizeof(got) - 1);

				got[n] = '\0';
				if (strcmp(got, want))
					fail_msg("case %zu, pieces of %zu: '%s'", i, step, got);
			}
}

/* Plain text is passed over eight bytes at a time: one bad byte among them is found, wherever it
 * is. */
static void test_words(void **state)
{
	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++)
		for (size_t at = 0; at < 17; at++) {
			char in[25] = "abcdefgh ~}|{zyx 0123456", want[25], got[64];
			size_t n, clean;

			in[at] = (char)byte;
			in[24] = '\n'; /* nothing is left waiting */
			clean = text_sanitize_bytes(want, in, sizeof(in), TEXT_BLOCK);
			n = pass(in, sizeof(in), sizeof(in), false, got, sizeof(got));
			assert_int_equal(n, clean);
			assert_memory_equal(got, want, n);
		}
}

/* However a long text is cut, the same arrives, and it is clean. */
static void test_pieces(void **state)
{
	static char in[40000], whole[2 * sizeof(in)], got[2 * sizeof(in)];
	static const size_t steps[] = {1, 2, 3, 7, 15, 16, 17, 4095, 4096, 4097, 8192, 8193};
	size_t used = 0, n;
	uint32_t seed = 1;

	(void)state;
	while (used + 32 < sizeof(in)) {
		const char *piece;

		seed = seed * 1103515245 + 12345;
		piece = cases[(seed >> 16) % ARRAY_SIZE(cases)].in;
		memcpy(in + used, piece, strlen(piece));
		used += strlen(piece);
	}
	in[used++] = '\n'; /* nothing is left waiting */
	n = pass(in, used, used, false, whole, sizeof(whole) - 1);
	whole[n] = '\0';
	assert_true(text_is_safe(whole, TEXT_BLOCK));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		assert_int_equal(pass(in, used, steps[i], false, got, sizeof(got)), n);
		assert_memory_equal(got, whole, n);
	}
}

static void test_full(void **state)
{
	static struct output o;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	FILE *stream = output_open(&o, fd);

	(void)state;
	fputs("x\n", stream);
	errno = 0;
	assert_int_not_equal(fflush(stream), 0);
	assert_int_equal(errno, ENOSPC);
	assert_true(ferror(stream));
	fclose(stream);
	close(fd);
}

/* On a terminal without UTF-8 the bytes of "\xc4\x9b" end in CSI. */
static void test_terminal(void **state)
{
	static const struct {
		const char *locale, *want;
	} locales[] = {{"C", "?b"},
		       {"C.UTF-8", "\xc4\x9b"
				   "b"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(locales); i++) {
		static struct output o;
		char got[16] = "";
		int master, slave;
		FILE *stream;

		assert_non_null(setlocale(LC_CTYPE, locales[i].locale));
		assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
		stream = output_open(&o, slave);
		fputs("\xc4\x9b"
		      "b\n",
		      stream); /* a line: no flush is needed */
		assert_true(read(master, got, sizeof(got) - 1) > 0);
		got[strcspn(got, "\r\n")] = '\0';
		assert_string_equal(got, locales[i].want);
		fclose(stream);
		close(slave);
		close(master);
	}
}

static void test_wrap(void **state)
{
	static const struct {
		const char *text, *want;
		unsigned int at, last;
	} rows[] = {
		{"", "", 3, 3},
		{"a b", "a b", 3, 6},
		{"one two  three", "one\n  two\n  three", 3, 7},
		{"one  two", "one  two", 0, 8},
		{"one  two x", "one  two\n  x", 0, 3},
		{"longerthanall b", "longerthanall\n  b", 3, 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char got[64] = "";
		FILE *out = fmemopen(got, sizeof(got), "w");

		assert_int_equal(output_wrap(out, rows[i].text, rows[i].at, 2, 8), rows[i].last);
		fclose(out);
		assert_string_equal(got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	 cmocka_unit_test(test_words),
		cmocka_unit_test(test_pieces),	 cmocka_unit_test(test_full),
		cmocka_unit_test(test_terminal), cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
