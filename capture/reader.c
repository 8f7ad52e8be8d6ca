/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop body that all users of captures share. LLDP is read from Ethernet and from cooked
 * captures alike, because packet_decode() says where its TLVs begin.
 */
#include "capture/reader.h"

#include <errno.h>
#include <pcap/dlt.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode/bth.h"
#include "capture/decode/lldp.h"
#include "capture/file/crew.h"
#include "capture/flow/skim.h"

int reader_init(struct reader *r, struct source *s, unsigned int max_flows, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->source = s;
	r->flows = flow_table_new(max_flows);
	if (r->flows) {
		uint32_t mbps = source_link_mbps(s);

		flow_table_link(r->flows, mbps ? mbps : PAUSE_LINK_MBPS,
				mbps ? PAUSE_LINK_FILE : PAUSE_LINK_ASSUMED);
		return 0;
	}
	reader_clear(r);
	return err_sys(e, -ENOMEM, "capture");
}

void reader_assume_link(struct reader *r, uint32_t mbps)
{
	if (flow_table_totals(r->flows)->pause.link_of == PAUSE_LINK_ASSUMED)
		flow_table_link(r->flows, mbps, PAUSE_LINK_GIVEN);
}

void reader_clear(struct reader *r)
{
	if (!r)
		return;
	crew_free(r->crew);
	free(r->batch);
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

/* The long way. */
static int take_frame(struct reader *r, const struct record *record, struct packet *p,
		      struct err *e)
{
	r->data = record->data;
	packet_decode(source_link(r->source), record->data, record->cap_len, record->wire_len,
		      r->frames, record->time_ns, p);
	if (p->kind == PACKET_LLDP)
		read_lldp(r, p);
	return flow_table_add(r->flows, p) < 0 ? err_sys(e, -ENOMEM, "flow table") : 1;
}

int reader_next(struct reader *r, int timeout_ms, struct packet *p, struct err *e)
{
	struct record record;
	int got;

	if (r->batch && r->batch->at < r->batch->count) {
		record = r->batch->record[r->batch->at++];
	} else {
		got = source_next(r->source, timeout_ms, &record.data, &record.cap_len,
				  &record.wire_len, &record.time_ns, e);
		if (got <= 0)
			return got;
	}
	r->frames++;
	return take_frame(r, &record, p, e);
}

/* What the short way takes of the batch, up to a frame that is told in any case; false when that is
 * all of it. */
static bool skim_batch(struct reader *r)
{
	uint64_t left = READER_SHOW_EACH - 1 - r->frames % READER_SHOW_EACH;

	r->frames += skim_take(r->batch, r->flows, r->frames + 1, left);
	return r->batch->at < r->batch->count;
}

/* False when there are none: the end, or a source of another kind. */
static bool read_batch(struct reader *r)
{
	struct skim_batch *b = r->batch;

	if (r->crew && crew_next(r->crew, b)) {
		source_count(r->source, b->count);
		skim_find(b, r->flows);
		return true;
	}
	b->count = source_batch(r->source, b->record, SKIM_BATCH);
	skim_look(b, r->flows);
	return b->count;
}

static int make_batch(struct reader *r, struct err *e)
{
	if (r->batch)
		return 0;
	r->batch = malloc(sizeof(*r->batch));
	if (!r->batch)
		return err_sys(e, -ENOMEM, "capture");
	skim_init(r->batch, r->flows);
	r->batch->pass_marks = r->pass_marks;
	return 0;
}

void reader_pass_marks(struct reader *r)
{
	r->pass_marks = true;
}

int reader_jobs(struct reader *r, unsigned int jobs, struct err *e)
{
	struct record_file *records = source_records(r->source);
	int err;

	if (jobs < 2 || !records || source_link(r->source) != DLT_EN10MB)
		return 0;
	err = make_batch(r, e);
	if (err)
		return err;
	err = crew_new(records, jobs, r->batch, &r->crew);
	return err ? err_sys(e, err, "threads") : 0;
}

int reader_skim(struct reader *r, struct packet *p, struct err *e)
{
	int got;

	if (source_link(r->source) != DLT_EN10MB)
		return reader_next(r, -1, p, e);
	got = make_batch(r, e);
	if (got)
		return got;
	while (!skim_batch(r))
		if (!read_batch(r))
			return reader_next(r, -1, p, e);
	r->frames++;
	got = take_frame(r, &r->batch->record[r->batch->at], p, e);
	if (got > 0)
		skim_begin(r->batch, r->flows, p);
	r->batch->at++;
	return got;
}

int reader_summary(struct reader *r, struct capture_summary *s)
{
	uint64_t dropped = 0;
	enum capture_drops drops = source_drops(r->source, &dropped);
	int err = capture_summary_make(r->flows, &r->peer, drops, dropped, s);

	if (!err)
		s->totals.time_step_ns = source_step_ns(r->source);
	return err;
}
