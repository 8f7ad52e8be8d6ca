/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: notices decoded from hostile bytes, states compared, the plan that repairs, and how often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/dcbnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/drift/drift.h"

#define BIT(id) QOS_BIT(QOS_##id)

static struct qos lossless(void)
{
	struct qos q = {
		.has = BIT(DCBX_MODE) | BIT(TRUST) | BIT(DSCP_PRIO) | BIT(APP) | BIT(PRIO_TC) |
		       BIT(TC_TSA) | BIT(TC_TX_BW) | BIT(PFC_ENABLED) | BIT(PRIO_BUFFER) |
		       BIT(PAUSE_RX) | BIT(MTU) | BIT(CM_TOS),
		.dcbx_mode = QOS_DCBX_HOST | QOS_DCBX_IEEE,
		.trust = QOS_TRUST_DSCP,
		.prio_tc = {[3] = 3},
		.tc_tsa = {[0] = QOS_TSA_ETS, [3] = QOS_TSA_ETS},
		.tc_tx_bw = {[0] = 50, [3] = 50},
		.pfc_enabled = 0x08,
		.mtu = 9000,
		.cm_tos = 106,
	};

	memset(q.dscp_prio, QOS_UNMAPPED, sizeof(q.dscp_prio));
	q.dscp_prio[26] = 3;
	return q;
}

struct message {
	size_t size;
	uint8_t bytes[256];
};

static void put(struct message *m, const void *data, size_t size)
{
	memcpy(m->bytes + m->size, data, size);
	m->size += (size + 3) & ~(size_t)3;
}

static void put_attr(struct message *m, uint16_t type, const void *data, size_t size)
{
	uint16_t header[2] = {4 + size, type};

	put(m, header, sizeof(header));
	put(m, data, size);
}

static struct message link_message(unsigned char family, unsigned int flags)
{
	struct ifinfomsg i = {.ifi_family = family, .ifi_index = 7, .ifi_flags = flags};
	struct message m = {0};
	uint32_t mtu = 9000;

	put(&m, &i, sizeof(i));
	put_attr(&m, IFLA_MTU, &mtu, sizeof(mtu));
	put_attr(&m, IFLA_IFNAME, "roce0", 6);
	return m;
}

static struct message dcb_message(void)
{
	struct dcbmsg d = {.cmd = DCB_CMD_IEEE_SET};
	struct message m = {0};

	put(&m, &d, sizeof(d));
	put_attr(&m, DCB_ATTR_IFNAME, "roce0", 6);
	return m;
}

/* On the heap and exactly as long: the sanitizer sees a byte too far. */
static bool decode(uint16_t type, const struct message *m, size_t size, struct drift_notice *n)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool got;

	assert_non_null(copy);
	memcpy(copy, m->bytes, size);
	got = drift_decode_notice(type, copy, size, n);
	free(copy);
	return got;
}

static void test_decode(void **state)
{
	struct message link = link_message(AF_UNSPEC, IFF_LOWER_UP), dcb = dcb_message(),
		       bridge = link_message(AF_BRIDGE, 0), down = link_message(AF_UNSPEC, 0);
	struct drift_notice n;

	(void)state;
	assert_true(decode(RTM_NEWLINK, &link, link.size, &n));
	assert_int_equal(n.kind, DRIFT_NETDEV);
	assert_int_equal(n.ifindex, 7);
	assert_true(n.carrier);
	assert_string_equal(n.ifname, "roce0");
	assert_true(decode(RTM_NEWLINK, &down, down.size, &n));
	assert_false(n.carrier);
	assert_true(decode(RTM_DELLINK, &link, link.size, &n));
	assert_int_equal(n.kind, DRIFT_NETDEV_GONE);
	assert_true(decode(RTM_SETDCB, &dcb, dcb.size, &n));
	assert_int_equal(n.kind, DRIFT_DCB);
	assert_string_equal(n.ifname, "roce0");
	assert_false(decode(RTM_NEWLINK, &bridge, bridge.size, &n));
	assert_false(decode(RTM_NEWADDR, &link, link.size, &n));
	for (size_t size = 0; size < link.size - 8; size++)
		assert_false(decode(RTM_NEWLINK, &link, size, &n));
	for (size_t size = 0; size < dcb.size - 4; size++)
		assert_false(decode(RTM_SETDCB, &dcb, size, &n));
}

static void test_decode_names(void **state)
{
	static const struct {
		const char *name;
		size_t size;
	} cases[] = {
		{"", 0},
		{"", 1},
		{"roce0", 5},
		{"a name that is far too long", 28},
		{"0123456789abcdef", 17},
	};
	struct drift_notice n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dcbmsg d = {.cmd = DCB_CMD_IEEE_SET};
		struct message m = {0};

		put(&m, &d, sizeof(d));
		put_attr(&m, DCB_ATTR_IFNAME, cases[i].name, cases[i].size);
		assert_false(decode(RTM_SETDCB, &m, m.size, &n));
	}
}

static void test_drift(void **state)
{
	struct drift_want state_was = {.qos = lossless(), .exact = true}, wish;
	struct qos now = state_was.qos;

	(void)state;
	wish = state_was;
	wish.exact = false;
	assert_true(drift_fields(&state_was, &now) == 0);
	assert_true(drift_fields(&wish, &now) == 0);
	now.pfc_enabled = 0;
	assert_true(drift_fields(&state_was, &now) == BIT(PFC_ENABLED));
	assert_true(drift_fields(&wish, &now) == BIT(PFC_ENABLED));
	/* An entry more is drift from a state, and nothing that a wish forbids. */
	now = state_was.qos;
	now.dscp_prio[5] = 5;
	assert_true(drift_fields(&state_was, &now) == BIT(DSCP_PRIO));
	assert_true(drift_fields(&wish, &now) == 0);
	/* What can no longer be read is not as it was; what was never known is not asked. */
	now = state_was.qos;
	now.has &= ~BIT(MTU);
	assert_true(drift_fields(&state_was, &now) == BIT(MTU));
	assert_true(drift_changed_fields(&state_was.qos, &now) == BIT(MTU));
	assert_true(drift_changed_fields(&now, &state_was.qos) == BIT(MTU));
	state_was.qos.has &= ~BIT(MTU);
	assert_true(drift_fields(&state_was, &now) == 0);
	assert_true(drift_changed_fields(&now, &now) == 0);
}

/* Every field that is compared has its turn: a row of the table that drift forgets is a hole. */
static void test_drift_all_fields(void **state)
{
	(void)state;
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		struct drift_want want = {.exact = true};
		struct qos now = {0};

		want.qos.has = QOS_BIT(id);
		assert_true(drift_fields(&want, &now) == QOS_BIT(id));
		now.has = QOS_BIT(id);
		assert_true(drift_fields(&want, &now) == 0);
	}
}

static const struct plan_step *step_of(const struct plan *plan, enum qos_field_id id)
{
	for (unsigned int i = 0; i < plan->count; i++)
		if (plan->step[i].field == id)
			return &plan->step[i];
	return NULL;
}

static void test_plan(void **state)
{
	struct drift_want want = {.qos = lossless(), .exact = true};
	struct qos now = want.qos;
	const struct plan_step *s;
	struct plan plan;
	uint64_t left;

	(void)state;
	now.pfc_enabled = 0xff;
	now.dscp_prio[5] = 5;
	drift_plan(&want, drift_fields(&want, &now), &now, "labnic", &plan, &left);
	assert_true(left == 0);
	assert_true(plan_fields(&plan) == (BIT(PFC_ENABLED) | BIT(DSCP_PRIO)));
	s = step_of(&plan, QOS_PFC_ENABLED);
	assert_true(qos_field_equal(&s->from, &now, QOS_PFC_ENABLED));
	assert_true(qos_field_equal(&s->to, &want.qos, QOS_PFC_ENABLED));
	/* The entry that was not there goes, and what is said to be there is what was read. */
	s = step_of(&plan, QOS_DSCP_PRIO);
	assert_true(qos_field_equal(&s->from, &now, QOS_DSCP_PRIO));
	assert_true(qos_field_equal(&s->to, &want.qos, QOS_DSCP_PRIO));
}

/* Whatever a driver's row says disturbs: no repair does it. */
static void test_plan_never_disturbs(void **state)
{
	(void)state;
	for (const struct driver_quirk *q = driver_quirks; q->driver; q++) {
		struct drift_want want = {.qos = lossless(), .exact = true};
		struct qos now = want.qos;
		struct plan plan;
		uint64_t left, drift;

		now.mtu = 1500;
		now.pfc_enabled = 0;
		now.pause_rx = !now.pause_rx;
		now.trust = QOS_TRUST_PCP;
		memset(now.dscp_prio, QOS_UNMAPPED, sizeof(now.dscp_prio));
		now.tc_tx_bw[0] = 60;
		now.tc_tx_bw[3] = 40;
		now.prio_buffer[0]++;
		drift = drift_fields(&want, &now);
		drift_plan(&want, drift, &now, q->driver, &plan, &left);
		assert_true(drift != 0);
		for (unsigned int i = 0; i < plan.count; i++)
			assert_true(plan.step[i].cannot || plan.step[i].disruption == DISRUPT_NONE);
		assert_true((left & (q->flaps | q->resets) & drift) ==
			    ((q->flaps | q->resets) & drift));
	}
}

static void test_budget(void **state)
{
	struct drift_budget b = {0};
	uint64_t t = 1000;

	(void)state;
	/* Three, and when the first is out of the window one more; then never again. */
	assert_true(drift_budget_consume(&b, t));
	assert_true(drift_budget_consume(&b, t + 1));
	assert_true(drift_budget_consume(&b, t + 2));
	assert_true(drift_budget_consume(&b, t + DRIFT_REPAIR_WINDOW_MS));
	assert_false(drift_budget_consume(&b, t + DRIFT_REPAIR_WINDOW_MS));
	assert_false(drift_budget_consume(&b, t + 10 * DRIFT_REPAIR_WINDOW_MS));
}

static void test_budget_taken_back(void **state)
{
	struct drift_budget b = {0};

	(void)state;
	for (unsigned int i = 0; i < 10 * DRIFT_REPAIRS_MAX; i++) {
		assert_true(drift_budget_consume(&b, 1000 + i));
		drift_budget_return(&b);
	}
	for (unsigned int i = 0; i < DRIFT_REPAIRS_MAX; i++)
		assert_true(drift_budget_consume(&b, 2000 + i));
	assert_false(drift_budget_consume(&b, 3000));
}

static void test_effects(void **state)
{
	static const struct {
		uint64_t fields;
		const char *want;
	} rows[] = {
		{BIT(PFC_ENABLED), "priority 3 is no longer lossless"},
		{BIT(TRUST), "the DSCP of a packet no longer selects its priority"},
		{BIT(PFC_ENABLED) | BIT(TRUST),
		 "priority 3 is no longer lossless; the DSCP of a packet no longer selects its "
		 "priority"},
		{BIT(MTU), ""},
	};
	struct qos want = lossless(), now = want;
	char text[128];

	(void)state;
	now.pfc_enabled = 0x10;
	now.trust = QOS_TRUST_PCP;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		drift_effects_text(&want, &now, rows[i].fields, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
	/* More priorities than wanted, or none known. */
	now.pfc_enabled = 0x18;
	drift_effects_text(&want, &now, BIT(PFC_ENABLED), text, sizeof(text));
	assert_string_equal(text, "");
	now.has = 0;
	drift_effects_text(&want, &now, UINT64_MAX, text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),	cmocka_unit_test(test_decode_names),
		cmocka_unit_test(test_drift),	cmocka_unit_test(test_drift_all_fields),
		cmocka_unit_test(test_plan),	cmocka_unit_test(test_plan_never_disturbs),
		cmocka_unit_test(test_budget),	cmocka_unit_test(test_budget_taken_back),
		cmocka_unit_test(test_effects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
