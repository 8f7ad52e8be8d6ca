/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdict of a pair: turns its record into the input of traffic_verdict_make(). Pure.
 */
#ifndef REPORTS_PAIR_VERDICT_H
#define REPORTS_PAIR_VERDICT_H

#include "probe/coord/pair.h"
#include "reports/traffic/traffic_verdict.h"

/* Points into itself and into the record: do not copy, and clear before the record. */
struct pair_verdict {
	struct verdict_input in;
	const struct observation *end[SIDES];
	struct prio_arrival arrival[SIDES];
	const struct prio_arrival *arrivals[SIDES];
	struct verdict_pair pair;
	struct marking_findings echo;
	struct traffic_verdict v;
};

/* Judges a record whose traffic started (t->ran). */
int pair_judge(const struct pair *t, struct pair_verdict *out, struct err *e);

/* Fills the volume that class i received at the port of a side: messages of a responder, or the
 * data of READs. */
void pair_flow_in(const struct pair *t, unsigned int side, unsigned int i,
		  struct prio_volume *flow);

/* Priorities of the TCP backgrounds at both ports; all when one is unknown. */
uint8_t pair_tcp_prios(const struct pair *t);

/* Runs prio_arrival_check() on received traffic, without the priorities `tcp`, whose packets may
 * not be RoCE. False without counters around the load. */
bool pair_arrival(const struct observation *seen, uint8_t tcp, const struct prio_volume *flow,
		  unsigned int count, struct prio_arrival *a);

/* Priorities of all classes at both ports; 0 when one is unknown. */
uint8_t pair_prios(const struct pair *t);

#endif
