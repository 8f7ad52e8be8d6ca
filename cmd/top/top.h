/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen of `top`: what top.c tells it, and how it ends. */
#ifndef CMD_TOP_H
#define CMD_TOP_H

#include "cmd/top/top_rows.h"

struct top_sampler;

struct top_view {
	unsigned int interval_ms;
	unsigned int count; /* end after so many intervals; 0 = never */
	uint8_t prio_set;   /* 0 = by itself */
	bool colour;
};

/* Shows samples until a key or a signal ends it. Returns 0, or -ENOTTY when the terminal cannot do
 * it. */
int top_screen_run(struct top_sampler *sampler, const struct top_view *view, struct err *e);

#endif
