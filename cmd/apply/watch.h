/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside `rocecheck watch`: the ports that are watched, what is told of them, and their repair.
 */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include "dcb/apply/journal.h"
#include "dcb/drift/suspects.h"
#include "dcb/drift/watch.h"
#include "profiles/profile.h"

#define WATCH_SCHEMA	"rocecheck.watch/1"
#define WATCH_PORTS_MAX 1024

struct watched {
	char ifname[16], ibdev[64];
	unsigned int ib_port;
	bool present;
	bool dirty; /* a notice was about it */
	bool carrier, carrier_told;
	bool known; /* now is filled */
	struct watch_want want;
	char since[JOURNAL_ID_MAX]; /* the transaction, "" = none */
	struct qos now;
	uint64_t drift;
	struct watch_budget budget;
	char held[ERR_TEXT_MAX]; /* why no repair was tried, told once */
};

struct watch {
	struct dcb *dcb;
	const struct profile *profile; /* NULL: the last confirmed transactions */
	const char *interface;	       /* NULL: all ports */
	const struct state_at *at;
	bool repair;
	bool once;
	struct watched *port; /* owned */
	unsigned int count;
	uint64_t stamp;		  /* of the journals when the wants were read */
	struct suspects suspects; /* of the notices that are being folded */
	bool drifted;		  /* ever */
	bool hidden;		  /* this user may not read the transactions */
};

/* Reads all ports anew: those that came, went or changed without a notice. `first`: of the start,
 * tells of each port what it is compared with. -ENODEV at the start when there is none. */
int watch_refresh(struct watch *w, bool first, struct err *e);

/* Reads the dirty ones. */
void watch_check(struct watch *w);

/* The port of that name, NULL. */
struct watched *watch_port(struct watch *w, const char *ifname);

/* Puts back what drifted, or tells why not. */
void watch_repair(struct watch *w, struct watched *p);

/* Telling, one event a line on stdout: text, or an object with --json. */

enum watch_event {
	WATCH_START,   /* text: what the port is compared with */
	WATCH_DRIFT,   /* fields differ from what is wanted, before -> p->now */
	WATCH_BACK,    /* fields are as wanted again */
	WATCH_ARRIVED, /* the port is there (again) */
	WATCH_REMOVED,
	WATCH_CARRIER,
	WATCH_OVERRUN,	/* of no port: notices were lost, everything is read again */
	WATCH_REPAIRED, /* text: the transaction */
	WATCH_FAILED,	/* a repair failed; text: why */
	WATCH_HELD,	/* no repair is tried; text: why */
	WATCH_OVERDUE,	/* of no port: a transaction waits in vain; text: which */
};

struct watch_told {
	enum watch_event event;
	const struct watched *port; /* NULL: of no port */
	const struct qos *before;   /* of a drift or a return */
	uint64_t fields;
	const struct suspects *suspects; /* NULL: none are named */
	const char *text;
};

/* Returns 0 or EXIT_ENVIRONMENT. */
int watch_tell(const struct watch_told *t);

#endif
