/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-PFC, incast: checks what happened while several hosts filled the link of one. Losses are
 * events of a pair, because nothing was retransmitted; pauses and marks are counters around it.
 */
#include <stdio.h>

#include "probe/traffic/rate_series.h"
#include "profiles/base/text.h"
#include "reports/engine/port_ctx.h"
#include "reports/engine/tcp_share.h"
#include "reports/rules/checks.h"

/* A canary that waits so much longer beside the incast was held up, not queued. */
#define CANARY_TIMES  20u
#define CANARY_MIN_NS UINT64_C(20000000)
/* ECN holds the rate if one pause of so many comes in the second half of a load, or one for so many
 * CNPs there: now and then a burst pauses a sender that ECN holds. */
#define LATE_PART 8u
#define LATE_CNPS 4u
/* CNPs have no retransmission: a few may be lost. */
#define CNPS_LEAST 10u
/* Headers, ACKs and start differ between RDMA and TCP. */
#define SHARE_POINTS 15

/* Results of one phase at one port. */
struct incast {
	unsigned int received, sent;   /* pairs that ran, to and from the port */
	const struct run_pair *failed; /* one that did not, or ended early */
	uint8_t prios, tcp_prios;      /* of RDMA, and of TCP beside it */
	char prio[24];		       /* the first as text */
	uint64_t losses;	       /* of packets to the port */
	uint64_t lost_by_others;       /* of packets from it */
	double rdma, tcp;	       /* bytes per second that arrived */
	uint64_t retransmits;	       /* of that TCP */
	uint64_t paused;	       /* pauses of the senders to the port */
	bool paused_known;	       /* one of them counts them */
	bool marks_known;
	uint64_t marks;	       /* packets with CE that arrived; 0 when not counted */
	struct counters delta; /* of the port in the phase */
};

static enum run_reading incast_reading(enum run_phase phase)
{
	return phase == PHASE_CONTROL ? READ_CONTROL_BEFORE : READ_INCAST_BEFORE;
}

/* Pauses that the port received on these priorities in the phase. False when it does not count
 * them. */
static bool incast_pauses(const struct port_ctx *s, enum run_phase phase, uint8_t prios,
			  uint64_t *count)
{
	struct counters delta;
	bool known = false;

	*count = 0;
	if (!port_ctx_delta(s, incast_reading(phase), &delta, NULL))
		return false;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!(prios & 1u << prio) || !counters_has(&delta, METRIC_PFC_RX_FRAMES, prio))
			continue;
		known = true;
		*count += delta.value[METRIC_PFC_RX_FRAMES][prio];
	}
	return known;
}

static bool incast_sender_pauses(const struct port_ctx *s, const struct run_pair *pair,
				 uint64_t *count)
{
	struct port_ctx other;

	return port_ctx_partner(s, pair, &other) &&
	       incast_pauses(&other, pair->phase, (uint8_t)(1u << pair->prio), count);
}

/* Why a pair says nothing of the phase: it ended early, or nothing arrived and nothing was lost. */
static const char *incast_error(const struct run_pair *pair)
{
	const char *error = run_pair_error(pair);

	return error || pair->server.bytes || pair->losses ? error : "nothing arrived";
}

static void incast_gather_server(const struct port_ctx *s, const struct run_pair *pair,
				 struct incast *in)
{
	const struct run_tcp *tcp = pair->tcp_count ? &pair->tcp[0] : NULL;
	uint64_t count;

	if (incast_sender_pauses(s, pair, &count)) {
		in->paused_known = true;
		in->paused += count;
	}
	if (!pair->ran)
		return;
	in->received++;
	in->losses += pair->losses;
	in->rdma += (double)rate_per_s(pair->server.bytes, pair->server.duration_ns);
	if (!tcp)
		return;
	in->tcp += (double)rate_per_s(tcp->server.arrived_bytes, tcp->server.duration_ns);
	in->retransmits += tcp->client.retransmits;
	in->tcp_prios |= tcp_share_prios(s->want, &tcp->asked);
}

static void incast_gather(const struct port_ctx *s, enum run_phase phase, struct incast *in)
{
	const struct run_pair *pair;
	unsigned int i = 0;

	*in = (struct incast){.received = 0};
	while ((pair = port_ctx_phase_pair(s, phase, &i))) {
		in->prios |= (uint8_t)(1u << pair->prio);
		if (incast_error(pair))
			in->failed = pair;
		if (port_ctx_is_server(s, pair)) {
			incast_gather_server(s, pair, in);
		} else if (pair->ran) {
			in->sent++;
			in->lost_by_others += pair->losses;
		}
	}
	qos_prio_set_text(in->prios, in->prio, sizeof(in->prio));
	in->marks_known = port_ctx_delta(s, incast_reading(phase), &in->delta, NULL) &&
			  counters_has(&in->delta, METRIC_ECN_MARKED_RX, 0);
	in->marks = in->marks_known ? in->delta.value[METRIC_ECN_MARKED_RX][0] : 0;
}

/* Adds each sender of an incast to this port: what arrived, what was lost, and its pauses. */
static void incast_report_senders(const struct port_ctx *s, enum run_phase phase,
				  struct findings *out)
{
	const struct run_pair *pair;
	unsigned int i = 0;

	while ((pair = port_ctx_phase_pair(s, phase, &i))) {
		char paused[64] = "its pauses are unknown";
		uint64_t count;

		if (!port_ctx_is_server(s, pair))
			continue;
		if (incast_sender_pauses(s, pair, &count))
			snprintf(paused, sizeof(paused), "it received %llu pauses in the phase",
				 (count_t)count);
		finding_evidence(
			out, EVIDENCE_TRAFFIC, "from %s on priority %u: %.2f MB/s, %llu losses, %s",
			s->c->run->host[pair->client_host].name, pair->prio,
			(double)rate_per_s(pair->server.bytes, pair->server.duration_ns) / 1e6,
			(count_t)pair->losses, pair->ran ? paused : pair->error);
	}
}

bool incast_check_loss(const struct port_ctx *s, struct findings *out)
{
	struct incast in;

	incast_gather(s, PHASE_INCAST, &in);
	if (!in.received && !in.failed)
		return false;
	finding_prios(out, in.prios);
	incast_report_senders(s, PHASE_INCAST, out);
	if (in.losses)
		finding_set(out, VERDICT_FAIL,
			    "%llu packets to this port were lost in the incast on priority %s",
			    (count_t)in.losses, in.prio);
	else if (in.failed)
		finding_set(out, VERDICT_INCONCLUSIVE, "the incast on priority %s did not run: %s",
			    in.prio, incast_error(in.failed));
	else if (in.paused)
		finding_set(out, VERDICT_PASS,
			    "priority %s is lossless: in an incast of %u host%s PFC paused the "
			    "sender%s and nothing was lost",
			    in.prio, in.received, plural(in.received), plural(in.received));
	else if (in.marks)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "nothing was lost in the incast on priority %s, but ECN (%llu marks) "
			    "slowed the senders before PFC had to: PFC was not put to the test",
			    in.prio, (count_t)in.marks);
	else
		finding_set(
			out, VERDICT_INCONCLUSIVE,
			in.paused_known
				? "nothing was lost in the incast on priority %s, but no sender "
				  "was paused: PFC was not put to the test"
				: "nothing was lost in the incast on priority %s, but no sender "
				  "counts pauses: whether PFC was put to the test is not known",
			in.prio);
	return true;
}

PORT_CHECK(check_incast_paused)
{
	struct incast in;
	uint64_t paused;

	incast_gather(s, PHASE_INCAST, &in);
	finding_prios(out, in.prios);
	if (!in.sent) {
		finding_set(out, VERDICT_SKIP, "this port sent nothing in an incast");
		return;
	}
	if (!incast_pauses(s, PHASE_INCAST, in.prios, &paused)) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count the pauses that it receives");
		return;
	}
	finding_evidence(out, EVIDENCE_COUNTER, "pfc_rx_frames prio %s +%llu", in.prio,
			 (count_t)paused);
	finding_evidence(out, EVIDENCE_TRAFFIC, "%llu packets of this port were lost in incasts",
			 (count_t)in.lost_by_others);
	if (paused)
		finding_set(out, VERDICT_PASS, "PFC paused this port %llu times", (count_t)paused);
	else if (in.lost_by_others)
		finding_set(out, VERDICT_FAIL,
			    "packets of this port were lost in an incast on priority %s, and it "
			    "was never paused: PFC is off on its switch port",
			    in.prio);
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port was not paused: whether its switch port pauses priority %s "
			    "is not known",
			    in.prio);
}

/* ECN is meant to slow senders before PFC has to stop them. */
PORT_CHECK(check_incast_marks)
{
	int tos = profile_roce_tos(s->profile);
	struct incast in;

	incast_gather(s, PHASE_INCAST, &in);
	finding_prios(out, in.prios);
	if (!in.received || tos < 0 || !(tos & 3)) {
		finding_set(out, VERDICT_SKIP,
			    in.received ? "the profile sends RoCE without ECN"
					: "this port received nothing in an incast");
		return;
	}
	if (!in.marks_known) {
		finding_set(out, VERDICT_INCONCLUSIVE, "this port does not count CE marks");
		return;
	}
	evidence_counter(out, s, &in.delta, METRIC_ECN_MARKED_RX, 0);
	if (in.marks)
		finding_set(out, VERDICT_PASS, "the switch marked packets %llu times in an incast",
			    (count_t)in.marks);
	else if (in.paused)
		finding_set(out, VERDICT_FAIL,
			    "PFC paused the senders %llu times and ECN marked no packet",
			    (count_t)in.paused);
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the incast neither paused senders nor marked packets");
}

static bool incast_count_cnps(const struct port_ctx *s, enum metric m, uint64_t *count)
{
	struct counters delta;
	bool known = port_ctx_delta(s, READ_INCAST_BEFORE, &delta, NULL) &&
		     counters_has(&delta, m, 0);

	*count = known ? delta.value[m][0] : 0;
	return known;
}

/* With DCQCN at work, pauses are those of the start of each load. */
PORT_CHECK(check_incast_rate_cut)
{
	const struct run_late *late = s->run_port ? &s->run_port->late : NULL;
	struct incast in;
	uint64_t paused, cnps;

	incast_gather(s, PHASE_INCAST, &in);
	finding_prios(out, in.prios);
	if (!in.sent) {
		finding_set(out, VERDICT_SKIP, "this port sent nothing in an incast");
		return;
	}
	if (!incast_count_cnps(s, METRIC_CNP_RX, &cnps) ||
	    !incast_pauses(s, PHASE_INCAST, in.prios, &paused)) {
		finding_set(out, VERDICT_SKIP, "this port counts no CNPs, or no pauses");
		return;
	}
	if (!cnps) {
		finding_set(out, VERDICT_SKIP, "this port received no CNP in an incast");
		return;
	}
	finding_evidence(out, EVIDENCE_COUNTER, "%llu CNPs and %llu pauses received in the phase",
			 (count_t)cnps, (count_t)paused);
	if (!late->known) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the loads were too short for this port's counters: set a longer "
			    "traffic");
		return;
	}
	finding_evidence(out, EVIDENCE_COUNTER,
			 "of them %llu CNPs and %llu pauses in the second half of each load",
			 (count_t)late->cnps, (count_t)late->pauses);
	if (late->pauses * LATE_PART > paused && late->pauses * LATE_CNPS > late->cnps)
		finding_set(out, VERDICT_FAIL,
			    "this port received %llu CNPs in incasts, but %llu of its %llu pauses "
			    "came in the second half of each load",
			    (count_t)cnps, (count_t)late->pauses, (count_t)paused);
	else
		finding_set(out, VERDICT_PASS,
			    "CNPs slowed this port: %llu of its %llu pauses, and %llu CNPs, came "
			    "in the second half of each load",
			    (count_t)late->pauses, (count_t)paused, (count_t)late->cnps);
}

/* Fails if no sender counted a CNP. A sender that ignores CNPs has received them. */
PORT_CHECK(check_incast_cnps)
{
	uint64_t sent, came = 0, one, ignored;
	const struct run_pair *pair;
	unsigned int i = 0, senders = 0;

	if (!incast_count_cnps(s, METRIC_CNP_TX, &sent) || sent < CNPS_LEAST) {
		finding_set(out, VERDICT_SKIP, "this port sent no CNPs in an incast, or few");
		return;
	}
	while ((pair = port_ctx_phase_pair(s, PHASE_INCAST, &i))) {
		struct port_ctx other;

		if (!port_ctx_is_server(s, pair) || !port_ctx_partner(s, pair, &other) ||
		    !incast_count_cnps(&other, METRIC_CNP_RX, &one))
			continue;
		(void)incast_count_cnps(&other, METRIC_CNP_IGNORED, &ignored);
		senders++;
		came += one + ignored;
	}
	finding_evidence(out, EVIDENCE_COUNTER, "%llu CNPs sent, %llu received by %u sender%s",
			 (count_t)sent, (count_t)came, senders, plural(senders));
	if (!senders)
		finding_set(out, VERDICT_INCONCLUSIVE, "no sender to this port counts CNPs");
	else if (!came)
		finding_set(out, VERDICT_FAIL,
			    "this port sent %llu CNPs in an incast, and none of its %u senders "
			    "received one",
			    (count_t)sent, senders);
	else
		finding_set(out, VERDICT_PASS, "CNPs of this port reach its senders");
}

PORT_CHECK(check_incast_control)
{
	struct incast in;

	incast_gather(s, PHASE_CONTROL, &in);
	finding_prios(out, in.prios);
	incast_report_senders(s, PHASE_CONTROL, out);
	if (!in.received && !in.failed)
		finding_set(out, VERDICT_SKIP, "no negative control in this run");
	else if (in.paused)
		finding_set(out, VERDICT_FAIL,
			    "the senders of an incast were paused on lossy priority %s", in.prio);
	else if (in.losses)
		finding_set(out, VERDICT_PASS,
			    "an incast of %u host%s fills this link: lossy priority %s lost "
			    "%llu packets",
			    in.received, plural(in.received), in.prio, (count_t)in.losses);
	else if (in.marks)
		finding_set(out, VERDICT_PASS,
			    "an incast of %u host%s fills this link: lossy priority %s had "
			    "%llu CE marks",
			    in.received, plural(in.received), in.prio, (count_t)in.marks);
	else if (in.failed)
		finding_set(out, VERDICT_INCONCLUSIVE, "the negative control did not run: %s",
			    incast_error(in.failed));
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "lossy priority %s lost nothing and was not marked in an incast of %u "
			    "hosts: the load does not fill this link",
			    in.prio, in.received);
}

/* Percent of a link that the profile gives these priorities of RDMA beside those of TCP; -1 when
 * ETS does not decide it. */
static int incast_wanted_share(const struct qos *q, uint8_t prios, uint8_t tcp_prios)
{
	unsigned int share[2] = {0, 0};

	if (!qos_has(q, QOS_PRIO_TC) || !qos_has(q, QOS_TC_TSA) || !qos_has(q, QOS_TC_TX_BW))
		return -1;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		unsigned int tc = q->prio_tc[prio] % QOS_TCS;

		if (!((prios | tcp_prios) & 1u << prio))
			continue;
		if (q->tc_tsa[tc] != QOS_TSA_ETS)
			return -1;
		share[prios >> prio & 1] += q->tc_tx_bw[tc];
	}
	return share[0] && share[1] ? (int)(100 * share[1] / (share[0] + share[1])) : -1;
}

/* RDMA on a lossless priority always has packets to send, so the switch decides what it gets. TCP
 * that lost packets waits by itself: nothing is said of its share. */
PORT_CHECK(check_incast_shares)
{
	struct incast r, alone;
	double all;
	int want, have;

	incast_gather(s, PHASE_INCAST, &alone);
	incast_gather(s, PHASE_SHARES, &r);
	finding_prios(out, r.prios);
	finding_expected_by(out, s->profile, QOS_TC_TX_BW);
	want = incast_wanted_share(s->want, r.prios, r.tcp_prios);
	all = r.rdma + r.tcp;
	have = all > 0 ? (int)(100 * r.rdma / all) : 0;
	if (!r.received && !r.failed) {
		finding_set(out, VERDICT_SKIP, "no incast with TCP beside it in this run");
		return;
	}
	if (want < 0 && !r.failed) {
		finding_set(out, VERDICT_SKIP, "the profile gives these classes no ETS shares");
		return;
	}
	finding_evidence(out, EVIDENCE_TRAFFIC,
			 "RDMA %.2f MB/s, TCP %.2f MB/s with %llu retransmissions; RDMA alone "
			 "%.2f MB/s",
			 r.rdma / 1e6, r.tcp / 1e6, (count_t)r.retransmits, alone.rdma / 1e6);
	if (r.failed)
		finding_set(out, VERDICT_INCONCLUSIVE, "the incast with TCP did not run: %s",
			    incast_error(r.failed));
	else if (!r.retransmits)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "TCP lost nothing beside the incast: the link was not full");
	else if (have >= want - SHARE_POINTS)
		finding_set(out, VERDICT_PASS,
			    "RDMA took %d %% of the full link, the profile gives it at least "
			    "%d %%",
			    have, want);
	else if (alone.rdma * 100 < all * want)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "RDMA took %d %% of the link, but alone it reaches no more: its share "
			    "was not put to the test",
			    have);
	else
		finding_set(out, VERDICT_FAIL,
			    "RDMA took %d %% of the full link, the profile gives it %d %%", have,
			    want);
}

PORT_CHECK(check_incast_breaker)
{
	if (s->run_port && s->run_port->breaker[0])
		finding_set(out, VERDICT_FAIL,
			    "this port took no part in the incast, but %s: the incast was stopped",
			    s->run_port->breaker);
	else
		finding_set(out, VERDICT_SKIP, "no incast was stopped for this port");
}

/* The canary of the same two ports that ran alone. */
static const struct run_pair *incast_canary_alone(const struct port_ctx *s,
						  const struct run_pair *beside)
{
	const struct run_pair *pair;
	unsigned int i = 0;

	while ((pair = port_ctx_phase_pair(s, PHASE_CANARY, &i)))
		if (pair->ran && pair->client_host == beside->client_host &&
		    pair->client_port == beside->client_port &&
		    pair->server_host == beside->server_host &&
		    pair->server_port == beside->server_port)
			return pair;
	return NULL;
}

/* A canary that got nothing through has no latency. */
static bool incast_is_held(const struct run_pair *alone, const struct run_pair *beside)
{
	return !beside->p50_ns ||
	       (beside->p50_ns > CANARY_MIN_NS && beside->p50_ns / CANARY_TIMES > alone->p50_ns);
}

PORT_CHECK(check_incast_canary)
{
	const struct run_pair *pair, *held = NULL, *failed = NULL;
	unsigned int i = 0, compared = 0;
	struct incast canary;
	uint64_t paused;

	incast_gather(s, PHASE_CANARY_BESIDE, &canary);
	finding_prios(out, canary.prios);
	while ((pair = port_ctx_phase_pair(s, PHASE_CANARY_BESIDE, &i))) {
		const struct run_pair *alone = incast_canary_alone(s, pair);

		if (!pair->ran || !alone) {
			failed = pair;
			continue;
		}
		compared++;
		finding_evidence(out, EVIDENCE_TRAFFIC,
				 "%s -> %s on priority %u: median %.1f us alone, %.1f us beside "
				 "the incast",
				 s->c->run->host[pair->client_host].name,
				 s->c->run->host[pair->server_host].name, pair->prio,
				 (double)alone->p50_ns / 1e3, (double)pair->p50_ns / 1e3);
		if (incast_is_held(alone, pair))
			held = pair;
	}
	if (incast_pauses(s, PHASE_INCAST, canary.prios, &paused) && paused)
		finding_evidence(out, EVIDENCE_COUNTER, "%llu pauses received on its priority",
				 (count_t)paused);
	if (!compared && !failed)
		finding_set(out, VERDICT_SKIP, "no canary at this port");
	else if (compared && paused)
		finding_set(out, VERDICT_FAIL,
			    "an incast on another priority paused the canary's: one class blocks "
			    "the other");
	else if (held)
		finding_set(out, VERDICT_FAIL,
			    "an incast on another priority holds up the canary from %s to %s",
			    s->c->run->host[held->client_host].name,
			    s->c->run->host[held->server_host].name);
	else if (failed)
		finding_set(out, VERDICT_INCONCLUSIVE, "a canary did not run: %s",
			    failed->error[0] ? failed->error : "it has no run alone");
	else
		finding_set(out, VERDICT_PASS, "the incast holds up no other class");
}
