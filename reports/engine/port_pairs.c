/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts pairs and marking tests by port: counts the uses of each, then puts each in its place.
 */
#include "reports/engine/port_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The ports of a pair or of a test. */
struct port_ends {
	unsigned int host[SIDES], port[SIDES];
};

static size_t port_pairs_number(const struct port_pairs *p, const struct port_ends *ends, int side)
{
	return p->host[ends->host[side]] + ends->port[side];
}

static bool port_ends_exist(const struct run *r, const struct port_ends *ends)
{
	for (int side = 0; side < SIDES; side++)
		if (ends->host[side] >= r->host_count ||
		    ends->port[side] >= r->host[ends->host[side]].port_count)
			return false;
	return true;
}

/* Number of ports: one where both ends are the same. */
static int port_ends_count(const struct port_ends *ends)
{
	return ends->host[SIDE_CLIENT] == ends->host[SIDE_SERVER] &&
			       ends->port[SIDE_CLIENT] == ends->port[SIDE_SERVER]
		       ? 1
		       : SIDES;
}

/* Marks uses with the same other port as an earlier one. `seen` has a number for each port. */
static void port_uses_mark(const struct port_pairs *p, struct port_uses *u, size_t ports,
			   size_t *seen)
{
	memset(seen, 0, ports * sizeof(*seen));
	for (size_t n = 0; n < ports; n++) {
		for (size_t i = u->first[n]; i < u->first[n + 1]; i++) {
			size_t other = p->host[u->use[i].host] + u->use[i].port;

			u->use[i].again = seen[other] == n + 1;
			seen[other] = n + 1;
		}
	}
}

static int port_uses_make(const struct run *r, const struct port_pairs *p, size_t ports,
			  const struct port_ends *ends, unsigned int count, struct port_uses *u)
{
	size_t *next = calloc(ports + 1, sizeof(*next));

	u->first = calloc(ports + 1, sizeof(*u->first));
	u->use = calloc((size_t)count * SIDES + 1, sizeof(*u->use));
	if (!next || !u->first || !u->use) {
		free(next);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < count; i++)
		for (int side = 0; port_ends_exist(r, &ends[i]) && side < port_ends_count(&ends[i]);
		     side++)
			u->first[port_pairs_number(p, &ends[i], side) + 1]++;
	for (size_t n = 0; n < ports; n++) {
		u->first[n + 1] += u->first[n];
		next[n] = u->first[n];
	}
	for (unsigned int i = 0; i < count; i++)
		for (int side = 0; port_ends_exist(r, &ends[i]) && side < port_ends_count(&ends[i]);
		     side++)
			u->use[next[port_pairs_number(p, &ends[i], side)]++] = (struct port_use){
				.index = i,
				.host = ends[i].host[!side],
				.port = ends[i].port[!side],
			};
	port_uses_mark(p, u, ports, next);
	free(next);
	return 0;
}

int port_pairs_make(const struct run *r, struct port_pairs *p)
{
	unsigned int most = r->pair_count > r->marking_count ? r->pair_count : r->marking_count;
	struct port_ends *ends = calloc((size_t)most + 1, sizeof(*ends));
	size_t ports = 0;
	int err;

	*p = (struct port_pairs){.host = calloc((size_t)r->host_count + 1, sizeof(*p->host))};
	if (!ends || !p->host) {
		free(ends);
		port_pairs_clear(p);
		return -ENOMEM;
	}
	for (unsigned int h = 0; h < r->host_count; h++) {
		p->host[h] = ports;
		ports += r->host[h].port_count;
	}
	for (unsigned int i = 0; i < r->pair_count; i++) {
		const struct run_pair *a = &r->pair[i];

		ends[i] = (struct port_ends){{a->client_host, a->server_host},
					     {a->client_port, a->server_port}};
	}
	err = port_uses_make(r, p, ports, ends, r->pair_count, &p->pairs);
	for (unsigned int i = 0; i < r->marking_count; i++) {
		const struct run_marking *a = &r->marking[i];

		ends[i] = (struct port_ends){{a->client_host, a->server_host},
					     {a->client_port, a->server_port}};
	}
	if (!err)
		err = port_uses_make(r, p, ports, ends, r->marking_count, &p->markings);
	free(ends);
	if (err)
		port_pairs_clear(p);
	return err;
}

void port_pairs_clear(struct port_pairs *p)
{
	free(p->host);
	free(p->pairs.first);
	free(p->pairs.use);
	free(p->markings.first);
	free(p->markings.use);
	memset(p, 0, sizeof(*p));
}

const struct port_use *port_pairs_find(const struct port_pairs *p, const struct port_uses *uses,
				       unsigned int host, unsigned int port, size_t *count)
{
	const size_t *first = &uses->first[p->host[host] + port];

	*count = first[1] - first[0];
	return &uses->use[first[0]];
}
