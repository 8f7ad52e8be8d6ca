/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict of a two-ended probe: its record as the input of traffic_verdict_make(). Pure.
 */
#ifndef REPORTS_TWO_ENDED_VERDICT_H
#define REPORTS_TWO_ENDED_VERDICT_H

#include "probe/coord/two_ended.h"
#include "reports/traffic/traffic_verdict.h"

/* Holds pointers into itself and into the record: not to be copied, and not to outlive it. */
struct two_ended_verdict {
	struct verdict_input in;
	const struct observation *end[SIDES];
	struct prio_arrival arrival[SIDES];
	const struct prio_arrival *arrivals[SIDES];
	struct verdict_pair pair;
	struct marking_findings echo;
	struct traffic_verdict v;
};

/* For a record whose traffic was begun (t->ran). */
int two_ended_judge(const struct two_ended *t, struct two_ended_verdict *out, struct err *e);

/* What class i moved inwards through the port of a side: what arrived at a responder, and what a
 * READ brought. */
void two_ended_flow_in(const struct two_ended *t, unsigned int side, unsigned int i,
		       struct prio_volume *flow);

/* Priorities that TCP backgrounds of the probe have part in, at either port; all when one is not
 * known. */
uint8_t two_ended_tcp_prios(const struct two_ended *t);

/* prio_arrival_check() of what came in, where packets in the priorities `tcp` are not known to be
 * RoCE: classes of these are not looked for, and others are not found there. False: the counters
 * around the load were not read. */
bool two_ended_arrival(const struct observation *seen, uint8_t tcp, const struct prio_volume *flow,
		       unsigned int count, struct prio_arrival *a);

/* Priorities of all classes at both ports; 0 when one is not known. */
uint8_t two_ended_prios(const struct two_ended *t);

#endif
