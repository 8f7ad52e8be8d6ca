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

static bool is_reliable(const struct author *a)
{
	return a->s->transport == GEN_RC || a->s->transport == GEN_XRC;
}

/* Sends request i as it stands, or from byte `skip` on, which only a READ can. NULL when the
 * capture does not see it. */
struct gen_step *author_send_part(struct author *a, unsigned int i, uint32_t skip)
{
	const struct gen_request *q = &a->b->request[i];
	bool hit = !a->again && i - a->from < a->count;
	struct gen_frame f = {
		.opcode = a->s->transport | q->opcode,
		.ackreq = q->ends && is_reliable(a),
		.psn = (uint32_t)(q->psn + skip / a->s->pmtu) & 0xffffff,
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
		.opcode = a->s->transport | opcode,
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
		uint32_t payload = last ? q->dma_len - i * a->s->pmtu : a->s->pmtu;

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
		a->done += a->b->request[i].ends;
}

/* READs are answered each, what is last by an ACK for all before. */
bool author_is_asked(const struct gen_request *q)
{
	return q->opcode == GEN_READ || q->opcode == GEN_CMP_SWAP || q->opcode == GEN_FETCH_ADD;
}

void author_answer_requests(struct author *a, unsigned int from, unsigned int to)
{
	const struct gen_request *q = a->b->request;

	a->now_ns += 1000 + gen_below(a->r, 1000);
	if (!is_reliable(a))
		return;
	for (unsigned int i = from; i < to; i++) {
		author_set_done(a, i + 1);
		if (q[i].opcode == GEN_READ)
			author_answer_read(a, &q[i], 0, UINT32_MAX);
		else if (author_is_asked(&q[i]))
			author_answer(a, GEN_ATOMIC_ACK, AUTHOR_ACK, q[i].psn, 0);
		else if (i + 1 == to || (a->chatty && q[i].ends))
			author_answer(a, GEN_ACK, AUTHOR_ACK, q[i].psn, 0);
	}
}

/* Those READs and atomics that came before what is refused. */
static void answer_reads(struct author *a, unsigned int to)
{
	while (to && !author_is_asked(&a->b->request[to - 1]))
		to--;
	if (to)
		author_answer_requests(a, 0, to);
}

/* The first time that request i is captured, not before since_ns. */
static void mark_sent(struct author *a, unsigned int i, uint64_t since_ns, enum gen_mark mark)
{
	unsigned int k = 0;

	while (k < a->b->steps && (a->b->step[k].request != i || a->b->step[k].at_ns < since_ns))
		k++;
	if (k < a->b->steps)
		a->b->step[k].mark = (uint8_t)mark;
}

/* The refusal of request `from`, and from where all is sent again. */
void author_refuse(struct author *a, uint8_t syndrome, uint64_t wait_ns, unsigned int to)
{
	struct gen_step *refusal;
	uint64_t refused_ns;

	answer_reads(a, a->from);
	author_set_done(a, a->from);
	a->now_ns += 500 + gen_below(a->r, 2000);
	refusal = author_answer(a, GEN_ACK, syndrome, a->b->request[a->from].psn, 0);
	refusal->shows = true;
	refused_ns = a->now_ns;
	if (a->b->fault == CAPGEN_NAK_MISSED) { /* the last step */
		a->b->step[--a->b->steps - 1].shows = true;
		a->b->dropped = 1;
	}
	a->now_ns += wait_ns + 1000 + gen_below(a->r, 2000);
	a->again = true;
	author_send(a, a->from, to);
	if (syndrome == AUTHOR_NAK && a->b->fault != CAPGEN_NAK_MISSED) {
		if (a->b->fault != CAPGEN_LOST_AFTER)
			mark_sent(a, a->from + a->count, 0, MARK_GAP);
		refusal->mark = MARK_NAK;
		mark_sent(a, a->from, refused_ns, MARK_RESENT);
	}
	author_answer_requests(a, a->from, a->b->requests);
}
