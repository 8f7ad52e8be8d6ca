/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the evidence for a pass: counters that exist and were not reset, no traffic of others,
 * congestion where it was requested, the requested pace. And the shape of the traffic: its slowest
 * interval, the tail of its latencies, its speed. On Soft-RoCE shape is never a warning, because
 * the CPU is shared with everything.
 */
#include <stdio.h>

#include "reports/traffic/verdict_priv.h"

#define LL(n)		((unsigned long long)(n))
#define FLOOR_PC	90u
#define FOREIGN_PC	105u
#define SLACK_BYTES	(UINT64_C(512) << 10) /* of our own control connection */
#define UNDER_WAY_BYTES (UINT64_C(2) << 20)   /* without an ACK, of one queue pair */
#define DATA_HEADERS	90u /* Ethernet with VLAN and FCS, IPv6, UDP, BTH, RETH, ICRC, rounded up */
#define COPY_BYTES	(4096u + DATA_HEADERS)
#define ANSWER_BYTES	100u /* an ACK with the same */
#define STEADY_PC	50u
#define TAIL_TIMES	20u
#define LARGE_MESSAGE	32768u
#define INTERVALS_LEAST 5u /* whole ones, before anything is said of their least */

static bool evidence_by_counters(const struct judge *j, unsigned int end)
{
	for (unsigned int i = 0; i < j->in->pair_count; i++) {
		const struct verdict_pair *pair = &j->in->pair[i];

		if ((pair->client == end || pair->server == end) &&
		    pair->spec->mode == TRAFFIC_OBSERVE)
			return true;
	}
	return false;
}

static void judge_known(struct judge *j, unsigned int i)
{
	const struct judged_end *e = &j->end[i];
	char names[120] = "";
	uint8_t reset[METRIC_COUNT];
	struct counters load;
	size_t used = 0;

	if (evidence_by_counters(j, i) && (!e->known || !loss_shows(&e->loss)))
		judge_add_reason(j, REASON_NO_COUNTERS, (int)i, VERDICT_NOWHERE,
				 e->known ? "%s counts neither sequence gaps nor sequence NAKs"
					  : "the counters of %s around the load were not read",
				 judge_host(j, i));
	if (!run_port_delta(e->seen, READ_LOAD_BEFORE, &load, reset))
		return;
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		if (reset[m] && used < sizeof(names) - 1)
			used += (size_t)snprintf(names + used, sizeof(names) - used, " %s",
						 metric_table[m].name);
	if (used)
		judge_add_reason(j, REASON_RESET, (int)i, VERDICT_NOWHERE,
				 "%s: counters went backwards:%s", judge_host(j, i), names);
}

/* Bytes on the wire, at most, in both directions of one port. */
struct volume {
	uint64_t in, out;
};

static void evidence_add_flow(struct volume *v, bool data_out, uint64_t bytes, uint64_t messages,
			      uint32_t mtu)
{
	uint64_t packets = bytes / (mtu ? mtu : 256) + messages;
	uint64_t data = bytes + packets * DATA_HEADERS, back = packets * ANSWER_BYTES;

	v->out += data_out ? data : back;
	v->in += data_out ? back : data;
}

/* What the requester at one end of a class moved, both reports taken together. */
static void evidence_add_class(struct volume *v, bool from_here, enum traffic_verb verb, bool probe,
			       const struct traffic_class_result *requester,
			       const struct traffic_class_result *responder, uint32_t mtu)
{
	uint64_t bytes = larger(requester ? requester->bytes : 0,
				responder ? responder->arrived_bytes : 0);
	uint64_t messages = larger(requester ? requester->messages : 0,
				   responder ? responder->arrived : 0);

	evidence_add_flow(v, from_here != (verb == TRAFFIC_READ), bytes, messages, mtu);
	if (probe)
		evidence_add_flow(v, !from_here, bytes, messages, mtu);
}

static const struct traffic_class_result *evidence_class(const struct traffic_report *r,
							 unsigned int i)
{
	return r && i < r->class_count ? &r->class[i] : NULL;
}

/* Credits and signs of life of both ends. */
static void evidence_add_control(struct volume *v, const struct traffic_report *own,
				 const struct traffic_report *other, uint32_t mtu)
{
	if (own)
		evidence_add_flow(v, true, own->total.control_bytes, own->total.control_messages,
				  mtu);
	if (other)
		evidence_add_flow(v, false, other->total.control_bytes,
				  other->total.control_messages, mtu);
}

static void evidence_volume(const struct judge *j, unsigned int end, struct volume *v)
{
	*v = (struct volume){0, 0};
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];
		const struct traffic_report *client = pair->client_report;
		const struct traffic_report *server = pair->server_report;
		const struct traffic_report *any = client ? client : server;
		bool is_client = pair->client == end;

		if ((!is_client && pair->server != end) || !any)
			continue;
		for (unsigned int i = 0; i < pair->spec->class_count; i++) {
			const struct traffic_class *k = &pair->spec->class[i];
			const struct traffic_class_result *c = evidence_class(client, i);
			const struct traffic_class_result *s = evidence_class(server, i);

			evidence_add_class(v, is_client, k->verb, k->probe, c, s, any->total.mtu);
			evidence_add_class(v, pair->server == end, k->verb, false, s, c,
					   any->total.mtu);
		}
		evidence_add_control(v, is_client ? client : server, is_client ? server : client,
				     any->total.mtu);
		judge_tcp_volume(pair, is_client, &v->in, &v->out);
	}
}

static bool evidence_beyond(const struct judged_end *e, enum metric m, uint64_t ours)
{
	return counters_has(&e->load, m, 0) &&
	       e->load.value[m][0] > ours / 100 * FOREIGN_PC + SLACK_BYTES;
}

static uint64_t evidence_cap(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

/* Each time that queue pairs of this port, or for it, began anew. */
static uint64_t evidence_restarts(const struct judged_end *e)
{
	return evidence_cap(judge_delta(e, METRIC_RETRANSMITS, 0xff)) +
	       evidence_cap(judge_delta(e, METRIC_ACK_TIMEOUT, 0xff)) +
	       evidence_cap(judge_delta(e, METRIC_ADAPTIVE_RETRANSMITS, 0xff)) +
	       evidence_cap(e->loss.naks) + evidence_cap(e->loss.gaps) + evidence_cap(e->loss.rnr);
}

/* What was sent twice is ours too: at most what may be under way, each time that either end began
 * anew. Copies are packets: many of them come of one time. */
static uint64_t evidence_retransmitted(const struct judge *j, unsigned int end)
{
	uint64_t times = evidence_restarts(&j->end[end]), bytes = 0;

	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		if (pair->client != end && pair->server != end)
			continue;
		times += evidence_restarts(&j->end[judge_other(pair, end)]);
		for (unsigned int i = 0; i < pair->spec->class_count; i++)
			bytes = larger(bytes, traffic_class_under_way(&pair->spec->class[i]));
	}
	return times * (bytes < UNDER_WAY_BYTES ? bytes : UNDER_WAY_BYTES) +
	       evidence_cap(judge_delta(&j->end[end], METRIC_DUPLICATE_REQUEST, 0xff)) * COPY_BYTES;
}

static void judge_foreign(struct judge *j, unsigned int i)
{
	const struct judged_end *e = &j->end[i];
	struct volume ours;

	for (unsigned int u = 0; u < e->seen->user_count && u < RUN_USERS_MAX; u++)
		judge_add_reason(j, REASON_USERS, (int)i, VERDICT_NOWHERE,
				 "%s %s is also used by %s", judge_host(j, i), e->seen->netdev,
				 e->seen->user[u]);
	if (!e->known)
		return;
	evidence_volume(j, i, &ours);
	ours.in += evidence_retransmitted(j, i);
	ours.out += evidence_retransmitted(j, i);
	if (evidence_beyond(e, METRIC_RX_BYTES, ours.in) ||
	    evidence_beyond(e, METRIC_TX_BYTES, ours.out))
		judge_add_reason(j, REASON_FOREIGN, (int)i, VERDICT_NOWHERE,
				 "%s %s moved %llu bytes in and %llu out, of which rocecheck sent "
				 "at most %llu and %llu",
				 judge_host(j, i), e->seen->netdev,
				 LL(e->load.value[METRIC_RX_BYTES][0]),
				 LL(e->load.value[METRIC_TX_BYTES][0]), LL(ours.in), LL(ours.out));
}

static bool evidence_any_tcp(const struct verdict_input *in)
{
	for (unsigned int p = 0; p < in->pair_count; p++)
		if (in->pair[p].spec->tcp_count)
			return true;
	return false;
}

/* Priorities whose PFC frames are a sign: TCP is paused as well, in its own. */
static uint8_t evidence_stress_prios(const struct verdict_input *in)
{
	if (in->lossless)
		return in->lossless;
	return evidence_any_tcp(in) ? 0 : 0xff;
}

static void judge_stress(struct judge *j)
{
	static const enum metric signs[] = {METRIC_PFC_RX_FRAMES, METRIC_PFC_TX_FRAMES,
					    METRIC_CNP_RX, METRIC_CNP_TX, METRIC_ECN_MARKED_RX};
	uint8_t prios = evidence_stress_prios(j->in);
	uint64_t seen = 0;
	bool counted = false;

	for (unsigned int i = 0; i < j->in->end_count; i++) {
		for (unsigned int k = 0; k < ARRAY_SIZE(signs); k++) {
			uint8_t has = j->end[i].known ? j->end[i].load.has[signs[k]] : 0;

			counted |= has & (metric_table[signs[k]].by_prio ? prios : 0xff);
			seen += judge_delta(&j->end[i], signs[k], prios);
		}
	}
	if (j->in->incast && !seen)
		judge_add_reason(
			j, REASON_NOT_STRESSED, VERDICT_NOWHERE, VERDICT_NOWHERE, "%s",
			counted ? "not stressed: no pause of the classes' priorities and no "
				  "congestion notification was seen anywhere"
				: "no port counts pauses of the classes' priorities or congestion "
				  "notifications: whether the fabric was stressed is unknown");
}

void judge_evidence(struct judge *j)
{
	for (unsigned int i = 0; i < j->in->end_count; i++) {
		judge_known(j, i);
		judge_foreign(j, i);
	}
	judge_stress(j);
	if (j->in->aborted)
		judge_add_reason(j, REASON_ABORTED, VERDICT_NOWHERE, VERDICT_NOWHERE,
				 "stopped early");
}

/* WARN on hardware; Soft-RoCE shares its processor with everything. */
static enum verdict judge_shape_verdict(const struct judge *j, unsigned int end,
					enum reason_kind kind)
{
	return j->end[end].seen->soft ? VERDICT_PASS : reason_table[kind].verdict;
}

static void judge_latency(struct judge *j, unsigned int end, unsigned int class,
			  const struct histogram *h)
{
	uint64_t typical = histogram_percentile(h, HISTOGRAM_P50);
	uint64_t late = histogram_percentile(h, HISTOGRAM_P99_9);

	if (h->count >= 1000 && late > TAIL_TIMES * typical)
		judge_add_reason_as(j, judge_shape_verdict(j, end, REASON_TAIL), REASON_TAIL,
				    (int)end, (int)class,
				    "%s: class %u: 0.1 %% of messages took longer than %llu us, "
				    "the median is %llu us",
				    judge_host(j, end), class, LL(late / 1000), LL(typical / 1000));
}

static void judge_steady(struct judge *j, unsigned int end, unsigned int class,
			 const struct rate_series_stats *s)
{
	if (s->whole >= INTERVALS_LEAST && s->min < s->median / 100 * STEADY_PC)
		judge_add_reason_as(
			j, judge_shape_verdict(j, end, REASON_UNSTEADY), REASON_UNSTEADY, (int)end,
			(int)class,
			"%s: class %u fell to %.1f MB/s for %llu ms, %.1f s after its start "
			"(median %.1f MB/s)",
			judge_host(j, end), class, (double)s->min / 1e6, LL(s->width_ns / 1000000),
			(double)s->min_at_ns / 1e9, (double)s->median / 1e6);
}

static void judge_pace(struct judge *j, unsigned int end, unsigned int class,
		       const struct traffic_class *asked, uint64_t rate)
{
	const struct run_port *seen = j->end[end].seen;
	uint64_t link = seen->speed_mbps * UINT64_C(125000);

	if (asked->rate_bytes_per_s && rate < asked->rate_bytes_per_s / 100 * FLOOR_PC)
		judge_add_reason(j, REASON_PACE, (int)end, (int)class,
				 "%s: class %u reached %.1f of %.1f MB/s asked", judge_host(j, end),
				 class, (double)rate / 1e6, (double)asked->rate_bytes_per_s / 1e6);
	else if (!asked->rate_bytes_per_s && !seen->soft && link && j->in->pair_count == 1 &&
		 j->in->pair[0].spec->class_count == 1 && !j->in->pair[0].spec->tcp_count &&
		 asked->message_bytes >= LARGE_MESSAGE && rate < link / 100 * FLOOR_PC)
		judge_add_reason(j, REASON_SLOW, (int)end, (int)class,
				 "%s: %.1f MB/s unpaced, the link does %.1f MB/s",
				 judge_host(j, end), (double)rate / 1e6, (double)link / 1e6);
}

static void judge_requester(struct judge *j, unsigned int end, unsigned int class,
			    const struct traffic_class *asked, const struct traffic_report *report)
{
	const struct traffic_class_result *r = evidence_class(report, class);
	struct rate_series_stats s;

	if (!r || !r->messages)
		return;
	judge_latency(j, end, class, &r->latency);
	rate_series_stats(&r->goodput, &s);
	if (asked->probe || !s.duration_ns)
		return;
	judge_steady(j, end, class, &s);
	judge_pace(j, end, class, asked, s.mean);
}

static void judge_moved(struct judge *j, const struct verdict_pair *pair)
{
	const struct traffic_report *reports[] = {pair->client_report, pair->server_report};
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(reports); i++) {
		if (!reports[i] || reports[i]->total.cause)
			return; /* said already */
		bytes += reports[i]->total.bytes;
	}
	if (!bytes)
		judge_add_reason(j, REASON_NOTHING, (int)pair->client, VERDICT_NOWHERE,
				 "%s -> %s: no byte moved", judge_host(j, pair->client),
				 judge_host(j, pair->server));
}

void judge_shape(struct judge *j)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		judge_moved(j, pair);
		for (unsigned int i = 0; i < pair->spec->class_count; i++) {
			const struct traffic_class *k = &pair->spec->class[i];

			judge_requester(j, pair->client, i, k, pair->client_report);
			judge_requester(j, pair->server, i, k, pair->server_report);
		}
	}
}
