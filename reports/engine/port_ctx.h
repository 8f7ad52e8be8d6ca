/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct port_ctx: one port under judgement with everything a check asks about it: its snapshot,
 * its place in the run, the wish, counter deltas, its own and its partners' flows. Checks stay
 * short because the walking and the "is it there" questions are here.
 */
#ifndef REPORTS_PORT_CTX_H
#define REPORTS_PORT_CTX_H

#include "reports/engine/findings.h"

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
	/* By the profile, -ENODATA when it does not say; without one the only lossless priority. */
	int roce_prio;
	uint8_t prio_set; /* 1 << roce_prio, or 0 */
};

/* Walks the judged ports of all hosts that have a snapshot: those of the inventory, else every RDMA
 * port the profile selects. Start with {.c = context}. */
struct port_walk {
	const struct rule_context *c;
	unsigned int host, port;
};

bool port_walk_next(struct port_walk *w, struct port_ctx *s);

/* How many ports a walk has. */
size_t port_walk_count(const struct rule_context *c);

/* The port of a run_pair. False when its host has no snapshot. */
bool port_ctx_at(const struct rule_context *c, unsigned int host, unsigned int port,
		 struct port_ctx *s);

/* Next pair (from *i on) in which the port takes part; NULL when there is none. */
const struct run_pair *port_ctx_pair(const struct port_ctx *s, unsigned int *i);

/* True when the port is the client, or the server, of the pair. */
bool port_ctx_is_client(const struct port_ctx *s, const struct run_pair *pair);
bool port_ctx_is_server(const struct port_ctx *s, const struct run_pair *pair);

/* The other end of a pair. */
bool port_ctx_partner(const struct port_ctx *s, const struct run_pair *pair,
		      struct port_ctx *other);

/* Walks the ports it has pairs with, each once. Start with *i = 0. */
bool port_ctx_next_partner(const struct port_ctx *s, unsigned int *i, struct port_ctx *other);

/* TCP of ours beside the RDMA of the port's pairs: priorities it can be counted in at either end,
 * and bytes on the wire that came in of it, at most. */
uint8_t port_ctx_tcp_prios(const struct port_ctx *s);
uint64_t port_ctx_tcp_bytes(const struct port_ctx *s);

/* Inventory entry of the port, NULL when it has none. */
const struct fabric_port *port_ctx_entry(const struct port_ctx *s);

/* Counters around the load (READ_LOAD_BEFORE) or the quiet baseline (READ_QUIET_BEFORE). False when
 * one of the two readings was not taken. reset may be NULL. */
bool port_ctx_delta(const struct port_ctx *s, enum run_reading first, struct counters *delta,
		    uint8_t reset[METRIC_COUNT]);

/* Whether the GID-form address is one of the port's. */
bool port_ctx_owns(const struct port_ctx *s, const uint8_t address[16]);

/* Evidence texts. field: "pfc.enabled is [3] (dcbnl)"; counter: "ethtool rx_prio3_pause +12",
 * whose growth it returns. */
void evidence_field(struct findings *out, const struct port_ctx *s, enum qos_field_id id);
uint64_t evidence_counter(struct findings *out, const struct port_ctx *s,
			  const struct counters *delta, enum metric m, unsigned int prio);

/* Where a metric is read that may be one by priority: RoCE's, 0 while that is not known. */
unsigned int port_ctx_metric_prio(const struct port_ctx *s, enum metric m);

/* Whether wish and reality both know the field; says SKIP or INCONCLUSIVE when not. */
bool port_ctx_knows(const struct port_ctx *s, struct findings *out, enum qos_field_id id);

/* Says that `what` cannot be read on the port: INCONCLUSIVE, or SKIP where the profile's
 * on_unsupported says so. */
void port_ctx_unreadable(const struct port_ctx *s, struct findings *out, const char *what);

/* Whether all these fields of the port were read; says that `what` cannot be read when not. */
bool port_ctx_has(const struct port_ctx *s, struct findings *out, uint64_t fields,
		  const char *what);

/* Compares one field with the profile and says so, with evidence. True when it matches. Call
 * port_ctx_knows() first. */
bool port_ctx_compare(const struct port_ctx *s, struct findings *out, enum qos_field_id id);

/* Priorities that are to be lossless: the profile's, without one those that are. */
uint8_t port_ctx_lossless(const struct port_ctx *s);

/* ToS byte of RoCE data: the profile's, without one that of rdma_cm. -ENODATA. */
int port_ctx_roce_tos(const struct port_ctx *s);

/* Whether there is a profile; `doctor` can be called without one. */
bool port_ctx_has_profile(const struct port_ctx *s);

/* The profile's text of a field in buf. */
const char *port_ctx_want_text(const struct port_ctx *s, enum qos_field_id id, char *buf,
			       size_t size);

#endif
