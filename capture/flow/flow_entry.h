/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the flow table keeps its flows: entries in order of their first packet, found through an
 * open-addressing hash. For flow*.c alone.
 */
#ifndef CAPTURE_FLOW_ENTRY_H
#define CAPTURE_FLOW_ENTRY_H

#include "capture/flow/answers.h"
#include "capture/flow/connect.h"
#include "capture/flow/pair.h"
#include "capture/flow/stream.h"

/* A flow that is not paired by then notes only what is answered for certain. */
#define UNPAIRED_REQUESTS 4096U

#define FLOW_CLASSES 2

/* What each flow has of struct flow. */
struct flow_core {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn, peer_qpn, max_payload;
	uint16_t sport;
	uint8_t encap : 4, service : 4; /* enum opcode_class */
	bool paired;
	uint8_t tclass[FLOW_CLASSES]; /* DSCP and ECN, of the packets in class_packets[] */
	struct answers answers;
	uint64_t class_packets[FLOW_CLASSES];
	uint64_t payload_bytes, requests, responses, acks, icrc_good, held_unknown;
	uint64_t first_ns, first_frame, last_ns, last_frame;
};

/* What few have: in `flow` the counters that are not in the core, and the packets of all classes
 * but the first ones. */
struct flow_more {
	struct flow flow;
	struct stream_more stream;
};

/* Four cache lines, of which all flows together make most of the memory that there is to clear. */
struct flow_entry {
	struct flow_core flow;
	struct stream stream;	      /* `more` lies in a struct flow_more, which is owned */
	uint32_t id, peer, candidate; /* PAIR_NONE = none */
	uint32_t strangers;	      /* answers in a row that fit nothing */
} __attribute__((aligned(64)));

/* Two flows are looked at for a packet. */
#define FLOWS_LENT 2

struct flow_slot {
	uint32_t tag : 8; /* of its hash */
	uint32_t id : 24; /* 1 + index into entry, 0 = free */
};

#define FLOWS_LIMIT ((1U << 24) - 1)

struct flow_table {
	struct flow_entry *entry;
	struct flow_slot *slot; /* power of two, several times `room` */
	uint32_t count, room, max, slot_mask;
	uint64_t seed;
	struct pair_table *pairs;
	struct connect_table *connections; /* NULL until the first is made */
	struct capture_totals totals;
	struct pause_track pause;
	struct mirror_track mirror;
	struct flow_events events;
	/* What a flow that has none of it works on: it becomes the flow's own when something was
	 * put there; else zeros, but for READs that are not counted. */
	struct flow_more more[FLOWS_LENT];
	struct stream_read read[FLOWS_LENT][STREAM_READS];
};

/* Finds or makes the flow of a packet. NULL on -ENOMEM. Entries move when one is made. */
struct flow_entry *flow_entry_of(struct flow_table *t, const struct packet *p);

/* NULL = there is none. */
struct flow_entry *flow_entry_find(struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn);

/* The two ways of one connection. */
void flow_entry_pair(struct flow_entry *a, struct flow_entry *b);

/* The connection manager said how the requests of this flow begin, and which flow is the other way;
 * both are set up anew when they were there. Nothing is lent. -ENOMEM. */
int flow_entry_connect(struct flow_table *t, struct flow_entry *e, const struct connection *c);

/* Room for a flow's losses and READs, when it has none; i < FLOWS_LENT is not lent to another. */
static inline void flow_entry_lend(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	if (!e->stream.more) {
		e->stream.more = &t->more[i].stream;
		e->stream.psn.gap = t->more[i].stream.gap;
	}
	if (!e->stream.read)
		e->stream.read = t->read[i];
}

/* Ends that: what was put there is kept. -ENOMEM: it is lost. */
int flow_entry_keep_lent(struct flow_table *t, struct flow_entry *e, unsigned int i);
static inline int flow_entry_keep(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	if (e->stream.more != &t->more[i].stream && e->stream.read != t->read[i])
		return 0;
	return flow_entry_keep_lent(t, e, i);
}

/* NULL = it has none. */
static inline struct flow_more *flow_entry_more(const struct flow_entry *e)
{
	uint8_t *stream = (uint8_t *)e->stream.more;

	return stream ? (struct flow_more *)(stream - offsetof(struct flow_more, stream)) : NULL;
}

/* For addresses, the first of which stands for the sender. */
uint64_t flow_hosts(const uint8_t src[16], const uint8_t dst[16]);

/* Counts a packet of a traffic class. */
void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass);

#endif
