/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan run as a transaction. Before the first write the former values are on disk; before each
 * write it is announced; a failure, a readback that differs, or a signal puts everything back.
 * Fields of one object are one write, because a device may refuse what lies between (ETS shares
 * that do not add up).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/guard.h"
#include "dcb/apply/journal_in.h"
#include "dcb/apply/presence.h"
#include "dcb/kernel/backend.h"
#include "profiles/base/oom.h"
#include "profiles/base/signals.h"

struct run {
	struct dcb *dcb;
	struct state state;
	const struct plan **plan; /* those with changes; same order as tx.port */
	struct tx tx;
	struct journal *journal;
	struct guard *guard; /* NULL: none was asked for */
	const struct plan_run *how;
};

static struct dcb_port port_of(const struct tx_port *p)
{
	return (struct dcb_port){p->ifname, p->ibdev, p->ib_port, p->agent};
}

static int read_before(struct dcb *dcb, const struct plan *plan, struct tx_port *p, struct err *e)
{
	struct dcb_port port;
	bool has_dcb;
	int err;

	snprintf(p->ifname, sizeof(p->ifname), "%s", plan->ifname);
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", plan->ibdev);
	snprintf(p->driver, sizeof(p->driver), "%s", plan->driver);
	p->ib_port = plan->ib_port;
	p->agent = plan->agent;
	port = port_of(p);
	err = dcb_read_port(dcb, &port, &p->before, &has_dcb, e);
	/* An undo has to give both back, what the agent was told and what the kernel had. */
	if (!err && p->agent != DCB_AGENT_NONE)
		err = dcb_read(dcb, p->ifname, p->ibdev, p->ib_port, &p->live, &has_dcb, e);
	return err;
}

/* The plan was made from a state that must still be there. */
static int check_fresh(const struct plan *plan, const struct tx_port *p, struct err *e)
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

static int prepare_port(struct run *r, const struct plan *plan, struct err *e)
{
	struct tx_port *p = &r->tx.port[r->tx.port_count];
	struct dcb_port port = {plan->ifname, plan->ibdev, plan->ib_port, plan->agent};
	uint64_t tables = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO);
	int err = read_before(r->dcb, plan, p, e);

	if (!err)
		err = check_fresh(plan, p, e);
	if (!err && plan_fields(plan) & tables)
		err = r->dcb->backend->check(r->dcb, &port, e);
	if (!err)
		r->plan[r->tx.port_count++] = plan;
	return err;
}

/* One that was interrupted, or waits for a confirmation, comes first. */
static int check_last(const struct state *s, struct err *e)
{
	struct tx last;
	int err = journal_read_newest(s, &last, e);

	if (!err && last.state == TX_RUNNING) {
		err = err_set(e, -EBUSY, "transaction %s was interrupted", last.id);
		err_hint(e, "run 'rocecheck rollback' first");
	} else if (!err && tx_overdue(&last, journal_clock_ms())) {
		err = journal_overdue(&last, e);
	} else if (!err && tx_waits(&last)) {
		err = err_set(e, -EBUSY, "transaction %s waits for confirmation", last.id);
		err_hint(e, "run 'rocecheck confirm' or 'rocecheck rollback' first");
	}
	tx_clear(&last);
	return err == -ENOENT ? 0 : err;
}

static int prepare(struct run *r, const struct plan *plans, unsigned int n, struct err *e)
{
	int err = check_last(&r->state, e);

	if (err)
		return err;
	for (unsigned int i = 0; !err && i < n; i++)
		if (plan_changes(&plans[i]))
			err = prepare_port(r, &plans[i], e);
	if (!err && r->tx.port_count)
		err = journal_make(&r->state, &r->tx, &r->journal, e);
	return err;
}

/* Announces a write in the journal and in memory. */
static int announce(struct run *r, unsigned int port, uint64_t fields, struct err *e)
{
	struct tx *tx = &r->tx;

	if (tx->step_count == JOURNAL_STEPS_MAX)
		return err_set(e, -ENOSPC, "more than %u writes", JOURNAL_STEPS_MAX);
	tx->step[tx->step_count++] = (struct tx_step){port, fields};
	return journal_step(r->journal, port, fields, e);
}

/* The rdma_cm values: their former ones can be read only behind a directory that we make. */
static int reveal(struct run *r, unsigned int port, struct err *e)
{
	struct tx_port *p = &r->tx.port[port];
	struct dcb_port names = port_of(p);
	uint64_t hidden = plan_fields(r->plan[port]) & PLAN_RDMA_CM & ~p->before.has;
	bool made, has_dcb;
	int err;

	if (!hidden)
		return 0;
	p->revealed = true;
	err = journal_reveal(r->journal, port, e);
	if (!err)
		err = r->dcb->backend->reveal(r->dcb, &names, &made, e);
	if (!err)
		err = dcb_read_port(r->dcb, &names, &p->before, &has_dcb, e);
	if (!err)
		err = journal_before(r->journal, port, &p->before, e);
	return err;
}

static void tell(const struct run *r, const struct plan *plan, uint64_t fields, bool done)
{
	for (unsigned int i = 0; r->how->progress && i < plan->count; i++)
		if (!plan->step[i].cannot && fields & QOS_BIT(plan->step[i].field))
			r->how->progress(plan, i, done, r->how->arg);
}

/* Writes the object that step `first` belongs to, with all steps of the plan in the same object. */
static int run_object(struct run *r, unsigned int port, uint64_t fields, struct err *e)
{
	const struct plan *plan = r->plan[port];
	const struct tx_port *p = &r->tx.port[port];
	struct dcb_port names = port_of(p);
	struct qos to = {0};
	uint64_t differ = 0;
	int err;

	for (unsigned int i = 0; i < plan->count; i++) {
		enum qos_field_id id = plan->step[i].field;

		if (!(fields & QOS_BIT(id)))
			continue;
		qos_copy_field(&to, &plan->step[i].to, id);
		/* What was hidden may turn out to be right already. */
		if (plan->step[i].again || !qos_field_equal(&to, &p->before, id))
			differ |= QOS_BIT(id);
	}
	err = differ ? announce(r, port, fields, e) : 0;
	if (err)
		return err;
	tell(r, plan, fields, false);
	if (differ)
		err = dcb_write(r->dcb, &names, &to, fields, e);
	if (!err)
		tell(r, plan, fields, true);
	return err;
}

static int run_steps(struct run *r, unsigned int port, const struct signals_held *held,
		     struct err *e)
{
	const struct plan *plan = r->plan[port];
	uint64_t left = plan_fields(plan);
	int err = reveal(r, port, e);

	for (unsigned int i = 0; !err && i < plan->count; i++) {
		uint64_t fields = dcb_object_fields(plan->step[i].field) & left;
		int sig = signals_take(held);

		if (sig)
			return err_set(e, -EINTR, "stopped by signal %d", sig);
		if (plan->step[i].cannot || !fields)
			continue;
		left &= ~fields;
		err = run_object(r, port, fields, e);
	}
	return err;
}

/* One port at a time: the next is not disturbed before this one is back. */
static int run_port(struct run *r, unsigned int port, const struct signals_held *held,
		    struct err *e)
{
	struct tx_port *p = &r->tx.port[port];
	struct dcb_port names = port_of(p);
	int err;

	if (!plan_disrupts(r->plan[port]))
		return run_steps(r, port, held, e);
	presence_read(r->dcb, &names, &p->was);
	p->seen = true;
	err = run_steps(r, port, held, e);
	return err ? err : presence_await(r->dcb, &names, &p->was, r->how->wait_link_s, e);
}

static int finish(struct run *r, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < r->tx.port_count; i++) {
		struct tx_port *p = &r->tx.port[i];
		struct dcb_port names = port_of(p);
		bool has_dcb;

		err = dcb_read_port(r->dcb, &names, &p->after, &has_dcb, e);
	}
	if (err)
		return err;
	err = journal_end(r->journal, TX_DONE, r->tx.port, r->tx.port_count, e);
	if (!err && r->guard)
		err = guard_done(r->guard, &r->tx, journal_confirm_by_ms(r->journal), e);
	return err;
}

/* The settings are back, and yet somebody may miss the port. */
static void tell_missing(const struct tx *tx, int err, struct err *e)
{
	for (unsigned int i = 0; e && i < tx->port_count; i++)
		if (tx->port[i].missing)
			err_set(e, err, "%.800s; and %s: %s has not come back yet", e->text,
				tx->port[i].ifname, tx->port[i].missing);
}

/* The transaction between its journal and its end; all or nothing. */
static int run_all(struct run *r, enum apply_outcome *outcome, struct err *e)
{
	struct err undo = {0};
	struct signals_held held;
	int err = 0, oom = oom_set(OOM_LATE);

	signals_hold(&held);
	for (unsigned int i = 0; !err && i < r->tx.port_count; i++)
		err = run_port(r, i, &held, e);
	if (!err)
		err = finish(r, e);
	if (err && tx_restore(r->dcb, &r->tx, r->how->wait_link_s, &undo)) {
		*outcome = APPLY_LOST;
		/* The first failure is the cause, this is what matters now. */
		if (e)
			err_set(e, err, "%.480s; and %.480s", e->text, undo.text);
	} else if (err && err != -ETIMEDOUT) {
		tell_missing(&r->tx, err, e);
	}
	/* If this fails too, the journal says interrupted: a rollback finds everything in place. */
	if (err)
		(void)journal_end(r->journal, *outcome == APPLY_LOST ? TX_LOST : TX_UNDONE, NULL, 0,
				  NULL);
	else
		*outcome = APPLY_DONE;
	signals_release(&held);
	(void)oom_set(oom);
	return err;
}

/* What no apply takes: a minute, and for each port the time it has to come back, twice. */
static uint64_t hung_ms(const struct run *r)
{
	uint64_t seconds = (uint64_t)r->how->wait_link_s * r->tx.port_count * 2;

	return (seconds + r->how->confirm_within_s + 60) * 1000;
}

/* From here on the host comes back by itself. */
static int guard(struct run *r, struct err *e)
{
	struct guard_of of = {.state_dir = r->how->state_dir,
			      .tx = &r->tx,
			      .hung_ms = hung_ms(r),
			      .open = r->how->open};
	uint64_t *planned;
	bool own_cgroup;
	int err;

	if (!r->how->confirm_within_s)
		return 0;
	planned = calloc(r->tx.port_count, sizeof(*planned));
	if (!planned)
		return err_sys(e, -ENOMEM, "dead-man");
	for (unsigned int i = 0; i < r->tx.port_count; i++)
		planned[i] = plan_fields(r->plan[i]);
	of.planned = planned;
	err = journal_guard(r->journal, r->how->confirm_within_s, e);
	if (!err)
		err = guard_arm(&of, &r->guard, &own_cgroup, e);
	free(planned);
	if (!err && r->how->guarded)
		r->how->guarded(own_cgroup, r->how->arg);
	return err;
}

static int run_prepared(struct run *r, char tx_id[32], enum apply_outcome *outcome, struct err *e)
{
	int err = guard(r, e);

	/* Without a guard that was asked for nothing is written. */
	if (err) {
		(void)journal_end(r->journal, TX_UNDONE, NULL, 0, NULL);
		return err;
	}
	snprintf(tx_id, JOURNAL_ID_MAX, "%s", r->tx.id);
	if (r->how->prepared)
		r->how->prepared(tx_id, r->how->arg);
	return run_all(r, outcome, e);
}

/* Under the lock. */
static int run_locked(struct run *r, const struct plan *plans, unsigned int n, char tx_id[32],
		      enum apply_outcome *outcome, struct err *e)
{
	int err = prepare(r, plans, n, e);

	if (err || !r->journal) {
		*outcome = err ? *outcome : APPLY_DONE; /* nothing to change or to remember */
		return err;
	}
	err = run_prepared(r, tx_id, outcome, e);
	if (!err && r->how->guard) {
		*r->how->guard = r->guard;
		r->guard = NULL;
	}
	guard_free(r->guard);
	return err;
}

int plan_apply(struct dcb *dcb, const struct plan *plans, unsigned int n,
	       const struct plan_run *how, char tx_id[32], enum apply_outcome *outcome,
	       struct err *e)
{
	struct run r = {.dcb = dcb, .how = how};
	int lock = -1, err;

	tx_id[0] = '\0';
	*outcome = APPLY_UNDONE;
	r.plan = calloc(n ? n : 1, sizeof(*r.plan));
	r.tx.port = calloc(n ? n : 1, sizeof(*r.tx.port));
	r.tx.step = calloc(JOURNAL_STEPS_MAX, sizeof(*r.tx.step));
	err = r.plan && r.tx.port && r.tx.step ? 0 : err_sys(e, -ENOMEM, "apply");
	if (!err)
		err = state_make(how->state_dir, &r.state, e);
	/* Not waited for: the plan would be an old one then. */
	if (!err)
		err = state_lock(&r.state.dir, 0, &lock, e);
	if (!err)
		err = run_locked(&r, plans, n, tx_id, outcome, e);
	journal_close(r.journal);
	if (lock >= 0)
		close(lock);
	state_close(&r.state);
	tx_clear(&r.tx);
	free(r.plan);
	return err;
}
