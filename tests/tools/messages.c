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
		.ackreq = opcode == GEN_SEND_LAST || opcode == GEN_SEND_ONLY ||
			  opcode == GEN_WRITE_LAST || opcode == GEN_WRITE_ONLY ||
			  opcode == GEN_READ,
	};
	a->s->psn += span;
	a->s->va += payload;
}

static void add_message(struct author *a, bool send, unsigned int packets)
{
	static const uint8_t ops[2][4] = {
		{GEN_WRITE_FIRST, GEN_WRITE_MIDDLE, GEN_WRITE_LAST, GEN_WRITE_ONLY},
		{GEN_SEND_FIRST, GEN_SEND_MIDDLE, GEN_SEND_LAST, GEN_SEND_ONLY},
	};
	uint32_t last = 8 + gen_below(a->r, a->o->pmtu - 7);
	uint32_t len = (packets - 1) * a->o->pmtu + last;

	if (packets == 1) {
		add_request(a, ops[send][3], last, len, 1);
		return;
	}
	add_request(a, ops[send][0], a->o->pmtu, len, 1);
	for (unsigned int i = 2; i < packets; i++)
		add_request(a, ops[send][1], a->o->pmtu, 0, 1);
	add_request(a, ops[send][2], last, 0, 1);
}

static void add_read(struct author *a)
{
	uint32_t len = 1 + gen_below(a->r, 8 * a->o->pmtu);

	add_request(a, GEN_READ, 0, len, (len + a->o->pmtu - 1) / a->o->pmtu);
	a->s->va += len;
}

/* Faults that would need an own account of what READs had been answered have none before them. */
static bool without_reads(enum capgen_fault fault)
{
	return fault == CAPGEN_TIMEOUT || fault == CAPGEN_ACK_LOST || fault == CAPGEN_FATAL;
}

void author_messages(struct author *a)
{
	unsigned int messages = 1 + gen_below(a->r, 3);
	bool fresh = a->s->fresh;

	a->s->fresh = false;
	if (fresh || a->b->fault != CAPGEN_NONE)
		add_message(a, false, 2 + gen_below(a->r, 6));
	if (fresh)
		return;
	if (a->b->fault == CAPGEN_RNR)
		add_message(a, true, 1 + gen_below(a->r, 8));
	for (unsigned int i = 0; i < messages; i++) {
		uint32_t kind = gen_below(a->r, 8);

		if (kind < 2 && !without_reads(a->b->fault))
			add_read(a);
		else
			add_message(a, kind & 1, 1 + gen_below(a->r, 10));
	}
	if (a->b->fault == CAPGEN_READ_RETRY)
		add_request(a, GEN_READ, 0, 5 * a->o->pmtu - 3, 5);
}
