/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts: one to three messages are sent back to back, something may happen to them, they are
 * answered. One fault a burst, so that what it costs is known without following the PSNs.
 */
#include "tests/tools/script.h"

#include <string.h>

#define TTL	      64
#define ACK_SYNDROME  0x1f
#define NAK_SYNDROME  0x60
#define RNR_SYNDROME  0x20
#define TIMEOUT_NS    67108864 /* 4.096 us * 2^14 */
#define RECONNECT_NS  20000000
#define RECONNECT_PSN 0x400000

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

/* A burst while it is written. */
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
	uint32_t done;		  /* messages of the burst that the responder has */
};

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

static void add_messages(struct author *a)
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
static struct gen_step *send_part(struct author *a, unsigned int i, uint32_t skip)
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

static void send_requests(struct author *a, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		(void)send_part(a, i, 0);
}

static struct gen_step *answer(struct author *a, uint8_t opcode, uint8_t syndrome, uint64_t psn,
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
static void answer_read(struct author *a, const struct gen_request *q, uint32_t from, uint32_t lost)
{
	static const uint8_t ops[] = {GEN_RESPONSE_MIDDLE, GEN_RESPONSE_LAST, GEN_RESPONSE_FIRST,
				      GEN_RESPONSE_ONLY};

	for (uint32_t i = from; i < q->span; i++) {
		bool first = i == from, last = i + 1 == q->span;
		uint32_t payload = last ? q->dma_len - i * a->o->pmtu : a->o->pmtu;

		if (i != lost)
			answer(a, ops[2 * first + last], ACK_SYNDROME, q->psn + i, payload);
		else
			a->now_ns += 100;
	}
}

static void set_done(struct author *a, unsigned int requests)
{
	a->done = 0;
	for (unsigned int i = 0; i < requests; i++)
		a->done += a->b->request[i].ackreq;
}

/* READs are answered each, what is last by an ACK for all before. */
static void answer_requests(struct author *a, unsigned int from, unsigned int to)
{
	const struct gen_request *q = a->b->request;

	a->now_ns += 1000 + gen_below(a->r, 1000);
	for (unsigned int i = from; i < to; i++) {
		set_done(a, i + 1);
		if (q[i].opcode == GEN_READ)
			answer_read(a, &q[i], 0, UINT32_MAX);
		else if (i + 1 == to)
			answer(a, GEN_ACK, ACK_SYNDROME, q[i].psn, 0);
	}
}

/* Those READs that came before what is refused. */
static void answer_reads(struct author *a, unsigned int to)
{
	while (to && a->b->request[to - 1].opcode != GEN_READ)
		to--;
	if (to)
		answer_requests(a, 0, to);
}

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

/* When request i was captured first, not before since_ns. */
static uint64_t sent_ns(const struct author *a, unsigned int i, uint64_t since_ns)
{
	for (unsigned int k = 0; k < a->b->steps; k++)
		if (a->b->step[k].request == i && a->b->step[k].at_ns >= since_ns)
			return a->b->step[k].at_ns;
	return since_ns;
}

/* The refusal of request `from`, and from where all is sent again. */
static void refuse_and_resend(struct author *a, uint8_t syndrome, uint64_t wait_ns, unsigned int to)
{
	uint64_t refused_ns;

	answer_reads(a, a->from);
	set_done(a, a->from);
	a->now_ns += 500 + gen_below(a->r, 2000);
	answer(a, GEN_ACK, syndrome, a->b->request[a->from].psn, 0)->shows = true;
	refused_ns = a->now_ns;
	a->now_ns += wait_ns + 1000 + gen_below(a->r, 2000);
	a->again = true;
	send_requests(a, a->from, to);
	if (syndrome == NAK_SYNDROME) {
		if (a->b->fault != CAPGEN_LOST_AFTER)
			a->f->nak_ns += refused_ns - sent_ns(a, a->from + a->count, 0);
		a->f->resend_ns += sent_ns(a, a->from, refused_ns) - refused_ns;
	}
	answer_requests(a, a->from, a->b->requests);
}

/* By go-back-N: all from the refused PSN to the highest sent. */
static void count_waste(struct author *a)
{
	a->f->wasted += a->s->psn - a->b->request[a->from].psn;
}

static void play_none(struct author *a)
{
	send_requests(a, 0, a->b->requests);
	answer_requests(a, 0, a->b->requests);
}

static void play_lost(struct author *a)
{
	choose(a, 3);
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	send_requests(a, 0, a->b->requests);
	refuse_and_resend(a, NAK_SYNDROME, 0, a->b->requests);
	count_waste(a);
}

static void play_lost_after(struct author *a)
{
	choose(a, 3);
	a->f->lost_after_psns += psns_hit(a);
	send_requests(a, 0, a->b->requests);
	refuse_and_resend(a, NAK_SYNDROME, 0, a->b->requests);
	count_waste(a);
}

static void play_selective(struct author *a)
{
	choose(a, 3);
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	send_requests(a, 0, a->b->requests);
	refuse_and_resend(a, NAK_SYNDROME, 0, a->from + a->count);
}

static void play_reordered(struct author *a)
{
	unsigned int by;

	choose(a, 1);
	by = 1 + gen_below(a->r, 3);
	if (by > a->b->requests - 1 - a->from)
		by = a->b->requests - 1 - a->from;
	send_requests(a, 0, a->from);
	send_requests(a, a->from + 1, a->from + 1 + by);
	send_part(a, a->from, 0)->shows = true;
	send_requests(a, a->from + 1 + by, a->b->requests);
	answer_requests(a, 0, a->b->requests);
}

static void play_rnr(struct author *a)
{
	static const uint32_t timer_us[] = {655360, 10,	 20,  30,  40,	60,
					    80,	    120, 160, 240, 320, 480};
	unsigned int timer = 1 + gen_below(a->r, 11);

	while (a->b->request[a->from].opcode != GEN_SEND_FIRST &&
	       a->b->request[a->from].opcode != GEN_SEND_ONLY)
		a->from++;
	send_requests(a, 0, a->b->requests);
	refuse_and_resend(a, (uint8_t)(RNR_SYNDROME | timer), timer_us[timer] * UINT64_C(1000),
			  a->b->requests);
}

static void resend_all(struct author *a)
{
	unsigned int first = a->b->steps;

	a->now_ns += TIMEOUT_NS + gen_below(a->r, TIMEOUT_NS);
	a->again = true;
	send_requests(a, 0, a->b->requests);
	a->b->step[first].shows = true;
	answer_requests(a, 0, a->b->requests);
}

static void play_timeout(struct author *a)
{
	a->count = 1 + gen_below(a->r, a->b->requests - 1);
	a->from = a->b->requests - a->count;
	a->hidden = true;
	a->f->lost_psns += psns_hit(a);
	a->f->tail_psns += psns_hit(a);
	send_requests(a, 0, a->b->requests);
	resend_all(a);
}

static void play_ack_lost(struct author *a)
{
	send_requests(a, 0, a->b->requests);
	resend_all(a);
}

static void play_fatal(struct author *a)
{
	choose(a, 1);
	send_requests(a, 0, a->b->requests);
	set_done(a, a->from);
	a->now_ns += 1000;
	answer(a, GEN_ACK, (uint8_t)(NAK_SYNDROME | (1 + gen_below(a->r, 3))),
	       a->b->request[a->from].psn, 0)
		->shows = true;
	a->now_ns += RECONNECT_NS;
	a->s->psn += RECONNECT_PSN + gen_below(a->r, 0x10000);
	a->s->msn = a->done = 0;
	a->s->fresh = true;
}

static void play_bad_icrc(struct author *a)
{
	choose(a, 1);
	a->broken = true;
	send_requests(a, 0, a->b->requests);
	refuse_and_resend(a, NAK_SYNDROME, 0, a->b->requests);
	count_waste(a);
}

static void play_missed(struct author *a)
{
	choose(a, 2);
	a->hidden = true;
	a->f->missed_psns += psns_hit(a);
	send_requests(a, 0, a->b->requests);
	answer_requests(a, 0, a->b->requests);
	a->b->step[a->b->steps - 1].shows = true;
}

static void play_read_retry(struct author *a)
{
	unsigned int last = a->b->requests - 1;
	uint32_t lost = 1 + gen_below(a->r, 3);

	send_requests(a, 0, last + 1);
	answer_requests(a, 0, last);
	set_done(a, last + 1);
	a->now_ns += 1000;
	answer_read(a, &a->b->request[last], 0, lost);
	a->now_ns += 1000 + gen_below(a->r, 2000);
	a->again = true;
	send_part(a, last, lost * a->o->pmtu)->shows = true;
	a->now_ns += 1000;
	answer_read(a, &a->b->request[last], lost, UINT32_MAX);
	a->from = last;
}

static void copy_steps(struct gen_burst *b, uint64_t delay_ns)
{
	unsigned int n = b->steps;

	for (unsigned int i = 0; i < n && b->steps < BURST_STEPS; i++) {
		b->step[b->steps] = b->step[i];
		b->step[b->steps].at_ns += delay_ns;
		b->step[b->steps].frame.ttl--;
		b->step[b->steps].shows = false;
		b->step[b->steps++].copy = true;
	}
}

static void play_copied(struct author *a)
{
	play_none(a);
	copy_steps(a->b, 15);
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
	[CAPGEN_NONE] = play_none,
};

static enum capgen_fault choose_fault(const struct capgen_options *o, struct gen_rng *r)
{
	unsigned int fault = gen_below(r, CAPGEN_FAULTS);

	if (gen_below(r, 1000) >= o->fault_rate || !(o->faults >> fault & 1))
		return CAPGEN_NONE;
	/* What was not kept whole cannot be seen to be broken. */
	return fault == CAPGEN_BAD_ICRC && o->snap ? CAPGEN_NONE : fault;
}

/* By time; few are out of order, and what is equal stays as it was written. */
static void sort_steps(struct gen_burst *b)
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
	b->fault = s->fresh ? CAPGEN_NONE : choose_fault(o, r);
	add_messages(&a);
	plays[b->fault](&a);
	s->msn += a.done;
	if (o->mirror)
		copy_steps(b, 700);
	sort_steps(b);
	if (b->fault != CAPGEN_NONE) {
		f->fault[b->fault]++;
		b->fault_psn = b->request[a.from].psn;
		b->fault_count = a.count ? a.count : 1;
	}
	b->end_ns = a.now_ns;
}
