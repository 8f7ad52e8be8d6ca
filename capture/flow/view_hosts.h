/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE packets counted by the address that sent them. Bounded: addresses come from the wire, and
 * what is sent by more of them counts in one row.
 */
#ifndef CAPTURE_VIEW_HOSTS_H
#define CAPTURE_VIEW_HOSTS_H

#include "capture/flow/views.h"

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
