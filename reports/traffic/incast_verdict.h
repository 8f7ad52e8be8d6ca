/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict of an incast: one over all its probes, whose client is one port. Congestion was
 * meant: without any sign of it nothing was tested. Pure.
 */
#ifndef REPORTS_INCAST_VERDICT_H
#define REPORTS_INCAST_VERDICT_H

#include "probe/coord/incast.h"
#include "reports/traffic/traffic_verdict.h"

/* Holds pointers into itself and into the record: not to be copied, and not to outlive it. The
 * client is end 0, server i is end i + 1. */
struct incast_verdict {
	struct verdict_input in;
	const struct observation *end[INCAST_MAX + 1];
	struct prio_arrival arrival; /* at the client */
	const struct prio_arrival *arrivals[INCAST_MAX + 1];
	struct verdict_pair pair[INCAST_MAX];
	struct traffic_verdict v;
};

/* For a record in which all traffic was begun; -EINVAL else. */
int incast_judge(const struct incast *in, struct incast_verdict *out, struct err *e);

#endif
