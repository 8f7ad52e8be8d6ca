/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of an undo, on a machine in memory that notes what it is told: a priority that loses
 * PFC has lost it before any APP entry moves, in whatever order the driver wanted them set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/apply/plan_apply.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

static struct dcb_backend backend;
static struct fake_machine *machine;
static char seen[256];

/* "pfc=MASK", or "app@MASK" with the mask at that time. */
static int note_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
		      uint64_t mask, struct err *e)
{
	size_t used = strlen(seen);

	if (mask & QOS_BIT(QOS_PFC_ENABLED))
		snprintf(seen + used, sizeof(seen) - used, " pfc=%u", q->pfc_enabled);
	else if (mask & QOS_BIT(QOS_DSCP_PRIO))
		snprintf(seen + used, sizeof(seen) - used, " app@%u",
			 machine->port[0].qos.pfc_enabled);
	return fake_backend.write(dcb, port, q, mask, e);
}

static void undo(const char *driver, uint8_t before, uint8_t wanted, const char *apply_text,
		 const char *undo_text)
{
	char dir[] = "/tmp/test_rollback.XXXXXX", command[64], id[JOURNAL_ID_MAX];
	struct qos *q = &machine->port[0].qos, want;
	struct dcb dcb = {.backend = &backend, .machine = machine, .sysfs_fd = -1};
	int line[QOS_FIELD_COUNT] = {0};
	struct apply_options how = {.at = {dir, dir}};
	enum apply_outcome outcome;
	struct err e = {0};
	struct plan plan;
	struct tx tx;

	assert_non_null(mkdtemp(dir));
	memset(q, 0, sizeof(*q));
	q->has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_TRUST) |
		 QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW);
	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->dscp_prio[26] = 4;
	q->trust = QOS_TRUST_DSCP;
	q->pfc_enabled = before;
	want = *q;
	want.pfc_enabled = wanted;
	want.dscp_prio[26] = 3;
	plan_make(&want, line, q, driver, &plan);
	strcpy(plan.ifname, "p0");
	seen[0] = '\0';
	if (plan_apply(&dcb, &plan, 1, &how, id, &outcome, &e))
		fail_msg("%s: %s", driver, e.text);
	assert_string_equal(seen, apply_text);
	seen[0] = '\0';
	if (tx_rollback(&dcb, AT(dir), id, &tx, &outcome, &e))
		fail_msg("%s: %s", driver, e.text);
	tx_clear(&tx);
	assert_string_equal(seen, undo_text);
	assert_int_equal(q->pfc_enabled, before);
	assert_int_equal(q->dscp_prio[26], 4);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_order(void **state)
{
	(void)state;
	backend = fake_backend;
	backend.write = note_write;
	machine = fake_map();
	assert_non_null(machine);
	undo("mlx5_core", 0, 8, " app@0 pfc=8", " pfc=0 app@0");
	undo("bnxt_en", 0, 8, " pfc=8 app@8", " pfc=0 app@0");
	/* Of 4 and 3 none stays; 4 comes back when its traffic is back. */
	undo("bnxt_en", 16, 8, " pfc=8 app@8", " pfc=0 app@0 pfc=16");
	/* What was taken away comes back after the entries. */
	undo("bnxt_en", 24, 8, " pfc=8 app@8", " app@8 pfc=24");
	munmap(machine, sizeof(*machine));
}

/* As a driver that is loaded anew: what the port was told is gone. */
static int reload_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			uint64_t mask, struct err *e)
{
	int err = fake_backend.write(dcb, port, q, mask, e);

	if (!err && mask & QOS_BIT(QOS_ROCE_ENABLE)) {
		machine->port[0].qos.mtu = 1500;
		machine->port[0].qos.pfc_enabled = 0;
		machine->port[0].qos.pause_rx = 0;
	}
	return err;
}

/* What the profile asks for is set again after it; and all that was there is, after the undo. */
static void test_reload(void **state)
{
	char dir[] = "/tmp/test_rollback.XXXXXX", command[64], id[JOURNAL_ID_MAX];
	struct qos *q, want = {.roce_enable = 1, .mtu = 9000};
	struct dcb dcb = {.backend = &backend, .sysfs_fd = -1};
	int line[QOS_FIELD_COUNT] = {0};
	struct apply_options how = {.at = {dir, dir}};
	enum apply_outcome outcome;
	struct err e = {0};
	struct plan plan;
	struct tx tx;

	(void)state;
	assert_non_null(mkdtemp(dir));
	backend = fake_backend;
	backend.write = reload_write;
	machine = fake_map();
	assert_non_null(machine);
	dcb.machine = machine;
	q = &machine->port[0].qos;
	want.has = QOS_BIT(QOS_ROCE_ENABLE) | QOS_BIT(QOS_MTU);
	q->has = want.has | QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PAUSE_RX);
	q->pause_rx = 1;
	q->mtu = 9000;
	q->pfc_enabled = 8;
	plan_make(&want, line, q, "mlx5_core", &plan);
	strcpy(plan.ifname, "p0");
	assert_true(plan.side_effects == (QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PAUSE_RX)));
	assert_true(plan_disrupts(&plan));
	if (plan_apply(&dcb, &plan, 1, &how, id, &outcome, &e))
		fail_msg("%s", e.text);
	assert_int_equal(q->roce_enable, 1);
	assert_int_equal(q->mtu, 9000);
	assert_int_equal(q->pfc_enabled, 0);
	if (tx_rollback(&dcb, AT(dir), id, &tx, &outcome, &e))
		fail_msg("%s", e.text);
	tx_clear(&tx);
	assert_int_equal(q->roce_enable, 0);
	assert_int_equal(q->pause_rx, 1);
	assert_int_equal(q->mtu, 9000);
	assert_int_equal(q->pfc_enabled, 8);
	munmap(machine, sizeof(*machine));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_reload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
