/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N:1 incast: a probe with each of several servers, all of which send to this host and
 * start at one instant.
 */
#ifndef PROBE_INCAST_H
#define PROBE_INCAST_H

#include "probe/coord/pair.h"

#define INCAST_MAX 32u

struct incast_one {
	struct pair t;
	int err; /* of pair_run() */
	struct err e;
};

struct incast {
	unsigned int count;
	struct incast_one *one; /* owned, in the order of the servers */
};

/* While traffic runs; borrowed until the call returns. */
struct incast_live {
	unsigned int count;
	const char *const *host;
	const struct pair_live *one; /* of each; started_ms 0: its traffic has not begun */
};
typedef void incast_show(const struct incast_live *live, void *arg);

/* One probe as *w wishes it with each host and its token (those of *w are not used, nor its
 * meeting), a thread each.
 * say is called from all of them, one at a time, with the host in front; live of none: show, which
 * may be NULL, takes its place with what all have sent, and w->arg. Fills *in, which the caller
 * clears in any case. 0 when all ran to their end; else the first error of one's own, or what
 * stopped all: in->one[] has that of each. -EINVAL when there are none or more than INCAST_MAX, or
 * two are one. */
int incast_run(const struct pair_request *w, const char *const *host, const char *const *token,
	       unsigned int count, incast_show *show, struct incast *in, struct err *e);
void incast_clear(struct incast *in);

/*
 * Makes one record of all probes: the client's host first, then each server's, and a pair for each
 * probe whose ends were chosen. All read the client's port around the same load: the first one that
 * could counts. It borrows from the incast; free its host and pair arrays alone. -ENOMEM, -EINVAL
 * without a probe.
 */
int incast_make_run(const struct incast *in, struct run *r);

/* It has an error of its own: not one for another's sake, and not the user's stop of all. */
bool incast_failed(const struct incast_one *one);

/* Puts the server in front of an error that does not begin with it. */
void incast_name(struct err *e, const char *host);

/* rocecheck.incast/1 without its verdict: {"schema", "servers", "starts": [{"host",
 * "round_trip_ns", "late_ns": [client, server]}, ..], "probes": [rocecheck.probe/1, ..]}. NULL on
 * -ENOMEM, of one probe as well. */
#define INCAST_SCHEMA "rocecheck.incast/1"
json_t *incast_to_json(const struct incast *in);

#endif
