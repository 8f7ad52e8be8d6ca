/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a packet means: counted for its flow, judged as request or answer with the flow of the other
 * direction. Pairs come from the connection manager, else from responses that match requests.
 */
#include "capture/flow.h"

#include <errno.h>
#include <string.h>

#include "capture/flow_entry.h"
#include "capture/opcode.h"

/* Answers in a row that fit no request: the QP number has another partner by now. */
#define STRANGERS_MAX 8

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

/* The flow that a response answers to, as far as it is known. */
static struct flow_entry *peer_of(struct flow_table *t, struct flow_entry *e,
				  const struct packet *p)
{
	bool same_port = false;
	uint32_t id;

	if (e->peer != PAIR_NONE) {
		flow_entry_settle(t, &t->entry[e->peer]);
		return &t->entry[e->peer];
	}
	id = pair_find(t->pairs, e->hosts_back, p, &same_port);
	if (id >= t->count || t->entry[id].peer != PAIR_NONE || id == e->id ||
	    memcmp(t->entry[id].flow.src, e->flow.dst, 16) ||
	    memcmp(t->entry[id].flow.dst, e->flow.src, 16))
		return NULL;
	if (!same_port && id != e->candidate) {
		e->candidate = id;
		return NULL;
	}
	flow_entry_settle(t, &t->entry[id]);
	flow_entry_pair(e, &t->entry[id]);
	return &t->entry[id];
}

static void answer(struct flow_entry *e, struct flow_entry *peer, const struct packet *p,
		   struct flow_events *ev)
{
	if (stream_answer(&peer->stream, p, &peer->flow, ev)) {
		e->strangers = 0;
	} else if (++e->strangers == STRANGERS_MAX) {
		e->peer = peer->peer = e->candidate = PAIR_NONE;
		e->strangers = 0;
	}
}

static void judge_request(struct flow_table *t, struct flow_entry *e, const struct packet *p)
{
	stream_request(&e->stream, p, &e->flow, &t->events);
	if (e->peer == PAIR_NONE && opcode_class(p->opcode) != OPCODE_CLASS_UC &&
	    (p->ackreq || e->flow.requests < UNPAIRED_REQUESTS))
		pair_note(t->pairs, e->hosts, p, e->id);
}

static void count_held(const struct pause_track *t, const struct packet *p, struct flow *f,
		       struct flow_events *ev)
{
	uint64_t ns = pause_held_ns(t, p, f->last_ns);

	f->held_unknown += !p->vlan_count;
	f->held += ns != 0;
	f->held_ns += ns;
	ev->bits |= ns ? FLOW_HELD : 0;
}

static void space_cnp(struct flow *f, uint64_t now_ns, struct flow_events *ev)
{
	if (f->cnp_last_ns && now_ns > f->cnp_last_ns) {
		uint64_t ns = now_ns - f->cnp_last_ns;

		f->cnp_span_ns += ns;
		if (!f->cnp_min_ns || ns < f->cnp_min_ns)
			f->cnp_min_ns = ns;
		if (ns < CNP_SPACING_NS) {
			f->cnp_close++;
			ev->bits |= FLOW_CNP_CLOSE;
		}
	}
	f->cnp_last_ns = now_ns;
}

/* What a packet says beyond its own flow's counters. A packet with a bad ICRC says nothing: the
 * receiver drops it. */
static void judge(struct flow_table *t, struct flow_entry *e, const struct packet *p)
{
	uint8_t flags = opcode_info(p->opcode)->flags;
	bool believed = p->icrc != ICRC_BAD && p->fault != PACKET_MALFORMED;
	bool request = (flags & OP_REQUEST) && has_psn_order(p->opcode);
	struct flow_entry *peer;

	if (t->totals.pfc_frames && request)
		count_held(&t->pause, p, &e->flow, &t->events);
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
			answer(e, peer, p, &t->events);
	} else if (p->opcode == OPCODE_CNP && believed) {
		space_cnp(&e->flow, p->time_ns, &t->events);
	}
}

/* What the connection manager says of the flow from src to dst that `c` begins. */
static void connect_flow(struct flow_table *t, const uint8_t src[16], const uint8_t dst[16],
			 const struct connection *c)
{
	struct flow_entry *e;

	if (!c)
		return;
	e = flow_entry_find(t, src, dst, c->dest_qpn);
	if (e)
		flow_entry_connect(t, e, c);
}

static int manage(struct flow_table *t, const struct packet *p)
{
	const struct connection *there, *back;

	if (!t->connections)
		t->connections = connect_table_new(t->seed);
	if (!t->connections)
		return -ENOMEM;
	if (!connect_take(t->connections, p, &there, &back))
		return 0;
	connect_flow(t, p->src, p->dst, back);
	connect_flow(t, p->dst, p->src, there);
	return 0;
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
	struct flow_entry *e;

	memset(&t->events, 0, sizeof(t->events));
	if (p->kind == PACKET_ROCE && p->bth) {
		e = flow_entry_of(t, p);
		if (!e)
			return -ENOMEM;
		t->last = e->id;
		count_packet(&e->flow, p, &t->events);
		judge(t, e, p);
		e->flow.last_ns = p->time_ns;
		if (p->cm.message && p->icrc != ICRC_BAD && manage(t, p) < 0)
			return -ENOMEM;
	}
	count_totals(&t->totals, p);
	if (p->tunnel.kind && mirror_take(&t->mirror, p, &t->totals.mirror))
		t->events.bits |= FLOW_MIRROR_GAP;
	if (p->kind == PACKET_PFC) {
		pause_take(&t->pause, p, &t->totals.pause);
		t->pfc_ns = p->time_ns > t->pfc_ns ? p->time_ns : t->pfc_ns;
	}
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
	struct stream s;

	if (i >= t->count)
		return;
	*f = t->entry[i].flow;
	s = t->entry[i].stream;
	flow_entry_tell(t, i, f, &s);
	stream_end(&s, f);
}

struct flow_events flow_table_events(const struct flow_table *t)
{
	return t->events;
}
