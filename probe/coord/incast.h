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

/*
 * Runs one probe per host with the settings of *w; host and token replace those of *w. All probes
 * share one event loop. Progress lines begin with the host. show may be NULL; it replaces w->live
 * and receives the progress of all probes with w->arg. Fills *in, which the caller clears in any
 * case. Returns 0 when all probes ran to their end, else the most important error; in->one[] has
 * the error of each. -EINVAL: no host, more than INCAST_MAX, or a host listed twice.
 */
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

/* Returns true if this probe failed itself: not because another one failed, and not because the
 * user stopped. */
bool incast_failed(const struct incast_one *one);

/* Puts the server in front of an error that does not begin with it. */
void incast_name(struct err *e, const char *host);

/* rocecheck.incast/1 without its verdict: {"schema", "servers", "starts": [{"host",
 * "round_trip_ns", "late_ns": [client, server]}, ..], "probes": [rocecheck.probe/1, ..]}. NULL on
 * -ENOMEM, of one probe as well. */
#define INCAST_SCHEMA "rocecheck.incast/1"
json_t *incast_to_json(const struct incast *in);

#endif
