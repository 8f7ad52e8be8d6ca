/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE packets counted by opcode, by DSCP and over time. Of fixed size: the slots of the timeline
 * become wider as the capture becomes longer.
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

#endif
