/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame numbers as evidence: of each kind of event the first frames, by flow. Bounded, so that a
 * capture of any length costs the same; how many there were in all is counted.
 */
#ifndef CAPTURE_SAMPLES_H
#define CAPTURE_SAMPLES_H

#include "capture/flow/flow.h"

#define SAMPLE_FLOWS_MAX  4
#define SAMPLE_FRAMES_MAX 4

/* Beside the bits of enum flow_event, which are kinds by their number. */
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

/* The flows that showed it first; frames without a QP count as one flow of zeros. */
struct sample_set {
	uint64_t count;
	unsigned int flow_count;
	struct sample_flow flow[SAMPLE_FLOWS_MAX];
};

struct samples {
	struct sample_set kind[SAMPLE_KINDS];
};

/* Accounts a packet with what it meant to its flow. w starts as zeros. */
void samples_add(struct samples *w, const struct packet *p, struct flow_events ev);

#endif
