/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The APP table of dcbnl: what it says of trust and priorities, the order in which it is changed,
 * and which entry the kernel refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcbnl.h"

static void test_trust(void **state)
{
	static const struct {
		const char *name;
		struct dcb_app app[3];
		unsigned int count;
		uint8_t trust, prio26;
	} cases[] = {
		{"none", {{0}}, 0, QOS_TRUST_PCP, QOS_UNMAPPED},
		{"a port alone", {{QOS_APP_DGRAM, 3, 4791}}, 1, QOS_TRUST_PCP, QOS_UNMAPPED},
		{"one DSCP", {{QOS_APP_DSCP, 3, 26}}, 1, QOS_TRUST_DSCP, 3},
		{"two priorities, the highest counts",
		 {{QOS_APP_DSCP, 5, 26}, {QOS_APP_DSCP, 3, 26}},
		 2,
		 QOS_TRUST_DSCP,
		 5},
		{"two priorities, other order",
		 {{QOS_APP_DSCP, 3, 26}, {QOS_APP_DSCP, 5, 26}},
		 2,
		 QOS_TRUST_DSCP,
		 5},
		{"no DSCP and no priority",
		 {{QOS_APP_DSCP, 3, 64}, {QOS_APP_DSCP, 8, 26}},
		 2,
		 QOS_TRUST_PCP,
		 QOS_UNMAPPED},
	};
	struct dcbnl_state *s = calloc(1, sizeof(*s));
	struct err e = {0};

	(void)state;
	s->has_app = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qos q = {0};

		memcpy(s->app, cases[i].app, sizeof(cases[i].app));
		s->app_count = cases[i].count;
		dcbnl_to_qos(s, &q);
		if (q.trust != cases[i].trust || q.dscp_prio[26] != cases[i].prio26)
			fail_msg("%s: trust %u, DSCP 26 -> %u", cases[i].name, q.trust,
				 q.dscp_prio[26]);
		assert_int_equal(dcbnl_app_unique(s, &e),
				 strstr(cases[i].name, "two") ? -ENOTUNIQ : 0);
	}
	free(s);
}

/* "+5:26=3 -5:26=4": the changes as text, so that a case is one line. */
static void changes_text(const struct app_change *c, int n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; i < n; i++)
		used += snprintf(buf + used, size - used, "%s%c%u:%u=%u", i ? " " : "",
				 c[i].add ? '+' : '-', c[i].app.selector, c[i].app.protocol,
				 c[i].app.priority);
}

#define DSCP(prio, dscp)                                                                           \
	{                                                                                          \
		QOS_APP_DSCP, prio, dscp                                                           \
	}
#define UDP(prio, port)                                                                            \
	{                                                                                          \
		QOS_APP_DGRAM, prio, port                                                          \
	}

static const struct {
	const char *name;
	struct dcb_app have[4];
	unsigned int count;
	uint8_t dscp26, dscp48; /* wanted */
	uint16_t udp3;		/* port wanted at priority 3, 0 = none */
	uint64_t mask;
	unsigned int habits;
	const char *want;
} app_cases[] = {
	{"nothing to do", {DSCP(3, 26)}, 1, 3, QOS_UNMAPPED, 0, QOS_BIT(QOS_DSCP_PRIO), 0, ""},
	{"two new", {{0}}, 0, 3, 6, 0, QOS_BIT(QOS_DSCP_PRIO), 0, "+5:26=3 +5:48=6"},
	{"old is deleted before the new is added",
	 {DSCP(4, 26)},
	 1,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 0,
	 "-5:26=4 +5:26=3"},
	{"a driver that replaces is only told the new",
	 {DSCP(4, 26)},
	 1,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_REPLACES,
	 "+5:26=3"},
	{"where the last one counts, a guard stands in while the only one changes",
	 {DSCP(4, 26)},
	 1,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_LAST_RESETS,
	 "+5:0=3 -5:26=4 +5:26=3 -5:0=3"},
	{"none is needed beside another one",
	 {DSCP(1, 8), DSCP(4, 26)},
	 2,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_LAST_RESETS,
	 "-5:26=4 +5:26=3 -5:8=1"},
	{"nor beside a new one",
	 {DSCP(4, 26)},
	 1,
	 QOS_UNMAPPED,
	 6,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_LAST_RESETS,
	 "+5:48=6 -5:26=4"},
	{"nor at the end of all",
	 {DSCP(4, 26)},
	 1,
	 QOS_UNMAPPED,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_LAST_RESETS,
	 "-5:26=4"},
	{"new entries come before the only old one goes",
	 {DSCP(4, 26)},
	 1,
	 3,
	 6,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 0,
	 "+5:48=6 -5:26=4 +5:26=3"},
	{"what is not wanted goes last",
	 {DSCP(1, 8), DSCP(4, 26)},
	 2,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 0,
	 "-5:26=4 +5:26=3 -5:8=1"},
	{"a second priority goes",
	 {DSCP(3, 26), DSCP(4, 26)},
	 2,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 0,
	 "-5:26=4"},
	{"what a replacing driver left behind goes",
	 {DSCP(3, 26), DSCP(4, 26)},
	 2,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 APP_REPLACES,
	 "-5:26=4"},
	{"other selectors are not touched",
	 {UDP(1, 80), DSCP(4, 26)},
	 2,
	 3,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO),
	 0,
	 "-5:26=4 +5:26=3"},
	{"nor DSCPs by the others",
	 {UDP(1, 80), DSCP(4, 26)},
	 2,
	 QOS_UNMAPPED,
	 QOS_UNMAPPED,
	 4791,
	 QOS_BIT(QOS_APP),
	 0,
	 "+3:4791=3 -3:80=1"},
	{"PCP trust: every DSCP goes",
	 {DSCP(4, 26), UDP(1, 80)},
	 2,
	 QOS_UNMAPPED,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_TRUST),
	 0,
	 "-5:26=4"},
	{"what struct qos cannot hold is left alone",
	 {DSCP(3, 64), DSCP(9, 26), {7, 1, 2}, {0, 1, 2}},
	 4,
	 QOS_UNMAPPED,
	 QOS_UNMAPPED,
	 0,
	 QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP),
	 0,
	 ""},
};

static void test_app_changes(void **state)
{
	struct dcbnl_state *s = calloc(1, sizeof(*s));
	struct app_change out[64];
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(app_cases); i++) {
		struct qos q = {.has = app_cases[i].mask, .trust = QOS_TRUST_PCP};
		int n;

		memset(q.dscp_prio, QOS_UNMAPPED, sizeof(q.dscp_prio));
		q.dscp_prio[26] = app_cases[i].dscp26;
		q.dscp_prio[48] = app_cases[i].dscp48;
		if (app_cases[i].udp3)
			q.app[q.app_count++] = (struct qos_app){QOS_APP_DGRAM, 3,
								app_cases[i].udp3};
		memcpy(s->app, app_cases[i].have, sizeof(app_cases[i].have));
		s->app_count = app_cases[i].count;
		n = dcbnl_app_changes(s, &q, app_cases[i].mask, app_cases[i].habits, out,
				      ARRAY_SIZE(out));
		changes_text(out, n, text, sizeof(text));
		if (n < 0 || strcmp(text, app_cases[i].want))
			fail_msg("%s: '%s', not '%s'", app_cases[i].name, text, app_cases[i].want);
		assert_int_equal(
			dcbnl_app_changes(s, &q, app_cases[i].mask, app_cases[i].habits, out, 0),
			n ? -ENOSPC : 0);
	}
	free(s);
}

/* The kernel stops at the entry that is refused: the first that is not as it should be. */
static void test_refused_entry(void **state)
{
	const struct app_change change[] = {{true, {QOS_APP_DSCP, 3, 26}},
					    {false, {QOS_APP_DSCP, 1, 8}},
					    {true, {QOS_APP_DSCP, 6, 48}},
					    {true, {QOS_APP_DSCP, 7, 56}}};
	struct dcbnl_state now = {.app_count = 1, .app = {{QOS_APP_DSCP, 3, 26}}};
	struct err e;

	(void)state;
	err_set(&e, -EBUSY, "roce0: refused");
	dcbnl_app_error(&now, change, 4, &e);
	assert_string_equal(e.text, "APP entry 5:48 -> priority 6: roce0: refused");
	now.app[now.app_count++] = (struct dcb_app){QOS_APP_DSCP, 1, 8};
	err_set(&e, -EBUSY, "roce0: refused");
	dcbnl_app_error(&now, change, 4, &e);
	assert_string_equal(e.text, "APP entry 5:8 -> priority 1: roce0: refused");
	err_set(&e, -EBUSY, "roce0: refused");
	dcbnl_app_error(&now, change, 1, &e);
	assert_string_equal(e.text, "roce0: refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_app_changes),
		cmocka_unit_test(test_refused_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
