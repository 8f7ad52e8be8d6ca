/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See guard.h.
 */
#include "dcb/apply/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/apply/deadman.h"
#include "dcb/apply/journal_in.h"

struct guard {
	struct state state;
	struct tx tx;
	uint64_t *planned;
	struct deadman d;
	struct deadman_armed armed;
};

int guard_arm(const struct guard_of *of, struct guard **guard, bool *own_cgroup, struct err *e)
{
	unsigned int n = of->tx->port_count;
	struct guard *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return err_sys(e, -ENOMEM, "dead-man");
	g->armed = (struct deadman_armed){.pidfd = -1, .talk = -1};
	g->planned = calloc(n ? n : 1, sizeof(*g->planned));
	err = g->planned ? tx_copy(of->tx, &g->tx) : -ENOMEM;
	if (err) {
		err_sys(e, err, "dead-man");
	} else {
		memcpy(g->planned, of->planned, n * sizeof(*g->planned));
		err = state_open(of->state_dir, &g->state, e);
	}
	if (!err) {
		g->d = (struct deadman){.state = &g->state,
					.tx = &g->tx,
					.planned = g->planned,
					.hung_ms = of->hung_ms,
					.open = of->open};
		err = deadman_arm(&g->d, &g->armed, e);
	}
	if (err) {
		guard_free(g);
		return err;
	}
	*own_cgroup = g->armed.own_cgroup;
	*guard = g;
	return 0;
}

/* 0: it waits for a confirmation, or runs. -EALREADY: confirmed. -ECANCELED: it does not stand, or
 * nobody can confirm it any more. */
static int ask_journal(const struct guard *g, struct err *e)
{
	struct tx now;
	int err = 0;

	/* What cannot be read any more has the time that is known. */
	if (!journal_read(&g->state, g->tx.id, &now, NULL)) {
		if (now.confirmed)
			err = -EALREADY;
		else if (now.state == TX_UNDONE || now.state == TX_LOST)
			err = err_set(e, -ECANCELED, "transaction %s is %s", g->tx.id,
				      tx_state_word(now.state));
	}
	tx_clear(&now);
	if (!err && g->tx.confirm_by_ms && journal_clock_ms() >= g->tx.confirm_by_ms)
		err = err_set(e, -ECANCELED, "transaction %s was not confirmed in time", g->tx.id);
	return err;
}

/* The journal is asked behind the dead-man: one that does not wait any more has its reason there.
 */
int guard_check(struct guard *g, struct err *e)
{
	int err;

	if (!g || !deadman_ask(&g->armed, g->tx.confirm_by_ms))
		return 0;
	err = ask_journal(g, e);
	if (err)
		return err == -EALREADY ? 0 : err;
	deadman_end(&g->armed);
	return deadman_arm(&g->d, &g->armed, e);
}

int guard_done(struct guard *g, const struct tx *tx, uint64_t confirm_by_ms, struct err *e)
{
	struct tx now;
	int err = tx_copy(tx, &now);

	if (err)
		return err_sys(e, err, "dead-man");
	tx_clear(&g->tx);
	g->tx = now;
	g->tx.state = TX_DONE;
	g->tx.confirm_by_ms = confirm_by_ms;
	return guard_check(g, e);
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	deadman_leave(&g->armed);
	state_close(&g->state);
	tx_clear(&g->tx);
	free(g->planned);
	free(g);
}
