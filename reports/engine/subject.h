/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct subject: one port under judgement with everything a check asks about it: its snapshot, its
 * place in the run, the wish, counter deltas, its own and its partners' flows. Checks stay short
 * because the walking and the "is it there" questions are here.
 */
#ifndef REPORTS_SUBJECT_H
#define REPORTS_SUBJECT_H

#include "reports/engine/findings.h"

/* Borrowed pointers, valid as long as the rule_context. */
struct subject {
	const struct rule_context *c;
	const struct profile *profile;
	const struct qos *wish;
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

bool port_walk_next(struct port_walk *w, struct subject *s);

/* How many ports a walk has. */
size_t port_walk_count(const struct rule_context *c);

/* The port of a run_pair. False when its host has no snapshot. */
bool subject_at(const struct rule_context *c, unsigned int host, unsigned int port,
		struct subject *s);

/* Next pair (from *i on) in which the port takes part; NULL when there is none. */
const struct run_pair *subject_pair(const struct subject *s, unsigned int *i);

/* True when the port is the client, or the server, of the pair. */
bool subject_is_client(const struct subject *s, const struct run_pair *pair);
bool subject_is_server(const struct subject *s, const struct run_pair *pair);

/* The other end of a pair. */
bool subject_partner(const struct subject *s, const struct run_pair *pair, struct subject *other);

/* Walks the ports it has pairs with, each once. Start with *i = 0. */
bool partner_next(const struct subject *s, unsigned int *i, struct subject *other);

/* TCP of ours beside the RDMA of the port's pairs: priorities it can be counted in at either end,
 * and bytes on the wire that came in of it, at most. */
uint8_t subject_tcp_prios(const struct subject *s);
uint64_t subject_tcp_bytes(const struct subject *s);

/* Inventory entry of the port, NULL when it has none. */
const struct fabric_port *subject_entry(const struct subject *s);

/* Counters around the load (READ_LOAD_BEFORE) or the quiet baseline (READ_QUIET_BEFORE). False when
 * one of the two readings was not taken. reset may be NULL. */
bool subject_delta(const struct subject *s, enum run_reading first, struct counters *delta,
		   uint8_t reset[METRIC_COUNT]);

/* Whether the GID-form address is one of the port's. */
bool subject_owns(const struct subject *s, const uint8_t address[16]);

/* Evidence texts. field: "pfc.enabled is [3] (dcbnl)"; counter: "ethtool rx_prio3_pause +12",
 * whose growth it returns. */
void evidence_field(struct findings *out, const struct subject *s, enum qos_field_id id);
uint64_t evidence_counter(struct findings *out, const struct subject *s,
			  const struct counters *delta, enum metric m, unsigned int prio);

/* Where a metric is read that may be one by priority: RoCE's, 0 while that is not known. */
unsigned int subject_metric_prio(const struct subject *s, enum metric m);

/* Whether wish and reality both know the field; says SKIP or INCONCLUSIVE when not. */
bool subject_knows(const struct subject *s, struct findings *out, enum qos_field_id id);

/* Says that `what` cannot be read on the port: INCONCLUSIVE, or SKIP where the profile's
 * on_unsupported says so. */
void subject_unreadable(const struct subject *s, struct findings *out, const char *what);

/* Whether all these fields of the port were read; says that `what` cannot be read when not. */
bool subject_has(const struct subject *s, struct findings *out, uint64_t fields, const char *what);

/* Compares one field with the profile and says so, with evidence. True when it matches. Call
 * subject_knows() first. */
bool subject_compare(const struct subject *s, struct findings *out, enum qos_field_id id);

/* Priorities that are to be lossless: the profile's, without one those that are. */
uint8_t subject_lossless(const struct subject *s);

/* ToS byte of RoCE data: the profile's, without one that of rdma_cm. -ENODATA. */
int subject_roce_tos(const struct subject *s);

/* Whether there is a profile; `doctor` can be called without one. */
bool subject_has_profile(const struct subject *s);

/* The profile's text of a field in buf. */
const char *wish_text(const struct subject *s, enum qos_field_id id, char *buf, size_t size);

#endif
