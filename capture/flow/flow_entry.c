/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flow table: entries in order of their first packet, found through an open-addressing hash with a
 * random seed, because addresses and QPNs come from the wire. Memory is bounded: a full table
 * evicts and counts the eighth of its flows that was idle longest. Rarely used state is lent per
 * packet and kept only when used: with many flows, clearing and fetching memory takes more time
 * than the packets.
 */
#include "capture/flow/flow_entry_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "capture/decode/opcode.h"
#include "capture/flow/flow_hash.h"

#define FLOWS_MAX_DEFAULT  65536U
#define ENTRIES_FIRST	   64U
#define SLOTS_EACH	   8U /* most flows are in their first slot, */
#define SLOTS_EACH_OF_MANY 2U /* but caches are small */
#define ROOM_SMALL	   4096U
#define HUGE_PAGE	   ((size_t)2 << 20)

/* Short hash in a slot. */
static uint8_t entry_hash_tag(uint64_t hash)
{
	return (uint8_t)(hash >> 56);
}

static void entry_insert_slot(struct flow_table *t, uint64_t hash, uint32_t id)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	while (t->slot[at].id)
		at = (at + 1) & t->slot_mask;
	t->slot[at] = (struct flow_slot){.tag = entry_hash_tag(hash), .id = (id + 1) & FLOWS_LIMIT};
}

/* Refills all slots. */
static void entry_fill_slots(struct flow_table *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		const struct flow_core *f = &t->entry[i].flow;

		entry_insert_slot(t, flow_hash(t->seed, f->src, f->dst, f->dest_qpn), i);
	}
}

/* Allocates entries, page-aligned for a large table: unused pages cost nothing, and used ones are
 * huge pages. */
static struct flow_entry *entry_alloc(uint32_t room)
{
	size_t bytes = room * sizeof(struct flow_entry);
	size_t unit = bytes < HUGE_PAGE ? _Alignof(struct flow_entry) : HUGE_PAGE;
	struct flow_entry *entry = aligned_alloc(unit, (bytes + unit - 1) & ~(unit - 1));

	if (entry && unit == HUGE_PAGE)
		(void)madvise(entry, bytes, MADV_HUGEPAGE); /* only faster */
	return entry;
}

static int flow_table_grow(struct flow_table *t, uint32_t room)
{
	uint32_t slots = SLOTS_EACH * ENTRIES_FIRST;
	uint32_t each = room > ROOM_SMALL ? SLOTS_EACH_OF_MANY : SLOTS_EACH;
	struct flow_entry *entry;
	struct flow_slot *slot;

	while (slots < each * room)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	entry = entry_alloc(room);
	if (!slot || !entry) {
		free(slot);
		free(entry);
		return -ENOMEM;
	}
	if (t->count)
		memcpy(entry, t->entry, t->count * sizeof(*entry));
	free(t->slot);
	free(t->entry);
	t->entry = entry;
	t->slot = slot;
	t->room = room;
	t->slot_mask = slots - 1;
	entry_fill_slots(t);
	return 0;
}

/* The entry must not use scratch memory. */
static void entry_free(struct flow_entry *e)
{
	free(flow_entry_ext(e));
	free(e->requester.read);
}

void flow_table_free(struct flow_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++)
		entry_free(&t->entry[i]);
	free(t->entry);
	free(t->slot);
	pairing_psn_free(t->pairs);
	pairing_cm_free(t->connections);
	free(t);
}

struct flow_table *flow_table_new(unsigned int max_flows)
{
	struct flow_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max_flows ? max_flows : FLOWS_MAX_DEFAULT;
	if (t->max > FLOWS_LIMIT)
		t->max = FLOWS_LIMIT;
	/* With a known seed the hash works, but a sender could cause collisions. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = FLOW_HASH_SEED;
	t->pairs = pairing_psn_new();
	if (!t->pairs || flow_table_grow(t, t->max < ENTRIES_FIRST ? t->max : ENTRIES_FIRST) < 0) {
		flow_table_free(t);
		return NULL;
	}
	return t;
}

static int entry_compare_frames(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Entries below `kept` still have their ids from a table of `count`. */
static void flow_table_renumber(struct flow_table *t, uint32_t count, uint32_t kept)
{
	uint32_t i, low, high;

	for (i = 0; i < kept; i++) {
		struct flow_entry *e = &t->entry[i];

		/* Old ids are ascending. */
		for (low = 0, high = kept; e->reverse_flow < count && low < high;) {
			uint32_t mid = (low + high) / 2;

			if (t->entry[mid].id < e->reverse_flow)
				low = mid + 1;
			else
				high = mid;
		}
		if (e->reverse_flow < count && low < kept && t->entry[low].id == e->reverse_flow)
			e->reverse_flow = low;
		else
			e->reverse_flow = PAIRING_NONE;
		e->candidate = PAIRING_NONE;
	}
	for (i = 0; i < kept; i++)
		t->entry[i].id = i;
	pairing_psn_clear(t->pairs);
}

/* Evicts the flows that were idle longest; the others keep their order. */
static int flow_table_evict(struct flow_table *t)
{
	uint64_t *last = malloc(t->count * sizeof(*last));
	uint32_t i, kept = 0, drop = t->count / 8 ? t->count / 8 : 1;
	uint64_t limit;

	if (!last)
		return -ENOMEM;
	for (i = 0; i < t->count; i++)
		last[i] = t->entry[i].flow.last_frame;
	qsort(last, t->count, sizeof(*last), entry_compare_frames);
	limit = last[drop - 1];
	free(last);
	for (i = 0; i < t->count; i++) {
		if (drop && t->entry[i].flow.last_frame <= limit) {
			drop--;
			entry_free(&t->entry[i]);
			t->totals.evicted_flows++;
			continue;
		}
		if (kept != i)
			t->entry[kept] = t->entry[i];
		kept++;
	}
	flow_table_renumber(t, t->count, kept);
	t->count = kept;
	memset(t->slot, 0, ((size_t)t->slot_mask + 1) * sizeof(*t->slot));
	entry_fill_slots(t);
	return 0;
}

static int flow_table_make_room(struct flow_table *t)
{
	uint32_t room = t->room * 2 < t->max ? t->room * 2 : t->max;

	if (t->count < t->room)
		return 0;
	if (t->room == t->max)
		return flow_table_evict(t);
	/* Unused memory costs nothing, but growing again moves all entries. */
	if (room > ROOM_SMALL && !flow_table_grow(t, t->max))
		return 0;
	return flow_table_grow(t, room);
}

static bool entry_matches(const struct flow_entry *e, const uint8_t src[16], const uint8_t dst[16],
			  uint32_t dest_qpn)
{
	return e->flow.dest_qpn == dest_qpn && !memcmp(e->flow.src, src, 16) &&
	       !memcmp(e->flow.dst, dst, 16);
}

static struct flow_entry *entry_find(struct flow_table *t, uint64_t hash, const uint8_t src[16],
				     const uint8_t dst[16], uint32_t dest_qpn)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	for (; t->slot[at].id; at = (at + 1) & t->slot_mask) {
		struct flow_entry *e = &t->entry[t->slot[at].id - 1];

		if (t->slot[at].tag == entry_hash_tag(hash) && entry_matches(e, src, dst, dest_qpn))
			return e;
	}
	return NULL;
}

#define CACHE_LINE 64

void flow_table_prefetch(const struct flow_table *t, const struct packet *p, unsigned int count)
{
	const struct flow_slot *slot[FLOW_AHEAD];

	for (unsigned int i = 0; i < count; i++) {
		slot[i] = &t->slot[flow_hash(t->seed, p[i].src, p[i].dst, p[i].dest_qpn) &
				   t->slot_mask];
		__builtin_prefetch(slot[i]);
	}
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t *entry = (const uint8_t *)&t->entry[slot[i]->id - 1];

		for (size_t k = 0; slot[i]->id && k < sizeof(*t->entry); k += CACHE_LINE)
			__builtin_prefetch(entry + k, 1);
	}
}

struct flow_entry *flow_entry_find(struct flow_table *t, const uint8_t src[16],
				   const uint8_t dst[16], uint32_t dest_qpn)
{
	return entry_find(t, flow_hash(t->seed, src, dst, dest_qpn), src, dst, dest_qpn);
}

void flow_entry_pair(struct flow_entry *a, struct flow_entry *b)
{
	a->reverse_flow = b->id;
	b->reverse_flow = a->id;
	a->unmatched = b->unmatched = 0;
	a->flow.paired = b->flow.paired = true;
	a->flow.reverse_qpn = b->flow.dest_qpn;
	b->flow.reverse_qpn = a->flow.dest_qpn;
}

int flow_entry_set_connection(struct flow_table *t, struct flow_entry *e,
			      const struct connection *c)
{
	struct flow_entry *peer = flow_entry_find(t, e->flow.dst, e->flow.src, c->reverse_qpn);

	if (e->reverse_flow != PAIRING_NONE && (!peer || e->reverse_flow != peer->id)) {
		t->entry[e->reverse_flow].reverse_flow = PAIRING_NONE;
		e->reverse_flow = PAIRING_NONE;
	}
	flow_entry_use_scratch(t, e, 0);
	requester_set_connection(&e->requester, &flow_entry_ext(e)->flow, c);
	e->flow.responder = (struct responder_state){0};
	if (peer && peer->reverse_flow == PAIRING_NONE)
		flow_entry_pair(e, peer);
	return flow_entry_keep_scratch(t, e, 0);
}

static struct flow_entry *entry_new(struct flow_table *t, uint64_t hash, const struct packet *p)
{
	struct flow_entry *e = &t->entry[t->count];

	memset(e, 0, sizeof(*e));
	memcpy(e->flow.src, p->src, sizeof(p->src));
	memcpy(e->flow.dst, p->dst, sizeof(p->dst));
	e->flow.dest_qpn = p->dest_qpn;
	e->id = t->count;
	e->reverse_flow = e->candidate = PAIRING_NONE;
	entry_insert_slot(t, hash, t->count++);
	e->flow.sport = p->sport;
	e->flow.encap = p->encap & 3;
	e->flow.service = opcode_class(p->opcode) & 7;
	e->flow.first_ns = p->time_ns;
	e->flow.first_frame = p->frame;
	if (t->connections) {
		const struct connection *c = pairing_cm_find(t->connections, p->src, p->dst,
							     p->dest_qpn);

		if (c && flow_entry_set_connection(t, e, c) < 0)
			return NULL;
	}
	return e;
}

struct flow_entry *flow_entry_get(struct flow_table *t, const struct packet *p)
{
	uint64_t hash = flow_hash(t->seed, p->src, p->dst, p->dest_qpn);
	struct flow_entry *e = entry_find(t, hash, p->src, p->dst, p->dest_qpn);

	if (e)
		return e;
	if (flow_table_make_room(t) < 0)
		return NULL;
	return entry_new(t, hash, p);
}

static void flow_add_class(struct flow *f, uint8_t tclass, uint64_t packets)
{
	f->packets += packets;
	f->ecn[tclass & 3] += packets;
	f->dscp[tclass >> 2] += packets;
}

void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass)
{
	unsigned int i = 0;

	while (i < FLOW_CLASSES && f->class_packets[i] && f->tclass[i] != tclass)
		i++;
	if (i < FLOW_CLASSES) {
		f->tclass[i] = tclass;
		f->class_packets[i]++;
	} else {
		flow_add_class(more, tclass, 1);
	}
}

void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f)
{
	const struct flow_entry *e;
	const struct flow_core *c;

	if (i >= t->count)
		return;
	e = &t->entry[i];
	c = &e->flow;
	if (e->requester.loss)
		*f = flow_entry_ext(e)->flow;
	else
		memset(f, 0, sizeof(*f));
	memcpy(f->src, c->src, sizeof(f->src));
	memcpy(f->dst, c->dst, sizeof(f->dst));
	f->dest_qpn = c->dest_qpn;
	f->sport = c->sport;
	f->encap = c->encap;
	f->service = c->service;
	f->max_payload = c->max_payload;
	f->payload_bytes = c->payload_bytes;
	f->requests = c->requests;
	f->responses = c->responses;
	f->last_ns = c->last_ns;
	f->last_frame = c->last_frame;
	f->icrc_good = c->icrc_good;
	f->acks = c->acks;
	f->held_unknown = c->held_unknown;
	f->paired = c->paired;
	f->reverse_qpn = c->reverse_qpn;
	f->first_ns = c->first_ns;
	f->first_frame = c->first_frame;
	for (unsigned int k = 0; k < FLOW_CLASSES; k++)
		flow_add_class(f, c->tclass[k], c->class_packets[k]);
	f->icrc_unverifiable = f->packets - f->icrc_good - f->icrc_bad;
	requester_finish(&e->requester, f);
}

/* Ignores gaps (their count decides) and packets (the class counters have them). */
static bool entry_ext_is_used(const struct flow_ext *more)
{
	static const struct flow_ext unused;
	const size_t counters = offsetof(struct flow, dscp) - offsetof(struct flow, packets);

	return memcmp(&more->flow.packets, &unused.flow.packets, counters) != 0 ||
	       memcmp(&more->loss, &unused.loss, offsetof(struct requester_loss_state, gap)) != 0;
}

/* The same after a packet without events, as most are: checks only fields that such a packet may
 * set. */
static bool entry_ext_is_used_quietly(const struct flow_ext *more)
{
	const struct flow *f = &more->flow;

	return (f->packets | f->psn_unjudged | f->new_connections | more->loss.timeout_ns) != 0;
}

static int entry_keep_ext(const struct flow_table *t, struct flow_entry *e, struct flow_ext *lent)
{
	bool used = t->events.bits ? entry_ext_is_used(lent) : entry_ext_is_used_quietly(lent);
	struct flow_ext *own = used ? malloc(sizeof(*own)) : NULL;

	e->requester.loss = NULL;
	e->requester.psn.gap = NULL;
	if (own) {
		*own = *lent;
		e->requester.loss = &own->loss;
		e->requester.psn.gap = own->loss.gap;
	} else {
		e->requester.psn.gap_count = 0;
		e->requester.pending = false;
	}
	if (used)
		memset(lent, 0, sizeof(*lent));
	return used && !own ? -ENOMEM : 0;
}

static int entry_keep_reads(struct requester_state *s)
{
	const struct requester_read *lent = s->read;
	size_t bytes = REQUESTER_READS * sizeof(*lent);
	int err;

	s->read = s->read_count ? malloc(bytes) : NULL;
	if (s->read) {
		memcpy(s->read, lent, bytes);
		return 0;
	}
	err = s->read_count ? -ENOMEM : 0;
	s->read_count = 0;
	return err;
}

int flow_entry_copy_scratch(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	int err = 0, read_err = 0;

	if (e->requester.loss == &t->scratch[i].loss)
		err = entry_keep_ext(t, e, &t->scratch[i]);
	if (e->requester.read == t->scratch_read[i])
		read_err = entry_keep_reads(&e->requester);
	return err ? err : read_err;
}
