/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdict of an incast: one for all its probes, which share the client port. An incast without any
 * sign of congestion tested nothing. Pure.
 */
#ifndef REPORTS_INCAST_VERDICT_H
#define REPORTS_INCAST_VERDICT_H

#include "probe/coord/incast.h"
#include "reports/traffic/traffic_verdict.h"

/* Points into itself and into the record: do not copy, and clear before the record. The
 * client is end 0, server i is end i + 1. */
struct incast_verdict {
	struct verdict_input in;
	const struct observation *end[INCAST_MAX + 1];
	struct prio_arrival arrival; /* at the client */
	const struct prio_arrival *arrivals[INCAST_MAX + 1];
	struct verdict_pair pair[INCAST_MAX];
	struct traffic_verdict v;
};

/* Judges a record in which all traffic started; -EINVAL else. */
int incast_judge(const struct incast *in, struct incast_verdict *out, struct err *e);

#endif
