/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler: strict classes first, the highest number first, then the others by deficit
 * weighted round robin (802.1Q clause 37: shares of what strict classes leave). Within a class its
 * priorities take turns; a paused priority holds back itself alone.
 */
#include "tests/lab/switch/queue.h"

#include <string.h>

#define QUANTUM_BYTES 100 /* a unit of weight and round: short bursts, few empty rounds */
#define NS_PER_S      UINT64_C(1000000000)
#define CLASS_BURST   UINT64_C(1000000)

void queue_push(struct queue *q, struct frame *f)
{
	f->next = NULL;
	if (q->head)
		q->last->next = f;
	else
		q->head = f;
	q->last = f;
	q->frames++;
	q->bytes += f->len;
	if (q->bytes > q->max_bytes)
		q->max_bytes = q->bytes;
}

struct frame *queue_pop(struct queue *q)
{
	struct frame *f = q->head;

	if (!f)
		return NULL;
	q->head = f->next;
	q->frames--;
	q->bytes -= f->len;
	f->next = NULL;
	return f;
}

void sched_init(struct sched *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		s->tc[tc].weight = 1;
}

void sched_push(struct sched *s, struct frame *f)
{
	queue_push(&s->queue[f->prio & 7], f);
}

uint64_t sched_tc_bytes(const struct sched *s, unsigned int tc)
{
	uint64_t bytes = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (s->prio_tc[prio] == tc)
			bytes += s->queue[prio].bytes;
	return bytes;
}

uint64_t pace_next_ns(uint64_t next_ns, uint64_t now_ns, uint64_t burst_ns, uint32_t len,
		      uint64_t rate_bytes)
{
	uint64_t oldest = now_ns > burst_ns ? now_ns - burst_ns : 0;

	if (!rate_bytes)
		return 0;
	if (next_ns < oldest)
		next_ns = oldest;
	return next_ns + len * NS_PER_S / rate_bytes;
}

/* Bitmap of classes with a frame that no pause holds back. */
static uint8_t waiting_classes(const struct sched *s, uint8_t paused)
{
	uint8_t classes = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (s->queue[prio].head && !(paused >> prio & 1))
			classes |= 1u << s->prio_tc[prio];
	return classes;
}

uint64_t sched_next_ns(const struct sched *s, uint8_t paused)
{
	uint8_t classes = waiting_classes(s, paused);
	uint64_t next = UINT64_MAX;

	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (classes >> tc & 1 && s->tc[tc].next_ns < next)
			next = s->tc[tc].next_ns;
	return next;
}

/* The queue whose turn it is within a class that has one waiting. */
static struct queue *turn_of(struct sched *s, unsigned int tc, uint8_t paused)
{
	for (unsigned int i = 1; i <= QOS_PRIOS; i++) {
		unsigned int prio = (s->tc[tc].last_prio + i) % QOS_PRIOS;

		if (s->prio_tc[prio] == tc && s->queue[prio].head && !(paused >> prio & 1))
			return &s->queue[prio];
	}
	return NULL;
}

static struct frame *serve(struct sched *s, unsigned int tc, struct queue *q, uint64_t now_ns)
{
	struct sched_class *c = &s->tc[tc];
	struct frame *f = queue_pop(q);

	c->last_prio = q - s->queue;
	c->next_ns = pace_next_ns(c->next_ns, now_ns, CLASS_BURST, f->len, c->rate_bytes);
	return f;
}

/* Gives the next class its quantum for this round. What is empty keeps no credit. */
static void next_turn(struct sched *s, uint8_t ready)
{
	struct sched_class *c;

	s->current = (s->current + 1) % QOS_TCS;
	c = &s->tc[s->current];
	if (ready >> s->current & 1)
		c->deficit_bytes += (int64_t)c->weight * QUANTUM_BYTES;
	else if (!sched_tc_bytes(s, s->current))
		c->deficit_bytes = 0;
}

static struct frame *share(struct sched *s, uint8_t ready, uint8_t paused, uint64_t now_ns)
{
	for (;; next_turn(s, ready)) {
		struct sched_class *c = &s->tc[s->current];
		struct queue *q;

		if (!(ready >> s->current & 1))
			continue;
		q = turn_of(s, s->current, paused);
		if (c->deficit_bytes < (int64_t)q->head->len)
			continue;
		c->deficit_bytes -= q->head->len;
		return serve(s, s->current, q, now_ns);
	}
}

struct frame *sched_pop(struct sched *s, uint8_t paused, uint64_t now_ns)
{
	uint8_t classes = waiting_classes(s, paused), ready = 0;

	if (!classes)
		return NULL;
	for (unsigned int tc = QOS_TCS; tc-- > 0;) {
		if (!(classes >> tc & 1) || s->tc[tc].next_ns > now_ns)
			continue;
		if (s->tc[tc].strict)
			return serve(s, tc, turn_of(s, tc, paused), now_ns);
		ready |= 1u << tc;
	}
	return ready ? share(s, ready, paused, now_ns) : NULL;
}
