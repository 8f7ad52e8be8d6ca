/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes loss from counters. Soft-RoCE also counts a gap for every RNR NAK, because the next
 * packets are out of sequence (rxe_resp.c), and its retry timer fires without loss (rxe_comp.c):
 * RNRs are subtracted from the gaps there, and retries alone are never loss.
 */
#include "reports/rules/loss.h"

#include <stdio.h>
#include <string.h>

/* The value; 0 when absent. */
static uint64_t loss_counter(const struct counters *delta, enum metric m, unsigned int prio,
			     bool *known)
{
	if (!counters_has(delta, m, prio))
		return 0;
	if (known)
		*known = true;
	return delta->value[m][prio];
}

/* On Soft-RoCE a sender retransmits after an RNR NAK, so that some requests arrive twice. */
static uint64_t loss_count_unexplained(const struct counters *delta, bool soft,
				       const struct loss *loss)
{
	uint64_t retries = loss_counter(delta, METRIC_RETRANSMITS, 0, NULL);
	uint64_t duplicates = loss_counter(delta, METRIC_DUPLICATE_REQUEST, 0, NULL);

	if (soft) {
		retries = saturating_sub(retries, loss_counter(delta, METRIC_RNR_NAK_RX, 0, NULL));
		duplicates = loss->rnr ? 0 : duplicates;
	}
	return retries + duplicates + loss_counter(delta, METRIC_ACK_TIMEOUT, 0, NULL) +
	       loss_counter(delta, METRIC_ADAPTIVE_RETRANSMITS, 0, NULL);
}

/* Soft-RoCE's timer may be of the load, or not. */
static void loss_explain_timer(const struct retries *r, char text[RETRIES_TEXT])
{
	char code[24] = "";

	if (r->timer)
		snprintf(code, sizeof(code), " (code %u)", r->timer);
	if (r->timer_off)
		snprintf(
			text, RETRIES_TEXT,
			"%llu retries and duplicates without a gap, but the load has no ACK timer: "
			"they are of its control messages or of another program",
			(count_t)r->count);
	else
		snprintf(
			text, RETRIES_TEXT,
			"%llu retries and duplicates without a gap: Soft-RoCE's timer%s also fires "
			"without loss",
			(count_t)r->count, code);
}

enum retry_cause loss_explain_retries(const struct retries *r, char text[RETRIES_TEXT])
{
	count_t count = r->count;

	if (r->accounted && r->sent && !r->missing) {
		snprintf(text, RETRIES_TEXT,
			 "%llu retries and duplicates, but all %llu packets that were sent arrived",
			 count, (count_t)r->sent);
		return RETRY_ACCOUNTED;
	}
	if (r->accounted && r->missing) {
		snprintf(
			text, RETRIES_TEXT,
			"%llu retries and duplicates without a gap, and %llu of %llu packets never "
			"arrived: a last packet, an ACK or a response was lost",
			count, (count_t)r->missing, (count_t)r->sent);
		return r->quiet ? RETRY_LOST : RETRY_MAY_BE_LOST;
	}
	if (r->soft && r->waited) {
		snprintf(text, RETRIES_TEXT,
			 "%llu retries and duplicates, and a message that waited for the whole ACK "
			 "timeout: the last packets of a stream or a response were lost",
			 count);
		return RETRY_LOST;
	}
	if (r->soft) {
		loss_explain_timer(r, text);
		return RETRY_SOFT_TIMER;
	}
	snprintf(text, RETRIES_TEXT, "%llu retries without a gap%s", count,
		 r->paused
			 ? " while the port was paused: responses were late"
			 : ": the last packets of a stream or an ACK were lost, or a response was "
			   "late");
	return r->paused ? RETRY_PAUSED : RETRY_MAY_BE_LOST;
}

/* Drops of the receiving host in these priorities. */
static uint64_t loss_prio_drops(const struct counters *delta, uint8_t prios, bool *known)
{
	uint64_t sum = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (prios & 1u << prio)
			sum += loss_counter(delta, METRIC_PRIO_RX_DISCARDS, prio, known) +
			       loss_counter(delta, METRIC_PRIO_RX_CONGESTED, prio, NULL);
	return sum;
}

void host_drops_count(const struct counters *delta, uint8_t prios, uint8_t tcp,
		      struct host_drops *d)
{
	*d = (struct host_drops){.known = false};
	d->roce = loss_prio_drops(delta, prios & (uint8_t)~tcp, &d->known) +
		  loss_counter(delta, METRIC_RDMA_RX_DISCARDS, 0, &d->known);
	d->shared = loss_prio_drops(delta, prios & tcp, &d->known);
	d->no_buffer = loss_counter(delta, METRIC_OUT_OF_BUFFER, 0, NULL);
	d->any = loss_counter(delta, METRIC_RX_DISCARDS, 0, &d->any_known);
}

void loss_count(const struct counters *delta, bool soft, int prio, struct loss *loss)
{
	uint64_t rnr_tx, rnr_rx;

	memset(loss, 0, sizeof(*loss));
	rnr_tx = loss_counter(delta, METRIC_RNR_NAK_TX, 0, &loss->rnr_known);
	rnr_rx = loss_counter(delta, METRIC_RNR_NAK_RX, 0, &loss->rnr_known);
	loss->rnr = rnr_tx + rnr_rx;
	loss->gaps =
		saturating_sub(loss_counter(delta, METRIC_OUT_OF_SEQUENCE, 0, &loss->gaps_known),
			       soft ? rnr_tx : 0);
	loss->naks = saturating_sub(loss_counter(delta, METRIC_SEQ_NAK_RX, 0, &loss->naks_known),
				    soft ? rnr_rx : 0);
	loss->responses = loss_counter(delta, METRIC_RESPONSE_LOST, 0, NULL);
	if (prio >= 0)
		loss->discards = loss_prio_drops(delta, (uint8_t)(1u << prio),
						 &loss->discards_known);
	loss->dead = saturating_sub(loss_counter(delta, METRIC_RETRY_EXCEEDED, 0, NULL),
				    loss_counter(delta, METRIC_RNR_EXCEEDED, 0, NULL));
	loss->unexplained = loss_count_unexplained(delta, soft, loss);
	loss->retries_known = counters_has(delta, METRIC_RETRANSMITS, 0);
}

bool loss_shows(const struct loss *loss)
{
	return loss->gaps_known || loss->naks_known || loss->strict ||
	       (loss->retries_known && !loss->unexplained);
}

/* Adds the counters that loss_count() reads as evidence. */
static void loss_add_evidence(const struct port_ctx *s, const struct counters *delta, bool soft,
			      struct findings *out)
{
	static const struct {
		enum metric metric;
		bool soft_only;
	} read[] = {
		{METRIC_OUT_OF_SEQUENCE, false},   {METRIC_RNR_NAK_TX, true},
		{METRIC_SEQ_NAK_RX, false},	   {METRIC_RNR_NAK_RX, true},
		{METRIC_RESPONSE_LOST, false},	   {METRIC_PRIO_RX_DISCARDS, false},
		{METRIC_RETRY_EXCEEDED, false},	   {METRIC_RNR_EXCEEDED, false},
		{METRIC_RETRANSMITS, false},	   {METRIC_ACK_TIMEOUT, false},
		{METRIC_DUPLICATE_REQUEST, false}, {METRIC_ADAPTIVE_RETRANSMITS, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(read); i++) {
		unsigned int prio = port_ctx_metric_prio(s, read[i].metric);

		if ((read[i].soft_only && !soft) ||
		    (metric_table[read[i].metric].by_prio && s->roce_prio < 0) ||
		    !counters_has(delta, read[i].metric, prio))
			continue;
		evidence_counter(out, s, delta, read[i].metric, prio);
	}
}

/* Adds what the pairs lost of which the port is the client, and whether any pair of the port ran
 * without retransmission. */
static void loss_of_pairs(const struct port_ctx *s, struct loss *loss, struct findings *out)
{
	const struct run_pair *pair;
	unsigned int i = 0, strict = 0, dead = 0;

	while ((pair = port_ctx_pair(s, &i))) {
		const char *server = s->c->run->host[pair->server_host].name;

		if (!pair->ran)
			continue;
		strict += pair->strict;
		if (!port_ctx_is_client(s, pair))
			continue;
		if (pair->client.cause == CAUSE_RETRY_EXCEEDED) {
			finding_evidence(out, EVIDENCE_TRAFFIC, "to %s: %s", server,
					 pair->client.detail);
			dead++;
		}
		if (pair->losses)
			finding_evidence(out, EVIDENCE_TRAFFIC, "with %s: %llu packets lost (%s)",
					 server, (count_t)pair->losses,
					 traffic_verb_word(pair->verb));
		loss->events += pair->losses;
	}
	if (strict)
		finding_evidence(
			out, EVIDENCE_TRAFFIC,
			"%u transfer%s of this port ran without retransmission: each loss is seen",
			strict, plural(strict));
	loss->strict = strict > 0;
	/* Each event ended a queue pair, and the port counted it. */
	loss->dead = saturating_sub(loss->dead, loss->events) + dead;
}

void loss_gather(const struct port_ctx *s, struct loss *loss, struct findings *out)
{
	bool soft = s->port->kind == PORT_SOFT_ROCE;
	struct counters delta;

	memset(loss, 0, sizeof(*loss));
	if (port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL)) {
		loss_count(&delta, soft, s->roce_prio, loss);
		loss_add_evidence(s, &delta, soft, out);
	}
	loss_of_pairs(s, loss, out);
}
