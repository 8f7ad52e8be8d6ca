/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Index of the pairs and marking tests of a run by port, made once: a run has thousands of ports
 * and up to millions of pairs, and every rule asks each port for its own.
 */
#ifndef REPORTS_PORT_PAIRS_H
#define REPORTS_PORT_PAIRS_H

#include "probe/record/run.h"

/* One use of a port. */
struct port_use {
	unsigned int index;	 /* of run.pair[], or of run.marking[] */
	unsigned int host, port; /* the other end */
	bool again;		 /* an earlier use of the port is with the same other port */
};

/* Those of port n stand from use[first[n]] to before use[first[n + 1]], in the order of the run. */
struct port_uses {
	size_t *first;
	struct port_use *use;
};

struct port_pairs {
	size_t *host; /* number of the first port of each host */
	struct port_uses pairs, markings;
};

/* Makes the index; hosts, ports, pairs and tests of the run must not change while it is used. A
 * pair with an end that is no port of the run is left out. -ENOMEM. The caller calls
 * port_pairs_clear(). */
int port_pairs_make(const struct run *r, struct port_pairs *p);
void port_pairs_clear(struct port_pairs *p);

/* Returns the uses of run.host[host].port[port], which must exist, and their number. */
const struct port_use *port_pairs_find(const struct port_pairs *p, const struct port_uses *uses,
				       unsigned int host, unsigned int port, size_t *count);

#endif
