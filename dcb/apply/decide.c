/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision table of decide.h. The unit test plays every sequence of events against it.
 */
#include "dcb/apply/decide.h"

#include <errno.h>

struct tx_view tx_view(const struct tx *tx, bool deadman, uint64_t now_ms)
{
	uint64_t deadline = tx->state == TX_DONE ? tx->confirm_by_ms : tx->deadline_ms;

	return (struct tx_view){.state = tx->state,
				.guarded = tx->confirm_within_s,
				.confirmed = tx->confirmed,
				.other_boot = tx->other_boot,
				.deadman = deadman,
				.late = now_ms >= deadline};
}

static enum tx_act decide_begin(const struct tx_view *v)
{
	if (v->deadman)
		return TX_REFUSE_WAITS;
	if (v->state == TX_RUNNING)
		return TX_REFUSE_INTERRUPTED;
	if (v->state != TX_DONE || !v->guarded || v->confirmed || v->other_boot)
		return TX_GO_ON;
	return v->late ? TX_REFUSE_OVERDUE : TX_REFUSE_WAITS;
}

/* A dead-man must be running to undo it, unless it is confirmed already. */
static enum tx_act decide_promise(const struct tx_view *v)
{
	if (v->state != TX_DONE)
		return TX_REFUSE_NOT_DONE;
	if (v->confirmed)
		return TX_GO_ON;
	if (v->late)
		return TX_REFUSE_LATE;
	return v->deadman ? TX_GO_ON : TX_UNDO;
}

/* A plan that was written in part is undone at once when the tool dies or hangs. */
static enum tx_act decide_look(const struct tx_view *v)
{
	if (v->state == TX_UNDONE || v->confirmed)
		return TX_STOP;
	if (v->state == TX_LOST || v->late)
		return TX_UNDO;
	return v->state == TX_RUNNING && v->tool_gone ? TX_UNDO : TX_WAIT;
}

static enum tx_act decide_confirm(const struct tx_view *v)
{
	if (v->state != TX_DONE)
		return TX_REFUSE_NOT_DONE;
	if (v->confirmed)
		return TX_REFUSE_CONFIRMED;
	if (!v->guarded)
		return TX_REFUSE_UNGUARDED;
	if (v->other_boot)
		return TX_REFUSE_REBOOT;
	if (v->late)
		return TX_REFUSE_LATE;
	return v->differs ? TX_REFUSE_DIFFERS : TX_KEEP;
}

/* A transaction that was interrupted in this boot may have a process that still handles it. */
static enum tx_act decide_boot(const struct tx_view *v)
{
	if (v->state == TX_DONE && (v->confirmed || !v->guarded))
		return TX_KEEP;
	if (v->state == TX_EMPTY || v->state == TX_UNDONE)
		return TX_STOP;
	return v->other_boot ? TX_UNDO : TX_WAIT;
}

enum tx_act tx_decide(const struct tx_view *view, enum tx_event event)
{
	switch (event) {
	case TX_BEGIN:
		return decide_begin(view);
	case TX_PROMISE:
		return decide_promise(view);
	case TX_LOOK:
		return decide_look(view);
	case TX_CONFIRM:
		return decide_confirm(view);
	case TX_ROLLBACK:
		break;
	case TX_BOOT:
		return decide_boot(view);
	}
	return view->state == TX_EMPTY || view->state == TX_UNDONE ? TX_REFUSE_NOTHING : TX_UNDO;
}

/* what: %s is the state; hint: %s is the id, NULL none. */
static const struct {
	int code;
	const char *what, *hint;
} refusals[] = {
	[TX_REFUSE_WAITS] = {-EBUSY, "waits for confirmation",
			     "run 'rocecheck confirm' or 'rocecheck rollback' first"},
	[TX_REFUSE_OVERDUE] = {-EBUSY,
			       "was not confirmed in time, and its rollback process is not running",
			       "run 'rocecheck rollback %s'"},
	[TX_REFUSE_INTERRUPTED] = {-EBUSY, "was interrupted", "run 'rocecheck rollback' first"},
	[TX_REFUSE_NOT_DONE] = {-ECANCELED, "is %s: there is nothing to confirm", NULL},
	[TX_REFUSE_CONFIRMED] = {-EALREADY, "is already confirmed", NULL},
	[TX_REFUSE_UNGUARDED] = {-EALREADY, "needs no confirmation", NULL},
	[TX_REFUSE_REBOOT] = {-ECANCELED, "was not confirmed before the reboot",
			      "to restore the former settings: rocecheck rollback %s"},
	[TX_REFUSE_LATE] = {-ECANCELED, "was not confirmed in time",
			    "to restore settings that are not restored yet: rocecheck rollback %s"},
	[TX_REFUSE_DIFFERS] = {-ECANCELED, "is not confirmed: its settings changed since",
			       "to restore the former settings: rocecheck rollback %s"},
	[TX_REFUSE_NOTHING] = {-ENOENT, "is %s", NULL},
};

int tx_refuse(enum tx_act act, const struct tx *tx, struct err *e)
{
	const char *text = refusals[act].what;
	char what[160];

	if (act < TX_REFUSE_WAITS)
		return 0;
	if (act == TX_REFUSE_NOT_DONE && tx->state == TX_UNDONE && !tx->confirmed &&
	    tx->confirm_by_ms && boottime_ms() >= tx->confirm_by_ms)
		text = "is %s: it was not confirmed in time";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(what, sizeof(what), text, tx_state_word(tx->state));
	err_set(e, refusals[act].code, "transaction %s %s", tx->id, what);
	if (refusals[act].hint)
		err_hint(e, refusals[act].hint, tx->id);
#pragma GCC diagnostic pop
	return refusals[act].code;
}
