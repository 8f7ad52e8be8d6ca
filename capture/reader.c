/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop body that all users of captures share. LLDP is read from Ethernet and from cooked
 * captures alike, because packet_decode() says where its TLVs begin.
 */
#include "capture/reader.h"

#include <errno.h>
#include <string.h>

#include "capture/bth.h"
#include "capture/lldp.h"

int reader_init(struct reader *r, struct source *s, unsigned int max_flows, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->source = s;
	r->flows = flow_table_new(max_flows);
	if (r->flows)
		return 0;
	reader_clear(r);
	return err_sys(e, -ENOMEM, "capture");
}

void reader_clear(struct reader *r)
{
	if (!r)
		return;
	flow_table_free(r->flows);
	source_close(r->source);
	memset(r, 0, sizeof(*r));
}

/* What a mirror carries was heard by another port: it is checked, but it is no neighbour here. */
static void read_lldp(struct reader *r, struct packet *p)
{
	struct lldp_peer elsewhere = {0};
	struct err e = {0};

	if (lldp_decode_packet(p, r->data, p->tunnel.kind ? &elsewhere : &r->peer, &e) >= 0)
		return;
	if (p->cap_len < p->wire_len)
		packet_fault(p, PACKET_TRUNCATED, "capture ends inside LLDP");
	else
		packet_fault(p, PACKET_MALFORMED, "%.63s", e.text);
}

int reader_next(struct reader *r, int timeout_ms, struct packet *p, struct err *e)
{
	uint32_t cap_len, wire_len;
	uint64_t time_ns;
	int got;

	got = source_next(r->source, timeout_ms, &r->data, &cap_len, &wire_len, &time_ns, e);
	if (got <= 0)
		return got;
	packet_decode(source_link(r->source), r->data, cap_len, wire_len, ++r->frames, time_ns, p);
	if (p->kind == PACKET_LLDP)
		read_lldp(r, p);
	return flow_table_add(r->flows, p) < 0 ? err_sys(e, -ENOMEM, "flow table") : 1;
}

int reader_summary(struct reader *r, struct capture_summary *s)
{
	uint64_t dropped = 0;
	enum capture_drops drops = source_drops(r->source, &dropped);

	return capture_summary_make(r->flows, &r->peer, drops, dropped, s);
}
