/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence of captures: adds up the counters of the flow table, and weighs them by losses of the
 * capture and missing directions.
 */
#include "reports/rules/capture_evidence.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void evidence_time(const struct capture_summary *s, uint64_t ns, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} rows[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

	if (ns < s->totals.time_step_ns) {
		snprintf(buf, size, "less than %" PRIu64 " us", s->totals.time_step_ns / 1000);
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		if (ns < rows[i].ns)
			continue;
		snprintf(buf, size, "%.3f %s", (double)ns / (double)rows[i].ns, rows[i].unit);
		return;
	}
	snprintf(buf, size, "%" PRIu64 " ns", ns);
}

static void capture_grow_span(uint64_t first_ns, uint64_t last_ns, uint64_t *from, uint64_t *to)
{
	*from = first_ns < *from ? first_ns : *from;
	*to = last_ns > *to ? last_ns : *to;
}

/* Simulators begin at the time 0. */
uint64_t capture_span_ns(const struct capture_summary *s)
{
	uint64_t from = UINT64_MAX, to = 0;

	if (s->totals.pfc_frames)
		capture_grow_span(s->totals.pause.first_ns, s->totals.pause.last_ns, &from, &to);
	for (unsigned int i = 0; i < s->flow_count; i++)
		capture_grow_span(s->flow[i].first_ns, s->flow[i].last_ns, &from, &to);
	return saturating_sub(to, from);
}

uint64_t flow_counter(const struct flow *f, size_t counter)
{
	uint64_t value;

	memcpy(&value, (const char *)f + counter, sizeof(value));
	return value;
}

uint64_t capture_sum(const struct capture_summary *s, size_t counter, unsigned int *flows)
{
	uint64_t sum = 0;

	*flows = 0;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		uint64_t value = flow_counter(&s->flow[i], counter);

		sum += value;
		*flows += value != 0;
	}
	return sum;
}

uint64_t flow_never_came(const struct flow *f)
{
	return saturating_sub(f->psn_missing, f->missed_psns);
}

unsigned int capture_sums(const struct capture_summary *s, flow_kind_count *count, size_t kinds,
			  uint64_t sum[])
{
	unsigned int flows = 0;

	memset(sum, 0, kinds * sizeof(sum[0]));
	for (unsigned int i = 0; i < s->flow_count; i++) {
		bool any = false;

		for (size_t kind = 0; kind < kinds; kind++) {
			uint64_t value = count(&s->flow[i], kind);

			sum[kind] += value;
			any = any || value;
		}
		flows += any;
	}
	return flows;
}

const struct flow *flow_next_most(const struct capture_summary *s, flow_kind_count *count,
				  size_t kind, const struct flow *last)
{
	uint64_t below = last ? count(last, kind) : UINT64_MAX, most = 0;
	const struct flow *next = NULL;

	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		uint64_t value = count(f, kind);

		if (value > most && (value < below || (value == below && f > last))) {
			next = f;
			most = value;
		}
	}
	return next;
}

enum capture_drops capture_drops_of(const struct capture_summary *s, uint64_t *dropped)
{
	*dropped = s->totals.mirror.missing + (s->drops == DROPS_SOME ? s->dropped : 0);
	return s->totals.mirror.missing ? DROPS_SOME : s->drops;
}

struct flow_key flow_key_make(const uint8_t src[16], const uint8_t dst[16], uint32_t dest_qpn)
{
	struct flow_key k = {.dest_qpn = dest_qpn};

	memcpy(k.src, src, 16);
	memcpy(k.dst, dst, 16);
	return k;
}

int flow_key_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct flow_key));
}

struct direction_counts capture_count_directions(const struct capture_summary *s,
						 struct findings *out)
{
	struct flow_key *directions = calloc(s->flow_count + 1, sizeof(*directions)), back;
	struct direction_counts o = {0};

	if (!directions) {
		out->err = -ENOMEM;
		return o;
	}
	for (unsigned int i = 0; i < s->flow_count; i++)
		directions[i] = flow_key_make(s->flow[i].src, s->flow[i].dst, 0);
	qsort(directions, s->flow_count, sizeof(*directions), flow_key_compare);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		bool back_too;

		o.answering += f->responses != 0;
		if (!f->requests)
			continue;
		back = flow_key_make(f->dst, f->src, 0);
		back_too = f->paired || bsearch(&back, directions, s->flow_count,
						sizeof(*directions), flow_key_compare);
		if (!flow_is_acknowledged(f)) {
			o.unacknowledged++;
			o.silent += !back_too;
			continue;
		}
		o.acknowledged++;
		if (back_too)
			continue;
		if (o.unanswered < ARRAY_SIZE(o.first))
			o.first[o.unanswered] = f;
		o.unanswered++;
	}
	free(directions);
	return o;
}

bool capture_is_unacknowledged(const struct direction_counts *o)
{
	return o->unacknowledged && !o->acknowledged && !o->answering;
}

bool capture_begin(const struct rule *rule, const struct rule_context *c, struct findings *out)
{
	finding_begin(out, rule, c->capture->name, "", 0);
	if (c->capture->summary->flow_count)
		return true;
	finding_set(out, VERDICT_SKIP, "no RoCE flow in the capture");
	return false;
}

void capture_report_pass(const struct capture_summary *s, struct findings *out, const char *fmt,
			 ...)
{
	uint64_t evicted = s->totals.evicted_flows;
	char text[256];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args); /* cut at worst */
	va_end(args);
	finding_set(out, evicted ? VERDICT_INCONCLUSIVE : VERDICT_PASS, "%s", text);
	if (evicted)
		finding_append(out,
			       "; the flow table was too small for %llu flow%s: see --max-flows",
			       (count_t)evicted, plural(evicted));
}

void capture_report_none(const struct rule_context *c, const struct noun *what, bool answers,
			 struct findings *out)
{
	const struct capture_summary *s = c->capture->summary;
	struct direction_counts o = {0};
	uint64_t dropped;
	enum capture_drops drops = capture_drops_of(s, &dropped);

	if (answers)
		o = capture_count_directions(s, out);
	if (answers && capture_is_unacknowledged(&o))
		finding_set(out, VERDICT_SKIP,
			    "only UC and UD packets, which are never acknowledged");
	else if (drops == DROPS_SOME)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no %s, but %llu packet%s did not reach the capture", what->one,
			    (count_t)dropped, plural(dropped));
	else if (o.unanswered)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no %s, but only one direction was captured in %u of %u RC/XRC flow%s",
			    what->one, o.unanswered, o.acknowledged, plural(o.acknowledged));
	else if (o.answering && !o.acknowledged)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no %s, but only responses were captured in %u flow%s", what->one,
			    o.answering, plural(o.answering));
	else if (s->totals.evicted_flows)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no %s in %u flow%s, but the flow table was too small for %llu more: "
			    "see --max-flows",
			    what->one, s->flow_count, plural(s->flow_count),
			    (count_t)s->totals.evicted_flows);
	else
		finding_set(out, VERDICT_PASS, "no %s in %llu RoCE packet%s", what->one,
			    (count_t)s->totals.roce, plural(s->totals.roce));
}

/* "frames 3, 9, 12, 20 (4 of 80 shown)" */
static void evidence_frames_text(const struct sample_flow *f, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "frame%s", plural(f->count));

	for (unsigned int i = 0; i < SAMPLE_FRAMES_MAX && f->frame[i] && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s %" PRIu64, i ? "," : "",
					 f->frame[i]);
	if (f->count > SAMPLE_FRAMES_MAX && used < size)
		snprintf(buf + used, size - used, " (%d of %" PRIu64 " shown)", SAMPLE_FRAMES_MAX,
			 f->count);
}

void evidence_flow(const struct flow *f, char *buf, size_t size)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	packet_addr_text(f->src, src, sizeof(src));
	packet_addr_text(f->dst, dst, sizeof(dst));
	snprintf(buf, size, "from %s to %s QP 0x%06x", src, dst, f->dest_qpn);
}

void evidence_flow_frames(const struct flow *f, char *buf, size_t size)
{
	char flow[128];

	evidence_flow(f, flow, sizeof(flow));
	if (f->first_frame == f->last_frame)
		snprintf(buf, size, "%s, frame %" PRIu64, flow, f->first_frame);
	else
		snprintf(buf, size, "%s, frames %" PRIu64 "-%" PRIu64, flow, f->first_frame,
			 f->last_frame);
}

void evidence_frames(struct findings *out, const struct sample_set *w)
{
	static const uint8_t nowhere[16] = {0};
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], frames[128];
	uint64_t left = w->count;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct sample_flow *f = &w->flow[i];

		left -= f->count;
		evidence_frames_text(f, frames, sizeof(frames));
		if (!memcmp(f->src, nowhere, 16) && !memcmp(f->dst, nowhere, 16)) {
			finding_evidence(out, EVIDENCE_CAPTURE, "%s", frames);
			continue;
		}
		packet_addr_text(f->src, src, sizeof(src));
		packet_addr_text(f->dst, dst, sizeof(dst));
		if (f->bth)
			finding_evidence(out, EVIDENCE_CAPTURE, "from %s to %s QP 0x%06x: %s", src,
					 dst, f->dest_qpn, frames);
		else
			finding_evidence(out, EVIDENCE_CAPTURE, "from %s to %s: %s", src, dst,
					 frames);
	}
	if (left)
		finding_evidence(out, EVIDENCE_CAPTURE, "other flows: %llu more frame%s",
				 (count_t)left, plural(left));
}

/* True when all frames of the samples are of this flow. */
static bool evidence_is_of(const struct sample_set *w, const struct flow *f)
{
	const struct sample_flow *only = &w->flow[0];

	return w->flow_count == 1 && only->count == w->count && only->bth &&
	       only->dest_qpn == f->dest_qpn && !memcmp(only->src, f->src, 16) &&
	       !memcmp(only->dst, f->dst, 16);
}

void evidence_most(struct findings *out, const struct capture_summary *s, flow_kind_count *count,
		   size_t kind, const struct noun *what, const struct sample_set *frames)
{
	const struct flow *worst = flow_next_most(s, count, kind, NULL);
	char flow[160], list[128];
	uint64_t value;

	if (!worst) {
		if (frames)
			evidence_frames(out, frames);
		return;
	}
	value = count(worst, kind);
	if (frames && evidence_is_of(frames, worst)) {
		evidence_flow(worst, flow, sizeof(flow));
		evidence_frames_text(&frames->flow[0], list, sizeof(list));
		finding_evidence(out, EVIDENCE_CAPTURE, "%s: %llu %s of %llu packet%s, %s", flow,
				 (count_t)value, noun_for(what, value), (count_t)worst->packets,
				 plural(worst->packets), list);
		return;
	}
	evidence_flow_frames(worst, flow, sizeof(flow));
	finding_evidence(out, EVIDENCE_CAPTURE, "highest count: %s: %llu %s of %llu packet%s", flow,
			 (count_t)value, noun_for(what, value), (count_t)worst->packets,
			 plural(worst->packets));
	if (frames)
		evidence_frames(out, frames);
}

void evidence_worst(struct findings *out, const struct capture_summary *s, size_t counter,
		    const struct noun *what, const struct sample_set *frames)
{
	evidence_most(out, s, flow_counter, counter, what, frames);
}
