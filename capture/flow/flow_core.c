/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flow holds: the core that all have, what its run came to, and what only few have, which is
 * lent for each packet and kept when something was put there. In a capture of many flows, memory
 * that has to be cleared and fetched takes more time than packets.
 */
#include <errno.h>
#include <string.h>

#include "capture/flow/flow_entry.h"

/* Where packets of a class are counted; FLOW_CLASSES = elsewhere. */
static unsigned int class_of(const struct flow_core *f, uint8_t tclass)
{
	unsigned int i = 0;

	while (i < FLOW_CLASSES && f->class_packets[i] && f->tclass[i] != tclass)
		i++;
	return i;
}

static void add_class(struct flow *f, uint8_t tclass, uint64_t packets)
{
	f->packets += packets;
	f->ecn[tclass & 3] += packets;
	f->dscp[tclass >> 2] += packets;
}

void flow_count_class(struct flow_core *f, struct flow *more, uint8_t tclass, uint64_t packets)
{
	unsigned int i = class_of(f, tclass);

	if (i < FLOW_CLASSES) {
		f->tclass[i] = tclass;
		f->class_packets[i] += packets;
	} else if (more && packets) {
		add_class(more, tclass, packets);
	}
}

static void tell_class(const struct flow_run *r, unsigned int kind, struct flow_entry *e)
{
	struct flow_more *more = flow_entry_more(e);

	flow_count_class(&e->flow, more ? &more->flow : NULL, r->tclass[kind], r->count[kind]);
}

/* The packets that were counted in the run alone. */
static void tell_packets(struct flow_run *r, struct flow_entry *e)
{
	for (unsigned int kind = 0; kind < RUN_KINDS; kind++)
		tell_class(r, kind, e);
	e->flow.requests += r->count[RUN_REQUEST];
	e->flow.responses += r->count[RUN_RESPONSE] + r->count[RUN_ACK];
	e->flow.acks += r->count[RUN_ACK];
	memset(r->count, 0, sizeof(r->count));
}

bool flow_entry_change_class(struct flow_table *t, uint32_t id, enum flow_run_kind kind,
			     uint8_t tclass)
{
	struct flow_entry *e = &t->entry[id];
	struct flow_run *r = &t->run[id];

	/* All of them: what one has only in its run may be in the place that is free. */
	tell_packets(r, e);
	if (class_of(&e->flow, tclass) == FLOW_CLASSES && !e->stream.more)
		return false;
	r->tclass[kind] = tclass;
	return true;
}

/* All but the packets. */
static void tell_flow(const struct flow_run *r, struct flow_core *f)
{
	f->icrc_good += r->icrc_good;
	f->payload_bytes += r->payload_bytes;
	f->max_payload = r->max_payload > f->max_payload ? r->max_payload : f->max_payload;
	f->last_ns = r->last_ns;
	f->last_frame = r->last_frame;
}

static void tell_stream(const struct flow_run *r, struct stream *s)
{
	s->psn.expected = r->takes & TAKES_FIRST ? s->psn.expected : r->expected;
	s->psn.started |= (r->took & TAKES_REQUEST) != 0;
	s->psn.pmtu = r->pmtu ? r->pmtu : s->psn.pmtu;
	s->psn.last_ns = r->request_ns;
	s->last_psn = r->last_psn;
	s->next_psn = r->took & TAKES_REQUEST ? r->expected : s->next_psn;
	s->una = r->una;
	s->last_opcode = r->last_opcode;
	s->answer_psn = r->took & TAKES_RESPONSE ? r->answer_psn : s->answer_psn;
	s->answer_ns = r->answer_ns;
}

static void tell_answers(const struct flow_run *r, struct flow_entry *e)
{
	e->flow.answers.next = (r->answer_psn + 1) & PSN_MASK;
	e->flow.answers.state = r->takes & TAKES_INSIDE ? ANSWERS_INSIDE : ANSWERS_BETWEEN;
	e->stream.answer_kind = AETH_ACK;
	e->strangers = 0;
}

void flow_entry_settle(struct flow_table *t, struct flow_entry *e)
{
	struct flow_run *r = &t->run[e->id];

	if (!r->takes)
		return;
	tell_packets(r, e);
	tell_flow(r, &e->flow);
	tell_stream(r, &e->stream);
	if (r->took & TAKES_RESPONSE)
		tell_answers(r, e);
	r->takes = 0;
}

static void put_core(const struct flow_core *c, struct flow *f)
{
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
	for (unsigned int i = 0; i < FLOW_CLASSES; i++)
		add_class(f, c->tclass[i], c->class_packets[i]);
}

static void put_run(const struct flow_run *r, struct flow *f)
{
	f->requests += r->count[RUN_REQUEST];
	f->responses += r->count[RUN_RESPONSE] + r->count[RUN_ACK];
	f->acks += r->count[RUN_ACK];
	f->icrc_good += r->icrc_good;
	f->payload_bytes += r->payload_bytes;
	f->max_payload = r->max_payload > f->max_payload ? r->max_payload : f->max_payload;
	f->last_ns = r->last_ns;
	f->last_frame = r->last_frame;
	for (unsigned int kind = 0; kind < RUN_KINDS; kind++)
		add_class(f, r->tclass[kind], r->count[kind]);
}

void flow_entry_get(const struct flow_table *t, uint32_t id, struct flow *f)
{
	const struct flow_entry *e = &t->entry[id];
	const struct flow_more *more = flow_entry_more(e);
	const struct flow_run *r = &t->run[id];

	if (more)
		*f = more->flow;
	else
		memset(f, 0, sizeof(*f));
	put_core(&e->flow, f);
	if (r->takes)
		put_run(r, f);
	f->icrc_unverifiable = f->packets - f->icrc_good - f->icrc_bad;
}

void flow_entry_lend(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	if (!e->stream.more) {
		e->stream.more = &t->more[i].stream;
		e->stream.psn.gap = t->more[i].stream.gap;
	}
	if (!e->stream.read)
		e->stream.read = t->read[i];
}

typedef uint64_t words __attribute__((vector_size(32), aligned(8)));

static bool is_zero(const void *from, size_t bytes)
{
	const uint8_t *at = from;
	words any = {0}, word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		any |= word;
	}
	for (; bytes; bytes--)
		any[0] |= *at++;
	return !(any[0] | any[1] | any[2] | any[3]);
}

/* Its gaps mean nothing without their number, and packets are counted beside their class. */
static bool is_used(const struct flow_more *more)
{
	const size_t counters = offsetof(struct flow, packets);

	return !is_zero(&more->flow.packets, offsetof(struct flow, dscp) - counters) ||
	       !is_zero(&more->stream, offsetof(struct stream_more, gap));
}

/* The same after a packet that was no event, which most are: of what may be used without one. */
static bool is_used_quietly(const struct flow_more *more)
{
	const struct flow *f = &more->flow;

	return (f->packets | f->psn_unjudged | f->new_connections | more->stream.timeout_ns) != 0;
}

static int keep_more(struct flow_table *t, struct flow_entry *e, struct flow_more *lent)
{
	bool used = t->events.bits ? is_used(lent) : is_used_quietly(lent);
	struct flow_more *own = used ? flow_pool_take(&t->mores) : NULL;

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

static int keep_reads(struct flow_table *t, struct stream *s)
{
	const struct stream_read *lent = s->read;
	size_t bytes = STREAM_READS * sizeof(*lent);

	s->read = s->read_count ? flow_pool_take(&t->reads) : NULL;
	if (s->read) {
		memcpy(s->read, lent, bytes);
		return 0;
	}
	if (!s->read_count)
		return 0;
	s->read_count = 0;
	return -ENOMEM;
}

int flow_entry_keep(struct flow_table *t, struct flow_entry *e)
{
	int err = 0, read_err = 0;

	for (unsigned int i = 0; i < FLOWS_LENT; i++) {
		if (e->stream.more == &t->more[i].stream)
			err = keep_more(t, e, &t->more[i]);
		if (e->stream.read == t->read[i])
			read_err = keep_reads(t, &e->stream);
	}
	return err ? err : read_err;
}
