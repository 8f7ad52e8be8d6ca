/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one requester and its responder do in one burst of messages: the frames in the order of
 * time, those that the capture does not see left out of it but not of the truth.
 */
#ifndef TESTS_TOOLS_SCRIPT_H
#define TESTS_TOOLS_SCRIPT_H

#include "tests/tools/capgen.h"
#include "tests/tools/frame.h"

#define BURST_REQUESTS 48
#define BURST_STEPS    512
#define NO_REQUEST     0xff
#define MADS	       6

struct gen_rng {
	uint64_t state;
};

/* PSNs do not wrap here: the low 24 bits go into the frame. The opcode is without its class. */
struct gen_request {
	uint64_t psn, va;
	uint32_t span, payload, dma_len;
	uint8_t opcode;
	bool ends; /* a message */
	bool seen; /* was captured once */
};

/* Frames that times are taken between. */
enum gen_mark {
	MARK_NONE,
	MARK_GAP, /* the first request behind a gap */
	MARK_NAK,
	MARK_RESENT, /* the first request after it */
};

struct gen_step {
	uint64_t at_ns; /* from the begin of the burst */
	struct gen_frame frame;
	uint8_t request; /* index, NO_REQUEST for what the responder sends */
	bool back;	 /* a datagram to QP 1: of the responder */
	bool connects;	 /* a REP: from here on the connection is a new one */
	bool shows;	 /* the first frame that shows the fault */
	uint8_t mark;	 /* enum gen_mark */
	bool copy;
};

struct gen_burst {
	struct gen_request request[BURST_REQUESTS];
	struct gen_step step[BURST_STEPS];
	unsigned int requests, steps, at;
	enum capgen_fault fault;
	uint64_t fault_psn, end_ns;
	uint32_t fault_count;
	uint32_t dropped; /* steps that the capture missed */
	bool handshake;
	uint8_t mad[MADS][GEN_MAD_LEN];
};

/* A requester between its bursts. */
struct gen_stream {
	uint64_t psn, va, due_ns, begin_ns; /* due: the next frame */
	uint64_t seen_psn;		    /* behind the highest captured */
	uint64_t gap_ns, refused_ns;	    /* 0 = no gap; no refusal that is measured */
	uint32_t msn, pmtu;
	uint8_t transport;
	bool fresh;  /* a new connection that nobody told of: says its path MTU first */
	bool broken; /* the connection is to be made anew by its manager */
	struct gen_burst *burst;
};

uint64_t gen_random(struct gen_rng *r);
uint32_t gen_below(struct gen_rng *r, uint32_t n);

/* Fills b with what comes next and counts into f what is done to it. */
void gen_burst_make(const struct capgen_options *o, struct gen_rng *r, struct gen_stream *s,
		    struct gen_burst *b, struct capgen_flow *f);

/* Connects two requesters, or one with a QP that only answers: back is NULL; again: disconnects
 * them before. The QP numbers are of the two ways there and back. Both begin with new PSNs. */
void gen_handshake(const struct capgen_options *o, struct gen_rng *r, struct gen_stream *there,
		   struct gen_stream *back, const uint32_t qpn[2], bool again, struct gen_burst *b);

/* Every step once more, so much later and one hop further. */
void gen_burst_copy(struct gen_burst *b, uint64_t delay_ns);

/* By time. */
void gen_burst_sort(struct gen_burst *b);

#endif
