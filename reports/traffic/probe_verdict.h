/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts of probes: of a pair, of each size of a sweep, and one for all pairs of an incast. Turns
 * their records into the input of traffic_verdict_make(). Pure.
 */
#ifndef REPORTS_PROBE_VERDICT_H
#define REPORTS_PROBE_VERDICT_H

#include "probe/coord/incast.h"
#include "reports/traffic/traffic_verdict.h"

/* Points into itself and into the record: do not copy, and clear before the record. Causes are
 * linked. */
struct probe_verdict {
	struct verdict_input in;
	struct verdict_end end[INCAST_MAX + 1]; /* by host of the run */
	struct prio_arrival arrival[INCAST_MAX + 1];
	const struct prio_arrival *arrivals[INCAST_MAX + 1];
	struct verdict_pair pair[INCAST_MAX];
	struct traffic_verdict v;
	struct run run; /* what was judged: its hosts and pairs are copies that borrow */
};

void probe_verdict_clear(struct probe_verdict *v);

/* Judges pair `number` of a record whose traffic started (t->ran): 0, or a size of a sweep. A
 * marking echo belongs to the last one. */
int pair_judge(const struct pair *t, unsigned int number, struct probe_verdict *out, struct err *e);

/* Judges a record in which all traffic started; -EINVAL else. The volume of the client's port is
 * the sum of all pairs. An incast without any sign of congestion tested nothing. */
int incast_judge(const struct incast *in, struct probe_verdict *out, struct err *e);

/* Verdicts of a sweep: each size is judged as one probe, and the sweep has the worst verdict. An
 * aborted sweep cannot pass. */
struct size_verdicts {
	enum verdict verdict;	    /* the worst */
	struct traffic_verdict own; /* of the sweep itself: missing sizes */
	struct findings all;	    /* of the sweep and of each size, which its texts name */
	unsigned int count;
	struct probe_verdict size[];
};

/* Makes the verdicts of a record with sizes. The caller frees them before the record. */
int size_verdicts_make(const struct pair *t, struct size_verdicts **out, struct err *e);
void size_verdicts_free(struct size_verdicts *v);

/* Returns the whole verdict like traffic_verdict_to_json(); each reason has the "message_bytes" of
 * its size, except those of the sweep. Adds to each row its own "verdict". NULL on -ENOMEM. */
json_t *size_verdicts_to_json(const struct size_verdicts *v, json_t *rows);

#endif
