/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libibverbs of one process, in place of the real one: two ends of traffic in two threads, whose
 * requests are done at once by copying. It loses, repeats and spoils what it is told to. What is
 * not as on a device: there is no time between a post and its completion.
 */
#ifndef TESTS_FAKE_VERBS_H
#define TESTS_FAKE_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_query_port
#undef ibv_get_device_list

#define FAKE_QPS	 1024
#define FAKE_FIRST_QPN	 16
#define FAKE_MTU	 4096
#define FAKE_RECEIVE_MAX 8192

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc *wc;
	uint64_t head, tail, size;
	bool armed;
};

struct fake_receive {
	uint64_t wr_id;
	struct ibv_sge sge;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_cq *cq;
	bool in_use;
	uint32_t peer_qpn;
	uint8_t retries;
	struct fake_receive *receive;
	uint64_t receive_head, receive_tail;
	uint64_t sent; /* messages, in all its lives */
	bool waiting;  /* for an answer that does not come */
	uint64_t waiting_id;
};

/* What the test wants, and what it may ask afterwards. */
static struct {
	pthread_mutex_t lock;
	struct fake_qp qp[FAKE_QPS];
	unsigned int qps, mrs, cqs; /* that are there now */
	/* Of data: message number `lose_at` of each queue pair that is no WRITE with immediate on
	 * RC, and each lose_every-th one after it; UINT64_MAX: none. */
	uint64_t lose_at, lose_every, lost;
	uint64_t spoil_at;	/* a byte of this message is flipped */
	uint64_t kill_at;	/* data of RC: lost with all its repetitions */
	uint64_t repeat_at;	/* UC and UD: comes twice */
	uint64_t swap_at;	/* UC and UD: comes after the next one */
	bool silent;		/* nothing tells of a loss, and there is no timer */
	unsigned int not_ready; /* messages that found no receive */
	uint64_t posts, post_lists;
	bool no_inline;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fake_reset(void)
{
	fake.lose_at = fake.spoil_at = fake.repeat_at = fake.swap_at = fake.kill_at = UINT64_MAX;
	fake.lose_every = fake.lost = fake.posts = fake.post_lists = 0;
	fake.not_ready = 0;
	fake.no_inline = fake.silent = false;
}

static int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct fake_cq *c = (struct fake_cq *)cq;
	int i = 0;

	pthread_mutex_lock(&fake.lock);
	for (; i < n && c->tail < c->head; i++)
		wc[i] = c->wc[c->tail++ % c->size];
	pthread_mutex_unlock(&fake.lock);
	return i;
}

static int fake_notify(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	pthread_mutex_lock(&fake.lock);
	((struct fake_cq *)cq)->armed = true;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static void fake_push(struct fake_qp *q, uint64_t wr_id, enum ibv_wc_status status,
		      enum ibv_wc_opcode opcode, uint32_t bytes, __be32 imm, bool with_imm)
{
	const uint64_t one = 1;
	struct fake_cq *c = q->cq;

	if (c->head - c->tail >= c->size)
		abort(); /* a completion queue that overruns is an error of the program */
	c->wc[c->head++ % c->size] = (struct ibv_wc){
		.wr_id = wr_id,
		.status = status,
		.opcode = opcode,
		.byte_len = bytes,
		.imm_data = imm,
		.wc_flags = with_imm ? IBV_WC_WITH_IMM : 0,
		.qp_num = q->qp.qp_num,
	};
	if (c->armed && write(c->cq.channel->fd, &one, sizeof(one)) == sizeof(one))
		c->armed = false;
}

static struct fake_qp *fake_find(uint32_t qpn)
{
	uint32_t i = qpn - FAKE_FIRST_QPN;

	return i < FAKE_QPS && fake.qp[i].in_use ? &fake.qp[i] : NULL;
}

static uint32_t fake_bytes(const struct ibv_send_wr *wr)
{
	return wr->num_sge ? wr->sg_list[0].length : 0;
}

/* Through a receive of the peer; -1: there is none. */
static int fake_deliver(struct fake_qp *to, const struct ibv_send_wr *wr)
{
	bool write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool with_imm = write || wr->opcode == IBV_WR_SEND_WITH_IMM;
	uint32_t head = to->qp.qp_type == IBV_QPT_UD ? 40 : 0, bytes = fake_bytes(wr);
	struct fake_receive *r;

	if (to->receive_tail == to->receive_head)
		return -1;
	r = &to->receive[to->receive_tail++ % FAKE_RECEIVE_MAX];
	if (!write)
		memcpy((uint8_t *)(uintptr_t)r->sge.addr + head,
		       (void *)(uintptr_t)wr->sg_list[0].addr, bytes);
	fake_push(to, r->wr_id, IBV_WC_SUCCESS, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		  bytes + head, wr->imm_data, with_imm);
	return 0;
}

static bool fake_spoils(uint64_t n)
{
	return n != UINT64_MAX && n == fake.spoil_at;
}

static void fake_write(const struct ibv_send_wr *wr, uint64_t n)
{
	uint8_t *to = (uint8_t *)(uintptr_t)wr->wr.rdma.remote_addr;

	memcpy(to, (void *)(uintptr_t)wr->sg_list[0].addr, wr->sg_list[0].length);
	if (fake_spoils(n))
		to[wr->sg_list[0].length / 2] ^= 1;
}

static void fake_fetch(const struct ibv_send_wr *wr, uint64_t n)
{
	uint64_t *at = (uint64_t *)(uintptr_t)wr->wr.atomic.remote_addr;
	uint64_t *to = (uint64_t *)(uintptr_t)wr->sg_list[0].addr;

	*to = *at + (fake_spoils(n));
	*at += wr->wr.atomic.compare_add;
}

static int fake_do(struct fake_qp *to, const struct ibv_send_wr *wr, uint64_t n)
{
	uint8_t *here = (uint8_t *)(uintptr_t)wr->sg_list[0].addr;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		fake_write(wr, n);
		return 0;
	case IBV_WR_RDMA_READ:
		memcpy(here, (void *)(uintptr_t)wr->wr.rdma.remote_addr, fake_bytes(wr));
		here[fake_bytes(wr) / 2] ^= fake_spoils(n);
		return 0;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		fake_fetch(wr, n);
		return 0;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		fake_write(wr, to->qp.qp_type == IBV_QPT_RC && fake_bytes(wr) % 64 == 0 ? UINT64_MAX
											: n);
		return fake_deliver(to, wr);
	default:
		if (fake_spoils(n))
			here[fake_bytes(wr) / 2] ^= 1;
		return fake_deliver(to, wr);
	}
}

static bool fake_loses(const struct fake_qp *q, const struct ibv_send_wr *wr, uint64_t n)
{
	bool control = q->qp.qp_type == IBV_QPT_RC && wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool lost = n == fake.lose_at || (fake.lose_every && n > fake.lose_at &&
					  !((n - fake.lose_at) % fake.lose_every));

	if (control || !lost)
		return false;
	fake.lost++;
	return true;
}

/* The status of one request. */
static enum ibv_wc_status fake_one(struct fake_qp *q, struct ibv_send_wr *wr)
{
	bool reliable = q->qp.qp_type == IBV_QPT_RC;
	uint32_t qpn = q->qp.qp_type == IBV_QPT_UD ? wr->wr.ud.remote_qpn : q->peer_qpn;
	struct fake_qp *to = fake_find(qpn);
	uint64_t n = q->sent++;

	if (q->qp.state == IBV_QPS_ERR)
		return IBV_WC_WR_FLUSH_ERR;
	if (wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM && n == fake.kill_at)
		return IBV_WC_RETRY_EXC_ERR;
	if (!to || to->qp.state < IBV_QPS_RTR || (fake_loses(q, wr, n) && !q->retries))
		return reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
	if (fake_do(to, wr, n)) {
		fake.not_ready++;
		return reliable ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_SUCCESS;
	}
	if (!reliable && n == fake.repeat_at)
		(void)fake_do(to, wr, UINT64_MAX);
	return IBV_WC_SUCCESS;
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	enum ibv_wc_status status;

	(void)bad;
	pthread_mutex_lock(&fake.lock);
	fake.post_lists++;
	for (; wr; wr = wr->next) {
		fake.posts++;
		if (qp->qp_type != IBV_QPT_RC && q->sent == fake.swap_at && wr->next) {
			struct ibv_send_wr *second = wr->next;

			(void)fake_one(q, second);
			fake.swap_at = UINT64_MAX;
			(void)fake_one(q, wr);
			if (second->send_flags & IBV_SEND_SIGNALED)
				fake_push(q, second->wr_id, IBV_WC_SUCCESS, IBV_WC_SEND, 0, 0,
					  false);
			wr = second;
			continue;
		}
		status = fake_one(q, wr);
		if (status == IBV_WC_RETRY_EXC_ERR && fake.silent) {
			q->waiting = true;
			q->waiting_id = wr->wr_id;
			continue;
		}
		if (status != IBV_WC_SUCCESS)
			q->qp.state = IBV_QPS_ERR;
		if (status != IBV_WC_SUCCESS || wr->send_flags & IBV_SEND_SIGNALED)
			fake_push(q, wr->wr_id, status, IBV_WC_SEND, 0, 0, false);
	}
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	(void)bad;
	pthread_mutex_lock(&fake.lock);
	for (; wr; wr = wr->next) {
		struct fake_receive *r = &q->receive[q->receive_head++ % FAKE_RECEIVE_MAX];

		r->wr_id = wr->wr_id;
		if (wr->num_sge)
			r->sge = wr->sg_list[0];
	}
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

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
	*attr = (struct ibv_device_attr){
		.max_cqe = 32767, .max_qp_rd_atom = 128, .max_qp_init_rd_atom = 128};
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)out;

	(void)ctx;
	(void)port;
	attr->state = IBV_PORT_ACTIVE;
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
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)access;
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
	fake.mrs++;
	return mr;
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
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	(void)attr;
	ah->pd = pd;
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	return 0;
}

#endif
