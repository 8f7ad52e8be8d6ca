/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides the next act for a transaction: one pure function of its state and an event, used by
 * apply, the dead-man, 'confirm', 'rollback' and the boot. Guarantees:
 *  - a transaction that is not confirmed by its deadline is undone, or a newer transaction has
 *    replaced its settings, as long as the dead-man lives;
 *  - 'confirm' succeeds exactly when the current settings will stay, also over a reboot;
 *  - a boot does not bring undone settings back;
 *  - no state is final for the user: confirm or rollback leads out of each.
 */
#ifndef DCB_DECIDE_H
#define DCB_DECIDE_H

#include "dcb/apply/journal.h"

enum tx_event {
	TX_BEGIN,    /* apply is about to begin another transaction */
	TX_PROMISE,  /* apply is about to report "undone unless confirmed" */
	TX_LOOK,     /* the dead-man: a timer fired, or apply sent a message or ended */
	TX_CONFIRM,  /* a user confirms: decided by the dead-man, or by 'confirm' without one */
	TX_ROLLBACK, /* a user rolls back */
	TX_BOOT,     /* the host has started */
};

struct tx_view {
	enum tx_state state; /* as far as the caller knows */
	bool guarded;	     /* needs a confirmation */
	bool confirmed, other_boot;
	bool deadman;	/* its dead-man lives */
	bool tool_gone; /* apply has ended; set only by the dead-man */
	bool late;	/* the deadline of its state has passed */
	bool differs;	/* the settings are not those it wrote, or cannot be read */
};

/* Returns the view of a transaction at now_ms (CLOCK_BOOTTIME); the caller fills tool_gone and
 * differs. */
struct tx_view tx_view(const struct tx *tx, bool deadman, uint64_t now_ms);

enum tx_act {
	TX_WAIT,  /* do nothing now */
	TX_GO_ON, /* allowed */
	TX_UNDO,
	TX_KEEP, /* record the confirmation; at boot: keep the profile it staged */
	TX_STOP, /* done */
	TX_REFUSE_WAITS,
	TX_REFUSE_OVERDUE,
	TX_REFUSE_INTERRUPTED,
	TX_REFUSE_NOT_DONE,
	TX_REFUSE_CONFIRMED,
	TX_REFUSE_UNGUARDED,
	TX_REFUSE_REBOOT,
	TX_REFUSE_LATE,
	TX_REFUSE_DIFFERS,
	TX_REFUSE_NOTHING,
};

/* Pure. */
enum tx_act tx_decide(const struct tx_view *view, enum tx_event event);

/* Fills the error of a refusal, with the next command. 0 for the other acts. */
int tx_refuse(enum tx_act act, const struct tx *tx, struct err *e);

#endif
