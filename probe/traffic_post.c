/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Posting work requests of a traffic end. All sends are signaled: pacing and the release of a slot
 * need each completion, and the careful load of a validation does not feel it.
 */
#include "probe/traffic_end.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "probe/traffic_pattern.h"

uint8_t *traffic_slot(const struct traffic *t, uint64_t sequence)
{
	return t->ring + (size_t)(sequence % t->slots) * t->class->message_bytes;
}

uint8_t *traffic_receive_cell(const struct traffic *t, uint64_t n)
{
	uint64_t cells = t->spec.role == TRAFFIC_SERVER ? t->slots : TRAFFIC_CREDITS;

	return t->cells + (size_t)(TRAFFIC_CREDITS + n % cells) * TRAFFIC_CELL;
}

/* Where the n-th message comes in: SENDs to a server into their slot, all else is control. */
static int receive(struct traffic *t, uint64_t n)
{
	bool into_slot = t->spec.role == TRAFFIC_SERVER && t->class->verb == TRAFFIC_SEND;
	struct ibv_sge sge = {
		.addr = (uintptr_t)(into_slot ? traffic_slot(t, n) : traffic_receive_cell(t, n)),
		.length = into_slot ? t->class->message_bytes : TRAFFIC_CELL,
		.lkey = into_slot ? t->ring_mr->lkey : t->cells_mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1}, *bad;

	return -ibv_post_recv(t->qp, &wr, &bad);
}

int traffic_post_first(struct traffic *t, struct err *e)
{
	uint64_t count = t->spec.role == TRAFFIC_SERVER ? t->slots : TRAFFIC_CREDITS;

	for (uint64_t n = 0; n < count; n++) {
		int err = receive(t, n);

		if (err)
			return err_sys(e, err, "%s: posting receive %llu", t->spec.ibdev,
				       (unsigned long long)n);
	}
	return 0;
}

void traffic_post_receive(struct traffic_state *s, uint64_t n)
{
	int err = receive(s->t, n);

	if (err)
		traffic_fail(s, CAUSE_LOCAL, "posting receive %llu: %s", (unsigned long long)n,
			     strerror(-err));
}

static void post(struct traffic_state *s, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(s->t->qp, wr, &bad);

	if (rc)
		traffic_fail(s, CAUSE_LOCAL, "posting message %llu: %s",
			     (unsigned long long)wr->wr_id, strerror(rc));
}

void traffic_post_cell(struct traffic_state *s, unsigned int cell, uint64_t sequence, uint32_t kind)
{
	struct traffic *t = s->t;
	struct pattern_id id = {t->spec.seed, sequence, cell, kind, 0};
	uint8_t *p = t->cells + (size_t)cell * TRAFFIC_CELL;
	struct ibv_sge sge = {(uintptr_t)p, TRAFFIC_CELL, t->cells_mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = cell, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	pattern_fill(p, TRAFFIC_CELL, &id);
	post(s, &wr);
}

void traffic_post_message(struct traffic_state *s, uint64_t sequence, bool end)
{
	struct traffic *t = s->t;
	uint32_t slot = (uint32_t)(sequence % t->slots);
	uint32_t length = end ? TRAFFIC_CELL : t->class->message_bytes;
	struct pattern_id id = {t->spec.seed, sequence, slot, end ? PATTERN_END : PATTERN_DATA, 0};
	uint8_t *p = traffic_slot(t, sequence);
	struct ibv_sge sge = {(uintptr_t)p, length, t->ring_mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = sequence,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	if (t->class->verb == TRAFFIC_WRITE_IMM && !end) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htobe32((uint32_t)sequence);
		wr.wr.rdma.remote_addr = t->peer.qp[0].addr +
					 (uint64_t)slot * t->class->message_bytes;
		wr.wr.rdma.rkey = t->peer.qp[0].rkey;
	}
	pattern_fill(p, length, &id);
	post(s, &wr);
}
