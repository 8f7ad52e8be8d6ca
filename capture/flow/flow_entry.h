/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the flow table keeps its flows: entries in order of their first packet, found through an
 * open-addressing hash. For flow*.c and skim*.c alone.
 */
#ifndef CAPTURE_FLOW_ENTRY_H
#define CAPTURE_FLOW_ENTRY_H

#include <string.h>

#include "capture/flow/answers.h"
#include "capture/flow/connect.h"
#include "capture/flow/flow_pool.h"
#include "capture/flow/pair.h"
#include "capture/flow/stream.h"

#define SKIM_HEAD_BYTES 80

/* A flow that is not paired by then notes only what is answered for certain. */
#define UNPAIRED_REQUESTS 4096U

enum flow_run_kind {
	RUN_REQUEST,
	RUN_RESPONSE, /* of a READ */
	RUN_ACK,
	RUN_KINDS,
};

/* What the packets of a run may be. */
enum flow_run_takes {
	TAKES_REQUEST = 1 << 0,
	TAKES_ACKREQ = 1 << 1, /* a request that asks for an answer */
	TAKES_RESPONSE = 1 << 2,
	TAKES_FULL = 1 << 3,	   /* a request with a payload that tells the path MTU */
	TAKES_READ = 1 << 4,	   /* a READ request */
	TAKES_ANSWERS = 1 << 5,	   /* packets of the other direction */
	TAKES_UNRELIABLE = 1 << 6, /* a request of UC */
	TAKES_NEVER = 1 << 7,
	TAKES_LAYOUT = 1 << 8, /* frames of layout 0, and so on to 3 */
	TAKES_FIRST = 1 << 12, /* the first request of the flow, with any PSN */
	/* Answers: those with others of their READ before them, all but those, and those with
	 * others behind them. */
	TAKES_INSIDE = 1 << 13,
	TAKES_BETWEEN = 1 << 14,
	TAKES_OPEN = 1 << 15,
};

#define RUN_UNKNOWN 0xff
#define RUN_NO_PSN  UINT32_MAX /* is expected while TAKES_FIRST, or no answer was seen */

/*
 * A run of ordinary packets. While it lasts (takes != 0), what is here counts beside the flow's own
 * counters or, of what is no counter, instead of the flow's and the stream's; the flow is settled
 * before anything else looks at it. Three cache lines, all that such packets touch.
 */
struct flow_run {
	uint8_t head[SKIM_HEAD_BYTES]; /* how the frames begin */
	uint32_t peer;
	uint16_t takes;
	uint8_t tclass[RUN_KINDS]; /* of the packets in count[] */
	uint8_t layout;		   /* of the head; RUN_UNKNOWN = there is no head */
	uint8_t last_opcode;
	uint8_t took; /* enum flow_run_takes: what came since it began */
	uint32_t path, expected, last_psn, answer_psn, una;
	uint16_t pmtu, max_payload;
	uint32_t reads_end; /* what follows the newest READ, or was answered already */
	uint64_t count[RUN_KINDS];
	uint64_t icrc_good;
	uint64_t payload_bytes;
	uint64_t last_ns, last_frame, request_ns, answer_ns;
} __attribute__((aligned(64)));

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
	uint32_t tag : 8; /* flow_tag() */
	uint32_t id : 24; /* 1 + index into entry and run, 0 = free */
};

#define FLOWS_LIMIT ((1U << 24) - 1)

/* What slots are known apart by, as far as it goes. */
static inline uint8_t flow_tag(uint64_t hash)
{
	return (uint8_t)(hash >> 56);
}

struct flow_table {
	struct flow_entry *entry;
	struct flow_run *run;
	struct flow_slot *slot; /* power of two, several times `room` */
	uint32_t count, room, max, slot_mask;
	uint32_t last; /* index of the flow that got a packet last */
	uint64_t seed;
	struct pair_table *pairs;
	struct connect_table *connections; /* NULL until the first is made */
	struct capture_totals totals;
	struct pause_track pause;
	struct mirror_track mirror;
	uint64_t pfc_ns; /* of the last PFC frame, 0 = there was none */
	struct flow_events events;
	/* What a flow that has none of it works on: it becomes the flow's own when something was
	 * put there; else zeros, but for READs that are not counted. */
	struct flow_more more[FLOWS_LENT];
	struct stream_read read[FLOWS_LENT][STREAM_READS];
	struct flow_pool mores, reads; /* what was kept */
};

/* Both halves of a product of 128 bits: every bit of a and b reaches the result. */
static inline uint64_t flow_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of IPv4 addresses as they lie in the header, source first. */
static inline uint64_t flow_hash_ipv4(uint64_t seed, const uint8_t addresses[8], uint32_t dest_qpn)
{
	uint64_t word;

	memcpy(&word, addresses, sizeof(word));
	return flow_hash_mix(word ^ seed, (uint64_t)dest_qpn << 40 ^ UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t flow_hash_ipv6(uint64_t seed, const uint8_t src[16], const uint8_t dst[16],
				      uint32_t dest_qpn)
{
	uint64_t word[4], h;

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	h = flow_hash_mix(word[0] ^ seed, word[1] ^ UINT64_C(0xa0761d6478bd642f));
	h ^= flow_hash_mix(word[2] ^ UINT64_C(0xe7037ed1a0b428db), word[3] ^ seed);
	return flow_hash_mix(h ^ dest_qpn, seed | 1);
}

#define CACHE_LINE 64

/* Soon it will be needed. */
static inline void flow_fetch(const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_prefetch((const uint8_t *)from + i, 1);
}

/* The index of a flow, which is not settled; PAIR_NONE = there is none. `hash`: its flow_hash_*().
 */
uint32_t flow_entry_seek(const struct flow_table *t, uint64_t hash, const uint8_t src[16],
			 const uint8_t dst[16], uint32_t dest_qpn);

/* Makes a flow that is not there, for which there is room, of which nothing was seen. */
struct flow_entry *flow_entry_add(struct flow_table *t, uint64_t hash, const uint8_t src[16],
				  const uint8_t dst[16], uint32_t dest_qpn);

/* Finds or makes the flow of a packet, settled. NULL on -ENOMEM. Entries move when one is made. */
struct flow_entry *flow_entry_of(struct flow_table *t, const struct packet *p);

/* NULL = there is none. Settled. */
struct flow_entry *flow_entry_find(struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn);

/* Ends the run of a flow: what it came to is told to its flow and stream. */
void flow_entry_settle(struct flow_table *t, struct flow_entry *e);

/* All of a flow, while its run goes on. */
void flow_entry_get(const struct flow_table *t, uint32_t id, struct flow *f);

/* The packets of one kind in a run go to the flow's counters, and others of the kind may follow
 * that are of another traffic class. False: the flow has no room for that class. */
bool flow_entry_change_class(struct flow_table *t, uint32_t id, enum flow_run_kind kind,
			     uint8_t tclass);

/* The two ways of one connection; both are settled. */
void flow_entry_pair(struct flow_entry *a, struct flow_entry *b);

/* The connection manager said how the requests of this flow begin, and which flow is the other way;
 * both are set up anew when they were there. Nothing is lent. -ENOMEM. */
int flow_entry_connect(struct flow_table *t, struct flow_entry *e, const struct connection *c);

/* Room for a flow's losses and READs, when it has none; i < FLOWS_LENT is not lent to another. */
void flow_entry_lend(struct flow_table *t, struct flow_entry *e, unsigned int i);

/* Ends that: what was put there is kept. -ENOMEM: it is lost. */
int flow_entry_keep(struct flow_table *t, struct flow_entry *e);

/* NULL = it has none. */
static inline struct flow_more *flow_entry_more(const struct flow_entry *e)
{
	uint8_t *stream = (uint8_t *)e->stream.more;

	return stream ? (struct flow_more *)(stream - offsetof(struct flow_more, stream)) : NULL;
}

/* For addresses, the first of which stands for the sender. */
uint64_t flow_hosts(const uint8_t src[16], const uint8_t dst[16]);

/* Counts packets of a traffic class. `more` may be NULL when the flow knows the class. */
void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass, uint64_t packets);

#endif
