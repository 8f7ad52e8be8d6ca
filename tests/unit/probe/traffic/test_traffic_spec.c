/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which wishes for traffic make sense, and the words of what traffic can be.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/traffic/traffic_words.h"

/* What no generator does, by class and mode. */
static void test_sense(void **state)
{
	static const struct {
		enum traffic_mode mode;
		struct traffic_class class;
		const char *want; /* NULL: it makes sense */
	} cases[] = {
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_READ}, NULL},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_ATOMIC, .direction = TRAFFIC_BOTH}, NULL},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_READ, .transport = TRAFFIC_UC}, "need RC"},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_WRITE, .transport = TRAFFIC_UD}, "SEND only"},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_WRITE, .transport = TRAFFIC_UC}, "write_imm"},
		{TRAFFIC_STRICT, {.verb = TRAFFIC_WRITE}, NULL},
		{TRAFFIC_STRICT, {.verb = TRAFFIC_SEND}, "strict"},
		{TRAFFIC_STRICT, {.verb = TRAFFIC_SEND, .transport = TRAFFIC_UC}, "strict"},
		{TRAFFIC_COUNT, {.verb = TRAFFIC_SEND, .transport = TRAFFIC_UC}, NULL},
		{TRAFFIC_COUNT, {.verb = TRAFFIC_SEND}, "count"},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_SEND, .probe = true}, NULL},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_READ, .probe = true}, "latency"},
		{TRAFFIC_OBSERVE, {.verb = TRAFFIC_SEND, .window = 12}, "power of two"},
		{TRAFFIC_OBSERVE, {.message_bytes = 2}, NULL},
		{TRAFFIC_OBSERVE, {.message_bytes = 63, .check = TRAFFIC_CHECK_SAMPLED}, "checked"},
		{TRAFFIC_COUNT,
		 {.message_bytes = 63, .verb = TRAFFIC_SEND, .transport = TRAFFIC_UC},
		 "sequence number"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_spec s = {.mode = cases[i].mode, .class_count = 1};
		struct err e = {0};
		int want = cases[i].want ? -EINVAL : 0;

		s.class[0] = cases[i].class;
		s.class[0].qps = 1;
		if (!s.class[0].message_bytes)
			s.class[0].message_bytes = TRAFFIC_CHECKED_MIN;
		if (traffic_spec_check(&s, &e) != want || (want && !strstr(e.text, cases[i].want)))
			fail_msg("case %zu: %s", i, e.text);
	}
}

/* One answer for the queue pairs and for the verdict on their retries. */
static void test_ack_timeout(void **state)
{
	static const struct {
		enum traffic_mode mode;
		enum traffic_bringup bringup;
		uint8_t timeout;
		bool soft;
		uint8_t want, control;
	} cases[] = {
		{TRAFFIC_OBSERVE, TRAFFIC_RAW, 0, true, 18, 18},
		{TRAFFIC_OBSERVE, TRAFFIC_RAW, 0, false, 16, 16},
		{TRAFFIC_OBSERVE, TRAFFIC_RAW, 14, true, 14, 14},
		{TRAFFIC_STRICT, TRAFFIC_RAW, 0, true, 0, 18},
		{TRAFFIC_STRICT, TRAFFIC_RAW, 0, false, 14, 16},
		{TRAFFIC_STRICT, TRAFFIC_RAW, 15, true, 15, 15},
		{TRAFFIC_OBSERVE, TRAFFIC_CM, 0, true, 17, 18},
		{TRAFFIC_OBSERVE, TRAFFIC_CM, 20, false, 20, 20},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_spec s = {.mode = cases[i].mode,
					 .bringup = cases[i].bringup,
					 .timeout = cases[i].timeout};

		assert_int_equal(traffic_ack_timeout(&s, cases[i].soft), cases[i].want);
		assert_int_equal(traffic_control_timeout(&s, cases[i].soft), cases[i].control);
	}
}

static void test_words(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CAUSE_COUNT; i++) {
		assert_true(*traffic_cause_word(i));
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(traffic_cause_word(i), traffic_cause_word(k));
	}
	assert_string_equal(traffic_cause_word(CAUSE_COUNT), "?");
	for (unsigned int which = 0; which < TRAFFIC_ENUMS; which++) {
		unsigned int count = 0;

		for (; traffic_words[which][count].word; count++)
			assert_int_equal(traffic_words[which][count].value, count);
		assert_true(count >= 2);
		assert_string_equal(traffic_word(which, count), "?");
		assert_string_equal(traffic_word(which, UINT16_MAX + 1), "?");
		if (which == ENUM_VERB)
			assert_int_equal(count, TRAFFIC_VERBS);
		if (which == ENUM_TRANSPORT)
			assert_int_equal(count, TRAFFIC_TRANSPORTS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sense),
		cmocka_unit_test(test_ack_timeout),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
