/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reports/engine/packet_account.h"

/* False when a reading is missing, or the port counts no packets. */
static bool account_read(const struct run_port *p, enum run_reading first, struct counters *delta)
{
	return run_port_delta(p, first, delta, NULL) &&
	       counters_has(delta, METRIC_RDMA_TX_PACKETS, 0) &&
	       counters_has(delta, METRIC_RDMA_RX_PACKETS, 0);
}

void packet_account_add(struct packet_account *a, bool soft, const struct run_port *p)
{
	static const enum metric signs[] = {METRIC_OUT_OF_SEQUENCE, METRIC_SEQ_NAK_RX,
					    METRIC_RETRANSMITS, METRIC_DUPLICATE_REQUEST};
	struct counters delta;

	if (!soft || !p || !account_read(p, READ_LOAD_BEFORE, &delta)) {
		a->known = false;
		return;
	}
	a->sent += delta.value[METRIC_RDMA_TX_PACKETS][0];
	a->arrived += delta.value[METRIC_RDMA_RX_PACKETS][0];
	for (unsigned int i = 0; i < ARRAY_SIZE(signs); i++)
		a->repaired += counters_has(&delta, signs[i], 0) ? delta.value[signs[i]][0] : 0;
	a->quiet &= account_read(p, READ_QUIET_BEFORE, &delta) &&
		    !delta.value[METRIC_RDMA_TX_PACKETS][0] &&
		    !delta.value[METRIC_RDMA_RX_PACKETS][0];
}

uint64_t packet_account_missing(const struct packet_account *a)
{
	return a->known && a->arrived < a->sent ? a->sent - a->arrived : 0;
}
