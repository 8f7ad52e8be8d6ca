/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Storage of the flow table: entries in order of their first packet, found through an open-
 * addressing hash. Only for flow*.c.
 */
#ifndef CAPTURE_FLOW_ENTRY_PRIV_H
#define CAPTURE_FLOW_ENTRY_PRIV_H

#include "capture/flow/responder.h"
#include "capture/flow/pairing_cm.h"
#include "capture/flow/pairing_psn.h"
#include "capture/flow/requester.h"

/* After this many requests, an unpaired flow notes only requests that are certainly answered. */
#define UNPAIRED_REQUESTS 4096U

#define FLOW_CLASSES 2

/* Part of struct flow that every flow uses. */
struct flow_core {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn, reverse_qpn, max_payload;
	uint16_t sport;
	uint8_t encap : 4, service : 4; /* enum opcode_class */
	bool paired;
	uint8_t tclass[FLOW_CLASSES]; /* DSCP and ECN, of the packets in class_packets[] */
	struct responder_state responder;
	uint64_t class_packets[FLOW_CLASSES];
	uint64_t payload_bytes, requests, responses, acks, icrc_good, held_unknown;
	uint64_t first_ns, first_frame, last_ns, last_frame;
};

/* Part that few flows use: counters of struct flow outside the core, and packets of further
 * traffic classes. */
struct flow_ext {
	struct flow flow;
	struct requester_loss_state loss;
};

/* Four cache lines: entries are most of the memory that must be cleared. */
struct flow_entry {
	struct flow_core flow;
	struct requester_state requester;     /* its loss is in an owned struct flow_ext */
	uint32_t id, reverse_flow, candidate; /* PAIRING_NONE = none */
	uint32_t unmatched;		      /* consecutive responses without a request */
} __attribute__((aligned(64)));

/* A packet touches two flows. */
#define FLOWS_SCRATCH 2

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
	struct pairing_psn *pairs;
	struct pairing_cm *connections; /* NULL until the first CM message */
	struct capture_totals totals;
	struct pause_track pause;
	struct erspan_seq mirror;
	struct flow_events events;
	/* Lent to a flow without a flow_ext: copied for the flow when used, else zero, except
	 * READs that are not counted. */
	struct flow_ext scratch[FLOWS_SCRATCH];
	struct requester_read scratch_read[FLOWS_SCRATCH][REQUESTER_READS];
};

/* Finds or adds the flow of a packet. NULL on -ENOMEM. Adding one moves entries. */
struct flow_entry *flow_entry_get(struct flow_table *t, const struct packet *p);

/* NULL = none. */
struct flow_entry *flow_entry_find(struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn);

/* Pairs the two directions of one connection. */
void flow_entry_pair(struct flow_entry *a, struct flow_entry *b);

/* Sets the start of a connection and its reverse flow from the CM; both flows start over. Nothing
 * is lent. -ENOMEM. */
int flow_entry_set_connection(struct flow_table *t, struct flow_entry *e,
			      const struct connection *c);

/* Lends room for losses and READs to a flow without its own; i < FLOWS_SCRATCH must not be lent to
 * another flow. */
static inline void flow_entry_use_scratch(struct flow_table *t, struct flow_entry *e,
					  unsigned int i)
{
	if (!e->requester.loss) {
		e->requester.loss = &t->scratch[i].loss;
		e->requester.psn.gap = t->scratch[i].loss.gap;
	}
	if (!e->requester.read)
		e->requester.read = t->scratch_read[i];
}

/* Ends the lending and keeps used state. -ENOMEM: state is lost. */
int flow_entry_copy_scratch(struct flow_table *t, struct flow_entry *e, unsigned int i);
static inline int flow_entry_keep_scratch(struct flow_table *t, struct flow_entry *e,
					  unsigned int i)
{
	if (e->requester.loss != &t->scratch[i].loss && e->requester.read != t->scratch_read[i])
		return 0;
	return flow_entry_copy_scratch(t, e, i);
}

/* NULL = none. */
static inline struct flow_ext *flow_entry_ext(const struct flow_entry *e)
{
	uint8_t *stream = (uint8_t *)e->requester.loss;

	return stream ? (struct flow_ext *)(stream - offsetof(struct flow_ext, loss)) : NULL;
}

/* Counts a packet by traffic class. */
void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass);

#endif
