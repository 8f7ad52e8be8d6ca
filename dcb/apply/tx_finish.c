/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rolls back or confirms a recorded transaction, for a user, apply or the boot, as decide.h
 * decides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/deadman.h"
#include "dcb/apply/decide.h"
#include "dcb/apply/tx.h"
#include "profiles/base/signals.h"

#define CONFIRM_MS 10000 /* for the storage */

static void tx_drop_fields(struct tx *tx, unsigned int port, uint64_t fields)
{
	struct tx_port *p = &tx->port[port];

	for (unsigned int i = 0; i < tx->step_count; i++)
		if (tx->step[i].port == port)
			tx->step[i].fields &= ~fields;
	p->before.has &= ~fields;
	p->live.has &= ~fields;
	if (fields & PLAN_RDMA_CM)
		p->cm_dir_made = false;
}

/* Removes the fields from an undo that a newer, done transaction has set. */
static void tx_drop_newer(const struct state *s, struct tx *tx)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;

	(void)journal_ids(s, &ids, &n, NULL);
	while (n-- && strcmp(ids[n], tx->id) > 0) {
		struct tx newer;

		if (journal_read(s, ids[n], &newer, NULL))
			continue;
		for (unsigned int i = 0; newer.state == TX_DONE && i < newer.port_count; i++)
			for (unsigned int k = 0; k < tx->port_count; k++)
				if (!strcmp(newer.port[i].ifname, tx->port[k].ifname))
					tx_drop_fields(tx, k, tx_planned(&newer, i));
		tx_clear(&newer);
	}
	free(ids);
}

/* Blocks signals as apply does, so that an undo is never cut in half. */
static int tx_undo(struct dcb *dcb, const struct state *s, struct tx *tx, unsigned int wait_s,
		   enum apply_outcome *outcome, struct err *e)
{
	struct signals_held held;
	struct err record = {0};
	int err;

	signals_hold(&held);
	err = tx_restore(dcb, tx, wait_s, e);
	tx->state = err ? TX_LOST : TX_UNDONE;
	*outcome = err ? APPLY_LOST : APPLY_UNDONE;
	if (journal_append(s, tx, &record) && !err) {
		err = err_set(
			e, record.code,
			"transaction %s is undone, but recording that failed, so a reboot may "
			"apply it again: %.600s",
			tx->id, record.text);
		err_hint(e, "when the storage works again: rocecheck rollback %s", tx->id);
	}
	signals_release(&held);
	return err;
}

/* Another transaction that waits for confirmation holds its own former values of the ports. */
static int tx_check_others(const struct state_at *at, const struct tx *tx, struct err *e)
{
	struct tx other = {0};

	if (!deadman_find(at->run, other.id) || !strcmp(other.id, tx->id))
		return 0;
	return tx_refuse(TX_REFUSE_WAITS, &other, e);
}

/* The caller of a rollback. */
enum rollback_of {
	OF_USER,
	OF_BOOT, /* undoes transactions of another boot */
	OF_TOOL, /* apply, whose dead-man has ended: not if it was confirmed meanwhile */
};

static int tx_rollback_for(struct dcb *dcb, const struct state_at *at, const char *id,
			   enum rollback_of of, unsigned int wait_s, struct tx *tx,
			   enum apply_outcome *outcome, struct err *e)
{
	struct tx_view v;
	struct state s;
	bool stands;
	int lock, err = state_open(at, &s, e);

	memset(tx, 0, sizeof(*tx));
	*outcome = APPLY_LOST;
	if (err == -ENOENT)
		return journal_not_found(at, id, e);
	if (err)
		return err;
	err = state_lock(at, STATE_LOCK, STATE_LOCK_MS, &lock, e);
	if (err) {
		state_close(&s);
		return err;
	}
	err = id ? journal_read(&s, id, tx, e) : journal_newest(&s, tx, e);
	v = tx_view(tx, false, boottime_ms());
	stands = !err && of == OF_TOOL && tx_decide(&v, TX_PROMISE) == TX_GO_ON;
	if (stands)
		*outcome = APPLY_DONE;
	else if (!err)
		err = tx_refuse(tx_decide(&v, TX_ROLLBACK), tx, e);
	/* The process that undid it was killed before it could stop the dead-man. */
	if (err && tx->state == TX_UNDONE)
		deadman_stop(at->run, tx->id);
	if (!err)
		err = tx_check_others(at, tx, e);
	if (!err && of == OF_BOOT)
		tx_drop_newer(&s, tx);
	if (!err && !stands) {
		err = tx_undo(dcb, &s, tx, wait_s, outcome, e);
		/* If the undo failed, the dead-man goes on trying. */
		if (tx->state == TX_UNDONE)
			deadman_stop(at->run, tx->id);
	}
	close(lock);
	state_close(&s);
	return err;
}

int tx_rollback(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		enum apply_outcome *outcome, struct err *e)
{
	return tx_rollback_for(dcb, at, id, OF_USER, TX_WAIT_LINK_S, tx, outcome, e);
}

int tx_undo_orphaned(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		     enum apply_outcome *outcome, struct err *e)
{
	return tx_rollback_for(dcb, at, id, OF_TOOL, TX_WAIT_LINK_S, tx, outcome, e);
}

int tx_undo_other_boot(struct dcb *dcb, const struct state_at *at, const char *id,
		       unsigned int wait_s, struct err *e)
{
	enum apply_outcome outcome;
	struct tx tx;
	int err = tx_rollback_for(dcb, at, id, OF_BOOT, wait_s, &tx, &outcome, e);

	tx_clear(&tx);
	return err;
}

int tx_confirm_alone(struct dcb *dcb, const struct state *s, struct tx *tx, unsigned int within_ms,
		     uint64_t until_ms, struct err *e)
{
	struct tx_view v = tx_view(tx, false, boottime_ms());
	struct err why = {0};
	enum tx_act act;
	int err;

	v.differs = v.state == TX_DONE && tx_compare_after(dcb, tx, &why);
	act = tx_decide(&v, TX_CONFIRM);
	err = tx_refuse(act, tx, e);
	if (act == TX_REFUSE_DIFFERS)
		err_prefix(e, "%s", why.text);
	if (err)
		return err;
	/* An answer after the timeout of 'confirm' would confirm what the user saw fail. */
	if (boottime_ms() + within_ms > until_ms)
		return err_set(e, -ECANCELED, "transaction %s: 'confirm' has already timed out",
			       tx->id);
	tx->confirmed = true;
	err = journal_append_within(s, tx, within_ms, NULL, e);
	tx->confirmed = !err;
	if (err)
		err_prefix(e, "not confirmed: the confirmation would be lost at a reboot");
	return err;
}

/* Finds the one that waits, else the newest, also when it is undone. */
static int tx_find_unconfirmed(const struct state *s, struct tx *tx, struct err *e)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	int err = journal_newest(s, tx, e);

	if (!tx_waits(tx) && !journal_ids(s, &ids, &n, NULL) && n && strcmp(ids[n - 1], tx->id)) {
		tx_clear(tx);
		err = journal_read(s, ids[n - 1], tx, e);
	}
	free(ids);
	return err;
}

/* Needs the lock: an apply that has not recorded its result yet may still undo the transaction. */
static int tx_confirm_locked(struct dcb *dcb, const struct state_at *at, const struct state *s,
			     const char *id, struct tx *tx, struct err *e)
{
	char asked[JOURNAL_ID_MAX];
	int err = id ? journal_read(s, id, tx, e) : tx_find_unconfirmed(s, tx, e);

	if (err)
		return err;
	err = deadman_confirm(at->run, tx->id, e);
	tx->confirmed |= !err;
	if (err != -ECONNREFUSED)
		return err;
	/* The dead-man may have ended the transaction meanwhile. */
	snprintf(asked, sizeof(asked), "%s", tx->id);
	tx_clear(tx);
	err = journal_read(s, asked, tx, e);
	return err ? err : tx_confirm_alone(dcb, s, tx, CONFIRM_MS, UINT64_MAX, e);
}

int tx_confirm(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
	       struct err *e)
{
	struct state s;
	int lock, err = state_open(at, &s, e);

	memset(tx, 0, sizeof(*tx));
	if (!err) {
		err = state_lock(at, STATE_LOCK, STATE_LOCK_MS, &lock, e);
		if (!err) {
			err = tx_confirm_locked(dcb, at, &s, id, tx, e);
			close(lock);
		}
		state_close(&s);
	}
	if (err == -ENOENT && !id)
		return err_set(e, -ENOENT, "no transaction waits for confirmation");
	return err;
}
