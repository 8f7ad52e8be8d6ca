/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of one host, as `doctor` runs them: each has a case that passes, one that is violated and
 * one without evidence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/reports/rules/host_faults.h"

#define PASS VERDICT_PASS
#define SKIP VERDICT_SKIP
#define OPEN VERDICT_INCONCLUSIVE
#define WARN VERDICT_WARN
#define FAIL VERDICT_FAIL

static const struct {
	const char *rule;
	void (*change)(struct one_host *h);
	enum verdict want;
	const char *says;
} cases[] = {
	{"RC-ECN-001", NULL, PASS, "priority 3"},
	{"RC-ECN-001", np_off, WARN, "off for priority 3"},
	{"RC-ECN-001", np_elsewhere, WARN, NULL},
	{"RC-ECN-001", blind, OPEN, NULL},
	{"RC-ECN-001", guest, SKIP, "outside the guest"},
	{"RC-ECN-002", NULL, PASS, NULL},
	{"RC-ECN-002", rp_off, WARN, NULL},
	{"RC-ECN-002", blind, OPEN, NULL},
	{"RC-ECN-003", NULL, PASS, NULL},
	{"RC-ECN-003", cnp_other, WARN, "cnp_dscp is 4, the profile wants 48"},
	{"RC-ECN-003", blind, OPEN, NULL},
	{"RC-ECN-003", no_profile, SKIP, "no profile was given"},
	{"RC-ECN-013", NULL, PASS, NULL},
	{"RC-ECN-013", irdma, WARN, "irdma"},
	{"RC-ECN-013", stranger, OPEN, NULL},
	{"RC-ENV-002", NULL, SKIP, NULL},
	{"RC-ENV-002", pvrdma, PASS, "cannot be seen from here"},
	{"RC-ENV-002", pvrdma_v1, WARN, "before RoCE v2"},
	{"RC-ENV-002", pvrdma_blind, OPEN, NULL},
	{"RC-ENV-008", NULL, SKIP, NULL},
	{"RC-ENV-008", mana, PASS, NULL},
	{"RC-ENV-008", mana_old_kernel, FAIL, "needs 6.8"},
	{"RC-ENV-008", mana_kernel_5, FAIL, "needs 6.8"},
	{"RC-ENV-008", mana_kernel_10, PASS, NULL},
	{"RC-ENV-008", mana_old_core, FAIL, "needs 50"},
	{"RC-ENV-008", mana_unknown, OPEN, NULL},
	{"RC-ETS-008", NULL, PASS, NULL},
	{"RC-ETS-008", few_classes, FAIL, "class 6 is used, the port has 4"},
	{"RC-ETS-008", no_cap, SKIP, NULL},
	{"RC-ETS-008", blind, OPEN, NULL},
	{"RC-ETS-009", NULL, PASS, NULL},
	{"RC-ETS-009", limited, WARN, "1000000 kbit/s"},
	{"RC-ETS-009", limited_as_asked, PASS, NULL},
	{"RC-ETS-009", no_rates, SKIP, NULL},
	{"RC-ETS-010", NULL, PASS, NULL},
	{"RC-ETS-010", strict_bulk, WARN, "class 1 is strict"},
	{"RC-ETS-010", strict_limited, PASS, NULL},
	{"RC-ETS-010", blind, OPEN, NULL},
	{"RC-GID-008", NULL, PASS, NULL},
	{"RC-GID-008", cm_v1, WARN, NULL},
	{"RC-GID-008", cm_v1_asked, PASS, "v1"},
	{"RC-GID-008", blind, OPEN, "configfs"},
	{"RC-HST-002", NULL, PASS, "64"},
	{"RC-HST-002", saving, WARN, "3 of 64 CPUs run by the governor powersave"},
	{"RC-HST-002", no_clocks, SKIP, NULL},
	{"RC-HST-002", clocks_unknown, OPEN, NULL},
	{"RC-HST-002", governors_unknown, OPEN, NULL},
	{"RC-HST-002", no_facts, OPEN, NULL},
	{"RC-HST-003", NULL, PASS, NULL},
	{"RC-HST-003", irqs_away, WARN, "4 of 63"},
	{"RC-HST-003", one_node, SKIP, NULL},
	{"RC-HST-003", no_irqs, OPEN, NULL},
	{"RC-HST-003", irqs_unknown, OPEN, NULL},
	{"RC-HST-003", cpus_of_irqs_unknown, OPEN, NULL},
	{"RC-HST-003", no_facts, OPEN, NULL},
	{"RC-HST-004", NULL, PASS, "identity"},
	{"RC-HST-004", no_iommu, PASS, NULL},
	{"RC-HST-004", translating, WARN, "DMA-FQ"},
	{"RC-HST-004", iommu_unknown, OPEN, NULL},
	{"RC-HST-004", no_pci, SKIP, NULL},
	{"RC-HST-004", no_facts, OPEN, NULL},
	{"RC-HST-005", NULL, PASS, "unlimited"},
	{"RC-HST-005", lock_8m, FAIL, "8192 KiB"},
	{"RC-HST-005", lock_8m_root, WARN, NULL},
	{"RC-HST-005", lock_1g, WARN, NULL},
	{"RC-HST-005", lock_unknown, OPEN, NULL},
	{"RC-HST-005", no_facts, OPEN, NULL},
	{"RC-HST-006", NULL, PASS, NULL},
	{"RC-HST-006", balancing, WARN, NULL},
	{"RC-HST-006", balancing_one, SKIP, NULL},
	{"RC-HST-006", balancing_unknown, OPEN, NULL},
	{"RC-HST-006", no_facts, OPEN, NULL},
	{"RC-HST-007", NULL, PASS, NULL},
	{"RC-HST-007", no_rdma_cm, WARN, "rdma_ucm"},
	{"RC-HST-007", rdma_cm_unknown, OPEN, NULL},
	{"RC-HST-007", no_facts, OPEN, NULL},
	{"RC-HST-010", NULL, PASS, NULL},
	{"RC-HST-010", no_boot, WARN, NULL},
	{"RC-HST-010", others_boot, WARN, "somebody else"},
	{"RC-HST-010", no_udev, WARN, "loaded again"},
	{"RC-HST-010", no_persist, SKIP, NULL},
	{"RC-HST-010", no_facts, OPEN, NULL},
	{"RC-HST-011", NULL, PASS, "numactl -N 1"},
	{"RC-HST-011", no_node, WARN, NULL},
	{"RC-HST-011", one_node, SKIP, NULL},
	{"RC-HST-011", nodes_unknown, OPEN, NULL},
	{"RC-HST-011", no_facts, OPEN, NULL},
	{"RC-HST-012", NULL, PASS, NULL},
	{"RC-HST-012", closed, FAIL, "cannot open mlx5_0"},
	{"RC-MTU-006", NULL, PASS, NULL},
	{"RC-MTU-006", mtu_1024, WARN, "has to be 4192"},
	{"RC-MTU-006", blind, OPEN, NULL},
	{"RC-NET-001", NULL, SKIP, NULL},
	{"RC-NET-001", two_subnets, SKIP, NULL},
	{"RC-NET-001", one_subnet, PASS, NULL},
	{"RC-NET-001", arp_answers, FAIL, "address of roce1"},
	{"RC-NET-001", arp_asks, WARN, NULL},
	{"RC-NET-001", arp_unknown, OPEN, NULL},
	{"RC-NET-001", no_facts, OPEN, NULL},
	{"RC-NET-002", NULL, PASS, NULL},
	{"RC-NET-002", strict_filter, WARN, "2 RoCE ports"},
	{"RC-NET-002", strict_one, SKIP, NULL},
	{"RC-NET-002", filter_unknown, OPEN, NULL},
	{"RC-NET-008", NULL, PASS, NULL},
	{"RC-NET-008", forwards, WARN, NULL},
	{"RC-NET-008", forwarding_unknown, OPEN, NULL},
	{"RC-PCI-001", NULL, PASS, "16.0 GT/s x16"},
	{"RC-PCI-001", half_lanes, FAIL, "x8 carries 126030 Mb/s, the port 200000"},
	{"RC-PCI-001", slow_pcie, FAIL, "8.0 GT/s"},
	{"RC-PCI-001", old_slot_fast_enough, WARN, "could do more"},
	{"RC-PCI-001", pcie_unknown_speed, WARN, NULL},
	{"RC-PCI-001", no_pci, SKIP, NULL},
	{"RC-PCI-001", no_facts, OPEN, NULL},
	{"RC-PFC-006", NULL, PASS, NULL},
	{"RC-PFC-006", willing, WARN, "whoever speaks DCBX"},
	{"RC-PFC-006", willing_asked, PASS, NULL},
	{"RC-PFC-006", blind, SKIP, NULL},
	{"RC-PFC-008", NULL, PASS, NULL},
	{"RC-PFC-008", pause_alone, WARN, NULL},
	{"RC-PFC-008", pause_beside, SKIP, "RC-PFC-007"},
	{"RC-PFC-008", blind, OPEN, NULL},
	{"RC-PFC-017", NULL, PASS, NULL},
	{"RC-PFC-017", no_buffer, FAIL, "buffer of 0 bytes"},
	{"RC-PFC-017", small_buffer, WARN, "20000 bytes"},
	{"RC-PFC-017", no_buffers_shown, SKIP, NULL},
	{"RC-PFC-017", bad_buffer_index, PASS,
	 NULL}, /* 9 is no index: it must not be used as one */
	{"RC-PFC-019", NULL, PASS, NULL},
	{"RC-PFC-019", three_lossless, WARN, NULL},
	{"RC-PFC-019", above_cap, FAIL, "2 priorities are lossless, the port can do 1"},
	{"RC-PFC-019", blind, OPEN, NULL},
	{"RC-PFC-025", NULL, PASS, NULL},
	{"RC-PFC-025", right_pause, PASS, NULL},
	{"RC-PFC-025", stray_pause, WARN, NULL},
	{"RC-PFC-025", no_pause_count, OPEN, NULL},
	{"RC-PFC-026", NULL, PASS, NULL},
	{"RC-PFC-026", storm_off, WARN, NULL},
	{"RC-PFC-026", no_storm, SKIP, NULL},
	{"RC-QOS-009", NULL, PASS, NULL},
	{"RC-QOS-009", tagged, PASS, "roce0.100"},
	{"RC-QOS-009", untagged, FAIL, "nothing is tagged"},
	{"RC-QOS-009", pcp_no_facts, OPEN, NULL},
	{"RC-QOS-009", blind, OPEN, NULL},
	{"RC-QOS-010", NULL, SKIP, NULL},
	{"RC-QOS-010", tagged, PASS, "PCP 3"},
	{"RC-QOS-010", unmapped, WARN, "leaves with PCP 0, its priority is 3"},
	{"RC-QOS-010", tos_unknown, OPEN, NULL},
	{"RC-QOS-010", maps_differ, OPEN, "differ"},
	{"RC-QOS-014", NULL, PASS, "class 6"},
	{"RC-QOS-014", cnp_lossless, WARN, "lossless priority 3"},
	{"RC-QOS-014", cnp_best_effort, WARN, "not strict"},
	{"RC-QOS-014", cnp_behind, WARN, "behind the data"},
	{"RC-QOS-014", blind, OPEN, NULL},
	{"RC-QOS-017", NULL, PASS, NULL},
	{"RC-QOS-017", hole, WARN, "1 DSCPs"},
	{"RC-QOS-017", hole_elsewhere, SKIP, NULL},
	{"RC-QOS-017", blind, OPEN, NULL},
	{"RC-QOS-019", NULL, PASS, NULL},
	{"RC-QOS-019", clash, FAIL, "priorities 3 and 5"},
	{"RC-QOS-019", blind, OPEN, NULL},
	{"RC-HST-014", NULL, SKIP, NULL},
	{"RC-HST-014", roce_on, PASS, NULL},
	{"RC-HST-014", roce_off, FAIL, NULL},
	{"RC-QOS-018", NULL, PASS, NULL},
	{"RC-QOS-018", forced_other, WARN, "forces DSCP 24"},
	{"RC-QOS-018", forced_not, SKIP, NULL},
	{"RC-TOP-002", NULL, PASS, NULL},
	{"RC-TOP-002", lld_managed, FAIL, "owns DCBX"},
	{"RC-TOP-002", lld_no_wish, WARN, NULL},
	{"RC-TOP-002", agent_runs, FAIL, NULL},
	{"RC-TOP-002", two_agents, FAIL, "lldpd as well"},
	{"RC-TOP-002", not_host, WARN, NULL},
	{"RC-TOP-002", blind, OPEN, NULL},
	{"RC-TOP-004", NULL, PASS, NULL},
	{"RC-TOP-004", lldpad, FAIL, NULL},
	{"RC-TOP-004", lldpad_no_wish, WARN, NULL},
	{"RC-TOP-004", lldpad_setter, FAIL, "undo each other"},
	{"RC-TOP-004", owner_unknown, PASS, NULL},
	{"RC-TOP-004", lldpad_waits, WARN, NULL},
	{"RC-TOP-004", setter, WARN, "service or hook"},
	{"RC-TOP-004", no_facts, OPEN, NULL},
	{"RC-TOP-005", NULL, PASS, NULL},
	{"RC-TOP-005", other_firmware, WARN, "firmware"},
	{"RC-TOP-005", other_mtu, WARN, "mtu"},
	{"RC-TOP-005", one_rail, SKIP, NULL},
	{"RC-TRN-010", NULL, PASS, NULL},
	{"RC-TRN-010", dropped, WARN, NULL},
	{"RC-TRN-010", prio_dropped, WARN, NULL},
	{"RC-TRN-010", other_prio_dropped, PASS, NULL},
	{"RC-HST-012", no_rdma, SKIP, NULL},
	{"RC-ECN-003", no_params, SKIP, "no parameters"},
	{"RC-PFC-008", pause_asked, PASS, "as the profile wants"},
	{"RC-PFC-017", buffer_60k, WARN, "60000"},
	{"RC-PFC-017", buffer_60k_10g, PASS, NULL},
	{"RC-QOS-009", untagged_lossy, SKIP, NULL},
	{"RC-QOS-012", switch_ethertype, WARN, "on 4"},
	{"RC-QOS-012", switch_other_app, SKIP, NULL},
	{"RC-QOS-012", switch_stream, SKIP, NULL},
	{"RC-TOP-003", switch_lldp_alone, SKIP, NULL},
	{"RC-HST-015", NULL, PASS, NULL},
	{"RC-HST-015", no_right, WARN, "CAP_NET_ADMIN"},
	{"RC-ENV-009", NULL, PASS, NULL},
	{"RC-ENV-009", no_dcb, WARN, "mlx5_core has no DCB"},
	{"RC-ENV-009", guest, SKIP, NULL},
	{"RC-TRN-010", blind, OPEN, NULL},
	{"RC-PFC-005", NULL, SKIP, "--listen"},
	{"RC-PFC-005", switch_heard, PASS, NULL},
	{"RC-PFC-005", switch_no_pfc, WARN, NULL},
	{"RC-PFC-005", listened_alone, OPEN, NULL},
	{"RC-TOP-003", switch_heard, PASS, NULL},
	{"RC-TOP-003", switch_cee, WARN, "cee"},
	{"RC-TOP-003", listened_alone, OPEN, NULL},
	{"RC-ETS-006", switch_heard, PASS, NULL},
	{"RC-ETS-006", switch_ets, WARN, "prio_tc"},
	{"RC-ETS-006", switch_no_ets, OPEN, NULL},
	{"RC-QOS-012", switch_heard, PASS, NULL},
	{"RC-QOS-012", switch_app, WARN, "at the link partner on 4"},
	{"RC-QOS-012", switch_dscp, WARN, "on 5"},
	{"RC-QOS-012", switch_no_ets, SKIP, NULL},
	{"RC-QOS-012", listened_alone, OPEN, NULL},
	{"RC-TOP-004", lldpad_asked, PASS, "as the profile wants"},
	{"RC-TOP-004", lldpad_missing, FAIL, "does not run"},
	{"RC-HST-013", NULL, PASS, NULL},
	{"RC-HST-013", idle_nic, WARN, "eth3 (ice)"},
	{"RC-HST-013", idle_mana, WARN, "needs kernel 6.8"},
	{"RC-HST-013", no_facts, OPEN, NULL},
	{"RC-ENV-001", vf, SKIP, "virtual function"},
	{"RC-ENV-001", dpu, SKIP, "set elsewhere"},
	/* Rules of fabrics, judged here with a profile and without. */
	{"RC-ETS-002", shared_class, FAIL, NULL},
	{"RC-ETS-002", shared_no_wish, FAIL, NULL},
	{"RC-PFC-001", no_profile, PASS, NULL},
	{"RC-PFC-001", no_pfc_no_wish, WARN, NULL},
	{"RC-PFC-002", no_profile, SKIP, "no profile was given"},
	{"RC-QOS-005", lossy_cm_no_wish, FAIL, "DSCP 0"},
	{"RC-QOS-005", no_profile, PASS, NULL},
	{"RC-PFC-004", NULL, SKIP, "--listen"},
	{"RC-PFC-004", peer_heard, FAIL, NULL},
	{"RC-META-010", nothing_there, FAIL, NULL},
};

/* Rules that never lack evidence: what they need is there or does not apply. */
static const char *const never_open[] = {
	"RC-ENV-009", "RC-ETS-009", "RC-HST-015", "RC-HST-012", "RC-HST-014", "RC-PFC-006",
	"RC-PFC-017", "RC-PFC-026", "RC-QOS-018", "RC-TOP-005", NULL,
};

static const struct finding *first_of(const struct findings *all, const char *rule)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].rule->id, rule) && strcmp(all->list[i].port, "roce1"))
			return &all->list[i];
	return NULL;
}

static void check_texts(const struct findings *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		if (!f->text || !f->text[0])
			fail_msg("%s: no text", f->rule->id);
		if (f->verdict == VERDICT_PASS && !f->evidence_count)
			fail_msg("%s passes on no evidence: %s", f->rule->id, f->text);
	}
}

static void test_cases(void **state)
{
	static struct one_host h;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct finding *f;
		struct findings all;

		good_one_host(&h);
		if (cases[i].change)
			cases[i].change(&h);
		assert_int_equal(rules_run_host(&h.fabric, &h.run, h.listened, &all), 0);
		f = first_of(&all, cases[i].rule);
		if (!f)
			fail_msg("case %u: %s says nothing", i, cases[i].rule);
		if (f->verdict != cases[i].want ||
		    (cases[i].says && !strstr(f->text, cases[i].says)))
			fail_msg("case %u: %s: want %s (%s), got %s: %s", i, cases[i].rule,
				 verdict_word(cases[i].want), cases[i].says ? cases[i].says : "",
				 verdict_word(f->verdict), f->text);
		check_texts(&all);
		findings_clear(&all);
	}
}

static bool has_case(const char *rule, enum verdict v)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].rule, rule) && cases[i].want == v)
			return true;
	return false;
}

/* Each row of a single host has its cases. */
static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < rule_count; i++) {
		const char *id = rule_table[i].id;
		bool open = false;

		if (rule_table[i].scope != SCOPE_HOST)
			continue;
		for (unsigned int k = 0; never_open[k]; k++)
			open = open || !strcmp(never_open[k], id);
		if (!has_case(id, PASS) || (!has_case(id, FAIL) && !has_case(id, WARN)) ||
		    (!open && !has_case(id, OPEN)))
			fail_msg("%s lacks a case that passes, is violated or has no evidence", id);
	}
}

/* Nothing is found wrong with a good host, with a profile and without. */
static void test_good(void **state)
{
	static struct one_host h;
	struct findings all;

	(void)state;
	for (unsigned int wish = 0; wish < 2; wish++) {
		good_one_host(&h);
		if (!wish)
			no_profile(&h);
		assert_int_equal(rules_run_host(&h.fabric, &h.run, false, &all), 0);
		assert_true(all.count > 60);
		for (size_t i = 0; i < all.count; i++)
			if (all.list[i].verdict != PASS && all.list[i].verdict != SKIP)
				fail_msg("%s: %s", all.list[i].rule->id, all.list[i].text);
		assert_int_equal(findings_exit(&all, SEVERITY_WARN, NULL, 0), 0);
		findings_clear(&all);
	}
}

/* A fabric run asks none of them. */
static void test_scope(void **state)
{
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	for (size_t i = 0; i < all.count; i++)
		assert_int_not_equal(all.list[i].rule->scope, SCOPE_HOST);
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
