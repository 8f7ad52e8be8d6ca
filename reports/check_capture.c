/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture alone says: no host, no profile, no counters beside it. The flow machine has
 * judged each packet; here its counters are added up, and weighed by how far the capture can be
 * believed: its own drops, and whether both directions are in it.
 */
#include "reports/check_capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/checks.h"
#include "reports/findings.h"

typedef unsigned long long count_t;

/* clang-format off */

/* Rules that add up one counter of the flows, or count frames of one kind. */
static const struct tally {
	const char *id;
	size_t counter;	      /* offset in struct flow, or NO_COUNTER */
	unsigned int witness; /* enum witness_kind, or the number of an event's bit */
	const char *what;     /* behind a number */
	bool answers;	      /* without the other direction its absence says nothing */
} tallies[] = {
#define NO_COUNTER SIZE_MAX
#define EVENT(bit) ((unsigned int)__builtin_ctz(bit))
	{"RC-CAP-004", offsetof(struct flow, lost_psns), EVENT(FLOW_PSN_FILLED),
	 "PSNs lost and sent again", true},
	{"RC-CAP-006", offsetof(struct flow, reordered), EVENT(FLOW_PSN_FILLED),
	 "packets out of order", false},
	{"RC-CAP-007", offsetof(struct flow, duplicates), EVENT(FLOW_DUPLICATE),
	 "packets sent again", false},
	{"RC-CAP-008", offsetof(struct flow, timeouts), WITNESS_KINDS, "timeouts", true},
	{"RC-CAP-009", offsetof(struct flow, rnr), EVENT(FLOW_RNR), "RNR NAKs", true},
	{"RC-CAP-010", offsetof(struct flow, naks_other), EVENT(FLOW_NAK_OTHER), "fatal NAKs",
	 true},
	{"RC-CAP-012", NO_COUNTER, EVENT(FLOW_FRAGMENT), "IP fragments of RoCE", false},
	{"RC-CAP-013", NO_COUNTER, WITNESS_MALFORMED, "malformed frames", false},
	{"RC-CAP-014", offsetof(struct flow, ecn[3]), EVENT(FLOW_CE), "CE marks", false},
	{"RC-CAP-017", offsetof(struct flow, copies), EVENT(FLOW_COPY), "packets captured twice",
	 false},
};

/* clang-format on */

static const struct tally *tally_of(const struct rule *rule)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tallies); i++)
		if (!strcmp(tallies[i].id, rule->id))
			return &tallies[i];
	return NULL;
}

static uint64_t value_of(const struct flow *f, size_t counter)
{
	uint64_t value;

	memcpy(&value, (const char *)f + counter, sizeof(value));
	return value;
}

static uint64_t sum_of(const struct capture_summary *s, size_t counter, unsigned int *flows)
{
	uint64_t sum = 0;

	*flows = 0;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		uint64_t value = value_of(&s->flow[i], counter);

		sum += value;
		*flows += value != 0;
	}
	return sum;
}

/* "frames 3, 9 and later" */
static void frames_text(const struct witness_flow *f, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "frame%s", f->count > 1 ? "s" : "");

	for (unsigned int i = 0; i < WITNESS_FRAMES_MAX && f->frame[i] && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s %" PRIu64, i ? "," : "",
					 f->frame[i]);
	if (f->count > WITNESS_FRAMES_MAX && used < size)
		snprintf(buf + used, size - used, " and later");
}

static void tell_frames(struct findings *out, const struct witness *w)
{
	static const uint8_t nowhere[16] = {0};
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], frames[128];

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct witness_flow *f = &w->flow[i];

		frames_text(f, frames, sizeof(frames));
		if (!memcmp(f->src, nowhere, 16) && !memcmp(f->dst, nowhere, 16)) {
			finding_evidence(out, EVIDENCE_CAPTURE, "%s", frames);
			continue;
		}
		packet_addr_text(f->src, src, sizeof(src));
		packet_addr_text(f->dst, dst, sizeof(dst));
		finding_evidence(out, EVIDENCE_CAPTURE, "%s to %s qpn 0x%06x: %s", src, dst,
				 f->dest_qpn, frames);
	}
}

/* The flow that has most of a counter, with its number. */
static void tell_worst(struct findings *out, const struct capture_summary *s, size_t counter,
		       const char *what)
{
	const struct flow *worst = &s->flow[0];
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	for (unsigned int i = 1; i < s->flow_count; i++)
		if (value_of(&s->flow[i], counter) > value_of(worst, counter))
			worst = &s->flow[i];
	packet_addr_text(worst->src, src, sizeof(src));
	packet_addr_text(worst->dst, dst, sizeof(dst));
	finding_evidence(out, EVIDENCE_CAPTURE,
			 "most: %s to %s qpn 0x%06x, frames %llu-%llu: %llu %s of %llu packets",
			 src, dst, worst->dest_qpn, (count_t)worst->first_frame,
			 (count_t)worst->last_frame, (count_t)value_of(worst, counter), what,
			 (count_t)worst->packets);
}

struct way {
	uint8_t src[16], dst[16];
};

static int by_way(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct way));
}

/* Flows of requests that nothing at all answers, between two addresses. -ENOMEM goes to out. */
static unsigned int unanswered(const struct capture_summary *s, unsigned int *asking,
			       struct findings *out)
{
	struct way *ways = calloc(s->flow_count + 1, sizeof(*ways)), back;
	unsigned int n = 0;

	*asking = 0;
	if (!ways) {
		out->err = -ENOMEM;
		return 0;
	}
	for (unsigned int i = 0; i < s->flow_count; i++) {
		memcpy(ways[i].src, s->flow[i].src, 16);
		memcpy(ways[i].dst, s->flow[i].dst, 16);
	}
	qsort(ways, s->flow_count, sizeof(*ways), by_way);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];

		if (!f->requests)
			continue;
		++*asking;
		memcpy(back.src, f->dst, 16);
		memcpy(back.dst, f->src, 16);
		n += !f->paired && !bsearch(&back, ways, s->flow_count, sizeof(*ways), by_way);
	}
	free(ways);
	return n;
}

/* Begins a finding; false when the capture has nothing that the rule could judge. */
static bool begin(const struct rule *rule, const struct rule_context *c, struct findings *out)
{
	finding_begin(out, rule, c->capture->name, "", 0);
	if (c->capture->summary->flow_count)
		return true;
	finding_say(out, VERDICT_SKIP, "no RoCE flow in the capture");
	return false;
}

/* None was seen: a PASS, unless the capture could have missed it. */
static void say_none(const struct rule_context *c, const char *what, bool answers,
		     struct findings *out)
{
	const struct capture_summary *s = c->capture->summary;
	unsigned int asking, one_way = answers ? unanswered(s, &asking, out) : 0;

	if (s->drops == DROPS_SOME)
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "no %s, but the capture itself lost %llu packets", what,
			    (count_t)s->dropped);
	else if (one_way)
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "no %s, but of %u of %u flows only one direction was captured", what,
			    one_way, asking);
	else
		finding_say(out, VERDICT_PASS, "no %s in %llu RoCE packets%s", what,
			    (count_t)s->totals.roce,
			    s->drops == DROPS_UNKNOWN ? " of a capture without drop counters" : "");
}

FABRIC_CHECK(check_cap_flows)
{
	const struct tally *t = tally_of(rule);
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows;
	uint64_t sum;

	if (!t || t->counter == NO_COUNTER || !begin(rule, c, out))
		return;
	sum = sum_of(s, t->counter, &flows);
	if (!sum) {
		say_none(c, t->what, t->answers, out);
		return;
	}
	finding_say(out, VERDICT_FAIL, "%llu %s in %u of %u flows", (count_t)sum, t->what, flows,
		    s->flow_count);
	tell_worst(out, s, t->counter, t->what);
	if (t->witness < WITNESS_KINDS)
		tell_frames(out, &c->capture->witnesses->kind[t->witness]);
}

FABRIC_CHECK(check_cap_frames)
{
	const struct tally *t = tally_of(rule);
	const struct witness *w;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!t)
		return;
	w = &c->capture->witnesses->kind[t->witness];
	if (!w->count) {
		finding_say(out, VERDICT_PASS, "no %s in %llu frames", t->what,
			    (count_t)c->capture->summary->totals.frames);
		return;
	}
	finding_say(out, VERDICT_FAIL, "%llu %s", (count_t)w->count, t->what);
	tell_frames(out, w);
}

FABRIC_CHECK(check_cap_drops)
{
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows, paired = 0;
	uint64_t missed = sum_of(s, offsetof(struct flow, missed_psns), &flows);

	finding_begin(out, rule, c->capture->name, "", 0);
	for (unsigned int i = 0; i < s->flow_count; i++)
		paired += s->flow[i].paired && s->flow[i].requests;
	if (s->drops == DROPS_SOME)
		finding_say(out, VERDICT_FAIL, "the capture lost %llu packets, as it says itself",
			    (count_t)s->dropped);
	else if (missed)
		finding_say(out, VERDICT_FAIL,
			    "%llu PSNs of %u flows were acknowledged, but are not in the capture",
			    (count_t)missed, flows);
	else if (s->drops == DROPS_ZERO)
		finding_say(out, VERDICT_PASS, "the capture lost nothing, as it says itself");
	else if (paired)
		finding_say(out, VERDICT_PASS,
			    "no drop counters in this file, but nothing that was acknowledged in "
			    "%u flows is missing",
			    paired);
	else
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "no drop counters in this file, and no flow with both directions: what "
			    "the capture lost is not known");
	if (missed)
		tell_worst(out, s, offsetof(struct flow, missed_psns), "PSNs missed");
}

const char *const capture_ways[] = {
	"a mirror port of the switch (SPAN, or ERSPAN towards this host): rocecheck takes "
	"the tunnel off",
	"an inline tap between NIC and switch; it alone shows PFC frames",
	"on ConnectX the RDMA device instead of the interface (mlx5_0), with a libpcap "
	"built with libibverbs",
	"Soft-RoCE, whose packets pass the interface; not between two QPs of one host",
	"the NIC's counters in place of packets: rocecheck top, rocecheck validate",
	NULL,
};

FABRIC_CHECK(check_cap_visible)
{
	const struct capture_totals *t = &c->capture->summary->totals;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (t->roce) {
		finding_say(out, VERDICT_PASS, "%llu RoCE packets in %llu frames", (count_t)t->roce,
			    (count_t)t->frames);
		return;
	}
	finding_say(out, VERDICT_FAIL,
		    "no RoCE in %llu frames: where RDMA counters grow all the same, the NIC "
		    "bypasses the kernel, and with it the capture",
		    (count_t)t->frames);
	for (unsigned int i = 0; capture_ways[i]; i++)
		finding_evidence(out, EVIDENCE_CAPTURE, "way out: %s", capture_ways[i]);
}

FABRIC_CHECK(check_cap_both)
{
	unsigned int asking, n;

	if (!begin(rule, c, out))
		return;
	n = unanswered(c->capture->summary, &asking, out);
	if (!asking)
		finding_say(out, VERDICT_FAIL, "answers alone: no request was captured");
	else if (n)
		finding_say(
			out, VERDICT_FAIL,
			"nothing came back in %u of %u flows: losses, refusals and timeouts are "
			"not judged there",
			n, asking);
	else
		finding_say(out, VERDICT_PASS, "both directions of %u flows", asking);
}

/* PSNs that were acknowledged all the same are the capture's own: RC-CAP-001 has them. */
FABRIC_CHECK(check_cap_missing)
{
	const struct capture_summary *s = c->capture->summary;
	uint64_t missing, missed;
	unsigned int flows, unused;

	if (!begin(rule, c, out))
		return;
	missing = sum_of(s, offsetof(struct flow, psn_missing), &flows);
	missed = sum_of(s, offsetof(struct flow, missed_psns), &unused);
	missing -= missed < missing ? missed : missing;
	if (!missing) {
		say_none(c, "unexplained gaps", false, out);
		return;
	}
	if (s->drops == DROPS_ZERO)
		finding_say(out, VERDICT_FAIL, "%llu PSNs of %u flows never came", (count_t)missing,
			    flows);
	else
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "%llu PSNs of %u flows never came: lost in the network, or by the "
			    "capture, %s",
			    (count_t)missing, flows,
			    s->drops == DROPS_SOME ? "which lost packets"
						   : "whose drops are not recorded");
	tell_worst(out, s, offsetof(struct flow, psn_missing), "PSNs missing");
	tell_frames(out, &c->capture->witnesses->kind[EVENT(FLOW_PSN_GAP)]);
}

/* A flow without a single good ICRC tells of the capture or of a rewritten header. */
FABRIC_CHECK(check_cap_icrc)
{
	const struct capture_summary *s = c->capture->summary;
	uint64_t good = 0, bad = 0, rewritten = 0;

	if (!begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		const struct flow *f = &s->flow[i];
		bool all = f->icrc_bad > 1 && !f->icrc_good;

		good += f->icrc_good;
		bad += all ? 0 : f->icrc_bad;
		rewritten += all ? f->icrc_bad : 0;
	}
	if (bad)
		finding_say(out, VERDICT_FAIL, "%llu bad ICRCs beside %llu good ones", (count_t)bad,
			    (count_t)good);
	else if (rewritten)
		finding_say(
			out, VERDICT_INCONCLUSIVE,
			"%llu bad ICRCs, in flows without a good one: the capture or a rewritten "
			"header, rather than corruption",
			(count_t)rewritten);
	else if (good)
		finding_say(out, VERDICT_PASS, "%llu ICRCs are good", (count_t)good);
	else
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "the packets were cut by the capture: no ICRC can be verified");
	if (bad || rewritten)
		tell_frames(out, &c->capture->witnesses->kind[EVENT(FLOW_ICRC_BAD)]);
}

FABRIC_CHECK(check_cap_cnp)
{
	const struct capture_summary *s = c->capture->summary;
	unsigned int flows, asking, one_way;
	uint64_t marks;

	if (!begin(rule, c, out))
		return;
	marks = sum_of(s, offsetof(struct flow, ecn[3]), &flows);
	one_way = unanswered(s, &asking, out);
	if (!marks)
		finding_say(out, VERDICT_SKIP, "no packet carries a congestion mark");
	else if (s->totals.cnp)
		finding_say(out, VERDICT_PASS, "%llu CNPs for %llu CE marks",
			    (count_t)s->totals.cnp, (count_t)marks);
	else if (one_way || s->drops == DROPS_SOME)
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "%llu CE marks and no CNP, but not everything was captured",
			    (count_t)marks);
	else
		finding_say(out, VERDICT_FAIL, "%llu CE marks in %u flows, and no CNP",
			    (count_t)marks, flows);
	if (marks && !s->totals.cnp)
		tell_frames(out, &c->capture->witnesses->kind[EVENT(FLOW_CE)]);
}

FABRIC_CHECK(check_cap_pause)
{
	const struct capture_totals *t = &c->capture->summary->totals;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!t->pause_frames && !t->pfc_frames) {
		finding_say(out, VERDICT_SKIP,
			    "neither was captured: NICs and mirrors keep such frames to "
			    "themselves");
		return;
	}
	if (!t->pause_frames || !t->pfc_frames) {
		finding_say(out, VERDICT_PASS, "%llu PFC and %llu pause frames",
			    (count_t)t->pfc_frames, (count_t)t->pause_frames);
		return;
	}
	finding_say(out, VERDICT_FAIL, "%llu PFC and %llu pause frames", (count_t)t->pfc_frames,
		    (count_t)t->pause_frames);
	for (unsigned int kind = WITNESS_PAUSE; kind <= WITNESS_PFC; kind++)
		finding_evidence(out, EVIDENCE_CAPTURE, "%s: first in frame %llu",
				 kind == WITNESS_PFC ? "PFC" : "pause",
				 (count_t)c->capture->witnesses->kind[kind].flow[0].frame[0]);
}

static unsigned int dscp_count(const struct flow *f)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(f->dscp); i++)
		n += f->dscp[i] != 0;
	return n;
}

/* A flow with CNPs has two by right: they have a DSCP of their own. */
FABRIC_CHECK(check_cap_dscp)
{
	const struct capture_summary *s = c->capture->summary;
	const struct flow *first = NULL;
	unsigned int n = 0;

	if (!begin(rule, c, out))
		return;
	for (unsigned int i = 0; i < s->flow_count; i++) {
		if (dscp_count(&s->flow[i]) <= 1U + (s->flow[i].cnp != 0))
			continue;
		first = n++ ? first : &s->flow[i];
	}
	if (!n) {
		finding_say(out, VERDICT_PASS, "each of %u flows has one DSCP", s->flow_count);
		return;
	}
	finding_say(out, VERDICT_FAIL, "%u of %u flows", n, s->flow_count);
	finding_evidence(out, EVIDENCE_CAPTURE, "qpn 0x%06x, frames %llu-%llu: %u different DSCPs",
			 first->dest_qpn, (count_t)first->first_frame, (count_t)first->last_frame,
			 dscp_count(first));
}

FABRIC_CHECK(check_cap_neighbours)
{
	const struct lldp_peer *p = &c->capture->summary->peer;

	finding_begin(out, rule, c->capture->name, "", 0);
	if (!p->seen)
		finding_say(out, VERDICT_SKIP, "no LLDP in the capture");
	else if (p->neighbours > 1)
		finding_say(out, VERDICT_FAIL, "%u neighbours, the last %s", p->neighbours,
			    p->system[0] ? p->system : p->chassis);
	else
		finding_say(out, VERDICT_PASS, "one neighbour: %s",
			    p->system[0] ? p->system : p->chassis);
}
