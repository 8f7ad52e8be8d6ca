/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads RDMA packet counters before and after a recording. Needs no privilege; its errors do not
 * stop the recording.
 */
#include "cmd/capture/capture_rdma.h"

#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"
#include "probe/host/snapshot.h"

struct rdma_watch {
	struct dcb *dcb;
	struct snapshot s; /* the first count ports are watched */
	unsigned int count;
};

static bool rdma_has_packets(const struct counters *c)
{
	return counters_has(c, METRIC_RDMA_RX_PACKETS, 0) ||
	       counters_has(c, METRIC_RDMA_TX_PACKETS, 0);
}

static int rdma_read_counters(struct rdma_watch *w, const struct port *p, struct counters *c)
{
	return counters_read(w->dcb, p->netdev, p->ibdev, p->ib_port, c, NULL);
}

static void rdma_keep_watched(struct rdma_watch *w, const char *name)
{
	for (unsigned int i = 0; i < w->s.port_count; i++) {
		struct port *p = &w->s.port[i];

		if ((!strcmp(p->netdev, name) || !strcmp(p->ibdev, name)) &&
		    !rdma_read_counters(w, p, &p->counters) && rdma_has_packets(&p->counters))
			w->s.port[w->count++] = *p;
	}
}

struct rdma_watch *rdma_watch_open(const char *name)
{
	struct rdma_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (!dcb_open(NULL, &w->dcb, NULL) && !snapshot_rdma_ports(w->dcb, &w->s, NULL))
		rdma_keep_watched(w, name);
	if (w->count)
		return w;
	rdma_watch_close(w);
	return NULL;
}

void rdma_watch_close(struct rdma_watch *w)
{
	if (!w)
		return;
	dcb_close(w->dcb);
	snapshot_clear(&w->s);
	free(w);
}

static uint64_t rdma_sum_packets(const struct counters *c)
{
	static const enum metric metrics[] = {METRIC_RDMA_RX_PACKETS, METRIC_RDMA_TX_PACKETS};
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(metrics); i++)
		if (counters_has(c, metrics[i], 0))
			sum += c->value[metrics[i]][0];
	return sum;
}

bool rdma_watch_bypassed(uint64_t counted, uint64_t recorded, uint64_t lost)
{
	return counted > 2 * (recorded + lost) && counted - (recorded + lost) > 64;
}

bool rdma_watch_packets(struct rdma_watch *w, uint64_t *packets, const char **ibdev)
{
	uint64_t sum = 0, most = 0;
	bool known = false;

	for (unsigned int i = 0; w && i < w->count; i++) {
		const struct port *p = &w->s.port[i];
		struct counters now, delta;
		uint64_t n;

		if (rdma_read_counters(w, p, &now))
			continue;
		counters_delta(&p->counters, &now, &delta, NULL);
		if (!rdma_has_packets(&delta))
			continue;
		n = rdma_sum_packets(&delta);
		if (!known || n > most) {
			most = n;
			*ibdev = p->ibdev;
		}
		known = true;
		sum += n;
	}
	if (known)
		*packets = sum;
	return known;
}
