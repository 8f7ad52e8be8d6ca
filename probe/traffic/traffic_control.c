/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exchanges credit tables between the workers of two hosts. A change is sent as one WRITE with
 * immediate of the whole table, with few outstanding at a time. The table is also sent every 500 ms
 * as a keepalive.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_worker.h"

#define UNDER_WAY_MAX 2u
#define HEARTBEAT_NS  (500 * NS_PER_MS)
#define RECEIVES_MIN  16u
#define RECEIVES_FLOW 10u /* unanswered control messages per flow, at most */
#define RECEIVES_MAX  4096u

int control_prepare(struct worker *w, struct err *e)
{
	size_t bytes = (w->flow_count ? w->flow_count : 1) * sizeof(struct credit_slot);
	struct traffic *t = w->t;

	w->control_receives = RECEIVES_MIN + RECEIVES_FLOW * w->flow_count;
	if (w->control_receives > RECEIVES_MAX)
		w->control_receives = RECEIVES_MAX;
	w->out = calloc(1, bytes);
	w->in = calloc(1, bytes);
	if (!w->out || !w->in)
		return err_sys(e, -ENOMEM, "traffic");
	w->out_mr = ibv_reg_mr(t->pd, w->out, bytes, IBV_ACCESS_LOCAL_WRITE);
	w->in_mr = ibv_reg_mr(t->pd, w->in, bytes,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!w->out_mr || !w->in_mr)
		return err_sys(e, -errno, "%s: registering memory", t->spec.ibdev);
	w->control_self.addr = (uintptr_t)w->in;
	w->control_self.rkey = w->in_mr->rkey;
	return 0;
}

static int control_post_receive(struct worker *w)
{
	struct ibv_recv_wr wr = {.wr_id = WR_ID(WR_CONTROL, 0)}, *bad;

	return ibv_post_recv(w->control, &wr, &bad);
}

int control_post_receives(struct worker *w, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->control_receives && !rc; i++)
		rc = control_post_receive(w);
	return rc ? err_sys(e, -rc, "%s: posting receives", w->t->spec.ibdev) : 0;
}

static void control_read_credit(struct qp_flow *f, const struct credit_slot *in)
{
	struct traffic *t = f->worker->t;

	if (in->flags & CREDIT_FAILED)
		traffic_fail(t, CAUSE_REMOTE_GONE, "the peer aborted");
	if (in->flags & CREDIT_STOP)
		f->worker->ending = true;
	if (in->flags & (CREDIT_RESET | CREDIT_RESUME))
		qp_flow_read_reset(f, in);
	if (f->tx.on)
		qp_flow_read_credit(f, in);
	if (f->rx.on)
		qp_flow_read_completed(f, in);
}

void control_completed(struct worker *w, const struct ibv_wc *wc)
{
	int rc;

	if (!(wc->opcode & IBV_WC_RECV)) {
		w->control_under_way--;
		return;
	}
	w->heard_ns = w->now_ns;
	for (unsigned int i = 0; i < w->flow_count; i++) {
		/* The peer may write during the read: read each number once. */
		const struct credit_slot in = *(volatile struct credit_slot *)&w->in[i];

		control_read_credit(&w->flow[i], &in);
	}
	rc = control_post_receive(w);
	if (rc)
		traffic_fail(w->t, CAUSE_LOCAL, "posting a receive: %s", strerror(rc));
}

void control_flush(struct worker *w)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)w->out,
		.length = w->flow_count * (uint32_t)sizeof(*w->out),
		.lkey = w->out_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = WR_ID(WR_CONTROL, 0),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = w->control_remote.addr, .rkey = w->control_remote.rkey},
	};
	struct ibv_send_wr *bad;
	int rc;

	if (w->now_ns - w->control_sent_ns >= HEARTBEAT_NS)
		w->dirty = true;
	if (!w->dirty || w->control_under_way >= UNDER_WAY_MAX || !w->flow_count)
		return;
	w->dirty = false;
	w->control_sent_ns = w->now_ns;
	rc = ibv_post_send(w->control, &wr, &bad);
	if (rc) {
		traffic_fail(w->t, CAUSE_LOCAL, "posting a credit: %s", strerror(rc));
		return;
	}
	w->control_under_way++;
	w->control_messages++;
}
