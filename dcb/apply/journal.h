/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of a transaction: STATE_DIR/tx/ID/journal, JSON lines, each on disk before what it
 * announces happens. A process that dies anywhere leaves enough to put the former values back:
 *
 *   {"schema":"rocecheck.tx/1","id":...,"time":...,"boot":...,"ports":[{names, "before":{...}}]}
 *                                                prepared, in this boot of the host
 *                                                (with an agent also "agent" and "live":{...})
 *   {"reveal":0}                                 about to mkdir the rdma_cm directory of port 0
 *   {"before":0,"qos":{...}}                     what port 0 was, with what the directory shows
 *   {"step":0,"fields":["pfc.enabled"]}          about to write these of port 0       running
 *   {"guard":60}                                 to be confirmed within so many seconds
 *   {"state":"done","after":[{...}]}             or undone, or lost; with a guard also
 *                                                "confirm_by" (ms of CLOCK_BOOTTIME) and "boot"
 *   {"confirmed":true}
 *
 * A last line that is cut short announces nothing. One writer a host: STATE_DIR/lock, see state.h.
 * A journal that cannot be used is set aside as STATE_DIR/tx/ID.unreadable.
 */
#ifndef DCB_JOURNAL_H
#define DCB_JOURNAL_H

#include "dcb/apply/presence.h"
#include "dcb/plan/plan.h"

#define JOURNAL_DIR	  "/var/lib/rocecheck"
#define JOURNAL_SCHEMA	  "rocecheck.tx/1"
#define JOURNAL_ID_MAX	  32
#define JOURNAL_STEPS_MAX 1024
#define JOURNAL_WAIT_S	  60 /* for a port that an undo disturbed; as long as apply waits */
#define JOURNAL_BOOT_MAX  40
#define JOURNAL_ASIDE	  ".unreadable"

enum tx_state {
	TX_EMPTY,    /* died before anything was announced */
	TX_PREPARED, /* nothing was written */
	TX_RUNNING,  /* died or dies between the first step and the end */
	TX_DONE,
	TX_UNDONE, /* the former state is back */
	TX_LOST,   /* and it is not */
};
const char *tx_state_word(enum tx_state state);

struct tx_port {
	char ifname[16], ibdev[64], driver[32];
	unsigned int ib_port;
	enum dcb_agent agent;
	struct qos before, after; /* after: only when the transaction is done */
	struct qos live;	  /* with an agent: what dcbnl said before; else nothing */
	bool has_after, revealed;
	/* In memory alone: the port as it was before its first step, and what of that did not come
	 * back after the undo (NULL: all of it did). */
	bool seen;
	struct presence was;
	const char *missing;
};

struct tx_step {
	unsigned int port; /* index */
	uint64_t fields;
};

/* One transaction as its journal tells it. */
struct tx {
	char id[JOURNAL_ID_MAX];
	char time[32]; /* UTC, when it was prepared */
	enum tx_state state;
	unsigned int port_count, step_count;
	unsigned int confirm_within_s; /* 0: it need not be confirmed */
	uint64_t confirm_by_ms;	       /* CLOCK_BOOTTIME of this boot; when done and guarded */
	bool confirmed, other_boot; /* other_boot: of another boot of the host, or of none known */
	struct tx_port *port;	    /* owned */
	struct tx_step *step;	    /* owned, in order */
};

/* Makes state_dir if needed and takes its lock; *fd holds it until close(). -EBUSY when somebody
 * has it. Does not wait: what was read before would be old then. */
int journal_lock(const char *state_dir, int *fd, struct err *e);

/* Reads a transaction. -ENOENT; -EBADMSG for a journal that is none. */
int journal_load(const char *state_dir, const char *id, struct tx *tx, struct err *e);
void tx_clear(struct tx *tx);

/* Ids of all transactions, oldest first. One allocation, free() it. No state_dir is no transaction.
 */
int journal_list(const char *state_dir, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
		 struct err *e);

/* Newest transaction that is running, lost or done. -ENOENT when there is none. A journal that
 * cannot be used is stepped over. */
int journal_newest(const char *state_dir, struct tx *tx, struct err *e);

/* Sets the journals aside that cannot be used, so that they block nothing, and reports each one.
 * Does nothing while another process has the lock. */
typedef void journal_report(const struct err *why, void *arg);
int journal_tidy(const char *state_dir, journal_report *report, void *arg, struct err *e);

/* Whether it is done and somebody has to confirm it, or it is undone. */
bool tx_waits(const struct tx *tx);

/* So long its dead-man waits for the lock: as long as an undo of its ports may take, and 10 s. */
uint64_t tx_lock_ms(const struct tx *tx);

/* Whether it waits in vain at now_ms (CLOCK_BOOTTIME): its dead-man would have the lock and would
 * have begun by now. It has gone, and in this boot nobody undoes the transaction by himself. */
bool tx_overdue(const struct tx *tx, uint64_t now_ms);

/* The error of such a transaction: -EBUSY with its id and the next step. */
int journal_overdue(const struct tx *tx, struct err *e);

/* Of this boot (random(4), boot_id), "" when it is not known. */
void journal_boot_id(char boot[JOURNAL_BOOT_MAX]);

/* CLOCK_BOOTTIME, ms. */
uint64_t journal_clock_ms(void);

/* The error of a missing transaction: -ENOENT with its id (NULL: any) and the next step. */
int journal_none(const char *state_dir, const char *id, struct err *e);

/* Writing. */

struct journal; /* opaque: an open journal of a running transaction */

/* Makes the transaction of tx->port[] (names and before filled) and its id. The values are read
 * back from the file and compared: a journal that cannot give them back must not be relied on. */
int journal_create(const char *state_dir, struct tx *tx, struct journal **j, struct err *e);
/* Opens an existing one to add its end. */
int journal_open(const char *state_dir, const char *id, struct journal **j, struct err *e);
void journal_close(struct journal *j);

int journal_reveal(struct journal *j, unsigned int port, struct err *e);
int journal_before(struct journal *j, unsigned int port, const struct qos *before, struct err *e);
int journal_step(struct journal *j, unsigned int port, uint64_t fields, struct err *e);
/* Says that the transaction has to be confirmed within so many seconds from its end. */
int journal_guard(struct journal *j, unsigned int seconds, struct err *e);
/* ports is 0 unless the state is TX_DONE. */
int journal_end(struct journal *j, enum tx_state state, const struct tx_port *port,
		unsigned int ports, struct err *e);

/*
 * Writes the former values of every field that tx announced back, last first, also of fields that
 * drivers change along with them, and reads all of it again. One port at a time: where that flaps
 * or resets a port, the next one waits until it is back, wait_link_s at most; port[].missing tells.
 * 0 when the former state is back; else e names what is not, or whose former value is not known
 * (-ENODATA).
 */
int tx_restore(struct dcb *dcb, struct tx *tx, unsigned int wait_link_s, struct err *e);

/*
 * Undoes transaction id (NULL: the newest that is not undone) under the lock. *tx is what was
 * undone, for the caller to tx_clear(), also on failure. -ENOENT when there is nothing to undo.
 */
int journal_rollback(struct dcb *dcb, const char *state_dir, const char *id, struct tx *tx,
		     enum apply_outcome *outcome, struct err *e);

/* Whether it is of another boot, and was interrupted there, not confirmed, or undone in vain.
 * Nobody is at work on it, and its dead-man has gone with that boot. */
bool tx_left_over(const struct tx *tx);

/* Undoes one of those, as journal_rollback(), but for what a newer transaction that stands has set
 * since. Waits wait_s for each port that it disturbs. */
int journal_undo_left(struct dcb *dcb, const char *state_dir, const char *id, unsigned int wait_s,
		      struct err *e);

/*
 * Confirms transaction id (NULL: the newest that waits for it) under the lock. *tx is which one,
 * for tx_clear(). -ENOENT: there is none; -EALREADY: it was confirmed, or need not be; -ECANCELED:
 * it is not done any more, e says what it is.
 */
int journal_confirm(const char *state_dir, const char *id, struct tx *tx, struct err *e);

#endif
