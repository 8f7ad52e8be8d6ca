/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host whose LLDP agent sets ETS, PFC and APP, on a machine in memory that has what the agent was
 * told and what the kernel has apart: what a profile for it means, what is planned, that the
 * journal keeps both, and that an undo gives both back also when the agent has died.
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
#include "dcb/lldpad/lldp_agent.h"
#include "dcb/lldpad/lldpad.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

/* What the agent was told about p0; what the kernel has is the fake machine's. */
static struct qos told;
static bool alive;
static unsigned int refuse_at, writes;

static int agent_side_read(struct dcb *dcb, const struct dcb_port *port, struct qos *q,
			   bool *has_dcb, struct err *e)
{
	int err = fake_backend.read(dcb, port, q, has_dcb, e);

	for (int id = 0; !err && port->lldp_agent == LLDP_AGENT_LLDPAD && id < QOS_FIELD_COUNT;
	     id++)
		if (lldp_agent_fields() & QOS_BIT(id))
			qos_copy_field(q, &told, id);
	return err;
}

/* A live agent puts what it is told into the kernel. */
static int agent_side_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			    uint64_t mask, struct err *e)
{
	struct fake_port *p = fake_find(dcb, port->ifname);

	if (refuse_at && ++writes == refuse_at) {
		alive = false;
		return err_set(e, -ECONNREFUSED, "the agent is gone");
	}
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(mask & QOS_BIT(id)))
			continue;
		if (port->lldp_agent == LLDP_AGENT_LLDPAD && lldp_agent_fields() & QOS_BIT(id)) {
			qos_copy_field(&told, q, id);
			if (alive && qos_has(&p->qos, id))
				qos_copy_field(&p->qos, q, id);
		} else {
			qos_copy_field(&p->qos, q, id);
		}
	}
	/* It begins to speak, and to set. */
	if (alive && mask & QOS_BIT(QOS_ADMIN_STATUS) && told.admin_status == QOS_LLDP_RXTX)
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (lldp_agent_fields() & p->qos.has & QOS_BIT(id))
				qos_copy_field(&p->qos, &told, id);
	return 0;
}

static const char text[] =
	"schema: rocecheck.profile/1\nname: x\nintent: lossless\n"
	"dcbx: {agent: lldpad, advertise: [ets_cfg, ets_rec, pfc]}\n"
	"trust: dscp\napp: {dscp: {26: 3}}\n"
	"ets: {prio_tc: {3: 3}, tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 40, 3: 60}}\n"
	"pfc: {enabled: [3]}\nmtu: {netdev: 4200}\n";

static void load(const char *yaml, struct profile *p)
{
	char path[] = "/tmp/test_agent.XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct diags diags;
	struct err e = {0};
	FILE *f;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(yaml, f);
	fclose(f);
	diags_init(&diags);
	if (profile_load(path, p, &diags, &e))
		fail_msg("%s %s", e.text, diags.count ? diags.list[0].text : "");
	diags_clear(&diags);
	unlink(path);
}

static void test_profile(void **state)
{
	struct profile p;
	uint64_t live;

	(void)state;
	load(text, &p);
	assert_int_equal(plan_lldp_agent(&p), LLDP_AGENT_LLDPAD);
	/* lldpad by itself would be willing, and only listen. */
	assert_true(qos_has(&p.qos, QOS_ETS_WILLING) && !p.qos.ets_willing);
	assert_true(qos_has(&p.qos, QOS_PFC_WILLING) && !p.qos.pfc_willing);
	assert_int_equal(p.qos.admin_status, QOS_LLDP_RXTX);
	assert_memory_equal(p.qos.reco_bw, p.qos.tc_tx_bw, sizeof(p.qos.reco_bw));
	live = plan_live_fields(&p);
	assert_true(live & QOS_BIT(QOS_PFC_ENABLED) && live & QOS_BIT(QOS_TC_TX_BW));
	assert_false(live & lldp_agent_own_fields());
	p.qos.ets_willing = p.qos.pfc_willing = 1;
	live = plan_live_fields(&p);
	assert_false(live & (QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_TC_TX_BW)));
	assert_true(live & QOS_BIT(QOS_DSCP_PRIO));
	p.agent = AGENT_NONE;
	assert_int_equal(plan_live_fields(&p), p.qos.has);
	p.agent = AGENT_LLDPAD_READONLY;
	assert_int_equal(plan_lldp_agent(&p), LLDP_AGENT_NONE);
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
	struct qos have = {0}, kernel = {0}, want = {0};
	int line[QOS_FIELD_COUNT] = {0};
	struct plan plan;

	(void)state;
	lldpad_defaults(&have);
	want.has = QOS_BIT(QOS_ADMIN_STATUS) | QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_DSCP_PRIO);
	want.admin_status = QOS_LLDP_RXTX;
	memset(want.dscp_prio, QOS_UNMAPPED, sizeof(want.dscp_prio));
	for (int d = 0; d < LLDPAD_APPS_MAX; d++)
		want.dscp_prio[d] = 3;
	plan_make(&want, line, &have, "x", &plan);
	assert_int_equal(plan_changes(&plan), 3);
	/* One more than lldpad has room for. */
	want.dscp_prio[40] = 5;
	plan_make(&want, line, &have, "x", &plan);
	assert_true(step_of(&plan, QOS_DSCP_PRIO)->cannot);
	assert_non_null(strstr(step_of(&plan, QOS_DSCP_PRIO)->reason, "32"));
	/* And without an agent nobody can do what is an agent's. */
	kernel.has = QOS_BIT(QOS_PFC_ENABLED);
	plan_make(&want, line, &kernel, "x", &plan);
	assert_true(step_of(&plan, QOS_ADMIN_STATUS)->cannot);
	assert_null(step_of(&plan, QOS_PFC_WILLING)); /* nobody is willing */
}

struct world {
	char dir[32];
	struct dcb_backend backend;
	struct dcb dcb;
	struct plan plan;
	struct qos told, kernel;
};

static void world_open(struct world *w)
{
	struct dcb_port port = {"p0", NULL, 0, LLDP_AGENT_LLDPAD};
	struct fake_machine *m = fake_map();
	struct profile p;
	struct qos have;
	bool has_dcb;

	memset(w, 0, sizeof(*w));
	strcpy(w->dir, "/tmp/test_agent.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	assert_non_null(m);
	w->backend = fake_backend;
	w->backend.read = agent_side_read;
	w->backend.write = agent_side_write;
	w->dcb = (struct dcb){.backend = &w->backend, .machine = m, .sysfs_fd = -1};
	lldpad_defaults(&told);
	told.pfc_enabled = 0x20;
	lldpad_finish(&told);
	m->port[0].qos = told;
	m->port[0].qos.has &= ~lldp_agent_own_fields();
	m->port[0].qos.has |= QOS_BIT(QOS_MTU);
	m->port[0].qos.mtu = 1500;
	/* The peer's wish: we are willing. */
	m->port[0].qos.pfc_enabled = 0x10;
	w->told = told;
	w->kernel = m->port[0].qos;
	alive = true;
	refuse_at = writes = 0;
	load(text, &p);
	assert_int_equal(dcb_read_port(&w->dcb, &port, &have, &has_dcb, NULL), 0);
	plan_make(&p.qos, p.line, &have, "fake", &w->plan);
	strcpy(w->plan.ifname, "p0");
	w->plan.lldp_agent = plan_lldp_agent(&p);
}

static void world_close(struct world *w)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	munmap(w->dcb.machine, sizeof(struct fake_machine));
}

static void assert_as_before(const struct world *w)
{
	const struct qos *kernel = &((struct fake_machine *)w->dcb.machine)->port[0].qos;

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (qos_has(&w->told, id) && !qos_field_equal(&w->told, &told, id))
			fail_msg("the agent has another %s", qos_fields[id].key);
		if (qos_has(&w->kernel, id) && !qos_field_equal(&w->kernel, kernel, id))
			fail_msg("the kernel has another %s", qos_fields[id].key);
	}
}

static void test_undo(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	struct tx tx;
	char id[JOURNAL_ID_MAX];

	(void)state;
	world_open(&w);
	if (plan_apply(&w.dcb, &w.plan, 1, &(struct apply_options){.at = {w.dir, w.dir}}, id,
		       &outcome, &e))
		fail_msg("%s", e.text);
	assert_int_equal(told.pfc_enabled, 8);
	assert_int_equal(((struct fake_machine *)w.dcb.machine)->port[0].qos.pfc_enabled, 8);
	assert_int_equal(load_tx(w.dir, id, &tx, &e), 0);
	assert_int_equal(tx.port[0].lldp_agent, LLDP_AGENT_LLDPAD);
	assert_int_equal(tx.port[0].before.pfc_enabled, 0x20);
	assert_int_equal(tx.port[0].live.pfc_enabled, 0x10);
	tx_clear(&tx);
	alive = false; /* it was stopped since */
	if (tx_rollback(&w.dcb, AT(w.dir), id, &tx, &outcome, &e))
		fail_msg("%s", e.text);
	tx_clear(&tx);
	assert_as_before(&w);
	world_close(&w);
}

/* Nothing but its adminStatus: what it does to the kernel then is undone with it. */
static void test_status_alone(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	struct tx tx;
	char id[JOURNAL_ID_MAX];

	(void)state;
	for (unsigned int lives = 0; lives < 2; lives++) {
		int err;

		world_open(&w);
		for (unsigned int i = 0; i < w.plan.count; i++)
			w.plan.step[i].cannot |= w.plan.step[i].field != QOS_ADMIN_STATUS;
		assert_int_equal(plan_changes(&w.plan), 1);
		err = plan_apply(&w.dcb, &w.plan, 1, &(struct apply_options){.at = {w.dir, w.dir}},
				 id, &outcome, &e);
		assert_int_equal(err, 0);
		assert_int_equal(fake_find(&w.dcb, "p0")->qos.pfc_enabled, 0x20);
		alive = lives;
		if (tx_rollback(&w.dcb, AT(w.dir), id, &tx, &outcome, &e))
			fail_msg("%s", e.text);
		tx_clear(&tx);
		assert_as_before(&w);
		world_close(&w);
	}
}

/* It dies at each write: what it has put into the kernel is taken back without it. */
static void test_dies(void **state)
{
	unsigned int failed = 0;

	(void)state;
	for (unsigned int at = 1; at < 40; at++) {
		enum apply_outcome outcome;
		char id[JOURNAL_ID_MAX];
		struct err e = {0};
		struct world w;
		int err;

		world_open(&w);
		refuse_at = at;
		err = plan_apply(&w.dcb, &w.plan, 1, &(struct apply_options){.at = {w.dir, w.dir}},
				 id, &outcome, &e);
		if (err) {
			failed++;
			assert_int_equal(outcome, APPLY_UNDONE);
			assert_as_before(&w);
		}
		world_close(&w);
	}
	assert_true(failed >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile), cmocka_unit_test(test_plan),
		cmocka_unit_test(test_undo),	cmocka_unit_test(test_status_alone),
		cmocka_unit_test(test_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
