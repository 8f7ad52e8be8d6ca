/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs plans as a transaction. Before the first write the former values and the plan are on disk,
 * and the dead-man runs if a confirmation is needed. A failure, a different readback, or a signal
 * undoes everything. Fields of one object are one write, because a device may refuse intermediate
 * states (ETS shares that do not sum to 100).
 */
#include "dcb/apply/plan_apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/decide.h"
#include "dcb/kernel/backend.h"
#include "profiles/base/process.h"
#include "profiles/base/signals.h"

struct tx_exec {
	struct dcb *dcb;
	struct state state;
	const struct plan **plan; /* those with changes; same order as tx.port */
	struct tx tx;
	struct deadman *deadman; /* NULL: needs no confirmation */
	const struct apply_options *how;
};

static int apply_read_before(struct dcb *dcb, const struct plan *plan, struct tx_port *p,
			     struct err *e)
{
	struct dcb_port port;
	bool has_dcb;
	int err;

	snprintf(p->ifname, sizeof(p->ifname), "%s", plan->ifname);
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", plan->ibdev);
	snprintf(p->driver, sizeof(p->driver), "%s", plan->driver);
	p->ib_port = plan->ib_port;
	p->lldp_agent = plan->lldp_agent;
	port = tx_port_names(p);
	err = dcb_read_port(dcb, &port, &p->before, &has_dcb, e);
	/* An undo restores both the agent's configuration and the kernel's settings. */
	if (!err && p->lldp_agent != LLDP_AGENT_NONE)
		err = dcb_read(dcb, p->ifname, p->ibdev, p->ib_port, &p->live, &has_dcb, e);
	return err;
}

/* Checks that the settings are still those that the plan was made from. */
static int apply_check_fresh(const struct plan *plan, const struct tx_port *p, struct err *e)
{
	for (unsigned int i = 0; i < plan->count; i++) {
		const struct plan_step *s = &plan->step[i];

		if (s->cannot || (!qos_has(&s->from, s->field) && !qos_has(&p->before, s->field)))
			continue;
		if (!qos_field_equal(&s->from, &p->before, s->field))
			return err_set(e, -ESTALE, "%s: %s has changed since the plan was made",
				       plan->ifname, qos_fields[s->field].key);
	}
	return 0;
}

/* Adds one write for the object of plan step `first`, with all steps of the plan in that object. */
static void apply_add_step(struct tx_exec *r, unsigned int port, uint64_t fields)
{
	const struct plan *plan = r->plan[port];
	const struct qos *before = &r->tx.port[port].before;
	struct tx_step *s = &r->tx.step[r->tx.step_count];
	bool differs = false;

	*s = (struct tx_step){.port = port, .fields = fields};
	for (unsigned int i = 0; i < plan->count; i++) {
		enum qos_field_id id = plan->step[i].field;

		if (!(fields & QOS_BIT(id)))
			continue;
		qos_copy_field(&s->to, &plan->step[i].to, id);
		differs |= plan->step[i].rewrite || !qos_field_equal(&s->to, before, id);
	}
	r->tx.step_count += differs;
}

static int apply_prepare_port(struct tx_exec *r, const struct plan *plan, struct err *e)
{
	struct tx_port *p = &r->tx.port[r->tx.port_count];
	struct dcb_port names = {plan->ifname, plan->ibdev, plan->ib_port, plan->lldp_agent};
	uint64_t tables = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO);
	int err = apply_read_before(r->dcb, plan, p, e);

	if (!err)
		err = apply_check_fresh(plan, p, e);
	if (!err && plan_fields(plan) & tables)
		err = r->dcb->backend->check(r->dcb, &names, e);
	if (err)
		return err;
	p->cm_dir_made = plan_fields(plan) & PLAN_RDMA_CM & ~p->before.has;
	r->plan[r->tx.port_count++] = plan;
	return 0;
}

/* Creates the configfs directories that show the former values of rdma_cm. They are recorded first,
 * so that an undo removes them if apply is killed. */
static int apply_create_cm_dirs(struct tx_exec *r, struct err *e)
{
	bool hidden = false, has_dcb, made;
	int err = 0;

	for (unsigned int i = 0; i < r->tx.port_count; i++)
		hidden |= r->tx.port[i].cm_dir_made;
	if (hidden)
		err = journal_make(&r->state, &r->tx, e);
	for (unsigned int i = 0; !err && i < r->tx.port_count; i++) {
		struct tx_port *p = &r->tx.port[i];
		struct dcb_port names = tx_port_names(p);

		if (!p->cm_dir_made)
			continue;
		err = r->dcb->backend->cm_dir_create(r->dcb, &names, &made, e);
		if (!err)
			err = dcb_read_port(r->dcb, &names, &p->before, &has_dcb, e);
	}
	return err;
}

static int apply_add_steps(struct tx_exec *r, unsigned int port, struct err *e)
{
	const struct plan *plan = r->plan[port];
	uint64_t left = plan_fields(plan);

	for (unsigned int i = 0; i < plan->count; i++) {
		uint64_t fields = dcb_object_fields(plan->step[i].field) & left;

		if (plan->step[i].cannot || !fields)
			continue;
		if (r->tx.step_count == JOURNAL_STEPS_MAX)
			return err_set(e, -ENOSPC, "more than %u writes", JOURNAL_STEPS_MAX);
		left &= ~fields;
		apply_add_step(r, port, fields);
	}
	return 0;
}

/* Refuses while another transaction is interrupted or waits for its confirmation. */
static int apply_check_newest(const struct tx_exec *r, struct err *e)
{
	struct tx last = {0};
	struct tx_view v;
	bool lives = deadman_find(r->how->at.run, last.id);
	int err = 0;

	if (!lives)
		err = journal_newest(&r->state, &last, e);
	v = tx_view(&last, lives, boottime_ms());
	if (!err)
		err = tx_refuse(tx_decide(&v, TX_BEGIN), &last, e);
	tx_clear(&last);
	return err == -ENOENT ? 0 : err;
}

/* Upper limit of an apply: a minute, and twice the link timeout of each port. */
static uint64_t apply_deadline_ms(const struct tx_exec *r)
{
	uint64_t seconds = (uint64_t)r->how->wait_link_s * r->tx.port_count * 2;

	return boottime_ms() + (seconds + r->how->confirm_within_s + 60) * 1000;
}

/* Removes the configfs directories and records that nothing was written. */
static void apply_abandon(struct tx_exec *r)
{
	for (unsigned int i = 0; r->tx.id[0] && i < r->tx.port_count; i++) {
		struct dcb_port names = tx_port_names(&r->tx.port[i]);

		if (r->tx.port[i].cm_dir_made)
			(void)r->dcb->backend->cm_dir_remove(r->dcb, &names, NULL);
	}
	r->tx.state = TX_UNDONE;
	if (r->tx.id[0])
		(void)journal_append(&r->state, &r->tx, NULL);
}

/* Prepares and records the transaction; writes no setting. */
static int apply_prepare(struct tx_exec *r, const struct plan *plans, unsigned int n, struct err *e)
{
	int err = apply_check_newest(r, e);

	if (err)
		return err;
	for (unsigned int i = 0; !err && i < n; i++)
		if (plan_changes(&plans[i]))
			err = apply_prepare_port(r, &plans[i], e);
	r->tx.confirm_within_s = r->how->confirm_within_s;
	r->tx.deadline_ms = apply_deadline_ms(r);
	if (!err)
		err = apply_create_cm_dirs(r, e);
	for (unsigned int i = 0; !err && i < r->tx.port_count; i++)
		err = apply_add_steps(r, i, e);
	if (!err && r->tx.step_count)
		err = r->tx.id[0] ? journal_rewrite_header(&r->state, &r->tx, e)
				  : journal_make(&r->state, &r->tx, e);
	if (err || !r->tx.step_count)
		apply_abandon(r);
	return err;
}

static int apply_arm_deadman(struct tx_exec *r, struct err *e)
{
	const struct deadman_start start = {
		.state = &r->state, .at = r->how->at, .tx = &r->tx, .open = r->how->open};
	unsigned int lacks;
	int err;

	if (!r->how->confirm_within_s)
		return 0;
	err = deadman_arm(&start, &r->deadman, &lacks, e);
	if (!err && r->how->guarded)
		r->how->guarded(lacks, r->how->arg);
	return err;
}

static void apply_report_begin(const struct tx_exec *r, const struct plan *plan, uint64_t fields)
{
	for (unsigned int i = 0; r->how->progress && i < plan->count; i++)
		if (!plan->step[i].cannot && fields & QOS_BIT(plan->step[i].field))
			r->how->progress(plan, i, false, r->how->arg);
}

/* Reports ended steps in the order of the plan, from *next on. right: fields that had their value
 * already and are not written; done: those and the written ones. */
static void apply_report_end(const struct tx_exec *r, const struct plan *plan, uint64_t right,
			     uint64_t done, unsigned int *next)
{
	for (; r->how->progress && *next < plan->count; (*next)++) {
		const struct plan_step *s = &plan->step[*next];

		if (s->cannot)
			continue;
		if (!(done & QOS_BIT(s->field)))
			return;
		if (right & QOS_BIT(s->field))
			r->how->progress(plan, *next, false, r->how->arg);
		r->how->progress(plan, *next, true, r->how->arg);
	}
}

static int apply_write_steps(struct tx_exec *r, unsigned int port, const struct signals_held *held,
			     struct err *e)
{
	const struct plan *plan = r->plan[port];
	struct dcb_port names = tx_port_names(&r->tx.port[port]);
	uint64_t right = plan_fields(plan) & ~tx_planned(&r->tx, port), done = right;
	unsigned int next = 0;

	for (unsigned int i = 0; i < r->tx.step_count; i++) {
		const struct tx_step *s = &r->tx.step[i];
		int sig = signals_consume(held), err;

		if (sig)
			return err_set(e, -EINTR, "stopped by signal %d", sig);
		if (s->port != port)
			continue;
		apply_report_end(r, plan, right, done, &next);
		apply_report_begin(r, plan, s->fields);
		err = dcb_write(r->dcb, &names, &s->to, s->fields, e);
		if (err)
			return err;
		done |= s->fields;
		apply_report_end(r, plan, right, done, &next);
	}
	apply_report_end(r, plan, right, done, &next);
	return 0;
}

/* Waits for a flapped or reset port before the next port is written. */
static int apply_write_port(struct tx_exec *r, unsigned int port, const struct signals_held *held,
			    struct err *e)
{
	struct tx_port *p = &r->tx.port[port];
	struct dcb_port names = tx_port_names(p);
	int err;

	if (!plan_disrupts(r->plan[port]))
		return apply_write_steps(r, port, held, e);
	port_state_read(r->dcb, &names, &p->state_before);
	p->has_state_before = true;
	err = apply_write_steps(r, port, held, e);
	return err ? err : port_wait(r->dcb, &names, &p->state_before, r->how->wait_link_s, e);
}

/* Reports to the dead-man first: so a stopped apply cannot delay the deadline. */
static int apply_finish(struct tx_exec *r, struct err *e)
{
	int err = tx_read_after(r->dcb, &r->tx, e);

	r->tx.confirm_by_ms = boottime_ms() + (uint64_t)r->tx.confirm_within_s * 1000;
	if (!err && r->deadman)
		err = deadman_done(r->deadman, r->tx.confirm_by_ms, e);
	if (!err) {
		r->tx.state = TX_DONE;
		err = journal_append(&r->state, &r->tx, e);
	}
	return err;
}

/* Names ports that are still missing after the undo. */
static void apply_report_missing(const struct tx *tx, int err, struct err *e)
{
	for (unsigned int i = 0; e && i < tx->port_count; i++)
		if (tx->port[i].missing)
			err_set(e, err, "%.800s; and %s: %s has not returned yet", e->text,
				tx->port[i].ifname, tx->port[i].missing);
}

/* Undoes everything after a failed step. */
static int apply_undo_failed(struct tx_exec *r, int err, enum apply_outcome *outcome, struct err *e)
{
	struct err undo = {0};

	if (tx_restore(r->dcb, &r->tx, r->how->wait_link_s, &undo)) {
		*outcome = APPLY_LOST;
		/* Keeps the first failure, the cause, in front. */
		if (e)
			err_set(e, err, "%.480s; and %.480s", e->text, undo.text);
	} else if (err != -ETIMEDOUT) {
		apply_report_missing(&r->tx, err, e);
	}
	r->tx.state = *outcome == APPLY_LOST ? TX_LOST : TX_UNDONE;
	/* If this fails, too, the journal says interrupted, and a rollback finds no difference. */
	(void)journal_append(&r->state, &r->tx, NULL);
	if (r->tx.state == TX_UNDONE)
		deadman_stop(r->how->at.run, r->tx.id);
	return err;
}

/* Runs the recorded transaction. */
static int apply_recorded(struct tx_exec *r, enum apply_outcome *outcome, struct err *e)
{
	struct signals_held held;
	int err = 0, oom = process_set_oom(PROCESS_OOM_LATE);

	signals_hold(&held);
	for (unsigned int i = 0; !err && i < r->tx.port_count; i++)
		err = apply_write_port(r, i, &held, e);
	if (!err)
		err = apply_finish(r, e);
	if (err)
		err = apply_undo_failed(r, err, outcome, e);
	else
		*outcome = APPLY_DONE;
	signals_release(&held);
	(void)process_set_oom(oom);
	return err;
}

/* Needs the lock. */
static int apply_locked(struct tx_exec *r, const struct plan *plans, unsigned int n, char tx_id[32],
			enum apply_outcome *outcome, struct err *e)
{
	int err = apply_prepare(r, plans, n, e);

	if (err || !r->tx.step_count) {
		*outcome = err ? *outcome : APPLY_DONE; /* nothing to change */
		return err;
	}
	/* A transaction that needs a confirmation is not written without a dead-man. */
	err = apply_arm_deadman(r, e);
	if (err) {
		apply_abandon(r);
		return err;
	}
	snprintf(tx_id, JOURNAL_ID_MAX, "%s", r->tx.id);
	if (r->how->prepared)
		r->how->prepared(tx_id, r->how->arg);
	return apply_recorded(r, outcome, e);
}

int plan_apply(struct dcb *dcb, const struct plan *plans, unsigned int n,
	       const struct apply_options *how, char tx_id[32], enum apply_outcome *outcome,
	       struct err *e)
{
	struct tx_exec r = {.dcb = dcb, .how = how};
	int lock = -1, err;

	tx_id[0] = '\0';
	*outcome = APPLY_UNDONE;
	r.plan = calloc(n ? n : 1, sizeof(*r.plan));
	r.tx.port = calloc(n ? n : 1, sizeof(*r.tx.port));
	r.tx.step = calloc(JOURNAL_STEPS_MAX, sizeof(*r.tx.step));
	err = r.plan && r.tx.port && r.tx.step ? 0 : err_sys(e, -ENOMEM, "apply");
	if (!err)
		err = state_make(&how->at, &r.state, e);
	/* Does not wait for the lock: the plan would be outdated afterwards. */
	if (!err)
		err = state_lock(&how->at, STATE_LOCK, 0, &lock, e);
	if (!err)
		err = apply_locked(&r, plans, n, tx_id, outcome, e);
	if (!err && how->deadman) {
		*how->deadman = r.deadman;
		r.deadman = NULL;
	}
	deadman_free(r.deadman);
	if (lock >= 0)
		close(lock);
	state_close(&r.state);
	tx_clear(&r.tx);
	free(r.plan);
	return err;
}
