/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow table: entries in order of their first packet, found through an open-addressing hash
 * with a random seed, because addresses and QPNs come from the wire. Memory is bounded: when the
 * table is full, the eighth of the flows that was idle longest makes room, and is counted.
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

/* Memory that costs nothing until it is used, and then comes in large pages. NULL: there is none.
 */
static void *reserve(size_t bytes)
{
	uint8_t *p, *begin;

	p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	begin = (uint8_t *)(((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	if (begin > p)
		munmap(p, (size_t)(begin - p));
	if (begin < p + HUGE_PAGE)
		munmap(begin + bytes, (size_t)(p + HUGE_PAGE - begin));
	(void)madvise(begin, bytes, MADV_HUGEPAGE); /* only faster */
	return begin;
}

/* Of an array; those that are large are reserved. */
static size_t bytes_of(uint32_t room, size_t each)
{
	size_t unit = room * each < HUGE_PAGE ? __alignof__(struct flow_entry) : HUGE_PAGE;

	return (room * each + unit - 1) & ~(unit - 1);
}

/* On the edge of a cache line, zeros behind the first `count`, which are those of `old`. */
static void *more(const void *old, uint32_t count, uint32_t room, size_t each)
{
	size_t bytes = bytes_of(room, each);
	uint8_t *p;

	if (bytes >= HUGE_PAGE) {
		p = reserve(bytes);
	} else {
		p = aligned_alloc(__alignof__(struct flow_entry), bytes);
		if (p)
			memset(p + count * each, 0, bytes - count * each);
	}
	if (p && count)
		memcpy(p, old, count * each);
	return p;
}

static void release(void *p, uint32_t room, size_t each)
{
	size_t bytes = bytes_of(room, each);

	if (p && bytes >= HUGE_PAGE)
		munmap(p, bytes);
	else
		free(p);
}

static int grow(struct flow_table *t, uint32_t room)
{
	uint32_t slots = SLOTS_EACH * ENTRIES_FIRST;
	uint32_t each = room > ROOM_SMALL ? SLOTS_EACH_OF_MANY : SLOTS_EACH;
	struct flow_entry *entry;
	struct flow_slot *slot;

	while (slots < each * room)
		slots *= 2;
	slot = more(NULL, 0, slots, sizeof(*slot));
	entry = more(t->entry, t->count, room, sizeof(*entry));
	if (!slot || !entry) {
		release(slot, slots, sizeof(*slot));
		release(entry, room, sizeof(*entry));
		return -ENOMEM;
	}
	release(t->slot, t->slot_mask + 1, sizeof(*t->slot));
	release(t->entry, t->room, sizeof(*entry));
	t->entry = entry;
	t->slot = slot;
	t->room = room;
	t->slot_mask = slots - 1;
	fill_slots(t);
	return 0;
}

/* Nothing is lent to it. */
static void forget(struct flow_table *t, struct flow_entry *e)
{
	flow_pool_give(&t->mores, flow_entry_more(e));
	flow_pool_give(&t->reads, e->stream.read);
}

void flow_table_free(struct flow_table *t)
{
	if (!t)
		return;
	flow_pool_clear(&t->mores);
	flow_pool_clear(&t->reads);
	release(t->entry, t->room, sizeof(*t->entry));
	release(t->slot, t->slot_mask + 1, sizeof(*t->slot));
	pair_table_free(t->pairs);
	connect_table_free(t->connections);
	free(t);
}

struct flow_table *flow_table_new(unsigned int max_flows)
{
	struct flow_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	flow_pool_init(&t->mores, sizeof(struct flow_more));
	flow_pool_init(&t->reads, STREAM_READS * sizeof(struct stream_read));
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
			forget(t, &t->entry[i]);
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
