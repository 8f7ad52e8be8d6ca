/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames, queues and the scheduler of one port: a queue a priority, grouped into traffic classes
 * that are strict or share by weight (DWRR), each with a rate limit. Touches nothing else.
 */
#ifndef TESTS_LAB_SWITCH_QUEUE_H
#define TESTS_LAB_SWITCH_QUEUE_H

#include "profiles/qos.h"

#define FRAME_MAX 9728

struct frame {
	struct frame *next;
	uint32_t len;
	uint16_t in_port; /* accounted to */
	bool accounted, headroom;
	/* What classify.c read. */
	uint8_t prio, pcp, tos, opcode, ip_proto;
	bool tagged, roce;
	uint8_t ip_version; /* 4, 6, 0: none */
	uint16_t ethertype, l3, l4, sport, dport;
	uint32_t hash; /* of the 5-tuple */
	/* While it is late. */
	uint64_t due_ns, seq;
	uint16_t late_port;
	uint8_t late_direction;
	uint8_t data[FRAME_MAX];
};

struct queue {
	struct frame *head, *last;
	uint32_t frames;
	uint64_t bytes, max_bytes;
};

void queue_push(struct queue *q, struct frame *f);
struct frame *queue_pop(struct queue *q); /* NULL: empty */

struct sched_class {
	bool strict;
	unsigned int weight; /* from 1 */
	uint64_t rate_bytes; /* a second; 0: no limit */
	uint64_t next_ns;    /* when its rate allows the next frame */
	int64_t deficit_bytes;
	unsigned int last_prio; /* served last */
};

struct sched {
	struct queue queue[QOS_PRIOS];
	struct sched_class tc[QOS_TCS];
	uint8_t prio_tc[QOS_PRIOS];
	unsigned int current;
};

void sched_init(struct sched *s);
void sched_push(struct sched *s, struct frame *f);
/* The next frame whose priority is not in `paused` and whose class may send now; NULL: none. */
struct frame *sched_pop(struct sched *s, uint8_t paused, uint64_t now_ns);
/* When there will be one by rate limits alone: now or earlier means at once, UINT64_MAX never. */
uint64_t sched_next_ns(const struct sched *s, uint8_t paused);
uint64_t sched_tc_bytes(const struct sched *s, unsigned int tc);

/* Advances the time of a limiter by one frame; it may lag behind by burst_ns at most. */
uint64_t pace_next_ns(uint64_t next_ns, uint64_t now_ns, uint64_t burst_ns, uint32_t len,
		      uint64_t rate_bytes);

#endif
