/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responses of one responder: within one READ they follow each other without a hole, and an
 * answer to a later request shows that those of a READ are missing. Between READs nothing else is
 * judged, for acknowledgements stand for many requests (IBTA vol 1, 9.7.5).
 */
#ifndef CAPTURE_RESPONDER_H
#define CAPTURE_RESPONDER_H

#include "capture/flow/requester.h"

enum responder_phase {
	RESPONDER_UNKNOWN, /* nothing was seen yet */
	RESPONDER_BETWEEN_READS,
	RESPONDER_IN_READ, /* more responses of a READ follow */
};

/* All zero is a responder of which nothing was seen. */
struct responder_state {
	uint32_t next : 24; /* what follows the furthest answer */
	uint32_t phase : 8; /* enum responder_phase */
};

/* Whether p is what a hole lacks. `own` is of its flow. */
bool responder_awaits(struct requester_loss_state *own, const struct packet *p);

/* Accounts an answer. `own` and f are of its flow; requester: of the other direction, its READs
 * say where a hole ends; NULL = not known, then what is missing is the least it can be. */
void responder_add_response(struct responder_state *a, const struct packet *p,
			    const struct requester_state *requester, struct requester_state *own,
			    struct flow *f, struct flow_events *ev);

#endif
