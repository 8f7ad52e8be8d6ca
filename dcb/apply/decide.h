/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a transaction: one pure function of how it stands and what happens, asked by the
 * tool, its dead-man, 'confirm', 'rollback' and the boot. What it promises:
 *  - to be confirmed, and not confirmed by the deadline: the former settings are back, or those of
 *    a newer transaction stand, as long as the dead-man lives;
 *  - 'confirm' says yes exactly when what stands will stay, also over a reboot;
 *  - a boot brings nothing back that was undone;
 *  - there is a way out of every state.
 */
#ifndef DCB_DECIDE_H
#define DCB_DECIDE_H

#include "dcb/apply/journal.h"

enum tx_event {
	TX_BEGIN,    /* a tool wants to begin another transaction */
	TX_PROMISE,  /* the tool is about to promise that it is undone unless confirmed */
	TX_LOOK,     /* the dead-man: time has passed, or the tool has spoken or gone */
	TX_CONFIRM,  /* a user confirms: asked by the dead-man, or by 'confirm' without one */
	TX_ROLLBACK, /* a user takes it back */
	TX_BOOT,     /* the host has started */
};

struct tx_view {
	enum tx_state state; /* as far as who asks knows */
	bool guarded;	     /* it has to be confirmed */
	bool confirmed, other_boot;
	bool deadman;	/* its dead-man lives */
	bool tool_gone; /* asked by the dead-man alone */
	bool late;	/* the deadline of its state has passed */
	bool differs;	/* what stands is not what it left, or cannot be read */
};

/* Of a transaction at now_ms (CLOCK_BOOTTIME). tool_gone and differs are the caller's to fill. */
struct tx_view tx_view(const struct tx *tx, bool deadman, uint64_t now_ms);

enum tx_act {
	TX_WAIT,  /* nothing now */
	TX_GO_ON, /* nothing is in the way */
	TX_UNDO,
	TX_KEEP, /* record that it stands; at boot: what it staged is kept */
	TX_STOP, /* nothing is left to do */
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

/* The error of a refusal, with the next step. 0 for the other acts. */
int tx_refuse(enum tx_act act, const struct tx *tx, struct err *e);

#endif
