/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flow holds: the core that all have, and what only few have, which is lent for each packet
 * and kept when something was put there. In a capture of many flows, memory that has to be cleared
 * and fetched takes more time than packets.
 */
#include <errno.h>
#include <string.h>

#include "capture/flow/flow_entry.h"

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

void flow_entry_get(const struct flow_table *t, uint32_t id, struct flow *f)
{
	const struct flow_entry *e = &t->entry[id];
	const struct flow_more *more = flow_entry_more(e);

	if (more)
		*f = more->flow;
	else
		memset(f, 0, sizeof(*f));
	put_core(&e->flow, f);
	f->icrc_unverifiable = f->packets - f->icrc_good - f->icrc_bad;
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

int flow_entry_keep_lent(struct flow_table *t, struct flow_entry *e, unsigned int i)
{
	int err = 0, read_err = 0;

	if (e->stream.more == &t->more[i].stream)
		err = keep_more(t, e, &t->more[i]);
	if (e->stream.read == t->read[i])
		read_err = keep_reads(t, &e->stream);
	return err ? err : read_err;
}
