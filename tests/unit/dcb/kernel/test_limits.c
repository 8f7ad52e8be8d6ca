/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What drivers refuse: for each row of the limits one state that its driver takes and one that it
 * does not. Rows that no driver has, and rows without such a pair, fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "dcb/kernel/driver.h"

#define ETS_BITS  (QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW))
#define DSCP_BITS (QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO))

struct limit_case {
	enum driver_limit limit;
	const char *driver;
	enum qos_field_id field;
	struct qos good, bad, now;
};

#define TWO_CLASSES(a, b)                                                                          \
	{                                                                                          \
		.has = ETS_BITS, .prio_tc = {0, 1, 1, 1, 0, 0, 0, 0},                              \
		.tc_tsa = {QOS_TSA_ETS, QOS_TSA_ETS}, .tc_tx_bw = {                                \
			a,                                                                         \
			b                                                                          \
		}                                                                                  \
	}
#define FIRST_TSA(tsa)                                                                             \
	{                                                                                          \
		.has = QOS_BIT(QOS_TC_TSA), .tc_tsa = { tsa }                                      \
	}
#define ONE_DSCP(prio)                                                                             \
	{                                                                                          \
		.has = DSCP_BITS, .trust = QOS_TRUST_DSCP, .dscp_prio = { prio }                   \
	}

#define PFC_AND_CLASSES (QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_PFC_ENABLED))
/* One UDP entry, and DSCPs from 0 on. */
#define MANY_DSCPS(count)                                                                          \
	{                                                                                          \
		.has = DSCP_BITS | QOS_BIT(QOS_APP), .trust = QOS_TRUST_DSCP,                      \
		.dscp_prio = {[count... QOS_DSCPS - 1] = QOS_UNMAPPED}, .app_count = 1,            \
		.app = { {QOS_APP_DGRAM, 3, 4791} }                                                \
	}

static const struct limit_case cases[] = {
	{LIMIT_SHARES_100,
	 "mlx5_core",
	 QOS_TC_TX_BW,
	 TWO_CLASSES(40, 60),
	 TWO_CLASSES(40, 50),
	 {0}},
	{LIMIT_NO_SHARE_0, "bnxt_en", QOS_TC_TX_BW, TWO_CLASSES(40, 60), TWO_CLASSES(100, 0), {0}},
	{LIMIT_NO_CBS,
	 "mlx5_core",
	 QOS_TC_TSA,
	 FIRST_TSA(QOS_TSA_STRICT),
	 FIRST_TSA(QOS_TSA_CBS),
	 {0}},
	{LIMIT_NO_VENDOR,
	 "bnxt_en",
	 QOS_TC_TSA,
	 FIRST_TSA(QOS_TSA_STRICT),
	 FIRST_TSA(QOS_TSA_VENDOR),
	 {0}},
	{LIMIT_NO_GAP,
	 "ice",
	 QOS_PRIO_TC,
	 TWO_CLASSES(40, 60),
	 {.has = QOS_BIT(QOS_PRIO_TC), .prio_tc = {0, 2}},
	 {0}},
	{LIMIT_ONE_LOSSLESS,
	 "ice",
	 QOS_PFC_ENABLED,
	 {.has = QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_PFC_ENABLED),
	  .prio_tc = {0, 1, 1},
	  .pfc_enabled = 6},
	 {.has = QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_PFC_ENABLED),
	  .prio_tc = {0, 1, 2},
	  .pfc_enabled = 6},
	 {0}},
	{LIMIT_ONE_LOSSLESS,
	 "ice",
	 QOS_PFC_ENABLED,
	 {.has = DSCP_BITS | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_PFC_ENABLED),
	  .trust = QOS_TRUST_DSCP,
	  .pfc_enabled = 2},
	 {.has = DSCP_BITS | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_PFC_ENABLED),
	  .trust = QOS_TRUST_DSCP,
	  .pfc_enabled = 6},
	 {0}},
	{LIMIT_DSCP_IS_CLASS,
	 "ice",
	 QOS_PRIO_TC,
	 {.has = DSCP_BITS | QOS_BIT(QOS_PRIO_TC),
	  .trust = QOS_TRUST_DSCP,
	  .prio_tc = {0, 1, 2, 3, 0}},
	 {.has = DSCP_BITS | QOS_BIT(QOS_PRIO_TC),
	  .trust = QOS_TRUST_DSCP,
	  .prio_tc = {0, 1, 2, 2, 0}},
	 {.has = QOS_BIT(QOS_ETS_CAP), .ets_cap = 4}},
	{LIMIT_DSCP_IS_CLASS,
	 "ice",
	 QOS_DSCP_PRIO,
	 ONE_DSCP(3),
	 ONE_DSCP(4),
	 {.has = QOS_BIT(QOS_ETS_CAP), .ets_cap = 4}},
	{LIMIT_DSCP_ONLY,
	 "mlx5_core",
	 QOS_APP,
	 {.has = QOS_BIT(QOS_APP)},
	 {.has = QOS_BIT(QOS_APP), .app_count = 1, .app = {{QOS_APP_DGRAM, 3, 4791}}},
	 {0}},
	{LIMIT_NO_APP, "mlx4_en", QOS_DSCP_PRIO, {0}, ONE_DSCP(3), {0}},
	{LIMIT_NO_APP_DELETE, "qede", QOS_DSCP_PRIO, ONE_DSCP(3), ONE_DSCP(4), ONE_DSCP(3)},
	{LIMIT_NO_ETS, "cxgb4", QOS_TC_TX_BW, {0}, TWO_CLASSES(40, 60), {0}},
	{LIMIT_NO_PFC, "cxgb4", QOS_PFC_ENABLED, {0}, {.has = QOS_BIT(QOS_PFC_ENABLED)}, {0}},
	{LIMIT_RATE_STEPS,
	 "mlx5_core",
	 QOS_TC_MAXRATE,
	 {.has = QOS_BIT(QOS_TC_MAXRATE), .tc_maxrate_kbps = {0, 25500000, 26000000, 255000000}},
	 {.has = QOS_BIT(QOS_TC_MAXRATE), .tc_maxrate_kbps = {0, 25600000}},
	 {0}},
	{LIMIT_RATE_STEPS,
	 "mlx5_core",
	 QOS_TC_MAXRATE,
	 {.has = QOS_BIT(QOS_TC_MAXRATE), .tc_maxrate_kbps = {100000}},
	 {.has = QOS_BIT(QOS_TC_MAXRATE), .tc_maxrate_kbps = {150000}},
	 {0}},
	{LIMIT_SHARES_MOST_100,
	 "bnxt_en",
	 QOS_TC_TX_BW,
	 TWO_CLASSES(40, 50),
	 TWO_CLASSES(60, 50),
	 {0}},
	{LIMIT_ETS_IN_USE,
	 "hns3",
	 QOS_TC_TSA,
	 TWO_CLASSES(40, 60),
	 {.has = ETS_BITS,
	  .prio_tc = {0, 1},
	  .tc_tsa = {QOS_TSA_ETS, 0, QOS_TSA_ETS},
	  .tc_tx_bw = {40, 0, 60}},
	 {0}},
	{LIMIT_PFC_BY_CLASS,
	 "hns3",
	 QOS_PFC_ENABLED,
	 {.has = PFC_AND_CLASSES, .prio_tc = {0, 1, 1}, .pfc_enabled = 6},
	 {.has = PFC_AND_CLASSES, .prio_tc = {0, 1, 1}, .pfc_enabled = 2},
	 {0}},
	{LIMIT_ALWAYS_WILLING,
	 "hns3",
	 QOS_ETS_WILLING,
	 {.has = QOS_BIT(QOS_ETS_WILLING), .ets_willing = 1},
	 {.has = QOS_BIT(QOS_ETS_WILLING)},
	 {0}},
	{LIMIT_NEVER_WILLING,
	 "bnxt_en",
	 QOS_ETS_WILLING,
	 {.has = QOS_BIT(QOS_ETS_WILLING)},
	 {.has = QOS_BIT(QOS_ETS_WILLING), .ets_willing = 1},
	 {0}},
	{LIMIT_NO_DELAY,
	 "i40e",
	 QOS_PFC_DELAY,
	 {.has = QOS_BIT(QOS_PFC_DELAY), .pfc_delay = 7},
	 {.has = QOS_BIT(QOS_PFC_DELAY), .pfc_delay = 8},
	 {.has = QOS_BIT(QOS_PFC_DELAY), .pfc_delay = 7}},
	{LIMIT_32_APPS, "i40e", QOS_DSCP_PRIO, MANY_DSCPS(31), MANY_DSCPS(32), {0}},
	{LIMIT_PFC_AFTER_ETS,
	 "bnxt_en",
	 QOS_PFC_ENABLED,
	 TWO_CLASSES(40, 60),
	 {.has = QOS_BIT(QOS_PFC_ENABLED), .pfc_enabled = 8},
	 {0}},
};

/* Rows that refuse whatever is asked have no good state. */
static bool refuses_all(enum driver_limit limit)
{
	return limit == LIMIT_NO_APP || limit == LIMIT_NO_ETS || limit == LIMIT_NO_PFC;
}

static void test_pairs(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct limit_case *c = &cases[i];
		struct driver_quirk only = *driver_quirk_find(c->driver);
		char reason[192];

		assert_true(only.limits & c->limit);
		only.limits = c->limit;
		if (!refuses_all(c->limit) &&
		    driver_refuses(&only, c->field, &c->now, &c->good, reason, sizeof(reason)))
			fail_msg("case %u: good, but: %s", i, reason);
		if (!driver_refuses(&only, c->field, &c->now, &c->bad, reason, sizeof(reason)))
			fail_msg("case %u: bad, and nothing is said", i);
		assert_true(!strncmp(reason, c->driver, strlen(c->driver)));
		/* Another field's step is none of its business. */
		assert_false(
			driver_refuses(&only, QOS_MTU, &c->now, &c->bad, reason, sizeof(reason)));
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < driver_limit_row_count; i++) {
		const struct driver_limit_row *row = &driver_limit_rows[i];
		const struct driver_quirk *q = driver_quirks;
		bool has_case = false;

		while (q->driver && !(q->limits & row->limit))
			q++;
		assert_non_null(q->driver);
		for (unsigned int k = 0; k < ARRAY_SIZE(cases); k++)
			has_case |= cases[k].limit == row->limit &&
				    row->fields & QOS_BIT(cases[k].field);
		if (!has_case)
			fail_msg("no case for: %s", row->text);
		assert_true(strlen(row->text) < 170);
	}
}

/* Any driver we do not know is asked, and not judged before. */
static void test_unknown(void **state)
{
	(void)state;
	assert_int_equal(driver_quirk_find("another")->limits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
