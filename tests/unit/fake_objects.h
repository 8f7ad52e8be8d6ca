/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of fake_verbs.h: what a program opens, makes and gives back, counted.
 */
#ifndef TESTS_FAKE_OBJECTS_H
#define TESTS_FAKE_OBJECTS_H

#include "tests/unit/fake_states.h"
#include "tests/unit/fake_verbs.h"
#include "tests/unit/fake_xrc.h"

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device device = {.name = "fake0"};
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static struct ibv_qp *fake_create_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *init);

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *verbs = calloc(1, sizeof(*verbs));
	struct ibv_context *ctx = &verbs->context;

	verbs->sz = sizeof(*verbs);
	verbs->open_xrcd = fake_open_xrcd;
	verbs->close_xrcd = fake_close_xrcd;
	verbs->create_srq_ex = fake_create_srq;
	verbs->get_srq_num = fake_get_srq_num;
	verbs->create_qp_ex = fake_create_qp;
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ctx->device = device;
	ctx->async_fd = eventfd(0, EFD_CLOEXEC);
	ctx->ops.poll_cq = fake_poll_cq;
	ctx->ops.req_notify_cq = fake_notify;
	ctx->ops.post_send = fake_post_send;
	ctx->ops.post_recv = fake_post_recv;
	ctx->ops.post_srq_recv = fake_post_srq_recv;
	return ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	close(ctx->async_fd);
	free(verbs_get_ctx(ctx));
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	*attr = (struct ibv_device_attr){.device_cap_flags = fake.xrc ? IBV_DEVICE_XRC : 0,
					 .max_cqe = 32767,
					 .max_qp_rd_atom = 128,
					 .max_qp_init_rd_atom = 128};
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)out;

	(void)ctx;
	(void)port;
	attr->state = fake.down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	attr->active_mtu = IBV_MTU_4096;
	return 0;
}

int ibv_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid)
{
	(void)ctx;
	(void)port;
	(void)index;
	memset(gid, 1, sizeof(*gid));
	return 0;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	(void)ctx;
	(void)event;
	return -1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct fake_pd *p = fake_fails() ? NULL : calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pd.context = ctx;
	fake.pds++;
	return &p->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (((struct fake_pd *)pd)->users) {
		fake.busy++;
		return EBUSY;
	}
	fake.pds--;
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = fake.no_memory || fake_fails() ? NULL : calloc(1, sizeof(*mr));

	(void)access;
	if (!mr) {
		errno = ENOMEM;
		return NULL;
	}
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
	((struct fake_pd *)pd)->users++;
	fake.mrs++;
	return mr;
}

/* As the kernel has it: a driver without the call, or one that looks at the descriptor. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	errno = fake.dmabuf ? EBADF : EOPNOTSUPP;
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	((struct fake_pd *)mr->pd)->users--;
	fake.mrs--;
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *c = fake_fails() ? NULL : calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = ctx;
	c->fd = eventfd(0, EFD_CLOEXEC);
	return c;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *c)
{
	close(c->fd);
	free(c);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **cq, void **context)
{
	uint64_t count;

	*cq = NULL;
	*context = NULL;
	return read(c->fd, &count, sizeof(count)) == sizeof(count) ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int n, void *context,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *c = fake_fails() ? NULL : calloc(1, sizeof(*c));

	(void)vector;
	if (!c)
		return NULL;
	c->cq.context = ctx;
	c->cq.cq_context = context;
	c->cq.channel = channel;
	c->size = (uint64_t)n;
	c->ring = calloc((size_t)n, sizeof(*c->ring));
	fake.cqs++;
	return &c->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (((struct fake_cq *)cq)->users) {
		fake.busy++;
		return EBUSY;
	}
	free(((struct fake_cq *)cq)->ring);
	free(cq);
	fake.cqs--;
	return 0;
}

static struct fake_qp *fake_new_qp(struct ibv_context *ctx, enum ibv_qp_type type)
{
	unsigned int i = 0;
	struct fake_qp *q;

	pthread_mutex_lock(&fake.lock);
	while (i < FAKE_QPS && fake.qp[i].in_use)
		i++;
	q = &fake.qp[i];
	memset(q, 0, sizeof(*q));
	q->in_use = true;
	fake.qps++;
	pthread_mutex_unlock(&fake.lock);
	q->qp.context = ctx;
	q->qp.qp_num = FAKE_FIRST_QPN + i;
	q->qp.qp_type = type;
	return q;
}

/* As the kernel has it, XRC that sends has nothing to receive with. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	bool sends = init->qp_type == IBV_QPT_XRC_SEND;
	bool odd = sends && (init->recv_cq || init->cap.max_recv_wr || init->cap.max_recv_sge);
	struct fake_qp *q;

	if (fake_fails())
		return NULL;
	if ((fake.no_inline && init->cap.max_inline_data) || odd || (sends && !fake.xrc)) {
		errno = EINVAL;
		return NULL;
	}
	q = fake_new_qp(pd->context, init->qp_type);
	q->qp.pd = pd;
	q->cq = (struct fake_cq *)init->send_cq;
	q->queue.cq = (struct fake_cq *)init->recv_cq;
	if (!sends)
		q->queue.receive = calloc(FAKE_RECEIVE_MAX, sizeof(*q->queue.receive));
	((struct fake_pd *)pd)->users++;
	q->cq->users++;
	return &q->qp;
}

/* XRC that receives: a domain, and nothing else. */
static struct ibv_qp *fake_create_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *init)
{
	struct fake_qp *q;

	if (fake_fails())
		return NULL;
	if (init->qp_type != IBV_QPT_XRC_RECV || init->comp_mask != IBV_QP_INIT_ATTR_XRCD ||
	    init->send_cq || init->recv_cq || init->srq || !init->xrcd) {
		errno = EINVAL;
		return NULL;
	}
	q = fake_new_qp(ctx, init->qp_type);
	q->xrcd = (struct fake_xrcd *)init->xrcd;
	q->xrcd->users++;
	return &q->qp;
}

/* What a request meets, and what a test asks for afterwards. */
static void fake_set(struct fake_qp *q, const struct ibv_qp_attr *attr, int mask)
{
	q->attr.qp_state = attr->qp_state;
	if (mask & IBV_QP_ACCESS_FLAGS)
		q->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_AV)
		q->attr.ah_attr = attr->ah_attr;
	if (mask & IBV_QP_RQ_PSN)
		q->attr.rq_psn = attr->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		q->attr.sq_psn = attr->sq_psn;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		q->attr.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IBV_QP_RNR_RETRY)
		q->attr.rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_TIMEOUT)
		q->attr.timeout = attr->timeout;
	if (mask & IBV_QP_DEST_QPN)
		q->peer_qpn = attr->dest_qp_num;
	if (mask & IBV_QP_RETRY_CNT)
		q->retries = attr->retry_cnt;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	bool fails;

	pthread_mutex_lock(&fake.lock);
	fails = fake_fails();
	if (fails || !fake_may_change(qp, attr->qp_state, mask)) {
		fake.bad_state += !fails;
		pthread_mutex_unlock(&fake.lock);
		return fails ? ENOMEM : EINVAL;
	}
	qp->state = attr->qp_state;
	fake_set(q, attr, mask);
	if (attr->qp_state == IBV_QPS_ERR && q->waiting)
		fake_push(q, q->cq, q->waiting_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 0, 0, false);
	q->waiting = false;
	if (attr->qp_state == IBV_QPS_RESET)
		q->queue.head = q->queue.tail = 0;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	if (fake.no_query)
		return EOPNOTSUPP;
	attr->ah_attr = ((struct fake_qp *)qp)->attr.ah_attr;
	attr->ah_attr.grh.traffic_class = (uint8_t)(attr->ah_attr.grh.traffic_class >>
						    fake.tos_shift);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	if (q->xrcd)
		q->xrcd->users--;
	if (q->cq)
		q->cq->users--;
	if (qp->pd)
		((struct fake_pd *)qp->pd)->users--;
	/* Another end may take the place at once. */
	pthread_mutex_lock(&fake.lock);
	free(q->queue.receive);
	q->in_use = false;
	fake.qps--;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct fake_ah *ah = fake_fails() ? NULL : calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	ah->ah.pd = pd;
	((struct fake_pd *)pd)->users++;
	ah->attr = *attr;
	fake.ahs++;
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	((struct fake_pd *)ah->pd)->users--;
	fake.ahs--;
	free(ah);
	return 0;
}

#endif
