/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of a transaction: STATE_DIR/tx/ID/journal, JSON lines. Its first line is on disk
 * before the first write, so that a process that dies anywhere leaves enough to put the former
 * values back; the others say how it ended:
 *
 *   {"schema":"rocecheck.tx/2","id":..,"time":..,"boot":..,"confirm_within":60,"deadline":ms,
 *    "ports":[{names,"before":{..}}],            with lldpad also "agent" and "live":{..}
 *    "plan":[{"port":0,"to":{..}}]}              what is written, in this order      running
 *   {"state":"done","after":[{..}],"confirm_by":ms}       all is written and read back
 *   {"state":"done","after":[{..}],"confirmed":true}
 *   {"state":"undone"}, {"state":"lost"}
 *
 * The former values of rdma_cm show only in a directory that is made for it: then there is a first
 * line without a plan before that, with "revealed" ports. A last line that is cut short says
 * nothing. What is undone stays undone, whatever follows. Times are ms of CLOCK_BOOTTIME in the
 * boot of that id. A journal that cannot be used is set aside as STATE_DIR/tx/ID.unreadable.
 */
#ifndef DCB_JOURNAL_H
#define DCB_JOURNAL_H

#include "dcb/apply/port_wait.h"
#include "dcb/apply/state.h"
#include "dcb/plan/plan.h"

#define JOURNAL_SCHEMA	  "rocecheck.tx/2"
#define JOURNAL_FILE	  "journal"
#define JOURNAL_ID_MAX	  32
#define JOURNAL_STEPS_MAX 1024
#define JOURNAL_BOOT_MAX  40
#define JOURNAL_ASIDE	  ".unreadable"

enum tx_state {
	TX_EMPTY,   /* ended before its first line was on disk: nothing was written */
	TX_RUNNING, /* being written, or interrupted */
	TX_DONE,
	TX_UNDONE, /* the former state is restored */
	TX_LOST,   /* the former state is not restored */
};
const char *tx_state_word(enum tx_state state);

struct tx_port {
	char ifname[16], ibdev[64], driver[32];
	unsigned int ib_port;
	enum lldp_agent lldp_agent;
	struct qos before, after; /* after: only when the transaction is done */
	struct qos live;	  /* with an agent: what dcbnl said before; else nothing */
	bool has_after;
	bool cm_dir_made; /* its rdma_cm directory was made by this transaction */
	/* Only in memory: the port state before the first step, and the part that is missing after
	 * the undo (NULL: none). */
	bool has_state_before;
	struct port_state state_before;
	const char *missing;
};

/* One write. */
struct tx_step {
	unsigned int port; /* index */
	uint64_t fields;
	struct qos to;
};

/* One transaction as its journal has it. */
struct tx {
	char id[JOURNAL_ID_MAX];
	char time[UTC_TEXT_MAX]; /* UTC, when it began */
	enum tx_state state;
	unsigned int port_count, step_count;
	unsigned int confirm_within_s; /* 0: needs no confirmation */
	uint64_t deadline_ms;	       /* for the end of apply: after it apply counts as hanging */
	uint64_t confirm_by_ms;	       /* deadline of the confirmation, when done */
	bool confirmed, other_boot;    /* other_boot: of another or an unknown boot of the host */
	struct tx_port *port;	       /* owned */
	struct tx_step *step;	       /* owned, in order */
};

void tx_clear(struct tx *tx);

/* Returns the port for a read or a write; its strings are borrowed. */
struct dcb_port tx_port_names(const struct tx_port *p);

/* Returns the fields that the transaction writes on a port. */
uint64_t tx_planned(const struct tx *tx, unsigned int port);

/* Returns true when it is done and needs no confirmation any more. */
bool tx_stands(const struct tx *tx);

/* Returns the number of settings that the transaction writes, on all ports. */
unsigned int tx_settings(const struct tx *tx);

/* Returns true when it is done in this boot and waits for its confirmation. */
bool tx_waits(const struct tx *tx);

/* Reads the id of this boot (random(4), boot_id); "" when unknown. */
void journal_boot_id(char boot[JOURNAL_BOOT_MAX]);

/* Makes the transaction of tx: its id and its folder, and the first line, which is read back and
 * compared: a journal that cannot give the former values back must not be relied on. On failure
 * nothing of it stays. */
int journal_make(const struct state *s, struct tx *tx, struct err *e);

/* Its first line once more, which takes the place of the one before: with what was hidden. */
int journal_rewrite_header(const struct state *s, const struct tx *tx, struct err *e);

/* Appends how it ended: state, confirmed, confirm_by_ms and what the ports have after. On failure
 * nothing of the line stays. */
int journal_append(const struct state *s, const struct tx *tx, struct err *e);

/* As journal_append(), in a child that has wait_ms for it and logs `log` to syslog(3), if it is
 * not NULL; also reads the line back. -ETIMEDOUT where the storage hangs. */
int journal_append_within(const struct state *s, const struct tx *tx, unsigned int wait_ms,
			  const char *log, struct err *e);

/* -ENOENT; -EBADMSG for a journal that is none. */
int journal_read(const struct state *s, const char *id, struct tx *tx, struct err *e);

/* Ids of all transactions, oldest first. One allocation, free() it. */
int journal_ids(const struct state *s, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
		struct err *e);

/* The newest transaction that is running, lost or done. -ENOENT when there is none. A journal that
 * cannot be used is stepped over. */
int journal_newest(const struct state *s, struct tx *tx, struct err *e);

/* Sets the journals aside that cannot be used, so that they block nothing, and reports each one.
 * Does nothing while another process changes the host. */
typedef void journal_report(const struct err *why, void *arg);
int journal_set_aside_all(const struct state_at *at, journal_report *report, void *arg,
			  struct err *e);

/* The error of a missing transaction: -ENOENT with its id (NULL: any) and the next step. */
int journal_not_found(const struct state_at *at, const char *id, struct err *e);

#endif
