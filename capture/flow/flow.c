/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts packets: counts each for its flow, and checks it as a request or a response together
 * with the reverse flow. Pairs come from the CM, else from responses that match requests.
 */
#include "capture/flow/flow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/decode/opcode.h"
#include "capture/flow/flow_entry_priv.h"
#include "capture/flow/flow_hash.h"
#include "capture/flow/qp_reuse.h"

/* Consecutive responses without a request: the QP now has another remote QP. */
#define UNMATCHED_MAX 8

/* NAK and RNR of an AETH. */
static void flow_count_nak(struct flow *f, const struct packet *p, struct flow_events *ev)
{
	switch (packet_aeth_kind(p)) {
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
	case AETH_ACK:
	case AETH_RESERVED:
		break;
	}
}

/* Datagrams of a QP go to many receivers with one PSN counter: UD PSNs do not show loss. */
static bool flow_has_psn_order(uint8_t opcode)
{
	return opcode_class(opcode) != OPCODE_CLASS_UD;
}

bool flow_is_acknowledged(const struct flow *f)
{
	return f->service != OPCODE_CLASS_UC && f->service != OPCODE_CLASS_UD;
}

static void flow_count_packet(struct flow_core *f, struct flow *more, const struct packet *p,
			      struct flow_events *ev)
{
	const struct opcode_info *op = opcode_info(p->opcode);

	/* earlier packets, e.g. CNPs, have no service */
	if (op->flags & (OP_REQUEST | OP_RESPONSE) && !f->requests && !f->responses)
		f->service = opcode_class(p->opcode) & 7;
	f->payload_bytes += p->payload_len;
	f->requests += !!(op->flags & OP_REQUEST);
	f->responses += !!(op->flags & OP_RESPONSE);
	f->last_frame = p->frame;
	if (p->payload_len > f->max_payload)
		f->max_payload = p->payload_len;
	flow_count_class(f, more, (uint8_t)((p->dscp & 63) << 2 | (p->ecn & 3)));
	if ((p->ecn & 3) == 3)
		ev->bits |= FLOW_CE;
	if (p->opcode == OPCODE_CNP) {
		more->cnp++;
		ev->bits |= FLOW_CNP;
	}
	if (p->fragment)
		ev->bits |= FLOW_FRAGMENT;
	f->icrc_good += p->icrc == ICRC_GOOD;
	if (p->icrc == ICRC_BAD) {
		more->icrc_bad++;
		ev->bits |= FLOW_ICRC_BAD;
	}
}

/* Of a response that is no duplicate. */
static void flow_count_response(struct flow_core *f, struct flow *more, const struct packet *p,
				struct flow_events *ev)
{
	if (!(p->headers & HDR_AETH))
		return;
	f->acks += packet_aeth_kind(p) == AETH_ACK && opcode_info(p->opcode)->flags & OP_ACK;
	flow_count_nak(more, p, ev);
}

/* True when the reverse direction has not retransmitted. Responses to retransmissions have the PSN
 * of the last one, after any time, and a NAK may be repeated for later packets. */
static bool flow_reverse_is_steady(const struct flow_table *t, const struct flow_entry *e,
				   const struct packet *p)
{
	const struct flow_entry *peer = e->reverse_flow == PAIRING_NONE
						? NULL
						: &t->entry[e->reverse_flow];
	const struct flow_ext *more = peer ? flow_entry_ext(peer) : NULL;

	if (!peer || (more && more->flow.duplicates))
		return false;
	if (packet_aeth_kind(p) != AETH_ACK &&
	    peer->requester.psn.last_ns > e->requester.response_ns)
		return false;
	return requester_is_steady(&peer->requester);
}

/* True when a flow may get a new pair: it has none, or its QP number is reused. */
static bool flow_can_pair(const struct flow_entry *e, const struct packet *p)
{
	return e->reverse_flow == PAIRING_NONE || qp_reuse_fits(&e->requester, p);
}

static void flow_replace_pair(struct flow_table *t, struct flow_entry *e, struct flow_entry *asker)
{
	if (asker->reverse_flow != PAIRING_NONE) {
		t->entry[asker->reverse_flow].reverse_flow = PAIRING_NONE;
		qp_reuse_confirm(&asker->requester, &flow_entry_ext(asker)->flow, &t->events);
	}
	flow_entry_pair(e, asker);
}

/* Returns the flow that a response answers, or NULL. */
static struct flow_entry *flow_find_requester(struct flow_table *t, struct flow_entry *e,
					      const struct packet *p)
{
	bool same_port = false;
	uint32_t id;

	if (e->reverse_flow != PAIRING_NONE)
		return &t->entry[e->reverse_flow];
	id = pairing_psn_find(t->pairs, flow_hash(FLOW_HASH_SEED, e->flow.dst, e->flow.src, 0),
			      p->psn, p->sport, &same_port);
	if (id >= t->count || id == e->id || memcmp(t->entry[id].flow.src, e->flow.dst, 16) ||
	    memcmp(t->entry[id].flow.dst, e->flow.src, 16) || !flow_can_pair(&t->entry[id], p))
		return NULL;
	if (!same_port && id != e->candidate) {
		e->candidate = id;
		return NULL;
	}
	flow_replace_pair(t, e, &t->entry[id]);
	return &t->entry[id];
}

static void flow_add_response(struct flow_table *t, struct flow_entry *e,
			      const struct requester_state *requester, const struct packet *p)
{
	struct flow_ext *more = flow_entry_ext(e);

	responder_add_response(&e->flow.responder, p, requester, &e->requester, &more->flow,
			       &t->events);
}

/* A NAK for a packet that was not captured, or to an unknown requester. */
static void flow_count_unknown_nak(struct flow_entry *e, const struct flow_events *ev)
{
	flow_entry_ext(e)->flow.naks_unknown += ev->bits & FLOW_NAK_SEQ ? 1 : 0;
}

static int flow_match_response(struct flow_table *t, struct flow_entry *e, struct flow_entry *peer,
			       const struct packet *p)
{
	bool fits;

	flow_entry_use_scratch(t, peer, 1);
	fits = requester_add_response(&peer->requester, p, &flow_entry_ext(peer)->flow, &t->events);
	/* else the request was not captured, or is a READ of unknown span */
	if (t->events.bits & FLOW_NEW_CONNECTION)
		e->flow.responder = (struct responder_state){0};
	if (fits) {
		uint32_t next = e->flow.responder.next;

		e->unmatched = 0;
		flow_add_response(t, e, &peer->requester, p);
		if (t->events.bits & (FLOW_READ_GAP | FLOW_REORDERED))
			requester_note_read_gap(&peer->requester, p, next,
						&flow_entry_ext(peer)->flow, &t->events);
		return flow_entry_keep_scratch(t, peer, 1);
	}
	flow_count_unknown_nak(e, &t->events);
	e->flow.responder = (struct responder_state){0};
	if (++e->unmatched == UNMATCHED_MAX) {
		e->reverse_flow = peer->reverse_flow = e->candidate = PAIRING_NONE;
		e->unmatched = 0;
	}
	return flow_entry_keep_scratch(t, peer, 1);
}

static void flow_judge_request(struct flow_table *t, struct flow_entry *e, const struct packet *p)
{
	requester_add_request(&e->requester, p, &flow_entry_ext(e)->flow, &t->events);
	if (t->events.bits & FLOW_NEW_CONNECTION && e->reverse_flow != PAIRING_NONE)
		t->entry[e->reverse_flow].flow.responder = (struct responder_state){0};
	if ((e->reverse_flow == PAIRING_NONE || e->requester.recreated) &&
	    opcode_class(p->opcode) != OPCODE_CLASS_UC &&
	    (p->ackreq || e->flow.requests < UNPAIRED_REQUESTS))
		pairing_psn_add(t->pairs, flow_hash(FLOW_HASH_SEED, e->flow.src, e->flow.dst, 0),
				p->psn, p->sport, e->id);
}

static void flow_count_held(struct flow_table *t, const struct packet *p, struct flow_entry *e)
{
	uint64_t ns = pause_held_ns(&t->pause, p, e->flow.last_ns);
	struct flow *f = &flow_entry_ext(e)->flow;

	e->flow.held_unknown += !p->vlan_count;
	f->held += ns != 0;
	f->held_ns += ns;
	t->events.bits |= ns ? FLOW_HELD : 0;
}

static void flow_count_cnp_spacing(struct flow *f, uint64_t now_ns, struct flow_events *ev)
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

/* True when the capture has a packet twice. A packet on a second path may also fill a gap of the
 * first path. */
static bool flow_is_dup(struct flow_table *t, struct flow_entry *e, const struct packet *p,
			bool believed)
{
	struct flow_ext *more = flow_entry_ext(e);
	bool same;

	if (p->opcode == OPCODE_CNP)
		return requester_is_cnp_dup(&e->requester, p, more->flow.cnp_last_ns);
	if (believed && responder_awaits(&more->loss, p) && !requester_is_on_path(&e->requester, p))
		return false;
	same = opcode_info(p->opcode)->flags & OP_RESPONSE &&
	       requester_is_same_response(&e->requester, p) && flow_reverse_is_steady(t, e, p);
	return requester_is_dup(&e->requester, p, e->flow.last_ns, same);
}

/* Checks a packet beyond the counters of its flow. A packet with a bad ICRC is ignored: the
 * receiver drops it. */
static int flow_judge_packet(struct flow_table *t, struct flow_entry *e, const struct packet *p)
{
	uint8_t flags = opcode_info(p->opcode)->flags;
	bool believed = p->icrc != ICRC_BAD && p->fault != PACKET_MALFORMED;
	bool request = (flags & OP_REQUEST) && flow_has_psn_order(p->opcode);
	struct flow *more = &flow_entry_ext(e)->flow;
	struct flow_entry *peer;

	if (t->totals.pfc_frames && request)
		flow_count_held(t, p, e);
	if (request && believed) {
		flow_judge_request(t, e, p);
		return 0;
	}
	if (flow_is_dup(t, e, p, believed)) {
		more->copies++;
		t->events.bits |= FLOW_MIRROR_DUP;
		return 0;
	}
	flow_count_response(&e->flow, more, p, &t->events);
	if (request && p->icrc == ICRC_BAD) {
		requester_add_bad_request(&e->requester, p);
	} else if ((flags & OP_RESPONSE) && believed && p->opcode != OPCODE_CNP) {
		peer = flow_find_requester(t, e, p);
		if (peer)
			return flow_match_response(t, e, peer, p);
		flow_count_unknown_nak(e, &t->events);
		flow_add_response(t, e, NULL, p);
	} else if (p->opcode == OPCODE_CNP && believed) {
		flow_count_cnp_spacing(more, p->time_ns, &t->events);
	}
	return 0;
}

/* Applies a connection from the CM to the flow from src to dst. */
static int flow_apply_connection(struct flow_table *t, const uint8_t src[16], const uint8_t dst[16],
				 const struct connection *c)
{
	struct flow_entry *e = c ? flow_entry_find(t, src, dst, c->dest_qpn) : NULL;

	return e ? flow_entry_set_connection(t, e, c) : 0;
}

static int flow_read_cm(struct flow_table *t, const struct packet *p)
{
	const struct connection *forward, *reverse;
	int err;

	if (!t->connections)
		t->connections = pairing_cm_new(t->seed);
	if (!t->connections)
		return -ENOMEM;
	if (!pairing_cm_add(t->connections, p, &forward, &reverse))
		return 0;
	err = flow_apply_connection(t, p->src, p->dst, reverse);
	return err ? err : flow_apply_connection(t, p->dst, p->src, forward);
}

static void flow_count_totals(struct capture_totals *s, const struct packet *p)
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

static int flow_add_packet(struct flow_table *t, const struct packet *p)
{
	struct flow_entry *e = flow_entry_get(t, p);
	int err, keep_err;

	if (!e)
		return -ENOMEM;
	flow_entry_use_scratch(t, e, 0);
	flow_count_packet(&e->flow, &flow_entry_ext(e)->flow, p, &t->events);
	err = flow_judge_packet(t, e, p);
	e->flow.last_ns = p->time_ns;
	keep_err = flow_entry_keep_scratch(t, e, 0);
	if (err || keep_err)
		return err ? err : keep_err;
	return p->cm.message && p->icrc != ICRC_BAD ? flow_read_cm(t, p) : 0;
}

int flow_table_add(struct flow_table *t, const struct packet *p)
{
	int err;

	memset(&t->events, 0, sizeof(t->events));
	if (p->kind == PACKET_ROCE && p->bth) {
		err = flow_add_packet(t, p);
		if (err)
			return err;
	}
	flow_count_totals(&t->totals, p);
	if (p->tunnel.kind && erspan_seq_add(&t->mirror, p, &t->totals.mirror))
		t->events.bits |= FLOW_MIRROR_GAP;
	if (p->kind == PACKET_PFC)
		pause_add(&t->pause, p, &t->totals.pause);
	return 0;
}

void flow_table_set_link_speed(struct flow_table *t, uint32_t mbps, enum pause_speed_source of)
{
	t->totals.pause.link_mbps = mbps;
	t->totals.pause.speed_source = of;
}

const struct capture_totals *flow_table_totals(const struct flow_table *t)
{
	return &t->totals;
}

unsigned int flow_table_count(const struct flow_table *t)
{
	return t->count;
}

struct flow_events flow_table_events(const struct flow_table *t)
{
	return t->events;
}

/* Words and texts of the events. */
static const struct {
	enum flow_event event;
	const char *word, *text;
} event_words[] = {
	{FLOW_PSN_GAP, "psn_gap", "after a PSN gap"},
	{FLOW_PSN_FILLED, "psn_filled", "fills a PSN gap"},
	{FLOW_DUPLICATE, "duplicate", "retransmitted"},
	{FLOW_NEW_CONNECTION, "new_connection", "new connection on this QP"},
	{FLOW_NAK_SEQ, "nak_seq", "sequence NAK"},
	{FLOW_NAK_OTHER, "nak_other", "fatal NAK"},
	{FLOW_RNR, "rnr", "receiver not ready"},
	{FLOW_CNP, "cnp", "CNP"},
	{FLOW_CE, "ce", "CE mark"},
	{FLOW_ICRC_BAD, "icrc_bad", "bad ICRC"},
	{FLOW_FRAGMENT, "fragment", "IP fragment"},
	{FLOW_MIRROR_DUP, "copy", "captured twice"},
	{FLOW_TIMEOUT, "timeout", "after a timeout"},
	{FLOW_RNR_RETRY, "rnr_retry", "retry after an RNR NAK"},
	{FLOW_READ_RETRY, "read_retry", "retries the rest of a READ"},
	{FLOW_UNEXPLAINED, "unexplained", "trigger not in capture"},
	{FLOW_LOST, "lost", "was lost before"},
	{FLOW_REORDERED, "reordered", "arrived out of order"},
	{FLOW_CORRUPTED, "corrupted", "had a bad ICRC before"},
	{FLOW_MISSED, "missed", "acknowledges PSNs that the capture missed"},
	{FLOW_HELD, "held", "held by a pause"},
	{FLOW_CNP_CLOSE, "cnp_close", "less than 3 us after the previous CNP"},
	{FLOW_MIRROR_GAP, "mirror_gap", "the mirror lost packets before it"},
	{FLOW_READ_GAP, "read_gap", "READ responses missing before it"},
	{FLOW_READ_FILLED, "read_filled", "fills a gap in a READ"},
};

json_t *flow_events_to_json(struct flow_events ev)
{
	json_t *words = json_array();
	unsigned int i;

	for (i = 0; words && i < ARRAY_SIZE(event_words); i++) {
		if (!(ev.bits & event_words[i].event))
			continue;
		if (json_array_append_new(words, json_string(event_words[i].word)) < 0) {
			json_decref(words);
			words = NULL;
		}
	}
	return words;
}

void flow_events_text(struct flow_events ev, char *buf, size_t size)
{
	size_t used = 0;
	unsigned int i;

	if (size)
		buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(event_words) && used < size; i++) {
		if (!(ev.bits & event_words[i].event))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 event_words[i].text);
		if (used < size && event_words[i].event == FLOW_PSN_GAP)
			used += (size_t)snprintf(buf + used, size - used, " of %u", ev.psns);
	}
}
