/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE packets counted by opcode, by DSCP, over time and by host. Of fixed size: the slots of the
 * timeline become wider as the capture becomes longer.
 */
#ifndef CAPTURE_VIEWS_H
#define CAPTURE_VIEWS_H

#include "capture/flow/flow.h"

#define VIEW_SLOTS 64

struct view_row {
	uint64_t packets, bytes; /* bytes of whole frames on the wire */
	uint64_t ce, cnp, again; /* again: requests sent again */
};

/* Starts as zeros. */
struct capture_views {
	struct view_row opcode[256], dscp[64], slot[VIEW_SLOTS];
	uint64_t start_ns, slot_ns; /* of the timeline; slot_ns 0 = no packet yet */
};

/* When the timeline begins; without it, with the first packet. */
void capture_views_begin(struct capture_views *v, uint64_t time_ns);

/* Counts one packet in one row. */
void view_row_add(struct view_row *row, const struct packet *p, struct flow_events ev);

/* Accounts a packet with what it meant to its flow; other frames than RoCE are left out. What is
 * older than the first packet counts in the first slot. */
void capture_views_add(struct capture_views *v, const struct packet *p, struct flow_events ev);

/* The same by the address that sent them. Bounded: addresses come from the wire, and what is sent
 * by more of them counts in one row. */
#define VIEW_HOSTS_MAX 65536U

struct view_host {
	uint8_t address[16]; /* GID form */
	struct view_row row;
};

/* Starts as zeros; host[] is in order of the first packet until view_hosts_sort(). */
struct view_hosts {
	struct view_host *host; /* owned */
	uint32_t *slot;		/* owned: 1 + index, 0 = free */
	uint32_t count, slot_mask;
	struct view_row others; /* of more than VIEW_HOSTS_MAX */
};

/* As capture_views_add(). -ENOMEM. */
int view_hosts_add(struct view_hosts *h, const struct packet *p, struct flow_events ev);

/* By address; nothing can be added after that. */
void view_hosts_sort(struct view_hosts *h);
void view_hosts_clear(struct view_hosts *h);

#endif
