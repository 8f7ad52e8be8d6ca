/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a schedule, for schedule.c and schedule_text.c. */
#ifndef PROBE_SCHEDULE_PRIV_H
#define PROBE_SCHEDULE_PRIV_H

#include "probe/coord/schedule.h"

/* Arrays have a place for each port. */
struct schedule_work {
	struct schedule_pair *pair;	     /* of the current round */
	unsigned int *order;		     /* of the ports in the pattern */
	unsigned int *block, block_count;    /* first of each block in order, and the end */
	unsigned int *queue, *load, senders; /* of an incast */
	unsigned int passes;		     /* of suspects */
	unsigned int widest;		     /* most ports of one host */
	unsigned int step, steps;	     /* of the pattern */
	unsigned int made;		     /* rounds so far */
	bool *served, *sent;		     /* in some round */
	bool *serves, *sends;		     /* in the round that schedule_make_rest() makes */
	/* Of a file */
	struct schedule_pair *file;
	size_t *round_end; /* pairs up to the end of each round */
	unsigned int round_count;
};

#endif
