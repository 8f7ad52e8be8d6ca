/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responses of one responder: within one READ they follow each other without a hole, and an
 * answer to a later request shows that those of a READ are missing. Between READs nothing else is
 * judged, for acknowledgements stand for many requests (IBTA vol 1, 9.7.5).
 */
#ifndef CAPTURE_ANSWERS_H
#define CAPTURE_ANSWERS_H

#include "capture/flow/stream.h"

enum answers_state {
	ANSWERS_UNKNOWN, /* nothing was seen yet */
	ANSWERS_BETWEEN,
	ANSWERS_INSIDE, /* more responses of a READ follow */
};

/* All zero is a responder of which nothing was seen. */
struct answers {
	uint32_t next : 24; /* what follows the furthest answer */
	uint32_t state : 8; /* enum answers_state */
};

/* Whether p is what a hole lacks. `own` is of its flow. */
bool answers_awaits(struct stream_more *own, const struct packet *p);

/* Accounts an answer. `own` and f are of its flow; requester: of the other direction, its READs
 * say where a hole ends; NULL = not known, then what is missing is the least it can be. */
void answers_take(struct answers *a, const struct packet *p, const struct stream *requester,
		  struct stream *own, struct flow *f, struct flow_events *ev);

#endif
