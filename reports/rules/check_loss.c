/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture alone says of losses in the network: what shows one by itself, and what may have
 * another reason as well.
 */
#include <stdio.h>

#include "reports/rules/capture_evidence.h"
#include "reports/rules/checks.h"

#define EVENT(bit) EVIDENCE_EVENT(bit)

/* What shows a loss. A refusal shows one by itself: of what was captured, and lost behind it; of
 * what was not, and is still missing; and of requests that no flow of the capture has.
 * A READ that goes on in the middle shows that answers were lost. */
enum loss_sign {
	LOSS_RESENT,
	LOSS_BEHIND,
	LOSS_OPEN,
	LOSS_UNSEEN,
	LOSS_ANSWERS,
	LOSS_SIGNS,
};

static const struct {
	unsigned int witness;
	struct noun what;
} loss_signs[LOSS_SIGNS] = {
	[LOSS_RESENT] = {EVENT(FLOW_PSN_FILLED),
			 {"PSN lost and sent again", "PSNs lost and sent again"}},
	[LOSS_BEHIND] = {EVENT(FLOW_NAK_SEQ),
			 {"refusal of what was lost behind the capture",
			  "refusals of what was lost behind the capture"}},
	[LOSS_OPEN] = {EVENT(FLOW_NAK_SEQ),
		       {"refusal of what never came", "refusals of what never came"}},
	[LOSS_UNSEEN] = {EVENT(FLOW_NAK_SEQ),
			 {"sequence NAK whose request is not known",
			  "sequence NAKs whose requests are not known"}},
	[LOSS_ANSWERS] = {EVENT(FLOW_READ_RETRY),
			  {"READ sent again from a lost answer on",
			   "READs sent again from a lost answer on"}},
};

static uint64_t beyond(uint64_t count, uint64_t excused)
{
	return count > excused ? count - excused : 0;
}

static uint64_t refusals_unknown(const struct flow *f)
{
	return f->paired ? f->naks_unknown : f->naks_seq;
}

static uint64_t loss_count(const struct flow *f, size_t sign)
{
	switch (sign) {
	case LOSS_RESENT:
		return f->lost_psns;
	case LOSS_BEHIND: /* what comes too early is refused, and so is what follows the late one */
		return beyond(f->losses_after, 2 * f->reordered);
	case LOSS_OPEN:
		return f->lost_psns || f->reordered ? 0 : f->losses_before;
	case LOSS_UNSEEN: /* Soft-RoCE refuses what comes behind an RNR NAK, too */
		return beyond(refusals_unknown(f), f->rnr);
	case LOSS_ANSWERS: /* after a timeout they may be late */
		return beyond(f->read_retries, f->timeouts + f->reads_reordered);
	default:
		return 0;
	}
}

/* Refusals that have another reason, perhaps. */
enum loss_doubt {
	DOUBT_ORDER,
	DOUBT_NOT_READY,
	LOSS_DOUBTS,
};

static const char *const doubt_texts[LOSS_DOUBTS] = {
	[DOUBT_ORDER] = "perhaps of what came out of order (see RC-CAP-006)",
	[DOUBT_NOT_READY] = "perhaps by receivers that were not ready (see RC-CAP-009)",
};

static uint64_t doubt_count(const struct flow *f, size_t doubt)
{
	uint64_t before = f->lost_psns ? 0 : f->losses_before - loss_count(f, LOSS_OPEN);

	if (doubt == DOUBT_NOT_READY)
		return refusals_unknown(f) - loss_count(f, LOSS_UNSEEN);
	return before + f->losses_after - loss_count(f, LOSS_BEHIND);
}

/* No sign counts: a PASS, unless refusals are open to doubt. */
static void say_none_lost(const struct rule_context *c, struct findings *out)
{
	const struct capture_summary *s = c->capture->summary;
	const struct noun *what = &loss_signs[LOSS_RESENT].what;
	uint64_t sum[LOSS_DOUBTS];
	char text[256] = "";
	size_t used = 0;

	(void)capture_sums(s, doubt_count, LOSS_DOUBTS, sum);
	for (unsigned int i = 0; i < LOSS_DOUBTS; i++)
		if (sum[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s%llu refusal%s, %s", used ? "; " : "",
						 (count_t)sum[i], plural(sum[i]), doubt_texts[i]);
	if (!used) {
		capture_say_none(c, what, true, out);
		return;
	}
	finding_say(out, VERDICT_INCONCLUSIVE, "no %s for certain: %s", what->one, text);
	evidence_frames(out, &c->capture->witnesses->kind[EVENT(FLOW_NAK_SEQ)]);
}

FABRIC_CHECK(check_cap_lost)
{
	const struct capture_summary *s = c->capture->summary;
	uint64_t sum[LOSS_SIGNS];
	unsigned int flows, told = 0;
	char text[320] = "";
	size_t used = 0;

	if (!capture_begin(rule, c, out))
		return;
	flows = capture_sums(s, loss_count, LOSS_SIGNS, sum);
	if (!flows) {
		say_none_lost(c, out);
		return;
	}
	for (unsigned int i = 0; i < LOSS_SIGNS; i++)
		if (sum[i] && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu %s",
						 used ? ", " : "", (count_t)sum[i],
						 noun_for(&loss_signs[i].what, sum[i]));
	finding_say(out, VERDICT_FAIL, "%s in %u of %u flow%s", text, flows, s->flow_count,
		    plural(s->flow_count));
	for (unsigned int i = 0; i < LOSS_SIGNS; i++) {
		if (!sum[i])
			continue;
		evidence_most(out, s, loss_count, i, &loss_signs[i].what);
		if (told & 1U << loss_signs[i].witness)
			continue;
		told |= 1U << loss_signs[i].witness;
		evidence_frames(out, &c->capture->witnesses->kind[loss_signs[i].witness]);
	}
}
