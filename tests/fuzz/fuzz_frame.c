/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a capture: decoded, printed as text and JSON, cut as a recording cuts them, followed as
 * flows, judged by the rules; at the end the summary goes through JSON and back. Inputs are those
 * of frame_input.h, whose spare byte says how long a shorter capture of the frame is.
 */
#include "capture/decode/lldp.h"
#include "capture/decode/opcode.h"
#include "capture/file/input.h"
#include "capture/flow/breakdown.h"
#include "capture/flow/samples.h"
#include "reports/engine/findings.h"
#include "reports/rules/check_capture.h"
#include "reports/rules/flow_verdict.h"
#include "tests/fuzz/frame_input.h"

#define MAX_FLOWS 8 /* few, so that flows are put out */

struct capture {
	struct frame_input in;
	struct flow_table *flows;
	struct lldp_peer peer;
	struct breakdown views;
	struct breakdown_hosts hosts;
	struct samples witnesses;
};

static void check_texts(const struct packet *p)
{
	char line[PACKET_TEXT_MAX], *brief;
	int len = packet_text(p, line, sizeof(line));
	size_t some = p->cap_len % 90 + 1;
	json_t *o = packet_to_json(p);
	char *dump;

	HOLDS(len > 0 && len < PACKET_TEXT_MAX && strlen(line) == (size_t)len);
	for (int i = 0; i < len; i++)
		HOLDS(line[i] >= ' ' && line[i] <= '~');
	brief = malloc(some);
	HOLDS(brief && packet_text(p, brief, some) == len && strlen(brief) < some);
	HOLDS(!strncmp(brief, line, strlen(brief)));
	free(brief);
	HOLDS(memchr(p->note, 0, sizeof(p->note)));
	HOLDS(o);
	dump = json_dumps(o, JSON_COMPACT);
	HOLDS(dump);
	free(dump);
	json_decref(o);
}

/* What a capture with fewer bytes of the same frame says, the whole one says too. */
static void check_shorter(const struct capture *c, const struct packet *p, const uint8_t *data,
			  uint32_t len)
{
	uint8_t *exact = fuzz_exact(data, len);
	struct packet s;

	packet_decode(c->in.dlt, exact, len, p->wire_len, p->frame, p->time_ns, &s);
	free(exact);
	HOLDS(s.kind == PACKET_OTHER || s.kind == p->kind);
	HOLDS(s.icrc == ICRC_UNVERIFIABLE || s.icrc == p->icrc);
	HOLDS((s.headers & p->headers) == s.headers);
	HOLDS(s.tunnel.kind == TUNNEL_NONE || s.tunnel.kind == p->tunnel.kind);
	HOLDS(s.cm.message == CM_NONE || s.cm.message == p->cm.message);
	HOLDS(s.fault != PACKET_MALFORMED || p->fault == PACKET_MALFORMED);
	if (!s.bth)
		return;
	HOLDS(p->bth && s.opcode == p->opcode && s.dest_qpn == p->dest_qpn && s.psn == p->psn);
	HOLDS(s.payload_len == p->payload_len && s.data_offset == p->data_offset);
	if (s.headers & HDR_RETH)
		HOLDS(s.reth.va == p->reth.va && s.reth.dma_len == p->reth.dma_len);
	if (s.headers & HDR_AETH)
		HOLDS(s.aeth.syndrome == p->aeth.syndrome && s.aeth.msn == p->aeth.msn);
}

/* At any length, and where the parts end: there a read beyond the end would be. */
static void check_all_shorter(const struct capture *c, const struct packet *p, const uint8_t *data,
			      uint8_t part)
{
	const uint32_t lens[] = {
		(uint32_t)((uint64_t)p->cap_len * part / 256),
		p->l3_offset + 7,
		p->l3_offset + 19,
		p->bth_offset + 11,
		p->data_offset - 1,
		p->data_offset,
		p->cap_len - 1,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++)
		if (lens[i] < p->cap_len)
			check_shorter(c, p, data, lens[i]);
}

/* What a recording keeps tells the same headers, no key and no data. */
static void check_cut(const struct capture *c, const struct packet *p, const uint8_t *data)
{
	uint8_t *exact = fuzz_exact(data, p->cap_len), *kept;
	uint32_t keep = trim_frame(p, exact, p->cap_len);
	struct packet s;

	HOLDS(keep <= p->cap_len);
	kept = fuzz_exact(exact, keep);
	free(exact);
	packet_decode(c->in.dlt, kept, keep, p->wire_len, p->frame, p->time_ns, &s);
	HOLDS(s.kind == p->kind && s.bth == p->bth);
	if (p->bth && opcode_info(p->opcode)->name && p->data_offset)
		HOLDS(s.headers == p->headers);
	if (p->bth)
		HOLDS(s.opcode == p->opcode && s.dest_qpn == p->dest_qpn && s.psn == p->psn);
	if (s.headers & HDR_RETH)
		HOLDS(!s.reth.rkey);
	if (s.headers & HDR_ATOMICETH)
		HOLDS(!s.atomiceth.rkey);
	if (s.headers & HDR_IETH)
		HOLDS(!s.ieth_rkey);
	HOLDS(trim_frame(&s, kept, keep) == keep);
	free(kept);
}

static void check_events(struct flow_events ev)
{
	char text[256];
	json_t *words = flow_events_to_json(ev);

	HOLDS(words);
	json_decref(words);
	memset(text, 'x', sizeof(text));
	flow_events_text(ev, text, sizeof(text));
	HOLDS(memchr(text, 0, sizeof(text)));
	HOLDS(!ev.bits == !*text);
}

static void take_frame(struct capture *c, struct packet *p)
{
	struct lldp_peer elsewhere = {0};
	struct err e;

	HOLDS(p->cap_end <= p->cap_len && p->wire_len >= p->cap_len);
	HOLDS(p->l3_offset <= p->cap_len && p->bth_offset <= p->cap_len);
	if (p->kind == PACKET_LLDP)
		(void)lldp_decode_packet(p, c->in.data, p->tunnel.kind ? &elsewhere : &c->peer, &e);
	check_texts(p);
	check_all_shorter(c, p, c->in.data, c->in.spare);
	check_cut(c, p, c->in.data);
	HOLDS(!flow_table_add(c->flows, p));
	check_events(flow_table_events(c->flows));
	samples_add(&c->witnesses, p, flow_table_events(c->flows));
	breakdown_add(&c->views, p, flow_table_events(c->flows));
	HOLDS(!breakdown_hosts_add(&c->hosts, p, flow_table_events(c->flows)));
}

static uint64_t packets_of(const struct breakdown_row *row, unsigned int count)
{
	uint64_t packets = 0;

	for (unsigned int i = 0; i < count; i++)
		packets += row[i].packets;
	return packets;
}

/* Each view counts each packet once. */
static void check_views(struct capture *c)
{
	const struct breakdown *v = &c->views;
	uint64_t packets = packets_of(v->opcode, ARRAY_SIZE(v->opcode));

	HOLDS(packets_of(v->dscp, ARRAY_SIZE(v->dscp)) == packets);
	HOLDS(packets_of(v->slot, ARRAY_SIZE(v->slot)) == packets);
	breakdown_hosts_sort(&c->hosts);
	for (unsigned int i = 0; i < c->hosts.count; i++)
		packets -= c->hosts.host[i].row.packets;
	HOLDS(packets == c->hosts.others.packets);
	breakdown_hosts_clear(&c->hosts);
}

static void check_verdicts(const struct capture_summary *s)
{
	char text[256];

	for (unsigned int i = 0; i < s->flow_count; i++) {
		memset(text, 'x', sizeof(text));
		flow_verdict_text(&s->flow[i], s->drops, text, sizeof(text));
		HOLDS(memchr(text, 0, sizeof(text)) && *text);
		HOLDS(!flow_verdict(&s->flow[i]) == !strcmp(text, "clean"));
	}
}

static void check_counts(const struct capture *c, const struct capture_summary *s)
{
	uint64_t packets = 0;

	HOLDS(s->totals.frames == c->in.frames && s->flow_count <= MAX_FLOWS);
	HOLDS(s->totals.roce + s->totals.other + s->totals.lldp + s->totals.pfc_frames +
		      s->totals.pause_frames ==
	      c->in.frames);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];

		packets += f->packets;
		HOLDS(f->icrc_good + f->icrc_bad + f->icrc_unverifiable == f->packets);
		HOLDS(f->reordered <= f->packets && f->duplicates <= f->packets);
	}
	HOLDS(packets <= s->totals.roce);
}

static void check_rules(const struct capture *c, const struct capture_summary *s)
{
	static struct fabric fabric;
	static struct run run;
	const struct capture_case one = {.name = "fuzz", .summary = s, .samples = &c->witnesses};
	struct findings findings = {0};

	HOLDS(!rules_run_capture(&fabric, &run, &one, &findings));
	findings_clear(&findings);
}

static void check_summary(const struct capture *c)
{
	struct capture_summary s, back;
	struct err e = {0};
	json_t *o, *again;

	HOLDS(!capture_summary_make(c->flows, &c->peer, DROPS_UNKNOWN, 0, &s));
	check_counts(c, &s);
	check_verdicts(&s);
	check_rules(c, &s);
	o = capture_summary_to_json(&s);
	HOLDS(o);
	if (capture_summary_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = capture_summary_to_json(&back);
	HOLDS(json_equal(o, again));
	json_decref(o);
	json_decref(again);
	capture_summary_clear(&s);
	capture_summary_clear(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture c = {.flows = flow_table_new(MAX_FLOWS)};
	struct packet p;

	HOLDS(c.flows);
	frame_input_begin(&c.in, data, size);
	while (frame_input_next(&c.in, &p))
		take_frame(&c, &p);
	check_summary(&c);
	check_views(&c);
	flow_table_free(c.flows);
	return 0;
}
