/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pattern of traffic messages: every single wrong byte is found, at its offset, and a whole
 * message in the wrong place is told apart from a damaged one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/traffic/traffic_pattern.h"

static const struct pattern_id base_id = {
	.seed = UINT64_C(0x1234567890abcdef),
	.sequence = 381,
	.slot = 5,
	.kind = PATTERN_DATA,
	.flow = 2,
};

static const uint32_t lengths[] = {40,	41,  47,  48,	64,   65,   71,
				   103, 104, 512, 1064, 1135, 2151, 4099};

static void test_fill_then_check(void **state)
{
	uint8_t buf[4200];
	uint64_t offset;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(buf, 0xaa, sizeof(buf));
		pattern_fill(buf, lengths[i], &base_id);
		assert_int_equal(pattern_check(buf, lengths[i], &base_id, &offset), PATTERN_OK);
		assert_int_equal(buf[lengths[i]], 0xaa);
	}
}

static void test_every_flip_is_found(void **state)
{
	uint8_t *buf;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		buf = malloc(lengths[i]); /* exact, so that ASan sees a read beyond the end */
		assert_non_null(buf);
		pattern_fill(buf, lengths[i], &base_id);
		for (uint32_t at = 0; at < lengths[i]; at++) {
			for (unsigned int bit = 0; bit < 8; bit++) {
				uint64_t offset = ~UINT64_C(0);

				buf[at] ^= 1u << bit;
				assert_int_not_equal(
					pattern_check(buf, lengths[i], &base_id, &offset),
					PATTERN_OK);
				assert_int_equal(offset, at);
				buf[at] ^= 1u << bit;
			}
		}
		free(buf);
	}
}

static void test_wrong_place(void **state)
{
	static const struct {
		const char *name;
		struct pattern_id sent;
		enum pattern_fault want;
	} cases[] = {
		{"other run", {1, 381, 5, PATTERN_DATA, 2}, PATTERN_FOREIGN},
		{"older message", {0x1234567890abcdef, 380, 5, PATTERN_DATA, 2}, PATTERN_SEQUENCE},
		{"newer message", {0x1234567890abcdef, 382, 5, PATTERN_DATA, 2}, PATTERN_SEQUENCE},
		{"far sequence",
		 {0x1234567890abcdef, 381ull << 32, 5, PATTERN_DATA, 2},
		 PATTERN_SEQUENCE},
		{"other slot", {0x1234567890abcdef, 381, 4, PATTERN_DATA, 2}, PATTERN_SLOT},
		{"other flow", {0x1234567890abcdef, 381, 5, PATTERN_DATA, 3}, PATTERN_FLOW},
		{"other kind", {0x1234567890abcdef, 381, 5, PATTERN_DATA + 1, 2}, PATTERN_SEQUENCE},
	};
	uint8_t buf[256];
	uint64_t offset;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pattern_fill(buf, sizeof(buf), &cases[i].sent);
		if (pattern_check(buf, sizeof(buf), &base_id, &offset) != cases[i].want)
			fail_msg("%s: %s", cases[i].name,
				 pattern_fault_text(
					 pattern_check(buf, sizeof(buf), &base_id, &offset)));
	}
	memset(buf, 0, sizeof(buf));
	assert_int_equal(pattern_check(buf, sizeof(buf), &base_id, &offset), PATTERN_FOREIGN);
}

/* Buffers stand anywhere; nothing before and behind them is touched. */
static void test_every_alignment(void **state)
{
	uint8_t room[64 + 1200 + 8];
	uint64_t offset = 0;

	(void)state;
	for (unsigned int at = 1; at <= 64; at++) {
		for (uint32_t length = 1150; length <= 1152; length++) {
			uint8_t *buf = room + at;

			memset(room, 0x5a, sizeof(room));
			pattern_fill(buf, length, &base_id);
			assert_int_equal(buf[-1], 0x5a);
			assert_int_equal(buf[length], 0x5a);
			assert_int_equal(pattern_check(buf, length, &base_id, &offset), PATTERN_OK);
			buf[length - at] ^= 0x10;
			assert_int_equal(pattern_check(buf, length, &base_id, &offset),
					 PATTERN_BYTES);
			assert_int_equal(offset, length - at);
		}
	}
}

/* The same bytes on every machine, whatever its byte order and registers. */
static void test_literal(void **state)
{
	static const uint8_t want[] = {
		0x52, 0x43, 0x43, 0x4b, 0x01, 0x00, 0x00, 0x00, 0xef, 0xcd, 0xab, 0x90, 0x78, 0x56,
		0x34, 0x12, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
		0x05, 0x00, 0x00, 0x00, 0x83, 0x00, 0x00, 0x00, 0xa6, 0x37, 0xe5, 0x24, 0x3c, 0x94,
		0xf1, 0x66, 0xfd, 0x66, 0xcc, 0x7d, 0x1d, 0x1a, 0xc2, 0xe7, 0xb8, 0xe0, 0x03, 0x1c,
		0x7e, 0x48, 0xfd, 0x56, 0x74, 0x5a, 0x3b, 0xba, 0x5f, 0xb9, 0xe4, 0xc5, 0x29, 0xd4,
		0x72, 0x58, 0x38, 0xfb, 0xee, 0x30, 0xe3, 0x4d, 0xaa, 0xf6, 0xc1, 0x2c, 0x09, 0xa2,
		0x9a, 0xc7, 0xe1, 0x94, 0xfa, 0x86, 0x9b, 0x1c, 0x56, 0x41, 0x19, 0x33, 0xd3, 0xd0,
		0x19, 0x89, 0x17, 0xbb, 0x50, 0xd1, 0x24, 0x22, 0xa7, 0xfe, 0xc9, 0x34, 0x88, 0x6f,
		0xa5, 0x74, 0xcc, 0x6f, 0x84, 0xae, 0xbf, 0x0d, 0x76, 0x3d, 0xc2, 0xde, 0x38, 0x28,
		0xf7, 0xab, 0x17, 0xf7, 0xb0};
	uint8_t buf[sizeof(want)];

	(void)state;
	pattern_fill(buf, sizeof(buf), &base_id);
	assert_memory_equal(buf, want, sizeof(want));
}

/* No word of a message stands at its place in another one. */
static void test_no_word_alike(void **state)
{
	static const struct pattern_id others[] = {
		{0x1234567890abcdee, 381, 5, PATTERN_DATA, 2},
		{0x1234567890abcdef, 382, 5, PATTERN_DATA, 2},
		{0x1234567890abcdef, 381 + 64, 5, PATTERN_DATA, 2},
		{0x1234567890abcdef, 381, 5, PATTERN_DATA + 1, 2},
		{0x1234567890abcdef, 381, 5, PATTERN_DATA, 1},
		{0x1234567890abcdef, 381, 5, PATTERN_DATA, 3},
	};
	uint64_t a[512], b[512];

	(void)state;
	pattern_fill(a, sizeof(a), &base_id);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		pattern_fill(b, sizeof(b), &others[i]);
		for (size_t w = PATTERN_HEADER_BYTES / 8; w < ARRAY_SIZE(a); w++)
			assert_true(a[w] != b[w]);
	}
}

static void test_header_alone(void **state)
{
	struct pattern_id other = base_id;
	uint64_t offset = 0;
	uint8_t buf[256];

	(void)state;
	pattern_fill(buf, sizeof(buf), &base_id);
	buf[PATTERN_HEADER_BYTES] ^= 1; /* not looked at */
	assert_int_equal(pattern_check_header(buf, sizeof(buf), &base_id, &offset), PATTERN_OK);
	other.flow++;
	assert_int_equal(pattern_check_header(buf, sizeof(buf), &other, &offset), PATTERN_FLOW);
	buf[37] ^= 1; /* of the check */
	assert_int_equal(pattern_check_header(buf, sizeof(buf), &base_id, &offset), PATTERN_BYTES);
	assert_int_equal(offset, 37);
}

/* The tail of another message behind the right header: a message placed half. */
static void test_torn_message(void **state)
{
	struct pattern_id old = base_id;
	uint8_t buf[256], older[256];
	uint64_t offset;

	(void)state;
	old.sequence -= 32;
	pattern_fill(buf, sizeof(buf), &base_id);
	pattern_fill(older, sizeof(older), &old);
	memcpy(buf + 248, older + 248, 8);
	assert_int_equal(pattern_check(buf, sizeof(buf), &base_id, &offset), PATTERN_BYTES);
	assert_in_range(offset, 248, 255);
}

static void test_peek(void **state)
{
	struct pattern_id got = {0};
	uint8_t buf[64];

	(void)state;
	pattern_fill(buf, sizeof(buf), &base_id);
	assert_int_equal(pattern_peek(buf, sizeof(buf), base_id.seed, &got), 0);
	assert_int_equal(got.seed, base_id.seed);
	assert_int_equal(got.sequence, base_id.sequence);
	assert_int_equal(got.flow, base_id.flow);
	assert_int_equal(got.slot, base_id.slot);
	assert_int_equal(got.kind, base_id.kind);
	assert_int_equal(pattern_peek(buf, sizeof(buf), base_id.seed + 1, &got), -EINVAL);
	assert_int_equal(pattern_peek(buf, PATTERN_HEADER_BYTES - 1, base_id.seed, &got), -EINVAL);
	buf[17] ^= 1;
	assert_int_equal(pattern_peek(buf, sizeof(buf), base_id.seed, &got), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill_then_check),
		cmocka_unit_test(test_every_flip_is_found),
		cmocka_unit_test(test_wrong_place),
		cmocka_unit_test(test_torn_message),
		cmocka_unit_test(test_every_alignment),
		cmocka_unit_test(test_literal),
		cmocka_unit_test(test_no_word_alike),
		cmocka_unit_test(test_header_alone),
		cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
