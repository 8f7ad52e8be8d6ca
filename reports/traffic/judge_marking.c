/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the marking of a pair: the ToS that its queue pairs have, and its marking echo.
 */
#include "reports/traffic/verdict_priv.h"

#include <inttypes.h>

static const enum reason_kind reasons[MARKING_KINDS] = {
	[MARKING_DSCP] = REASON_REMARKED,	[MARKING_ECT_CLEARED] = REASON_REMARKED,
	[MARKING_CE] = REASON_CE_IDLE,		[MARKING_ECN] = REASON_REMARKED,
	[MARKING_LOST] = REASON_DATAGRAMS_LOST, [MARKING_BLACKHOLE] = REASON_DATAGRAMS_LOST,
	[MARKING_WRONG] = REASON_WRONG_DATA,	[MARKING_UNREAD] = REASON_UNSEEN,
	[MARKING_MTU] = REASON_PATH_MTU,
};

/* What the queue pairs of rdma_cm have is not what was asked for: it went in another class. */
static void judge_set(struct judge *j, const struct verdict_pair *pair, unsigned int end,
		      const struct traffic_report *report)
{
	for (unsigned int i = 0; report && i < report->class_count; i++) {
		const struct traffic_class_result *r = &report->class[i];
		unsigned int asked;

		if (!r->tos_other || i >= pair->spec->class_count)
			continue;
		asked = pair->spec->class[i].tos;
		judge_add_reason(j, REASON_NOT_MARKED, (int)end, (int)i,
				 "%s: %" PRIu64 " of %" PRIu64
				 " queue pairs that rdma_cm set up have ToS "
				 "%" PRIu64 " (DSCP %" PRIu64 ") instead of %u (DSCP %u)",
				 judge_host(j, end), r->tos_other, r->tos_read, r->tos_found,
				 r->tos_found >> 2, asked, asked >> 2);
	}
}

/* Classes of an echo are not those of the traffic: each marking is there once. */
void judge_marking(struct judge *j)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		judge_set(j, pair, pair->client, pair->client_report);
		judge_set(j, pair, pair->server, pair->server_report);
		if (pair->echo_failed)
			judge_add_reason(j, REASON_UNSEEN, VERDICT_NOWHERE, VERDICT_NOWHERE,
					 "the marking echo did not finish: %s", pair->echo_failed);
		for (unsigned int i = 0; pair->echo && i < pair->echo->finding_count; i++) {
			const struct marking_finding *f = &pair->echo->finding[i];
			char text[240];

			marking_finding_text(f, text, sizeof(text));
			judge_add_reason(j, reasons[f->kind],
					 (int)(f->direction == MARKING_FORWARD ? pair->server
									       : pair->client),
					 VERDICT_NOWHERE, "%s", text);
			if (f->kind == MARKING_ECT_CLEARED || f->kind == MARKING_ECN)
				finding_rule(&j->out->findings, rule_find("RC-QOS-008"));
		}
	}
}
