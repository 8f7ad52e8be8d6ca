/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sorted ports of a run, searched by halves.
 */
#include "probe/record/run_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const struct run_index_port *a, const struct run_index_port *b)
{
	int order = strcmp(a->host, b->host);

	return order ? order : strcmp(a->netdev, b->netdev);
}

/* Equal names stand in the order of the run. */
static int compare_ports(const void *left, const void *right)
{
	const struct run_index_port *a = left, *b = right;
	int order = compare_names(a, b);

	if (!order && a->host_at != b->host_at)
		order = a->host_at < b->host_at ? -1 : 1;
	if (!order && a->port_at != b->port_at)
		order = a->port_at < b->port_at ? -1 : 1;
	return order;
}

int run_index_make(const struct run *r, struct run_index *index)
{
	size_t count = 0;

	for (unsigned int h = 0; h < r->host_count; h++)
		count += r->host[h].port_count;
	index->port = calloc(count ? count : 1, sizeof(*index->port));
	index->count = 0;
	if (!index->port)
		return -ENOMEM;
	for (unsigned int h = 0; h < r->host_count; h++)
		for (unsigned int p = 0; p < r->host[h].port_count; p++)
			index->port[index->count++] = (struct run_index_port){
				.host = r->host[h].name,
				.netdev = r->host[h].port[p].netdev,
				.host_at = h,
				.port_at = p,
			};
	qsort(index->port, index->count, sizeof(*index->port), compare_ports);
	return 0;
}

void run_index_clear(struct run_index *index)
{
	if (!index)
		return;
	free(index->port);
	*index = (struct run_index){.port = NULL};
}

int run_index_find(const struct run_index *index, const char *host, const char *netdev,
		   unsigned int *host_at, unsigned int *port_at)
{
	const struct run_index_port wanted = {.host = host, .netdev = netdev};
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&index->port[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->count || compare_names(&index->port[low], &wanted))
		return -ENOENT;
	*host_at = index->port[low].host_at;
	*port_at = index->port[low].port_at;
	return 0;
}
