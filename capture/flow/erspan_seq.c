/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks sequence numbers of mirror tunnels. A late number within the last 64 was not lost. A
 * constant number, from a switch that does not set the field, is ignored.
 */
#include "capture/flow/erspan_seq.h"

#include <string.h>

#define WINDOW	 64
#define JUMP_MAX 65536 /* a larger jump is a restart of the mirror */

static struct erspan_session *erspan_find_session(struct erspan_seq *t, const struct packet *p)
{
	struct erspan_session *w;

	for (unsigned int i = 0; i < t->count; i++) {
		w = &t->session[i];
		if (w->session == p->tunnel.session && w->kind == p->tunnel.kind &&
		    !memcmp(w->src, p->tunnel.src, 16) && !memcmp(w->dst, p->tunnel.dst, 16))
			return w;
	}
	if (t->count == ERSPAN_SESSIONS)
		return NULL;
	w = &t->session[t->count++];
	*w = (struct erspan_session){
		.kind = p->tunnel.kind,
		.session = p->tunnel.session,
		.next = p->tunnel.sequence,
		.seen = UINT64_MAX, /* packets before the capture are not missing */
	};
	memcpy(w->src, p->tunnel.src, 16);
	memcpy(w->dst, p->tunnel.dst, 16);
	return w;
}

static void erspan_count_late(struct erspan_session *w, uint32_t back,
			      struct erspan_seq_totals *sum)
{
	uint64_t bit = back < WINDOW ? UINT64_C(1) << back : 0;

	if (!bit || w->seen & bit)
		return;
	w->seen |= bit;
	sum->missing--;
}

bool erspan_seq_add(struct erspan_seq *t, const struct packet *p, struct erspan_seq_totals *sum)
{
	struct erspan_session *w = p->tunnel.sequenced ? erspan_find_session(t, p) : NULL;
	int32_t ahead;

	if (!w)
		return false;
	sum->packets++;
	ahead = (int32_t)(p->tunnel.sequence - w->next);
	if (ahead >= JUMP_MAX || ahead < -JUMP_MAX) {
		sum->restarts++;
		w->next = p->tunnel.sequence + 1;
		w->seen = UINT64_MAX;
		return false;
	}
	if (ahead < 0) {
		erspan_count_late(w, (uint32_t)-ahead - 1, sum);
		return false;
	}
	w->next = p->tunnel.sequence + 1;
	w->seen = (ahead < WINDOW - 1 ? w->seen << (ahead + 1) : 0) | 1;
	sum->gaps += ahead != 0;
	sum->missing += (uint32_t)ahead;
	return ahead != 0;
}
