/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breaker of a phase that fills links: watches ports of the run that take no part, and ends the
 * phase when one of them is paused or loses its link.
 */
#ifndef PROBE_BREAKER_H
#define PROBE_BREAKER_H

#include "probe/coord/load.h"

struct breaker_port {
	unsigned int host, port; /* of run.host[].port[] */
	bool known;		 /* base was read */
	struct counters base;	 /* at the first answer */
};

struct breaker {
	struct session *s;
	struct loop_timer *timer;
	struct breaker_port *port; /* owned */
	unsigned int count;
};

/* Starts to watch all ports that are not an end of these flows. It asks only hosts without a
 * pending request. On harm it writes the sign to run_port.breaker and sets s->broken. -ENOMEM. The
 * caller calls breaker_stop() in any case. */
int breaker_start(struct breaker *b, struct session *s, const struct run_pair *const *pair,
		  unsigned int pairs);
void breaker_stop(struct breaker *b);

/* Compares two readings of a port that takes no part; true with the sign in words. Pure. */
bool breaker_sees_harm(const struct counters *before, const struct counters *after, char *buf,
		       size_t size);

#endif
