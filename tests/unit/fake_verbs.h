/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libibverbs of one process, in place of the real one: two ends of traffic in two threads, whose
 * requests are done at once by copying. It loses, repeats and spoils what it is told to. What is
 * not as on a device: there is no time between a post and its completion. The receive queues and
 * domains of XRC are in fake_xrc.h; what a state of a queue pair wants is in fake_states.h.
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
#include <time.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_query_port
#undef ibv_get_device_list

#define FAKE_QPS	 1024
#define FAKE_FIRST_QPN	 16
#define FAKE_MTU	 4096
#define FAKE_RECEIVE_MAX 8192

/* An address handle, with what it was made of. */
struct fake_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

struct fake_pd {
	struct ibv_pd pd;
	_Atomic unsigned int users;
};

struct fake_completion {
	struct ibv_wc wc;
	uint64_t due_ns;
};

struct fake_cq {
	struct ibv_cq cq;
	_Atomic unsigned int users;
	struct fake_completion *ring;
	uint64_t head, tail, size;
	bool armed;
	uint64_t polls;	    /* when fake.timed is set */
	uint64_t poller_ns; /* CPU time of the thread at the last one */
};

struct fake_receive {
	uint64_t wr_id;
	struct ibv_sge sge;
};

/* Receives that were posted, and where they are told of. */
struct fake_queue {
	struct fake_cq *cq;
	struct fake_receive *receive;
	uint64_t head, tail;
};

struct fake_xrcd {
	struct ibv_xrcd xrcd;
	_Atomic unsigned int users;
};

struct fake_srq {
	struct ibv_srq srq;
	struct fake_xrcd *xrcd;
	struct fake_queue queue;
	uint32_t number, size;
	struct fake_srq *next;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_cq *cq;
	bool in_use;
	struct fake_xrcd *xrcd;	 /* XRC that receives */
	struct ibv_qp_attr attr; /* as set */
	uint32_t peer_qpn;
	uint8_t retries;
	struct fake_queue queue;
	uint64_t sent; /* messages, in all its lives */
	bool waiting;  /* for an answer that does not come */
	uint64_t waiting_id;
};

/* What the test wants, and what it may ask afterwards. */
static struct {
	pthread_mutex_t lock;
	struct fake_qp qp[FAKE_QPS];
	/* That are there now. Both ends make objects, each in threads of its own. */
	_Atomic unsigned int qps, mrs, cqs, ahs, pds, srqs, xrcds;
	/* Wished away while something needs them: as the kernel, refused. */
	_Atomic unsigned int busy;
	unsigned int bad_state; /* changes of state that the kernel refuses */
	_Atomic uint64_t steps;
	uint64_t fail_at;     /* this one of making and changing objects fails */
	struct fake_srq *srq; /* all of them */
	/* Of data: message number `lose_at` of each queue pair that is no WRITE with immediate on
	 * RC, and each lose_every-th one after it; UINT64_MAX: none. */
	uint64_t lose_at, lose_every, lost;
	uint64_t *ends_at_loss; /* becomes 0 with the first one; NULL: nothing does */
	uint64_t unacked_at; /* this one comes, and its ACK does not: of RC that repeats nothing */
	uint64_t spoil_at;   /* a byte of this message is flipped */
	uint64_t kill_at;    /* data of RC: lost with all its repetitions */
	uint64_t down_at;    /* the port goes down with this message of a queue pair */
	bool down;
	uint64_t repeat_at;	/* UC and UD: comes twice */
	uint64_t swap_at;	/* UC and UD: comes after the next one */
	bool silent;		/* nothing tells of a loss, and there is no timer */
	bool mute;		/* control: nothing comes any more, nor is told of */
	unsigned int late_ms;	/* what is told of data that was sent, after the post */
	unsigned int still_ms;	/* once, who polls a queue with more than it takes */
	unsigned int not_ready; /* messages that found no receive */
	uint64_t posts, post_lists;
	bool no_inline;
	bool dmabuf; /* the device takes such memory */
	bool xrc;
	bool no_query;		/* queue pairs do not tell what they are */
	unsigned int tos_shift; /* and tell their ToS with so many bits less */
	bool timed;		/* polls are counted, with the time of who polls */
	bool no_memory;		/* registering fails: the limit of locked memory */
	/* UD: makes the 40 bytes ahead of a datagram; false: it is lost. NULL: they are left. */
	/* Data that is posted, and each completion that is handed out, under the lock; and a time
	 * at which a thread may be made to stand still: before a post, after it, and before a poll.
	 */
	void (*on_post)(const struct ibv_send_wr *wr, uint32_t qpn);
	void (*on_poll)(const struct ibv_wc *wc);
	void (*on_pause)(void);
	unsigned int burst_ms; /* completions of data come together at multiples of it */
	bool (*way)(const struct ibv_ah_attr *ah, uint32_t from_qpn, uint32_t bytes,
		    uint8_t head[40]);
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fake_reset(void)
{
	fake.unacked_at = UINT64_MAX;
	fake.lose_at = fake.spoil_at = fake.repeat_at = fake.swap_at = fake.kill_at = UINT64_MAX;
	fake.fail_at = UINT64_MAX;
	fake.steps = 0;
	fake.busy = fake.bad_state = 0;
	fake.lose_every = fake.lost = fake.posts = fake.post_lists = 0;
	fake.not_ready = fake.tos_shift = 0;
	fake.no_query = fake.timed = false;
	fake.late_ms = fake.still_ms = 0;
	fake.mute = false;
	fake.no_inline = fake.silent = fake.down = fake.dmabuf = fake.xrc = fake.no_memory = false;
	fake.down_at = UINT64_MAX;
	fake.ends_at_loss = NULL;
	fake.way = NULL;
	fake.on_post = NULL;
	fake.on_poll = NULL;
	fake.on_pause = NULL;
	fake.burst_ms = 0;
}

static uint64_t fake_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct fake_cq *c = (struct fake_cq *)cq;
	struct timespec cpu;
	int i = 0;

	if (fake.on_pause)
		fake.on_pause();
	if (fake.timed && !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu)) {
		c->polls++;
		c->poller_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	}
	pthread_mutex_lock(&fake.lock);
	if (fake.still_ms && c->head - c->tail > (uint64_t)n) {
		usleep(1000 * fake.still_ms);
		fake.still_ms = 0;
	}
	for (; i < n && c->tail < c->head; i++) {
		const struct fake_completion *next = &c->ring[c->tail % c->size];

		if (next->due_ns && next->due_ns > fake_now_ns())
			break;
		wc[i] = next->wc;
		if (fake.on_poll)
			fake.on_poll(&wc[i]);
		c->tail++;
	}
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

static void fake_push(const struct fake_qp *q, struct fake_cq *c, uint64_t wr_id,
		      enum ibv_wc_status status, enum ibv_wc_opcode opcode, uint32_t bytes,
		      __be32 imm, bool with_imm)
{
	bool data = !(opcode & IBV_WC_RECV) && wr_id >> 32 != UINT32_MAX;
	uint64_t burst_ns = fake.burst_ms * UINT64_C(1000000);
	struct fake_completion *last = &c->ring[c->head % c->size];
	const uint64_t one = 1;

	if (c->head - c->tail >= c->size)
		abort(); /* a completion queue that overruns is an error of the program */
	c->head++;
	last->due_ns = data && fake.late_ms ? fake_now_ns() + fake.late_ms * UINT64_C(1000000) : 0;
	if (data && burst_ns)
		last->due_ns = (fake_now_ns() / burst_ns + 1) * burst_ns;
	last->wc = (struct ibv_wc){
		.wr_id = wr_id,
		.status = status,
		.opcode = opcode,
		.byte_len = bytes,
		.imm_data = imm,
		.wc_flags = with_imm ? IBV_WC_WITH_IMM : 0,
		.qp_num = q->qp.qp_num,
	};
	if (c->armed && c->cq.channel && write(c->cq.channel->fd, &one, sizeof(one)) == sizeof(one))
		c->armed = false;
}

static struct fake_qp *fake_find(uint32_t qpn)
{
	uint32_t i = qpn - FAKE_FIRST_QPN;

	return i < FAKE_QPS && fake.qp[i].in_use ? &fake.qp[i] : NULL;
}

/* One of making and changing objects; true: it is the one that fails. */
static bool fake_fails(void)
{
	if (fake.steps++ != fake.fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

static bool fake_reliable(const struct fake_qp *q)
{
	return q->qp.qp_type == IBV_QPT_RC || q->qp.qp_type == IBV_QPT_XRC_SEND;
}

static struct fake_srq *fake_find_srq(const struct fake_qp *target, uint32_t number)
{
	struct fake_srq *s = fake.srq;

	while (s && (s->number != number || s->xrcd != target->xrcd))
		s = s->next;
	return s;
}

/* What receives for a queue pair; NULL: XRC, and its domain has no such receive queue. */
static struct fake_queue *fake_queue_of(struct fake_qp *to, const struct ibv_send_wr *wr)
{
	struct fake_srq *s;

	if (to->qp.qp_type != IBV_QPT_XRC_RECV)
		return &to->queue;
	s = fake_find_srq(to, wr->qp_type.xrc.remote_srqn);
	return s ? &s->queue : NULL;
}

/* Both queue pairs of XRC are of one connection, and agree on its sequence. */
static bool fake_connected(const struct fake_qp *from, const struct fake_qp *to)
{
	if (from->qp.qp_type != IBV_QPT_XRC_SEND)
		return to->qp.qp_type != IBV_QPT_XRC_RECV;
	return to->qp.qp_type == IBV_QPT_XRC_RECV && to->peer_qpn == from->qp.qp_num &&
	       to->attr.rq_psn == from->attr.sq_psn;
}

static uint32_t fake_bytes(const struct ibv_send_wr *wr)
{
	return wr->num_sge ? wr->sg_list[0].length : 0;
}

/* What the way to a UD queue pair makes of a datagram; false: it is lost. */
static bool fake_passes(const struct fake_qp *from, const struct ibv_send_wr *wr, uint8_t head[40])
{
	const struct fake_ah *ah = (const struct fake_ah *)wr->wr.ud.ah;

	return fake.way(&ah->attr, from->qp.qp_num, fake_bytes(wr), head);
}

/* Through a receive of the peer; -1: there is none. */
static int fake_deliver(const struct fake_qp *from, struct fake_qp *to,
			const struct ibv_send_wr *wr)
{
	bool write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool with_imm = write || wr->opcode == IBV_WR_SEND_WITH_IMM;
	uint32_t head = to->qp.qp_type == IBV_QPT_UD ? 40 : 0, bytes = fake_bytes(wr);
	struct fake_queue *queue = fake_queue_of(to, wr);
	uint8_t way[40] = {0};
	struct fake_receive *r;

	if (head && fake.way && !fake_passes(from, wr, way))
		return 0;
	if (queue->tail == queue->head)
		return -1;
	r = &queue->receive[queue->tail++ % FAKE_RECEIVE_MAX];
	if (head && fake.way)
		memcpy((uint8_t *)(uintptr_t)r->sge.addr, way, sizeof(way));
	if (!write)
		memcpy((uint8_t *)(uintptr_t)r->sge.addr + head,
		       (void *)(uintptr_t)wr->sg_list[0].addr, bytes);
	fake_push(to, queue->cq, r->wr_id, IBV_WC_SUCCESS,
		  write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, bytes + head, wr->imm_data,
		  with_imm);
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

static int fake_do(const struct fake_qp *from, struct fake_qp *to, const struct ibv_send_wr *wr,
		   uint64_t n)
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
		return fake_deliver(from, to, wr);
	default:
		if (fake_spoils(n))
			here[fake_bytes(wr) / 2] ^= 1;
		return fake_deliver(from, to, wr);
	}
}

static bool fake_loses(const struct fake_qp *q, const struct ibv_send_wr *wr, uint64_t n)
{
	bool control = q->qp.qp_type == IBV_QPT_RC && wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool lost = n == fake.lose_at || (fake.lose_every && n > fake.lose_at &&
					  !((n - fake.lose_at) % fake.lose_every));

	if (control || !lost)
		return false;
	if (!fake.lost++ && fake.ends_at_loss)
		*fake.ends_at_loss = 0;
	return true;
}

/* The status of one request. */
static enum ibv_wc_status fake_one(struct fake_qp *q, struct ibv_send_wr *wr)
{
	bool reliable = fake_reliable(q);
	uint32_t qpn = q->qp.qp_type == IBV_QPT_UD ? wr->wr.ud.remote_qpn : q->peer_qpn;
	struct fake_qp *to = fake_find(qpn);
	uint64_t n = q->sent++;

	if (n == fake.down_at)
		fake.down = true;
	if (fake.down && q->qp.state != IBV_QPS_ERR)
		return IBV_WC_LOC_QP_OP_ERR;
	if (q->qp.state == IBV_QPS_ERR)
		return IBV_WC_WR_FLUSH_ERR;
	if (wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM && n == fake.kill_at)
		return IBV_WC_RETRY_EXC_ERR;
	if (!to || to->qp.state < IBV_QPS_RTR || !fake_connected(q, to) ||
	    (fake_loses(q, wr, n) && !q->retries))
		return reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
	if (!fake_queue_of(to, wr))
		return IBV_WC_REM_INV_REQ_ERR;
	if (fake_do(q, to, wr, n)) {
		fake.not_ready++;
		return reliable ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_SUCCESS;
	}
	if (reliable && !q->retries && n == fake.unacked_at)
		return IBV_WC_RETRY_EXC_ERR;
	if (!reliable && n == fake.repeat_at)
		(void)fake_do(q, to, wr, UINT64_MAX);
	return IBV_WC_SUCCESS;
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	enum ibv_wc_status status;

	(void)bad;
	if (fake.on_pause)
		fake.on_pause();
	pthread_mutex_lock(&fake.lock);
	fake.post_lists++;
	for (; wr; wr = wr->next) {
		fake.posts++;
		if (fake.on_post && wr->wr_id >> 32 != UINT32_MAX)
			fake.on_post(wr, qp->qp_num);
		if (fake.mute && wr->wr_id >> 32 == UINT32_MAX)
			continue;
		if (!fake_reliable(q) && q->sent == fake.swap_at && wr->next) {
			struct ibv_send_wr *second = wr->next;

			(void)fake_one(q, second);
			fake.swap_at = UINT64_MAX;
			(void)fake_one(q, wr);
			if (second->send_flags & IBV_SEND_SIGNALED)
				fake_push(q, q->cq, second->wr_id, IBV_WC_SUCCESS, IBV_WC_SEND, 0,
					  0, false);
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
			fake_push(q, q->cq, wr->wr_id, status, IBV_WC_SEND, 0, 0, false);
	}
	pthread_mutex_unlock(&fake.lock);
	if (fake.on_pause)
		fake.on_pause();
	return 0;
}

static int fake_queue_receives(struct fake_queue *q, struct ibv_recv_wr *wr)
{
	pthread_mutex_lock(&fake.lock);
	for (; wr; wr = wr->next) {
		struct fake_receive *r = &q->receive[q->head++ % FAKE_RECEIVE_MAX];

		r->wr_id = wr->wr_id;
		if (wr->num_sge)
			r->sge = wr->sg_list[0];
	}
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

/* Only what receives by itself has receives of its own. */
static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;

	(void)bad;
	return q->queue.receive ? fake_queue_receives(&q->queue, wr) : EINVAL;
}

#endif
