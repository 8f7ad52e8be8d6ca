/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which attributes a queue pair needs and may have on its way to RTS, by its type: as ib_core of
 * Linux 6.1 (qp_state_table), which refuses what lacks one and what has another.
 */
#ifndef TESTS_FAKE_STATES_H
#define TESTS_FAKE_STATES_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

struct fake_change {
	enum ibv_qp_state from, to;
	enum ibv_qp_type type;
	int must, may;
};

#define FAKE_BEGIN   (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define FAKE_WAY     (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define FAKE_EARLY   (IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX)
#define FAKE_ANSWERS (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define FAKE_REPEATS                                                                               \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define FAKE_LATE (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)

static const struct fake_change fake_changes[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UD, FAKE_BEGIN | IBV_QP_QKEY, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UC, FAKE_BEGIN | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_RC, FAKE_BEGIN | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_XRC_SEND, FAKE_BEGIN | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_XRC_RECV, FAKE_BEGIN | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UC, FAKE_WAY, FAKE_EARLY},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC, FAKE_WAY | FAKE_ANSWERS, FAKE_EARLY},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_XRC_SEND, FAKE_WAY, FAKE_EARLY},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_XRC_RECV, FAKE_WAY | FAKE_ANSWERS, FAKE_EARLY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UD, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_UC, IBV_QP_SQ_PSN, FAKE_LATE},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC, FAKE_REPEATS | IBV_QP_SQ_PSN,
	 FAKE_LATE | IBV_QP_MIN_RNR_TIMER},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_XRC_SEND, FAKE_REPEATS | IBV_QP_SQ_PSN, FAKE_LATE},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_XRC_RECV, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
	 FAKE_LATE | IBV_QP_MIN_RNR_TIMER},
};

/* From any state there is a way to RESET and to ERROR. */
static bool fake_may_change(const struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	size_t count = sizeof(fake_changes) / sizeof(*fake_changes);

	mask &= ~IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return !mask;
	for (size_t i = 0; i < count; i++) {
		const struct fake_change *c = &fake_changes[i];

		if (c->from == qp->state && c->to == to && c->type == qp->qp_type)
			return (mask & c->must) == c->must && !(mask & ~(c->must | c->may));
	}
	return false;
}

#endif
