/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the first frames of each kind of event. Most packets are no event and cost a comparison.
 */
#include "capture/flow/witness.h"

#include <string.h>

static bool same_flow(const struct witness_flow *f, const struct packet *p)
{
	return f->bth == p->bth && f->dest_qpn == p->dest_qpn &&
	       !memcmp(f->src, p->src, sizeof(f->src)) && !memcmp(f->dst, p->dst, sizeof(f->dst));
}

/* NULL when there is no room for another flow. */
static struct witness_flow *flow_of(struct witness *w, const struct packet *p)
{
	struct witness_flow *f;

	for (unsigned int i = 0; i < w->flow_count; i++)
		if (same_flow(&w->flow[i], p))
			return &w->flow[i];
	if (w->flow_count == WITNESS_FLOWS_MAX)
		return NULL;
	f = &w->flow[w->flow_count++];
	memcpy(f->src, p->src, sizeof(f->src));
	memcpy(f->dst, p->dst, sizeof(f->dst));
	f->dest_qpn = p->dest_qpn;
	f->bth = p->bth;
	return f;
}

static void note(struct witness *w, const struct packet *p)
{
	struct witness_flow *f = flow_of(w, p);

	w->count++;
	if (!f)
		return;
	if (f->count < WITNESS_FRAMES_MAX)
		f->frame[f->count] = p->frame;
	f->count++;
}

void witness_add(struct witnesses *w, const struct packet *p, struct flow_events ev)
{
	for (uint32_t bits = ev.bits; bits; bits &= bits - 1)
		note(&w->kind[__builtin_ctz(bits)], p);
	if (p->fault == PACKET_MALFORMED)
		note(&w->kind[WITNESS_MALFORMED], p);
	if (p->kind == PACKET_PAUSE)
		note(&w->kind[WITNESS_PAUSE], p);
	if (p->kind == PACKET_PFC)
		note(&w->kind[WITNESS_PFC], p);
}
