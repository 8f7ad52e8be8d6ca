/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the TCP backgrounds of a run: their bytes on the wire, which are rocecheck's own, and
 * those that were missing.
 */
#include "reports/engine/tcp_share.h"
#include "reports/traffic/verdict_priv.h"

static const struct traffic_tcp_result *tcp_result(const struct traffic_report *r, unsigned int i)
{
	return r && i < r->tcp_count ? &r->tcp[i] : NULL;
}

void judge_tcp_volume(const struct verdict_pair *pair, bool at_client, uint64_t *in, uint64_t *out)
{
	const struct traffic_report *here = at_client ? pair->client_report : pair->server_report;
	const struct traffic_report *there = at_client ? pair->server_report : pair->client_report;

	for (unsigned int i = 0; i < pair->spec->tcp_count; i++) {
		const struct traffic_tcp_result *a = tcp_result(here, i), *b = tcp_result(there, i);

		tcp_share_bytes(a, b, out, in);
		tcp_share_bytes(b, a, in, out);
	}
}

static void judge_end(struct judge *j, const struct verdict_pair *pair, bool client, unsigned int i)
{
	unsigned int end = client ? pair->client : pair->server;
	const struct traffic_tcp_result *r =
		tcp_result(client ? pair->client_report : pair->server_report, i);
	char text[200], name[JUDGE_NAME_MAX];

	if (!r) /* judge_reports() says so */
		return;
	if (tcp_share_missing(&pair->spec->tcp[i], i, client, r, text, sizeof(text)))
		judge_add_reason(j, REASON_BACKGROUND, (int)end, VERDICT_NOWHERE, "%s: %s",
				 judge_name(j, pair, end, name), text);
}

void judge_tcp(struct judge *j)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		for (unsigned int i = 0; i < pair->spec->tcp_count && !judge_remote_gone(pair);
		     i++) {
			judge_end(j, pair, true, i);
			judge_end(j, pair, false, i);
		}
	}
}
