/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the counters of the ports of `top`: once when asked (batch), or in a thread of its own, so
 * that a driver that answers slowly never holds the screen.
 */
#ifndef CMD_TOP_SAMPLER_H
#define CMD_TOP_SAMPLER_H

#include "cmd/top/top_rows.h"

struct dcb;
struct top_sampler; /* opaque */

/* The ports: those named (netdev or RDMA device), or all RDMA ports. -ENODEV when there is none.
 * Fills s without a reading. */
int top_ports_find(struct dcb *dcb, const char *const *names, unsigned int name_count,
		   struct top_sample *s, struct err *e);

/* One reading of every port. A port that is gone is marked; only -ENOMEM is an error. */
int top_sample_read(struct dcb *dcb, struct top_sample *s, struct err *e);

/* Starts a thread that takes over dcb and reads *s and on, each interval_ms. */
int top_sampler_start(struct dcb *dcb, const struct top_sample *s, unsigned int interval_ms,
		      struct top_sampler **sampler, struct err *e);

/* Copies the newest sample if it is newer than the one in *s. True if so. Never waits for a driver.
 */
bool top_sampler_get(struct top_sampler *sampler, struct top_sample *s);

void top_sampler_interval(struct top_sampler *sampler, unsigned int interval_ms);

/* Ends the thread and closes its dcb. One that hangs in the kernel is left behind: the process
 * ends. */
void top_sampler_stop(struct top_sampler *sampler);

#endif
