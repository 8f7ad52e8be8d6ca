/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of fake_verbs.h: what a program opens, makes and gives back, counted.
 */
#ifndef TESTS_FAKE_OBJECTS_H
#define TESTS_FAKE_OBJECTS_H

#include "tests/unit/fake_verbs.h"

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

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *ctx = calloc(1, sizeof(*ctx));

	ctx->device = device;
	ctx->async_fd = eventfd(0, EFD_CLOEXEC);
	ctx->ops.poll_cq = fake_poll_cq;
	ctx->ops.req_notify_cq = fake_notify;
	ctx->ops.post_send = fake_post_send;
	ctx->ops.post_recv = fake_post_recv;
	return ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	close(ctx->async_fd);
	free(ctx);
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
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = ctx;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = fake.no_memory ? NULL : calloc(1, sizeof(*mr));

	(void)access;
	if (!mr) {
		errno = ENOMEM;
		return NULL;
	}
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
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
	fake.mrs--;
	free(mr);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *c = calloc(1, sizeof(*c));

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
	struct fake_cq *c = calloc(1, sizeof(*c));

	(void)vector;
	c->cq.context = ctx;
	c->cq.cq_context = context;
	c->cq.channel = channel;
	c->size = (uint64_t)n;
	c->wc = calloc((size_t)n, sizeof(*c->wc));
	fake.cqs++;
	return &c->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(((struct fake_cq *)cq)->wc);
	free(cq);
	fake.cqs--;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	unsigned int i = 0;
	struct fake_qp *q;

	if (fake.no_inline && init->cap.max_inline_data) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&fake.lock);
	while (i < FAKE_QPS && fake.qp[i].in_use)
		i++;
	q = &fake.qp[i];
	memset(q, 0, sizeof(*q));
	q->in_use = true;
	fake.qps++;
	pthread_mutex_unlock(&fake.lock);
	q->qp.context = pd->context;
	q->qp.qp_num = FAKE_FIRST_QPN + i;
	q->qp.qp_type = init->qp_type;
	q->cq = (struct fake_cq *)init->send_cq;
	q->receive = calloc(FAKE_RECEIVE_MAX, sizeof(*q->receive));
	return &q->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	pthread_mutex_lock(&fake.lock);
	qp->state = attr->qp_state;
	if (mask & IBV_QP_DEST_QPN)
		q->peer_qpn = attr->dest_qp_num;
	if (mask & IBV_QP_RETRY_CNT)
		q->retries = attr->retry_cnt;
	if (attr->qp_state == IBV_QPS_ERR && q->waiting)
		fake_push(q, q->waiting_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 0, 0, false);
	q->waiting = false;
	if (attr->qp_state == IBV_QPS_RESET)
		q->receive_head = q->receive_tail = 0;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	pthread_mutex_lock(&fake.lock);
	q->in_use = false;
	fake.qps--;
	pthread_mutex_unlock(&fake.lock);
	free(q->receive);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct fake_ah *ah = calloc(1, sizeof(*ah));

	ah->ah.pd = pd;
	ah->attr = *attr;
	fake.ahs++;
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	fake.ahs--;
	free(ah);
	return 0;
}

#endif
