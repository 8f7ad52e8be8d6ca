/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP backgrounds of a run: what they put on the wire, which is ours, and whether they were
 * there at all. Their losses are TCP's own business.
 */
#include <stdio.h>

#include "reports/judge.h"

#define SEGMENT_LEAST  500u /* payload, where nobody says how large segments were */
#define SEGMENT_HEADER 120u /* of Ethernet with VLAN and FCS, IPv6, TCP with options: an ACK */
#define RATE_PC	       10u  /* of what was asked: TCP may be slow beside RDMA, but it is there */
#define SLOTS_LEAST    4u

static const struct traffic_tcp_result *tcp_of(const struct traffic_report *r, unsigned int i)
{
	return r && i < r->tcp_count ? &r->tcp[i] : NULL;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* One direction: the most that either end knows of, and an ACK for each segment. */
static void add_way(const struct traffic_tcp_result *from, const struct traffic_tcp_result *to,
		    uint64_t *data, uint64_t *back)
{
	uint64_t bytes = to ? to->arrived_bytes : 0, segments;

	if (from)
		bytes = larger(bytes, larger(from->wire_bytes, from->sent_bytes));
	segments = bytes / (from && from->mss ? from->mss : SEGMENT_LEAST) + (bytes > 0);
	*data += bytes + segments * SEGMENT_HEADER;
	*back += segments * SEGMENT_HEADER;
}

void judge_tcp_volume(const struct verdict_pair *pair, bool at_client, uint64_t *in, uint64_t *out)
{
	const struct traffic_report *here = at_client ? pair->client_report : pair->server_report;
	const struct traffic_report *there = at_client ? pair->server_report : pair->client_report;

	for (unsigned int i = 0; i < pair->spec->tcp_count; i++) {
		const struct traffic_tcp_result *a = tcp_of(here, i), *b = tcp_of(there, i);

		add_way(a, b, out, in);
		add_way(b, a, in, out);
	}
}

/* Whether the later half of the run had nothing of it. Of less than four slots that cannot be told.
 */
static bool fell_silent(const struct intervals *v)
{
	uint64_t whole = v->width_ns ? (v->end_ns - v->start_ns) / v->width_ns : 0;

	if (whole < SLOTS_LEAST || whole > v->slots)
		return false;
	for (uint64_t i = whole / 2; i < v->slots; i++)
		if (v->bytes[i])
			return false;
	return true;
}

/* At the end that receives: was it there, as much as was asked, and to the end? */
static void judge_arrived(struct judge *j, unsigned int end, unsigned int i,
			  const struct traffic_tcp *asked, const struct traffic_tcp_result *r)
{
	uint64_t rate = intervals_rate(r->arrived_bytes, r->duration_ns);

	if (!r->arrived_bytes)
		judge_say(j, REASON_BACKGROUND, (int)end, VERDICT_NOWHERE,
			  "%s: nothing arrived of TCP %u: the port was not tested with it",
			  judge_host(j, end), i);
	else if (r->duration_ns && rate < asked->rate_bytes_per_s / 100 * RATE_PC)
		judge_say(j, REASON_BACKGROUND, (int)end, VERDICT_NOWHERE,
			  "%s: %.1f of %.1f MB/s asked arrived of TCP %u: the port was not tested "
			  "with it",
			  judge_host(j, end), (double)rate / 1e6,
			  (double)asked->rate_bytes_per_s / 1e6, i);
	else if (fell_silent(&r->goodput))
		judge_say(j, REASON_BACKGROUND, (int)end, VERDICT_NOWHERE,
			  "%s: nothing arrived of TCP %u in the second half of the run",
			  judge_host(j, end), i);
}

static void judge_end(struct judge *j, const struct verdict_pair *pair, bool client, unsigned int i)
{
	const struct traffic_tcp *asked = &pair->spec->tcp[i];
	unsigned int end = client ? pair->client : pair->server;
	const struct traffic_tcp_result *r =
		tcp_of(client ? pair->client_report : pair->server_report, i);
	bool receives = asked->direction == TRAFFIC_BOTH ||
			(asked->direction == TRAFFIC_BACKWARD) == client;

	if (!r)
		return; /* that is said of the end as a whole */
	if (r->broken)
		judge_say(j, REASON_BACKGROUND, (int)end, VERDICT_NOWHERE,
			  "%s: %u of %u streams of TCP %u broke: %s", judge_host(j, end), r->broken,
			  asked->streams, i, r->detail);
	else if (receives)
		judge_arrived(j, end, i, asked, r);
}

void judge_tcp(struct judge *j)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		for (unsigned int i = 0; i < pair->spec->tcp_count && !judge_peer_gone(pair); i++) {
			judge_end(j, pair, true, i);
			judge_end(j, pair, false, i);
		}
	}
}
