/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of two ports below struct dcb, in memory that a killed child shares with the test. It
 * can die, fail, lie or do more than it is told at any of its operations.
 */
#ifndef TESTS_UNIT_FAKE_MACHINE_H
#define TESTS_UNIT_FAKE_MACHINE_H

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "dcb/plan/plan.h"

struct fake_port {
	struct qos qos; /* rdma_cm values included */
	bool directory; /* they show */
};

struct fake_machine {
	struct fake_port port[2]; /* "p0" and "p1" */
	unsigned int points;	  /* passed so far */
	unsigned int die_at;	  /* at this point, from 1; 0 = never */
	unsigned int writes;
	unsigned int die_behind;  /* this write, which is carried out; 0 = none */
	unsigned int stop_behind; /* likewise, by SIGSTOP */
	unsigned int fail_at;	  /* this write is refused, 0 = none */
	unsigned int lie_at;	  /* this write is accepted and does nothing */
	bool stuck;		  /* after the first refusal or lie nothing works */
	bool resets;		  /* a first DSCP entry sets ETS and PFC to zero, as on ice */
	int signal_at;		  /* raised at this write */
	int check;		  /* answer of check() */
	bool rdma_gone;		  /* the RDMA devices were taken away */
};

static inline void fake_point(struct dcb *dcb)
{
	struct fake_machine *m = dcb->machine;

	if (++m->points == m->die_at)
		kill(getpid(), SIGKILL);
}

static inline struct fake_port *fake_find(struct dcb *dcb, const char *ifname)
{
	struct fake_machine *m = dcb->machine;

	return &m->port[ifname[1] - '0'];
}

static inline bool fake_no_rdma(struct dcb *dcb, const struct dcb_port *port)
{
	const struct fake_machine *m = dcb->machine;

	return m->rdma_gone && port->ibdev && port->ibdev[0];
}

static inline int fake_read(struct dcb *dcb, const struct dcb_port *port, struct qos *q,
			    bool *has_dcb, struct err *e)
{
	const struct fake_port *p = fake_find(dcb, port->ifname);

	fake_point(dcb);
	if (fake_no_rdma(dcb, port))
		return err_set(e, -ENODEV, "no such RDMA device");
	*q = p->qos;
	if (!p->directory || !port->ibdev)
		q->has &= ~PLAN_RDMA_CM;
	*has_dcb = true;
	return 0;
}

static inline bool fake_dscp(const struct qos *q)
{
	for (int d = 0; d < QOS_DSCPS; d++)
		if (q->dscp_prio[d] != QOS_UNMAPPED)
			return true;
	return false;
}

/* One entry after the other, as the kernel is told. */
static inline void fake_write_dscp(struct dcb *dcb, struct qos *q, const struct qos *to)
{
	struct fake_machine *m = dcb->machine;
	bool first = !fake_dscp(q);

	for (int d = 0; d < QOS_DSCPS; d++) {
		if (q->dscp_prio[d] == to->dscp_prio[d])
			continue;
		q->dscp_prio[d] = QOS_UNMAPPED;
		fake_point(dcb);
		q->dscp_prio[d] = to->dscp_prio[d];
		fake_point(dcb);
		q->trust = fake_dscp(q) ? QOS_TRUST_DSCP : QOS_TRUST_PCP;
	}
	q->trust = fake_dscp(q) ? QOS_TRUST_DSCP : QOS_TRUST_PCP;
	if (m->resets && first && fake_dscp(q)) {
		memset(q->prio_tc, 0, sizeof(q->prio_tc));
		memset(q->tc_tx_bw, 0, sizeof(q->tc_tx_bw));
		q->pfc_enabled = 0;
	}
}

static inline int fake_refused(struct fake_machine *m, struct err *e)
{
	unsigned int bad = m->fail_at ? m->fail_at : m->lie_at;

	m->writes++;
	if (m->signal_at && m->writes == (unsigned int)m->signal_at)
		raise(SIGTERM);
	if (bad && (m->writes == bad || (m->stuck && m->writes > bad)))
		return m->fail_at ? err_set(e, -EINVAL, "refused") : 1;
	return 0;
}

static inline int fake_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			     uint64_t mask, struct err *e)
{
	struct fake_port *p = fake_find(dcb, port->ifname);
	struct fake_machine *m = dcb->machine;
	int refused;

	fake_point(dcb);
	refused = fake_refused(m, e);
	if (refused)
		return refused < 0 ? refused : 0;
	if (mask & PLAN_RDMA_CM && fake_no_rdma(dcb, port))
		return err_set(e, -ENODEV, "no such RDMA device");
	if (mask & PLAN_RDMA_CM && !p->directory)
		return err_set(e, -ENOENT, "no directory");
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(mask & QOS_BIT(id)))
			continue;
		if (id == QOS_DSCP_PRIO)
			fake_write_dscp(dcb, &p->qos, q);
		else if (id != QOS_TRUST)
			qos_copy_field(&p->qos, q, id);
		fake_point(dcb);
	}
	if (m->die_behind && m->writes == m->die_behind)
		kill(getpid(), SIGKILL);
	if (m->stop_behind && m->writes == m->stop_behind)
		kill(getpid(), SIGSTOP);
	return 0;
}

static inline int fake_check(struct dcb *dcb, const struct dcb_port *port, struct err *e)
{
	struct fake_machine *m = dcb->machine;

	(void)port;
	return m->check ? err_set(e, m->check, "check") : 0;
}

static inline int fake_reveal(struct dcb *dcb, const struct dcb_port *port, bool *made,
			      struct err *e)
{
	struct fake_port *p = fake_find(dcb, port->ifname);

	(void)e;
	fake_point(dcb);
	*made = !p->directory;
	p->directory = true;
	fake_point(dcb);
	return 0;
}

static inline int fake_hide(struct dcb *dcb, const struct dcb_port *port, struct err *e)
{
	(void)e;
	fake_point(dcb);
	fake_find(dcb, port->ifname)->directory = false;
	fake_point(dcb);
	return 0;
}

static const struct dcb_backend fake_backend = {
	.read = fake_read,
	.write = fake_write,
	.check = fake_check,
	.reveal = fake_reveal,
	.hide = fake_hide,
};

static inline struct fake_machine *fake_map(void)
{
	void *p = mmap(NULL, sizeof(struct fake_machine), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#endif
