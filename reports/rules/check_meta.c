/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-META: checks the quality of the evidence, before all other rules. Most are warnings: they turn
 * the PASS of other rules into INCONCLUSIVE, which makes the run incomplete.
 */
#include <stdio.h>
#include <string.h>

#include "probe/record/run_tcp.h"
#include "reports/engine/allow.h"
#include "reports/engine/tcp_share.h"
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

/* Counters that rules need; by priority for RoCE's. */
static const struct {
	enum metric metric;
	const char *rules;
} needed[] = {
	{METRIC_PFC_RX_FRAMES, "RC-PFC-010, RC-PFC-012, RC-PFC-013"},
	{METRIC_PFC_TX_FRAMES, "RC-PFC-013"},
	{METRIC_PRIO_RX_BYTES, "RC-QOS-011"},
	{METRIC_OUT_OF_SEQUENCE, "RC-PFC-010, RC-TRN-001"},
	{METRIC_SEQ_NAK_RX, "RC-TRN-001"},
	{METRIC_RNR_NAK_RX, "RC-TRN-004"},
	{METRIC_ECN_MARKED_RX, "RC-ECN-006"},
	{METRIC_CNP_TX, "RC-ECN-006"},
};

PORT_CHECK(check_meta_counters)
{
	const struct counters *now = &s->run_port->reading[READ_LOAD_AFTER];
	unsigned int absent = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(needed); i++) {
		enum metric m = needed[i].metric;
		unsigned int prio = port_ctx_metric_prio(s, m);
		char source[96];

		if (counters_has(now, m, prio)) {
			counters_source_text(now, m, prio, source, sizeof(source));
			finding_evidence(out, EVIDENCE_COUNTER, "%s: %s", metric_table[m].name,
					 source);
			continue;
		}
		finding_evidence(out, EVIDENCE_COUNTER, "%s: absent, needed by %s",
				 metric_table[m].name, needed[i].rules);
		absent++;
	}
	if (absent)
		finding_set(out, VERDICT_INCONCLUSIVE, "%u of %zu counters are absent on this port",
			    absent, ARRAY_SIZE(needed));
	else
		finding_set(out, VERDICT_PASS, "all %zu counters are present", ARRAY_SIZE(needed));
}

/* Delivered bytes per second, where they arrive if that end reports them. In floating point,
 * because agents may report numbers of any size. */
static double meta_delivered_rate(const struct run_pair *pair)
{
	const struct traffic_result *r = run_pair_arrived(pair);

	if (!r->bytes)
		r = &pair->client;
	if (!r->duration_ns)
		return 0;
	return (double)r->bytes * 1e9 / (double)r->duration_ns;
}

static bool meta_pair_reached(const struct run_pair *pair, unsigned int min_percent)
{
	double rate = meta_delivered_rate(pair);

	if (run_pair_error(pair))
		return false;
	if (!pair->asked_bytes_per_s)
		return rate > 0;
	return rate * 100 >= (double)pair->asked_bytes_per_s * min_percent;
}

static void meta_pair_text(const struct port_ctx *s, const struct run_pair *pair, char *buf,
			   size_t size)
{
	const struct run *run = s->c->run;
	const char *trouble = run_pair_error(pair);
	const char *from = run->host[pair->client_host].name,
		   *to = run->host[pair->server_host].name;
	double rate = meta_delivered_rate(pair) / 1e6;

	if (trouble)
		snprintf(buf, size, "%s -> %s: %s", from, to, trouble);
	else if (pair->asked_bytes_per_s)
		snprintf(buf, size, "%s -> %s: %.1f MB/s of %.1f MB/s asked, %llu bytes checked",
			 from, to, rate, (double)pair->asked_bytes_per_s / 1e6,
			 (count_t)run_pair_arrived(pair)->checked_bytes);
	else
		snprintf(buf, size, "%s -> %s: %.1f MB/s, unpaced, %llu bytes checked", from, to,
			 rate, (count_t)run_pair_arrived(pair)->checked_bytes);
}

/* Adds the TCP background of a pair as evidence; true with a text in buf when it was missing. */
static bool meta_tcp_missing(const struct port_ctx *s, const struct run_pair *pair,
			     struct findings *out, char *buf, size_t size)
{
	const char *client = s->c->run->host[pair->client_host].name;
	const char *server = s->c->run->host[pair->server_host].name;
	bool missing = false;
	char text[200];

	for (unsigned int i = 0; i < pair->tcp_count && !run_pair_error(pair); i++) {
		const struct run_tcp *tcp = &pair->tcp[i];

		run_tcp_text(tcp, i, text, sizeof(text));
		finding_evidence(out, EVIDENCE_TRAFFIC, "%s -> %s: TCP background: %s", client,
				 server, text);
		if (!tcp_share_missing(&tcp->asked, i, true, &tcp->client, text, sizeof(text)) &&
		    !tcp_share_missing(&tcp->asked, i, false, &tcp->server, text, sizeof(text)))
			continue;
		snprintf(buf, size, "%s -> %s: %s", client, server, text);
		missing = true;
	}
	return missing;
}

PORT_CHECK(check_meta_load)
{
	unsigned int i = 0, pairs = 0, short_of = 0;
	const struct run_pair *pair;
	char line[400], before[400] = "", worst[400] = "", tcp[400];
	bool missing;

	while ((pair = port_ctx_pair(s, &i))) {
		pairs++;
		meta_pair_text(s, pair, line, sizeof(line));
		/* The verbs of one pair may have the same error. */
		if (!run_pair_error(pair) || strcmp(line, before))
			finding_evidence(out, EVIDENCE_TRAFFIC, "%s", line);
		memcpy(before, line, sizeof(before));
		missing = meta_tcp_missing(s, pair, out, tcp, sizeof(tcp));
		if (meta_pair_reached(pair, s->c->fabric->min_load_percent) && !missing)
			continue;
		short_of++;
		snprintf(worst, sizeof(worst), "%s", missing ? tcp : line);
	}
	if (!pairs)
		finding_set(out, VERDICT_INCONCLUSIVE, "no traffic was planned for this port");
	else if (short_of)
		finding_set(out, VERDICT_FAIL, "the load was not reached: %s", worst);
	else
		finding_set(out, VERDICT_PASS, "the load was reached in %u of %u direction%s",
			    pairs, pairs, plural(pairs));
}

/* Numbers of compared counters, and of those that decreased. */
struct resets {
	unsigned int compared, count;
};

static void meta_report_resets(const struct port_ctx *s, enum run_reading first, const char *phase,
			       struct resets *r, struct findings *out)
{
	uint8_t reset[METRIC_COUNT] = {0};
	struct counters delta;

	if (!port_ctx_delta(s, first, &delta, reset))
		return;
	for (unsigned int m = 0; m < METRIC_COUNT; m++) {
		r->compared += delta.has[m] || reset[m];
		if (!reset[m])
			continue;
		finding_evidence(out, EVIDENCE_COUNTER, "%s went backwards around the %s",
				 metric_table[m].name, phase);
		r->count++;
	}
}

PORT_CHECK(check_meta_reset)
{
	struct resets r = {0, 0};

	meta_report_resets(s, READ_QUIET_BEFORE, "quiet baseline", &r, out);
	meta_report_resets(s, READ_LOAD_BEFORE, "load", &r, out);
	finding_evidence(out, EVIDENCE_COUNTER, "%u pairs of readings compared", r.compared);
	if (r.count)
		finding_set(out, VERDICT_FAIL, "%u counter%s reset during the run", r.count,
			    plural(r.count));
	else if (!r.compared)
		finding_set(out, VERDICT_INCONCLUSIVE, "this port has no counters");
	else
		finding_set(out, VERDICT_PASS, "no counter went backwards");
}

PORT_CHECK(check_meta_capture)
{
	const struct capture_summary *k = &s->run_port->capture;

	finding_evidence(out, EVIDENCE_CAPTURE,
			 "%llu frames, %llu dropped by the capture, %llu flows evicted",
			 (count_t)k->totals.frames, (count_t)k->dropped,
			 (count_t)k->totals.evicted_flows);
	if (k->drops == DROPS_SOME)
		finding_set(out, VERDICT_FAIL, "the capture dropped %llu packets",
			    (count_t)k->dropped);
	else if (k->totals.evicted_flows)
		finding_set(out, VERDICT_FAIL, "the flow table was too small for %llu flows",
			    (count_t)k->totals.evicted_flows);
	else if (k->drops == DROPS_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "the capture source does not report drops");
	else
		finding_set(out, VERDICT_PASS, "the capture dropped nothing");
}

PORT_CHECK(check_meta_visible)
{
	const struct capture_totals *t = &s->run_port->capture.totals;

	finding_evidence(out, EVIDENCE_CAPTURE, "%llu RoCE packets among %llu frames",
			 (count_t)t->roce, (count_t)t->frames);
	if (t->roce)
		finding_set(out, VERDICT_PASS, "the capture point sees RoCE");
	else
		finding_set(out, VERDICT_FAIL,
			    "the capture saw no RoCE although traffic ran: RoCE bypasses the "
			    "kernel here");
}

/* Reference of foreign_percent in bytes per second: the link speed, else the load. */
static uint64_t meta_reference_rate(const struct port_ctx *s)
{
	const struct run_pair *pair;
	uint64_t rate = 0;
	unsigned int i = 0;

	if (s->port->speed_mbps)
		return (uint64_t)s->port->speed_mbps * 1000000 / 8;
	while ((pair = port_ctx_pair(s, &i)))
		if (pair->asked_bytes_per_s > rate)
			rate = pair->asked_bytes_per_s;
	return rate;
}

PORT_CHECK(check_meta_foreign)
{
	uint64_t reference = meta_reference_rate(s), bytes, rate;
	struct counters delta;

	if (!port_ctx_delta(s, READ_QUIET_BEFORE, &delta, NULL) ||
	    !counters_has(&delta, METRIC_RX_BYTES, 0) ||
	    !counters_has(&delta, METRIC_TX_BYTES, 0) || !delta.when_ns) {
		finding_set(out, VERDICT_INCONCLUSIVE, "the port does not count its bytes");
		return;
	}
	bytes = delta.value[METRIC_RX_BYTES][0] + delta.value[METRIC_TX_BYTES][0];
	rate = (uint64_t)((double)bytes * 1e9 / (double)delta.when_ns);
	evidence_counter(out, s, &delta, METRIC_RX_BYTES, 0);
	evidence_counter(out, s, &delta, METRIC_TX_BYTES, 0);
	if (!reference)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "neither the link speed nor the load rate is known");
	else if (rate * 100 > reference * s->c->fabric->foreign_percent)
		finding_set(
			out, VERDICT_FAIL,
			"%llu bytes/s of foreign traffic in the quiet baseline, more than %u %%",
			(count_t)rate, s->c->fabric->foreign_percent);
	else
		finding_set(out, VERDICT_PASS,
			    "%llu bytes/s in the quiet baseline, at most %u %% of %llu",
			    (count_t)rate, s->c->fabric->foreign_percent, (count_t)reference);
}

static const char *meta_first_version(const struct run *run)
{
	for (unsigned int i = 0; i < run->host_count; i++)
		if (run->host[i].agent_version[0])
			return run->host[i].agent_version;
	return "";
}

static bool meta_in_run(const struct run *run, const char *name)
{
	for (unsigned int i = 0; i < run->host_count; i++)
		if (!strcmp(run->host[i].name, name))
			return true;
	return false;
}

/* Reports hosts of the inventory that the run lacks. */
static void meta_report_absent(const struct rule *rule, const struct rule_context *c,
			       struct findings *out)
{
	for (unsigned int i = 0; i < c->fabric->host_count; i++) {
		if (meta_in_run(c->run, c->fabric->host[i].name))
			continue;
		finding_begin(out, rule, c->fabric->host[i].name, "", 0);
		finding_set(out, VERDICT_FAIL, "the run has no data of this host");
	}
}

FABRIC_CHECK(check_meta_hosts)
{
	const char *version = meta_first_version(c->run);

	meta_report_absent(rule, c, out);
	for (unsigned int i = 0; i < c->run->host_count; i++) {
		const struct run_host *h = &c->run->host[i];

		finding_begin(out, rule, h->name, "", 0);
		if (!h->reached)
			finding_set(out, VERDICT_FAIL, "not reached: %s",
				    h->error[0] ? h->error : "no answer");
		else if (h->error[0])
			finding_set(out, VERDICT_FAIL, "lost during the run: %s", h->error);
		else if (!h->has_before)
			finding_set(out, VERDICT_FAIL, "no snapshot of this host");
		else if (h->agent_version[0] && strcmp(h->agent_version, version))
			finding_set(out, VERDICT_FAIL, "the agent is version %s, others are %s",
				    h->agent_version, version);
		else
			finding_set(out, VERDICT_PASS, "the host answered");
		if (h->has_before)
			finding_evidence(out, EVIDENCE_HOST, "snapshot of %u port%s, kernel %s",
					 h->before.port_count, plural(h->before.port_count),
					 h->before.kernel);
	}
}

static unsigned int meta_report_changes(const struct qos *before, const struct qos *after,
					struct findings *out)
{
	uint64_t diff = (qos_diff(before, after) | qos_diff(after, before)) & before->has &
			after->has;
	char was[512], is[512];
	unsigned int count = 0;

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(diff & QOS_BIT(id)))
			continue;
		qos_field_text(before, id, was, sizeof(was));
		qos_field_text(after, id, is, sizeof(is));
		finding_evidence(out, EVIDENCE_HOST, "%s was %s before the run and is %s after it",
				 qos_fields[id].key, was, is);
		count++;
	}
	return count;
}

PORT_CHECK(check_meta_changed)
{
	const struct port *after;
	unsigned int count;
	int known;

	if (!s->c->run->traffic && !s->host->has_after) {
		finding_set(out, VERDICT_SKIP, "only one snapshot of the host: nothing to compare");
		return;
	}
	after = s->host->has_after ? snapshot_port(&s->host->after, s->name) : NULL;
	if (!after) {
		finding_set(out, VERDICT_INCONCLUSIVE, "no snapshot of this port after the run");
		return;
	}
	count = meta_report_changes(&s->port->qos, &after->qos, out);
	known = __builtin_popcountll(s->port->qos.has & after->qos.has);
	finding_evidence(out, EVIDENCE_HOST, "%d settings read before and after the run", known);
	if (count)
		finding_set(out, VERDICT_FAIL, "%u setting%s changed during the run", count,
			    plural(count));
	else if (!known)
		finding_set(out, VERDICT_INCONCLUSIVE, "no setting of this port can be read");
	else
		finding_set(out, VERDICT_PASS, "no setting changed during the run");
}

FABRIC_CHECK(check_meta_ports)
{
	struct port_walk walk = {.c = c};
	unsigned int ports = 0;
	struct port_ctx s;

	while (port_walk_next(&walk, &s))
		ports += s.port != NULL;
	finding_begin(out, rule, c->alone ? c->run->host[0].name : "", "", 0);
	finding_evidence(out, EVIDENCE_HOST, "%u port%s on %u host%s", ports, plural(ports),
			 c->run->host_count, plural(c->run->host_count));
	if (!ports)
		finding_set(out, VERDICT_FAIL,
			    c->alone ? "no RoCE port was found on this host"
				     : "no port of the inventory was found: nothing was checked");
	else if (c->run->traffic && !c->run->pair_count && !(c->run->stages & 1u << STAGE_PAIRS))
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "traffic was not tested: phase pairs did not run to its end");
	else if (c->run->traffic && !c->run->pair_count)
		finding_set(
			out, VERDICT_FAIL,
			"no two ports form a pair: traffic was not tested; it needs ports of two "
			"hosts on one rail");
	else
		finding_set(out, VERDICT_PASS, "%u port%s checked", ports, plural(ports));
}

FABRIC_CHECK(check_meta_allow)
{
	for (unsigned int i = 0; i < c->fabric->allow_count; i++) {
		const struct fabric_allow *a = &c->fabric->allow[i];
		bool expired = allow_expired(a, c->run);

		finding_begin(out, rule, "", "", 0);
		finding_set(out, expired ? VERDICT_FAIL : VERDICT_PASS,
			    expired ? "the exception for %s on %s has expired: it ended on %s"
				    : "%s on %s is allowed until %s",
			    a->rule, a->hosts[0] ? a->hosts : "all hosts", a->until);
		finding_evidence(out, EVIDENCE_HOST, "%s, line %d: %s", c->fabric->path, a->line,
				 a->reason);
	}
}
