/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts packets by opcode, DSCP and time. The timeline merges pairs of slots when a packet is
 * later than its end. Hosts are in an open-addressing hash that doubles when half full.
 */
#include "capture/flow/breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/flow/flow_hash.h"

#define SLOT_START_NS 1000000 /* 1 ms */
#define SLOTS_FIRST   128U

static void breakdown_sum_rows(struct breakdown_row *to, const struct breakdown_row *what)
{
	to->packets += what->packets;
	to->bytes += what->bytes;
	to->ce += what->ce;
	to->cnp += what->cnp;
	to->retransmitted += what->retransmitted;
}

static void breakdown_widen_slots(struct breakdown *v)
{
	for (unsigned int i = 0; i < BREAKDOWN_SLOTS / 2; i++) {
		struct breakdown_row sum = v->slot[2 * i];

		breakdown_sum_rows(&sum, &v->slot[2 * i + 1]);
		v->slot[i] = sum;
	}
	memset(&v->slot[BREAKDOWN_SLOTS / 2], 0, sizeof(v->slot) / 2);
	v->slot_ns *= 2;
}

void breakdown_begin(struct breakdown *v, uint64_t time_ns)
{
	v->slot_ns = SLOT_START_NS;
	v->start_ns = time_ns;
}

static struct breakdown_row *breakdown_slot_at(struct breakdown *v, uint64_t time_ns)
{
	uint64_t since;

	if (!v->slot_ns)
		breakdown_begin(v, time_ns);
	since = saturating_sub(time_ns, v->start_ns);
	while (since / v->slot_ns >= BREAKDOWN_SLOTS)
		breakdown_widen_slots(v);
	return &v->slot[since / v->slot_ns];
}

static struct breakdown_row breakdown_packet_row(const struct packet *p, struct flow_events ev)
{
	return (struct breakdown_row){
		.packets = 1,
		.bytes = p->wire_len,
		.ce = (ev.bits & FLOW_CE) != 0,
		.cnp = (ev.bits & FLOW_CNP) != 0,
		.retransmitted = (ev.bits & FLOW_DUPLICATE) != 0,
	};
}

void breakdown_row_add(struct breakdown_row *row, const struct packet *p, struct flow_events ev)
{
	struct breakdown_row one = breakdown_packet_row(p, ev);

	breakdown_sum_rows(row, &one);
}

void breakdown_add(struct breakdown *v, const struct packet *p, struct flow_events ev)
{
	struct breakdown_row one = breakdown_packet_row(p, ev);

	if (p->kind != PACKET_ROCE || !p->bth)
		return;
	breakdown_sum_rows(&v->opcode[p->opcode], &one);
	breakdown_sum_rows(&v->dscp[p->dscp & 63], &one);
	breakdown_sum_rows(breakdown_slot_at(v, p->time_ns), &one);
}

/* Returns the slot of an address, or the free one for it. */
static uint32_t *breakdown_host_slot(const struct breakdown_hosts *h, const uint8_t address[16])
{
	uint32_t at = (uint32_t)flow_hash_address(FLOW_HASH_SEED, address) & h->slot_mask;

	while (h->slot[at] && memcmp(h->host[h->slot[at] - 1].address, address, 16) != 0)
		at = (at + 1) & h->slot_mask;
	return &h->slot[at];
}

static int breakdown_grow_hosts(struct breakdown_hosts *h)
{
	uint32_t slots = h->slot ? 2 * (h->slot_mask + 1) : SLOTS_FIRST;
	struct breakdown_host *host = reallocarray(h->host, slots / 2, sizeof(*host));
	uint32_t *slot;

	if (!host)
		return -ENOMEM;
	h->host = host;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(h->slot);
	h->slot = slot;
	h->slot_mask = slots - 1;
	for (uint32_t i = 0; i < h->count; i++)
		*breakdown_host_slot(h, h->host[i].address) = i + 1;
	return 0;
}

int breakdown_hosts_add(struct breakdown_hosts *h, const struct packet *p, struct flow_events ev)
{
	struct breakdown_row *row = &h->others;
	uint32_t *slot;
	int err;

	if (p->kind != PACKET_ROCE || !p->bth)
		return 0;
	if (!h->slot || (h->count == (h->slot_mask + 1) / 2 && h->count < BREAKDOWN_HOSTS_MAX)) {
		err = breakdown_grow_hosts(h);
		if (err)
			return err;
	}
	slot = breakdown_host_slot(h, p->src);
	if (!*slot && h->count < BREAKDOWN_HOSTS_MAX) {
		memset(&h->host[h->count], 0, sizeof(*h->host));
		memcpy(h->host[h->count].address, p->src, 16);
		*slot = ++h->count;
	}
	if (*slot)
		row = &h->host[*slot - 1].row;
	breakdown_row_add(row, p, ev);
	return 0;
}

static int breakdown_compare_hosts(const void *a, const void *b)
{
	const struct breakdown_host *x = a, *y = b;

	return memcmp(x->address, y->address, sizeof(x->address));
}

void breakdown_hosts_sort(struct breakdown_hosts *h)
{
	if (h->count)
		qsort(h->host, h->count, sizeof(*h->host), breakdown_compare_hosts);
}

void breakdown_hosts_clear(struct breakdown_hosts *h)
{
	free(h->host);
	free(h->slot);
	memset(h, 0, sizeof(*h));
}
