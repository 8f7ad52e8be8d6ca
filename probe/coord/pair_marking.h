/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking echo of a two-ended probe: after its traffic and the last reading of counters, which
 * it does not disturb.
 */
#ifndef PROBE_PAIR_MARKING_H
#define PROBE_PAIR_MARKING_H

#include "probe/marking/marking_findings.h"

struct pair;

/* By enum run_side, which is that of roles. */
struct pair_marking {
	char why[200]; /* it was not done, or not to its end; "" = it was */
	struct marking_spec spec[2];
	bool has_result[2];
	struct marking_result result[2];
};

/* The classes of the traffic, each marking once, with ECT(0) where nothing is said of ECN; sweep:
 * source ports of the first one, 0 = no sweep. */
void pair_marking_specs(const struct pair *t, unsigned int sweep, struct marking_spec spec[2]);

/* As the judge wants it; t->echo is there. */
void pair_marking_ends(const struct pair_marking *x, struct marking_endpoints *ends);

/* {"why", "ends": [{"spec", "result"}, ..], and of marking_findings_to_json()}; null without one.
 */
json_t *pair_marking_to_json(const struct pair_marking *x);

#endif
