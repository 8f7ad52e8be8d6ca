/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Did each class arrive in the priority it was sent for? Pure, over the growth of a port's counters
 * by priority and what each class moved: four classes at once show four priorities, and two that
 * are swapped are named.
 */
#ifndef REPORTS_PRIO_ARRIVAL_H
#define REPORTS_PRIO_ARRIVAL_H

#include "probe/host/counters.h"
#include "probe/traffic/traffic.h"

/* A row for each class in each priority: hosts that send one class may differ in their maps. */
#define PRIO_VOLUMES_MAX (TRAFFIC_CLASSES_MAX * QOS_PRIOS)

/* What one class moved through the port in the judged direction. */
struct prio_volume {
	int prio; /* the one it belongs to, by the sender's map; negative: not known */
	uint8_t dscp;
	uint64_t bytes;	    /* payload */
	uint64_t packets;   /* at least: messages by MTU */
	unsigned int class; /* its number */
	/* What may come beside it with its marking, at most: acknowledgements and credits. */
	uint64_t beside_bytes, beside_packets;
};

enum arrival {
	ARRIVAL_UNKNOWN, /* no counter by priority, or nothing was sent */
	ARRIVAL_RIGHT,
	ARRIVAL_WRONG,
};

struct prio_class {
	unsigned int class; /* of the flow */
	enum arrival arrival;
	int found; /* where it was instead; negative: nowhere, or that cannot be told */
};

struct prio_arrival {
	bool known;		    /* the port counts this traffic by priority */
	bool packets;		    /* judged by packets, not by bytes */
	uint64_t net[QOS_PRIOS];    /* growth without what the baseline makes expect */
	uint64_t whole[QOS_PRIOS];  /* all of it */
	uint64_t wanted[QOS_PRIOS]; /* what the classes must have caused there, at least */
	unsigned int class_count;
	struct prio_class class[PRIO_VOLUMES_MAX]; /* in the order of the flows */
	int swapped[2]; /* two priorities that took each other's traffic; negative: none */
	char text[200]; /* what is wrong, for people; empty: nothing */
};

/* rx: the receiving side of the port (else its sending side). whole: the growth around the load;
 * growth: the same, what the baseline makes expect taken out, which is an estimate. count: at most
 * PRIO_VOLUMES_MAX, what is beyond is not judged. */
void prio_arrival_check(const struct counters *growth, const struct counters *whole, bool rx,
			const struct prio_volume *flow, unsigned int count, struct prio_arrival *a);

/* The packets a class of a port makes, at least. */
uint64_t prio_packets(uint64_t messages, uint32_t message_bytes, uint32_t mtu);

#endif
