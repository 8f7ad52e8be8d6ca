/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Levels of a run: which missing evidence makes it incomplete, on real NICs above all. Captures see
 * no RoCE there, and 5 % of a link congests nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fixture/fabric_run.h"

/* Ports with PFC counters of priority 3 alone, whose packets no capture sees. */
static void real_nics(struct fabric_run *f)
{
	good_run(f);
	add_marking(f, MARKING_KINDS);
	for (unsigned int i = 0; i < 2; i++) {
		struct port *p = &f->before[i];

		p->kind = PORT_ROCE_PF;
		snprintf(p->driver, sizeof(p->driver), "mlx5_core");
		snprintf(p->rdma_driver, sizeof(p->rdma_driver), "mlx5_ib");
		p->speed_mbps = 400000;
		p->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED);
		p->lldp_qos.pfc_enabled = 1 << 3;
		snprintf(p->lldp_name, sizeof(p->lldp_name), "leaf1");
		f->after[i] = *p;
		f->port[i].capture.totals.roce = 0;
		f->port[i].capture.flow_count = 0;
		for (unsigned int r = 0; r < READ_COUNT; r++) {
			f->port[i].reading[r].has[METRIC_PFC_RX_FRAMES] = 1 << 3;
			f->port[i].reading[r].has[METRIC_PFC_TX_FRAMES] = 1 << 3;
		}
	}
}

static void as_they_are(struct fabric_run *f)
{
	(void)f;
}

static void capture_off(struct fabric_run *f)
{
	f->fabric.capture = CAPTURE_OFF;
	f->port[0].has_capture = f->port[1].has_capture = false;
}

static void no_dcbx(struct fabric_run *f)
{
	f->fabric.dcbx = FABRIC_DCBX_NONE;
	for (unsigned int i = 0; i < 2; i++)
		f->before[i].lldp_qos.has = 0;
}

/* bnxt counts no ICRC errors. */
static void icrc_uncounted(struct fabric_run *f)
{
	lose_metric(f, METRIC_ICRC_ERRORS);
}

/* irdma counts retransmissions, neither gaps nor NAKs, and ice no bytes by priority. */
static void few_counters(struct fabric_run *f)
{
	icrc_uncounted(f);
	lose_metric(f, METRIC_OUT_OF_SEQUENCE);
	lose_metric(f, METRIC_SEQ_NAK_RX);
	lose_metric(f, METRIC_PRIO_RX_BYTES);
	lose_metric(f, METRIC_PRIO_RX_DISCARDS);
	lose_metric(f, METRIC_ECN_MARKED_RX);
}

/* As in a guest. */
static void no_loss_counters(struct fabric_run *f)
{
	few_counters(f);
	lose_metric(f, METRIC_RETRANSMITS);
}

static void not_retransmitted(struct fabric_run *f)
{
	no_loss_counters(f);
	f->pair[0].strict = f->pair[1].strict = true;
}

static void stressed(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++)
		grow(f, i, METRIC_PFC_TX_FRAMES, 3, 5);
}

static void no_marking(struct fabric_run *f)
{
	f->run.marking_count = 0;
}

static void too_slow(struct fabric_run *f)
{
	f->pair[0].server.bytes = 1000;
}

static void lossy(struct fabric_run *f)
{
	grow(f, 1, METRIC_OUT_OF_SEQUENCE, 0, 3);
}

static void pause_on_lossy(struct fabric_run *f)
{
	for (unsigned int r = 0; r < READ_COUNT; r++)
		f->port[1].reading[r].has[METRIC_PFC_RX_FRAMES] |= 1 << 5;
	grow(f, 1, METRIC_PFC_RX_FRAMES, 5, 12);
}

/* clang-format off */
static const struct {
	const char *name;
	void (*change)(struct fabric_run *f);
	int quick, standard, maintenance; /* exit codes */
} cases[] = {
	{"healthy", as_they_are, 0, 0, 4},
	{"healthy, capture off", capture_off, 0, 0, 4},
	{"healthy, switches without DCBX", no_dcbx, 0, 0, 4},
	{"healthy, without an ICRC counter", icrc_uncounted, 0, 0, 4},
	{"healthy, with few counters", few_counters, 0, 0, 4},
	{"healthy, pairs without retransmission", not_retransmitted, 0, 0, 4},
	{"healthy, congested", stressed, 0, 0, 0},
	/* What the level should have given is missing. */
	{"no marking test", no_marking, 4, 4, 4},
	{"losses that no counter shows", no_loss_counters, 0, 4, 4},
	{"the load was not reached", too_slow, 4, 4, 4},
	/* Violations stand at every level. */
	{"loss", lossy, 1, 1, 1},
	{"pause on a lossy priority", pause_on_lossy, 1, 1, 1},
};
/* clang-format on */

static void check_exit(size_t i, enum fabric_level level, int want)
{
	static struct fabric_run f;
	struct findings all;
	int got;

	real_nics(&f);
	cases[i].change(&f);
	f.run.level = level;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	got = findings_exit(&all, SEVERITY_ERROR, NULL, 0);
	for (size_t k = 0; got != want && k < all.count; k++)
		if (finding_blocks(&all.list[k], NULL, 0) || finding_violated(&all.list[k]))
			print_message("%s %s %s: %s\n", all.list[k].rule->id, all.list[k].host,
				      verdict_word(all.list[k].verdict), all.list[k].text);
	if (got != want)
		fail_msg("%s at %s: exit %d, want %d", cases[i].name,
			 fabric_level_words[level].word, got, want);
	findings_clear(&all);
}

static void test_exit_by_level(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		check_exit(i, LEVEL_QUICK, cases[i].quick);
		check_exit(i, LEVEL_STANDARD, cases[i].standard);
		check_exit(i, LEVEL_MAINTENANCE, cases[i].maintenance);
	}
}

/* Only INCONCLUSIVE becomes SKIP, and says why. */
static void test_text(void **state)
{
	static struct fabric_run f;
	struct findings all;
	const struct finding *got;

	(void)state;
	real_nics(&f);
	f.run.level = LEVEL_QUICK;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	got = finding_of(&all, "RC-PFC-010", "h2");
	assert_int_equal(got->verdict, VERDICT_SKIP);
	assert_string_equal(got->text, "not tested at level quick: nothing was lost, but no "
				       "congestion was made: PFC was not put to the test");
	assert_int_equal(finding_of(&all, "RC-TRN-001", "h2")->verdict, VERDICT_PASS);
	findings_clear(&all);
}

/* The check of one host has no level. */
static void test_one_host(void **state)
{
	static struct fabric_run f;
	struct findings all;
	const struct finding *got;

	(void)state;
	real_nics(&f);
	f.run.level = LEVEL_QUICK;
	f.run.host_count = 1;
	f.before[0].lldp_qos.has = 0;
	f.before[0].lldp_name[0] = '\0';
	assert_int_equal(rules_run_host(&f.fabric, &f.run, true, &all), 0);
	got = finding_of(&all, "RC-PFC-004", "h1");
	assert_int_equal(got->verdict, VERDICT_INCONCLUSIVE);
	assert_string_equal(got->text, "no link partner was heard (LLDP)");
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_by_level),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_one_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
