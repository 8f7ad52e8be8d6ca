/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What apply_world.h declares.
 */
#include "tests/unit/dcb/apply/apply_world.h"

static void fill_port(struct fake_port *p)
{
	struct qos *q = &p->qos;

	memset(p, 0, sizeof(*p));
	for (int id = 0; id <= QOS_CM_TOS; id++)
		q->has |= QOS_BIT(id);
	q->has &= ~(QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_IB_MTU));
	q->dcbx_mode = QOS_DCBX_HOST | QOS_DCBX_IEEE;
	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->dscp_prio[26] = 4;
	q->dscp_prio[8] = 1;
	q->trust = QOS_TRUST_DSCP;
	q->ets_cap = q->pfc_cap = 8;
	q->prio_tc[4] = 2;
	q->tc_tsa[2] = QOS_TSA_ETS;
	q->tc_tx_bw[2] = 100;
	q->tc_maxrate_kbps[1] = 1000;
	q->pfc_enabled = 0x10;
	q->pause_rx = q->pause_tx = 1;
	q->mtu = 1500;
	q->roce_version = 1;
	q->cm_tos = 0;
}

void fill_want(struct qos *want)
{
	memset(want, 0, sizeof(*want));
	memset(want->dscp_prio, QOS_UNMAPPED, sizeof(want->dscp_prio));
	want->has = QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) |
		    QOS_BIT(QOS_TC_TX_BW) | QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PAUSE_RX) |
		    QOS_BIT(QOS_MTU) | QOS_BIT(QOS_ROCE_VERSION) | QOS_BIT(QOS_CM_TOS);
	want->dscp_prio[26] = 3;
	want->dscp_prio[48] = 6;
	want->prio_tc[3] = 3;
	want->tc_tsa[0] = want->tc_tsa[3] = QOS_TSA_ETS;
	want->tc_tx_bw[0] = want->tc_tx_bw[3] = 50;
	want->pfc_enabled = 0x08;
	want->mtu = 9000;
	want->roce_version = 2;
	want->cm_tos = 106;
}

void make_plans(struct world *w)
{
	int line[QOS_FIELD_COUNT] = {0};
	struct err e = {0};
	struct qos want, have;
	bool has_dcb;

	fill_want(&want);
	for (int i = 0; i < 2; i++) {
		char name[3] = {'p', '0' + i, 0};

		assert_int_equal(dcb_read(&w->dcb, name, "rdma", 1, &have, &has_dcb, &e), 0);
		plan_make(&want, line, &have, "fake", &w->plan[i]);
		strcpy(w->plan[i].ifname, name);
		strcpy(w->plan[i].ibdev, "rdma");
		w->plan[i].ib_port = 1;
	}
}

void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	/* In memory if there is such a place: thousands of fsync() are no part of the question. */
	strcpy(w->dir, "/dev/shm/test_journal.XXXXXX");
	if (!mkdtemp(w->dir)) {
		strcpy(w->dir, "/tmp/test_journal.XXXXXX");
		assert_non_null(mkdtemp(w->dir));
	}
	w->machine = fake_map();
	assert_non_null(w->machine);
	fill_port(&w->machine->port[0]);
	fill_port(&w->machine->port[1]);
	memcpy(w->before, w->machine->port, sizeof(w->before));
	w->dcb.backend = &fake_backend;
	w->dcb.machine = w->machine;
	make_plans(w);
	w->machine->points = 0;
}

void world_close(struct world *w)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	munmap(w->machine, sizeof(*w->machine));
}

int apply(struct world *w, enum apply_outcome *outcome, struct err *e)
{
	char id[JOURNAL_ID_MAX];

	return plan_apply(&w->dcb, w->plan, 2, &(struct apply_options){.at = {w->dir, w->dir}}, id,
			  outcome, e);
}

int rollback(struct world *w, enum apply_outcome *outcome, struct err *e)
{
	struct tx tx;
	int err = tx_rollback(&w->dcb, AT(w->dir), NULL, &tx, outcome, e);

	tx_clear(&tx);
	return err;
}

bool dies(struct world *w, bool rolling_back, unsigned int die_at)
{
	int status;
	pid_t pid;

	w->machine->points = 0;
	w->machine->die_at = die_at;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		enum apply_outcome outcome;
		int err = rolling_back ? rollback(w, &outcome, NULL) : apply(w, &outcome, NULL);

		_exit(err ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	w->machine->die_at = 0;
	if (WIFSIGNALED(status))
		return true;
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return false;
}

bool as_before(const struct world *w)
{
	return !memcmp(w->machine->port, w->before, sizeof(w->before));
}

bool is_applied(const struct world *w)
{
	struct qos want;

	fill_want(&want);
	return !qos_diff(&want, &w->machine->port[0].qos) &&
	       !qos_diff(&want, &w->machine->port[1].qos);
}
