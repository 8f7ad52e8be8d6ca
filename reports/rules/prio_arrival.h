/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that each class arrived in its priority, from the increase of a port's counters by
 * priority and the volume of each class. Handles several classes at once and names two that are
 * swapped. Pure.
 */
#ifndef REPORTS_PRIO_ARRIVAL_H
#define REPORTS_PRIO_ARRIVAL_H

#include "probe/host/counters.h"
#include "probe/traffic/traffic.h"

/* A row for each class in each priority: hosts that send one class may differ in their maps. */
#define PRIO_VOLUMES_MAX (TRAFFIC_CLASSES_MAX * QOS_PRIOS)

/* Volume of one class through the port in one direction. */
struct prio_volume {
	int prio; /* expected, by the sender's map; negative: unknown */
	uint8_t dscp;
	uint64_t bytes;	    /* payload */
	uint64_t packets;   /* at least: messages by MTU */
	unsigned int class; /* its number */
	/* Upper bound of ACKs and credits with the same marking. */
	uint64_t beside_bytes, beside_packets;
};

enum arrival {
	ARRIVAL_UNKNOWN, /* no counter by priority, or no traffic */
	ARRIVAL_RIGHT,
	ARRIVAL_WRONG,
};

struct prio_class {
	unsigned int class; /* of the flow */
	enum arrival arrival;
	int found; /* actual priority; negative: unknown */
};

struct prio_arrival {
	bool known;		    /* the port counts this traffic by priority */
	bool packets;		    /* judged by packets, not by bytes */
	uint64_t net[QOS_PRIOS];    /* increase without the baseline */
	uint64_t whole[QOS_PRIOS];  /* total increase */
	uint64_t wanted[QOS_PRIOS]; /* lower bound of the classes */
	unsigned int class_count;
	struct prio_class class[PRIO_VOLUMES_MAX]; /* in the order of the flows */
	int swapped[2];				   /* two swapped priorities; negative: none */
	char text[200];				   /* the fault, for people; empty: none */
};

/* rx: counters of the receiving side (else the sending side). whole: increase around the load;
 * growth: the same without the estimated baseline. Rows beyond PRIO_VOLUMES_MAX are ignored. */
void prio_arrival_check(const struct counters *growth, const struct counters *whole, bool rx,
			const struct prio_volume *flow, unsigned int count, struct prio_arrival *a);

/* Lower bound of the packets of a class. */
uint64_t prio_packets(uint64_t messages, uint32_t message_bytes, uint32_t mtu);

#endif
