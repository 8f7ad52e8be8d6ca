/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and base 64: whatever the pieces, the same lines; too long ones are told once and skipped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/io/line_buffer.h"
#include "profiles/base/base64.h"

struct seen {
	char text[256];
};

static void on_line(char *line, size_t length, void *arg)
{
	struct seen *s = arg;
	size_t used = strlen(s->text);

	snprintf(s->text + used, sizeof(s->text) - used, "[%s:%zu]", line ? line : "!", length);
}

static const struct {
	const char *name, *in, *want;
} cases[] = {
	{"nothing", "", ""},
	{"no end", "abc", ""},
	{"one", "abc\n", "[abc:3]"},
	{"two and a rest", "a\nbc\nd", "[a:1][bc:2]"},
	{"empty lines", "\n\n", "[:0][:0]"},
	{"as long as it may be", "12345678\n", "[12345678:8]"},
	{"too long", "123456789\nok\n", "[!:0][ok:2]"},
	{"much too long", "12345678901234567890123456789012345678901234\nok\n", "[!:0][ok:2]"},
	{"too long, no end", "1234567890", "[!:0]"},
	{"carriage return is text", "a\r\n", "[a\r:2]"},
};

static void test_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t piece = 1; piece <= 50; piece++) {
			struct seen s = {""};
			struct line_buffer l;
			size_t left = strlen(cases[i].in);
			const char *p = cases[i].in;

			line_buffer_init(&l, 8);
			for (size_t n; left; left -= n, p += n) {
				n = left < piece ? left : piece;
				assert_int_equal(line_buffer_push(&l, p, n, on_line, &s), 0);
			}
			line_buffer_clear(&l);
			if (strcmp(s.text, cases[i].want))
				fail_msg("%s in pieces of %zu: %s", cases[i].name, piece, s.text);
		}
	}
}

static void test_nul_inside(void **state)
{
	struct seen s = {""};
	struct line_buffer l;

	(void)state;
	line_buffer_init(&l, 8);
	assert_int_equal(line_buffer_push(&l, "a\0b\n", 4, on_line, &s), 0);
	line_buffer_clear(&l);
	assert_string_equal(s.text, "[a:3]");
}

/* RFC 4648 s10. */
static void test_base64_vectors(void **state)
{
	static const char *const vectors[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		size_t length = strlen(vectors[i][0]), size;
		uint8_t data[8];
		char text[BASE64_SIZE(8)];

		assert_int_equal(base64_encode((const uint8_t *)vectors[i][0], length, text),
				 strlen(vectors[i][1]));
		assert_string_equal(text, vectors[i][1]);
		assert_int_equal(base64_decode(text, strlen(text), data, length, &size), 0);
		assert_int_equal(size, length);
		assert_memory_equal(data, vectors[i][0], length);
		if (length)
			assert_int_equal(base64_decode(text, strlen(text), data, length - 1, &size),
					 -EINVAL);
	}
}

static void test_base64_refuses(void **state)
{
	static const char *const bad[] = {
		"Z",	"Zg",	"Zg=",	"Z===",	 "====",    "Zg==Zg==", "Zm9v\n",
		"Zh==", "Zm9=", "Zm-v", "Zm9v=", "Z\xff==", "=g==",
	};
	uint8_t data[64];
	size_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (base64_decode(bad[i], strlen(bad[i]), data, sizeof(data), &size) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_nul_inside),
		cmocka_unit_test(test_base64_vectors),
		cmocka_unit_test(test_base64_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
