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

#define WORST_SHOWN 3 /* flows */

static void capture_write_loss(const struct findings *f, const char *label, const char *id,
			       const char *pass, FILE *out)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].rule->id, id)) {
			enum verdict v = f->list[i].verdict;

			fprintf(out, "      %-12s  %s %s: ", label, id,
				v == VERDICT_PASS ? pass : verdict_word(v));
			text_print(out, f->list[i].text, TEXT_FIELD);
			fputc('\n', out);
		}
}

static uint64_t capture_count_losses(const struct flow *f, size_t kind)
{
	(void)kind;
	return f->lost_psns + f->losses_after + f->icrc_bad + f->timeouts + f->naks_other;
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
		flow_verdict_text(f, s->drops, text, sizeof(text));
		fprintf(out, "      %-12s  %s: %s\n", i ? "" : "worst flows", flow, text);
	}
	if (count > WORST_SHOWN)
		fprintf(out, "      %-12s  %d of %u flows shown\n", "", WORST_SHOWN, count);
}

/* DSCPs with the number of their flows: without a profile there is nothing to compare with. */
static void capture_write_dscps(const struct capture_summary *s, FILE *out)
{
	const char *separator =
		"      DSCP          not checked (no profile; a flow can have several): ";

	for (unsigned int dscp = 0; dscp < ARRAY_SIZE(s->flow[0].dscp); dscp++) {
		unsigned int flows = 0;

		for (unsigned int i = 0; i < s->flow_count; i++)
			flows += s->flow[i].dscp[dscp] != 0;
		if (!flows)
			continue;
		fprintf(out, "%s%u in %u flow%s", separator, dscp, flows, plural(flows));
		separator = ", ";
	}
	fputs(separator[0] == ',' ? "\n" : "", out);
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
	capture_write_loss(r->findings, "network loss", "RC-CAP-004", verdict_word(VERDICT_PASS),
			   out);
	capture_write_loss(r->findings, "capture loss", "RC-CAP-001",
			   s->drops == DROPS_UNKNOWN ? "none known" : verdict_word(VERDICT_PASS),
			   out);
	if (t->mirror.packets)
		capture_write_loss(r->findings, "mirror loss", "RC-CAP-026",
				   verdict_word(VERDICT_PASS), out);
	capture_write_worst(s, out);
	capture_write_dscps(s, out);
}
