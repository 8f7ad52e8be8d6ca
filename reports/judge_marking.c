/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the marking echo of a pair says of its way, as reasons of the verdict.
 */
#include "reports/judge.h"

static const enum reason_kind reasons[ECHO_KINDS] = {
	[ECHO_DSCP] = REASON_REMARKED,	  [ECHO_ECT_CLEARED] = REASON_REMARKED,
	[ECHO_CE] = REASON_CE_IDLE,	  [ECHO_ECN] = REASON_REMARKED,
	[ECHO_LOST] = REASON_WAY_LOSES,	  [ECHO_DEAF] = REASON_WAY_LOSES,
	[ECHO_WRONG] = REASON_WRONG_DATA, [ECHO_UNREAD] = REASON_UNSEEN,
	[ECHO_MTU] = REASON_WAY_MTU,
};

/* Classes of an echo are not those of the traffic: each marking is there once. */
void judge_marking(struct judge *j)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		if (pair->echo_failed)
			judge_say(j, REASON_UNSEEN, VERDICT_NOWHERE, VERDICT_NOWHERE,
				  "the marking echo was not done to its end: %s",
				  pair->echo_failed);
		for (unsigned int i = 0; pair->echo && i < pair->echo->count; i++) {
			const struct echo_finding *f = &pair->echo->finding[i];
			char text[240];

			echo_finding_text(f, text, sizeof(text));
			judge_say(j, reasons[f->kind],
				  (int)(f->way == ECHO_FORTH ? pair->server : pair->client),
				  VERDICT_NOWHERE, "%s", text);
		}
	}
}
