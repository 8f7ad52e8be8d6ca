/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdicts of a sweep of message sizes: each size is judged as a probe of its own, and the
 * whole is as bad as the worst of them. One that was cut short is no pass. Pure.
 */
#ifndef REPORTS_SIZE_VERDICT_H
#define REPORTS_SIZE_VERDICT_H

#include "probe/coord/two_ended_sizes.h"
#include "reports/traffic/two_ended_verdict.h"

struct size_verdicts {
	enum verdict verdict;	    /* the gravest */
	struct traffic_verdict own; /* of the sweep itself: that sizes are missing */
	unsigned int count;
	struct size_verdict {
		struct two_ended view; /* what was judged; borrows from the record */
		struct two_ended_verdict of;
	} size[];
};

/* For a record with sizes. The result is the caller's, and lives no longer than the record. */
int size_verdicts_make(const struct two_ended *t, struct size_verdicts **out, struct err *e);
void size_verdicts_free(struct size_verdicts *v);

/* The sum as traffic_verdict_to_json() has it, each reason with the "message_bytes" it is of, but
 * for what is of the sweep itself; and into each row of the sizes its own "verdict". NULL on
 * -ENOMEM. */
json_t *size_verdicts_to_json(const struct size_verdicts *v, json_t *rows);

#endif
