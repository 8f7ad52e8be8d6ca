/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extended reliable connections (IBTA vol 1, annex A14): a half of a flow has a queue pair of its
 * own. The one that receives (IBV_QPT_XRC_RECV) has neither receives nor memory; each request names
 * the shared receive queue that has them, also one that takes no receive. Here each flow has a
 * receive queue of its own, so that message n is the n-th receive as on RC.
 */
#include <errno.h>
#include <fcntl.h>

#include "probe/traffic/traffic_end.h"

#define FIRST_QPN 2 /* 0 and 1 are those of management */

static bool wants_xrc(const struct traffic *t)
{
	bool wanted = false;

	for (unsigned int i = 0; i < t->spec.class_count; i++)
		wanted |= t->spec.class[i].transport == TRAFFIC_XRC;
	return wanted;
}

int traffic_check_xrc(const struct traffic *t, struct err *e)
{
	if (!wants_xrc(t) || t->limits.device_cap_flags & IBV_DEVICE_XRC)
		return 0;
	err_set(e, -EOPNOTSUPP, "%s has no XRC: its capabilities lack IBV_DEVICE_XRC",
		t->spec.ibdev);
	err_hint(e, "take RC");
	return -EOPNOTSUPP;
}

/* Of this end alone: no file that others could open it by. */
int traffic_open_xrcd(struct traffic *t, struct err *e)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!wants_xrc(t))
		return 0;
	t->xrcd = ibv_open_xrcd(t->ctx, &init);
	return t->xrcd ? 0 : err_sys(e, -errno, "%s: XRC domain", t->spec.ibdev);
}

static int open_srq(struct flow *f, struct err *e)
{
	struct traffic *t = f->worker->t;
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = f->rx.receives + 1, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = t->pd,
		.xrcd = t->xrcd,
		.cq = f->worker->cq,
	};
	int rc;

	f->srq = ibv_create_srq_ex(t->ctx, &init);
	if (!f->srq)
		return err_sys(e, -errno, "%s: XRC receive queue %u of %u receives", t->spec.ibdev,
			       f->index, init.attr.max_wr);
	rc = ibv_get_srq_num(f->srq, &f->self.srqn);
	return rc ? err_sys(e, -rc, "%s: number of XRC receive queue %u", t->spec.ibdev, f->index)
		  : 0;
}

int traffic_open_target(struct flow *f, struct err *e)
{
	struct traffic *t = f->worker->t;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = t->xrcd,
	};
	int err = open_srq(f, e);

	if (err)
		return err;
	f->target = ibv_create_qp_ex(t->ctx, &init);
	if (!f->target)
		return err_sys(e, -errno, "%s: XRC queue pair %u that receives", t->spec.ibdev,
			       f->index);
	f->self.target_qpn = f->target->qp_num;
	return 0;
}

void traffic_close_srq(struct flow *f)
{
	if (f->srq)
		ibv_destroy_srq(f->srq);
}

/* Numbers of 24 bits come in; a receive queue may well have number 0. */
int traffic_check_xrc_peer(const struct flow *f, struct err *e)
{
	const char *ibdev = f->worker->t->spec.ibdev;

	if (f->class->transport != TRAFFIC_XRC)
		return 0;
	if (f->tx.on && f->peer.target_qpn < FIRST_QPN)
		return err_set(e, -EPROTO,
			       "%s: class %u QP %u: the other end has no XRC queue pair that "
			       "receives",
			       ibdev, f->class_index, f->number);
	if (f->rx.on && f->peer.qpn < FIRST_QPN)
		return err_set(e, -EPROTO,
			       "%s: class %u QP %u: the other end has no XRC queue pair that sends",
			       ibdev, f->class_index, f->number);
	return 0;
}
