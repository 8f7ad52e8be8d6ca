/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the short way takes: RoCEv2 over Ethernet with at most one VLAN tag, IPv4 without options or
 * IPv6 without extension headers, all transport headers captured, an ICRC that is not bad, no CE
 * mark unless the caller passes them; in a run of its flow: requests with the PSN that is expected,
 * positive answers to what was sent. What it leaves: everything that is an event, or that stands
 * after a refusal, a pause or a gap which is still open.
 */
#include "capture/flow/skim.h"

#include "capture/decode/bth.h"
#include "capture/decode/bytes.h"
#include "capture/decode/icrc.h"
#include "capture/decode/opcode.h"
#include "capture/decode/skim_layout.h"

#define TCLASS_CE    3
#define ACKREQ	     0x80 /* of the byte before the PSN */
#define AETH_REFUSAL 0x60 /* bits of the syndrome that an ACK has not */

typedef uint64_t head_word __attribute__((vector_size(16)));

#define FETCH_BEYOND 4096 /* bytes: memory takes longer than a batch */
#define HEAD_WORDS   (SKIM_HEAD_BYTES / sizeof(head_word))

/*
 * The bytes of a head that stand for its headers and for the flow and its path. The others change
 * from packet to packet: traffic class, lengths, IP id, checksums, flow label, source port, and of
 * the BTH all but the destination QP.
 */
#define SAME_IPV4(l3)                                                                              \
	{                                                                                          \
		[0 ...(l3)] = 0xff, [(l3) + 6 ...(l3) + 9] = 0xff,                                 \
		   [(l3) + 12 ...(l3) + 19] = 0xff, [(l3) + 22 ...(l3) + 23] = 0xff,               \
		   [(l3) + 33 ...(l3) + 35] = 0xff                                                 \
	}
#define SAME_IPV6(l3)                                                                              \
	{                                                                                          \
		[0 ...(l3) - 1] = 0xff, [(l3)] = 0xf0, [(l3) + 6 ...(l3) + 39] = 0xff,             \
			     [(l3) + 42 ...(l3) + 43] = 0xff, [(l3) + 53 ...(l3) + 55] = 0xff      \
	}

/* By layout. */
static const uint8_t same[LAYOUTS][SKIM_HEAD_BYTES] __attribute__((aligned(16))) = {
	SAME_IPV4(ETH_LEN),
	SAME_IPV4(ETH_LEN + VLAN_LEN),
	SAME_IPV6(ETH_LEN),
	SAME_IPV6(ETH_LEN + VLAN_LEN),
};

static bool is_head_of(const struct flow_run *run, const uint8_t *data)
{
	head_word a, b, mask, differ = {0};

#pragma GCC unroll 8
	for (unsigned int i = 0; i < HEAD_WORDS; i++) {
		memcpy(&a, data + i * sizeof(a), sizeof(a));
		memcpy(&b, run->head + i * sizeof(b), sizeof(b));
		memcpy(&mask, same[run->layout] + i * sizeof(mask), sizeof(mask));
		differ |= (a ^ b) & mask;
	}
	return !(differ[0] | differ[1]);
}

/* Requests and answers of reliable transports, requests of UC. */
static void learn_opcode(struct skim_opcode *o, uint8_t opcode, bool ackreq)
{
	const struct opcode_info *info = opcode_info(opcode);
	enum opcode_class class = opcode_class(opcode);
	bool reliable = class == OPCODE_CLASS_RC || class == OPCODE_CLASS_XRC;
	uint32_t ext_len = roce_headers_len(info->headers);

	o->needs = TAKES_NEVER;
	if (!info->name || (!reliable && class != OPCODE_CLASS_UC))
		return;
	o->head_len = BTH_LEN + ext_len;
	o->around = UDP_LEN + BTH_LEN + ext_len + ICRC_LEN;
	o->payload_not = info->flags & OP_PAYLOAD ? 0 : UINT16_MAX;
	o->second_not = info->flags & OP_FULL ? BTH_VERSION | BTH_PAD : BTH_VERSION;
	o->aeth_not = info->headers & HDR_AETH ? AETH_REFUSAL : 0;
	if (info->flags & OP_REQUEST) {
		o->kind = RUN_REQUEST;
		o->needs = reliable ? TAKES_REQUEST : TAKES_UNRELIABLE;
		o->needs |= reliable && ackreq ? TAKES_ACKREQ : 0;
		o->needs |= info->flags & OP_FULL ? TAKES_FULL : 0;
		o->needs |= info->flags & OP_READ ? TAKES_READ : 0;
	} else if (info->flags & OP_RESPONSE) {
		o->kind = info->flags & OP_ACK ? RUN_ACK : RUN_RESPONSE;
		o->needs = TAKES_RESPONSE;
		o->needs |= answers_follows(opcode) ? TAKES_INSIDE : TAKES_BETWEEN;
		o->needs |= answers_goes_on(opcode) ? TAKES_OPEN : 0;
	}
}

void skim_init(struct skim_batch *b, const struct flow_table *t)
{
	memset(b, 0, sizeof(*b));
	b->seed = t->seed;
	for (unsigned int i = 0; i < ARRAY_SIZE(b->opcode); i++)
		learn_opcode(&b->opcode[i], (uint8_t)i, i & ACKREQ << 1);
}

/* Of IP the traffic class and the length, with what IPv4 begins with; of UDP and what follows it
 * the length, the opcode and the byte behind it. */
static const uint8_t ip_tells[2][8] = {
	{0xff, 0xff, 0xff, 0xff},
	{0xff, 0xf0, 0, 0, 0xff, 0xff},
};
static const uint8_t udp_tells[8] = {0xff, 0xff, 0, 0, 0xff, 0xff};

static inline uint64_t word_at(const void *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof(v));
	return v;
}

/* For what is checked and then relied on: a file in memory can change under its reader, so the
 * compiler must not read it twice. */
static inline uint64_t word_once(const void *from)
{
	uint64_t v = word_at(from);

	__asm__ volatile("" : "+r"(v));
	return v;
}

/* Of the eight bytes that begin with it. */
static inline uint32_t udp_len_of(uint64_t word)
{
	uint8_t bytes[sizeof(word)];

	memcpy(bytes, &word, sizeof(bytes));
	return be16_at(bytes);
}

static inline uint64_t lengths_of(const struct record *r)
{
	return (uint64_t)r->wire_len << 32 | r->cap_len;
}

static inline bool is_shape(const struct skim_shape *shape, const uint8_t *ip, const uint8_t *bth,
			    unsigned int ipv6, const struct record *r)
{
	return !(((word_at(ip) & word_at(ip_tells[ipv6])) ^ shape->ip) |
		 ((word_at(bth - 4) & word_at(udp_tells)) ^ shape->udp) |
		 (lengths_of(r) ^ shape->len));
}

static __attribute__((noinline)) uint8_t verify(const struct record *r, uint32_t l3, uint32_t bth,
						uint32_t end)
{
	bool ipv6 = bth - l3 == IPV6_LEN + UDP_LEN;
	uint32_t want = icrc_compute(ipv6 ? ENCAP_ROCE_V2_IPV6 : ENCAP_ROCE_V2_IPV4, r->data + l3,
				     bth - l3, end - ICRC_LEN - l3);

	return le32_at(r->data + end - ICRC_LEN) == want ? ICRC_GOOD : ICRC_BAD;
}

/*
 * What the lengths and the first bytes of a frame come to, for all frames that have the same.
 * Whether it is IP at all, its head says later. False: it is not ordinary.
 */
static __attribute__((noinline)) bool learn_shape(const struct skim_batch *b,
						  const struct record *r, unsigned int layout,
						  struct skim_shape *shape)
{
	bool ipv6 = layout & LAYOUT_IPV6;
	uint32_t bth = skim_bth_of(layout);
	const uint8_t *ip = r->data + skim_l3_of(layout), *h = r->data + bth;
	const struct skim_opcode *o = &b->opcode[h[0] | (h[8] & ACKREQ) << 1];
	uint64_t udp = word_once(h - 4);
	uint32_t udp_len = udp_len_of(udp), pad = (h[1] >> 4) & 3;
	uint32_t end = bth - UDP_LEN + udp_len, room = udp_len - o->around - pad;
	uint8_t tclass = (uint8_t)(be16_at(ip) >> (ipv6 ? 4 : 0));
	uint32_t odd;

	/* Signs of differences, and what has to be zero: the lengths that the opcode wants, and
	 * that IP and UDP agree on. */
	odd = (room | (r->cap_len - bth - o->head_len) | (r->wire_len - end)) >> 31;
	odd |= (be16_at(ip + (ipv6 ? 4 : 2)) - udp_len) ^ (ipv6 ? 0 : IPV4_LEN);
	odd |= ((room + pad) & 3) | (h[1] & o->second_not) | (room & o->payload_not);
	odd |= (tclass & 3) == TCLASS_CE && !b->pass_marks;
	if (odd || !o->needs)
		return false;
	*shape = (struct skim_shape){
		.ip = word_at(ip) & word_at(ip_tells[ipv6]),
		.udp = udp & word_at(udp_tells),
		.len = lengths_of(r),
		.payload_len = (uint16_t)room,
		.needs = (uint16_t)(o->needs | TAKES_LAYOUT << layout),
		.kind = o->kind,
		.tclass = tclass,
		.aeth_not = o->aeth_not,
		.icrc = end <= r->cap_len,
	};
	return true;
}

static inline void look(struct skim_batch *b, const struct record *r, struct skim *k)
{
	uint32_t tagged = be16_at(r->data + ETH_LEN - 2) == ETHERTYPE_VLAN;
	const uint8_t *ip = r->data + ETH_LEN + VLAN_LEN * tagged, *h;
	uint32_t ipv6 = be16_at(ip - 2) == ETHERTYPE_IPV6;
	uint32_t layout = tagged * LAYOUT_VLAN + ipv6 * LAYOUT_IPV6;
	struct skim_shape *shape;

	h = ip + IPV4_LEN + UDP_LEN + (IPV6_LEN - IPV4_LEN) * ipv6;
	shape = &b->shape[layout][h[0] | (h[8] & ACKREQ) << 1];
	if (!is_shape(shape, ip, h, ipv6, r) && !learn_shape(b, r, layout, shape)) {
		k->needs = 0;
		return;
	}
	k->needs = h[BTH_LEN] & shape->aeth_not ? 0 : shape->needs;
	k->payload_len = shape->payload_len;
	k->opcode = h[0];
	k->kind = shape->kind;
	k->psn = be32_at(h + 8) & PSN_MASK;
	k->tclass = shape->tclass;
	k->hash = ipv6 ? flow_hash_ipv6(b->seed, ip + 8, ip + 24, be32_at(h + 4) & PSN_MASK)
		       : flow_hash_ipv4(b->seed, ip + 12, be32_at(h + 4) & PSN_MASK);
	k->icrc = ICRC_UNVERIFIABLE;
	if (!shape->icrc)
		return;
	/* The length that was checked, not what the file has there by now. */
	k->icrc = verify(r, (uint32_t)(ip - r->data), (uint32_t)(h - r->data),
			 (uint32_t)(h - r->data) - UDP_LEN + udp_len_of(shape->udp));
	if (k->icrc == ICRC_BAD)
		k->needs |= TAKES_NEVER;
}

static inline void find(const struct flow_table *t, struct skim *k)
{
	uint32_t at = (uint32_t)k->hash & t->slot_mask;
	const uint8_t *run;

	/* A free one may have the tag of none. */
	while (t->slot[at].tag != flow_tag(k->hash) && t->slot[at].id)
		at = (at + 1) & t->slot_mask;
	k->id = t->slot[at].id;
	run = (const uint8_t *)&t->run[k->id ? k->id - 1 : 0];
	flow_fetch(run, sizeof(struct flow_run));
	if (k->id && k->needs & TAKES_READ)
		flow_fetch(&t->entry[k->id - 1], sizeof(struct flow_entry));
}

/* Where the next batches lie in a file, when they are like this one: their bytes come from memory
 * while this one is worked on. Nothing is read from there, so it may be anywhere. */
static size_t next_batch(const struct skim_batch *b)
{
	const struct record *first = &b->record[0], *last = &b->record[b->count - 1];

	return (size_t)((uintptr_t)last->data + last->cap_len - (uintptr_t)first->data) +
	       FETCH_BEYOND;
}

static inline const void *ahead_of(const struct skim_batch *b, unsigned int i, uint32_t offset)
{
	return (const void *)((uintptr_t)b->record[i].data + b->ahead + offset);
}

/* One line in each step: who asks for many at once has to wait. */
static inline void fetch(const struct skim_batch *b, unsigned int i, uint32_t offset)
{
	__builtin_prefetch(ahead_of(b, i, offset));
}

/* What is behind the head, for the ICRC alone. All of a batch would fill the first cache. */
static inline void fetch_payload(const struct skim_batch *b, unsigned int i)
{
	for (uint32_t at = 3 * CACHE_LINE; at < b->record[i].cap_len; at += CACHE_LINE)
		__builtin_prefetch(ahead_of(b, i, at), 0, 2);
}

void skim_guess(struct skim_batch *b)
{
	b->ahead = b->count ? next_batch(b) : 0;
	for (unsigned int i = 0; i < b->count; i++) {
		fetch(b, i, 0);
		fetch_payload(b, i);
		look(b, &b->record[i], &b->skim[i]);
	}
}

/* In steps, so that frames do not wait for each other's memory. */
void skim_find(struct skim_batch *b, const struct flow_table *t)
{
	unsigned int i;

	for (i = 0; i < b->count; i++) {
		fetch(b, i, CACHE_LINE);
		flow_fetch(&t->slot[(uint32_t)b->skim[i].hash & t->slot_mask], 1);
	}
	for (i = 0; i < b->count; i++) {
		b->skim[i].id = 0;
		if (b->skim[i].needs)
			find(t, &b->skim[i]);
	}
	skim_fetch(b, t);
	b->at = 0;
}

void skim_look(struct skim_batch *b, const struct flow_table *t)
{
	skim_guess(b);
	skim_find(b, t);
}

/* How many PSNs a READ takes, 0 when that is not known. */
static __attribute__((noinline)) uint32_t take_read(struct stream *s, uint32_t bth,
						    const struct record *r, const struct skim *k)
{
	const uint8_t *h = r->data + bth + BTH_LEN;
	struct psn_request request = {.psn = k->psn, .read = true, .read_known = true};

	if (opcode_class(k->opcode) == OPCODE_CLASS_XRC)
		h += roce_header_len(HDR_XRCETH);
	request.read_len = be32_at(h + 12);
	return s->read && psn_span(&s->psn, &request) ? stream_note_read(s, &request, be64_at(h))
						      : 0;
}

/* A request of a flow that was quiet since the last pause began: it may have been held by it, if it
 * is not the first packet. */
static bool may_be_held(const struct flow_table *t, const struct flow_run *run)
{
	return run->last_ns && run->last_ns < t->pfc_ns && run->layout & LAYOUT_VLAN;
}

/* The first request of a flow. What it says of the stream is told there later: that lies elsewhere.
 */
static bool take_first(struct flow_run *run, const struct skim *k)
{
	if (!(run->takes & TAKES_FIRST) || k->needs & TAKES_READ)
		return false;
	if (k->needs & TAKES_FULL && psn_is_pmtu(k->payload_len))
		run->pmtu = k->payload_len;
	run->takes = (uint16_t)((run->takes & ~TAKES_FIRST) | TAKES_ANSWERS);
	return true;
}

static inline bool take_request(struct flow_table *t, struct flow_run *run, const struct record *r,
				const struct skim *k)
{
	bool odd_full = (k->needs / TAKES_FULL & 1) & (k->payload_len != run->pmtu);
	uint32_t span = 1;

	if (((k->psn != run->expected) | odd_full) && !take_first(run, k))
		return false;
	if (k->needs & TAKES_READ) {
		span = take_read(&t->entry[run - t->run].stream, skim_bth_of(run->layout), r, k);
		if (!span)
			return false;
		run->reads_end = (k->psn + span) & PSN_MASK;
	}
	run->expected = (k->psn + span) & PSN_MASK;
	run->last_psn = k->psn;
	run->took |= TAKES_REQUEST;
	run->last_opcode = k->opcode;
	run->request_ns = r->time_ns > run->request_ns ? r->time_ns : run->request_ns;
	return true;
}

/* For the answer that tells which flow is the other way. */
static __attribute__((noinline)) void note_request(struct flow_table *t, uint32_t id,
						   const struct record *r, const struct skim *k)
{
	const struct flow_core *f = &t->entry[id].flow;
	const struct flow_run *run = &t->run[id];

	if (k->needs & TAKES_ACKREQ ||
	    f->requests + run->count[RUN_REQUEST] + 1 < UNPAIRED_REQUESTS)
		pair_note(t->pairs, flow_hosts(f->src, f->dst), k->psn,
			  be16_at(r->data + skim_bth_of(run->layout) - UDP_LEN), id);
}

/* An answer that stands for several requests, while not all READs were answered: whether one of
 * them is among those between. */
static __attribute__((noinline)) bool passes_read(const struct flow_table *t,
						  const struct flow_run *run, uint32_t between)
{
	const struct stream *s = &t->entry[run->peer].stream;

	return stream_read_within(s, (run->answer_psn + 1) & PSN_MASK, between);
}

static inline bool take_answer(const struct flow_table *t, struct flow_run *run,
			       const struct record *r, const struct skim *k)
{
	struct flow_run *peer = &t->run[run->peer];
	int32_t d = psn_distance(k->psn, peer->expected);
	int32_t ahead = psn_distance(k->psn, run->answer_psn);

	if (!(peer->takes & TAKES_ANSWERS) || d >= 0 || d < -STREAM_WINDOW_MAX)
		return false;
	if (k->needs & TAKES_INSIDE ? ahead != 1 : ahead <= 0 || ahead > STREAM_WINDOW_MAX) {
		if (run->answer_psn != RUN_NO_PSN)
			return false;
	} else if (ahead > 1 && psn_distance(run->answer_psn + 1, peer->reads_end) < 0 &&
		   passes_read(t, run, (uint32_t)ahead - 1)) {
		return false;
	}
	if (k->needs & (TAKES_INSIDE | TAKES_OPEN))
		run->takes = (uint16_t)((run->takes & ~(TAKES_INSIDE | TAKES_BETWEEN)) |
					(k->needs & TAKES_OPEN ? TAKES_INSIDE : TAKES_BETWEEN));
	run->answer_psn = k->psn;
	run->answer_ns = r->time_ns;
	run->took |= TAKES_RESPONSE;
	peer->una = ((k->psn + 1) & PSN_MASK) | STREAM_UNA;
	return true;
}

static inline bool take(struct flow_table *t, const struct record *r, const struct skim *k,
			uint64_t frame)
{
	struct flow_run *run = &t->run[k->id - 1];

	if (k->id - 1 >= t->count || (run->takes & k->needs) != k->needs ||
	    !is_head_of(run, r->data))
		return false;
	if (run->tclass[k->kind] != k->tclass &&
	    !flow_entry_change_class(t, k->id - 1, (enum flow_run_kind)k->kind, k->tclass))
		return false;
	if (k->kind == RUN_REQUEST) {
		if (may_be_held(t, run) || !take_request(t, run, r, k))
			return false;
		if (t->totals.pfc_frames && !(run->layout & LAYOUT_VLAN))
			t->entry[run - t->run].flow.held_unknown++;
		if (run->peer == PAIR_NONE && k->needs & TAKES_REQUEST)
			note_request(t, k->id - 1, r, k);
	} else if (!take_answer(t, run, r, k)) {
		return false;
	}
	run->count[k->kind]++;
	run->icrc_good += k->icrc == ICRC_GOOD;
	run->payload_bytes += k->payload_len;
	run->max_payload = k->payload_len > run->max_payload ? k->payload_len : run->max_payload;
	run->last_ns = r->time_ns;
	run->last_frame = frame;
	return true;
}

unsigned int skim_take(struct skim_batch *b, struct flow_table *t, uint64_t frame, uint64_t max)
{
	unsigned int at = b->at, n;

	for (n = 0; n < max && at + n < b->count; n++) {
		fetch(b, at + n, 2 * CACHE_LINE);
		if (!b->skim[at + n].id)
			skim_open(t, &b->record[at + n], &b->skim[at + n], frame + n);
		if (!take(t, &b->record[at + n], &b->skim[at + n], frame + n))
			break;
	}
	b->at += n;
	t->totals.frames += n;
	t->totals.roce += n;
	return n;
}
