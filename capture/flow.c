/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow table: entries in order of their first packet, found through an open-addressing hash
 * with a random seed, because addresses and QPNs come from the wire. Memory is bounded: when the
 * table is full, the eighth of the flows that was idle longest makes room, and is counted.
 */
#include "capture/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "capture/opcode.h"
#include "capture/pair.h"
#include "capture/stream.h"

#define FLOWS_MAX_DEFAULT 65536U
#define ENTRIES_FIRST	  64U
/* A flow that is not paired by then notes only what is answered for certain. */
#define UNPAIRED_REQUESTS 4096U

/* The hash, and what it stands for, lie in one cache line. */
struct entry {
	uint64_t hash;
	struct flow flow;
	struct stream stream;
	uint64_t hosts, hosts_back;
	uint32_t id, peer, candidate; /* PAIR_NONE = none */
};

struct flow_table {
	struct entry *entry;
	uint32_t *slot; /* 1 + index into entry, 0 = free; power of two, at least twice `room` */
	uint32_t count, room, max, slot_mask;
	uint64_t seed;
	struct pair_table *pairs;
	struct capture_totals totals;
	struct flow_events events;
};

void flow_table_free(struct flow_table *t)
{
	if (!t)
		return;
	free(t->entry);
	free(t->slot);
	pair_table_free(t->pairs);
	free(t);
}

/* Puts all entries into slots anew. */
static void fill_slots(struct flow_table *t)
{
	uint32_t i;

	memset(t->slot, 0, ((size_t)t->slot_mask + 1) * sizeof(*t->slot));
	for (i = 0; i < t->count; i++) {
		uint32_t at = (uint32_t)t->entry[i].hash & t->slot_mask;

		while (t->slot[at])
			at = (at + 1) & t->slot_mask;
		t->slot[at] = i + 1;
	}
}

static int grow(struct flow_table *t, uint32_t room)
{
	uint32_t slots = 2 * ENTRIES_FIRST;
	struct entry *entry;
	uint32_t *slot;

	while (slots < 2 * room)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	entry = realloc(t->entry, room * sizeof(*entry));
	if (!entry) {
		free(slot);
		return -ENOMEM;
	}
	free(t->slot);
	t->entry = entry;
	t->slot = slot;
	t->room = room;
	t->slot_mask = slots - 1;
	fill_slots(t);
	return 0;
}

struct flow_table *flow_table_new(unsigned int max_flows)
{
	struct flow_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max_flows ? max_flows : FLOWS_MAX_DEFAULT;
	if (t->max > 1U << 24)
		t->max = 1U << 24;
	/* Without randomness the hash works as well, only a sender could aim at it. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = 0;
	t->pairs = pair_table_new();
	if (!t->pairs || grow(t, t->max < ENTRIES_FIRST ? t->max : ENTRIES_FIRST) < 0) {
		flow_table_free(t);
		return NULL;
	}
	return t;
}

/* Both halves of a product of 128 bits: every bit of a and b reaches the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hosts_of(const uint8_t src[16], const uint8_t dst[16])
{
	uint64_t word[4];

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	return mix(word[0] ^ UINT64_C(0xe7037ed1a0b428db), word[1] ^ UINT64_C(0xa0761d6478bd642f)) ^
	       mix(word[2] ^ UINT64_C(0x8ebc6af09c88c6e3), word[3] ^ UINT64_C(0x9e3779b97f4a7c15));
}

/* The three products do not wait for each other. */
static uint64_t hash_of(const struct flow_table *t, const struct packet *p)
{
	static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word[4], h;

	memcpy(word, p->src, 16);
	memcpy(word + 2, p->dst, 16);
	h = mix(word[0] ^ t->seed ^ odd, word[1] ^ UINT64_C(0xa0761d6478bd642f));
	h ^= mix(word[2] ^ t->seed ^ UINT64_C(0xe7037ed1a0b428db), word[3] ^ odd);
	h ^= mix(p->dest_qpn ^ t->seed, UINT64_C(0x8ebc6af09c88c6e3));
	return mix(h ^ t->seed, odd);
}

static int compare_frames(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The entries below `kept` still have the numbers that they had among `count`. */
static void renumber(struct flow_table *t, uint32_t count, uint32_t kept)
{
	uint32_t i, low, high;

	for (i = 0; i < kept; i++) {
		struct entry *e = &t->entry[i];

		/* Their old numbers ascend. */
		for (low = 0, high = kept; e->peer < count && low < high;) {
			uint32_t mid = (low + high) / 2;

			if (t->entry[mid].id < e->peer)
				low = mid + 1;
			else
				high = mid;
		}
		if (e->peer < count && low < kept && t->entry[low].id == e->peer)
			e->peer = low;
		else
			e->peer = PAIR_NONE;
		e->candidate = PAIR_NONE;
	}
	for (i = 0; i < kept; i++)
		t->entry[i].id = i;
	pair_forget(t->pairs);
}

/* Makes room by forgetting the flows that were idle longest; the others keep their order. */
static int evict(struct flow_table *t)
{
	uint64_t *last = malloc(t->count * sizeof(*last));
	uint32_t i, kept = 0, drop = t->count / 8 ? t->count / 8 : 1;
	uint64_t limit;

	if (!last)
		return -ENOMEM;
	for (i = 0; i < t->count; i++)
		last[i] = t->entry[i].flow.last_frame;
	qsort(last, t->count, sizeof(*last), compare_frames);
	limit = last[drop - 1];
	free(last);
	for (i = 0; i < t->count; i++) {
		if (drop && t->entry[i].flow.last_frame <= limit) {
			drop--;
			t->totals.evicted_flows++;
			continue;
		}
		if (kept != i)
			t->entry[kept] = t->entry[i];
		kept++;
	}
	renumber(t, t->count, kept);
	t->count = kept;
	fill_slots(t);
	return 0;
}

static int make_room(struct flow_table *t)
{
	uint32_t room = t->room * 2 < t->max ? t->room * 2 : t->max;

	if (t->count < t->room)
		return 0;
	return t->room < t->max ? grow(t, room) : evict(t);
}

static bool is_flow_of(const struct entry *e, uint64_t hash, const struct packet *p)
{
	return e->hash == hash && e->flow.dest_qpn == p->dest_qpn &&
	       !memcmp(e->flow.src, p->src, sizeof(p->src)) &&
	       !memcmp(e->flow.dst, p->dst, sizeof(p->dst));
}

static struct entry *entry_new(struct flow_table *t, uint64_t hash, const struct packet *p)
{
	struct entry *e = &t->entry[t->count];
	uint32_t at = (uint32_t)hash & t->slot_mask;

	memset(e, 0, sizeof(*e));
	e->hash = hash;
	memcpy(e->flow.src, p->src, sizeof(p->src));
	memcpy(e->flow.dst, p->dst, sizeof(p->dst));
	e->flow.dest_qpn = p->dest_qpn;
	e->flow.sport = p->sport;
	e->flow.encap = p->encap;
	e->flow.first_ns = p->time_ns;
	e->flow.first_frame = p->frame;
	e->hosts = hosts_of(p->src, p->dst);
	e->hosts_back = hosts_of(p->dst, p->src);
	e->id = t->count;
	e->peer = e->candidate = PAIR_NONE;
	while (t->slot[at])
		at = (at + 1) & t->slot_mask;
	t->slot[at] = ++t->count;
	return e;
}

/* Finds or makes the flow of a packet. NULL on -ENOMEM. */
static struct entry *entry_of(struct flow_table *t, const struct packet *p)
{
	uint64_t hash = hash_of(t, p);
	uint32_t at = (uint32_t)hash & t->slot_mask;

	for (; t->slot[at]; at = (at + 1) & t->slot_mask)
		if (is_flow_of(&t->entry[t->slot[at] - 1], hash, p))
			return &t->entry[t->slot[at] - 1];
	if (make_room(t) < 0)
		return NULL;
	return entry_new(t, hash, p);
}

/* ACK, NAK and RNR of an AETH; READ responses carry an AETH too, but are no ACK packets. */
static void count_aeth(struct flow *f, const struct packet *p, uint8_t op_flags,
		       struct flow_events *ev)
{
	switch (packet_aeth_kind(p)) {
	case AETH_ACK:
		f->acks += !!(op_flags & OP_ACK);
		break;
	case AETH_RNR:
		f->rnr++;
		ev->bits |= FLOW_RNR;
		break;
	case AETH_NAK:
		if (p->aeth.syndrome & 0x1f) {
			f->naks_other++;
			ev->bits |= FLOW_NAK_OTHER;
		} else {
			f->naks_seq++;
			ev->bits |= FLOW_NAK_SEQ;
		}
		break;
	case AETH_RESERVED:
		break;
	}
}

static void count_icrc(struct flow *f, const struct packet *p, struct flow_events *ev)
{
	f->icrc_good += p->icrc == ICRC_GOOD;
	f->icrc_unverifiable += p->icrc == ICRC_UNVERIFIABLE;
	if (p->icrc == ICRC_BAD) {
		f->icrc_bad++;
		ev->bits |= FLOW_ICRC_BAD;
	}
}

/* Datagrams of a QP go to many receivers and share one PSN counter: UD PSNs say nothing about loss.
 */
static bool has_psn_order(uint8_t opcode)
{
	return opcode_class(opcode) != OPCODE_CLASS_UD;
}

static void count_packet(struct flow *f, const struct packet *p, struct flow_events *ev)
{
	const struct opcode_info *op = opcode_info(p->opcode);

	f->packets++;
	f->payload_bytes += p->payload_len;
	f->requests += !!(op->flags & OP_REQUEST);
	f->responses += !!(op->flags & OP_RESPONSE);
	f->ecn[p->ecn & 3]++;
	f->dscp[p->dscp & 63]++;
	f->last_frame = p->frame;
	if (p->payload_len > f->max_payload)
		f->max_payload = p->payload_len;
	if ((p->ecn & 3) == 3)
		ev->bits |= FLOW_CE;
	if (p->opcode == OPCODE_CNP) {
		f->cnp++;
		ev->bits |= FLOW_CNP;
	}
	if (p->fragment)
		ev->bits |= FLOW_FRAGMENT;
	count_icrc(f, p, ev);
	if (p->headers & HDR_AETH)
		count_aeth(f, p, op->flags, ev);
}

static void pair(struct entry *a, struct entry *b)
{
	a->peer = b->id;
	b->peer = a->id;
	a->flow.paired = b->flow.paired = true;
	a->flow.peer_qpn = b->flow.dest_qpn;
	b->flow.peer_qpn = a->flow.dest_qpn;
}

/* The flow that a response answers to, as far as it is known. */
static struct entry *peer_of(struct flow_table *t, struct entry *e, const struct packet *p)
{
	bool same_port = false;
	uint32_t id;

	if (e->peer != PAIR_NONE)
		return &t->entry[e->peer];
	id = pair_find(t->pairs, e->hosts_back, p, &same_port);
	if (id >= t->count || t->entry[id].peer != PAIR_NONE || id == e->id ||
	    memcmp(t->entry[id].flow.src, e->flow.dst, 16) ||
	    memcmp(t->entry[id].flow.dst, e->flow.src, 16))
		return NULL;
	if (!same_port && id != e->candidate) {
		e->candidate = id;
		return NULL;
	}
	pair(e, &t->entry[id]);
	return &t->entry[id];
}

static void judge_request(struct flow_table *t, struct entry *e, const struct packet *p)
{
	stream_request(&e->stream, p, &e->flow, &t->events);
	if (e->peer == PAIR_NONE && opcode_class(p->opcode) != OPCODE_CLASS_UC &&
	    (p->ackreq || e->flow.requests < UNPAIRED_REQUESTS))
		pair_note(t->pairs, e->hosts, p, e->id);
}

/* What a packet says beyond its own flow's counters. A packet with a bad ICRC says nothing: the
 * receiver drops it. */
static void judge(struct flow_table *t, struct entry *e, const struct packet *p)
{
	uint8_t flags = opcode_info(p->opcode)->flags;
	bool believed = p->icrc != ICRC_BAD && p->fault != PACKET_MALFORMED;
	bool request = (flags & OP_REQUEST) && has_psn_order(p->opcode);
	struct entry *peer;

	if (request && believed) {
		judge_request(t, e, p);
	} else if (stream_is_copy(&e->stream, p, &e->flow)) {
		e->flow.copies++;
		t->events.bits |= FLOW_COPY;
	} else if (request && p->icrc == ICRC_BAD) {
		stream_bad_request(&e->stream, p);
	} else if ((flags & OP_RESPONSE) && believed && p->opcode != OPCODE_CNP) {
		peer = peer_of(t, e, p);
		if (peer)
			stream_answer(&peer->stream, p, &peer->flow);
	}
}

static void count_totals(struct capture_totals *s, const struct packet *p)
{
	unsigned int i;

	s->frames++;
	s->truncated += p->fault == PACKET_TRUNCATED;
	s->malformed += p->fault == PACKET_MALFORMED;
	switch ((enum packet_kind)p->kind) {
	case PACKET_OTHER:
		s->other++;
		break;
	case PACKET_ROCE:
		s->roce++;
		s->cnp += p->bth && p->opcode == OPCODE_CNP;
		break;
	case PACKET_PFC:
		s->pfc_frames++;
		for (i = 0; i < ARRAY_SIZE(s->pfc_by_prio); i++)
			s->pfc_by_prio[i] += (p->pfc_enable >> i) & 1;
		break;
	case PACKET_PAUSE:
		s->pause_frames++;
		break;
	case PACKET_LLDP:
		s->lldp++;
		break;
	}
}

int flow_table_add(struct flow_table *t, const struct packet *p)
{
	struct entry *e;

	memset(&t->events, 0, sizeof(t->events));
	if (p->kind == PACKET_ROCE && p->bth) {
		e = entry_of(t, p);
		if (!e)
			return -ENOMEM;
		count_packet(&e->flow, p, &t->events);
		judge(t, e, p);
		e->flow.last_ns = p->time_ns;
	}
	count_totals(&t->totals, p);
	return 0;
}

const struct capture_totals *flow_table_totals(const struct flow_table *t)
{
	return &t->totals;
}

unsigned int flow_table_count(const struct flow_table *t)
{
	return t->count;
}

void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f)
{
	if (i >= t->count)
		return;
	*f = t->entry[i].flow;
	stream_end(&t->entry[i].stream, f);
}

struct flow_events flow_table_events(const struct flow_table *t)
{
	return t->events;
}
