/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the first frames of each kind of event. Most packets have no event and cost one comparison.
 */
#include "capture/flow/samples.h"

#include <string.h>

static bool sample_is_same_flow(const struct sample_flow *f, const struct packet *p)
{
	return f->bth == p->bth && f->dest_qpn == p->dest_qpn &&
	       !memcmp(f->src, p->src, sizeof(f->src)) && !memcmp(f->dst, p->dst, sizeof(f->dst));
}

/* NULL when there is no room for another flow. */
static struct sample_flow *sample_find_flow(struct sample_set *w, const struct packet *p)
{
	struct sample_flow *f;

	for (unsigned int i = 0; i < w->flow_count; i++)
		if (sample_is_same_flow(&w->flow[i], p))
			return &w->flow[i];
	if (w->flow_count == SAMPLE_FLOWS_MAX)
		return NULL;
	f = &w->flow[w->flow_count++];
	memcpy(f->src, p->src, sizeof(f->src));
	memcpy(f->dst, p->dst, sizeof(f->dst));
	f->dest_qpn = p->dest_qpn;
	f->bth = p->bth;
	return f;
}

static void sample_add_frame(struct sample_set *w, const struct packet *p)
{
	struct sample_flow *f = sample_find_flow(w, p);

	w->count++;
	if (!f)
		return;
	if (f->count < SAMPLE_FRAMES_MAX)
		f->frame[f->count] = p->frame;
	f->count++;
}

void samples_add(struct samples *w, const struct packet *p, struct flow_events ev)
{
	for (uint32_t bits = ev.bits; bits; bits &= bits - 1)
		sample_add_frame(&w->kind[__builtin_ctz(bits)], p);
	if (p->fault == PACKET_MALFORMED)
		sample_add_frame(&w->kind[SAMPLE_MALFORMED], p);
	if (p->kind == PACKET_PAUSE)
		sample_add_frame(&w->kind[SAMPLE_PAUSE], p);
	if (p->kind == PACKET_PFC)
		sample_add_frame(&w->kind[SAMPLE_PFC], p);
}
