/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the short way takes: RoCEv2 over Ethernet with at most one VLAN tag, IPv4 without options or
 * IPv6 without extension headers, all transport headers captured, an ICRC that is not bad, no CE
 * mark; in a run of its flow: requests with the PSN that is expected, positive answers to what was
 * sent. What it leaves: everything that is an event, that begins a flow, or that stands after a
 * refusal, a pause or a gap which is still open.
 */
#include "capture/skim.h"

#include "capture/bth.h"
#include "capture/bytes.h"
#include "capture/icrc.h"
#include "capture/opcode.h"

#define ETH_LEN	       14
#define VLAN_LEN       4
#define IPV4_LEN       20
#define IPV6_LEN       40
#define UDP_LEN	       8
#define RETH_LEN       16
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define TCLASS_CE      3
#define PSN_MASK       0xffffffU

/* Of a layout. */
#define LAYOUT_VLAN 1
#define LAYOUT_IPV6 2

typedef uint64_t head_word __attribute__((vector_size(16)));

#define HEAD_WORDS (SKIM_HEAD_BYTES / sizeof(head_word))

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
static const uint8_t same[][SKIM_HEAD_BYTES] __attribute__((aligned(16))) = {
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
static void learn_opcode(struct skim_opcode *o, uint8_t opcode)
{
	const struct opcode_info *info = opcode_info(opcode);
	enum opcode_class class = opcode_class(opcode);
	bool reliable = class == OPCODE_CLASS_RC || class == OPCODE_CLASS_XRC;

	if (!info->name || (!reliable && class != OPCODE_CLASS_UC))
		return;
	o->ext_len = (uint8_t)roce_headers_len(info->headers);
	o->flags = info->flags;
	o->aeth = info->headers & HDR_AETH;
	if (info->flags & OP_REQUEST) {
		o->kind = RUN_REQUEST;
		o->needs = reliable ? TAKES_REQUEST : TAKES_UNRELIABLE;
		o->ackreq = reliable ? TAKES_ACKREQ : 0;
		o->needs |= info->flags & OP_FULL ? TAKES_FULL : 0;
		o->needs |= info->flags & OP_READ ? TAKES_READ : 0;
	} else if (info->flags & OP_RESPONSE) {
		o->kind = info->flags & OP_ACK ? RUN_ACK : RUN_RESPONSE;
		o->needs = TAKES_RESPONSE;
	}
}

void skim_init(struct skimmer *s, const struct flow_table *t)
{
	memset(s, 0, sizeof(*s));
	s->seed = t->seed;
	for (unsigned int i = 0; i < 256; i++)
		learn_opcode(&s->opcode[i], (uint8_t)i);
}

static uint32_t l3_of(unsigned int layout)
{
	return layout & LAYOUT_VLAN ? ETH_LEN + VLAN_LEN : ETH_LEN;
}

static uint32_t bth_of(unsigned int layout)
{
	return l3_of(layout) + UDP_LEN + (layout & LAYOUT_IPV6 ? IPV6_LEN : IPV4_LEN);
}

/* From the BTH on. end: behind the ICRC, as IP and UDP say. False where the lengths are not what
 * the opcode wants. */
static bool look_at_bth(const struct skimmer *s, const struct record *r, uint32_t bth, uint32_t end,
			struct skim *k)
{
	const uint8_t *h = r->data + bth;
	const struct skim_opcode *o = &s->opcode[h[0]];
	uint32_t room = end - bth - BTH_LEN - ICRC_LEN, pad = (h[1] >> 4) & 3;

	if (end < bth + BTH_LEN + ICRC_LEN || room < o->ext_len + pad || (room - o->ext_len) & 3 ||
	    bth + BTH_LEN + o->ext_len > r->cap_len)
		return false;
	k->payload_len = (uint16_t)(room - o->ext_len - pad);
	if ((k->payload_len && !(o->flags & OP_PAYLOAD)) || (pad && o->flags & OP_FULL))
		return false;
	k->opcode = h[0];
	k->kind = o->kind;
	k->psn = be24_at(h + 9);
	k->needs = o->needs | (h[8] & 0x80 ? o->ackreq : 0);
	if (o->aeth && h[BTH_LEN] & 0x60)
		k->needs |= TAKES_NEVER;
	return k->needs != 0;
}

static uint8_t verify(const struct record *r, const struct skim *k, uint32_t end)
{
	uint32_t l3 = l3_of(k->layout), want;

	if (end > r->cap_len)
		return ICRC_UNVERIFIABLE;
	want = icrc_compute(k->layout & LAYOUT_IPV6 ? ENCAP_ROCE_V2_IPV6 : ENCAP_ROCE_V2_IPV4,
			    r->data + l3, bth_of(k->layout) - l3, end - ICRC_LEN - l3);
	return le32_at(r->data + end - ICRC_LEN) == want ? ICRC_GOOD : ICRC_BAD;
}

void skim_look(const struct skimmer *s, const struct record *r, struct skim *k)
{
	const uint8_t *l3 = r->data + ETH_LEN;
	uint16_t type = be16_at(l3 - 2);
	uint32_t bth, end, qpn;

	k->needs = 0;
	k->layout = type == ETHERTYPE_VLAN ? LAYOUT_VLAN : 0;
	if (k->layout) {
		l3 += VLAN_LEN;
		type = be16_at(l3 - 2);
	}
	if (type == ETHERTYPE_IPV4) {
		end = be16_at(l3 + 2);
		k->tclass = l3[1];
	} else if (type == ETHERTYPE_IPV6) {
		k->layout |= LAYOUT_IPV6;
		end = IPV6_LEN + be16_at(l3 + 4);
		k->tclass = (uint8_t)(be16_at(l3) >> 4);
	} else {
		return;
	}
	bth = bth_of(k->layout);
	end += l3_of(k->layout);
	if (bth + BTH_LEN > r->cap_len ||
	    end > (r->wire_len < r->cap_len ? r->cap_len : r->wire_len) ||
	    be16_at(r->data + bth - 4) != end - bth + UDP_LEN || !look_at_bth(s, r, bth, end, k))
		return;
	qpn = be24_at(r->data + bth + 5);
	if (k->layout & LAYOUT_IPV6)
		k->hash = flow_hash_ipv6(s->seed, l3 + 8, l3 + 24, qpn);
	else
		k->hash = flow_hash_ipv4(s->seed, l3 + 12, qpn);
	k->icrc = verify(r, k, end);
	if (k->icrc == ICRC_BAD || (k->tclass & 3) == TCLASS_CE)
		k->needs |= TAKES_NEVER;
}

static struct flow_run *find_run(const struct flow_table *t, const struct skim *k)
{
	uint32_t at = (uint32_t)k->hash & t->slot_mask;

	for (; t->slot[at].id; at = (at + 1) & t->slot_mask)
		if (t->slot[at].tag == (uint32_t)(k->hash >> 32))
			return &t->run[t->slot[at].id - 1];
	return NULL;
}

void skim_fetch_slot(const struct flow_table *t, const struct skim *k)
{
	__builtin_prefetch(&t->slot[(uint32_t)k->hash & t->slot_mask]);
}

void skim_fetch_run(const struct flow_table *t, const struct skim *k)
{
	const uint8_t *run = k->needs ? (const uint8_t *)find_run(t, k) : NULL;

	for (unsigned int i = 0; run && i < sizeof(struct flow_run); i += 64)
		__builtin_prefetch(run + i, 1);
}

/* How many PSNs a READ takes, 0 when that is not known. */
static uint32_t take_read(struct stream *s, const struct record *r, const struct skim *k)
{
	const uint8_t *h = r->data + bth_of(k->layout) + BTH_LEN;
	struct psn_request request = {.psn = k->psn, .read = true, .read_known = true};
	uint64_t va;

	if (k->opcode >> 5 == OPCODE_CLASS_XRC)
		h += roce_header_len(HDR_XRCETH);
	va = be64_at(h);
	request.read_len = be32_at(h + 12);
	if (!psn_span(&s->psn, &request))
		return 0;
	return stream_note_read(s, &request, va);
}

static bool take_request(struct flow_table *t, struct flow_run *run, const struct record *r,
			 const struct skim *k)
{
	uint32_t span = 1;

	bool tagged = k->layout & LAYOUT_VLAN;

	if (k->psn != run->expected || (tagged && run->last_ns < t->pfc_ns) ||
	    (k->needs & TAKES_FULL && k->payload_len != run->pmtu))
		return false;
	if (k->needs & TAKES_READ)
		span = take_read(&t->entry[run - t->run].stream, r, k);
	if (!span)
		return false;
	if (t->totals.pfc_frames && !tagged)
		t->entry[run - t->run].flow.held_unknown++;
	run->expected = (k->psn + span) & PSN_MASK;
	run->last_psn = k->psn;
	run->last_opcode = k->opcode;
	if (r->time_ns > run->request_ns)
		run->request_ns = r->time_ns;
	return true;
}

static bool take_answer(const struct flow_table *t, struct flow_run *run, const struct record *r,
			const struct skim *k)
{
	const struct flow_run *peer = &t->run[run->peer];
	int32_t d = psn_distance(k->psn, peer->expected);

	if (!(peer->takes & TAKES_ANSWERS) || d >= 0 || d < -STREAM_WINDOW_MAX)
		return false;
	run->answer_psn = k->psn;
	run->answer_ns = r->time_ns;
	run->answered = true;
	return true;
}

static void change_class(struct flow_table *t, struct flow_run *run, const struct skim *k)
{
	flow_run_tell(run, (enum flow_run_kind)k->kind, &t->entry[run - t->run].flow);
	run->count[k->kind] = 0;
	run->tclass[k->kind] = k->tclass;
}

bool skim_take(struct flow_table *t, const struct record *r, const struct skim *k, uint64_t frame)
{
	struct flow_run *run = k->needs ? find_run(t, k) : NULL;

	if (!run || (run->takes & k->needs) != k->needs || run->layout != k->layout ||
	    !is_head_of(run, r->data))
		return false;
	if (k->kind == RUN_REQUEST ? !take_request(t, run, r, k) : !take_answer(t, run, r, k))
		return false;
	if (run->tclass[k->kind] != k->tclass)
		change_class(t, run, k);
	run->count[k->kind]++;
	run->icrc[k->icrc]++;
	run->payload_bytes += k->payload_len;
	if (k->payload_len > run->max_payload)
		run->max_payload = k->payload_len;
	run->last_ns = r->time_ns;
	run->last_frame = frame;
	t->totals.frames++;
	t->totals.roce++;
	return true;
}

/* Whether what skim_look() took for granted is so. */
static bool is_as_it_looks(const struct skim *k, const struct packet *p)
{
	bool ipv6 = k->layout & LAYOUT_IPV6;

	return k->needs && p->kind == PACKET_ROCE && p->bth && p->fault == PACKET_OK &&
	       p->icrc == k->icrc && p->icrc != ICRC_BAD && !p->fragment &&
	       p->tunnel.kind == TUNNEL_NONE && p->l3_offset == l3_of(k->layout) &&
	       p->bth_offset == bth_of(k->layout) &&
	       p->encap == (ipv6 ? ENCAP_ROCE_V2_IPV6 : ENCAP_ROCE_V2_IPV4);
}

static uint8_t takes_of(const struct flow_entry *e)
{
	const struct stream *s = &e->stream;
	bool paired = e->peer != PAIR_NONE;
	uint8_t takes = 0;

	if (s->psn.started && !s->psn.blind && !s->pending) {
		takes |= TAKES_UNRELIABLE | TAKES_FULL | TAKES_READ;
		takes |= paired ? TAKES_REQUEST | TAKES_ACKREQ : 0;
		takes |= e->flow.requests >= UNPAIRED_REQUESTS ? TAKES_REQUEST : 0;
	}
	if (s->psn.started && !s->psn.gap_count)
		takes |= TAKES_ANSWERS;
	return paired ? takes | TAKES_RESPONSE : takes;
}

void skim_begin(struct flow_table *t, const struct record *r, const struct skim *k,
		const struct packet *p)
{
	const struct flow_entry *e = &t->entry[t->last];
	const struct stream *s = &e->stream;
	struct flow_run *run = &t->run[t->last];

	if (!is_as_it_looks(k, p) || !stream_is_on_path(s, p))
		return;
	*run = (struct flow_run){
		.peer = e->peer,
		.takes = takes_of(e),
		.layout = k->layout,
		.last_opcode = s->last_opcode,
		.tclass = {k->tclass, k->tclass, k->tclass},
		.expected = s->psn.expected,
		.last_psn = s->last_psn,
		.answer_psn = s->answer_psn,
		.pmtu = s->psn.pmtu,
		.max_payload = e->flow.max_payload,
		.last_ns = e->flow.last_ns,
		.last_frame = e->flow.last_frame,
		.request_ns = s->psn.last_ns,
		.answer_ns = s->answer_ns,
	};
	memcpy(run->head, r->data, sizeof(run->head));
}
