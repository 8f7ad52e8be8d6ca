/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may happen to a burst, one function a fault. Each counts what it does into the truth.
 */
#include "tests/tools/author.h"

#define RNR_SYNDROME  0x20
#define TIMEOUT_NS    67108864 /* 4.096 us * 2^14 */
#define RECONNECT_NS  20000000
#define RECONNECT_PSN 0x400000

static uint32_t psns_hit(const struct author *a)
{
	uint32_t n = 0;

	for (unsigned int i = a->from; i < a->from + a->count; i++)
		n += a->b->request[i].span;
	return n;
}

/* Up to `most` requests, with others behind them. */
static void choose(struct author *a, unsigned int most)
{
	a->count = 1 + gen_below(a->r, most);
	if (a->count > a->b->requests - 1)
		a->count = a->b->requests - 1;
	a->from = gen_below(a->r, a->b->requests - a->count);
}
/* By go-back-N: all from the refused PSN to the highest sent. After a timeout, what was captured
 * before. */
static void count_waste(struct author *a)
{
	a->f->wasted += a->s->psn - a->b->request[a->from].psn;
}

static void play_none(struct author *a)
{
	author_send(a, 0, a->b->requests);
	author_answer_requests(a, 0, a->b->requests);
}

static void play_lost(struct author *a)
{
	choose(a, 3);
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	author_refuse(a, AUTHOR_NAK, 0, a->b->requests);
	count_waste(a);
}

static void play_lost_after(struct author *a)
{
	choose(a, 3);
	a->f->lost_after_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	author_refuse(a, AUTHOR_NAK, 0, a->b->requests);
	count_waste(a);
}

static void play_selective(struct author *a)
{
	choose(a, 3);
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	author_refuse(a, AUTHOR_NAK, 0, a->from + a->count);
}

static void play_reordered(struct author *a)
{
	unsigned int by;

	choose(a, 1);
	by = 1 + gen_below(a->r, 3);
	if (by > a->b->requests - 1 - a->from)
		by = a->b->requests - 1 - a->from;
	author_send(a, 0, a->from);
	author_send(a, a->from + 1, a->from + 1 + by);
	author_send_part(a, a->from, 0)->shows = true;
	author_send(a, a->from + 1 + by, a->b->requests);
	author_answer_requests(a, 0, a->b->requests);
}

/* What a receiver without a buffer refuses. */
static bool begins_send(uint8_t opcode)
{
	return opcode == GEN_SEND_FIRST || opcode == GEN_SEND_ONLY || opcode == GEN_SEND_ONLY_IMM ||
	       opcode == GEN_SEND_ONLY_INV;
}

static void play_rnr(struct author *a)
{
	/* By the code in the syndrome, in steps of 10 us. */
	static const uint32_t timer_steps[] = {
		65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
		48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};
	unsigned int timer = gen_below(a->r, 32);

	while (!begins_send(a->b->request[a->from].opcode))
		a->from++;
	author_send(a, 0, a->b->requests);
	author_refuse(a, (uint8_t)(RNR_SYNDROME | timer), timer_steps[timer] * UINT64_C(10000),
		      a->b->requests);
}

static void resend_all(struct author *a)
{
	unsigned int first = a->b->steps;

	a->now_ns += TIMEOUT_NS + gen_below(a->r, TIMEOUT_NS);
	a->again = true;
	author_send(a, 0, a->b->requests);
	a->b->step[first].shows = true;
	author_answer_requests(a, 0, a->b->requests);
}

static void play_timeout(struct author *a)
{
	a->count = 1 + gen_below(a->r, a->b->requests - 1);
	a->from = a->b->requests - a->count;
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	a->f->tail_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	a->f->wasted += a->b->request[a->from].psn - a->b->request[0].psn;
	resend_all(a);
}

static void play_ack_lost(struct author *a)
{
	author_send(a, 0, a->b->requests);
	a->f->wasted += a->s->psn - a->b->request[0].psn;
	resend_all(a);
}

static void play_fatal(struct author *a)
{
	choose(a, 1);
	author_send(a, 0, a->b->requests);
	author_set_done(a, a->from);
	a->now_ns += 1000;
	author_answer(a, GEN_ACK, (uint8_t)(AUTHOR_NAK | (1 + gen_below(a->r, 3))),
		      a->b->request[a->from].psn, 0)
		->shows = true;
	a->now_ns += RECONNECT_NS;
	if (a->o->mix & CAPGEN_CM) {
		a->s->broken = true;
		return;
	}
	a->s->psn += RECONNECT_PSN + gen_below(a->r, 0x10000);
	a->s->msn = a->done = 0;
	a->s->fresh = true;
}

static void play_bad_icrc(struct author *a)
{
	choose(a, 1);
	a->broken = true;
	a->f->broken_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	author_refuse(a, AUTHOR_NAK, 0, a->b->requests);
	count_waste(a);
}

static void play_missed(struct author *a)
{
	choose(a, 2);
	a->hidden = true;
	a->f->missed_psns += psns_hit(a);
	author_send(a, 0, a->b->requests);
	a->b->dropped = a->count;
	author_answer_requests(a, 0, a->b->requests);
	a->b->step[a->b->steps - 1].shows = true;
}

static void play_ack_missed(struct author *a)
{
	unsigned int sent, answers;

	author_send(a, 0, a->b->requests);
	sent = a->b->steps;
	author_answer_requests(a, 0, a->b->requests);
	answers = a->b->steps - sent;
	a->b->dropped = 1 + gen_below(a->r, answers);
	a->b->steps -= a->b->dropped;
	a->b->step[a->b->steps - 1].shows = true;
}

static void play_uc_lost(struct author *a)
{
	choose(a, 3);
	a->hidden = true;
	a->f->silent_psns += psns_hit(a);
	play_none(a);
	a->b->step[a->b->steps - 1].shows = true;
}

static void play_uc_broken(struct author *a)
{
	choose(a, 1);
	a->broken = true;
	a->f->broken_psns += psns_hit(a);
	play_none(a);
	a->b->step[a->b->steps - 1].shows = true;
}

static void play_read_retry(struct author *a)
{
	unsigned int last = a->b->requests - 1;
	uint32_t from = 1 + gen_below(a->r, 3);
	/* Lost before the capture, or behind it. */
	uint32_t lost = gen_below(a->r, 2) ? from : UINT32_MAX;

	author_send(a, 0, last + 1);
	author_answer_requests(a, 0, last);
	author_set_done(a, last + 1);
	a->now_ns += 1000;
	author_answer_read(a, &a->b->request[last], 0, lost);
	a->now_ns += 1000 + gen_below(a->r, 2000);
	a->again = true;
	author_send_part(a, last, from * a->s->pmtu)->shows = true;
	a->now_ns += 1000;
	author_answer_read(a, &a->b->request[last], from, UINT32_MAX);
	a->from = last;
}

static void play_copied(struct author *a)
{
	play_none(a);
	gen_burst_copy(a->b, 15);
	a->b->step[a->b->steps / 2].shows = true;
}

static void (*const plays[])(struct author *a) = {
	[CAPGEN_LOST] = play_lost,
	[CAPGEN_LOST_AFTER] = play_lost_after,
	[CAPGEN_SELECTIVE] = play_selective,
	[CAPGEN_REORDERED] = play_reordered,
	[CAPGEN_RNR] = play_rnr,
	[CAPGEN_TIMEOUT] = play_timeout,
	[CAPGEN_ACK_LOST] = play_ack_lost,
	[CAPGEN_FATAL] = play_fatal,
	[CAPGEN_BAD_ICRC] = play_bad_icrc,
	[CAPGEN_MISSED] = play_missed,
	[CAPGEN_READ_RETRY] = play_read_retry,
	[CAPGEN_COPIED] = play_copied,
	[CAPGEN_ACK_MISSED] = play_ack_missed,
	[CAPGEN_NAK_MISSED] = play_lost,
	[CAPGEN_UC_LOST] = play_uc_lost,
	[CAPGEN_UC_BROKEN] = play_uc_broken,
	[CAPGEN_NONE] = play_none,
};

void author_play(struct author *a)
{
	plays[a->b->fault](a);
}
