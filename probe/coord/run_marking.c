/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One round of marking tests: each of two ports, both ways, with the class that an rdma_cm
 * application has on those hosts, and with the other classes of a profile that trusts DSCP. Those
 * have to arrive, with a DSCP of their priority; some of their datagrams may be lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/load.h"
#include "probe/coord/pair_marking.h"
#include "probe/coord/phase_priv.h"

#define WIRE_BYTES (2u * 174) /* of a datagram on the wire; a port may send those of two tests */
#define GAP_MAX_US 2000u      /* so that the second pass takes 18 s at most */

/* The tests of one round while they run. */
struct marking_round {
	struct phase_round round;	     /* without pairs */
	struct marking_spec (*spec)[SIDES];  /* owned; of each test */
	struct marking_result result[SIDES]; /* of a test while it is read */
};

struct marking_plan phase_marking_plan(const struct fabric *f)
{
	/* 512 datagrams each way: where one of two paths loses 1 in 40, 256 of them show it in 998
	 * tests of 1,000. Four ports are all on the good path in 1 test of 16. */
	if (f->level >= LEVEL_STANDARD)
		return (struct marking_plan){.sweep = 16, .count = 32, .size_ports = 4};
	return (struct marking_plan){.sweep = 4, .count = 64, .size_ports = 4};
}

struct run_marking phase_marking_pair(const struct phase_ports *ports,
				      const struct schedule_pair *pair)
{
	return (struct run_marking){.client_host = ports->list[pair->client].host,
				    .client_port = ports->port[pair->client],
				    .server_host = ports->list[pair->server].host,
				    .server_port = ports->port[pair->server]};
}

/* The pause between datagrams that keeps them below `load_percent` of the slower link. */
static uint16_t marking_gap_us(const struct coordinator *c, const struct run_marking *m,
			       uint16_t least)
{
	const struct port *a = phase_port(c, m->client_host, m->client_port);
	const struct port *b = phase_port(c, m->server_host, m->server_port);
	uint64_t rate = schedule_rate(a ? a->speed_mbps : 0, b ? b->speed_mbps : 0,
				      c->f->load_percent);
	uint64_t gap = rate ? WIRE_BYTES * UINT64_C(1000000) / rate : 0;

	return (uint16_t)(gap > GAP_MAX_US ? GAP_MAX_US : larger(gap, least));
}

static void marking_add_class(struct traffic_spec spec[SIDES], unsigned int tos, unsigned int prio)
{
	for (unsigned int i = 0; i < SIDES; i++)
		if (spec[i].class_count < TRAFFIC_CLASSES_MAX)
			spec[i].class[spec[i].class_count++] =
				(struct traffic_class){.tos = (uint8_t)tos, .sl = (uint8_t)prio};
}

/* Adds the classes of the profile. marking_specs_make() keeps one of equal markings. */
static void marking_add_classes(const struct profile *p, struct traffic_spec spec[SIDES])
{
	int roce = profile_roce_tos(p);
	unsigned int ecn = roce < 0 ? 0 : (unsigned int)roce & 3;

	if (!qos_has(&p->qos, QOS_TRUST) || p->qos.trust != QOS_TRUST_DSCP)
		return;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		int tos = profile_prio_tos(p, prio);

		if (tos >= 0)
			marking_add_class(spec, (unsigned int)tos, prio);
	}
	if (qos_has(&p->qos, QOS_CNP_DSCP)) {
		int prio = qos_dscp_to_prio(&p->qos, p->qos.cnp_dscp);

		marking_add_class(spec, (unsigned int)p->qos.cnp_dscp << 2 | ecn,
				  prio < 0 ? 0 : (unsigned int)prio);
	}
}

static void marking_prepare(struct coordinator *c, struct marking_round *r,
			    const struct marking_plan *plan, unsigned int i, struct run_marking *m)
{
	const struct run_pair ends = {.client_host = m->client_host,
				      .client_port = m->client_port,
				      .server_host = m->server_host,
				      .server_port = m->server_port};
	struct load_flow *f = &r->round.load.flow[i];

	phase_prepare_specs(c, &ends, r->round.place[i], f, r->round.spec);
	if (f->failed)
		return;
	marking_add_classes(&c->f->profile, r->round.spec);
	marking_specs_make(r->round.spec, plan->sweep, r->spec[i]);
	for (unsigned int k = 0; k < SIDES; k++) {
		struct marking_spec *s = &r->spec[i][k];

		s->count = plan->count;
		s->paths = plan->size_ports;
		s->gap_us = marking_gap_us(c, m, s->gap_us);
		m->tos[k] = s->class[0].tos;
		f->end[k].spec = marking_spec_to_json(s);
	}
	f->duration_ms = r->spec[i]->duration_ms;
	f->until_client = true;
}

static void marking_report(struct coordinator *c, const struct run_marking *m, const char *text)
{
	session_report(&c->s, "%s -> %s marking: %s", c->s.r->host[m->client_host].name,
		       c->s.r->host[m->server_host].name, text);
}

/* Drops findings of the other classes that are no faults there. */
static void marking_drop_others(const struct qos *q, struct run_marking *m)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < m->finding_count; i++) {
		const struct marking_finding *f = &m->finding[i];
		bool moved = f->kind == MARKING_DSCP &&
			     qos_dscp_to_prio(q, f->from) != qos_dscp_to_prio(q, f->to);

		if (!f->class || moved || f->kind == MARKING_BLACKHOLE)
			m->finding[kept++] = *f;
	}
	m->finding_count = kept;
}

/* Reads what both ends of a test found out, and reports it. */
static void marking_read(struct coordinator *c, struct marking_round *r, unsigned int i,
			 struct run_marking *m)
{
	struct marking_endpoints ends;
	struct load_flow *f = &r->round.load.flow[i];
	char text[320];

	for (unsigned int k = 0; k < SIDES && !f->failed; k++) {
		struct err e = {0};
		const json_t *reply = load_reply(f, k, &e);
		bool has = false;

		ends.spec[k] = &r->spec[i][k];
		ends.result[k] = &r->result[k];
		if (!reply || pair_marking_read(reply, &r->result[k], &has, &e) ||
		    (k == SIDE_SERVER && run_marking_fill(m, &ends, &e)))
			load_fail(f, k, &e);
	}
	if (f->failed) {
		agent_error_text(&f->e, m->error, sizeof(m->error));
		marking_report(c, m, m->error);
		return;
	}
	marking_drop_others(&c->f->profile.qos, m);
	for (unsigned int k = 0; k < m->finding_count; k++) {
		marking_finding_text(&m->finding[k], text, sizeof(text));
		marking_report(c, m, text);
	}
}

int phase_mark_round(struct coordinator *c, const struct marking_plan *plan,
		     const struct run_marking *list, unsigned int count)
{
	struct run *run = c->s.r;
	struct run_marking *m = reallocarray(run->marking, (size_t)run->marking_count + count + 1,
					     sizeof(*m));
	struct marking_round *r = calloc(1, sizeof(*r));
	struct load *l = r ? &r->round.load : NULL;
	int err = r ? phase_round_open(c, count, &r->round) : -ENOMEM;

	run->marking = m ? m : run->marking;
	if (!err)
		r->spec = calloc(count + 1, sizeof(*r->spec));
	if (err || !m || !r->spec) {
		err = -ENOMEM;
		goto out;
	}
	l->count = count;
	m += run->marking_count;
	run->marking_count += count;
	for (unsigned int i = 0; i < count; i++) {
		m[i] = list[i];
		m[i].pass = plan->pass;
		marking_prepare(c, r, plan, i, &m[i]);
	}
	load_open(l, "echo_open");
	load_connect(l);
	load_run(l, 0);
	for (unsigned int i = 0; i < count; i++)
		marking_read(c, r, i, &m[i]);
	load_close(l);
out:
	if (r) {
		phase_round_free(&r->round);
		free(r->spec);
	}
	free(r);
	return err;
}
