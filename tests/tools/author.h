/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A burst while it is written: what its parts share. For the files that write bursts alone.
 */
#ifndef TESTS_TOOLS_AUTHOR_H
#define TESTS_TOOLS_AUTHOR_H

#include "tests/tools/script.h"

#define AUTHOR_ACK 0x1f /* syndromes */
#define AUTHOR_NAK 0x60

struct author {
	const struct capgen_options *o;
	struct gen_rng *r;
	struct gen_stream *s;
	struct gen_burst *b;
	struct capgen_flow *f;
	uint64_t now_ns;
	bool again;		  /* what is sent now was sent before */
	unsigned int from, count; /* requests that the fault hits */
	bool hidden, broken;	  /* how */
	bool chatty;		  /* every message has an ACK of its own */
	uint32_t done;		  /* messages of the burst that the responder has */
};

/* Fills the burst with the requests of some messages. */
void author_messages(struct author *a);

/* Sends request i as it stands, or from byte `skip` on, which only a READ can. NULL when the
 * capture does not see it. */
struct gen_step *author_send_part(struct author *a, unsigned int i, uint32_t skip);
void author_send(struct author *a, unsigned int from, unsigned int to);

/* Counts the messages of the first requests as done. */
void author_set_done(struct author *a, unsigned int requests);

struct gen_step *author_answer(struct author *a, uint8_t opcode, uint8_t syndrome, uint64_t psn,
			       uint32_t payload);

/* Whether a request has an answer that is not an ACK. */
bool author_is_asked(const struct gen_request *q);

/* Responses of a READ from number `from` on; number `lost` is not captured. */
void author_answer_read(struct author *a, const struct gen_request *q, uint32_t from,
			uint32_t lost);

/* READs and atomics are answered each, what is last by an ACK for all before. UC and UD: nothing
 * is. */
void author_answer_requests(struct author *a, unsigned int from, unsigned int to);

/* The refusal of request `from` of the fault, and all of it up to `to` sent again. */
void author_refuse(struct author *a, uint8_t syndrome, uint64_t wait_ns, unsigned int to);

/* Lets the burst's fault happen. */
void author_play(struct author *a);

#endif
