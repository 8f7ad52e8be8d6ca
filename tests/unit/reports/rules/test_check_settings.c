/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over settings: trust and DSCP map, ETS, MTU, GIDs, and PFC as configured.
 */
#include "tests/unit/reports/rules/rule_cases.h"

#define Q2 f->before[1].qos

static void blind(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->before[i].qos.has = 0;
		f->before[i].active_mtu = 0;
		f->after[i].qos.has = 0;
	}
}

static void blind_skip(struct fabric_run *f)
{
	blind(f);
	f->fabric.profile.on_unsupported = CHOICE_SKIP;
}

static void no_wish(struct fabric_run *f)
{
	f->fabric.profile.qos.has = 0;
}

static void lossy(struct fabric_run *f)
{
	f->fabric.profile.intent = INTENT_LOSSY;
}

static void trust_pcp(struct fabric_run *f)
{
	Q2.trust = QOS_TRUST_PCP;
}

static void map_other(struct fabric_run *f)
{
	Q2.dscp_prio[48] = QOS_UNMAPPED;
}

static void map_extra(struct fabric_run *f)
{
	Q2.dscp_prio[10] = 1;
}

static void map_rdma(struct fabric_run *f)
{
	Q2.dscp_prio[26] = 5;
}

static void cm_dscp(struct fabric_run *f)
{
	Q2.cm_tos = 10 << 2 | 2;
}

static void cm_dscp_mapped(struct fabric_run *f)
{
	cm_dscp(f);
	Q2.dscp_prio[10] = 3;
}

static void ets_sum(struct fabric_run *f)
{
	Q2.tc_tx_bw[0] = 60;
}

static void ets_shared(struct fabric_run *f)
{
	Q2.prio_tc[3] = 6;
}

static void ets_strict(struct fabric_run *f)
{
	Q2.tc_tsa[3] = QOS_TSA_STRICT;
}

static void ets_vendor(struct fabric_run *f)
{
	Q2.tc_tsa[3] = QOS_TSA_VENDOR;
}

static void ets_zero(struct fabric_run *f)
{
	Q2.tc_tx_bw[3] = 0;
}

/* The share of a strict class means nothing: without a profile both hosts are still the same. */
static void ets_strict_share(struct fabric_run *f)
{
	f->fabric.profile.qos.has = 0;
	Q2.tc_tx_bw[6] = 7;
}

static void mtu_small(struct fabric_run *f)
{
	Q2.mtu = 1500;
	Q2.ib_mtu = 1024;
}

/* The profile states the RDMA MTU alone: it still tells which of two hosts is the odd one. */
static void mtu_by_ib(struct fabric_run *f)
{
	f->fabric.profile.qos.has &= ~QOS_BIT(QOS_MTU);
	mtu_small(f);
}

static void mtu_same_but_small(struct fabric_run *f)
{
	mtu_small(f);
	f->before[0].qos = Q2;
}

static void gid_v1(struct fabric_run *f)
{
	f->before[1].gid[0].type = GID_ROCE_V1;
}

static void cm_v1(struct fabric_run *f)
{
	Q2.roce_version = 1;
}

static void gid_none(struct fabric_run *f)
{
	f->before[1].gid_count = 0;
}

static void gid_moved(struct fabric_run *f)
{
	f->before[1].gid[0].index = 3;
}

static void gid_wrong_address(struct fabric_run *f)
{
	snprintf(f->fabric_port[1].address, sizeof(f->fabric_port[1].address), "198.18.0.77");
}

static void address_twice(struct fabric_run *f)
{
	memcpy(f->before[1].address[0], f->before[0].address[0], sizeof(f->before[0].address[0]));
}

static void mac_twice(struct fabric_run *f)
{
	memcpy(f->before[1].mac, f->before[0].mac, sizeof(f->before[0].mac));
}

static void link_locals(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(f->before[i].address[1], sizeof(f->before[i].address[1]), "fe80::1");
		f->before[i].address_count = 2;
	}
}

static void nameless(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->before[i].address_count = 0;
		f->before[i].mac[0] = '\0';
	}
}

static void pfc_off(struct fabric_run *f)
{
	Q2.pfc_enabled = 0;
}

static void pfc_extra(struct fabric_run *f)
{
	Q2.pfc_enabled = 1 << 3 | 1 << 5;
}

static void pfc_both_wrong(struct fabric_run *f)
{
	pfc_extra(f);
	f->before[0].qos.pfc_enabled = Q2.pfc_enabled;
}

static void peer(struct fabric_run *f, uint8_t enabled)
{
	struct port *p = &f->before[1];

	p->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED);
	p->lldp_qos.pfc_enabled = enabled;
	snprintf(p->lldp_name, sizeof(p->lldp_name), "leaf1");
}

static void peer_same(struct fabric_run *f)
{
	peer(f, 1 << 3);
}

static void peer_other(struct fabric_run *f)
{
	peer(f, 1 << 4);
}

/* The inventory knows that the switches send no DCBX; one that does all the same is judged. */
static void no_dcbx(struct fabric_run *f)
{
	f->fabric.dcbx = FABRIC_DCBX_NONE;
}

static void no_dcbx_but_other(struct fabric_run *f)
{
	no_dcbx(f);
	peer_other(f);
}

static void peer_silent(struct fabric_run *f)
{
	peer(f, 0);
	f->before[1].lldp_qos.has = 0;
}

static void pause_on(struct fabric_run *f)
{
	Q2.pause_rx = 1;
}

static void pause_without_pfc(struct fabric_run *f)
{
	Q2.pause_rx = 1;
	Q2.pfc_enabled = 0;
}

/* clang-format off */
static const struct rule_case cases[] = {
	{ "RC-QOS-001", NULL, "h2", VERDICT_PASS, "trust is dscp" },
	{ "RC-QOS-001", trust_pcp, "h2", VERDICT_FAIL, "trust is pcp, the profile wants dscp" },
	{ "RC-QOS-001", trust_pcp, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-001", blind, "h2", VERDICT_INCONCLUSIVE, "cannot be read" },
	{ "RC-QOS-001", blind_skip, "h2", VERDICT_SKIP, "profile skips unsupported" },
	{ "RC-ETS-002", blind_skip, "h2", VERDICT_SKIP, "profile skips unsupported" },
	{ "RC-PFC-003", blind_skip, "", VERDICT_SKIP, "nothing to compare" },
	{ "RC-PFC-004", blind_skip, "h2", VERDICT_SKIP, "profile skips unsupported" },
	{ "RC-QOS-001", no_wish, "h2", VERDICT_SKIP, "does not state trust" },
	{ "RC-QOS-003", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-003", map_other, "h2", VERDICT_FAIL, "DSCP 48 maps to priority none" },
	{ "RC-QOS-003", map_extra, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-003", map_rdma, "h2", VERDICT_FAIL, "DSCP 26 maps to priority 5" },
	{ "RC-QOS-003", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-QOS-004", NULL, "", VERDICT_PASS, "all 2 ports" },
	{ "RC-QOS-004", map_rdma, "h2", VERDICT_FAIL, "differs" },
	{ "RC-QOS-004", blind, "", VERDICT_INCONCLUSIVE, "nothing to compare" },
	{ "RC-QOS-005", NULL, "h2", VERDICT_PASS, "lossless priority 3" },
	{ "RC-QOS-005", map_rdma, "h2", VERDICT_FAIL, "priority 5" },
	{ "RC-QOS-005", trust_pcp, "h2", VERDICT_FAIL, "priority 0" },
	{ "RC-QOS-005", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-QOS-005", lossy, "h2", VERDICT_SKIP, "lossy" },
	{ "RC-QOS-013", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-013", cm_dscp, "h2", VERDICT_FAIL, "DSCP 10 (priority 0), wanted DSCP 26 (priority 3)" },
	{ "RC-QOS-013", cm_dscp_mapped, "h2", VERDICT_WARN, NULL },
	{ "RC-QOS-013", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ETS-001", NULL, "h2", VERDICT_PASS, "100" },
	{ "RC-ETS-001", ets_sum, "h2", VERDICT_FAIL, "110" },
	{ "RC-ETS-001", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ETS-002", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-ETS-002", ets_shared, "h2", VERDICT_FAIL, "traffic class 6 with lossy ones: 6" },
	{ "RC-ETS-002", pfc_extra, "h2", VERDICT_PASS, NULL },
	{ "RC-ETS-002", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ETS-003", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-ETS-003", ets_strict, "h2", VERDICT_WARN, "strict" },
	{ "RC-ETS-003", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ETS-004", NULL, "h2", VERDICT_PASS, "50 %" },
	{ "RC-ETS-004", ets_zero, "h2", VERDICT_FAIL, "has 0 %" },
	{ "RC-ETS-004", ets_vendor, "h2", VERDICT_FAIL, "not ETS" },
	{ "RC-ETS-004", ets_strict, "h2", VERDICT_SKIP, NULL },
	{ "RC-ETS-004", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ETS-005", NULL, "", VERDICT_PASS, NULL },
	{ "RC-ETS-005", ets_zero, "h2", VERDICT_WARN, "tc_tx_bw" },
	{ "RC-ETS-005", ets_shared, "h2", VERDICT_WARN, "prio_tc" },
	{ "RC-ETS-005", ets_strict_share, "", VERDICT_PASS, "same" },
	{ "RC-ETS-005", blind, "", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-MTU-001", NULL, "", VERDICT_PASS, "same" },
	{ "RC-MTU-001", mtu_small, "h2", VERDICT_FAIL, "1500 here, 4200 on h1" },
	{ "RC-MTU-001", mtu_by_ib, "h2", VERDICT_FAIL, "1500 here" },
	{ "RC-MTU-001", mtu_same_but_small, "", VERDICT_PASS, NULL },
	{ "RC-MTU-001", blind, "", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-MTU-002", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-MTU-002", mtu_same_but_small, "h1", VERDICT_FAIL, "1024" },
	{ "RC-MTU-002", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-GID-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-GID-001", gid_v1, "h2", VERDICT_FAIL, "only RoCE v1" },
	{ "RC-GID-001", cm_v1, "h2", VERDICT_FAIL, "rdma_cm" },
	{ "RC-GID-001", gid_none, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-GID-002", NULL, "", VERDICT_PASS, "index 1" },
	{ "RC-GID-002", gid_moved, "h2", VERDICT_FAIL, "index 1" },
	{ "RC-GID-002", gid_none, "", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-GID-004", NULL, "h2", VERDICT_PASS, "198.18.0.2" },
	{ "RC-GID-004", gid_none, "h2", VERDICT_FAIL, NULL },
	{ "RC-GID-004", gid_wrong_address, "h2", VERDICT_FAIL, "198.18.0.77" },
	{ "RC-GID-006", NULL, "", VERDICT_PASS, NULL },
	{ "RC-GID-006", link_locals, "", VERDICT_PASS, NULL },
	{ "RC-GID-006", address_twice, "h2", VERDICT_FAIL, "198.18.0.1 is also on h1" },
	{ "RC-GID-006", mac_twice, "h2", VERDICT_FAIL, "MAC" },
	{ "RC-GID-006", nameless, "", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-001", pfc_off, "h2", VERDICT_FAIL, "off on every priority" },
	{ "RC-PFC-001", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-001", lossy, "h2", VERDICT_SKIP, NULL },
	{ "RC-PFC-002", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-002", pfc_extra, "h2", VERDICT_FAIL, "[3, 5]" },
	{ "RC-PFC-002", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-003", NULL, "", VERDICT_PASS, NULL },
	{ "RC-PFC-003", pfc_extra, "h2", VERDICT_FAIL, NULL },
	{ "RC-PFC-003", pfc_both_wrong, "", VERDICT_PASS, NULL },
	{ "RC-PFC-003", blind, "", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-004", peer_same, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-004", peer_other, "h2", VERDICT_FAIL, "the host pauses 3, its link partner 4"},
	{ "RC-PFC-004", NULL, "h2", VERDICT_INCONCLUSIVE, "no link partner" },
	{ "RC-PFC-004", no_dcbx, "h2", VERDICT_WARN, "dcbx: none" },
	{ "RC-PFC-004", no_dcbx_but_other, "h2", VERDICT_FAIL, "its link partner 4" },
	{ "RC-PFC-004", peer_silent, "h2", VERDICT_INCONCLUSIVE, "no PFC TLV" },
	{ "RC-PFC-007", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-007", pause_on, "h2", VERDICT_FAIL, NULL },
	{ "RC-PFC-007", pause_without_pfc, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-007", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static void test_coverage(void **state)
{
	static const char *const groups[] = {"RC-QOS-001", "RC-QOS-003", "RC-QOS-004", "RC-QOS-005",
					     "RC-QOS-013", "RC-ETS-001", "RC-ETS-002", "RC-ETS-003",
					     "RC-ETS-004", "RC-ETS-005", "RC-MTU-001", "RC-MTU-002",
					     "RC-GID",	   "RC-PFC-00",	 NULL};
	static const char *const never_open[] = {"RC-GID-004", NULL};

	(void)state;
	check_coverage(cases, ARRAY_SIZE(cases), groups, never_open);
}

/* Three hosts and no wish: the majority tells. Two of two kinds: all are named. */
static void test_majority(void **state)
{
	static struct fabric_run f;
	struct run_host host[3];
	struct fabric_host fabric_host[3];
	struct findings all;

	(void)state;
	good_run(&f);
	f.fabric.profile.qos.has &= ~QOS_BIT(QOS_PFC_ENABLED);
	f.before[1].qos.pfc_enabled = 1 << 4;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_int_equal(finding_of(&all, "RC-PFC-003", "h1")->verdict, VERDICT_FAIL);
	assert_int_equal(finding_of(&all, "RC-PFC-003", "h2")->verdict, VERDICT_FAIL);
	findings_clear(&all);
	memcpy(host, f.host, sizeof(f.host));
	memcpy(fabric_host, f.fabric_host, sizeof(f.fabric_host));
	host[2] = host[0];
	fabric_host[2] = fabric_host[0];
	snprintf(host[2].name, sizeof(host[2].name), "h3");
	snprintf(fabric_host[2].name, sizeof(fabric_host[2].name), "h3");
	f.run.host = host;
	f.fabric.host = fabric_host;
	f.run.host_count = f.fabric.host_count = 3;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_int_equal(finding_of(&all, "RC-PFC-003", "h2")->verdict, VERDICT_FAIL);
	assert_null(finding_of(&all, "RC-PFC-003", "h1"));
	assert_null(finding_of(&all, "RC-PFC-003", "h3"));
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_majority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
