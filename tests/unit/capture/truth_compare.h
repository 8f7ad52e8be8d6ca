/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was put into a generated capture beside what the flow table says of it: every counter of
 * every flow, the pauses, the pairs.
 */
#ifndef TESTS_UNIT_TRUTH_COMPARE_H
#define TESTS_UNIT_TRUTH_COMPARE_H

#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "tests/tools/capgen.h"

#define CLASS_RC  0x00
#define CLASS_UC  0x20
#define CLASS_UD  0x60
#define CLASS_XRC 0xa0

/* Answers that a pair is surely found by. */
#define ANSWERS_SURE 4

struct truth_pair {
	const char *name;
	size_t want, have;
};

static const struct truth_pair truth_pairs[] = {
#define PAIR(w, h)                                                                                 \
	{                                                                                          \
#h, offsetof(struct capgen_flow, w), offsetof(struct flow, h)                      \
	}
	PAIR(packets, packets),
	PAIR(payload_bytes, payload_bytes),
	PAIR(requests, requests),
	PAIR(responses, responses),
	PAIR(acks, acks),
	PAIR(naks_seq, naks_seq),
	PAIR(naks_other, naks_other),
	PAIR(rnr, rnr),
	PAIR(cnp, cnp),
	PAIR(cnp_span_ns, cnp_span_ns),
	PAIR(cnp_min_ns, cnp_min_ns),
	PAIR(ce, ecn[3]),
	PAIR(icrc_good, icrc_good),
	PAIR(icrc_bad, icrc_bad),
	PAIR(icrc_unverifiable, icrc_unverifiable),
	PAIR(new_connections, new_connections),
	PAIR(gaps, psn_gaps),
	PAIR(missing, psn_missing),
	PAIR(again, duplicates),
	PAIR(missed_psns, missed_psns),
	PAIR(copies, copies),
	PAIR(wasted, wasted_psns),
	PAIR(nak_ns, nak_ns),
	PAIR(resend_ns, resend_ns),
	PAIR(held, held),
	PAIR(held_ns, held_ns),
	PAIR(held_unknown, held_unknown),
	PAIR(cnp_close, cnp_close),
#undef PAIR
};

#define BURSTS(fault) (1U << CAPGEN_##fault)

/* What is counted once for each burst with one of the faults. */
static const struct truth_verdict {
	const char *name;
	size_t have;
	uint32_t faults;
} truth_verdicts[] = {
#define VERDICT(h, f)                                                                              \
	{                                                                                          \
#h, offsetof(struct flow, h), f                                                    \
	}
	VERDICT(losses_before, BURSTS(LOST) | BURSTS(SELECTIVE)),
	VERDICT(losses_after, BURSTS(LOST_AFTER)),
	VERDICT(corruptions, BURSTS(BAD_ICRC)),
	VERDICT(reordered, BURSTS(REORDERED)),
	VERDICT(go_back_n,
		BURSTS(NAK_MISSED) | BURSTS(LOST) | BURSTS(LOST_AFTER) | BURSTS(BAD_ICRC)),
	VERDICT(selective_repeats, BURSTS(SELECTIVE)),
	VERDICT(timeouts, BURSTS(TIMEOUT) | BURSTS(ACK_LOST)),
	VERDICT(rnr_retries, BURSTS(RNR)),
	VERDICT(read_retries, BURSTS(READ_RETRY)),
	VERDICT(resends, BURSTS(LOST) | BURSTS(SELECTIVE) | BURSTS(LOST_AFTER) | BURSTS(BAD_ICRC)),
	VERDICT(naks_timed, BURSTS(LOST) | BURSTS(SELECTIVE) | BURSTS(BAD_ICRC)),
	VERDICT(unexplained, 0),
	VERDICT(psn_unjudged, 0),
#undef VERDICT
};

/* Zero where nothing was done to the traffic. */
static const struct truth_verdict truth_losses[] = {
#define LOSS(h)                                                                                    \
	{                                                                                          \
#h, offsetof(struct flow, h), 0                                                    \
	}
	LOSS(icrc_bad),
	LOSS(icrc_unverifiable),
	LOSS(naks_seq),
	LOSS(naks_unknown),
	LOSS(naks_other),
	LOSS(rnr),
	LOSS(cnp),
	LOSS(ecn[3]),
	LOSS(psn_gaps),
	LOSS(psn_missing),
	LOSS(duplicates),
	LOSS(lost_psns),
	LOSS(corrupted_psns),
	LOSS(missed_psns),
	LOSS(reordered),
	LOSS(copies),
	LOSS(losses_before),
	LOSS(losses_after),
	LOSS(corruptions),
	LOSS(go_back_n),
	LOSS(wasted_psns),
	LOSS(selective_repeats),
	LOSS(timeouts),
	LOSS(rnr_retries),
	LOSS(read_retries),
	LOSS(unexplained),
	LOSS(naks_timed),
	LOSS(resends),
	LOSS(psn_unjudged),
	LOSS(new_connections),
	LOSS(responses_missing),
#undef LOSS
};

static uint64_t truth_value(const void *base, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)base + offset, sizeof(v));
	return v;
}

/* Which capture is looked at, for a message. */
struct truth_case {
	const char *name;
	uint64_t seed;
};

static void truth_same(const struct truth_case *c, uint32_t qpn, const char *name, uint64_t want,
		       uint64_t have)
{
	if (want != have)
		fail_msg("%s, seed %llu, qpn 0x%06x: %s is %llu, not %llu", c->name,
			 (unsigned long long)c->seed, qpn, name, (unsigned long long)have,
			 (unsigned long long)want);
}

/* The index of a flow, by what it is found by. */
static uint32_t truth_index(const struct capgen_truth *t, const struct flow *f)
{
	for (uint32_t i = 0; i < t->flow_count; i++)
		if (t->flow[i].qpn == f->dest_qpn && !memcmp(t->flow[i].src, f->src, 16) &&
		    !memcmp(t->flow[i].dst, f->dst, 16))
			return i;
	fail_msg("qpn 0x%06x was not sent to", f->dest_qpn);
	return 0;
}

/* Never the wrong one, and always one where enough was answered, or the manager said it. */
static void truth_compare_pair(const struct truth_case *c, const struct capgen_truth *t, uint32_t i,
			       const struct flow *have, bool managed)
{
	const struct capgen_flow *want = &t->flow[i], *back = &t->flow[i ^ 1];
	bool answered = want->responses >= ANSWERS_SURE || back->responses >= ANSWERS_SURE;

	if (have->paired)
		truth_same(c, want->qpn, "peer_qpn", want->peer_qpn, have->peer_qpn);
	else if (want->peer_qpn && back->packets && (managed || answered))
		truth_same(c, want->qpn, "paired", 1, 0);
}

static void truth_compare_flow(const struct truth_case *c, const struct capgen_flow *want,
			       const struct flow *have)
{
	bool silent = want->transport == CLASS_UC;

	for (size_t i = 0; i < ARRAY_SIZE(truth_pairs); i++)
		truth_same(c, want->qpn, truth_pairs[i].name,
			   truth_value(want, truth_pairs[i].want),
			   truth_value(have, truth_pairs[i].have));
	for (size_t i = 0; i < ARRAY_SIZE(truth_verdicts); i++) {
		uint64_t bursts = 0;

		for (unsigned int k = 0; k < CAPGEN_FAULTS; k++)
			bursts += (truth_verdicts[i].faults >> k & 1) * want->fault[k];
		truth_same(c, want->qpn, truth_verdicts[i].name, bursts,
			   truth_value(have, truth_verdicts[i].have));
	}
	truth_same(c, want->qpn, "lost_psns", want->lost_psns - want->tail_psns, have->lost_psns);
	truth_same(c, want->qpn, "corrupted_psns", silent ? 0 : want->broken_psns,
		   have->corrupted_psns);
	if (silent)
		truth_same(c, want->qpn, "psn_missing of UC", want->silent_psns + want->broken_psns,
			   have->psn_missing);
}

static void truth_compare_pauses(const struct truth_case *c, const struct capgen_pauses *want,
				 const struct capture_totals *have)
{
	truth_same(c, 0, "pfc_frames", want->pfc_frames, have->pfc_frames);
	truth_same(c, 0, "pause_frames", want->pause_frames, have->pause_frames);
	for (unsigned int i = 0; i < 8; i++) {
		truth_same(c, i, "pfc_by_prio", want->named[i], have->pfc_by_prio[i]);
		truth_same(c, i, "pauses", want->begun[i], have->pause.pauses[i]);
		truth_same(c, i, "ran_out", want->ran_out[i], have->pause.ran_out[i]);
		truth_same(c, i, "longest pause", want->longest[i], have->pause.longest[i].ns);
		truth_same(c, i, "pause ns", want->ns[i], have->pause.ns[i]);
	}
}

static void truth_compare_mirrors(const struct truth_case *c, const struct capgen_mirrors *want,
				  const struct mirror_totals *have)
{
	truth_same(c, 0, "mirrored packets", want->packets, have->packets);
	truth_same(c, 0, "mirror gaps", want->gaps, have->gaps);
	truth_same(c, 0, "missing of mirrors", want->missing, have->missing);
	truth_same(c, 0, "mirror restarts", 0, have->restarts);
}

static void truth_compare(const struct truth_case *c, const struct capgen_truth *t,
			  const struct capture_summary *s, bool managed)
{
	uint64_t control = t->pauses.pfc_frames + t->pauses.pause_frames;
	unsigned int active = 0;

	truth_same(c, 0, "frames", t->frames, s->totals.frames);
	truth_same(c, 0, "roce", t->frames - control, s->totals.roce);
	truth_same(c, 0, "malformed", 0, s->totals.malformed);
	truth_same(c, 0, "truncated", 0, s->totals.truncated);
	truth_compare_pauses(c, &t->pauses, &s->totals);
	truth_compare_mirrors(c, &t->mirrors, &s->totals.mirror);
	for (uint32_t i = 0; i < t->flow_count; i++)
		active += t->flow[i].packets != 0;
	truth_same(c, 0, "flow_count", active, s->flow_count);
	for (unsigned int i = 0; i < s->flow_count; i++) {
		uint32_t at = truth_index(t, &s->flow[i]);

		truth_compare_flow(c, &t->flow[at], &s->flow[i]);
		if (at < t->streams)
			truth_compare_pair(c, t, at, &s->flow[i], managed);
		/* The capture may miss the end of a READ. */
		if (at >= t->streams || !t->flow[at ^ 1].fault[CAPGEN_ACK_MISSED])
			truth_same(c, t->flow[at].qpn, "responses_missing", 0,
				   s->flow[i].responses_missing);
	}
}

#endif
