/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared buffer. Lossless priorities fill their part of it up to xoff, then their own headroom,
 * which lies beyond the shared buffer. Lossy ones take a queue's static limit and a share (alpha)
 * of what is free. Each frame remembers where it was accounted, so that it leaves from there.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>

uint64_t ingress_bytes(const struct ingress *in)
{
	return in->shared_bytes + in->headroom_bytes;
}

static void account(struct pool *pool, struct ingress *in, struct frame *f, bool headroom)
{
	uint64_t bytes;

	f->accounted = true;
	f->headroom = headroom;
	*(headroom ? &pool->headroom_bytes : &pool->shared_bytes) += f->len;
	*(headroom ? &in->headroom_bytes : &in->shared_bytes) += f->len;
	bytes = pool->shared_bytes + pool->headroom_bytes;
	if (bytes > pool->max_bytes)
		pool->max_bytes = bytes;
	if (ingress_bytes(in) > in->max_bytes)
		in->max_bytes = ingress_bytes(in);
}

static int admit_lossless(struct lab *lab, const struct box *box, struct port *in,
			  const struct frame *f, bool *headroom, enum drop_reason *why)
{
	const struct prio_config *c = &in->config.prio[f->prio];
	const struct ingress *i = &in->in[f->prio];
	bool fits = i->headroom_bytes + f->len <= c->headroom_bytes;
	bool fault = in->fault_headroom >> f->prio & 1;

	*headroom = i->shared_bytes + f->len > c->xoff_bytes ||
		    box->pool.shared_bytes + f->len > box->config->buffer_bytes;
	if (!*headroom || (fits && !fault))
		return 0;
	if (fits)
		fault_hit(lab, in, FAULT_HEADROOM_ZERO, 1u << f->prio);
	*why = DROP_HEADROOM;
	return -ENOBUFS;
}

static int admit_lossy(const struct box *box, const struct port *out, const struct frame *f,
		       enum drop_reason *why)
{
	const struct prio_config *c = &out->config.prio[f->prio];
	uint64_t queued = out->sched.queue[f->prio].bytes + f->len;
	uint64_t all = box->config->buffer_bytes, used = box->pool.shared_bytes;
	uint64_t free_bytes = all > used ? all - used : 0; /* it may have been made smaller */

	*why = DROP_STATIC;
	if (c->limit_bytes && queued > c->limit_bytes)
		return -ENOBUFS;
	*why = DROP_DYNAMIC;
	if (f->len > free_bytes || queued > free_bytes * box->config->alpha_percent / 100)
		return -ENOBUFS;
	return 0;
}

int buffer_admit(struct lab *lab, struct port *in, struct port *out, struct frame *f,
		 enum drop_reason *why)
{
	struct box *box = &lab->box[in->owner];
	bool headroom = false;
	int err;

	if (pfc_lossless(in) >> f->prio & 1)
		err = admit_lossless(lab, box, in, f, &headroom, why);
	else
		err = admit_lossy(box, out, f, why);
	if (!err) {
		f->in_port = lab_port_index(lab, in);
		account(&box->pool, &in->in[f->prio], f, headroom);
	}
	pfc_judge(lab, in, f->prio, headroom);
	return err;
}

void buffer_release(struct lab *lab, struct frame *f)
{
	struct port *in = &lab->port[f->in_port];
	struct pool *pool = &lab->box[in->owner].pool;
	struct ingress *i = &in->in[f->prio];

	if (!f->accounted)
		return;
	*(f->headroom ? &pool->headroom_bytes : &pool->shared_bytes) -= f->len;
	*(f->headroom ? &i->headroom_bytes : &i->shared_bytes) -= f->len;
	f->accounted = false;
	pfc_judge(lab, in, f->prio, false);
}

static uint64_t staged_bytes(const struct port *p)
{
	uint64_t bytes = 0;

	for (const struct frame *f = p->stage.head; f; f = f->next)
		bytes += f->accounted ? f->len : 0;
	return bytes;
}

bool buffer_exact(const struct lab *lab, unsigned int number)
{
	const struct box *box = &lab->box[number];
	uint64_t queued = 0, came_in = 0;

	for (unsigned int i = 0; i < box->port_count; i++) {
		const struct port *p = &lab->port[box->first_port + i];

		queued += staged_bytes(p);
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
			queued += p->sched.queue[prio].bytes;
			came_in += ingress_bytes(&p->in[prio]);
		}
	}
	return queued == came_in && came_in == box->pool.shared_bytes + box->pool.headroom_bytes;
}
