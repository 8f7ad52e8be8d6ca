/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter names of one source, found by hash: a NIC has up to some thousand strings, and the
 * counter table asks for a hundred patterns of them each second.
 */
#ifndef PROBE_COUNTERS_INDEX_H
#define PROBE_COUNTERS_INDEX_H

#include "profiles/base/base.h"

struct dcb;

struct counters_slot {
	char name[64];
	uint64_t value;
};

/* Zero is an empty index. */
struct counters_index {
	struct counters_slot *slot; /* owned; an empty name is a free slot */
	uint32_t mask;
};

/* Room for n names. -ENOMEM, -E2BIG. */
int counters_index_init(struct counters_index *index, unsigned int n);
void counters_index_clear(struct counters_index *index);

/* name has at most size bytes and need not be terminated; blanks at its end are dropped (old mlx5
 * has one). The first of two equal names stays. Call at most as often as there is room. */
void counters_index_add(struct counters_index *index, const char *name, size_t size,
			uint64_t value);

/* Value of a pattern of the counter table: "%u" is the priority; "a+b" adds up, a has to exist. */
bool counters_index_get(const struct counters_index *index, const char *pattern, unsigned int prio,
			uint64_t *value);

/* What the host's IP stack counts of the packets that it received: IpExt of /proc/net/netstat and
 * all of /proc/net/snmp6. Host-wide, all ports together. */

/* Pure: the texts of both files, either may be empty, into an index that is zero ("InCEPkts",
 * "Ip6InCEPkts"); the caller clears it. Lines that are none of theirs are left out. -ENOMEM. */
int counters_ip_parse(const char *netstat, const char *snmp6, struct counters_index *index);

/* The same of the files. A file that cannot be read gives no names. -ENOMEM. */
int counters_ip_read(struct dcb *dcb, struct counters_index *index);

#endif
