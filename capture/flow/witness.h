/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame numbers as evidence: of each kind of event the first frames, by flow. Bounded, so that a
 * capture of any length costs the same; how many there were in all is counted.
 */
#ifndef CAPTURE_WITNESS_H
#define CAPTURE_WITNESS_H

#include "capture/flow/flow.h"

#define WITNESS_FLOWS_MAX  4
#define WITNESS_FRAMES_MAX 4

/* Beside the bits of enum flow_event, which are kinds by their number. */
enum witness_kind {
	WITNESS_MALFORMED = 32,
	WITNESS_PAUSE,
	WITNESS_PFC,
	WITNESS_KINDS,
};

struct witness_flow {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
	bool bth; /* else there is no QPN */
	uint64_t count;
	uint64_t frame[WITNESS_FRAMES_MAX]; /* the first ones, 0 = none */
};

/* The flows that showed it first; frames without a QP count as one flow of zeros. */
struct witness {
	uint64_t count;
	unsigned int flow_count;
	struct witness_flow flow[WITNESS_FLOWS_MAX];
};

struct witnesses {
	struct witness kind[WITNESS_KINDS];
};

/* Accounts a packet with what it meant to its flow. w starts as zeros. */
void witness_add(struct witnesses *w, const struct packet *p, struct flow_events ev);

#endif
