/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan that is kept: read back it is the same, and a host that has changed since is told by its
 * port and field.
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
#include <unistd.h>

#include "cmd/apply/plan_file.h"

static char path[40];

static int set_up(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/test_plan_file.XXXXXX.json");
	fd = mkstemps(path, 5);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

/* One port whose PFC and MTU are to change. */
static void make(struct plan *plan, struct port_users *use, struct plans *plans, uint8_t pfc_now)
{
	struct qos want = {
		.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU), .pfc_enabled = 8, .mtu = 9000};
	struct qos have = {.has = want.has, .pfc_enabled = pfc_now, .mtu = 1500};
	int line[QOS_FIELD_COUNT] = {0};

	line[QOS_MTU] = 7;
	plan_make(&want, line, &have, "mlx5_core", plan);
	strcpy(plan->ifname, "roce0");
	memset(use, 0, sizeof(*use));
	*plans = (struct plans){.plan = plan, .use = use, .count = 1};
}

static json_t *keep(const struct plans *plans)
{
	struct profile profile = {.intent = INTENT_LOSSLESS, .disruption = CHOICE_DENY}, read;
	struct err e = {0};
	json_t *doc;

	strcpy(profile.name, "a");
	strcpy(profile.path, "a.yaml");
	profile.qos.has = QOS_BIT(QOS_MTU);
	profile.qos.mtu = 9000;
	profile.interface_count = 2;
	strcpy(profile.interface[0], "roce*");
	strcpy(profile.interface[1], "bond0");
	profile.confirm_within_s = 90;
	profile.line[QOS_MTU] = 12;
	profile.agent = AGENT_LLDPAD;
	profile.lldp_peer = CHOICE_FAIL;
	profile.lldp_peer_match = LLDP_PEER_ETS;
	if (plan_file_write(plans, &profile, path, &e) || plan_file_read(path, &read, &doc, &e))
		fail_msg("%s", e.text);
	assert_string_equal(read.name, "a");
	assert_int_equal(read.disruption, CHOICE_DENY);
	assert_int_equal(read.qos.has, profile.qos.has);
	assert_int_equal(read.interface_count, 2);
	assert_string_equal(read.interface[0], "roce*");
	assert_string_equal(read.interface[1], "bond0");
	assert_int_equal(read.confirm_within_s, 90);
	assert_false(read.persist);
	assert_int_equal(read.line[QOS_MTU], 12);
	assert_int_equal(read.agent, AGENT_LLDPAD);
	assert_int_equal(read.lldp_peer, CHOICE_FAIL);
	assert_int_equal(read.lldp_peer_match, LLDP_PEER_ETS);
	return doc;
}

static void test_same(void **state)
{
	struct port_users use;
	struct plans plans;
	struct plan plan;
	struct err e = {0};
	json_t *doc;

	(void)state;
	make(&plan, &use, &plans, 0);
	doc = keep(&plans);
	assert_int_equal(plan_file_check(doc, &plans, &e), 0);
	/* A profile out of a file has no lines. */
	plan.step[0].line = plan.step[1].line = 0;
	assert_int_equal(plan_file_check(doc, &plans, &e), 0);
	json_decref(doc);
}

static void test_changed(void **state)
{
	struct port_users use;
	struct plans plans;
	struct plan plan;
	struct err e = {0};
	json_t *doc;

	(void)state;
	make(&plan, &use, &plans, 0);
	doc = keep(&plans);
	make(&plan, &use, &plans, 16);
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_string_equal(e.text, "roce0: pfc.enabled has changed since the plan was made");
	make(&plan, &use, &plans, 8); /* done by somebody else */
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_non_null(strstr(e.text, "pfc.enabled"));
	make(&plan, &use, &plans, 0);
	strcpy(plan.ifname, "roce1");
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_string_equal(e.text, "roce0 is gone since the plan was made");
	make(&plan, &use, &plans, 0);
	strcpy(plan.ibdev, "other");
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_non_null(strstr(e.text, "roce0: the RDMA device was "));
	plans.count = 0;
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_string_equal(e.text, "roce0 is gone since the plan was made");
	json_array_clear(json_object_get(doc, "ports"));
	make(&plan, &use, &plans, 0);
	assert_int_equal(plan_file_check(doc, &plans, &e), -ESTALE);
	assert_string_equal(e.text, "roce0 did not exist when the plan was made");
	json_decref(doc);
}

/* A plan whose profile is whole but for one member. */
#define PLAN_WITH(path, member)                                                                    \
	"{\"schema\":\"rocecheck.plan/1\",\"ports\":[],\"profile\":{\"name\":\"a\",\"path\":"      \
	"\"" path "\",\"intent\":\"lossless\",\"on_unsupported\":\"fail\",\"disruption\":\"ask\"," \
	"\"qos\":{}," member "}}"
#define PLAN_OF(member) PLAN_WITH("a", member)

static void test_no_plan(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"schema\":\"rocecheck.plan/1\"}",
		"{\"schema\":\"rocecheck.plan/1\",\"ports\":[]}",
		"{\"schema\":\"rocecheck.plan/1\",\"ports\":[],\"profile\":{\"name\":3}}",
		PLAN_OF("\"interfaces\":3"),
		PLAN_OF("\"interfaces\":[3]"),
		PLAN_OF("\"confirm_within_s\":-1"),
		PLAN_OF("\"confirm_within_s\":\"60\""),
		PLAN_OF("\"persist\":3"),
		PLAN_OF("\"agent\":\"lldpd\""),
		PLAN_OF("\"peer\":3"),
		PLAN_OF("\"peer_match\":\"pfc\""),
		PLAN_OF("\"peer_match\":8"),
		PLAN_OF("\"interfaces\":[\"\\u001b]0;x\"]"),
		PLAN_WITH("\\u009b2J", "\"persist\":true"),
		"{\"schema\":\"rocecheck.plan/2\",\"ports\":[],\"profile\":{}}",
	};
	struct profile profile;
	struct err e = {0};
	json_t *doc;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(bad[i], f);
		fclose(f);
		if (!plan_file_read(path, &profile, &doc, &e))
			fail_msg("taken: %s", bad[i]);
		assert_non_null(strstr(e.text, path));
	}
	assert_int_equal(truncate(path, (16 << 20) + 1), 0);
	assert_int_equal(plan_file_read(path, &profile, &doc, &e), -EFBIG);
	assert_non_null(strstr(e.text, "more than 16 MiB"));
	assert_true(plan_file_is("x.json"));
	assert_true(plan_file_is("-"));
	assert_false(plan_file_is(".json"));
	assert_false(plan_file_is("lab"));
}

/* The same, whole: none of the others was refused for something else. */
static void test_least(void **state)
{
	FILE *f = fopen(path, "w");
	struct profile profile;
	struct err e = {0};
	json_t *doc;

	(void)state;
	assert_non_null(f);
	fputs(PLAN_OF("\"persist\":true"), f);
	fclose(f);
	if (plan_file_read(path, &profile, &doc, &e))
		fail_msg("%s", e.text);
	assert_int_equal(profile.interface_count, 0);
	assert_true(profile.persist);
	assert_int_equal(profile.agent, AGENT_NONE);
	assert_int_equal(profile.lldp_peer, CHOICE_WARN);
	assert_int_equal(profile.lldp_peer_match, LLDP_PEER_PFC | LLDP_PEER_ETS | LLDP_PEER_APP);
	json_decref(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_plan, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_least, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
