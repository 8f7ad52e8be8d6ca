/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts pairs and marking tests by port: counts the uses of each, then puts each in its place.
 */
#include "reports/engine/port_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PORT SIZE_MAX

/* The two ports of a pair or of a test, by their number. */
struct port_ends {
	size_t side[SIDES];
};

/* Both ends may be one port, which is used once. */
static bool port_ends_use(const struct port_ends *ends, enum run_side side)
{
	return ends->side[side] != NO_PORT &&
	       (side == SIDE_CLIENT || ends->side[SIDE_CLIENT] != ends->side[SIDE_SERVER]);
}

/* Marks the uses of a port which an earlier one joins with the same other port. `seen` has a number
 * for each port, the last one that met it. */
static void port_uses_mark(struct port_uses *u, size_t port, const struct port_ends *ends,
			   size_t *seen)
{
	for (size_t i = u->first[port]; i < u->first[port + 1]; i++) {
		const size_t *side = ends[u->use[i].index].side;
		size_t other = side[side[SIDE_CLIENT] == port ? SIDE_SERVER : SIDE_CLIENT];

		if (other == NO_PORT)
			continue;
		u->use[i].again = seen[other] == port + 1;
		seen[other] = port + 1;
	}
}

static int port_uses_make(struct port_uses *u, const struct port_ends *ends, unsigned int count,
			  size_t ports)
{
	size_t *next = calloc(ports + 1, sizeof(*next));

	u->first = calloc(ports + 1, sizeof(*u->first));
	u->use = calloc((size_t)count * SIDES + 1, sizeof(*u->use));
	if (!next || !u->first || !u->use) {
		free(next);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < count; i++)
		for (int side = 0; side < SIDES; side++)
			if (port_ends_use(&ends[i], side))
				u->first[ends[i].side[side] + 1]++;
	for (size_t n = 0; n < ports; n++) {
		u->first[n + 1] += u->first[n];
		next[n] = u->first[n];
	}
	for (unsigned int i = 0; i < count; i++)
		for (int side = 0; side < SIDES; side++)
			if (port_ends_use(&ends[i], side))
				u->use[next[ends[i].side[side]]++].index = i;
	memset(next, 0, ports * sizeof(*next));
	for (size_t n = 0; n < ports; n++)
		port_uses_mark(u, n, ends, next);
	free(next);
	return 0;
}

static size_t port_pairs_number(const struct run *r, const struct port_pairs *p, unsigned int host,
				unsigned int port)
{
	bool exists = host < r->host_count && port < r->host[host].port_count;

	return exists ? p->host[host] + port : NO_PORT;
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

		ends[i] = (struct port_ends){
			{port_pairs_number(r, p, a->client_host, a->client_port),
			 port_pairs_number(r, p, a->server_host, a->server_port)}};
	}
	err = port_uses_make(&p->pairs, ends, r->pair_count, ports);
	for (unsigned int i = 0; i < r->marking_count; i++) {
		const struct run_marking *a = &r->marking[i];

		ends[i] = (struct port_ends){
			{port_pairs_number(r, p, a->client_host, a->client_port),
			 port_pairs_number(r, p, a->server_host, a->server_port)}};
	}
	if (!err)
		err = port_uses_make(&p->markings, ends, r->marking_count, ports);
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
