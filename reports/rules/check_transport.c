/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-TRN: checks the RC transport under load. A sequence gap is loss; a retry without a gap may be
 * a late response; an RNR is a slow receiver, never the fabric. Also checks drops counted so far.
 */
#include <string.h>

#include "probe/record/run_port.h"
#include "reports/rules/checks.h"
#include "reports/rules/port_signs.h"

#define FIND_SPREAD "look for links that spread the packets of one flow, and for adaptive routing"
#define FIND_UNSENT                                                                                \
	"find why the sender drops packets: Soft-RoCE then answers READs with wrong data"

static bool transport_paused(const struct port_ctx *s)
{
	struct counters net;

	return run_port_net(s->run_port, &net) && port_count_paused(&net) > 0;
}

static void transport_explain_retries(const struct port_ctx *s, uint64_t count,
				      struct findings *out)
{
	const struct packet_account *a = &s->c->account;
	const struct retries r = {
		.count = count,
		.soft = s->port->kind == PORT_SOFT_ROCE,
		.accounted = a->known && a->arrived <= a->sent,
		.quiet = a->quiet,
		.sent = a->sent,
		.missing = packet_account_missing(a),
		.paused = transport_paused(s),
	};
	char text[RETRIES_TEXT];
	enum retry_cause cause = loss_explain_retries(&r, text);

	finding_set(out,
		    cause == RETRY_ACCOUNTED ? VERDICT_PASS
		    : cause == RETRY_LOST    ? VERDICT_FAIL
					     : VERDICT_WARN,
		    "%s", text);
}

/* Without gaps and NAKs a packet that was lost and one that was late look alike. */
static void transport_report_retries(const struct port_ctx *s, const struct loss *loss,
				     struct findings *out)
{
	count_t count = loss->unexplained;

	if (loss->gaps_known || loss->naks_known)
		transport_explain_retries(s, loss->unexplained, out);
	else if (loss->strict)
		finding_set(out, VERDICT_WARN,
			    "%llu packets were retransmitted, but transfers without retransmission "
			    "lost none: the responses were late, or it was other traffic",
			    count);
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%llu packets were retransmitted, after a loss or a late response: the "
			    "port counts neither sequence gaps nor NAKs",
			    count);
}

/* A gap of which all packets arrived is one that came late: RC takes it for lost. */
static bool transport_report_late(const struct port_ctx *s, const struct loss *loss,
				  struct findings *out)
{
	const struct packet_account *a = &s->c->account;

	if (loss->responses || loss->events || loss->dead || !a->known || a->arrived != a->sent)
		return false;
	finding_set(out, VERDICT_FAIL,
		    "packets arrived out of order: %llu sequence gaps and %llu sequence NAKs, but "
		    "all %llu packets that were sent arrived",
		    (count_t)loss->gaps, (count_t)loss->naks, (count_t)a->sent);
	finding_advise(out, FIND_SPREAD);
	return true;
}

static void transport_report_loss(const struct port_ctx *s, const struct loss *loss,
				  struct findings *out)
{
	const struct packet_account *a = &s->c->account;
	const struct {
		uint64_t count;
		const char *what;
	} part[] = {{loss->gaps, "sequence gaps"},
		    {loss->naks, "sequence NAKs"},
		    {loss->responses, "missing responses"},
		    {loss->events, "packets without retransmission"},
		    {loss->dead, "failed queue pairs"}};
	const char *before = ": ";

	if (transport_report_late(s, loss, out))
		return;
	finding_set(out, VERDICT_FAIL, "packets were lost");
	for (unsigned int i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i].count) {
			finding_append(out, "%s%llu %s", before, (count_t)part[i].count,
				       part[i].what);
			before = ", ";
		}
	if (a->quiet && packet_account_missing(a))
		finding_append(out, "; %llu of %llu packets of this run never arrived",
			       (count_t)packet_account_missing(a), (count_t)a->sent);
}

PORT_CHECK(check_transport_retransmits)
{
	const struct packet_account *a = &s->c->account;
	struct loss loss;

	loss_gather(s, &loss, out);
	if (loss.gaps || loss.naks || loss.responses || loss.events || loss.dead)
		transport_report_loss(s, &loss, out);
	else if (loss.unexplained)
		transport_report_retries(s, &loss, out);
	else if (!loss_shows(&loss))
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the port counts neither sequence gaps nor NAKs nor retransmissions");
	else if (packet_account_missing(a) && a->quiet && !a->repaired)
		finding_set(out, VERDICT_WARN,
			    "%llu of %llu packets of this run never arrived, and none was "
			    "retransmitted: ACKs were lost",
			    (count_t)packet_account_missing(a), (count_t)a->sent);
	else if (loss.retries_known)
		finding_set(out, VERDICT_PASS, "no loss and no retransmission");
	else
		finding_set(out, VERDICT_PASS, "no loss; this port does not count retransmissions");
}

/* *first: the first pair with wrong contents, NULL without one. */
static uint64_t transport_wrong_messages(const struct port_ctx *s, struct findings *out,
					 uint64_t *checked, const struct run_pair **first)
{
	const struct run_pair *pair;
	uint64_t wrong = 0;
	unsigned int i = 0;

	*checked = 0;
	*first = NULL;
	while ((pair = port_ctx_pair(s, &i))) {
		const struct traffic_result *r = run_pair_arrived(pair);
		bool here = r == &pair->server ? port_ctx_is_server(s, pair)
					       : port_ctx_is_client(s, pair);

		if (!here || !pair->ran)
			continue;
		if (r->mismatches && !*first)
			*first = pair;
		wrong += r->mismatches;
		*checked += r->checked_bytes;
	}
	if (*checked)
		finding_evidence(out, EVIDENCE_TRAFFIC, "%llu bytes compared, %llu messages wrong",
				 (count_t)*checked, (count_t)wrong);
	return wrong;
}

/* True when the responder of a READ is Soft-RoCE that failed to send: its device refused a packet,
 * after which it answers the repeated request with wrong data (seen on Linux 6.1). */
static bool transport_read_spoilt(const struct port_ctx *s, const struct run_pair *pair)
{
	struct port_ctx other;
	struct counters net;

	return pair->verb == TRAFFIC_READ && port_ctx_partner(s, pair, &other) &&
	       other.port->kind == PORT_SOFT_ROCE && run_port_net(other.run_port, &net) &&
	       port_count_unsent(&net);
}

static void transport_report_wrong(const struct port_ctx *s, const struct run_pair *first,
				   uint64_t wrong, struct findings *out)
{
	bool here = port_ctx_is_client(s, first);

	finding_set(out, VERDICT_FAIL,
		    "%llu message%s arrived with wrong contents, the first by %s from %s",
		    (count_t)wrong, plural(wrong), traffic_verb_word(first->verb),
		    s->c->run->host[here ? first->server_host : first->client_host].name);
	finding_advise(out, transport_read_spoilt(s, first) ? FIND_UNSENT : FIND_WRONG_DATA);
}

/* Returns the packets with a verified ICRC; *bad of them are wrong. */
static uint64_t transport_captured_icrc(const struct port_ctx *s, struct findings *out,
					uint64_t *bad)
{
	uint64_t good = 0;

	*bad = 0;
	for (unsigned int i = 0; s->run_port->has_capture && i < s->run_port->capture.flow_count;
	     i++) {
		good += s->run_port->capture.flow[i].icrc_good;
		*bad += s->run_port->capture.flow[i].icrc_bad;
	}
	if (good + *bad)
		finding_evidence(out, EVIDENCE_CAPTURE, "ICRC: %llu good, %llu bad", (count_t)good,
				 (count_t)*bad);
	return good + *bad;
}

static void transport_add_counter(struct findings *out, const struct port_ctx *s,
				  const struct counters *delta, enum metric m)
{
	if (counters_has(delta, m, 0))
		evidence_counter(out, s, delta, m, 0);
}

PORT_CHECK(check_transport_icrc)
{
	struct counters delta;
	const struct port_sign_input in = {.who = "this port", .delta = &delta};
	enum verdict counted = VERDICT_INCONCLUSIVE;
	const struct run_pair *first;
	uint64_t bad, checked, judged, wrong;
	char text[PORT_SIGN_TEXT];
	bool known;

	wrong = transport_wrong_messages(s, out, &checked, &first);
	judged = transport_captured_icrc(s, out, &bad);
	if (port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL)) {
		counted = port_sign_corrupt(&in, text);
		transport_add_counter(out, s, &delta, METRIC_ICRC_ERRORS);
		transport_add_counter(out, s, &delta, METRIC_RX_CRC_ERRORS);
	}
	known = counted != VERDICT_INCONCLUSIVE;
	if (wrong)
		transport_report_wrong(s, first, wrong, out);
	else if (counted == VERDICT_FAIL)
		finding_set(out, VERDICT_FAIL, "%s", text);
	else if (bad)
		finding_set(out, VERDICT_FAIL, "%llu captured packets have a wrong ICRC",
			    (count_t)bad);
	else if (!known && !judged && checked)
		finding_set(out, VERDICT_PASS,
			    "every compared byte is right; this port does not count ICRC errors, "
			    "which are losses for the transport");
	else if (!known && !judged)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count ICRC errors, and no packet or content could "
			    "be verified");
	else
		finding_set(out, VERDICT_PASS, "every checked packet has a good ICRC");
}

/* Sequence gaps and missing responses at the remote ports of this one. */
static uint64_t transport_missed_by_partners(const struct port_ctx *s)
{
	struct counters delta;
	struct port_ctx other;
	uint64_t missed = 0;
	unsigned int i = 0;
	struct loss loss;

	while (port_ctx_next_partner(s, &i, &other)) {
		if (!port_ctx_delta(&other, READ_LOAD_BEFORE, &delta, NULL))
			continue;
		loss_count(&delta, other.port->kind == PORT_SOFT_ROCE, -1, &loss);
		missed += loss.gaps + loss.responses;
	}
	return missed;
}

PORT_CHECK(check_transport_unsent)
{
	struct counters net = {0};
	const struct port_sign_input in = {.who = "this port", .delta = &net};
	char text[PORT_SIGN_TEXT];
	enum verdict verdict;
	uint64_t missed;

	run_port_net(s->run_port, &net);
	verdict = port_sign_unsent(&in, text);
	transport_add_counter(out, s, &net, METRIC_SEND_ERRORS);
	transport_add_counter(out, s, &net, METRIC_TX_DISCARDS);
	missed = verdict == VERDICT_WARN ? transport_missed_by_partners(s) : 0;
	if (missed)
		finding_set(out, VERDICT_FAIL, "%s, and its remote ports miss %llu packets", text,
			    (count_t)missed);
	else if (verdict == VERDICT_INCONCLUSIVE)
		finding_set(out, VERDICT_SKIP, "%s", text);
	else
		finding_set(out, verdict, "%s", text);
}

/* What can end the traffic of a pair, by rule: 1 << enum traffic_cause. */
static const struct {
	const char *rule;
	unsigned int causes;
} transport_ends[] = {
	{"RC-TRN-012", 1u << CAUSE_REMOTE | 1u << CAUSE_LOCAL},
	{"RC-TRN-013", 1u << CAUSE_RNR},
	{"RC-TRN-014", 1u << CAUSE_TIMEOUT},
};

/* Where a host was lost, that is the cause: RC-META-007. */
static bool transport_ended_by(const struct port_ctx *s, const struct run_pair *pair,
			       const char *rule)
{
	const struct run_host *host = s->c->run->host;
	enum traffic_cause cause = port_ctx_is_client(s, pair) ? pair->client.cause
							       : pair->server.cause;
	unsigned int i = 0;

	while (strcmp(transport_ends[i].rule, rule))
		i++;
	return transport_ends[i].causes & 1u << cause && !host[pair->client_host].error[0] &&
	       !host[pair->server_host].error[0];
}

PORT_CHECK(check_transport_ended)
{
	const char *rule = finding_rule_id(out);
	const struct run_pair *pair, *first = NULL;
	unsigned int i = 0, ran = 0, ended = 0;

	while ((pair = port_ctx_pair(s, &i))) {
		ran += pair->ran;
		if (!pair->ran || !transport_ended_by(s, pair, rule))
			continue;
		finding_evidence(out, EVIDENCE_TRAFFIC, "%s -> %s: %s",
				 s->c->run->host[pair->client_host].name,
				 s->c->run->host[pair->server_host].name, run_pair_error(pair));
		first = first ? first : pair;
		ended++;
	}
	if (!ended && ran)
		finding_evidence(out, EVIDENCE_TRAFFIC, "%u transfer%s ran", ran, plural(ran));
	if (!ran)
		finding_set(out, VERDICT_INCONCLUSIVE, "no traffic of this port ran");
	else if (first)
		finding_set(out, VERDICT_FAIL, "%u of %u transfers of this port; the first: %s",
			    ended, ran, run_pair_error(first));
	else
		finding_set(out, VERDICT_PASS, "none of %u transfer%s of this port", ran,
			    plural(ran));
}

PORT_CHECK(check_transport_dropped)
{
	static const enum metric drops[] = {METRIC_PRIO_RX_DISCARDS, METRIC_RX_DISCARDS,
					    METRIC_RDMA_RX_DISCARDS};
	const struct counters *k = &s->port->counters;
	unsigned int known = 0, bad = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++) {
		unsigned int prio = port_ctx_metric_prio(s, drops[i]);

		if (!counters_has(k, drops[i], prio) ||
		    (metric_table[drops[i]].by_prio && s->roce_prio < 0))
			continue;
		known++;
		bad += k->value[drops[i]][prio] > 0;
		finding_evidence(out, EVIDENCE_COUNTER, "%s is %llu", metric_table[drops[i]].name,
				 (count_t)k->value[drops[i]][prio]);
	}
	if (!known)
		finding_set(out, VERDICT_INCONCLUSIVE, "the port counts no drops");
	else if (bad)
		finding_set(out, VERDICT_FAIL,
			    "the port has dropped packets since the counters started");
	else
		finding_set(out, VERDICT_PASS,
			    "the port has dropped nothing since the counters started");
}
