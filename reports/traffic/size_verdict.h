/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts of a sweep of message sizes: each size is judged as one probe, and the sweep has the
 * worst verdict. An aborted sweep cannot pass. Pure.
 */
#ifndef REPORTS_SIZE_VERDICT_H
#define REPORTS_SIZE_VERDICT_H

#include "probe/coord/pair_sizes.h"
#include "reports/traffic/pair_verdict.h"

struct size_verdicts {
	enum verdict verdict;	    /* the worst */
	struct traffic_verdict own; /* of the sweep itself: missing sizes */
	unsigned int count;
	struct size_verdict {
		struct pair view; /* borrows from the record */
		struct pair_verdict of;
	} size[];
};

/* Makes the verdicts of a record with sizes. The caller frees them before the record. */
int size_verdicts_make(const struct pair *t, struct size_verdicts **out, struct err *e);
void size_verdicts_free(struct size_verdicts *v);

/* Returns the whole verdict like traffic_verdict_to_json(); each reason has the "message_bytes" of
 * its size, except those of the sweep. Adds to each row its own "verdict". NULL on -ENOMEM. */
json_t *size_verdicts_to_json(const struct size_verdicts *v, json_t *rows);

#endif
