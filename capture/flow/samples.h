/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps frame numbers as evidence: the first frames of each kind of event, per flow. Of fixed size;
 * all events are counted.
 */
#ifndef CAPTURE_SAMPLES_H
#define CAPTURE_SAMPLES_H

#include "capture/flow/flow.h"

#define SAMPLE_FLOWS_MAX  4
#define SAMPLE_FRAMES_MAX 4

/* Kinds beyond the bit numbers of enum flow_event. */
enum sample_kind {
	SAMPLE_MALFORMED = 32,
	SAMPLE_PAUSE,
	SAMPLE_PFC,
	SAMPLE_KINDS,
};

struct sample_flow {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
	bool bth; /* else there is no QPN */
	uint64_t count;
	uint64_t frame[SAMPLE_FRAMES_MAX]; /* the first ones, 0 = none */
};

/* The first flows with the event; frames without a QP are one flow of zeros. */
struct sample_set {
	uint64_t count;
	unsigned int flow_count;
	struct sample_flow flow[SAMPLE_FLOWS_MAX];
};

struct samples {
	struct sample_set kind[SAMPLE_KINDS];
};

/* Accounts a packet with its events. w starts as zeros. */
void samples_add(struct samples *w, const struct packet *p, struct flow_events ev);

#endif
