/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host's IP stack counts of the packets that it received: IpExt of /proc/net/netstat and
 * all of /proc/net/snmp6. Host-wide, all ports together.
 */
#ifndef PROBE_COUNTERS_IP_H
#define PROBE_COUNTERS_IP_H

#include "probe/host/counters_index.h"

/* Pure: the texts of both files, either may be empty, into an index that is zero ("InCEPkts",
 * "Ip6InCEPkts"); the caller clears it. Lines that are none of theirs are left out. -ENOMEM. */
int counters_ip_parse(const char *netstat, const char *snmp6, struct counters_index *index);

struct dcb; /* dcb/kernel/dcb.h */

/* The same of the files. A file that cannot be read gives no names. -ENOMEM. */
int counters_ip_read(struct dcb *dcb, struct counters_index *index);

#endif
