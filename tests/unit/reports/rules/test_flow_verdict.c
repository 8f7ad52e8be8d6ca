/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the counters of a flow come to: each row of the table alone, and against the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "reports/rules/flow_verdict.h"

static void set(struct flow *f, const struct flow_sign *sign, uint64_t value)
{
	memcpy((char *)f + sign->counter, &value, sizeof(value));
}

static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < flow_sign_count; i++) {
		struct flow f = {0};
		char text[256];

		set(&f, &flow_signs[i], 7);
		assert_int_equal(flow_sign_value(&flow_signs[i], &f), 7);
		assert_ptr_equal(flow_verdict(&f), &flow_signs[i]);
		flow_verdict_text(&f, DROPS_ZERO, text, sizeof(text));
		assert_int_equal(strncmp(text, "7 ", 2), 0);
		assert_string_equal(text + 2, flow_signs[i].many);
		set(&f, &flow_signs[i], 1);
		flow_verdict_text(&f, DROPS_ZERO, text, sizeof(text));
		assert_int_equal(strncmp(text, "1 ", 2), 0);
		assert_string_equal(text + 2, flow_signs[i].text);
		if (i + 1 == flow_sign_count)
			break;
		set(&f, &flow_signs[i + 1], 9);
		assert_ptr_equal(flow_verdict(&f), &flow_signs[i]);
	}
}

static void test_text(void **state)
{
	struct flow f = {0};
	char text[256], little[8];

	(void)state;
	assert_null(flow_verdict(&f));
	flow_verdict_text(&f, DROPS_UNKNOWN, text, sizeof(text));
	assert_string_equal(text, "clean");
	f.psn_missing = 2;
	f.duplicates = 1;
	flow_verdict_text(&f, DROPS_ZERO, text, sizeof(text));
	assert_string_equal(text, "2 PSNs missing, 1 retransmission");
	flow_verdict_text(&f, DROPS_UNKNOWN, text, sizeof(text));
	assert_string_equal(text, "2 PSNs missing (or missed by the capture), 1 retransmission");
	flow_verdict_text(&f, DROPS_SOME, text, sizeof(text));
	assert_non_null(strstr(text, "missed by the capture"));
	f.missed_psns = 1;
	flow_verdict_text(&f, DROPS_ZERO, text, sizeof(text));
	assert_string_equal(text, "1 PSN missing, 1 retransmission, 1 PSN not captured");
	f.missed_psns = 2;
	f.duplicates = 0;
	flow_verdict_text(&f, DROPS_ZERO, text, sizeof(text));
	assert_string_equal(text, "2 PSNs not captured");
	assert_string_equal(flow_verdict(&f)->word, "missed");
	f.missed_psns = 0;
	flow_verdict_text(&f, DROPS_ZERO, little, sizeof(little));
	assert_string_equal(little, "2 PSNs ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
