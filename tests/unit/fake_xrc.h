/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of XRC of fake_verbs.h: domains and their shared receive queues. Numbers of receive
 * queues are of the device: a wrong one may be that of another domain.
 */
#ifndef TESTS_FAKE_XRC_H
#define TESTS_FAKE_XRC_H

#include "tests/unit/fake_verbs.h"

#define FAKE_FIRST_SRQN 0x800

static struct ibv_xrcd *fake_open_xrcd(struct ibv_context *ctx, struct ibv_xrcd_init_attr *init)
{
	int mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct fake_xrcd *x;

	if (fake_fails())
		return NULL;
	if (!fake.xrc || init->comp_mask != (uint32_t)mask || init->fd != -1) {
		errno = EINVAL;
		return NULL;
	}
	x = calloc(1, sizeof(*x));
	x->xrcd.context = ctx;
	fake.xrcds++;
	return &x->xrcd;
}

/* What needs it has to be gone before. */
static int fake_close_xrcd(struct ibv_xrcd *xrcd)
{
	struct fake_xrcd *x = (struct fake_xrcd *)xrcd;

	if (x->users) {
		fake.busy++;
		return EBUSY;
	}
	fake.xrcds--;
	free(x);
	return 0;
}

static bool fake_srq_is_right(const struct ibv_srq_init_attr_ex *init)
{
	int mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
		   IBV_SRQ_INIT_ATTR_CQ;

	return init->srq_type == IBV_SRQT_XRC && init->comp_mask == (uint32_t)mask && init->pd &&
	       init->xrcd && init->cq && init->attr.max_wr && init->attr.max_wr <= FAKE_RECEIVE_MAX;
}

static struct ibv_srq *fake_create_srq(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *init)
{
	struct fake_srq *s;

	if (fake_fails())
		return NULL;
	if (!fake_srq_is_right(init)) {
		errno = EINVAL;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	s->srq.context = ctx;
	s->srq.pd = init->pd;
	s->xrcd = (struct fake_xrcd *)init->xrcd;
	s->queue.cq = (struct fake_cq *)init->cq;
	s->queue.receive = calloc(FAKE_RECEIVE_MAX, sizeof(*s->queue.receive));
	s->size = init->attr.max_wr;
	s->xrcd->users++;
	s->queue.cq->users++;
	((struct fake_pd *)init->pd)->users++;
	pthread_mutex_lock(&fake.lock);
	s->number = fake.srq ? fake.srq->number + 1 : FAKE_FIRST_SRQN;
	s->next = fake.srq;
	fake.srq = s;
	fake.srqs++;
	pthread_mutex_unlock(&fake.lock);
	return &s->srq;
}

static int fake_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	if (fake_fails())
		return ENOMEM;
	*number = ((struct fake_srq *)srq)->number;
	return 0;
}

static int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_srq *s = (struct fake_srq *)srq;
	uint64_t count;

	pthread_mutex_lock(&fake.lock);
	count = s->queue.head - s->queue.tail;
	pthread_mutex_unlock(&fake.lock);
	for (struct ibv_recv_wr *w = wr; w; w = w->next)
		count++;
	*bad = wr;
	return count > s->size ? ENOMEM : fake_queue_receives(&s->queue, wr);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct fake_srq *s = (struct fake_srq *)srq, **at = &fake.srq;

	pthread_mutex_lock(&fake.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	fake.srqs--;
	pthread_mutex_unlock(&fake.lock);
	s->xrcd->users--;
	s->queue.cq->users--;
	((struct fake_pd *)srq->pd)->users--;
	free(s->queue.receive);
	free(s);
	return 0;
}

#endif
