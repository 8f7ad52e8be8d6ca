/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loss by counters. Soft-RoCE counts a gap for every RNR NAK as well, because the packets behind it
 * come out of sequence (rxe_resp.c), and its retry timer fires without loss (rxe_comp.c): RNRs are
 * taken out of the gaps there, and retries alone are suspects, never loss.
 */
#include "reports/loss.h"

#include <string.h>

struct reader {
	const struct subject *s;
	const struct counters *delta;
	struct findings *out;
};

/* The value with its evidence; 0 when absent. */
static uint64_t take(const struct reader *r, enum metric m, unsigned int prio, bool *known)
{
	if (!counters_has(r->delta, m, prio))
		return 0;
	evidence_counter(r->out, r->s, r->delta, m, prio);
	*known = true;
	return r->delta->value[m][prio];
}

static uint64_t without(uint64_t value, uint64_t explained)
{
	return value > explained ? value - explained : 0;
}

static uint64_t take_net(const struct reader *r, enum metric m, enum metric rnr, bool *known)
{
	uint64_t value = take(r, m, 0, known);
	bool rnr_known = false;

	if (r->s->port->kind != PORT_SOFT_ROCE)
		return value;
	return without(value, take(r, rnr, 0, &rnr_known));
}

static uint64_t dead_pairs(const struct subject *s, struct findings *out)
{
	const struct run_pair *pair;
	unsigned int i = 0;
	uint64_t dead = 0;

	while ((pair = subject_pair(s, &i))) {
		if (!subject_is_client(s, pair) || !pair->ran ||
		    pair->client.cause != CAUSE_RETRY_EXCEEDED)
			continue;
		finding_evidence(out, EVIDENCE_TRAFFIC, "to %s: %s",
				 s->c->run->host[pair->server_host].name, pair->client.detail);
		dead++;
	}
	return dead;
}

void loss_gather(const struct subject *s, struct loss *loss, struct findings *out)
{
	static const enum metric suspects[] = {METRIC_RETRANSMITS, METRIC_ACK_TIMEOUT,
					       METRIC_DUPLICATE_REQUEST};
	struct counters delta;
	struct reader r = {s, &delta, out};
	bool ignored = false;

	memset(loss, 0, sizeof(*loss));
	loss->dead = dead_pairs(s, out);
	if (!subject_delta(s, READ_LOAD_BEFORE, &delta, NULL))
		return;
	loss->gaps = take_net(&r, METRIC_OUT_OF_SEQUENCE, METRIC_RNR_NAK_TX, &loss->gaps_known);
	loss->naks = take_net(&r, METRIC_SEQ_NAK_RX, METRIC_RNR_NAK_RX, &loss->naks_known);
	if (s->roce_prio >= 0)
		loss->discards = take(&r, METRIC_PRIO_RX_DISCARDS, (unsigned int)s->roce_prio,
				      &loss->discards_known);
	loss->dead += take(&r, METRIC_RETRY_EXCEEDED, 0, &ignored);
	for (unsigned int i = 0; i < ARRAY_SIZE(suspects); i++)
		loss->suspects += take(&r, suspects[i], 0, &ignored);
}
