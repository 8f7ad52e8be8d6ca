/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of one process, a thread each, that go step by step together: nobody has queue pairs while
 * another one still reads its counters, and all traffic starts at one instant of the clock. One
 * that leaves early keeps nobody waiting.
 */
#ifndef PROBE_MEETING_H
#define PROBE_MEETING_H

#include "profiles/base/base.h"

#define MEETING_MAX	32u
#define MEETING_LEAD_MS 1000u /* from the last word of all to the start */

enum meeting_step {
	MEET_NOTHING,
	MEET_IDLE,	/* no queue pair yet */
	MEET_COUNTED,	/* the counters before the load are read */
	MEET_CONNECTED, /* queue pairs are, and clocks are compared */
	MEET_DONE,	/* its traffic is over */
	MEET_READ,	/* the counters after it are read: queue pairs may go */
	MEET_LEFT,
};

struct meeting; /* opaque; every call from any thread */

int meeting_open(unsigned int members, struct meeting **m);
void meeting_close(struct meeting *m);

/* Member n has come so far; never back. */
void meeting_come(struct meeting *m, unsigned int n, enum meeting_step step);

/* All have come so far, or left. */
bool meeting_complete(struct meeting *m, enum meeting_step step);

/* Somebody left before all were connected: there will be no common start. */
bool meeting_broken(struct meeting *m);

/* Where all of them meet is what the first one says: whether this is the same. theirs: what it is.
 */
#define MEETING_PLACE_MAX 96
bool meeting_agrees(struct meeting *m, const char *place, char theirs[MEETING_PLACE_MAX]);

/* CLOCK_MONOTONIC, the same for all: so much after it was first asked for. */
uint64_t meeting_start_ns(struct meeting *m);

#endif
