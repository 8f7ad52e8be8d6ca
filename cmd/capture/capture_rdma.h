/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the RDMA devices of an interface do while it is recorded: packets that they count and the
 * recording does not have went past the kernel.
 */
#ifndef CMD_CAPTURE_RDMA_H
#define CMD_CAPTURE_RDMA_H

#include <stdbool.h>
#include <stdint.h>

struct rdma_watch; /* opaque */

/* name: a netdev or an RDMA device. NULL when it has no counters of RDMA packets, or they cannot be
 * read: then nothing is known. */
struct rdma_watch *rdma_watch_open(const char *name);
void rdma_watch_close(struct rdma_watch *w);

/* Packets sent and received since the begin; false when that is not known. ibdev is the device that
 * counted the most, w's own. */
bool rdma_watch_packets(struct rdma_watch *w, uint64_t *packets, const char **ibdev);

/* Whether the counters say that the recording has not all that the device sent and received: more
 * than the few that a recording misses at its begin and end. lost: by the recording itself. */
bool rdma_watch_bypassed(uint64_t counted, uint64_t recorded, uint64_t lost);

#endif
