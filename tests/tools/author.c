/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How requests are sent and answered: the steps of a burst in the order of their making, with the
 * clock of its author.
 */
#include "tests/tools/author.h"

#include <string.h>

#define TTL 64

static struct gen_step *add_step(struct author *a, const struct gen_frame *f, uint8_t request)
{
	struct gen_step *step;

	if (a->b->steps == BURST_STEPS) /* the longest burst has less than 300 */
		__builtin_trap();
	step = &a->b->step[a->b->steps++];
	*step = (struct gen_step){.at_ns = a->now_ns, .frame = *f, .request = request};
	step->frame.ttl = TTL;
	return step;
}

static void add_cnp(struct author *a)
{
	const struct gen_frame cnp = {.opcode = GEN_CNP};

	a->now_ns += 20;
	add_step(a, &cnp, NO_REQUEST);
}

/* Sends request i as it stands, or from byte `skip` on, which only a READ can. NULL when the
 * capture does not see it. */
struct gen_step *author_send_part(struct author *a, unsigned int i, uint32_t skip)
{
	const struct gen_request *q = &a->b->request[i];
	bool hit = !a->again && i - a->from < a->count;
	struct gen_frame f = {
		.opcode = q->opcode,
		.ackreq = q->ackreq,
		.psn = (uint32_t)(q->psn + skip / a->o->pmtu) & 0xffffff,
		.va = q->va + skip,
		.payload = q->payload,
		.dma_len = q->dma_len - skip,
		.bad_icrc = hit && a->broken,
	};
	struct gen_step *step;

	a->now_ns += 100 + gen_below(a->r, 200);
	a->f->resent += a->again;
	if (hit && a->hidden)
		return NULL;
	f.ce = gen_below(a->r, 1000) < a->o->ce_rate;
	step = add_step(a, &f, (uint8_t)i);
	if (f.ce && !f.bad_icrc && !gen_below(a->r, 4))
		add_cnp(a);
	return step;
}

void author_send(struct author *a, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		(void)author_send_part(a, i, 0);
}

struct gen_step *author_answer(struct author *a, uint8_t opcode, uint8_t syndrome, uint64_t psn,
			       uint32_t payload)
{
	const struct gen_frame f = {
		.opcode = opcode,
		.syndrome = syndrome,
		.psn = (uint32_t)psn & 0xffffff,
		.msn = (a->s->msn + a->done) & 0xffffff,
		.payload = payload,
	};

	a->now_ns += 100 + gen_below(a->r, 100);
	return add_step(a, &f, NO_REQUEST);
}

/* Responses of a READ from number `from` on; number `lost` is not captured. */
void author_answer_read(struct author *a, const struct gen_request *q, uint32_t from, uint32_t lost)
{
	static const uint8_t ops[] = {GEN_RESPONSE_MIDDLE, GEN_RESPONSE_LAST, GEN_RESPONSE_FIRST,
				      GEN_RESPONSE_ONLY};

	for (uint32_t i = from; i < q->span; i++) {
		bool first = i == from, last = i + 1 == q->span;
		uint32_t payload = last ? q->dma_len - i * a->o->pmtu : a->o->pmtu;

		if (i != lost)
			author_answer(a, ops[2 * first + last], AUTHOR_ACK, q->psn + i, payload);
		else
			a->now_ns += 100;
	}
}

void author_set_done(struct author *a, unsigned int requests)
{
	a->done = 0;
	for (unsigned int i = 0; i < requests; i++)
		a->done += a->b->request[i].ackreq;
}

/* READs are answered each, what is last by an ACK for all before. */
void author_answer_requests(struct author *a, unsigned int from, unsigned int to)
{
	const struct gen_request *q = a->b->request;

	a->now_ns += 1000 + gen_below(a->r, 1000);
	for (unsigned int i = from; i < to; i++) {
		author_set_done(a, i + 1);
		if (q[i].opcode == GEN_READ)
			author_answer_read(a, &q[i], 0, UINT32_MAX);
		else if (i + 1 == to)
			author_answer(a, GEN_ACK, AUTHOR_ACK, q[i].psn, 0);
	}
}

/* Those READs that came before what is refused. */
static void answer_reads(struct author *a, unsigned int to)
{
	while (to && a->b->request[to - 1].opcode != GEN_READ)
		to--;
	if (to)
		author_answer_requests(a, 0, to);
}

/* When request i was captured first, not before since_ns. */
static uint64_t sent_ns(const struct author *a, unsigned int i, uint64_t since_ns)
{
	for (unsigned int k = 0; k < a->b->steps; k++)
		if (a->b->step[k].request == i && a->b->step[k].at_ns >= since_ns)
			return a->b->step[k].at_ns;
	return since_ns;
}

/* The refusal of request `from`, and from where all is sent again. */
void author_refuse(struct author *a, uint8_t syndrome, uint64_t wait_ns, unsigned int to)
{
	uint64_t refused_ns;

	answer_reads(a, a->from);
	author_set_done(a, a->from);
	a->now_ns += 500 + gen_below(a->r, 2000);
	author_answer(a, GEN_ACK, syndrome, a->b->request[a->from].psn, 0)->shows = true;
	refused_ns = a->now_ns;
	a->now_ns += wait_ns + 1000 + gen_below(a->r, 2000);
	a->again = true;
	author_send(a, a->from, to);
	if (syndrome == AUTHOR_NAK) {
		if (a->b->fault != CAPGEN_LOST_AFTER)
			a->f->nak_ns += refused_ns - sent_ns(a, a->from + a->count, 0);
		a->f->resend_ns += sent_ns(a, a->from, refused_ns) - refused_ns;
	}
	author_answer_requests(a, a->from, a->b->requests);
}
