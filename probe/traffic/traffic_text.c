/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates with three digits, the parameters of a TCP background, and what a stalled queue pair waits
 * for.
 */
#include "probe/traffic/traffic_text.h"

#include <inttypes.h>
#include <stdio.h>

void traffic_rate_text(double bytes_per_s, char *buf, size_t size)
{
	static const char *const units[] = {"kb/s", "Mb/s", "Gb/s"};
	double value = bytes_per_s * 8e-3;
	size_t i = 0;

	while (value >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, "%.3g %s", value, units[i]);
}

void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size)
{
	static const char *const ways[] = {
		[TRAFFIC_FORWARD] = "",
		[TRAFFIC_BACKWARD] = ", backward",
		[TRAFFIC_BOTH] = ", both ways",
	};
	char rate[48] = "flat out";

	if (tcp->rate_bytes_per_s)
		traffic_rate_text((double)tcp->rate_bytes_per_s, rate, sizeof(rate));
	snprintf(buf, size, "%u stream%s, %s, ToS %u (DSCP %u)%s", tcp->streams,
		 tcp->streams == 1 ? "" : "s", rate, tcp->tos, tcp->tos >> 2, ways[tcp->direction]);
}

static uint64_t lacking(uint64_t want, uint64_t have)
{
	return want > have ? want - have : 0;
}

void traffic_stall_print(const struct traffic_stall *s, FILE *out)
{
	const struct {
		uint64_t count;
		const char *what;
	} owed[] = {
		{lacking(s->posted, s->completed), "completions"},
		{lacking(s->completed, s->granted), "credits"},
		{lacking(s->announced, s->arrived), "arrivals"},
		{s->control, "control acknowledgements"},
	};
	bool any = false;

	fputs("waits for", out);
	for (size_t i = 0; i < ARRAY_SIZE(owed); i++) {
		if (!owed[i].count)
			continue;
		fprintf(out, "%s %" PRIu64 " %s", any ? "," : "", owed[i].count, owed[i].what);
		any = true;
	}
	fprintf(out,
		"%s; posted %" PRIu64 ", last completion %.1f s ago; arrived %" PRIu64
		", last %.1f s ago; no processor for %.1f of %.1f s",
		any ? "" : " the peer", s->posted, (double)s->completion_age_ns / 1e9, s->arrived,
		(double)s->arrival_age_ns / 1e9, (double)s->absent_ns / 1e9,
		(double)s->run_ns / 1e9);
}
