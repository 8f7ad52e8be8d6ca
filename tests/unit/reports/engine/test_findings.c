/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: exit codes by verdict, severity and --allow-inconclusive; folding of consequences;
 * order of telling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "reports/engine/causes.h"
#include "reports/engine/findings.h"
#include "reports/engine/finding_sort.h"
#include "reports/engine/rule.h"

/* One finding as a test states it. */
struct given {
	const char *rule;
	enum verdict verdict;
	const char *host;
};

static void take(struct findings *all, const struct given *given, size_t count)
{
	memset(all, 0, sizeof(*all));
	for (size_t i = 0; i < count && given[i].rule; i++) {
		finding_begin(all, rule_find(given[i].rule), given[i].host, "roce0", 1 << 3);
		finding_set(all, given[i].verdict, "text %zu", i);
	}
	assert_int_equal(all->err, 0);
}

static const struct {
	const char *name;
	struct given given[3];
	enum severity fail_on;
	const char *allow;
	int want;
} exits[] = {
	{"nothing", {{NULL, 0, NULL}}, SEVERITY_ERROR, NULL, 0},
	{"pass", {{"RC-PFC-002", VERDICT_PASS, "h1"}}, SEVERITY_ERROR, NULL, 0},
	{"skip", {{"RC-PFC-002", VERDICT_SKIP, "h1"}}, SEVERITY_WARN, NULL, 0},
	{"fail", {{"RC-PFC-002", VERDICT_FAIL, "h1"}}, SEVERITY_ERROR, NULL, 1},
	{"warn", {{"RC-ETS-005", VERDICT_WARN, "h1"}}, SEVERITY_ERROR, NULL, 0},
	{"warn, asked", {{"RC-ETS-005", VERDICT_WARN, "h1"}}, SEVERITY_WARN, NULL, 1},
	{"info, warn asked", {{"RC-META-005", VERDICT_WARN, "h1"}}, SEVERITY_WARN, NULL, 0},
	{"info, asked", {{"RC-META-005", VERDICT_WARN, "h1"}}, SEVERITY_INFO, NULL, 1},
	{"error rule that warns", {{"RC-QOS-013", VERDICT_WARN, "h1"}}, SEVERITY_ERROR, NULL, 0},
	{"open", {{"RC-PFC-010", VERDICT_INCONCLUSIVE, "h1"}}, SEVERITY_ERROR, NULL, 4},
	{"open, allowed",
	 {{"RC-PFC-010", VERDICT_INCONCLUSIVE, "h1"}},
	 SEVERITY_ERROR,
	 "RC-PFC-010",
	 0},
	{"open, other allowed",
	 {{"RC-PFC-010", VERDICT_INCONCLUSIVE, "h1"}},
	 SEVERITY_ERROR,
	 "RC-PFC-004",
	 4},
	{"open, but only warn",
	 {{"RC-TRN-004", VERDICT_INCONCLUSIVE, "h1"}},
	 SEVERITY_ERROR,
	 NULL,
	 0},
	{"host missing", {{"RC-META-007", VERDICT_FAIL, "h2"}}, SEVERITY_ERROR, NULL, 4},
	{"host missing cannot be allowed",
	 {{"RC-META-007", VERDICT_FAIL, "h2"}},
	 SEVERITY_ERROR,
	 "RC-META-007",
	 4},
	{"nothing judged", {{"RC-META-010", VERDICT_FAIL, ""}}, SEVERITY_ERROR, NULL, 4},
	{"findings win over incomplete",
	 {{"RC-META-007", VERDICT_FAIL, "h2"},
	  {"RC-PFC-010", VERDICT_INCONCLUSIVE, "h1"},
	  {"RC-PFC-002", VERDICT_FAIL, "h1"}},
	 SEVERITY_ERROR,
	 NULL,
	 1},
};

static void test_exit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exits); i++) {
		struct findings all;
		int got;

		take(&all, exits[i].given, 3);
		got = findings_exit(&all, exits[i].fail_on, &exits[i].allow,
				    exits[i].allow != NULL);
		if (got != exits[i].want)
			fail_msg("%s: exit %d, want %d", exits[i].name, got, exits[i].want);
		findings_clear(&all);
	}
}

static void test_severity_of_verdict(void **state)
{
	const struct given given[] = {{"RC-ETS-005", VERDICT_FAIL, "h1"},
				      {"RC-PFC-002", VERDICT_FAIL, "h1"},
				      {"RC-META-005", VERDICT_FAIL, "h1"}};
	struct findings all;

	(void)state;
	take(&all, given, 3);
	assert_int_equal(all.list[0].verdict, VERDICT_WARN);
	assert_int_equal(all.list[1].verdict, VERDICT_FAIL);
	assert_int_equal(all.list[2].verdict, VERDICT_WARN);
	assert_int_equal(finding_severity(&all.list[0]), SEVERITY_WARN);
	assert_int_equal(finding_severity(&all.list[1]), SEVERITY_ERROR);
	assert_int_equal(finding_severity(&all.list[2]), SEVERITY_INFO);
	findings_clear(&all);
}

/* h1 and h2 exchange traffic, h3 takes no part. */
static void three_hosts(struct run *run, struct run_host host[3], struct run_port port[3],
			struct run_pair *pair)
{
	memset(run, 0, sizeof(*run));
	memset(host, 0, 3 * sizeof(*host));
	memset(port, 0, 3 * sizeof(*port));
	memset(pair, 0, sizeof(*pair));
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(host[i].name, sizeof(host[i].name), "h%u", i + 1);
		snprintf(port[i].netdev, sizeof(port[i].netdev), "roce0");
		host[i].port = &port[i];
		host[i].port_count = 1;
	}
	pair->server_host = 1;
	run->host = host;
	run->host_count = 3;
	run->pair = pair;
	run->pair_count = 1;
}

static const struct {
	const char *name;
	struct given given[3];
	int caused_by[3];
} links[] = {
	{"same port",
	 {{"RC-PFC-003", VERDICT_FAIL, "h1"}, {"RC-PFC-002", VERDICT_FAIL, "h1"}},
	 {1, -1}},
	{"other host",
	 {{"RC-PFC-003", VERDICT_FAIL, "h1"}, {"RC-PFC-002", VERDICT_FAIL, "h2"}},
	 {-1, -1}},
	{"partner in traffic",
	 {{"RC-QOS-011", VERDICT_FAIL, "h1"}, {"RC-QOS-013", VERDICT_FAIL, "h2"}},
	 {1, -1}},
	{"a load that was not reached, by the partner's cause",
	 {{"RC-META-002", VERDICT_WARN, "h1"}, {"RC-MTU-003", VERDICT_FAIL, "h2"}},
	 {1, -1}},
	{"packets too long for the path explain the gaps they leave",
	 {{"RC-PFC-010", VERDICT_FAIL, "h2"}, {"RC-MTU-003", VERDICT_FAIL, "h1"}},
	 {1, -1}},
	{"corruption explains gaps and their repair",
	 {{"RC-TRN-006", VERDICT_FAIL, "h1"},
	  {"RC-PFC-010", VERDICT_FAIL, "h1"},
	  {"RC-TRN-001", VERDICT_FAIL, "h1"}},
	 {-1, 0, 0}},
	{"no partner",
	 {{"RC-QOS-011", VERDICT_FAIL, "h1"}, {"RC-QOS-013", VERDICT_FAIL, "h3"}},
	 {-1, -1}},
	{"own cause before the partner's",
	 {{"RC-QOS-013", VERDICT_FAIL, "h2"},
	  {"RC-QOS-011", VERDICT_FAIL, "h1"},
	  {"RC-QOS-003", VERDICT_FAIL, "h1"}},
	 {-1, 2, -1}},
	{"to the root",
	 {{"RC-PFC-003", VERDICT_FAIL, "h1"},
	  {"RC-PFC-002", VERDICT_FAIL, "h1"},
	  {"RC-PFC-001", VERDICT_FAIL, "h1"}},
	 {2, 2, -1}},
	{"a warning explains no error",
	 {{"RC-PFC-010", VERDICT_FAIL, "h1"}, {"RC-QOS-013", VERDICT_WARN, "h1"}},
	 {-1, -1}},
	{"what passed explains nothing",
	 {{"RC-PFC-003", VERDICT_FAIL, "h1"}, {"RC-PFC-002", VERDICT_PASS, "h1"}},
	 {-1, -1}},
	{"what passed is not explained",
	 {{"RC-PFC-003", VERDICT_PASS, "h1"}, {"RC-PFC-002", VERDICT_FAIL, "h1"}},
	 {-1, -1}},
};

static void test_links(void **state)
{
	static struct run_port port[3];
	static struct run_host host[3];
	struct run_pair pair;
	struct run run;

	(void)state;
	three_hosts(&run, host, port, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		struct findings all;

		take(&all, links[i].given, 3);
		findings_set_causes(&all, &run);
		for (size_t k = 0; k < all.count; k++)
			if (all.list[k].caused_by != links[i].caused_by[k])
				fail_msg("%s: %zu is caused by %d", links[i].name, k,
					 all.list[k].caused_by);
		findings_clear(&all);
	}
}

static void test_order(void **state)
{
	static const struct given given[] = {
		{"RC-META-007", VERDICT_FAIL, "h3"}, {"RC-ETS-001", VERDICT_PASS, "h1"},
		{"RC-TRN-004", VERDICT_WARN, "h2"},  {"RC-PFC-004", VERDICT_INCONCLUSIVE, "h1"},
		{"RC-PFC-003", VERDICT_FAIL, "h1"},  {"RC-ENV-001", VERDICT_SKIP, "h1"},
		{"RC-GID-006", VERDICT_FAIL, "h1"},  {"RC-PFC-002", VERDICT_FAIL, "h1"},
	};
	static const size_t want[] = {7, 4, 6, 0, 2, 3, 5, 1};
	static struct run_port port[3];
	static struct run_host host[3];
	struct run_pair pair;
	struct findings all;
	struct finding_order order;
	struct run run;

	(void)state;
	three_hosts(&run, host, port, &pair);
	take(&all, given, ARRAY_SIZE(given));
	findings_set_causes(&all, &run);
	assert_int_equal(findings_sort(&all, &order), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(order.at[i], want[i]);
		assert_int_equal(order.place[want[i]], i);
	}
	assert_int_equal(leading_count(&all), 4);
	assert_int_equal(verdict_count(&all, VERDICT_FAIL), 4);
	finding_order_clear(&order);
	findings_clear(&all);
}

static void test_many(void **state)
{
	struct findings all = {0};

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		finding_begin(&all, &rule_table[0], "h1", "roce0", 0);
		finding_evidence(&all, EVIDENCE_HOST, "item %u", i);
		finding_set(&all, VERDICT_PASS, "number");
		finding_append(&all, " %u", i);
	}
	assert_int_equal(all.err, 0);
	assert_int_equal(all.count, 1000);
	assert_string_equal(all.list[999].text, "number 999");
	assert_string_equal(all.list[500].evidence[0].text, "item 500");
	findings_clear(&all);
	findings_clear(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit),  cmocka_unit_test(test_severity_of_verdict),
		cmocka_unit_test(test_links), cmocka_unit_test(test_order),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
