/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loop body of all users of captures. Reads LLDP from Ethernet and cooked captures alike:
 * packet_decode() states where the TLVs begin.
 */
#include "capture/reader.h"

#include <errno.h>
#include <string.h>

#include "capture/decode/bth.h"
#include "capture/decode/lldp.h"

int reader_init(struct reader *r, struct input *s, unsigned int max_flows, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->input = s;
	r->flows = flow_table_new(max_flows);
	if (r->flows) {
		uint32_t mbps = input_link_mbps(s);

		flow_table_set_link_speed(r->flows, mbps ? mbps : PAUSE_DEFAULT_MBPS,
					  mbps ? PAUSE_SPEED_FILE : PAUSE_SPEED_ASSUMED);
		return 0;
	}
	reader_clear(r);
	return err_sys(e, -ENOMEM, "capture");
}

void reader_assume_link_speed(struct reader *r, uint32_t mbps)
{
	if (flow_table_totals(r->flows)->pause.speed_source == PAUSE_SPEED_ASSUMED)
		flow_table_set_link_speed(r->flows, mbps, PAUSE_SPEED_GIVEN);
}

void reader_clear(struct reader *r)
{
	if (!r)
		return;
	flow_table_free(r->flows);
	input_close(r->input);
	memset(r, 0, sizeof(*r));
}

/* A mirrored frame arrived at another port: it is checked, but is no neighbour of this link. */
static void reader_read_lldp(struct reader *r, struct packet *p)
{
	struct lldp_peer elsewhere = {0};
	struct err e = {0};

	if (lldp_decode_packet(p, r->data, p->tunnel.kind ? &elsewhere : &r->lldp_peer, &e) >= 0)
		return;
	if (p->cap_len < p->wire_len)
		packet_fault(p, PACKET_TRUNCATED, "capture ends inside LLDP");
	else
		packet_fault(p, PACKET_MALFORMED, "%.63s", e.text);
}

/* Reads several frames of a plain file, or one of any other source. */
static int reader_read_batch(struct reader *r, int timeout_ms, struct err *e)
{
	int link = input_dlt(r->input);
	int got = input_read(r->input, timeout_ms, r->record, FLOW_AHEAD, e);

	r->at = 0;
	r->count = got > 0 ? (unsigned int)got : 0;
	for (unsigned int i = 0; i < r->count; i++)
		packet_decode(link, r->record[i].data, r->record[i].cap_len, r->record[i].wire_len,
			      r->frames + i + 1, r->record[i].time_ns, &r->packet[i]);
	flow_table_prefetch(r->flows, r->packet, r->count);
	return got;
}

int reader_next(struct reader *r, int timeout_ms, const struct packet **out, struct err *e)
{
	struct packet *p;
	int got;

	if (r->at == r->count) {
		got = reader_read_batch(r, timeout_ms, e);
		if (got <= 0)
			return got;
	}
	p = &r->packet[r->at];
	r->data = r->record[r->at++].data;
	r->frames++;
	if (p->kind == PACKET_LLDP)
		reader_read_lldp(r, p);
	*out = p;
	return flow_table_add(r->flows, p) < 0 ? err_sys(e, -ENOMEM, "flow table") : 1;
}

int reader_summary(struct reader *r, struct capture_summary *s)
{
	uint64_t dropped = 0;
	enum capture_drops drops = input_drops(r->input, &dropped);
	int err = capture_summary_make(r->flows, &r->lldp_peer, drops, dropped, s);

	if (!err)
		s->totals.time_step_ns = input_step_ns(r->input);
	return err;
}
