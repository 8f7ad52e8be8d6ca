/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash index of the counter names of one source: a NIC has up to some thousand names, and the
 * counter table looks up a hundred patterns per second.
 */
#ifndef PROBE_COUNTERS_INDEX_H
#define PROBE_COUNTERS_INDEX_H

#include "profiles/base/base.h"

struct dcb;

struct counters_slot {
	char name[64];
	uint64_t value;
};

/* All zero is an empty index. */
struct counters_index {
	struct counters_slot *slot; /* owned; an empty name is a free slot */
	uint32_t mask;
};

/* Allocates room for n names. -ENOMEM, -E2BIG. */
int counters_index_init(struct counters_index *index, unsigned int n);
void counters_index_clear(struct counters_index *index);

/* Adds a name of at most size bytes, terminated or not; trailing blanks are removed (an old mlx5
 * name has one). The first of two equal names is kept. Call at most n times. */
void counters_index_add(struct counters_index *index, const char *name, size_t size,
			uint64_t value);

/* Looks up a pattern of the counter table: "%u" is the priority; "a+b" is a sum, where a must
 * exist. */
bool counters_index_get(const struct counters_index *index, const char *pattern, unsigned int prio,
			uint64_t *value);

/* Parses host-wide counters of the IP stack, IpExt of /proc/net/netstat and all of /proc/net/snmp6,
 * into an empty index ("InCEPkts", "Ip6InCEPkts"), which the caller clears. Either text may be
 * empty; other lines are ignored. Pure. -ENOMEM. */
int counters_ip_parse(const char *netstat, const char *snmp6, struct counters_index *index);

/* Reads both files. A file that cannot be read adds no names. -ENOMEM. */
int counters_ip_read(struct dcb *dcb, struct counters_index *index);

#endif
