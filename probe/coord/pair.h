/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe between two hosts: an agent of our own on this one and that of a `probe server` on the
 * other. Facts of both, an idle baseline, counters around one run of traffic, and both ends'
 * reports. The record is a struct run of two hosts with a port each, and one pair with its ends; a
 * sweep has a pair for each size.
 */
#ifndef PROBE_PAIR_H
#define PROBE_PAIR_H

#include <stdatomic.h>

#include "probe/coord/gid_select.h"
#include "probe/coord/pair_marking.h"
#include "probe/record/run.h"

/* While traffic runs. */
struct pair_live {
	uint64_t started_ms, now_ms; /* of monotonic_ms() */
	uint32_t duration_ms;	     /* 0 = until stopped, or all was sent */
	struct traffic_progress side[SIDES];
};

struct pair_request {
	const char *host; /* of the server */
	unsigned int port;
	const char *token;
	const char *peer_address;  /* traffic may go there too; NULL = the server's alone */
	const char *self;	   /* path of this binary, for the agent of this host */
	const char *device[SIDES]; /* NULL = any */
	int ib_port[SIDES], gid_index[SIDES]; /* ENDPOINT_ANY */
	uint32_t mtu_bytes;		      /* 0 = the one both have */
	uint32_t idle_ms;		      /* quiet baseline, 0 = none */
	struct traffic_spec spec;	      /* without role, device, port, GID and seed */
	/* A sweep: run after run with messages of these sizes, in place of the class's; 0 = none */
	uint32_t size_from, size_to;
	bool marking;	    /* a marking echo after it */
	unsigned int sweep; /* with so many UDP source ports; 0 = no sweep */
	const atomic_int *stop;
	run_progress *progress; /* may be NULL, as the next */
	void (*live)(const struct pair_live *live, void *arg);
	void *arg;
};

/* Of a start that was agreed on. */
struct pair_start {
	uint64_t start_ns;	 /* by the clock of this host; 0 = there was none */
	uint64_t round_trip_ns;	 /* of the best comparison with the server's clock: at most so wrong
				  */
	uint64_t late_ns[SIDES]; /* how much after it each end began, by its own clock */
};

struct pair {
	/* host[side], each with port[0] once the ends are chosen, and then pair[0] with its ends.
	 */
	struct run run;
	bool chosen;
	struct endpoints ends; /* borrowed from run.host[].before */
	struct pair_start start;
	bool ran;		 /* traffic was begun */
	bool sweep;		 /* of message sizes: the first pairs of the record are its sizes */
	unsigned int size_count; /* of a sweep, as far as it came */
	struct pair_marking *echo; /* owned; NULL: not asked for, or not reached */
	bool partial;		   /* it ended before its time: stopped, or an end lost */
	char why[640];		   /* what ended it */
};

/* Fills *t, which the caller clears in any case. 0 when traffic ran to its end, whatever it found;
 * -EINTR when stopped and -EPIPE when an end was lost, both with what had been gathered until then;
 * else -errno with the host and the next step: nothing was sent. */
int pair_run(const struct pair_request *w, struct pair *t, struct err *e);
void pair_clear(struct pair *t);

/* Returns this end of the last pair of the record, the only one without a sweep. NULL before the
 * ends are chosen. */
struct run_end *pair_end(const struct pair *t, enum run_side side);

/* Returns a port of a pair with the readings around its load. */
const struct run_port *pair_port(const struct pair *t, const struct run_pair *p,
				 enum run_side side);

/* rocecheck.probe/1 without its verdict: {"schema", "id", "started_unix_ns", "ended_unix_ns",
 * "partial", "why", "ends": [...], "sizes": [...], "marking": {...}}. NULL on -ENOMEM. */
#define PROBE_SCHEMA "rocecheck.probe/1"
json_t *pair_to_json(const struct pair *t);

#endif
