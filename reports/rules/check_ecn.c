/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-ECN: can congestion be marked (RFC 3168), and is a mark answered with a CNP (IBTA Annex A17)?
 */
#include <string.h>

#include "reports/engine/subject.h"
#include "reports/rules/checks.h"

/* Data flows of the port: packets, and those without ECT that are neither CNP nor response. */
static void data_packets(const struct subject *s, uint64_t *packets, uint64_t *not_ect)
{
	const struct capture_summary *k = &s->run_port->capture;

	*packets = 0;
	*not_ect = 0;
	for (unsigned int i = 0; s->run_port->has_capture && i < k->flow_count; i++) {
		const struct flow *f = &k->flow[i];
		uint64_t others = f->cnp + f->responses;

		if (!f->requests || !subject_owns(s, f->src))
			continue;
		*packets += f->requests;
		if (f->ecn[0] > others)
			*not_ect += f->ecn[0] - others;
	}
}

static bool tos_lacks_ect(const struct subject *s, struct findings *out)
{
	const struct qos *q = &s->port->qos;
	int wish = profile_roce_tos(s->profile);

	if (qos_has(q, QOS_CM_TOS)) {
		evidence_field(out, s, QOS_CM_TOS);
		if (!(q->cm_tos & 3)) {
			finding_say(out, VERDICT_FAIL,
				    "rdma_cm connections are Not-ECT: ToS %u has no ECN bits",
				    q->cm_tos);
			return true;
		}
	}
	if (wish < 0 || wish & 3)
		return false;
	finding_say(out, VERDICT_FAIL, "the profile itself asks for Not-ECT data: ToS %d", wish);
	return true;
}

PORT_CHECK(check_ecn_ect)
{
	bool lacks = tos_lacks_ect(s, out), by_tos = qos_has(&s->port->qos, QOS_CM_TOS);
	uint64_t packets = 0, not_ect = 0;

	finding_wish(out, s->profile, QOS_CM_TOS);
	if (s->run_port)
		data_packets(s, &packets, &not_ect);
	if (packets)
		finding_evidence(out, EVIDENCE_CAPTURE,
				 "%llu of %llu data packets sent are Not-ECT",
				 (unsigned long long)not_ect, (unsigned long long)packets);
	if (lacks)
		return;
	if (not_ect)
		finding_say(out, VERDICT_FAIL,
			    "data leaves Not-ECT: it cannot be marked, only dropped");
	else if (packets || by_tos)
		finding_say(out, VERDICT_PASS, "data is ECN capable by %s%s%s",
			    packets ? "what was captured" : "", packets && by_tos ? " and by " : "",
			    by_tos ? "rdma_cm's default ToS" : "");
	else
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "neither a capture nor rdma_cm's default ToS is there");
}

/* CE packets that came in and CNPs that went out, by the capture. */
static void captured_marks(const struct subject *s, uint64_t *ce, uint64_t *cnp)
{
	const struct capture_summary *k = &s->run_port->capture;

	for (unsigned int i = 0; i < k->flow_count; i++) {
		if (subject_owns(s, k->flow[i].dst))
			*ce += k->flow[i].ecn[3];
		if (subject_owns(s, k->flow[i].src))
			*cnp += k->flow[i].cnp;
	}
}

static bool count_marks(const struct subject *s, struct findings *out, uint64_t *ce, uint64_t *cnp)
{
	struct counters delta;

	if (subject_delta(s, READ_LOAD_BEFORE, &delta, NULL) &&
	    counters_has(&delta, METRIC_ECN_MARKED_RX, 0) &&
	    counters_has(&delta, METRIC_CNP_TX, 0)) {
		evidence_counter(out, s, &delta, METRIC_ECN_MARKED_RX, 0);
		evidence_counter(out, s, &delta, METRIC_CNP_TX, 0);
		*ce = delta.value[METRIC_ECN_MARKED_RX][0];
		*cnp = delta.value[METRIC_CNP_TX][0];
		return true;
	}
	if (!s->run_port->has_capture || !s->run_port->capture.totals.roce)
		return false;
	captured_marks(s, ce, cnp);
	finding_evidence(out, EVIDENCE_CAPTURE, "%llu packets came with CE, %llu CNPs were sent",
			 (unsigned long long)*ce, (unsigned long long)*cnp);
	return true;
}

PORT_CHECK(check_ecn_cnp)
{
	uint64_t ce = 0, cnp = 0;

	if (!count_marks(s, out, &ce, &cnp))
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "CE and CNP are not counted here and nothing was captured");
	else if (!ce)
		finding_say(out, VERDICT_SKIP,
			    "no packet came with CE: there was nothing to answer");
	else if (!cnp)
		finding_say(out, VERDICT_FAIL, "%llu packets came with CE and no CNP was sent",
			    (unsigned long long)ce);
	else
		finding_say(out, VERDICT_PASS, "%llu CE packets were answered with %llu CNPs",
			    (unsigned long long)ce, (unsigned long long)cnp);
}
