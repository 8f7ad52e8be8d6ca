/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign text made safe to print: each range of unsafe characters by its ends and neighbours, all
 * code points against the stated set, malformed UTF-8, and every form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/base.h"
#include "profiles/base/text.h"

static const struct {
	const char *in, *want;
} fields[] = {
	{"plain", "plain"},
	{"", ""},
	{NULL, ""},
	{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
	{"\xf0\x9f\x90\x9f", "\xf0\x9f\x90\x9f"},
	{"a\033[0mb", "a?[0mb"},
	{"a\nb\tc\x7f\r\b\a", "a?b?c????"},
	{"\xc2\x9b\x32J\xc2\x9bH", "?2J?H"},		     /* CSI of two bytes: one character */
	{"\x9b\x32J\x90\x9c", "?2J??"},			     /* raw C1 */
	{"\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0"},	     /* ends of C1 */
	{"pay\xe2\x80\xaeload", "pay?load"},		     /* U+202E */
	{"a\xe2\x81\xa6\x62\xe2\x81\xa9", "a?b?"},	     /* U+2066, U+2069 */
	{"a\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "a???"},	     /* U+061C, U+200E, U+200F */
	{"a\xe2\x80\xa8\xe2\x80\xa9", "a??"},		     /* U+2028, U+2029 */
	{"a\xe2\x80\x8b\x62\xef\xbb\xbf", "a?b?"},	     /* U+200B, U+FEFF */
	{"\xf3\xa0\x81\x81", "?"},			     /* U+E0041 */
	{"\xef\xb7\x90\xef\xbf\xbe\xf4\x8f\xbf\xbf", "???"}, /* noncharacters */
	{"\xc0\xaf", "??"},				     /* overlong */
	{"\xc1\xbf", "??"},
	{"\xe0\x80\xaf", "???"},
	{"\xe0\x9f\xbf", "???"},
	{"\xf0\x8f\xbf\xbf", "????"},
	{"\xed\xa0\x80", "???"},      /* surrogate */
	{"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
	{"\xf5\x80\xfe\xff", "????"},
	{"cut \xe2\x82", "cut ??"},
	{"\xe2\x82"
	 "A",
	 "??A"},
	{"\xe2\xc2\x9b", "??"}, /* a control behind a lead byte */
};

static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *got = text_copy(fields[i].in, TEXT_FIELD);

		assert_string_equal(got, fields[i].want);
		free(got);
		if (fields[i].in)
			assert_int_equal(text_is_safe(fields[i].in, TEXT_FIELD),
					 !strcmp(fields[i].in, fields[i].want));
		assert_true(text_is_safe(fields[i].want, TEXT_FIELD));
	}
}

/* All ways to clean say the same. */
static void test_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *in = fields[i].in ? fields[i].in : "";
		char place[64], bytes[64], *printed = NULL;
		size_t size = 0, got;
		FILE *out = open_memstream(&printed, &size);

		snprintf(place, sizeof(place), "%s", in);
		text_sanitize(place, TEXT_FIELD);
		assert_string_equal(place, fields[i].want);
		got = text_sanitize_bytes(bytes, in, strlen(in), TEXT_FIELD);
		assert_int_equal(got, strlen(fields[i].want));
		assert_memory_equal(bytes, fields[i].want, got);
		assert_non_null(out);
		text_print(out, in, TEXT_FIELD);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(printed, fields[i].want);
		free(printed);
	}
}

static void test_forms(void **state)
{
	static const struct {
		enum text_form form;
		const char *want;
	} forms[] = {
		{TEXT_FIELD, "a?b?c??d"},
		{TEXT_LINE, "a\tb?c??d"},
		{TEXT_BLOCK, "a\tb\nc??d"},
	};
	const char *in = "a\tb\nc\r\033d";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		char *got = text_copy(in, forms[i].form);

		assert_string_equal(got, forms[i].want);
		assert_true(text_is_safe(got, forms[i].form));
		assert_false(text_is_safe(in, forms[i].form));
		free(got);
	}
	assert_false(text_is_safe("a\tb", TEXT_FIELD));
	assert_false(text_is_safe("a\nb", TEXT_LINE));
}

/* Bytes are not terminated: a NUL is a control, and a sequence ends where they end. */
static void test_bytes(void **state)
{
	const char in[] = {'a', '\0', 'b', '\xc3', '\xbc', '\xe2', '\x82', '\xac'};
	char out[sizeof(in)];

	(void)state;
	assert_int_equal(text_sanitize_bytes(out, in, 8, TEXT_BLOCK), 8);
	assert_memory_equal(out, "a?b\xc3\xbc\xe2\x82\xac", 8);
	assert_int_equal(text_sanitize_bytes(out, in, 7, TEXT_BLOCK), 7);
	assert_memory_equal(out, "a?b\xc3\xbc??", 7);
	assert_int_equal(text_sanitize_bytes(out, in, 0, TEXT_BLOCK), 0);
}

static void encode(uint32_t c, char *to)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		*to++ = (char)(0x80 | (c & 0x3f));
	*to = '\0';
}

/* The stated set, written a second time: ranges as DerivedCoreProperties.txt of Unicode 15 has them
 * for Default_Ignorable_Code_Point, and what is added to them. */
static const uint32_t stated[][2] = {
	{0x1, 0x1f},	  {0x7f, 0x7f},	      {0x80, 0x9f},	  {0xad, 0xad},
	{0x34f, 0x34f},	  {0x61c, 0x61c},     {0x115f, 0x1160},	  {0x17b4, 0x17b5},
	{0x180b, 0x180d}, {0x180e, 0x180e},   {0x180f, 0x180f},	  {0x200b, 0x200f},
	{0x202a, 0x202e}, {0x2060, 0x2064},   {0x2065, 0x2065},	  {0x2066, 0x206f},
	{0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},	  {0xffa0, 0xffa0},
	{0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	{0x2028, 0x2029}, {0xfff9, 0xfffb},   {0xfdd0, 0xfdef},	  {0xd800, 0xdfff},
};

static bool is_stated(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(stated); i++)
		if (c >= stated[i][0] && c <= stated[i][1])
			return true;
	return c % 0x10000 >= 0xfffe;
}

static void test_all_characters(void **state)
{
	char text[5];

	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		encode(c, text);
		if (text_is_safe(text, TEXT_FIELD) == is_stated(c))
			fail_msg("U+%04X", c);
	}
}

/* Whatever the bytes: the result is clean, and cleaning it again changes nothing. */
static void test_all_pairs(void **state)
{
	(void)state;
	for (unsigned int n = 0x101; n < 0x1000000; n += 7) {
		char text[] = {(char)(n & 0xff), (char)(n >> 8 & 0xff), (char)(n >> 16), '\0'};

		text_sanitize(text, TEXT_BLOCK);
		if (!text_is_safe(text, TEXT_BLOCK))
			fail_msg("%06x", n);
	}
}

/* Each style of ours, all its beginnings, and what is none. */
static void test_styles(void **state)
{
	static const char *const ours[] = {
		TEXT_RESET,  TEXT_BOLD, TEXT_DIM,  TEXT_RED,	  TEXT_GREEN,
		TEXT_YELLOW, TEXT_BLUE, TEXT_CYAN, TEXT_BOLD_RED, TEXT_BOLD_YELLOW,
	};
	static const char *const others[] = {
		"\033[8m", "\033[m", "\033[30m", "\033[1;34m", "\033[2J", "\033]0;", "[31m", "x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		size_t length = strlen(ours[i]);

		assert_int_equal(text_style_length(ours[i], length), length);
		for (size_t size = 1; size < length; size++)
			assert_true(text_style_length(ours[i], size) > size);
		assert_false(text_is_safe(ours[i], TEXT_BLOCK));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(text_style_length(others[i], strlen(others[i])), 0);
}

/* Whole, cut and malformed characters. */
static void test_character_length(void **state)
{
	static const struct {
		const char *text;
		size_t size, want;
	} cases[] = {
		{"a", 1, 1},
		{"\xc3\xbc", 2, 2},
		{"\xc3\xbc", 1, 2},
		{"\xe2\x82\xac", 2, 3},
		{"\xf0\x9f\x90\x9f", 3, 4},
		{"\xe2x", 2, 0},
		{"\x9b", 1, 0},
		{"\xc0\xaf", 2, 0},
		{"\xff", 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(text_character_length(cases[i].text, cases[i].size),
				 cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	       cmocka_unit_test(test_ways),
		cmocka_unit_test(test_forms),	       cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_all_characters), cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_styles),	       cmocka_unit_test(test_character_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
