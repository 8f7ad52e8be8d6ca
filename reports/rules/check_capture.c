/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-CAP: checks a capture without host, profile or counters: losses, NAKs, marks, missing packets,
 * and its own completeness. Pauses, CNP distances and shares are in check_pfc_timing.c.
 */
#include <stdio.h>
#include <string.h>

#include "reports/rules/capture_evidence.h"
#include "reports/rules/checks.h"

/* clang-format off */

/* Rules that add up one counter of the flows, or count frames of one kind. */
static const struct tally {
	const char *id;
	size_t counter;	      /* offset in struct flow, or NO_COUNTER */
	unsigned int sample; /* enum sample_kind, or the number of an event's bit */
	struct noun what;
	bool answers; /* needs the reverse direction */
} tallies[] = {
#define NO_COUNTER SIZE_MAX
#define EVENT(bit) EVIDENCE_EVENT(bit)
	{"RC-CAP-007", offsetof(struct flow, duplicates), EVENT(FLOW_DUPLICATE),
	 {"retransmitted packet", "retransmitted packets"}, false},
	{"RC-CAP-008", offsetof(struct flow, timeouts), EVENT(FLOW_TIMEOUT),
	 {"timeout", "timeouts"}, true},
	{"RC-CAP-009", offsetof(struct flow, rnr), EVENT(FLOW_RNR), {"RNR NAK", "RNR NAKs"}, true},
	{"RC-CAP-010", offsetof(struct flow, naks_other), EVENT(FLOW_NAK_OTHER),
	 {"fatal NAK", "fatal NAKs"}, true},
	{"RC-CAP-012", NO_COUNTER, EVENT(FLOW_FRAGMENT),
	 {"IP fragment of RoCE", "IP fragments of RoCE"}, false},
	{"RC-CAP-013", NO_COUNTER, SAMPLE_MALFORMED, {"malformed frame", "malformed frames"}, false},
	{"RC-CAP-014", offsetof(struct flow, ecn[3]), EVENT(FLOW_CE), {"CE mark", "CE marks"}, false},
	{"RC-CAP-017", offsetof(struct flow, copies), EVENT(FLOW_MIRROR_DUP),
	 {"packet captured twice", "packets captured twice"}, false},
};

/* clang-format on */

static const struct tally *capture_tally(const struct rule *rule)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tallies); i++)
		if (!strcmp(tallies[i].id, rule->id))
			return &tallies[i];
	return NULL;
}

static void capture_report_flows(const struct rule_context *c, const struct noun *what,
				 uint64_t sum, unsigned int flows, struct findings *out)
{
	unsigned int all = c->capture->summary->flow_count;

	finding_set(out, VERDICT_FAIL, "%llu %s in %u of %u flow%s", (count_t)sum,
		    noun_for(what, sum), flows, all, plural(all));
}

FABRIC_CHECK(check_cap_flows)
{
	const struct tally *t = capture_tally(rule);
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows;
	uint64_t sum;

	if (!t || t->counter == NO_COUNTER || !capture_begin(rule, c, out))
		return;
	sum = capture_sum(s, t->counter, &flows);
	if (!sum) {
		capture_report_none(c, &t->what, t->answers, out);
		return;
	}
	capture_report_flows(c, &t->what, sum, flows, out);
	evidence_worst(out, s, t->counter, &t->what, &c->capture->samples->kind[t->sample]);
}

/* Requests, and responses within READs. */
static uint64_t capture_reorder_count(const struct flow *f, size_t kind)
{
	(void)kind;
	return f->reordered + f->responses_reordered;
}

FABRIC_CHECK(check_cap_order)
{
	static const struct noun what = {"packet out of order", "packets out of order"};
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows;
	uint64_t sum;

	if (!capture_begin(rule, c, out))
		return;
	flows = capture_sums(s, capture_reorder_count, 1, &sum);
	if (!sum) {
		capture_report_none(c, &what, false, out);
		return;
	}
	capture_report_flows(c, &what, sum, flows, out);
	evidence_most(out, s, capture_reorder_count, 0, &what,
		      &c->capture->samples->kind[EVENT(FLOW_REORDERED)]);
}

FABRIC_CHECK(check_cap_frames)
{
	const struct tally *t = capture_tally(rule);
	const struct sample_set *w;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!t)
		return;
	w = &c->capture->samples->kind[t->sample];
	if (!w->count) {
		finding_set(out, VERDICT_PASS, "no %s in %llu frame%s", t->what.one,
			    (count_t)c->capture->summary->totals.frames,
			    plural(c->capture->summary->totals.frames));
		return;
	}
	finding_set(out, VERDICT_FAIL, "%llu %s", (count_t)w->count, noun_for(&t->what, w->count));
	evidence_frames(out, w);
}

FABRIC_CHECK(check_cap_drops)
{
	static const struct noun missed_noun = {"PSN missed", "PSNs missed"};
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows, paired = 0;
	uint64_t missed = capture_sum(s, offsetof(struct flow, missed_psns), &flows);

	finding_begin(out, rule, c->capture->name, "", 0);
	for (unsigned int i = 0; i < s->flow_count; i++)
		paired += s->flow[i].paired && s->flow[i].requests;
	if (s->drops == DROPS_SOME)
		finding_set(out, VERDICT_FAIL,
			    "the capture lost %llu packet%s (its own drop counter)",
			    (count_t)s->dropped, plural(s->dropped));
	else if (missed)
		finding_set(out, VERDICT_FAIL,
			    "%llu PSN%s of %u flow%s acknowledged by the receiver, but missing in "
			    "the capture",
			    (count_t)missed, plural(missed), flows, plural(flows));
	else if (s->drops == DROPS_ZERO)
		finding_set(out, VERDICT_PASS, "the capture lost no packet (its own drop counter)");
	else if (paired)
		capture_report_pass(s, out,
				    "no drop counters in this file; in %u of %u flow%s every "
				    "acknowledged packet was captured%s",
				    paired, s->flow_count, plural(s->flow_count),
				    paired < s->flow_count ? "; the rest has no ACKs in "
							     "this file and cannot be checked"
							   : "");
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no drop counters in this file, and no flow with both directions: "
			    "losses of the capture are unknown");
	if (missed) {
		evidence_worst(out, s, offsetof(struct flow, missed_psns), &missed_noun,
			       &c->capture->samples->kind[EVENT(FLOW_MISSED)]);
	}
}

const char *const capture_methods[] = {
	"a mirror port of the switch (SPAN, or ERSPAN towards this host); rocecheck removes the "
	"tunnel headers",
	"an inline tap between NIC and switch, the only method that shows PFC frames",
	"on ConnectX, the RDMA device (mlx5_0) instead of the netdev, with a libpcap built with "
	"libibverbs",
	"Soft-RoCE (visible to libpcap, except between two QPs on the same host)",
	"the NIC's counters instead of packets: rocecheck top, rocecheck validate",
	NULL,
};

FABRIC_CHECK(check_cap_visible)
{
	const struct capture_totals *t = &c->capture->summary->totals;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (t->roce) {
		finding_set(out, VERDICT_PASS, "%llu RoCE packet%s in %llu frame%s",
			    (count_t)t->roce, plural(t->roce), (count_t)t->frames,
			    plural(t->frames));
		return;
	}
	finding_set(out, VERDICT_FAIL,
		    "no RoCE in %llu frame%s: if RDMA counters still increase, the NIC bypasses "
		    "the kernel and this capture cannot see RoCE",
		    (count_t)t->frames, plural(t->frames));
	for (unsigned int i = 0; capture_methods[i]; i++)
		finding_evidence(out, EVIDENCE_CAPTURE, "alternative: %s", capture_methods[i]);
}

FABRIC_CHECK(check_cap_both)
{
	struct direction_counts o;
	char flow[160];

	if (!capture_begin(rule, c, out))
		return;
	o = capture_count_directions(c->capture->summary, out);
	if (capture_is_unacknowledged(&o))
		finding_set(out, VERDICT_SKIP,
			    "only UC and UD packets, which are never acknowledged");
	else if (!o.acknowledged)
		finding_set(out, VERDICT_FAIL,
			    "only responses were captured, without their requests");
	else if (o.unanswered)
		finding_set(out, VERDICT_FAIL,
			    "no packet in the reverse direction in %u of %u RC/XRC flow%s: "
			    "loss, NAKs and timeouts cannot be checked there",
			    o.unanswered, o.acknowledged, plural(o.acknowledged));
	else
		capture_report_pass(c->capture->summary, out, "both directions of %u flow%s",
				    o.acknowledged, plural(o.acknowledged));
	for (unsigned int i = 0; i < ARRAY_SIZE(o.first) && o.first[i]; i++) {
		evidence_flow_frames(o.first[i], flow, sizeof(flow));
		finding_evidence(out, EVIDENCE_CAPTURE, "%s", flow);
	}
}

/* Missing packets: requests, and responses within READs. */
enum missing {
	MISSING_PSNS,
	MISSING_RESPONSES,
	MISSING_KINDS,
};

static const struct {
	struct noun sum, most;
} missing_nouns[MISSING_KINDS] = {
	[MISSING_PSNS] = {{"PSN", "PSNs"}, {"PSN missing", "PSNs missing"}},
	[MISSING_RESPONSES] = {{"response within READs", "responses within READs"},
			       {"READ response missing", "READ responses missing"}},
};

static uint64_t capture_missing_count(const struct flow *f, size_t kind)
{
	return kind == MISSING_PSNS ? flow_never_came(f) : f->responses_missing;
}

FABRIC_CHECK(check_cap_missing)
{
	static const struct noun gap = {"unexplained gap", "unexplained gaps"};
	const struct capture_summary *s = c->capture->summary;
	uint64_t sum[MISSING_KINDS], dropped;
	enum capture_drops drops = capture_drops_of(s, &dropped);
	unsigned int flows;
	char text[96] = "";
	size_t used = 0;

	if (!capture_begin(rule, c, out))
		return;
	flows = capture_sums(s, capture_missing_count, MISSING_KINDS, sum);
	if (!flows) {
		capture_report_none(c, &gap, false, out);
		return;
	}
	for (unsigned int i = 0; i < MISSING_KINDS; i++)
		if (sum[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu %s",
						 used ? " and " : "", (count_t)sum[i],
						 noun_for(&missing_nouns[i].sum, sum[i]));
	if (drops == DROPS_ZERO)
		finding_set(out, VERDICT_FAIL, "%s of %u flow%s never arrived", text, flows,
			    plural(flows));
	else
		finding_set(
			out, VERDICT_INCONCLUSIVE,
			"%s of %u flow%s never arrived: lost by the network or by the capture (%s)",
			text, flows, plural(flows),
			drops == DROPS_SOME ? "the capture missed packets"
					    : "its drops are unknown");
	for (unsigned int i = 0; i < MISSING_KINDS; i++)
		if (sum[i])
			evidence_most(out, s, capture_missing_count, i, &missing_nouns[i].most,
				      NULL);
	evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_PSN_GAP)]);
	evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_READ_GAP)]);
}

/* Bad ICRCs in a flow without a good one come from the capture or from a rewritten header. */
FABRIC_CHECK(check_cap_icrc)
{
	const struct capture_summary *s = c->capture->summary;
	uint64_t good = 0, bad = 0, rewritten = 0;

	if (!capture_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		bool all = f->icrc_bad > 1 && !f->icrc_good;

		good += f->icrc_good;
		bad += all ? 0 : f->icrc_bad;
		rewritten += all ? f->icrc_bad : 0;
	}
	if (bad)
		finding_set(out, VERDICT_FAIL, "%llu bad ICRC%s, %llu good one%s", (count_t)bad,
			    plural(bad), (count_t)good, plural(good));
	else if (rewritten)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%llu bad ICRCs, all in flows without a good one: probably the capture "
			    "or a rewritten header, not corruption",
			    (count_t)rewritten);
	else if (good)
		capture_report_pass(s, out, "no bad ICRC, %llu good", (count_t)good);
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the capture truncated the packets: no ICRC can be verified");
	if (bad || rewritten)
		evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_ICRC_BAD)]);
}

FABRIC_CHECK(check_cap_pause)
{
	const struct capture_totals *t = &c->capture->summary->totals;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!t->pause_frames && !t->pfc_frames) {
		finding_set(out, VERDICT_SKIP,
			    "no pause and no PFC frame in the capture: NICs and mirrors rarely "
			    "pass them on");
		return;
	}
	if (!t->pause_frames || !t->pfc_frames) {
		finding_set(out, VERDICT_PASS, "%llu PFC, %llu global pause frames",
			    (count_t)t->pfc_frames, (count_t)t->pause_frames);
		return;
	}
	finding_set(out, VERDICT_FAIL, "%llu PFC and %llu global pause frame%s",
		    (count_t)t->pfc_frames, (count_t)t->pause_frames, plural(t->pause_frames));
	for (unsigned int kind = SAMPLE_PAUSE; kind <= SAMPLE_PFC; kind++)
		finding_evidence(out, EVIDENCE_CAPTURE, "%s: first in frame %llu",
				 kind == SAMPLE_PFC ? "PFC" : "pause",
				 (count_t)c->capture->samples->kind[kind].flow[0].frame[0]);
}

static unsigned int capture_dscp_count(const struct flow *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(f->dscp); i++)
		n += f->dscp[i] != 0;
	return n;
}

/* A flow with CNPs may have two DSCPs: CNPs have their own. */
FABRIC_CHECK(check_cap_dscp)
{
	const struct capture_summary *s = c->capture->summary;
	const struct flow *first = NULL;
	unsigned int n = 0;
	char flow[160];

	if (!capture_begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		if (capture_dscp_count(&s->flow[i]) <= 1U + (s->flow[i].cnp != 0))
			continue;
		first = n++ ? first : &s->flow[i];
	}
	if (!n) {
		capture_report_pass(s, out, "one DSCP in each of %u flow%s", s->flow_count,
				    plural(s->flow_count));
		return;
	}
	finding_set(out, VERDICT_FAIL, "%u of %u flow%s", n, s->flow_count, plural(s->flow_count));
	evidence_flow_frames(first, flow, sizeof(flow));
	finding_evidence(out, EVIDENCE_CAPTURE, "%s: %u different DSCPs", flow,
			 capture_dscp_count(first));
}

FABRIC_CHECK(check_cap_neighbours)
{
	const struct lldp_peer *p = &c->capture->summary->lldp_peer;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!p->seen)
		finding_set(out, VERDICT_SKIP, "no LLDP in the capture");
	else if (p->neighbours > 1)
		finding_set(out, VERDICT_FAIL, "%u neighbours, the last %s", p->neighbours,
			    p->system[0] ? p->system : p->chassis);
	else
		finding_set(out, VERDICT_PASS, "one neighbour: %s",
			    p->system[0] ? p->system : p->chassis);
}

/* Signs of a loss in the network. A sequence NAK is one for a packet that was captured and lost
 * after the capture point, for one that never arrived, and for requests outside the capture. A READ
 * that restarts in the middle shows lost responses. */
enum loss_sign {
	LOSS_RESENT,
	LOSS_BEHIND,
	LOSS_OPEN,
	LOSS_UNSEEN,
	LOSS_ANSWERS,
	LOSS_SIGNS,
};

static const struct {
	unsigned int sample;
	struct noun what;
} loss_signs[LOSS_SIGNS] = {
	[LOSS_RESENT] = {EVENT(FLOW_PSN_FILLED),
			 {"PSN lost and retransmitted", "PSNs lost and retransmitted"}},
	[LOSS_BEHIND] = {EVENT(FLOW_NAK_SEQ),
			 {"sequence NAK for a packet lost after the capture point",
			  "sequence NAKs for packets lost after the capture point"}},
	[LOSS_OPEN] = {EVENT(FLOW_NAK_SEQ),
		       {"sequence NAK for a packet that never arrived",
			"sequence NAKs for packets that never arrived"}},
	[LOSS_UNSEEN] = {EVENT(FLOW_NAK_SEQ),
			 {"sequence NAK without its request in the capture",
			  "sequence NAKs without their requests in the capture"}},
	[LOSS_ANSWERS] = {EVENT(FLOW_READ_RETRY),
			  {"READ restarted after a lost response",
			   "READs restarted after lost responses"}},
};

static uint64_t capture_unknown_naks(const struct flow *f)
{
	return f->paired ? f->naks_unknown : f->naks_seq;
}

static uint64_t capture_loss_count(const struct flow *f, size_t sign)
{
	switch (sign) {
	case LOSS_RESENT:
		return f->lost_psns;
	case LOSS_BEHIND: /* a reordered packet causes two NAKs: for the early packet, and after the
			     late one */
		return saturating_sub(f->losses_after, 2 * f->reordered);
	case LOSS_OPEN:
		return f->lost_psns || f->reordered ? 0 : f->losses_before;
	case LOSS_UNSEEN: /* Soft-RoCE also NAKs packets after an RNR NAK */
		return saturating_sub(capture_unknown_naks(f), f->rnr);
	case LOSS_ANSWERS: /* after a timeout responses may be late */
		return saturating_sub(f->read_retries, f->timeouts + f->reads_reordered);
	default:
		return 0;
	}
}

/* Sequence NAKs that may have another reason. */
enum loss_ambiguity {
	AMBIGUOUS_ORDER,
	AMBIGUOUS_RNR,
	LOSS_AMBIGUITIES,
};

static const char *const ambiguity_texts[LOSS_AMBIGUITIES] = {
	[AMBIGUOUS_ORDER] = "possibly because of reordering (see RC-CAP-006)",
	[AMBIGUOUS_RNR] = "possibly because a receiver was not ready (see RC-CAP-009)",
};

static uint64_t capture_ambiguous_count(const struct flow *f, size_t kind)
{
	uint64_t before = f->lost_psns ? 0 : f->losses_before - capture_loss_count(f, LOSS_OPEN);

	if (kind == AMBIGUOUS_RNR)
		return capture_unknown_naks(f) - capture_loss_count(f, LOSS_UNSEEN);
	return before + f->losses_after - capture_loss_count(f, LOSS_BEHIND);
}

/* A PASS says where nothing is missing: the capture does not show lost ACKs. */
static void capture_report_complete(const struct capture_summary *s, struct findings *out)
{
	unsigned int flows;
	uint64_t missing[MISSING_KINDS];
	uint64_t timeouts = capture_sum(s, offsetof(struct flow, timeouts), &flows);

	if (capture_sums(s, capture_missing_count, MISSING_KINDS, missing))
		return;
	finding_set(out, VERDICT_PASS,
		    "data packets: none missing at the capture point, of %llu RoCE packet%s",
		    (count_t)s->totals.roce, plural(s->totals.roce));
	if (timeouts)
		finding_append(out,
			       "; %llu timeout%s, the cause is not visible here (lost ACK or long "
			       "pause)",
			       (count_t)timeouts, plural(timeouts));
}

/* No sign of a loss: PASS, or INCONCLUSIVE with ambiguous NAKs. */
static void capture_report_no_loss(const struct rule_context *c, struct findings *out)
{
	const struct capture_summary *s = c->capture->summary;
	static const struct noun lost = {"lost PSN", "lost PSNs"};
	uint64_t sum[LOSS_AMBIGUITIES];
	char text[256] = "";
	size_t used = 0;

	(void)capture_sums(s, capture_ambiguous_count, LOSS_AMBIGUITIES, sum);
	for (unsigned int i = 0; i < LOSS_AMBIGUITIES; i++)
		if (sum[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%llu sequence NAK%s, %s", used ? "; " : "",
						 (count_t)sum[i], plural(sum[i]),
						 ambiguity_texts[i]);
	if (!used) {
		capture_report_none(c, &lost, true, out);
		if (finding_verdict(out) == VERDICT_PASS)
			capture_report_complete(s, out);
		return;
	}
	finding_set(out, VERDICT_INCONCLUSIVE, "no certain loss: %s", text);
	evidence_frames(out, &c->capture->samples->kind[EVENT(FLOW_NAK_SEQ)]);
}

FABRIC_CHECK(check_cap_lost)
{
	const struct capture_summary *s = c->capture->summary;
	uint64_t sum[LOSS_SIGNS];
	unsigned int flows, corrupted_flows, shown = 0;
	uint64_t corrupted = capture_sum(s, offsetof(struct flow, corrupted_psns),
					 &corrupted_flows);
	const struct sample_set *w;
	char text[320] = "";
	size_t used = 0;

	if (!capture_begin(rule, c, out))
		return;
	flows = capture_sums(s, capture_loss_count, LOSS_SIGNS, sum);
	if (!flows) {
		capture_report_no_loss(c, out);
		return;
	}
	for (unsigned int i = 0; i < LOSS_SIGNS; i++)
		if (sum[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu %s",
						 used ? ", " : "", (count_t)sum[i],
						 noun_for(&loss_signs[i].what, sum[i]));
	finding_set(out, VERDICT_FAIL, "%s in %u of %u flow%s", text, flows, s->flow_count,
		    plural(s->flow_count));
	if (corrupted)
		finding_append(out,
			       "; not counted here: %llu PSN%s with a bad ICRC (see RC-CAP-011)",
			       (count_t)corrupted, plural(corrupted));
	for (unsigned int i = 0; i < LOSS_SIGNS; i++) {
		if (!sum[i])
			continue;
		w = &c->capture->samples->kind[loss_signs[i].sample];
		evidence_most(out, s, capture_loss_count, i, &loss_signs[i].what,
			      shown & 1U << loss_signs[i].sample ? NULL : w);
		shown |= 1U << loss_signs[i].sample;
	}
}
