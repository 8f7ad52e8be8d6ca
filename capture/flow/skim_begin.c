/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How runs begin: behind a packet that went the long way, and with the first packet of a flow, when
 * that is as ordinary as those behind it. Of many short flows the first packets are a good part.
 */
#include "capture/flow/skim.h"

#include "capture/decode/bth.h"
#include "capture/decode/bytes.h"
#include "capture/decode/opcode.h"
#include "capture/decode/skim_layout.h"
#include "capture/flow/renew.h"

#define IPV4_PLAIN    0x45 /* version 4, without options */
#define IPV4_FRAGMENT 0x3fff
#define IP_UDP	      17
#define ROCE_V2_PORT  4791

/* Whether what skim_look() took for granted is so. */
static bool is_as_it_looks(const struct skim *k, unsigned int layout, const struct packet *p)
{
	bool ipv6 = layout & LAYOUT_IPV6;

	return p->kind == PACKET_ROCE && p->bth && p->fault == PACKET_OK && p->icrc == k->icrc &&
	       p->icrc != ICRC_BAD && !p->fragment && p->tunnel.kind == TUNNEL_NONE &&
	       p->l3_offset == skim_l3_of(layout) && p->bth_offset == skim_bth_of(layout) &&
	       p->encap == (ipv6 ? ENCAP_ROCE_V2_IPV6 : ENCAP_ROCE_V2_IPV4);
}

/* What follows the last answer, when that was the furthest. */
static uint16_t takes_answers(const struct flow_entry *e)
{
	const struct stream_more *more = e->stream.more;
	const struct answers *a = &e->flow.answers;

	/* Before the first answer, which may have any PSN, there is nothing that it could be a copy
	 * or miss the begin of. */
	if (a->state == ANSWERS_UNKNOWN)
		return e->stream.answer_ns || (more && more->answer_gap_count)
			       ? 0
			       : TAKES_RESPONSE | TAKES_BETWEEN | TAKES_OPEN;
	if (a->next != ((e->stream.answer_psn + 1) & PSN_MASK))
		return 0;
	return TAKES_RESPONSE | TAKES_OPEN |
	       (a->state == ANSWERS_INSIDE ? TAKES_INSIDE : TAKES_BETWEEN);
}

/* What came before the first request or response, CNPs for one, is of no service: that is still to
 * be told. */
static bool is_nameless(const struct flow_core *f)
{
	return f->class_packets[0] && !f->requests && !f->responses;
}

static uint16_t takes_of(const struct flow_entry *e)
{
	const struct stream *s = &e->stream;
	bool open = renew_is_open(s);
	uint16_t takes = 0;

	if (is_nameless(&e->flow))
		return 0;
	if (!s->psn.blind && !s->pending)
		takes |= TAKES_REQUEST | TAKES_ACKREQ | TAKES_UNRELIABLE | TAKES_FULL | TAKES_READ;
	takes |= s->psn.started ? 0 : TAKES_FIRST;
	if (s->psn.started && !s->psn.gap_count && !open && !(s->more && s->more->skip_count))
		takes |= TAKES_ANSWERS;
	return takes | (e->peer != PAIR_NONE && !open ? takes_answers(e) : 0);
}

/* Goes on from where the flow stands. */
static void run_on(struct flow_table *t, uint32_t id)
{
	const struct flow_entry *e = &t->entry[id];
	const struct stream *s = &e->stream;
	struct flow_run *run = &t->run[id];

	run->peer = renew_is_open(s) ? PAIR_NONE : e->peer;
	run->takes = (uint16_t)(takes_of(e) | TAKES_LAYOUT << run->layout);
	run->last_opcode = s->last_opcode;
	run->took = 0;
	run->una = s->una;
	run->expected = s->psn.started ? s->psn.expected : RUN_NO_PSN;
	run->last_psn = s->last_psn;
	run->answer_psn = e->flow.answers.state == ANSWERS_UNKNOWN ? RUN_NO_PSN : s->answer_psn;
	run->pmtu = skim_pmtu(&s->psn);
	run->reads_end = stream_reads_end(s);
	run->max_payload = 0;
	memset(run->count, 0, sizeof(run->count));
	run->icrc_good = 0;
	run->payload_bytes = 0;
	run->last_ns = e->flow.last_ns;
	run->last_frame = e->flow.last_frame;
	run->request_ns = s->psn.last_ns;
	run->answer_ns = s->answer_ns;
}

/* The run was ended by another packet: those that look as before may follow. */
static void resume(struct flow_table *t, uint32_t id)
{
	const struct flow_run *run = &t->run[id];

	if (!run->takes && run->layout != RUN_UNKNOWN && run->path == t->entry[id].stream.path)
		run_on(t, id);
}

static unsigned int layout_of(const struct skim *k)
{
	return (unsigned int)__builtin_ctz(k->needs / TAKES_LAYOUT | 1U << LAYOUTS);
}

static void put_head(struct flow_run *run, unsigned int layout, const struct record *r,
		     const struct skim *k)
{
	memcpy(run->head, r->data, sizeof(run->head));
	run->layout = (uint8_t)layout;
	memset(run->tclass, k->tclass, sizeof(run->tclass));
}

void skim_begin(const struct skim_batch *b, struct flow_table *t, const struct packet *p)
{
	const struct skim *k = &b->skim[b->at];
	unsigned int layout = layout_of(k);
	struct flow_entry *e = &t->entry[t->last];
	struct flow_run *run = &t->run[t->last];

	if (p->kind != PACKET_ROCE || !p->bth)
		return;
	if (k->needs && is_as_it_looks(k, layout, p) && stream_is_on_path(&e->stream, p)) {
		put_head(run, layout, &b->record[b->at], k);
		run->path = e->stream.path;
		run_on(t, t->last);
	} else {
		resume(t, t->last);
	}
	if (e->peer != PAIR_NONE)
		resume(t, e->peer);
}

/* What skim_guess() did not look at: that it is UDP to the port of RoCEv2. */
static bool is_plain(const uint8_t *data, unsigned int layout)
{
	const uint8_t *ip = data + skim_l3_of(layout);

	if (be16_at(data + skim_bth_of(layout) - UDP_LEN + 2) != ROCE_V2_PORT)
		return false;
	if (layout & LAYOUT_IPV6)
		return ip[0] >> 4 == 6 && ip[6] == IP_UDP;
	return be16_at(ip - 2) == ETHERTYPE_IPV4 && ip[0] == IPV4_PLAIN && ip[9] == IP_UDP &&
	       !(be16_at(ip + 6) & IPV4_FRAGMENT);
}

struct ends {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
	uint16_t sport;
};

static void find_ends(const uint8_t *data, unsigned int layout, struct ends *ends)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const uint8_t *ip = data + skim_l3_of(layout), *bth = data + skim_bth_of(layout);

	if (layout & LAYOUT_IPV6) {
		memcpy(ends->src, ip + 8, 16);
		memcpy(ends->dst, ip + 24, 16);
	} else {
		memcpy(ends->src, mapped, 12);
		memcpy(ends->dst, mapped, 12);
		memcpy(ends->src + 12, ip + 12, 4);
		memcpy(ends->dst + 12, ip + 16, 4);
	}
	ends->dest_qpn = be24_at(bth + 5);
	ends->sport = be16_at(bth - UDP_LEN);
}

/* The flow that sent what an answer is to, when one match is enough to know it; else PAIR_NONE. */
static uint32_t asker_of(const struct flow_table *t, const struct ends *ends, const struct skim *k)
{
	bool same_port = false;
	uint32_t id = pair_find(t->pairs, flow_hosts(ends->dst, ends->src), k->psn, ends->sport,
				&same_port);
	int32_t d;

	if (id >= t->count || !same_port || t->entry[id].peer != PAIR_NONE ||
	    !(t->run[id].takes & TAKES_ANSWERS) || memcmp(t->entry[id].flow.src, ends->dst, 16) ||
	    memcmp(t->entry[id].flow.dst, ends->src, 16))
		return PAIR_NONE;
	d = psn_distance(k->psn, t->run[id].expected);
	return d < 0 && d >= -STREAM_WINDOW_MAX ? id : PAIR_NONE;
}

static uint32_t path_of(const uint8_t *data, unsigned int layout)
{
	const uint8_t *ip = data + skim_l3_of(layout);
	uint32_t vlan = layout & LAYOUT_VLAN ? (be16_at(data + ETH_LEN) & 0xfffU) + 1 : 0;

	return stream_path(data, layout & LAYOUT_IPV6 ? ip[7] : ip[8], vlan, 0);
}

/* Returns its index, PAIR_NONE when the frame has to go the long way. */
static uint32_t open_flow(struct flow_table *t, const struct record *r, const struct skim *k,
			  const struct ends *ends, uint64_t frame)
{
	unsigned int layout = layout_of(k);
	uint32_t asker = PAIR_NONE;
	struct flow_entry *e;

	/* Connections that were made by CM say how a flow begins. */
	if (t->count == t->room || t->connections || k->needs & (TAKES_READ | TAKES_INSIDE))
		return PAIR_NONE;
	if (k->kind != RUN_REQUEST) {
		asker = asker_of(t, ends, k);
		if (asker == PAIR_NONE)
			return PAIR_NONE;
	}
	e = flow_entry_add(t, k->hash, ends->src, ends->dst, ends->dest_qpn);
	e->flow.sport = ends->sport;
	e->flow.encap = layout & LAYOUT_IPV6 ? ENCAP_ROCE_V2_IPV6 : ENCAP_ROCE_V2_IPV4;
	e->flow.service = opcode_class(k->opcode) & 7;
	e->flow.first_ns = r->time_ns;
	e->flow.first_frame = frame;
	e->stream.path = path_of(r->data, layout);
	if (asker != PAIR_NONE) {
		flow_entry_settle(t, &t->entry[asker]);
		flow_entry_pair(e, &t->entry[asker]);
		run_on(t, asker);
	}
	put_head(&t->run[e->id], layout, r, k);
	t->run[e->id].path = e->stream.path;
	run_on(t, e->id);
	return e->id;
}

void skim_open(struct flow_table *t, const struct record *r, struct skim *k, uint64_t frame)
{
	unsigned int layout = layout_of(k);
	struct ends ends;
	uint32_t id;

	if (!k->needs || k->needs & TAKES_NEVER || !is_plain(r->data, layout))
		return;
	find_ends(r->data, layout, &ends);
	id = flow_entry_seek(t, k->hash, ends.src, ends.dst, ends.dest_qpn);
	if (id == PAIR_NONE)
		id = open_flow(t, r, k, &ends, frame);
	k->id = id == PAIR_NONE ? 0 : id + 1;
}
