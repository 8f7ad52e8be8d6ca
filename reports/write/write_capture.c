/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headline of a capture in the text report: what was examined, loss of the network against loss of
 * the capture, and the flows with the most losses.
 */
#include <inttypes.h>
#include <string.h>

#include "profiles/base/text.h"
#include "reports/rules/capture_evidence.h"
#include "reports/rules/flow_verdict.h"
#include "reports/write/writer.h"

#define WORST_SHOWN    3 /* flows */
#define SYMPTOMS_SHOWN 4 /* of a flow, most severe first */

static void capture_write_loss(const struct findings *f, const char *label, const char *id,
			       FILE *out)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].rule->id, id)) {
			fprintf(out, "      %-12s  %s: ", label, verdict_word(f->list[i].verdict));
			text_print(out, f->list[i].text, TEXT_FIELD);
			fprintf(out, " (%s)\n", id);
		}
}

static uint64_t capture_count_losses(const struct flow *f, size_t kind)
{
	(void)kind;
	return f->lost_psns + f->losses_after + f->icrc_bad + f->timeouts + f->naks_other;
}

static void capture_cut_symptoms(char *text)
{
	for (unsigned int n = 1; (text = strchr(text, ',')); n++, text++)
		if (n == SYMPTOMS_SHOWN) {
			snprintf(text, sizeof(", ..."), ", ...");
			return;
		}
}

static void capture_write_worst(const struct capture_summary *s, FILE *out)
{
	uint64_t sum;
	unsigned int count = capture_sums(s, capture_count_losses, 1, &sum);
	const struct flow *f = NULL;
	char flow[160], text[512];

	for (unsigned int i = 0; i < WORST_SHOWN; i++) {
		f = flow_next_most(s, capture_count_losses, 0, f);
		if (!f)
			return;
		evidence_flow(f, flow, sizeof(flow));
		flow_verdict_text(f, s->drops, text, sizeof(text) - sizeof(", ..."));
		capture_cut_symptoms(text);
		fprintf(out, "      %-12s  %s: %s\n", i ? "" : "suspects", flow, text);
	}
	if (count > WORST_SHOWN)
		fprintf(out, "      %-12s  %d of %u flows shown\n", "", WORST_SHOWN, count);
}

void write_capture(const struct report *r, FILE *out)
{
	const struct capture_summary *s = r->capture->summary;
	const struct capture_totals *t = &s->totals;
	char span[32];

	fputs("capture ", out);
	text_print(out, r->capture->name, TEXT_FIELD);
	evidence_time(s, capture_span_ns(s), span, sizeof(span));
	fprintf(out, ": %" PRIu64 " frame%s, %" PRIu64 " RoCE in %u flow%s, duration %s\n",
		t->frames, plural(t->frames), t->roce, s->flow_count, plural(s->flow_count), span);
	capture_write_loss(r->findings, "network loss", "RC-CAP-004", out);
	capture_write_loss(r->findings, "capture loss", "RC-CAP-001", out);
	if (t->mirror.packets)
		capture_write_loss(r->findings, "mirror loss", "RC-CAP-026", out);
	capture_write_worst(s, out);
}
