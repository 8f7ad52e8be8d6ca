/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports of a run by host and netdev, sorted once: a document may name millions of pairs, and each
 * has two ends to be found among as many ports.
 */
#ifndef PROBE_RUN_INDEX_H
#define PROBE_RUN_INDEX_H

#include "probe/record/run.h"

struct run_index_port {
	const char *host, *netdev;     /* of the run */
	unsigned int host_at, port_at; /* run.host[host_at].port[port_at] */
};

struct run_index {
	struct run_index_port *port; /* owned, sorted */
	size_t count;
};

/* The run's hosts and ports must stay as they are while the index is used. -ENOMEM. The caller
 * calls run_index_clear(). */
int run_index_make(const struct run *r, struct run_index *index);
void run_index_clear(struct run_index *index);

/* Where the port is; the first of equal ones. -ENOENT. */
int run_index_find(const struct run_index *index, const char *host, const char *netdev,
		   unsigned int *host_at, unsigned int *port_at);

#endif
