/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dcbnl: answers of the kernel as literal bytes to struct qos, the errno that is cut to 8 bits, and
 * what a set sends.
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
#include "tests/unit/fixture/qos_samples.h"

/*
 * IEEE_GET of a port with prio 3 on TC 3, TCs 0 and 3 ETS 50/50, PFC on 3, DSCP 26 -> 3 and UDP
 * port 4791 -> 3, DCBX host and ieee. Little endian, as it came.
 */
static const uint8_t answer[] = {
	0,   21,   0,  0,					  /* dcbmsg: IEEE_GET */
	10,  0,	   1,  0,    'r',  'o', 'c',  'e',  '0', 0, 0, 0, /* IFNAME */
	236, 0,	   13, 0x80,					  /* IEEE, nested: 236 bytes */
	63,  0,	   1,  0,					  /* ETS: 59 bytes */
	1,   8,	   0,						  /* willing, cap, cbs */
	50,  0,	   0,  50,   0,	   0,	0,    0,		  /* tc_tx_bw */
	0,   0,	   0,  0,    0,	   0,	0,    0,		  /* tc_rx_bw */
	2,   0,	   0,  2,    0,	   0,	0,    0,		  /* tc_tsa */
	0,   0,	   0,  3,    0,	   0,	6,    0,		  /* prio_tc */
	0,   0,	   0,  0,    0,	   0,	0,    0,		  /* tc_reco_bw */
	0,   0,	   0,  0,    0,	   0,	0,    0,		  /* tc_reco_tsa */
	0,   0,	   0,  0,    0,	   0,	0,    0,		  /* reco_prio_tc */
	0,							  /* padding */
	140, 0,	   2,  0,					  /* PFC: 136 bytes */
	8,   0x08, 0,  0,    7,	   0,	0,    0,		  /* cap, en, mbc, delay 7 */
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /* requests */
	0,   0,	   0,  0,    0,	   0,	0,    0,    5,	 0, 0, 0, 0, 0, 0, 0, /* 5 on prio 3 */
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /**/
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /**/
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /* indications */
	0,   0,	   0,  0,    0,	   0,	0,    0,    9,	 0, 0, 0, 0, 0, 0, 0, /* 9 on prio 3 */
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /**/
	0,   0,	   0,  0,    0,	   0,	0,    0,    0,	 0, 0, 0, 0, 0, 0, 0, /**/
	28,  0,	   3,  0x80,			    /* APP table, nested */
	8,   0,	   1,  0,    5,	   3,	26,   0,    /* DSCP 26 -> 3 */
	8,   0,	   1,  0,    3,	   3,	0xb7, 0x12, /* UDP 4791 -> 3 */
	8,   0,	   2,  0,    255,  1,	2,    0,    /* PCP 2 -> 1 */
	5,   0,	   14, 0,    0x09, 0,	0,    0,    /* DCBX: host, ieee */
};

/* Order of trust dscp, pcp; DSCP 26 of priority 3 and PCP 5 of priority 6 are rewritten. */
static const uint8_t trusted[] = {
	0,  18, 0,  0,			 /* family, command, pad */
	48, 0,	13, 0x80,		 /* IEEE, nested */
	20, 0,	11, 0x80,		 /* order of trust */
	5,  0,	1,  0,	  5,   0, 0,  0, /* dscp */
	5,  0,	2,  0,	  255, 0, 0,  0, /* pcp */
	24, 0,	12, 0x80,		 /* rewriting */
	8,  0,	1,  0,	  5,   3, 26, 0, /* */
	8,  0,	2,  0,	  255, 6, 5,  0, /* */
	0,  0,	0,  0,
};

static void test_app_trust(void **state)
{
	struct dcbnl_state *s = malloc(sizeof(*s));
	uint64_t both = QOS_BIT(QOS_REWRITE_DSCP) | QOS_BIT(QOS_REWRITE_PCP);
	struct app_change change[2 * QOS_DSCPS + 2 * QOS_PRIOS];
	struct qos q = {0};

	(void)state;
	assert_int_equal(dcbnl_decode(trusted, sizeof(trusted), s), 0);
	dcbnl_to_qos(s, &q);
	assert_int_equal(q.has, QOS_BIT(QOS_APP_TRUST) | both);
	assert_int_equal(q.app_trust[0], QOS_APP_DSCP);
	assert_int_equal(q.app_trust[1], QOS_APP_PCP);
	assert_int_equal(q.app_trust[2], 0);
	assert_int_equal(q.rewrite_dscp[3], 26);
	assert_int_equal(q.rewrite_dscp[6], QOS_UNMAPPED);
	assert_int_equal(q.rewrite_pcp[6], 5);
	assert_int_equal(dcbnl_rewr_changes(s, &q, both, change), 0);
	q.rewrite_dscp[3] = 24;
	q.rewrite_pcp[6] = QOS_UNMAPPED;
	q.rewrite_pcp[1] = 9;
	assert_int_equal(dcbnl_rewr_changes(s, &q, both, change), 4);
	assert_true(!change[0].add && change[0].app.protocol == 26);
	assert_true(change[1].add && change[1].app.protocol == 24);
	assert_true(!change[2].add && change[2].app.selector == QOS_APP_PCP);
	assert_true(change[3].add && change[3].app.priority == 1);
	/* The kernel keeps rewriting for drivers that have none: those have no order of trust. */
	s->has_trust = false;
	memset(&q, 0, sizeof(q));
	dcbnl_to_qos(s, &q);
	assert_int_equal(q.has, 0);
	/* Two values for one priority are no map. */
	s->has_trust = true;
	s->rewr[s->rewr_count++] = (struct dcb_app){QOS_APP_DSCP, 3, 27};
	dcbnl_to_qos(s, &q);
	assert_false(qos_has(&q, QOS_REWRITE_DSCP));
	assert_true(qos_has(&q, QOS_REWRITE_PCP));
	free(s);
}

static void test_decode(void **state)
{
	struct dcbnl_state *s = malloc(sizeof(*s));
	struct qos q = {0};

	(void)state;
	assert_int_equal(dcbnl_decode(answer, sizeof(answer), s), 0);
	assert_true(s->has_ets && s->has_pfc && s->has_app && s->has_dcbx);
	assert_false(s->has_maxrate || s->has_buffer);
	assert_int_equal(s->pfc.requests[3], 5);
	assert_int_equal(s->pfc.indications[3], 9);
	dcbnl_to_qos(s, &q);
	assert_int_equal(q.dcbx_mode, 0x09);
	assert_int_equal(q.trust, QOS_TRUST_DSCP);
	assert_int_equal(q.dscp_prio[26], 3);
	assert_int_equal(q.dscp_prio[25], QOS_UNMAPPED);
	assert_int_equal(q.app_count, 2);
	assert_int_equal(q.app[0].protocol, 4791);
	assert_int_equal(q.app[1].selector, QOS_APP_PCP);
	assert_int_equal(q.app[1].protocol, 2);
	assert_int_equal(q.ets_willing, 1);
	assert_int_equal(q.ets_cap, 8);
	assert_int_equal(q.prio_tc[3], 3);
	assert_int_equal(q.tc_tsa[3], QOS_TSA_ETS);
	assert_int_equal(q.tc_tx_bw[3], 50);
	assert_int_equal(q.pfc_enabled, 0x08);
	assert_int_equal(q.pfc_delay, 7);
	assert_false(qos_has(&q, QOS_PFC_WILLING) || qos_has(&q, QOS_TC_MAXRATE) ||
		     qos_has(&q, QOS_BUFFER_SIZE));
	free(s);
}

/* Cut anywhere: no field is invented and nothing is read beyond the end. */
static void test_decode_cut(void **state)
{
	struct dcbnl_state *s = malloc(sizeof(*s));

	(void)state;
	for (size_t size = 0; size < sizeof(answer); size++) {
		uint8_t *in = malloc(size ? size : 1);
		struct qos q = {0};

		memcpy(in, answer, size);
		assert_int_equal(dcbnl_decode(in, size, s), size < 4 ? -EBADMSG : 0);
		dcbnl_to_qos(s, &q);
		if (size < 4 + 12 + 236)
			assert_int_equal(q.has, 0);
		free(in);
	}
	free(s);
}

/* Every byte replaced: range checks hold, whatever a driver says. */
static void test_decode_wrong(void **state)
{
	struct dcbnl_state *s = malloc(sizeof(*s));
	uint8_t in[sizeof(answer)];

	(void)state;
	for (size_t i = 0; i < sizeof(answer); i++) {
		struct qos q = {0};

		memcpy(in, answer, sizeof(in));
		in[i] = 0xc7;
		if (dcbnl_decode(in, sizeof(in), s))
			continue;
		dcbnl_to_qos(s, &q);
		for (int p = 0; qos_has(&q, QOS_PRIO_TC) && p < QOS_PRIOS; p++)
			assert_in_range(q.prio_tc[p], 0, 7);
		for (int t = 0; qos_has(&q, QOS_TC_TX_BW) && t < QOS_TCS; t++)
			assert_in_range(q.tc_tx_bw[t], 0, 100);
		for (int d = 0; qos_has(&q, QOS_DSCP_PRIO) && d < QOS_DSCPS; d++)
			assert_true(q.dscp_prio[d] < 8 || q.dscp_prio[d] == QOS_UNMAPPED);
	}
	free(s);
}

static void test_errno(void **state)
{
	static const struct {
		const char *name;
		uint8_t in;
		int want;
	} cases[] = {
		{"success", 0, 0},
		{"ice: no change", 1, 0},
		{"ice: changed", 2, 0},
		{"EINVAL", (uint8_t)-EINVAL, -EINVAL},
		{"EOPNOTSUPP", (uint8_t)-EOPNOTSUPP, -EOPNOTSUPP},
		{"EEXIST", (uint8_t)-EEXIST, -EEXIST},
		{"ENOENT", (uint8_t)-ENOENT, -ENOENT},
		{"EBUSY", (uint8_t)-EBUSY, -EBUSY},
		{"ENOTSUPP, 524 cut to 12", (uint8_t)-524, -EOPNOTSUPP},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (dcbnl_errno(cases[i].in) != cases[i].want)
			fail_msg("%s: %d", cases[i].name, dcbnl_errno(cases[i].in));
}

static void test_fill(void **state)
{
	struct dcbnl_state s = {
		.ets = {.cbs = 1, .tc_reco_bw = {7}, .tc_tx_bw = {100}, .prio_tc = {1}},
		.pfc = {.mbc = 1, .pfc_en = 0xff, .delay = 9},
		.maxrate = {.tc_maxrate = {1}},
		.buffer = {.total_size = 5, .buffer_size = {1, 2}, .prio2buffer = {1}},
	};
	struct qos q = {.prio_tc = {0, 0, 0, 3}, .tc_tx_bw = {50, 0, 0, 50}, .pfc_enabled = 8};

	(void)state;
	dcbnl_fill(&s, &q, QOS_BIT(QOS_PRIO_TC));
	assert_int_equal(s.ets.prio_tc[3], 3);
	assert_int_equal(s.ets.prio_tc[0], 0);
	assert_int_equal(s.ets.tc_tx_bw[0], 100); /* not asked for */
	assert_true(s.ets.cbs == 1 && s.ets.tc_reco_bw[0] == 7);
	dcbnl_fill(&s, &q, QOS_BIT(QOS_PFC_ENABLED));
	assert_true(s.pfc.pfc_en == 8 && s.pfc.delay == 9 && s.pfc.mbc == 1);
	dcbnl_fill(&s, &q, QOS_BIT(QOS_PRIO_BUFFER));
	assert_true(s.buffer.prio2buffer[0] == 0 && s.buffer.buffer_size[1] == 2);
	assert_int_equal(s.buffer.total_size, 5);
	assert_true(s.maxrate.tc_maxrate[0] == 1);
}

/* What is filled in reads as what was put in, for each field that dcbnl's structs carry. */
static void test_fill_fields(void **state)
{
	static const enum qos_field_id ids[] = {QOS_ETS_WILLING, QOS_PRIO_TC,	  QOS_TC_TSA,
						QOS_TC_TX_BW,	 QOS_TC_MAXRATE,  QOS_PFC_ENABLED,
						QOS_PFC_DELAY,	 QOS_PRIO_BUFFER, QOS_BUFFER_SIZE};
	struct qos q;

	(void)state;
	sample_qos(&q);
	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		struct dcbnl_state s = {
			.has_ets = true, .has_pfc = true, .has_maxrate = true, .has_buffer = true};
		struct qos back = {0};

		dcbnl_fill(&s, &q, QOS_BIT(ids[i]));
		dcbnl_to_qos(&s, &back);
		if (!qos_field_equal(&q, &back, ids[i]))
			fail_msg("%s", qos_fields[ids[i]].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app_trust),   cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_cut),  cmocka_unit_test(test_decode_wrong),
		cmocka_unit_test(test_errno),	    cmocka_unit_test(test_fill),
		cmocka_unit_test(test_fill_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
