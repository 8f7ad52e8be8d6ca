/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct port_ctx: one port with everything a check needs: its snapshot, its place in the run, the
 * expected settings, counter deltas, and the flows of its own and of its remote ports. Walking
 * ports and testing that evidence exists are done here, so that checks stay short.
 */
#ifndef REPORTS_PORT_CTX_H
#define REPORTS_PORT_CTX_H

#include "reports/engine/port_pairs.h"
#include "reports/engine/rule.h"

/* Borrowed pointers, valid as long as the rule_context. */
struct port_ctx {
	const struct rule_context *c;
	const struct profile *profile;
	const struct qos *want;
	const struct run_host *host;
	const struct run_port *run_port; /* NULL: no inventory names the port */
	const struct port *port;	 /* NULL: the host has no such port */
	const char *name;		 /* netdev */
	unsigned int host_index;	 /* in run->host[] */
	unsigned int port_index;	 /* of run_port, in run->host[].port[] */
	/* From the profile, -ENODATA when not stated; without a profile the only lossless priority.
	 */
	int roce_prio;
	uint8_t prio_set; /* 1 << roce_prio, or 0 */
};

/* Walks the checked ports of all hosts that have a snapshot: those of the inventory, else every
 * RDMA port the profile selects. Start with {.c = context}. */
struct port_walk {
	const struct rule_context *c;
	unsigned int host, port;
};

bool port_walk_next(struct port_walk *w, struct port_ctx *s);

/* Number of ports of a walk. */
size_t port_walk_count(const struct rule_context *c);

/* Fills s for a port of a run_pair. False when its host has no snapshot. */
bool port_ctx_at(const struct rule_context *c, unsigned int host, unsigned int port,
		 struct port_ctx *s);

/* Returns the next pair of the port in the load, or in another phase, from *i on; NULL after the
 * last. */
const struct run_pair *port_ctx_pair(const struct port_ctx *s, unsigned int *i);
const struct run_pair *port_ctx_phase_pair(const struct port_ctx *s, enum run_phase phase,
					   unsigned int *i);

/* True when the port is the client, or the server, of the pair. */
bool port_ctx_is_client(const struct port_ctx *s, const struct run_pair *pair);
bool port_ctx_is_server(const struct port_ctx *s, const struct run_pair *pair);

/* Returns the next marking test of the port, or the next that ran, from *i on, and the side of the
 * port in it; NULL after the last. */
const struct run_marking *port_ctx_planned_marking(const struct port_ctx *s, unsigned int *i,
						   enum run_side *side);
const struct run_marking *port_ctx_marking(const struct port_ctx *s, unsigned int *i,
					   enum run_side *side);

/* True when datagrams of a marking test arrived at the port with a header that it could read. */
bool port_ctx_marked(const struct port_ctx *s);

/* Returns the first finding of these kinds (1 << enum marking_kind) on the paths to the port, or
 * from it, and the name of the other host; NULL without one. */
const struct marking_finding *port_ctx_marking_finding(const struct port_ctx *s, unsigned int kinds,
						       bool arriving, const char **other);

/* Adds such a finding as evidence. */
void evidence_marking(struct findings *out, const struct marking_finding *f, const char *other);

/* Fills `other` with the remote port of the pair. */
bool port_ctx_partner(const struct port_ctx *s, const struct run_pair *pair,
		      struct port_ctx *other);

/* Walks the remote ports of its pairs, each once. Start with *i = 0. */
bool port_ctx_next_partner(const struct port_ctx *s, unsigned int *i, struct port_ctx *other);

/* The TCP background of the port's pairs: priorities that may count it at either end, and an upper
 * bound of the bytes that arrived on the wire. */
uint8_t port_ctx_tcp_prios(const struct port_ctx *s);
uint64_t port_ctx_tcp_bytes(const struct port_ctx *s);

/* Inventory entry of the port, NULL when it has none. */
const struct fabric_port *port_ctx_entry(const struct port_ctx *s);

/* The GID that traffic of the port uses: of the inventory's address, else port_gid()'s choice. NULL
 * when it has none. */
const struct gid *port_ctx_gid(const struct port_ctx *s);

/* Counters around the load (READ_LOAD_BEFORE), the quiet baseline (READ_QUIET_BEFORE), the incast
 * (READ_INCAST_BEFORE) or the negative control (READ_CONTROL_BEFORE). False when one of the two
 * readings is missing. reset may be NULL. */
bool port_ctx_delta(const struct port_ctx *s, enum run_reading first, struct counters *delta,
		    uint8_t reset[METRIC_COUNT]);

/* Volumes of RDMA below these are those of connection management and keep-alives. */
#define JOB_PACKETS_MIN 1000
#define JOB_BYTES_MIN	1000000

/* True when the port counts RDMA, and counted less than these while the job ran. */
bool port_ctx_job_idle(const struct port_ctx *s);

/* True when the GID-form address is one of the port's. */
bool port_ctx_owns(const struct port_ctx *s, const uint8_t address[16]);

/* Add evidence: "pfc.enabled is [3] (dcbnl)", or "pfc_rx_frames prio 3 +12 (ethtool ..)" and return
 * the increase. */
void evidence_field(struct findings *out, const struct port_ctx *s, enum qos_field_id id);
uint64_t evidence_counter(struct findings *out, const struct port_ctx *s,
			  const struct counters *delta, enum metric m, unsigned int prio);

/* Index of a metric: RoCE's priority for metrics by priority, 0 while it is unknown. */
unsigned int port_ctx_metric_prio(const struct port_ctx *s, enum metric m);

/* True when both profile and port have the field; else sets SKIP or INCONCLUSIVE. */
bool port_ctx_knows(const struct port_ctx *s, struct findings *out, enum qos_field_id id);

/* Sets "`what` cannot be read on this port": INCONCLUSIVE, or SKIP with on_unsupported: skip. */
void port_ctx_unreadable(const struct port_ctx *s, struct findings *out, const char *what);

/* True when all these fields of the port were read; else calls port_ctx_unreadable(). */
bool port_ctx_has(const struct port_ctx *s, struct findings *out, uint64_t fields,
		  const char *what);

/* Compares one field with the profile, sets the verdict and adds evidence. True when they match.
 * Call port_ctx_knows() first. */
bool port_ctx_compare(const struct port_ctx *s, struct findings *out, enum qos_field_id id);

/* Lossless priorities of the profile; without a profile those of the port. */
uint8_t port_ctx_lossless(const struct port_ctx *s);

/* ToS byte of RoCE data: of the profile, without a profile of rdma_cm. -ENODATA. */
int port_ctx_roce_tos(const struct port_ctx *s);

/* False when `doctor` was called without a profile. */
bool port_ctx_has_profile(const struct port_ctx *s);

/* Formats the profile's value of a field in buf. */
const char *port_ctx_want_text(const struct port_ctx *s, enum qos_field_id id, char *buf,
			       size_t size);

#endif
