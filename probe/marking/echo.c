/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One end of a marking echo: device, memory, queue pairs and address handles.
 */
#include "probe/marking/echo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/marking/echo_end.h"
#include "probe/traffic/traffic_pattern.h"

#define HOP_LIMIT 64

static uint32_t qkey(const struct echo *x)
{
	return (uint32_t)x->spec.seed & 0x7fffffff; /* the high bit is the kernel's */
}

/* Labels of neighbours differ in the port that comes of them, and are never 0, which is none. */
static uint32_t flow_label(unsigned int path)
{
	return path * 61 + 1;
}

uint16_t echo_path_port(const struct echo *x, unsigned int path)
{
	return x->device.soft ? echo_soft_port(x->qp[path]->qp_num)
			      : echo_label_port(flow_label(path));
}

static int set_state(struct echo *x, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     const char *step, struct err *e)
{
	int rc = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	return rc ? err_sys(e, -rc, "%s: queue pair 0x%x to %s", x->spec.ibdev, qp->qp_num, step)
		  : 0;
}

static int to_rts(struct echo *x, struct ibv_qp *qp, struct err *e)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = x->spec.ib_port, .qkey = qkey(x)};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	int err = set_state(x, qp, &init, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, "INIT", e);

	if (!err)
		err = set_state(x, qp, &rtr, 0, "RTR", e);
	return err ? err : set_state(x, qp, &rts, IBV_QP_SQ_PSN, "RTS", e);
}

static int open_queues(struct echo *x, struct err *e)
{
	const char *name = x->spec.ibdev;
	int err = 0;

	x->cq = ibv_create_cq(x->device.ctx, ECHO_RECEIVES + ECHO_SENDS + 2, NULL, NULL, 0);
	if (!x->cq)
		return err_sys(e, -errno, "%s: completion queue", name);
	for (unsigned int i = 0; i < x->path_count && !err; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = x->cq,
			.recv_cq = x->cq,
			.cap = {.max_send_wr = ECHO_SENDS,
				.max_recv_wr = i ? 1 : ECHO_RECEIVES,
				.max_send_sge = 1,
				.max_recv_sge = 1},
			.qp_type = IBV_QPT_UD,
		};

		x->qp[i] = ibv_create_qp(x->device.pd, &init);
		err = x->qp[i] ? to_rts(x, x->qp[i], e)
			       : err_sys(e, -errno, "%s: UD queue pair %u", name, i);
	}
	return err;
}

static uint32_t longest(const struct echo *x)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < x->flow_count; i++)
		for (unsigned int k = 0; k < 2; k++)
			if (x->flow[i].bytes[k] > most)
				most = x->flow[i].bytes[k];
	return most;
}

static int open_memory(struct echo *x, struct err *e)
{
	x->stride = (longest(x) + ECHO_HEADER_BYTES + 63) & ~63u;
	for (unsigned int i = 0; i < ECHO_SENDS; i++)
		x->unused[x->unused_count++] = (uint16_t)i;
	return traffic_map(&x->device, (size_t)x->stride * (ECHO_RECEIVES + ECHO_SENDS),
			   IBV_ACCESS_LOCAL_WRITE, &x->memory, &x->memory_bytes, &x->mr, e);
}

int echo_open(const struct echo_spec *s, struct echo **out, struct err *e)
{
	struct echo *x;
	int err = echo_spec_check(s, e);

	if (err)
		return err;
	x = calloc(1, sizeof(*x));
	if (!x)
		return err_sys(e, -ENOMEM, "marking echo");
	x->spec = *s;
	memcpy(x->device.spec.ibdev, s->ibdev, sizeof(s->ibdev));
	x->device.spec.ib_port = s->ib_port;
	x->device.spec.gid_index = s->gid_index;
	x->path_count = echo_paths(s);
	x->flow_count = echo_flows(s, x->flow);
	err = traffic_open_device(&x->device, e);
	if (!err)
		err = open_memory(x, e);
	if (!err)
		err = open_queues(x, e);
	if (err)
		echo_close(x);
	else
		*out = x;
	return err;
}

void echo_close(struct echo *x)
{
	if (!x)
		return;
	for (unsigned int i = 0; i < x->flow_count; i++)
		if (x->ah[i])
			ibv_destroy_ah(x->ah[i]);
	for (unsigned int i = 0; i < x->path_count; i++)
		if (x->qp[i])
			ibv_destroy_qp(x->qp[i]);
	if (x->cq)
		ibv_destroy_cq(x->cq);
	if (x->mr)
		ibv_dereg_mr(x->mr);
	if (x->memory)
		munmap(x->memory, x->memory_bytes);
	if (x->device.pd)
		ibv_dealloc_pd(x->device.pd);
	if (x->device.ctx)
		ibv_close_device(x->device.ctx);
	free(x);
}

void echo_self(const struct echo *x, struct traffic_peer *self)
{
	*self = x->device.self;
	self->qp_count = 1;
	self->qp[0] = (struct traffic_peer_qp){.qpn = x->qp[0]->qp_num};
}

static int make_handle(struct echo *x, unsigned int i, const uint8_t gid[16], struct err *e)
{
	const struct echo_class *c = &x->spec.class[x->flow[i].class];
	struct ibv_ah_attr ah = {
		.is_global = 1,
		.port_num = x->spec.ib_port,
		.sl = c->sl,
		.grh = {.sgid_index = (uint8_t)x->spec.gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = c->tos,
			.flow_label = flow_label(x->flow[i].path)},
	};

	memcpy(ah.grh.dgid.raw, gid, sizeof(ah.grh.dgid.raw));
	x->ah[i] = ibv_create_ah(x->device.pd, &ah);
	return x->ah[i] ? 0 : err_sys(e, -errno, "%s: address handle", x->spec.ibdev);
}

int echo_connect(struct echo *x, const struct traffic_peer *peer, struct err *e)
{
	int err = 0;

	if (peer->qp_count != 1)
		return err_set(e, -EPROTO, "marking echo: the peer has %u queue pairs, not 1",
			       peer->qp_count);
	x->peer = peer->qp[0];
	for (unsigned int i = 0; i < x->flow_count && !err; i++)
		err = make_handle(x, i, peer->gid, e);
	for (unsigned int i = 0; i < ECHO_RECEIVES && !err; i++) {
		err = echo_post_receive(x, i);
		if (err)
			err_sys(e, err, "%s: receive", x->spec.ibdev);
	}
	x->connected = !err;
	return err;
}

int echo_post_receive(struct echo *x, unsigned int n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(x->memory + (size_t)n * x->stride),
		.length = x->stride,
		.lkey = x->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1}, *bad;

	return -ibv_post_recv(x->qp[0], &wr, &bad);
}

int echo_send(struct echo *x, unsigned int flow, uint32_t kind, uint32_t sequence, uint32_t slot)
{
	const struct echo_flow *f = &x->flow[flow];
	const struct pattern_id id = {x->spec.seed, sequence, slot, kind, flow};
	uint32_t bytes = f->bytes[kind == ECHO_ANSWER];
	struct ibv_send_wr wr = {
		.num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge = {.length = bytes, .lkey = x->mr->lkey};
	struct ibv_send_wr *bad;
	unsigned int n;
	int rc;

	if (!x->unused_count)
		return -EAGAIN;
	n = x->unused[x->unused_count - 1] + ECHO_RECEIVES;
	sge.addr = (uintptr_t)(x->memory + (size_t)n * x->stride);
	wr.wr_id = n;
	wr.sg_list = &sge;
	wr.wr.ud.ah = x->ah[flow];
	wr.wr.ud.remote_qpn = x->peer.qpn;
	wr.wr.ud.remote_qkey = qkey(x);
	pattern_fill((void *)(uintptr_t)sge.addr, bytes, &id);
	rc = ibv_post_send(x->qp[f->path], &wr, &bad);
	if (!rc)
		x->unused_count--;
	return rc == ENOMEM ? -EAGAIN : -rc;
}
