/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One wrong setting on h2 must be one leading finding that names rule, host, port and priority,
 * with its consequences folded under it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fixture/fabric_run.h"

static void pfc_other(struct fabric_run *f)
{
	f->before[1].qos.pfc_enabled = 1 << 4;
}

static void pfc_off(struct fabric_run *f)
{
	f->before[1].qos.pfc_enabled = 0;
}

static void dscp_map(struct fabric_run *f)
{
	struct counters *c = &f->port[1].reading[READ_LOAD_AFTER];

	f->before[1].qos.dscp_prio[26] = 0;
	c->value[METRIC_PRIO_RX_BYTES][0] += 16000000;
	c->value[METRIC_PRIO_RX_BYTES][3] = 100;
}

static void ets_class(struct fabric_run *f)
{
	f->before[1].qos.prio_tc[3] = 0;
}

static void ets_share(struct fabric_run *f)
{
	f->before[1].qos.tc_tx_bw[0] = 90;
	f->before[1].qos.tc_tx_bw[3] = 10;
}

static void mtu(struct fabric_run *f)
{
	f->before[1].qos.mtu = 1500;
	f->before[1].qos.ib_mtu = f->before[1].active_mtu = 1024;
	for (unsigned int i = 0; i < 2; i++)
		f->pair[i].client.mtu = f->pair[i].server.mtu = 1024;
}

/* All packets of h2 leave, and arrive, with the ToS of its rdma_cm. */
static void cm_tos_of(struct fabric_run *f, uint8_t tos)
{
	f->before[1].qos.cm_tos = tos;
	f->pair[1].client_tos = f->pair[0].server_tos = tos;
	for (unsigned int at = 0; at < 2; at++) {
		struct flow *flow = &f->flow[at][1];

		flow->dscp[26] = 0;
		flow->dscp[tos >> 2] = 4000;
		flow->ecn[2] = 0;
		flow->ecn[tos & 3] = 4000;
	}
}

static void cm_tos(struct fabric_run *f)
{
	struct counters *c = &f->port[0].reading[READ_LOAD_AFTER];

	cm_tos_of(f, 10 << 2 | 2);
	c->value[METRIC_PRIO_RX_BYTES][0] += 16000000;
	c->value[METRIC_PRIO_RX_BYTES][3] = 100;
}

static void ecn_off(struct fabric_run *f)
{
	cm_tos_of(f, 104);
}

static const struct {
	const char *name;
	void (*inject)(struct fabric_run *f);
	const char *lead;
	const char *folded[6]; /* "RULE HOST" */
} cases[] = {
	{"pfc-mask", pfc_other, "RC-PFC-002", {"RC-PFC-003 h2", "RC-QOS-005 h2"}},
	{"pfc-off", pfc_off, "RC-PFC-001", {"RC-PFC-002 h2", "RC-PFC-003 h2", "RC-QOS-005 h2"}},
	{"dscp-map", dscp_map, "RC-QOS-003", {"RC-QOS-004 h2", "RC-QOS-005 h2", "RC-QOS-011 h2"}},
	{"ets-class", ets_class, "RC-ETS-002", {"RC-ETS-005 h2"}},
	{"ets-share", ets_share, "RC-ETS-004", {"RC-ETS-005 h2"}},
	{"mtu", mtu, "RC-MTU-002", {"RC-MTU-001 h2"}},
	{"cm-tos", cm_tos, "RC-QOS-013", {"RC-QOS-006 h2", "RC-QOS-011 h1"}},
	{"ecn-off", ecn_off, "RC-ECN-004", {NULL}},
};

static size_t leading_index(const struct findings *all)
{
	size_t lead = all->count, leads = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		if (!finding_violated(f) || f->caused_by >= 0)
			continue;
		print_message("leads: %s %s %s: %s\n", f->rule->id, f->host, f->port, f->text);
		lead = i;
		leads++;
	}
	assert_int_equal(leads, 1);
	return lead;
}

static void check_folded(const struct findings *all, const char *want, size_t lead)
{
	char rule[32], host[32];
	const struct finding *f;

	assert_int_equal(sscanf(want, "%31s %31s", rule, host), 2);
	f = finding_of(all, rule, host);
	if (!f)
		fail_msg("%s is missing", want);
	assert_true(finding_violated(f));
	assert_int_equal(f->caused_by, lead);
}

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct fabric_run f;
		struct findings all;
		const struct finding *lead;
		unsigned int folded = 0;
		size_t at;

		good_run(&f);
		cases[i].inject(&f);
		f.after[1] = f.before[1];
		assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
		print_message("%s\n", cases[i].name);
		at = leading_index(&all);
		lead = &all.list[at];
		assert_string_equal(lead->rule->id, cases[i].lead);
		assert_int_equal(lead->verdict, VERDICT_FAIL);
		assert_string_equal(lead->host, "h2");
		assert_string_equal(lead->port, "roce0");
		assert_int_equal(lead->prio_set, 1 << 3);
		assert_string_equal(lead->expected_path, "profiles/lab.yaml");
		assert_true(lead->evidence_count > 0);
		for (; folded < 6 && cases[i].folded[folded]; folded++)
			check_folded(&all, cases[i].folded[folded], at);
		for (size_t k = 0; k < all.count; k++)
			folded -= finding_violated(&all.list[k]) && k != at;
		assert_int_equal(folded, 0);
		assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 1);
		findings_clear(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
