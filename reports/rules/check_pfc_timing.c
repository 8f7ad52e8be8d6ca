/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-CAP, timing: checks a capture for pauses and the flows they held, congestion marks and their
 * CNPs, and losses of a mirror. Limits are those at which operators act: no standard has any.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/rules/capture_evidence.h"
#include "reports/rules/checks.h"

#define EVENT(bit) EVIDENCE_EVENT(bit)

#define PAUSED_PERCENT 10U		   /* of the capture */
#define PAUSED_MIN_NS  UINT64_C(1000000)   /* at least, in short captures */
#define STORM_NS       UINT64_C(100000000) /* switch watchdogs drop packets from here */
#define MARKED_PERCENT 50U
#define MARKED_PACKETS 100U
/* A port may limit its CNPs to one in 4 us for all QPs together: so a QP with fewer marks may
 * rightly get no CNP. */
#define MARKS_MANY 1000U

static double timing_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Begins a finding; false without PFC frames. */
static bool timing_begin(const struct rule *rule, const struct rule_context *c,
			 struct findings *out)
{
	finding_begin(out, rule, c->capture->name, "", 0);
	if (c->capture->summary->totals.pfc_frames)
		return true;
	finding_set(out, VERDICT_SKIP,
		    "no PFC frame in the capture: NICs and mirrors rarely pass them on");
	return false;
}

/* "10 Gbit/s, assumed: see --link-speed" */
static const char *timing_link_speed_text(const struct pause_totals *t, char *buf, size_t size)
{
	static const char *const of[PAUSE_SPEED_SOURCES] = {
		[PAUSE_SPEED_ASSUMED] = "assumed: see --link-speed",
		[PAUSE_SPEED_GIVEN] = "as given",
		[PAUSE_SPEED_FILE] = "from the file",
	};
	uint64_t mbps = t->link_mbps ? t->link_mbps : PAUSE_DEFAULT_MBPS;

	snprintf(buf, size, "%g Gbit/s, %s", (double)mbps / 1000, of[t->speed_source]);
	return buf;
}

static void timing_report_paused(struct findings *out, const struct capture_summary *s,
				 unsigned int prio, uint64_t span_ns)
{
	const struct pause_totals *t = &s->totals.pause;
	char longest[32], sum[32], mac[MAC_TEXT_MAX];

	evidence_time(s, t->most_ns[prio], sum, sizeof(sum));
	evidence_time(s, t->longest[prio].ns, longest, sizeof(longest));
	finding_evidence(out, EVIDENCE_CAPTURE,
			 "prio %u: paused by %s for %s (%.1f %%); the longest of %llu pause%s: "
			 "%s, frames %llu-%llu",
			 prio, packet_mac_text(t->most_smac[prio], mac), sum,
			 timing_percent(t->most_ns[prio], span_ns), (count_t)t->pauses[prio],
			 plural(t->pauses[prio]), longest, (count_t)t->longest[prio].first_frame,
			 (count_t)t->longest[prio].last_frame);
}

FABRIC_CHECK(check_cap_paused)
{
	const struct capture_summary *s = c->capture->summary;
	const struct pause_totals *t = &s->totals.pause;
	uint64_t span_ns = capture_span_ns(s);
	uint8_t prios = 0;
	char span[32];

	if (!timing_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		if (t->most_ns[i] >= PAUSED_MIN_NS &&
		    t->most_ns[i] > span_ns / 100 * PAUSED_PERCENT)
			prios |= (uint8_t)(1U << i);
	evidence_time(s, span_ns, span, sizeof(span));
	finding_set(
		out, prios ? VERDICT_FAIL : VERDICT_PASS,
		"paused for at most %.1f %% of %s, limit %u %%",
		timing_percent(t->most_ns[index_of_largest(t->most_ns, PAUSE_PRIOS, PAUSE_PRIOS)],
			       span_ns),
		span, PAUSED_PERCENT);
	finding_prios(out, prios);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		if (prios >> i & 1)
			timing_report_paused(out, s, i, span_ns);
}

FABRIC_CHECK(check_cap_storm)
{
	const struct capture_summary *s = c->capture->summary;
	const struct pause_totals *t = &s->totals.pause;
	uint64_t longest[PAUSE_PRIOS];
	uint8_t prios = 0;
	char text[32], link[64];

	if (!timing_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++) {
		longest[i] = t->longest[i].ns;
		prios |= (uint8_t)((longest[i] >= STORM_NS) << i);
	}
	evidence_time(s, longest[index_of_largest(longest, PAUSE_PRIOS, PAUSE_PRIOS)], text,
		      sizeof(text));
	finding_set(out, prios ? VERDICT_FAIL : VERDICT_PASS,
		    "the longest uninterrupted pause lasted %s, at %s", text,
		    timing_link_speed_text(t, link, sizeof(link)));
	finding_prios(out, prios);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		if (prios >> i & 1)
			timing_report_paused(out, s, i, capture_span_ns(s));
}

FABRIC_CHECK(check_cap_ran_out)
{
	const struct pause_totals *t = &c->capture->summary->totals.pause;
	uint64_t out_of = 0, ran_out = 0;
	uint8_t prios = 0;
	char link[64];

	if (!timing_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++) {
		out_of += t->pauses[i];
		ran_out += t->ran_out[i];
		prios |= (uint8_t)((t->ran_out[i] != 0) << i);
	}
	if (!ran_out) {
		finding_set(out, VERDICT_PASS, "none of %llu pause%s expired, at %s",
			    (count_t)out_of, plural(out_of),
			    timing_link_speed_text(t, link, sizeof(link)));
		return;
	}
	finding_set(out, VERDICT_FAIL,
		    "%llu of %llu pause%s expired, neither renewed nor ended, at %s",
		    (count_t)ran_out, (count_t)out_of, plural(out_of),
		    timing_link_speed_text(t, link, sizeof(link)));
	finding_prios(out, prios);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		if (prios >> i & 1)
			finding_evidence(out, EVIDENCE_CAPTURE,
					 "prio %u: %llu, the first began in frame %llu, and the "
					 "next PFC frame is %llu",
					 i, (count_t)t->ran_out[i],
					 (count_t)t->first_ran_out[i].first_frame,
					 (count_t)t->first_ran_out[i].last_frame);
}

/* Adds the flows held longest, in descending order. */
static void timing_report_held(struct findings *out, const struct capture_summary *s)
{
	const struct flow *f = NULL;
	char flow[160], time[32];

	for (unsigned int n = 0; n < 4; n++) {
		f = flow_next_most(s, flow_counter, offsetof(struct flow, held_ns), f);
		if (!f)
			return;
		evidence_flow(f, flow, sizeof(flow));
		evidence_time(s, f->held_ns, time, sizeof(time));
		finding_evidence(out, EVIDENCE_CAPTURE, "%s: held %llu time%s, %s in all", flow,
				 (count_t)f->held, plural(f->held), time);
	}
}

FABRIC_CHECK(check_cap_held)
{
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows, unused;
	uint64_t unknown, held_ns;
	char time[32];

	if (!s->flow_count ? !capture_begin(rule, c, out) : !timing_begin(rule, c, out))
		return;
	unknown = capture_sum(s, offsetof(struct flow, held_unknown), &unused);
	held_ns = capture_sum(s, offsetof(struct flow, held_ns), &flows);
	evidence_time(s, held_ns, time, sizeof(time));
	if (held_ns) {
		finding_set(out, VERDICT_FAIL, "pauses held %u of %u flow%s, %s in all", flows,
			    s->flow_count, plural(s->flow_count), time);
		timing_report_held(out, s);
		evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_HELD)]);
	} else if (unknown) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%llu request%s without a VLAN tag: the priority is unknown",
			    (count_t)unknown, plural(unknown));
	} else {
		capture_report_pass(s, out, "no pause held any of %u flow%s", s->flow_count,
				    plural(s->flow_count));
	}
}

/* Returns the flow with most marks and no CNP in the reverse direction, if both were captured.
 * -ENOMEM goes to out. */
static const struct flow *timing_unanswered_marks(const struct capture_summary *s,
						  struct findings *out)
{
	struct flow_key *notified = calloc(s->flow_count, sizeof(*notified));
	const struct flow *worst = NULL;
	size_t n = 0;

	if (!notified) {
		out->err = -ENOMEM;
		return NULL;
	}
	for (unsigned int i = 0; i < s->flow_count; i++)
		if (s->flow[i].cnp)
			notified[n++] = flow_key_make(s->flow[i].src, s->flow[i].dst,
						      s->flow[i].dest_qpn);
	qsort(notified, n, sizeof(*notified), flow_key_compare);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		struct flow_key back = flow_key_make(f->dst, f->src, f->reverse_qpn);

		if (f->paired && f->ecn[3] >= MARKS_MANY && (!worst || f->ecn[3] > worst->ecn[3]) &&
		    !bsearch(&back, notified, n, sizeof(*notified), flow_key_compare))
			worst = f;
	}
	free(notified);
	return worst;
}

FABRIC_CHECK(check_cap_cnp)
{
	const struct capture_summary *s = c->capture->summary;
	const struct flow *silent;
	unsigned int flows;
	uint64_t marks, dropped;
	struct direction_counts o;
	bool partial;
	char flow[160];

	if (!capture_begin(rule, c, out))
		return;
	marks = capture_sum(s, offsetof(struct flow, ecn[3]), &flows);
	o = capture_count_directions(s, out);
	partial = o.unanswered || o.silent || s->totals.evicted_flows ||
		  capture_drops_of(s, &dropped) == DROPS_SOME;
	silent = s->totals.cnp && !partial ? timing_unanswered_marks(s, out) : NULL;
	if (!marks) {
		finding_set(out, VERDICT_SKIP, "no packet carries a congestion mark");
	} else if (silent) {
		evidence_flow_frames(silent, flow, sizeof(flow));
		finding_set(out, VERDICT_FAIL,
			    "%llu CE marks in one flow, and no CNP to its sender",
			    (count_t)silent->ecn[3]);
		finding_evidence(out, EVIDENCE_CAPTURE, "%s", flow);
	} else if (s->totals.cnp) {
		capture_report_pass(s, out, "%llu CNP%s for %llu CE mark%s", (count_t)s->totals.cnp,
				    plural(s->totals.cnp), (count_t)marks, plural(marks));
	} else {
		finding_set(out, partial ? VERDICT_INCONCLUSIVE : VERDICT_FAIL,
			    partial ? "%llu CE mark%s in %u flow%s and no CNP, but the capture is "
				      "incomplete"
				    : "%llu CE mark%s in %u flow%s, and no CNP",
			    (count_t)marks, plural(marks), flows, plural(flows));
		evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_CE)]);
	}
}

FABRIC_CHECK(check_cap_cnp_close)
{
	static const struct noun close_noun = {"CNP too close", "CNPs too close"};
	const struct capture_summary *s = c->capture->summary;
	uint64_t min_ns = UINT64_MAX, close;
	unsigned int flows;
	char least[32];

	if (!capture_begin(rule, c, out))
		return;
	close = capture_sum(s, offsetof(struct flow, cnp_close), &flows);
	for (unsigned int i = 0; i < s->flow_count; i++)
		if (s->flow[i].cnp_min_ns && s->flow[i].cnp_min_ns < min_ns)
			min_ns = s->flow[i].cnp_min_ns;
	if (min_ns == UINT64_MAX) {
		finding_set(out, VERDICT_SKIP, "no QP received two CNPs");
		return;
	}
	evidence_time(s, min_ns, least, sizeof(least));
	if (!close) {
		capture_report_pass(s, out, "CNPs of a QP are at least %s apart", least);
		return;
	}
	finding_set(out, VERDICT_FAIL,
		    "%llu CNP%s of %u QP%s less than 3 us after the previous CNP, the shortest "
		    "distance %s",
		    (count_t)close, plural(close), flows, plural(flows), least);
	evidence_worst(out, s, offsetof(struct flow, cnp_close), &close_noun,
		       &c->capture->samples->kind[EVENT(FLOW_CNP_CLOSE)]);
}

FABRIC_CHECK(check_cap_marked)
{
	const struct capture_summary *s = c->capture->summary;
	const struct flow *worst = NULL;
	unsigned int judged = 0, over = 0;
	double most = 0;
	char flow[160];

	if (!capture_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		double share = timing_percent(f->ecn[3], f->packets);

		if (f->packets < MARKED_PACKETS)
			continue;
		judged++;
		over += share > MARKED_PERCENT;
		if (!worst || share > most) {
			worst = f;
			most = share;
		}
	}
	if (!worst) {
		finding_set(out, VERDICT_SKIP, "no flow of %u packets or more", MARKED_PACKETS);
		return;
	}
	if (!over) {
		capture_report_pass(s, out,
				    "0 of %u flow%s with more than %u %% of packets marked, the "
				    "highest %.1f %%",
				    judged, plural(judged), MARKED_PERCENT, most);
		return;
	}
	finding_set(out, VERDICT_FAIL,
		    "%u of %u flow%s with more than %u %% of packets marked, the highest %.1f %%",
		    over, judged, plural(judged), MARKED_PERCENT, most);
	evidence_flow_frames(worst, flow, sizeof(flow));
	finding_evidence(out, EVIDENCE_CAPTURE, "highest share: %s: CE on %llu of %llu packets",
			 flow, (count_t)worst->ecn[3], (count_t)worst->packets);
}

FABRIC_CHECK(check_cap_mirror)
{
	const struct erspan_seq_totals *m = &c->capture->summary->totals.mirror;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!m->packets)
		finding_set(out, VERDICT_SKIP, "no mirror with sequence numbers");
	else if (m->missing)
		finding_set(out, VERDICT_FAIL,
			    "%llu packet%s missing in %llu gap%s among %llu mirrored packets with "
			    "sequence numbers",
			    (count_t)m->missing, plural(m->missing), (count_t)m->gaps,
			    plural(m->gaps), (count_t)m->packets);
	else if (m->restarts)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the mirror's sequence numbers restarted %llu time%s: losses at a "
			    "restart are unknown",
			    (count_t)m->restarts, plural(m->restarts));
	else
		finding_set(out, VERDICT_PASS,
			    "no gap among %llu mirrored packet%s with sequence numbers",
			    (count_t)m->packets, plural(m->packets));
	if (m->missing)
		evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_MIRROR_GAP)]);
}
