/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the flow table keeps its flows: entries in order of their first packet, found through an
 * open-addressing hash. For flow.c and flow_entry.c alone.
 */
#ifndef CAPTURE_FLOW_ENTRY_H
#define CAPTURE_FLOW_ENTRY_H

#include "capture/connect.h"
#include "capture/pair.h"
#include "capture/stream.h"

/* The hash, and what it stands for, lie in one cache line. */
struct flow_entry {
	uint64_t hash;
	struct flow flow;
	struct stream stream;
	uint64_t hosts, hosts_back;
	uint32_t id, peer, candidate; /* PAIR_NONE = none */
	uint32_t strangers;	      /* answers in a row that fit nothing */
};

struct flow_table {
	struct flow_entry *entry;
	uint32_t *slot; /* 1 + index into entry, 0 = free; power of two, at least twice `room` */
	uint32_t count, room, max, slot_mask;
	uint64_t seed;
	struct pair_table *pairs;
	struct connect_table *connections; /* NULL until the first is made */
	struct capture_totals totals;
	struct pause_track pause;
	struct mirror_track mirror;
	struct flow_events events;
};

/* Finds or makes the flow of a packet. NULL on -ENOMEM. Entries move when one is made. */
struct flow_entry *flow_entry_of(struct flow_table *t, const struct packet *p);

/* NULL = there is none. */
struct flow_entry *flow_entry_find(const struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn);

/* The two ways of one connection. */
void flow_entry_pair(struct flow_entry *a, struct flow_entry *b);

/* The connection manager said how the requests of this flow begin, and which flow is the other way;
 * both are set up anew when they were there. */
void flow_entry_connect(struct flow_table *t, struct flow_entry *e, const struct connection *c);

#endif
