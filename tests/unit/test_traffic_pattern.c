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

#include "probe/traffic_pattern.h"

static const struct pattern_id base_id = {
	.seed = UINT64_C(0x1234567890abcdef),
	.sequence = 381,
	.slot = 5,
	.kind = PATTERN_DATA,
};

static const uint32_t lengths[] = {40, 41, 47, 48, 64, 65, 71, 512, 4099};

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
		{"other run", {1, 381, 5, PATTERN_DATA}, PATTERN_FOREIGN},
		{"older message", {0x1234567890abcdef, 380, 5, PATTERN_DATA}, PATTERN_SEQUENCE},
		{"newer message", {0x1234567890abcdef, 382, 5, PATTERN_DATA}, PATTERN_SEQUENCE},
		{"far sequence",
		 {0x1234567890abcdef, 381ull << 32, 5, PATTERN_DATA},
		 PATTERN_SEQUENCE},
		{"other slot", {0x1234567890abcdef, 381, 4, PATTERN_DATA}, PATTERN_SLOT},
		{"other kind", {0x1234567890abcdef, 381, 5, PATTERN_END}, PATTERN_SEQUENCE},
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
	struct pattern_id got;
	uint8_t buf[64];

	(void)state;
	pattern_fill(buf, sizeof(buf), &base_id);
	assert_int_equal(pattern_peek(buf, sizeof(buf), base_id.seed, &got), 0);
	assert_memory_equal(&got, &base_id, sizeof(got));
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
		cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
