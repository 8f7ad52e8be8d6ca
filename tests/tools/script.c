/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts: one to three messages are sent back to back, something may happen to them, they are
 * answered. One fault a burst, so that what it costs is known without following the PSNs.
 */
#include "tests/tools/script.h"

#include "tests/tools/author.h"

uint64_t gen_random(struct gen_rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t gen_below(struct gen_rng *r, uint32_t n)
{
	return (uint32_t)(gen_random(r) >> 32) % n;
}

void gen_burst_copy(struct gen_burst *b, uint64_t delay_ns)
{
	unsigned int n = b->steps;

	for (unsigned int i = 0; i < n && b->steps < BURST_STEPS; i++) {
		b->step[b->steps] = b->step[i];
		b->step[b->steps].at_ns += delay_ns;
		b->step[b->steps].frame.ttl--;
		b->step[b->steps].shows = false;
		b->step[b->steps].mark = MARK_NONE;
		b->step[b->steps++].copy = true;
	}
}

/* A set. */
static uint32_t possible(uint8_t transport)
{
	static const uint32_t uc = 1U << CAPGEN_UC_LOST | 1U << CAPGEN_UC_BROKEN;

	switch (transport) {
	case GEN_UC:
		return uc | 1U << CAPGEN_REORDERED | 1U << CAPGEN_COPIED;
	case GEN_UD:
		return 1U << CAPGEN_COPIED;
	default:
		return ~uc;
	}
}

static enum capgen_fault choose_fault(const struct capgen_options *o, struct gen_rng *r,
				      uint8_t transport)
{
	unsigned int fault = gen_below(r, CAPGEN_FAULTS);

	if (gen_below(r, 1000) >= o->fault_rate || !(o->faults & possible(transport) & 1U << fault))
		return CAPGEN_NONE;
	/* What was not kept whole cannot be seen to be broken. */
	return (fault == CAPGEN_BAD_ICRC || fault == CAPGEN_UC_BROKEN) && o->snap ? CAPGEN_NONE
										  : fault;
}

/* By time; few are out of order, and what is equal stays as it was written. */
void gen_burst_sort(struct gen_burst *b)
{
	for (unsigned int i = 1; i < b->steps; i++) {
		struct gen_step step = b->step[i];
		unsigned int k = i;

		for (; k && b->step[k - 1].at_ns > step.at_ns; k--)
			b->step[k] = b->step[k - 1];
		b->step[k] = step;
	}
}

void gen_burst_make(const struct capgen_options *o, struct gen_rng *r, struct gen_stream *s,
		    struct gen_burst *b, struct capgen_flow *f)
{
	struct author a = {.o = o, .r = r, .s = s, .b = b, .f = f};

	b->requests = b->steps = b->at = 0;
	b->dropped = 0;
	b->handshake = false;
	a.chatty = o->mix & CAPGEN_OPS && !gen_below(r, 3);
	b->fault = s->fresh ? CAPGEN_NONE : choose_fault(o, r, s->transport);
	author_messages(&a);
	author_play(&a);
	s->msn += a.done;
	if (o->mirror)
		gen_burst_copy(b, 700);
	gen_burst_sort(b);
	if (b->fault != CAPGEN_NONE) {
		f->fault[b->fault]++;
		b->fault_psn = b->request[a.from].psn;
		b->fault_count = a.count ? a.count : 1;
	}
	b->end_ns = a.now_ns;
}
