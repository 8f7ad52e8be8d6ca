/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE packets counted by opcode, by DSCP, over time and by host. Of fixed size: the slots of the
 * timeline become wider as the capture becomes longer.
 */
#ifndef CAPTURE_BREAKDOWN_H
#define CAPTURE_BREAKDOWN_H

#include "capture/flow/flow.h"

#define BREAKDOWN_SLOTS 64

struct breakdown_row {
	uint64_t packets, bytes;	 /* bytes of whole frames on the wire */
	uint64_t ce, cnp, retransmitted; /* again: requests sent again */
};

/* Starts as zeros. */
struct breakdown {
	struct breakdown_row opcode[256], dscp[64], slot[BREAKDOWN_SLOTS];
	uint64_t start_ns, slot_ns; /* of the timeline; slot_ns 0 = no packet yet */
};

/* When the timeline begins; without it, with the first packet. */
void breakdown_begin(struct breakdown *v, uint64_t time_ns);

/* Counts one packet in one row. */
void breakdown_row_add(struct breakdown_row *row, const struct packet *p, struct flow_events ev);

/* Accounts a packet with what it meant to its flow; other frames than RoCE are left out. What is
 * older than the first packet counts in the first slot. */
void breakdown_add(struct breakdown *v, const struct packet *p, struct flow_events ev);

/* The same by the address that sent them. Bounded: addresses come from the wire, and what is sent
 * by more of them counts in one row. */
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

/* By address; nothing can be added after that. */
void breakdown_hosts_sort(struct breakdown_hosts *h);
void breakdown_hosts_clear(struct breakdown_hosts *h);

#endif
