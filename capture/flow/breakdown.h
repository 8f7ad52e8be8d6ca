/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts RoCE packets by opcode, DSCP, time and host. Of fixed size: the slots of the timeline
 * widen as the capture grows.
 */
#ifndef CAPTURE_BREAKDOWN_H
#define CAPTURE_BREAKDOWN_H

#include "capture/flow/flow.h"

#define BREAKDOWN_SLOTS 64

struct breakdown_row {
	uint64_t packets, bytes; /* bytes of whole frames on the wire */
	uint64_t ce, cnp, retransmitted;
};

/* Starts as zeros. */
struct breakdown {
	struct breakdown_row opcode[256], dscp[64], slot[BREAKDOWN_SLOTS];
	uint64_t start_ns, slot_ns; /* of the timeline; slot_ns 0 = no packet yet */
};

/* Sets the start of the timeline (default: the first packet). */
void breakdown_begin(struct breakdown *v, uint64_t time_ns);

/* Counts one packet in one row. */
void breakdown_row_add(struct breakdown_row *row, const struct packet *p, struct flow_events ev);

/* Accounts a RoCE packet with its events; ignores other frames. Packets older than the first count
 * in the first slot. */
void breakdown_add(struct breakdown *v, const struct packet *p, struct flow_events ev);

/* The same by sender address. Bounded, because addresses come from the wire: further senders share
 * one row. */
#define BREAKDOWN_HOSTS_MAX 65536U

struct breakdown_host {
	uint8_t address[16]; /* GID form */
	struct breakdown_row row;
};

/* Starts as zeros; host[] is in order of the first packet until breakdown_hosts_sort(). */
struct breakdown_hosts {
	struct breakdown_host *host; /* owned */
	uint32_t *slot;		     /* owned: 1 + index, 0 = free */
	uint32_t count, slot_mask;
	struct breakdown_row others; /* of more than BREAKDOWN_HOSTS_MAX */
};

/* As breakdown_add(). -ENOMEM. */
int breakdown_hosts_add(struct breakdown_hosts *h, const struct packet *p, struct flow_events ev);

/* Sorts by address; add nothing afterwards. */
void breakdown_hosts_sort(struct breakdown_hosts *h);
void breakdown_hosts_clear(struct breakdown_hosts *h);

#endif
