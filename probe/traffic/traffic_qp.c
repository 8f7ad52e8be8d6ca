/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creates queue pairs and moves them to RTS. Retry counts are finite on purpose: retry_cnt 7
 * retries for ever on Soft-RoCE (rxe of Linux 6.1 and 6.12), and rnr_retry 7 on every device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#include "probe/traffic/traffic_worker.h"

#define HOP_LIMIT     64
#define READS	      16
#define INLINE_BYTES  220u
#define CONTROL_SENDS 8

static const enum ibv_qp_type types[TRAFFIC_TRANSPORTS] = {
	[TRAFFIC_RC] = IBV_QPT_RC,
	[TRAFFIC_UC] = IBV_QPT_UC,
	[TRAFFIC_UD] = IBV_QPT_UD,
	[TRAFFIC_XRC] = IBV_QPT_XRC_SEND,
};

#define NEEDS_ADDRESS (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define NEEDS_REPEAT                                                                               \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

/* Attributes that a type needs in a state, in addition to the common ones (ib_core of Linux 6.1,
 * qp_state_table). */
static const struct {
	int init, rtr, rts;
} needs[] = {
	[IBV_QPT_RC] = {IBV_QP_ACCESS_FLAGS,
			NEEDS_ADDRESS | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			NEEDS_REPEAT},
	[IBV_QPT_UC] = {IBV_QP_ACCESS_FLAGS, NEEDS_ADDRESS, 0},
	[IBV_QPT_UD] = {IBV_QP_QKEY, 0, 0},
	[IBV_QPT_XRC_SEND] = {IBV_QP_ACCESS_FLAGS, NEEDS_ADDRESS, NEEDS_REPEAT},
	[IBV_QPT_XRC_RECV] = {IBV_QP_ACCESS_FLAGS,
			      NEEDS_ADDRESS | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			      IBV_QP_TIMEOUT},
};

uint32_t traffic_random_psn(void)
{
	uint32_t psn = 0;

	if (getrandom(&psn, sizeof(psn), 0) != (ssize_t)sizeof(psn))
		psn = (uint32_t)monotonic_ns();
	return psn & 0xffffff;
}

int traffic_set_state(struct traffic *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      const char *step, struct err *e)
{
	int rc = ibv_modify_qp(qp, attr, mask);

	return rc ? err_sys(e, -rc, "%s: queue pair 0x%x to %s", t->spec.ibdev, qp->qp_num, step)
		  : 0;
}

/* A sending queue pair grants no remote access. */
static int qp_to_init(struct traffic *t, struct ibv_qp *qp, int access, struct err *e)
{
	bool sends = qp->qp_type == IBV_QPT_XRC_SEND;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = t->spec.ib_port,
		.qp_access_flags = sends ? 0 : (unsigned int)access,
		.qkey = (uint32_t)t->spec.seed & 0x7fffffff,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	return traffic_set_state(t, qp, &attr, mask | needs[qp->qp_type].init, "INIT", e);
}

static struct ibv_qp *qp_create(struct worker *w, enum ibv_qp_type type, uint32_t sends,
				uint32_t receives, uint32_t inline_bytes)
{
	bool both = type != IBV_QPT_XRC_SEND;
	struct ibv_qp_init_attr init = {
		.send_cq = w->cq,
		.recv_cq = both ? w->cq : NULL,
		.cap = {.max_send_wr = sends + 1,
			.max_recv_wr = both ? receives + 1 : 0,
			.max_send_sge = 1,
			.max_recv_sge = both,
			.max_inline_data = inline_bytes},
		.qp_type = type,
	};

	return ibv_create_qp(w->t->pd, &init);
}

static int qp_open(struct qp_flow *f, int access, struct err *e)
{
	const struct traffic_class *c = f->class;
	struct traffic *t = f->worker->t;
	bool carries = c->verb != TRAFFIC_READ && c->verb != TRAFFIC_ATOMIC && f->tx.on;
	uint32_t bytes = carries && c->message_bytes <= INLINE_BYTES ? c->message_bytes : 0;
	uint32_t sends = f->tx.on ? f->window : 1;

	if (bytes)
		f->qp = qp_create(f->worker, types[c->transport], sends, f->rx.receives, bytes);
	/* Small messages are sent inline if the device supports it. */
	for (uint32_t i = 0; f->qp && i < f->window; i++)
		f->tx.wr[i].send_flags |= IBV_SEND_INLINE;
	if (!f->qp)
		f->qp = qp_create(f->worker, types[c->transport], sends, f->rx.receives, 0);
	if (!f->qp)
		return err_sys(e, -errno, "%s: queue pair %u", t->spec.ibdev, f->index);
	f->self.qpn = f->qp->qp_num;
	return qp_to_init(t, f->qp, access, e);
}

/* XRC has one queue pair per direction, other types one for both. */
static int qp_open_flow(struct qp_flow *f, int access, struct err *e)
{
	bool halves = f->class->transport == TRAFFIC_XRC;
	int err = 0;

	f->self.psn = traffic_random_psn();
	if (halves && f->rx.on)
		err = qp_flow_open_target(f, e);
	if (!err && f->target)
		err = qp_to_init(f->worker->t, f->target, access, e);
	if (!err && (!halves || f->tx.on))
		err = qp_open(f, access, e);
	return err;
}

static int qp_open_cq(struct worker *w, struct err *e)
{
	struct traffic *t = w->t;
	uint64_t entries = CONTROL_SENDS + w->control_receives + 2;

	for (unsigned int i = 0; i < w->flow_count; i++)
		entries += w->flow[i].window + w->flow[i].rx.receives + 2;
	if (entries > (uint64_t)t->limits.max_cqe)
		return err_set(
			e, -EINVAL,
			"%s: needs a completion queue of %llu entries, the device has at most "
			"%d: use more threads or a smaller --tx-depth",
			t->spec.ibdev, (unsigned long long)entries, t->limits.max_cqe);
	w->channel = ibv_create_comp_channel(t->ctx);
	if (!w->channel ||
	    fcntl(w->channel->fd, F_SETFL, fcntl(w->channel->fd, F_GETFL) | O_NONBLOCK))
		return err_sys(e, -errno, "%s: completion channel", t->spec.ibdev);
	w->cq = ibv_create_cq(t->ctx, (int)entries, NULL, w->channel, 0);
	return w->cq ? 0 : err_sys(e, -errno, "%s: completion queue", t->spec.ibdev);
}

int traffic_open_queues(struct worker *w, struct err *e)
{
	int access = worker_access(w), err = qp_open_cq(w, e);

	for (unsigned int i = 0; i < w->flow_count && !err; i++)
		err = qp_open_flow(&w->flow[i], access, e);
	if (err)
		return err;
	w->control = qp_create(w, IBV_QPT_RC, CONTROL_SENDS, w->control_receives, 0);
	if (!w->control)
		return err_sys(e, -errno, "%s: queue pair", w->t->spec.ibdev);
	w->control_self.qpn = w->control->qp_num;
	w->control_self.psn = traffic_random_psn();
	return qp_to_init(w->t, w->control, IBV_ACCESS_REMOTE_WRITE, e);
}

/* The UDP source port is derived from it: a different path per QP, and the same in both directions
 * of a connection, as with rdma_cm. */
static uint32_t qp_grh_flow_label(const struct traffic_qp *a, const struct traffic_qp *b)
{
	uint32_t targets = a->target_qpn ^ b->target_qpn;

	return (a->qpn ^ b->qpn ^ targets ^ a->psn ^ b->psn) & 0xfffff;
}

/* A connection of two queue pairs. */
struct qp_conn {
	struct traffic *t;
	struct ibv_qp *qp;
	const struct traffic_class *class; /* with the marking */
	const struct traffic_qp *self, *remote;
	uint32_t dest_qpn; /* of the remote */
	const uint8_t *gid;
	bool strict;
	uint8_t timeout; /* ACK timeout code */
};

static struct ibv_ah_attr qp_ah_attr(const struct qp_conn *l)
{
	struct ibv_ah_attr ah = {
		.is_global = 1,
		.port_num = l->t->spec.ib_port,
		.sl = l->class->sl,
		.grh = {.sgid_index = (uint8_t)l->t->spec.gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = l->class->tos,
			.flow_label = qp_grh_flow_label(l->self, l->remote)},
	};

	memcpy(ah.grh.dgid.raw, l->gid, sizeof(ah.grh.dgid.raw));
	return ah;
}

uint8_t traffic_read_depth(int limit)
{
	return (uint8_t)(limit < READS ? limit : READS);
}

static int qp_to_rtr(const struct qp_conn *l, struct err *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = traffic_mtu_code(l->t->mtu),
		.dest_qp_num = l->dest_qpn,
		.rq_psn = l->remote->psn,
		.min_rnr_timer = TRAFFIC_MIN_RNR_TIMER,
		.max_dest_rd_atomic = traffic_read_depth(l->t->limits.max_qp_rd_atom),
		.ah_attr = qp_ah_attr(l),
	};

	return traffic_set_state(l->t, l->qp, &attr, IBV_QP_STATE | needs[l->qp->qp_type].rtr,
				 "RTR", e);
}

static int qp_to_rts(const struct qp_conn *l, struct err *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = l->timeout,
		.retry_cnt = l->strict ? 0 : TRAFFIC_RETRY_COUNT,
		.rnr_retry = TRAFFIC_RETRY_COUNT,
		.sq_psn = l->self->psn,
		.max_rd_atomic = traffic_read_depth(l->t->limits.max_qp_init_rd_atom),
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | needs[l->qp->qp_type].rts;

	return traffic_set_state(l->t, l->qp, &attr, mask, "RTS", e);
}

static struct qp_conn qp_conn_of(struct qp_flow *f, struct ibv_qp *qp)
{
	bool to_target = qp->qp_type == IBV_QPT_XRC_SEND;
	struct traffic *t = f->worker->t;

	return (struct qp_conn){
		.t = t,
		.qp = qp,
		.class = f->class,
		.self = &f->self,
		.remote = &f->remote,
		.dest_qpn = to_target ? f->remote.target_qpn : f->remote.qpn,
		.gid = t->remote_gid,
		.strict = t->spec.mode == TRAFFIC_STRICT,
		.timeout = traffic_ack_timeout(&t->spec, t->soft),
	};
}

/* Connects, starting in INIT. */
static int qp_connect(struct qp_flow *f, struct ibv_qp *qp, struct err *e)
{
	struct qp_conn l = qp_conn_of(f, qp);
	struct ibv_ah_attr ah = qp_ah_attr(&l);
	int err = qp_to_rtr(&l, e);

	if (!err)
		err = qp_to_rts(&l, e);
	if (err || qp->qp_type != IBV_QPT_UD || f->tx.ah)
		return err;
	f->tx.ah = ibv_create_ah(l.t->pd, &ah);
	return f->tx.ah ? 0 : err_sys(e, -errno, "%s: address handle", l.t->spec.ibdev);
}

int qp_flow_connect(struct qp_flow *f, struct err *e)
{
	int err = f->target ? qp_connect(f, f->target, e) : 0;

	return err || !f->qp ? err : qp_connect(f, f->qp, e);
}

/* With rdma_cm, the control queue pair (set by raw verbs) shows how the device reports a ToS;
 * prefers a class with a ToS other than 0. */
const struct traffic_class *traffic_control_class(const struct worker *w)
{
	for (unsigned int i = 0; w->t->spec.bringup == TRAFFIC_CM && i < w->flow_count; i++)
		if (w->flow[i].class->tos)
			return w->flow[i].class;
	return w->flow_count ? w->flow[0].class : &w->t->spec.class[0];
}

/* The control queue pair retransmits in every mode. */
int traffic_connect_control(struct worker *w, struct err *e)
{
	struct qp_conn l = {
		.t = w->t,
		.qp = w->control,
		.class = traffic_control_class(w),
		.self = &w->control_self,
		.remote = &w->control_remote,
		.dest_qpn = w->control_remote.qpn,
		.gid = w->t->remote_gid,
		.timeout = traffic_control_timeout(&w->t->spec, w->t->soft),
	};
	int err = qp_to_rtr(&l, e);

	return err ? err : qp_to_rts(&l, e);
}

int qp_flow_set_error(struct qp_flow *f, struct err *e)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return traffic_set_state(f->worker->t, f->qp, &attr, IBV_QP_STATE, "ERROR", e);
}

static int qp_reset(struct qp_flow *f, struct ibv_qp *qp, struct err *e)
{
	struct traffic *t = f->worker->t;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	int err = traffic_set_state(t, qp, &attr, IBV_QP_STATE, "RESET", e);

	if (!err)
		err = qp_to_init(t, qp, worker_access(f->worker), e);
	return err ? err : qp_connect(f, qp, e);
}

int qp_flow_reset(struct qp_flow *f, struct err *e)
{
	int err = f->target ? qp_reset(f, f->target, e) : 0;

	return err || !f->qp ? err : qp_reset(f, f->qp, e);
}

/* Extended reliable connections (IBTA vol 1, annex A14): each direction of a flow has its own queue
 * pair. The receiving one (IBV_QPT_XRC_RECV) has neither receives nor memory; each request names
 * the shared receive queue, even a request that consumes no receive. Each flow has its own receive
 * queue here, so that message n is the n-th receive as with RC. */

#define FIRST_QPN 2 /* 0 and 1 are for management */

static bool qp_wants_xrc(const struct traffic *t)
{
	bool wanted = false;

	for (unsigned int i = 0; i < t->spec.class_count; i++)
		wanted |= t->spec.class[i].transport == TRAFFIC_XRC;
	return wanted;
}

int traffic_check_xrc(const struct traffic *t, struct err *e)
{
	if (!qp_wants_xrc(t) || t->limits.device_cap_flags & IBV_DEVICE_XRC)
		return 0;
	err_set(e, -EOPNOTSUPP, "%s does not support XRC: no IBV_DEVICE_XRC capability",
		t->spec.ibdev);
	err_hint(e, "take RC");
	return -EOPNOTSUPP;
}

/* Private domain: no file by which other processes could open it. */
int traffic_open_xrcd(struct traffic *t, struct err *e)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	if (!qp_wants_xrc(t))
		return 0;
	t->xrcd = ibv_open_xrcd(t->ctx, &init);
	return t->xrcd ? 0 : err_sys(e, -errno, "%s: XRC domain", t->spec.ibdev);
}

static int qp_open_srq(struct qp_flow *f, struct err *e)
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

int qp_flow_open_target(struct qp_flow *f, struct err *e)
{
	struct traffic *t = f->worker->t;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = t->xrcd,
	};
	int err = qp_open_srq(f, e);

	if (err)
		return err;
	f->target = ibv_create_qp_ex(t->ctx, &init);
	if (!f->target)
		return err_sys(e, -errno, "%s: receiving XRC queue pair %u", t->spec.ibdev,
			       f->index);
	f->self.target_qpn = f->target->qp_num;
	return 0;
}

void qp_flow_close_srq(struct qp_flow *f)
{
	if (f->srq)
		ibv_destroy_srq(f->srq);
}

/* Numbers were checked to be below 2^24; a receive queue may have number 0. */
int qp_flow_check_xrc(const struct qp_flow *f, struct err *e)
{
	const char *ibdev = f->worker->t->spec.ibdev;

	if (f->class->transport != TRAFFIC_XRC)
		return 0;
	if (f->tx.on && f->remote.target_qpn < FIRST_QPN)
		return err_set(e, -EPROTO,
			       "%s: class %u QP %u: the peer has no receiving XRC queue pair",
			       ibdev, f->class_index, f->number);
	if (f->rx.on && f->remote.qpn < FIRST_QPN)
		return err_set(e, -EPROTO,
			       "%s: class %u QP %u: the peer has no sending XRC queue pair", ibdev,
			       f->class_index, f->number);
	return 0;
}
