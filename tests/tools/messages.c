/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a requester sends in one burst: up to a handful of messages, each as the packets it takes.
 */
#include "tests/tools/author.h"

static void add_request(struct author *a, uint8_t opcode, uint32_t payload, uint32_t dma_len,
			uint32_t span)
{
	struct gen_request *q = &a->b->request[a->b->requests++];

	*q = (struct gen_request){
		.psn = a->s->psn,
		.va = a->s->va,
		.span = span,
		.payload = payload,
		.dma_len = dma_len,
		.opcode = opcode,
	};
	a->s->psn += span;
	a->s->va += payload;
}

/* The opcode that ends a message, or is all of it. */
static uint8_t end_of(struct author *a, bool send, bool only)
{
	static const uint8_t ops[2][2][3] = {
		{{GEN_WRITE_LAST, GEN_WRITE_LAST_IMM, GEN_WRITE_LAST},
		 {GEN_WRITE_ONLY, GEN_WRITE_ONLY_IMM, GEN_WRITE_ONLY}},
		{{GEN_SEND_LAST, GEN_SEND_LAST_IMM, GEN_SEND_LAST_INV},
		 {GEN_SEND_ONLY, GEN_SEND_ONLY_IMM, GEN_SEND_ONLY_INV}},
	};
	unsigned int kind = a->o->mix & CAPGEN_OPS ? gen_below(a->r, 3) : 0;

	/* UC and UD invalidate nothing. */
	if (kind == 2 && a->s->transport != GEN_RC && a->s->transport != GEN_XRC)
		kind = 0;
	return ops[send][only][kind];
}

static void add_message(struct author *a, bool send, unsigned int packets)
{
	uint32_t last = 8 + gen_below(a->r, a->s->pmtu - 7);
	uint32_t len = (packets - 1) * a->s->pmtu + last;

	if (packets == 1) {
		add_request(a, end_of(a, send, true), last, len, 1);
	} else {
		add_request(a, send ? GEN_SEND_FIRST : GEN_WRITE_FIRST, a->s->pmtu, len, 1);
		for (unsigned int i = 2; i < packets; i++)
			add_request(a, send ? GEN_SEND_MIDDLE : GEN_WRITE_MIDDLE, a->s->pmtu, 0, 1);
		add_request(a, end_of(a, send, false), last, 0, 1);
	}
	a->b->request[a->b->requests - 1].ends = true;
}

static void add_read(struct author *a, uint32_t len)
{
	add_request(a, GEN_READ, 0, len, (len + a->s->pmtu - 1) / a->s->pmtu);
	a->b->request[a->b->requests - 1].ends = true;
	a->s->va += len;
}

static void add_asked(struct author *a)
{
	if (!(a->o->mix & CAPGEN_OPS) || gen_below(a->r, 3)) {
		add_read(a, 1 + gen_below(a->r, 8 * a->s->pmtu));
		return;
	}
	add_request(a, gen_below(a->r, 2) ? GEN_CMP_SWAP : GEN_FETCH_ADD, 0, 8, 1);
	a->b->request[a->b->requests - 1].ends = true;
}

/* Faults that would need an own account of what READs had been answered have none before them. */
static bool asks_nothing(const struct author *a)
{
	enum capgen_fault fault = a->b->fault;

	return fault == CAPGEN_TIMEOUT || fault == CAPGEN_ACK_LOST || fault == CAPGEN_FATAL ||
	       a->s->transport == GEN_UC;
}

/* A datagram is one packet, and has a PSN behind those that went to other receivers. */
static void add_datagrams(struct author *a)
{
	for (unsigned int n = 1 + gen_below(a->r, 12); n; n--) {
		a->s->psn += gen_below(a->r, 6);
		add_message(a, true, 1);
	}
}

void author_messages(struct author *a)
{
	unsigned int messages = 1 + gen_below(a->r, 3);
	bool fresh = a->s->fresh;

	a->s->fresh = false;
	if (a->s->transport == GEN_UD) {
		add_datagrams(a);
		return;
	}
	if (fresh || a->b->fault != CAPGEN_NONE)
		add_message(a, false, 2 + gen_below(a->r, 6));
	if (fresh)
		return;
	if (a->b->fault == CAPGEN_RNR)
		add_message(a, true, 1 + gen_below(a->r, 8));
	for (unsigned int i = 0; i < messages; i++) {
		uint32_t kind = gen_below(a->r, 8);

		if (kind < 2 && !asks_nothing(a))
			add_asked(a);
		else
			add_message(a, kind & 1, 1 + gen_below(a->r, 10));
	}
	if (a->b->fault == CAPGEN_READ_RETRY)
		add_read(a, 5 * a->s->pmtu - 3);
}
