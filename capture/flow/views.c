/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts by opcode, DSCP and time. Two slots become one whenever a packet lies behind the last.
 */
#include "capture/flow/views.h"

#include <string.h>

#define SLOT_START_NS 1000000 /* 1 ms */

static void add(struct view_row *to, const struct view_row *what)
{
	to->packets += what->packets;
	to->bytes += what->bytes;
	to->ce += what->ce;
	to->cnp += what->cnp;
	to->again += what->again;
}

static void widen(struct capture_views *v)
{
	for (unsigned int i = 0; i < VIEW_SLOTS / 2; i++) {
		struct view_row sum = v->slot[2 * i];

		add(&sum, &v->slot[2 * i + 1]);
		v->slot[i] = sum;
	}
	memset(&v->slot[VIEW_SLOTS / 2], 0, sizeof(v->slot) / 2);
	v->slot_ns *= 2;
}

void capture_views_begin(struct capture_views *v, uint64_t time_ns)
{
	v->slot_ns = SLOT_START_NS;
	v->start_ns = time_ns;
}

static struct view_row *slot_at(struct capture_views *v, uint64_t time_ns)
{
	uint64_t since;

	if (!v->slot_ns)
		capture_views_begin(v, time_ns);
	since = time_ns > v->start_ns ? time_ns - v->start_ns : 0;
	while (since / v->slot_ns >= VIEW_SLOTS)
		widen(v);
	return &v->slot[since / v->slot_ns];
}

static struct view_row row_of(const struct packet *p, struct flow_events ev)
{
	return (struct view_row){
		.packets = 1,
		.bytes = p->wire_len,
		.ce = (ev.bits & FLOW_CE) != 0,
		.cnp = (ev.bits & FLOW_CNP) != 0,
		.again = (ev.bits & FLOW_DUPLICATE) != 0,
	};
}

void view_row_add(struct view_row *row, const struct packet *p, struct flow_events ev)
{
	struct view_row one = row_of(p, ev);

	add(row, &one);
}

void capture_views_add(struct capture_views *v, const struct packet *p, struct flow_events ev)
{
	struct view_row one = row_of(p, ev);

	if (p->kind != PACKET_ROCE || !p->bth)
		return;
	add(&v->opcode[p->opcode], &one);
	add(&v->dscp[p->dscp & 63], &one);
	add(slot_at(v, p->time_ns), &one);
}
