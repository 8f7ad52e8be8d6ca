/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the packets of the RDMA devices of an interface during a recording. Packets that the
 * device counts and the recording does not have bypassed the kernel.
 */
#ifndef CMD_CAPTURE_RDMA_H
#define CMD_CAPTURE_RDMA_H

#include <stdbool.h>
#include <stdint.h>

struct rdma_watch; /* opaque */

/* name: a netdev or an RDMA device. NULL without readable RDMA packet counters. */
struct rdma_watch *rdma_watch_open(const char *name);
void rdma_watch_close(struct rdma_watch *w);

/* Packets sent and received since rdma_watch_open(); false when unknown. ibdev: the device with the
 * most packets, owned by w. */
bool rdma_watch_packets(struct rdma_watch *w, uint64_t *packets, const char **ibdev);

/* True when the device counted clearly more packets than were recorded and lost by the recording; a
 * recording misses a few at its start and end. */
bool rdma_watch_bypassed(uint64_t counted, uint64_t recorded, uint64_t lost);

#endif
