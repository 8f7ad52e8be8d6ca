/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct packet_account: RoCE packets that the ports of a run sent, and those that arrived. Only
 * Soft-RoCE counts every packet at both ends: there a difference of the sums is a loss, also of
 * ACKs.
 */
#ifndef REPORTS_PACKET_ACCOUNT_H
#define REPORTS_PACKET_ACCOUNT_H

#include "probe/record/run_port.h"

/* Begins with .known = true, .quiet = true. */
struct packet_account {
	bool known; /* every port is Soft-RoCE, was read, and counts packets */
	bool quiet; /* in the quiet baseline no port sent or received any */
	uint64_t sent, arrived;
	uint64_t repaired; /* sequence gaps, NAKs, retries and duplicates of any port */
};

/* Adds a port. soft: it is Soft-RoCE, and nobody else uses it. */
void packet_account_add(struct packet_account *a, bool soft, const struct run_port *p);

/* Packets that were sent and never arrived; 0 as well where that cannot be told: more arrived than
 * was sent, from elsewhere or twice. */
uint64_t packet_account_missing(const struct packet_account *a);

#endif
