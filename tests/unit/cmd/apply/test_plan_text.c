/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of plans: long values are wrapped and no line is too long, a refusal comes first, and
 * settings that already match are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/apply/plan_text.h"

static const char *print(struct plan *plan, const struct profile *profile)
{
	static char text[8192];
	static struct port_users use;
	struct plans plans = {.plan = plan, .use = &use, .count = 1};
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	cmd_plans_print(&plans, profile, out, false);
	fclose(out);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		assert_true(end - line <= 100);
	return text;
}

static void fill(struct profile *profile, struct qos *have)
{
	struct qos *want = &profile->qos;

	memset(have, 0, sizeof(*have));
	memset(profile, 0, sizeof(*profile));
	strcpy(profile->name, "lab");
	strcpy(profile->path, "/etc/rocecheck/lab.yaml");
	want->has = QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU) |
		    QOS_BIT(QOS_CM_TOS);
	have->has = want->has & ~QOS_BIT(QOS_CM_TOS);
	memset(have->dscp_prio, QOS_UNMAPPED, sizeof(have->dscp_prio));
	for (unsigned int d = 0; d < QOS_DSCPS; d++)
		want->dscp_prio[d] = d / 8;
	want->pfc_enabled = 1 << 3;
	want->mtu = have->mtu = 4200;
	want->cm_tos = 106;
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		profile->line[id] = 10 + id;
}

static void plan_fill(const struct profile *profile, const struct qos *have, struct plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan_make(&profile->qos, profile->line, have, "labnic", plan);
	strcpy(plan->ifname, "roce0");
	strcpy(plan->ibdev, "rxe0");
}

static void test_changes(void **state)
{
	static struct profile profile;
	static struct plan plan;
	struct qos have;
	const char *text;

	(void)state;
	fill(&profile, &have);
	plan_fill(&profile, &have, &plan);
	text = print(&plan, &profile);
	assert_non_null(strstr(text,
			       "Profile: /etc/rocecheck/lab.yaml\nroce0 (rxe0)  driver labnic\n"
			       "    driver support: written from driver source code, "));
	assert_non_null(strstr(text, "  ~ app.dscp             (unset) -> 0-7:0 8-15:1 "));
	assert_non_null(strstr(text, " 56-63:7"));
	assert_non_null(strstr(text, "  ~ pfc.enabled          [] -> [3]  "));
	assert_non_null(
		strstr(text, "  ? rdma.cm_default_tos  unknown -> {dscp: 26, ecn: ect0}  "));
	assert_non_null(strstr(text, "\n    already match: mtu.netdev\n"));
	assert_non_null(strstr(text,
			       "\nSigns: ~ change, ? set (value now unknown); {} [] "
			       "(unset): no entry\nDisruption: no link flap, no port "
			       "reset\nPlan: 2 to change (~), 1 to set (?), 1 already matches "
			       "on 1 of 1 port."));
}

static void test_old_priorities(void **state)
{
	static struct profile profile;
	static struct plan plan;
	struct qos have;

	(void)state;
	fill(&profile, &have);
	memcpy(have.dscp_prio, profile.qos.dscp_prio, sizeof(have.dscp_prio));
	have.dscp_prio[26] = QOS_UNMAPPED;
	have.dscp_prio[48] = have.dscp_prio[49] = 0;
	plan_fill(&profile, &have, &plan);
	assert_non_null(strstr(print(&plan, &profile), " 26:(unset)->3 48-49:0->6 "));
}

static void test_refused(void **state)
{
	static struct profile profile;
	static struct plan plan;
	struct qos have;

	(void)state;
	fill(&profile, &have);
	have.has &= ~QOS_BIT(QOS_PFC_ENABLED);
	plan_fill(&profile, &have, &plan);
	assert_string_equal(strtok((char *)print(&plan, &profile), "\n"),
			    "1 of 4 profile settings is not supported on roce0,");
	assert_non_null(strstr(strtok(NULL, ""), "  ! pfc.enabled          wanted [3]  "
						 "unsupported: the device does not offer it  "));
	have.has = 0;
	plan_fill(&profile, &have, &plan);
	assert_non_null(strstr(print(&plan, &profile),
			       "  ! unsupported (the device does not offer it): app.dscp, "
			       "pfc.enabled, mtu.netdev\n"));
}

static void test_nothing(void **state)
{
	static struct profile profile;
	static struct plan plan;
	struct qos have;

	(void)state;
	fill(&profile, &have);
	plan_fill(&profile, &profile.qos, &plan);
	assert_string_equal(print(&plan, &profile), "Nothing to do: roce0 already matches lab.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_old_priorities),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
