/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of `capture stats --by`: opcode, dscp, host, time.
 */
#ifndef CMD_CAPTURE_BY_H
#define CMD_CAPTURE_BY_H

#include "capture/flow/views.h"

extern const char *const capture_by_words[]; /* NULL ends */

/* Starts with the word alone. */
struct capture_by {
	const char *by; /* a word of capture_by_words */
	struct capture_views views;
	struct view_hosts hosts;
	struct view_row no_bth; /* RoCE that was cut before it, or broken there */
};

/* Counts a packet; other frames than RoCE are left out. -ENOMEM. */
int capture_by_add(struct capture_by *b, const struct packet *p, struct flow_events ev);
void capture_by_clear(struct capture_by *b);

/* Prints the table, as text or JSON. Returns an exit code. */
int capture_by_print(struct capture_by *b);

#endif
