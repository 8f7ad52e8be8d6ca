/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the flow table keeps its flows: entries in order of their first packet, found through an
 * open-addressing hash. For flow*.c alone.
 */
#ifndef CAPTURE_FLOW_ENTRY_PRIV_H
#define CAPTURE_FLOW_ENTRY_PRIV_H

#include "capture/flow/responder.h"
#include "capture/flow/pairing_cm.h"
#include "capture/flow/pairing_psn.h"
#include "capture/flow/requester.h"

/* A flow that is not paired by then notes only what is answered for certain. */
#define UNPAIRED_REQUESTS 4096U

#define FLOW_CLASSES 2

/* What each flow has of struct flow. */
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

/* What few have: in `flow` the counters that are not in the core, and the packets of all classes
 * but the first ones. */
struct flow_ext {
	struct flow flow;
	struct requester_loss_state loss;
};

/* Four cache lines, of which all flows together make most of the memory that there is to clear. */
struct flow_entry {
	struct flow_core flow;
	struct requester_state requester;     /* `more` lies in a struct flow_ext, which is owned */
	uint32_t id, reverse_flow, candidate; /* PAIRING_NONE = none */
	uint32_t unmatched;		      /* answers in a row that fit nothing */
} __attribute__((aligned(64)));

/* Two flows are looked at for a packet. */
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
	struct pairing_cm *connections; /* NULL until the first is made */
	struct capture_totals totals;
	struct pause_track pause;
	struct erspan_seq mirror;
	struct flow_events events;
	/* What a flow that has none of it works on: it becomes the flow's own when something was
	 * put there; else zeros, but for READs that are not counted. */
	struct flow_ext scratch[FLOWS_SCRATCH];
	struct requester_read scratch_read[FLOWS_SCRATCH][REQUESTER_READS];
};

/* Finds or makes the flow of a packet. NULL on -ENOMEM. Entries move when one is made. */
struct flow_entry *flow_entry_get(struct flow_table *t, const struct packet *p);

/* NULL = there is none. */
struct flow_entry *flow_entry_find(struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn);

/* The two ways of one connection. */
void flow_entry_pair(struct flow_entry *a, struct flow_entry *b);

/* The connection manager said how the requests of this flow begin, and which flow is the other way;
 * both are set up anew when they were there. Nothing is lent. -ENOMEM. */
int flow_entry_set_connection(struct flow_table *t, struct flow_entry *e,
			      const struct connection *c);

/* Room for a flow's losses and READs, when it has none; i < FLOWS_SCRATCH is not lent to another.
 */
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

/* Ends that: what was put there is kept. -ENOMEM: it is lost. */
int flow_entry_copy_scratch(struct flow_table *t, struct flow_entry *e, unsigned int i);
static inline int flow_entry_keep_scratch(struct flow_table *t, struct flow_entry *e,
					  unsigned int i)
{
	if (e->requester.loss != &t->scratch[i].loss && e->requester.read != t->scratch_read[i])
		return 0;
	return flow_entry_copy_scratch(t, e, i);
}

/* NULL = it has none. */
static inline struct flow_ext *flow_entry_ext(const struct flow_entry *e)
{
	uint8_t *stream = (uint8_t *)e->requester.loss;

	return stream ? (struct flow_ext *)(stream - offsetof(struct flow_ext, loss)) : NULL;
}

/* For addresses, the first of which stands for the sender. */
uint64_t flow_hash_hosts(const uint8_t src[16], const uint8_t dst[16]);

/* Counts a packet of a traffic class. */
void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass);

#endif
