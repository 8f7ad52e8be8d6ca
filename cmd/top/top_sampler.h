/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the counters of the ports of `top`: once per call (batch), or in a thread, so that a slow
 * driver never blocks the screen.
 */
#ifndef CMD_TOP_SAMPLER_H
#define CMD_TOP_SAMPLER_H

#include "cmd/top/top_rows.h"

struct dcb;
struct top_sampler; /* opaque */

/* Finds the named ports (netdev or RDMA device), or all RDMA ports. -ENODEV without any. Fills s
 * without a reading. */
int top_ports_find(struct dcb *dcb, const char *const *names, unsigned int name_count,
		   struct top_sample *s, struct err *e);

/* Reads every port once and marks ports that are gone; only -ENOMEM is an error. */
int top_sample_read(struct dcb *dcb, struct top_sample *s, struct err *e);

/* Starts a thread that owns dcb and reads the ports of *s every interval_ms. */
int top_sampler_start(struct dcb *dcb, const struct top_sample *s, unsigned int interval_ms,
		      struct top_sampler **sampler, struct err *e);

/* Copies the newest sample if it is newer than *s; true if so. Never waits for a driver. */
bool top_sampler_get(struct top_sampler *sampler, struct top_sample *s);

void top_sampler_interval(struct top_sampler *sampler, unsigned int interval_ms);

/* Ends the thread and closes its dcb. A thread that hangs in the kernel is left running: the
 * process ends anyway. */
void top_sampler_stop(struct top_sampler *sampler);

#endif
