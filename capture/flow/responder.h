/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks the responses of one responder. Responses of a READ have consecutive PSNs, and a response
 * to a later request shows that READ responses are missing. Nothing else is checked: an ACK may
 * stand for many requests (IBTA vol 1, 9.7.5).
 */
#ifndef CAPTURE_RESPONDER_H
#define CAPTURE_RESPONDER_H

#include "capture/flow/requester.h"

enum responder_phase {
	RESPONDER_UNKNOWN, /* no response yet */
	RESPONDER_BETWEEN_READS,
	RESPONDER_IN_READ, /* more responses of a READ follow */
};

/* All zero: no response seen yet. */
struct responder_state {
	uint32_t next : 24; /* PSN after the highest response */
	uint32_t phase : 8; /* enum responder_phase */
};

/* True when p fills a gap. `own` belongs to the flow of p. */
bool responder_awaits(struct requester_loss_state *own, const struct packet *p);

/* Accounts a response. `own` and f belong to its flow. requester: of the reverse direction, its
 * READs show where a gap ends; NULL = unknown, then the gap is counted at its minimum. */
void responder_add_response(struct responder_state *a, const struct packet *p,
			    const struct requester_state *requester, struct requester_state *own,
			    struct flow *f, struct flow_events *ev);

#endif
