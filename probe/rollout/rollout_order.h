/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which host of a rollout may be changed now. Pure: the canary first and alone, then as many at
 * once as allowed, but of those that flap or reset a port no two in one failure group.
 */
#ifndef PROBE_ROLLOUT_ORDER_H
#define PROBE_ROLLOUT_ORDER_H

#include "profiles/base/base.h"

#define ROLLOUT_GROUPS_MAX   64
#define ROLLOUT_PARALLEL_MAX 64
#define ROLLOUT_EVERY_GROUP  UINT32_MAX /* of a port that belongs to nobody knows which */

enum rollout_stage {
	ROLLOUT_WAITS,
	ROLLOUT_RUNS,
	ROLLOUT_GOOD,
	ROLLOUT_BAD, /* failed, or never reached */
};

/* One host. */
struct rollout_unit {
	enum rollout_stage stage;
	unsigned int group_count;	    /* 0: nothing is disrupted */
	uint32_t group[ROLLOUT_GROUPS_MAX]; /* of its ports that are disrupted */
};

struct rollout_limits {
	unsigned int canary;   /* index; nothing else before it is good */
	unsigned int parallel; /* hosts at once, 1..ROLLOUT_PARALLEL_MAX */
	unsigned int max_bad;  /* more than so many: no new ones */
};

/* Adds a group once; one too many becomes ROLLOUT_EVERY_GROUP. */
void rollout_add_group(struct rollout_unit *u, uint32_t group);

/* Index of the host to start now; -EAGAIN: none before a running one has ended; -ENOENT: no more.
 */
int rollout_next(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l);

/* When each waiting host starts if all take equally long and none fails: wave[i] from 1, 0 for one
 * that does not start. Returns the number of waves, -ENOMEM. */
int rollout_waves(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave);

#endif
