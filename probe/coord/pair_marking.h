/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking test of a pair: after its traffic and the last reading of counters, which
 * it does not disturb.
 */
#ifndef PROBE_PAIR_MARKING_H
#define PROBE_PAIR_MARKING_H

#include "probe/marking/marking_findings.h"

struct run;

/* By enum run_side, which is that of roles. */
struct pair_marking {
	char why[200]; /* it was not done, or not to its end; "" = it was */
	struct marking_spec spec[2];
	bool has_result[2];
	struct marking_result result[2];
};

/* Reads the answer to the run of a marking test. *has: *r is filled, also after an early end, which
 * is -EIO with its reason. */
int pair_marking_read(const json_t *reply, struct marking_result *r, bool *has, struct err *e);

void pair_marking_ends(const struct pair_marking *x, struct marking_endpoints *ends);

/* Makes the test that of the record of a run: what it found, or why it did not run. Without memory
 * the record lacks it. */
void pair_marking_add(struct run *r, const struct pair_marking *x);

/* {"why", "ends": [{"spec", "result"}, ..], and of marking_findings_to_json()}; null without one.
 */
json_t *pair_marking_to_json(const struct pair_marking *x);

#endif
