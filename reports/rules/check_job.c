/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job of the user: checks on which priorities its RDMA left and arrived, by the counters around
 * it. Where a port counts RDMA apart from other traffic, what the lossless priorities did not count
 * was on a lossy one. Elsewhere TCP may be part of each counter, so only a clear case is judged.
 */
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/app_env.h"
#include "reports/rules/checks.h"

#define CNP_BYTES_MAX 128 /* of one CNP on the wire */
#define CLEAR_PC      90  /* of all bytes: where RDMA is not counted apart */

/* The counters of one direction: in bytes, in packets. */
static const struct job_metrics {
	const char *verb;
	enum metric prio[2], rdma[2], cnps;
} job_metrics[] = {
	{"leaves",
	 {METRIC_PRIO_TX_BYTES, METRIC_PRIO_TX_PACKETS},
	 {METRIC_RDMA_TX_BYTES, METRIC_RDMA_TX_PACKETS},
	 METRIC_CNP_TX},
	{"arrives",
	 {METRIC_PRIO_RX_BYTES, METRIC_PRIO_RX_PACKETS},
	 {METRIC_RDMA_RX_BYTES, METRIC_RDMA_RX_PACKETS},
	 METRIC_CNP_RX},
};

/* One direction of a port: VERDICT_SKIP while nothing of note crossed it. */
struct job_direction {
	enum verdict verdict;
	unsigned int prio;   /* FAIL: the lossy one */
	const char *missing; /* INCONCLUSIVE */
};

/* The lossy priority that counted so much: the smallest that fits, else the largest. */
static unsigned int job_lossy_prio(const struct counters *delta, enum metric m, uint8_t lossless,
				   uint64_t sought)
{
	const uint64_t *value = delta->value[m];
	unsigned int found = 0;
	bool any = false;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		bool fits = value[prio] >= sought / 10 * 9;

		if (lossless & 1u << prio || !counters_has(delta, m, prio))
			continue;
		if (!any || (value[found] >= sought / 10 * 9 ? fits && value[prio] < value[found]
							     : value[prio] > value[found]))
			found = prio;
		any = true;
	}
	return found;
}

/* Counts of one direction, in one unit: bytes or packets. */
struct job_volume {
	int unit;   /* 1 for packets; -1 without a counter of RoCE's priority */
	bool apart; /* RDMA has a counter, too */
	uint64_t all, lossless, lossy,
		stray; /* all: RDMA, if apart; stray: of it, not on lossless */
};

static void job_add_up(const struct port_ctx *s, const struct job_metrics *m,
		       const struct counters *delta, struct job_volume *v)
{
	uint8_t lossless = port_ctx_lossless(s);
	enum metric prio_metric;

	*v = (struct job_volume){.unit = -1};
	for (unsigned int i = 0; i < 4 && v->unit < 0; i++) {
		v->apart = i < 2 && counters_has(delta, m->rdma[i], 0);
		if (counters_has(delta, m->prio[i % 2], (unsigned int)s->roce_prio) &&
		    (i >= 2 || v->apart))
			v->unit = (int)i % 2;
	}
	if (v->unit < 0)
		return;
	prio_metric = m->prio[v->unit];
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (counters_has(delta, prio_metric, prio))
			*(lossless & 1u << prio ? &v->lossless
						: &v->lossy) += delta->value[prio_metric][prio];
	v->all = v->apart ? delta->value[m->rdma[v->unit]][0] : v->lossless + v->lossy;
	v->stray = saturating_sub(v->all, v->lossless);
	if (v->apart && counters_has(delta, m->cnps, 0)) /* they have a priority of their own */
		v->stray = saturating_sub(v->stray,
					  delta->value[m->cnps][0] * (v->unit ? 1 : CNP_BYTES_MAX));
}

static void job_judge(const struct port_ctx *s, const struct job_metrics *m,
		      const struct counters *delta, struct job_direction *d, struct findings *out)
{
	struct job_volume v;
	uint64_t least;
	bool right, wrong;

	job_add_up(s, m, delta, &v);
	*d = (struct job_direction){.verdict = VERDICT_INCONCLUSIVE,
				    .missing = "this port counts no bytes by priority"};
	if (v.unit < 0)
		return;
	least = v.unit ? JOB_PACKETS_MIN : JOB_BYTES_MIN;
	if (v.apart) {
		evidence_counter(out, s, delta, m->rdma[v.unit], 0);
		right = v.stray < least || v.stray <= v.all / 100;
		wrong = v.lossy >= v.stray / 10 * 9;
		d->missing = "the counters by priority of this port do not count all of its RDMA";
	} else {
		right = v.lossless >= v.all / 100 * CLEAR_PC;
		wrong = s->run_port->user_count && v.lossless < v.all / 100 && v.lossy >= least;
		d->missing = "this port does not count RDMA apart from other traffic, and bytes "
			     "crossed it on lossy priorities";
	}
	evidence_counter(out, s, delta, m->prio[v.unit], (unsigned int)s->roce_prio);
	if (v.all < least) {
		d->verdict = VERDICT_SKIP;
	} else if (right) {
		d->verdict = VERDICT_PASS;
	} else if (wrong) {
		d->verdict = VERDICT_FAIL;
		d->prio = job_lossy_prio(delta, m->prio[v.unit], port_ctx_lossless(s), v.stray);
		if (counters_has(delta, m->prio[v.unit], d->prio))
			evidence_counter(out, s, delta, m->prio[v.unit], d->prio);
	}
}

/* The processes that may have sent it, and what they have to set. */
static void job_add_senders(const struct port_ctx *s, struct findings *out)
{
	const struct run_port *p = s->run_port;
	int tos = port_ctx_roce_tos(s);
	char text[160];

	for (unsigned int i = 0; i < p->user_count; i++)
		finding_evidence(out, EVIDENCE_HOST, "%s", p->user[i]);
	if (p->users_left)
		finding_evidence(out, EVIDENCE_HOST, "and %u more with queue pairs", p->users_left);
	if (!p->user_count)
		finding_evidence(out, EVIDENCE_HOST,
				 "no process had queue pairs here when it was asked");
	if (qos_has(&s->port->qos, QOS_CM_TOS))
		evidence_field(out, s, QOS_CM_TOS);
	if (tos < 0)
		return;
	app_env_class_text(tos, text, sizeof(text));
	finding_evidence(out, EVIDENCE_HOST, "traffic class of the profile: %s", text);
}

static void job_report_lossy(const struct port_ctx *s, const struct job_direction d[2],
			     struct findings *out)
{
	const struct qos *q = &s->port->qos;
	bool sent = d[0].verdict == VERDICT_FAIL, both = sent && d[1].verdict == VERDICT_FAIL;
	int tos = port_ctx_roce_tos(s);

	finding_prios(out, (uint8_t)((sent ? 1 << d[0].prio : 0) |
				     (d[1].verdict == VERDICT_FAIL ? 1 << d[1].prio : 0)));
	finding_expected_by(out, s->profile, QOS_CM_TOS);
	job_add_senders(s, out);
	if (both && d[0].prio == d[1].prio)
		finding_set(out, VERDICT_FAIL,
			    "RDMA leaves and arrives on lossy priority %u, expected %d", d[0].prio,
			    s->roce_prio);
	else if (both)
		finding_set(out, VERDICT_FAIL,
			    "RDMA leaves on lossy priority %u and arrives on lossy priority %u, "
			    "expected %d",
			    d[0].prio, d[1].prio, s->roce_prio);
	else
		finding_set(out, VERDICT_FAIL, "RDMA %s on lossy priority %u, expected %d",
			    job_metrics[!sent].verb, d[!sent].prio, s->roce_prio);
	if (sent && tos >= 0 && qos_has(q, QOS_CM_TOS) && q->cm_tos >> 2 == tos >> 2)
		finding_append(out,
			       "; the default of rdma_cm is right, so the program sets another "
			       "traffic class or uses no rdma_cm");
}

PORT_CHECK(check_job_prio)
{
	struct job_direction d[2];
	struct counters delta;

	port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++)
		job_judge(s, &job_metrics[i], &delta, &d[i], out);
	if (d[0].verdict == VERDICT_FAIL || d[1].verdict == VERDICT_FAIL) {
		job_report_lossy(s, d, out);
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++) {
		if (d[i].verdict != VERDICT_INCONCLUSIVE)
			continue;
		finding_set(out, VERDICT_INCONCLUSIVE, "%s", d[i].missing);
		return;
	}
	if (d[0].verdict == VERDICT_SKIP && d[1].verdict == VERDICT_SKIP)
		finding_set(out, VERDICT_SKIP, "hardly any traffic at this port while the job ran");
	else
		finding_set(out, VERDICT_PASS, "RDMA leaves and arrives on lossless priorities");
}

FABRIC_CHECK(check_job_result)
{
	const struct run_job *job = &c->run->job;
	unsigned int ports = 0, used = 0, unknown = 0;
	struct port_walk walk = {.c = c};
	struct counters delta;
	struct port_ctx s;

	while (port_walk_next(&walk, &s)) {
		bool read = s.port && port_ctx_delta(&s, READ_LOAD_BEFORE, &delta, NULL);
		bool apart = read &&
			     (delta.has[METRIC_RDMA_TX_PACKETS] |
			      delta.has[METRIC_RDMA_RX_PACKETS] | delta.has[METRIC_RDMA_TX_BYTES] |
			      delta.has[METRIC_RDMA_RX_BYTES]);

		ports++;
		used += apart ? !port_ctx_job_idle(&s) : read && s.run_port->user_count;
		unknown += !apart;
	}
	finding_begin(out, rule, "", "", 0);
	finding_evidence(out, EVIDENCE_COUNTER, "%u of %u port%s had RDMA while the job ran", used,
			 ports, plural(ports));
	if (job->stopped)
		finding_set(out, VERDICT_FAIL, "the job was stopped before its end");
	else if (job->exit_code)
		finding_set(out, VERDICT_FAIL, "the job failed with exit code %u", job->exit_code);
	else if (used)
		finding_set(out, VERDICT_PASS, "the job ended with exit code 0 and used RDMA");
	else if (unknown)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no process with queue pairs was seen while the job ran, and %u port%s "
			    "cannot tell RDMA from other traffic",
			    unknown, plural(unknown));
	else
		finding_set(out, VERDICT_FAIL,
			    "no port of the inventory had RDMA while the job ran");
}
