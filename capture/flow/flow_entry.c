/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow table: entries in order of their first packet, found through an open-addressing hash
 * with a random seed, because addresses and QPNs come from the wire. Memory is bounded: when the
 * table is full, the eighth of the flows that was idle longest makes room, and is counted. What
 * only few flows have is lent for each packet, and kept when something was put there: in a capture
 * of many flows, memory that has to be cleared and fetched takes more time than packets.
 */
#include "capture/flow/flow_entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "capture/decode/opcode.h"

#define FLOWS_MAX_DEFAULT  65536U
#define ENTRIES_FIRST	   64U
#define SLOTS_EACH	   8U /* most are found in the first place, */
#define SLOTS_EACH_OF_MANY 2U /* but caches are small */
#define ROOM_SMALL	   4096U
#define HUGE_PAGE	   ((size_t)2 << 20)

/* Both halves of a product of 128 bits: every bit of a and b reaches the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t flow_hosts(const uint8_t src[16], const uint8_t dst[16])
{
	uint64_t word[4];

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	return mix(word[0] ^ UINT64_C(0xe7037ed1a0b428db), word[1] ^ UINT64_C(0xa0761d6478bd642f)) ^
	       mix(word[2] ^ UINT64_C(0x8ebc6af09c88c6e3), word[3] ^ UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t hash_of(const struct flow_table *t, const uint8_t src[16], const uint8_t dst[16],
			uint32_t dest_qpn)
{
	uint64_t word[4], h;

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	h = mix(word[0] ^ t->seed, word[1] ^ UINT64_C(0xa0761d6478bd642f));
	h ^= mix(word[2] ^ UINT64_C(0xe7037ed1a0b428db), word[3] ^ t->seed);
	return mix(h ^ dest_qpn, t->seed | 1);
}

/* What slots are known apart by, as far as it goes. */
static uint8_t tag_of(uint64_t hash)
{
	return (uint8_t)(hash >> 56);
}

static void put_slot(struct flow_table *t, uint64_t hash, uint32_t id)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	while (t->slot[at].id)
		at = (at + 1) & t->slot_mask;
	t->slot[at] = (struct flow_slot){.tag = tag_of(hash), .id = (id + 1) & FLOWS_LIMIT};
}

/* Puts all entries into slots anew. */
static void fill_slots(struct flow_table *t)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		const struct flow_core *f = &t->entry[i].flow;

		put_slot(t, hash_of(t, f->src, f->dst, f->dest_qpn), i);
	}
}

/* Room for entries, from the edge of a page where they are many: those that are not used yet cost
 * nothing, and the others come in large pages. */
static struct flow_entry *entries_new(uint32_t room)
{
	size_t bytes = room * sizeof(struct flow_entry);
	size_t unit = bytes < HUGE_PAGE ? _Alignof(struct flow_entry) : HUGE_PAGE;
	struct flow_entry *entry = aligned_alloc(unit, (bytes + unit - 1) & ~(unit - 1));

	if (entry && unit == HUGE_PAGE)
		(void)madvise(entry, bytes, MADV_HUGEPAGE); /* only faster */
	return entry;
}

static int grow(struct flow_table *t, uint32_t room)
{
	uint32_t slots = SLOTS_EACH * ENTRIES_FIRST;
	uint32_t each = room > ROOM_SMALL ? SLOTS_EACH_OF_MANY : SLOTS_EACH;
	struct flow_entry *entry;
	struct flow_slot *slot;

	while (slots < each * room)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	entry = entries_new(room);
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
	fill_slots(t);
	return 0;
}

/* Nothing is lent to it. */
static void forget(struct flow_entry *e)
{
	free(flow_entry_more(e));
	free(e->stream.read);
}

void flow_table_free(struct flow_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++)
		forget(&t->entry[i]);
	free(t->entry);
	free(t->slot);
	pair_table_free(t->pairs);
	connect_table_free(t->connections);
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
		struct flow_entry *e = &t->entry[i];

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
			forget(&t->entry[i]);
			t->totals.evicted_flows++;
			continue;
		}
		if (kept != i)
			t->entry[kept] = t->entry[i];
		kept++;
	}
	renumber(t, t->count, kept);
	t->count = kept;
	memset(t->slot, 0, ((size_t)t->slot_mask + 1) * sizeof(*t->slot));
	fill_slots(t);
	return 0;
}

static int make_room(struct flow_table *t)
{
	uint32_t room = t->room * 2 < t->max ? t->room * 2 : t->max;

	if (t->count < t->room)
		return 0;
	if (t->room == t->max)
		return evict(t);
	/* What is not used costs nothing, but would have to be moved once more. */
	if (room > ROOM_SMALL && !grow(t, t->max))
		return 0;
	return grow(t, room);
}

static bool is_flow_of(const struct flow_entry *e, const uint8_t src[16], const uint8_t dst[16],
		       uint32_t dest_qpn)
{
	return e->flow.dest_qpn == dest_qpn && !memcmp(e->flow.src, src, 16) &&
	       !memcmp(e->flow.dst, dst, 16);
}

static struct flow_entry *find(struct flow_table *t, uint64_t hash, const uint8_t src[16],
			       const uint8_t dst[16], uint32_t dest_qpn)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	for (; t->slot[at].id; at = (at + 1) & t->slot_mask) {
		struct flow_entry *e = &t->entry[t->slot[at].id - 1];

		if (t->slot[at].tag == tag_of(hash) && is_flow_of(e, src, dst, dest_qpn))
			return e;
	}
	return NULL;
}

#define CACHE_LINE 64

void flow_table_fetch(const struct flow_table *t, const struct packet *p, unsigned int count)
{
	const struct flow_slot *slot[FLOW_AHEAD];

	for (unsigned int i = 0; i < count; i++) {
		slot[i] = &t->slot[hash_of(t, p[i].src, p[i].dst, p[i].dest_qpn) & t->slot_mask];
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
	return find(t, hash_of(t, src, dst, dest_qpn), src, dst, dest_qpn);
}

void flow_entry_pair(struct flow_entry *a, struct flow_entry *b)
{
	a->peer = b->id;
	b->peer = a->id;
	a->strangers = b->strangers = 0;
	a->flow.paired = b->flow.paired = true;
	a->flow.peer_qpn = b->flow.dest_qpn;
	b->flow.peer_qpn = a->flow.dest_qpn;
}

int flow_entry_connect(struct flow_table *t, struct flow_entry *e, const struct connection *c)
{
	struct flow_entry *peer = flow_entry_find(t, e->flow.dst, e->flow.src, c->peer_qpn);

	if (e->peer != PAIR_NONE && (!peer || e->peer != peer->id)) {
		t->entry[e->peer].peer = PAIR_NONE;
		e->peer = PAIR_NONE;
	}
	flow_entry_lend(t, e, 0);
	stream_connect(&e->stream, &flow_entry_more(e)->flow, c);
	e->flow.answers = (struct answers){0};
	if (peer && peer->peer == PAIR_NONE)
		flow_entry_pair(e, peer);
	return flow_entry_keep(t, e, 0);
}

static struct flow_entry *entry_new(struct flow_table *t, uint64_t hash, const struct packet *p)
{
	struct flow_entry *e = &t->entry[t->count];

	memset(e, 0, sizeof(*e));
	memcpy(e->flow.src, p->src, sizeof(p->src));
	memcpy(e->flow.dst, p->dst, sizeof(p->dst));
	e->flow.dest_qpn = p->dest_qpn;
	e->id = t->count;
	e->peer = e->candidate = PAIR_NONE;
	put_slot(t, hash, t->count++);
	e->flow.sport = p->sport;
	e->flow.encap = p->encap & 3;
	e->flow.service = opcode_class(p->opcode) & 7;
	e->flow.first_ns = p->time_ns;
	e->flow.first_frame = p->frame;
	if (t->connections) {
		const struct connection *c = connect_find(t->connections, p->src, p->dst,
							  p->dest_qpn);

		if (c && flow_entry_connect(t, e, c) < 0)
			return NULL;
	}
	return e;
}

struct flow_entry *flow_entry_of(struct flow_table *t, const struct packet *p)
{
	uint64_t hash = hash_of(t, p->src, p->dst, p->dest_qpn);
	struct flow_entry *e = find(t, hash, p->src, p->dst, p->dest_qpn);

	if (e)
		return e;
	if (make_room(t) < 0)
		return NULL;
	return entry_new(t, hash, p);
}

static void add_class(struct flow *f, uint8_t tclass, uint64_t packets)
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
		add_class(more, tclass, 1);
	}
}

void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f)
{
	const struct flow_entry *e = &t->entry[i];
	const struct flow_core *c = &e->flow;

	if (i >= t->count)
		return;
	if (e->stream.more)
		*f = flow_entry_more(e)->flow;
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
	f->peer_qpn = c->peer_qpn;
	f->first_ns = c->first_ns;
	f->first_frame = c->first_frame;
	for (unsigned int k = 0; k < FLOW_CLASSES; k++)
		add_class(f, c->tclass[k], c->class_packets[k]);
	f->icrc_unverifiable = f->packets - f->icrc_good - f->icrc_bad;
	stream_end(&e->stream, f);
}

/* Its gaps mean nothing without their number, and packets are counted beside their class. */
static bool is_used(const struct flow_more *more)
{
	static const struct flow_more unused;
	const size_t counters = offsetof(struct flow, dscp) - offsetof(struct flow, packets);

	return memcmp(&more->flow.packets, &unused.flow.packets, counters) != 0 ||
	       memcmp(&more->stream, &unused.stream, offsetof(struct stream_more, gap)) != 0;
}

/* The same after a packet that was no event, which most are: of what may be used without one. */
static bool is_used_quietly(const struct flow_more *more)
{
	const struct flow *f = &more->flow;

	return (f->packets | f->psn_unjudged | f->new_connections | more->stream.timeout_ns) != 0;
}

static int keep_more(const struct flow_table *t, struct flow_entry *e, struct flow_more *lent)
{
	bool used = t->events.bits ? is_used(lent) : is_used_quietly(lent);
	struct flow_more *own = used ? malloc(sizeof(*own)) : NULL;

	e->stream.more = NULL;
	e->stream.psn.gap = NULL;
	if (own) {
		*own = *lent;
		e->stream.more = &own->stream;
		e->stream.psn.gap = own->stream.gap;
	} else {
		e->stream.psn.gap_count = 0;
		e->stream.pending = false;
	}
	if (used)
		memset(lent, 0, sizeof(*lent));
	return used && !own ? -ENOMEM : 0;
}

static int keep_reads(struct stream *s)
{
	const struct stream_read *lent = s->read;
	size_t bytes = STREAM_READS * sizeof(*lent);
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

int flow_entry_keep_lent(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	int err = 0, read_err = 0;

	if (e->stream.more == &t->more[i].stream)
		err = keep_more(t, e, &t->more[i]);
	if (e->stream.read == t->read[i])
		read_err = keep_reads(&e->stream);
	return err ? err : read_err;
}
