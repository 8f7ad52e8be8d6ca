/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One port of a run: its counters around an idle baseline and around the load, what can be
 * attributed to the load, and who else used the port.
 */
#ifndef PROBE_RUN_PORT_H
#define PROBE_RUN_PORT_H

#include "probe/record/run.h"

/* Notes the RDMA device of a port; port NULL: none. */
void run_port_set_device(struct run_port *p, const struct port *port);

void run_port_set_reading(struct run_port *p, enum run_reading which, const struct counters *c);

/* Adds users as port_users_to_json() lists them, each process once; more than fit are counted.
 * -EINVAL. */
int run_port_add_users(struct run_port *p, const json_t *users, struct err *e);

/* Returns the time in ms after the last packet until the counters of a port include it: by the
 * sources of its readings, and for hardware at least as long as the slowest driver known. */
unsigned int run_port_settle_ms(const struct run_port *p);

/* True when the port counts sequence gaps or NAKs, by READ_LOAD_BEFORE: without them a loss that RC
 * repaired and a late response look alike. */
bool run_port_counts_loss(const struct run_port *p);

/* Computes the increase around the load (READ_LOAD_BEFORE) or the idle baseline
 * (READ_QUIET_BEFORE). False when one of the two readings is missing. reset may be NULL. */
bool run_port_delta(const struct run_port *p, enum run_reading first, struct counters *delta,
		    uint8_t reset[METRIC_COUNT]);

/* Computes the increase of the load less that expected from the baseline in the same time: what can
 * be attributed to the load. Without a baseline it is the increase of the load. */
bool run_port_net(const struct run_port *p, struct counters *net);

/* The port of a host with its readings, so that a probe can be judged again; facts: the same port
 * in the host's snapshot. NULL on -ENOMEM. */
json_t *run_port_to_json(const struct run_port *p, const char *host, const struct port *facts);

/* The metrics that are known, with class, source, and increase while idle and under load:
 * [{"metric","class","prio","idle","load","source"}, ..] for reports. NULL on -ENOMEM. */
json_t *run_port_growth_to_json(const struct run_port *p);

#endif
