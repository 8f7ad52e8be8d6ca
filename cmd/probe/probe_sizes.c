/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep of message sizes for people: a row a size.
 */
#include <inttypes.h>

#include "cmd/probe/probe_text.h"
#include "reports/traffic/size_verdict.h"

static void print_row(const struct two_ended_size *s, const char *verdict, FILE *out)
{
	char size[32], rate[32], p50[32] = "-", p99[32] = "-", checked[32] = "none";
	struct two_ended_size_sum sum;

	two_ended_size_sum(s, &sum);
	probe_size_text(s->bytes, size, sizeof(size));
	probe_bytes_text(sum.bytes_per_s, rate, sizeof(rate));
	if (sum.checked_bytes)
		probe_bytes_text(sum.checked_bytes, checked, sizeof(checked));
	if (sum.latency.count) {
		probe_time_text(histogram_percentile(&sum.latency, HISTOGRAM_P50), p50,
				sizeof(p50));
		probe_time_text(histogram_percentile(&sum.latency, HISTOGRAM_P99), p99,
				sizeof(p99));
	}
	fprintf(out,
		"%11s %11" PRIu64 " %12s/s %11.0f %11s %11s %10s %7" PRIu64 " %7" PRIu64 "  %s\n",
		size, sum.messages, rate,
		sum.duration_ns ? (double)sum.messages * 1e9 / (double)sum.duration_ns : 0, p50,
		p99, checked, sum.mismatches, sum.gaps + sum.losses, verdict);
}

static void print_reasons(const struct two_ended_size *s, const struct traffic_verdict *v,
			  FILE *out)
{
	char size[32];

	if (v->verdict == VERDICT_PASS)
		return;
	probe_size_text(s->bytes, size, sizeof(size));
	fprintf(out, "%s\n", size);
	for (unsigned int i = 0; i < v->count; i++)
		if (v->reason[i].verdict != VERDICT_PASS)
			probe_print_reason(&v->reason[i], true, out);
}

void probe_print_sizes(const struct two_ended *t, const struct size_verdicts *v, FILE *out)
{
	char text[200];

	if (!t->size_count)
		return;
	probe_class_text(&t->size[0].spec[SIDE_CLIENT].class[0], text, sizeof(text));
	fprintf(out, "class 0  %s, and on\n", text);
	fprintf(out, "%11s %11s %14s %11s %11s %11s %10s %7s %7s  %s\n", "size", "messages",
		"goodput", "messages/s", "p50", "p99", "checked", "wrong", "lost", "verdict");
	for (unsigned int i = 0; i < t->size_count; i++)
		print_row(&t->size[i], v ? verdict_word(v->size[i].of.v.verdict) : "not judged",
			  out);
	for (unsigned int i = 0; v && i < v->count; i++)
		print_reasons(&t->size[i], &v->size[i].of.v, out);
	if (!v)
		return;
	fprintf(out, "verdict  %s\n", verdict_word(v->verdict));
	for (unsigned int i = 0; i < v->own.count; i++)
		probe_print_reason(&v->own.reason[i], true, out);
}
