/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a rollout. Waves are not a thing of their own: they are what comes out when every
 * host takes one step, so that what is announced and what is done cannot differ.
 */
#include "probe/rollout_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rollout_add_group(struct rollout_unit *u, uint32_t group)
{
	for (unsigned int i = 0; i < u->group_count; i++)
		if (u->group[i] == group || u->group[i] == ROLLOUT_EVERY_GROUP)
			return;
	if (u->group_count < ROLLOUT_GROUPS_MAX) {
		u->group[u->group_count++] = group;
		return;
	}
	u->group_count = 1;
	u->group[0] = ROLLOUT_EVERY_GROUP;
}

static bool share_group(const struct rollout_unit *a, const struct rollout_unit *b)
{
	for (unsigned int i = 0; i < a->group_count; i++)
		for (unsigned int k = 0; k < b->group_count; k++)
			if (a->group[i] == b->group[k] || a->group[i] == ROLLOUT_EVERY_GROUP ||
			    b->group[k] == ROLLOUT_EVERY_GROUP)
				return true;
	return false;
}

static bool must_wait(const struct rollout_unit *unit, unsigned int n, unsigned int at)
{
	for (unsigned int i = 0; i < n; i++)
		if (unit[i].stage == ROLLOUT_RUNS && share_group(&unit[i], &unit[at]))
			return true;
	return false;
}

static unsigned int count(const struct rollout_unit *unit, unsigned int n, enum rollout_stage stage)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += unit[i].stage == stage;
	return found;
}

int rollout_next(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l)
{
	unsigned int running = count(unit, n, ROLLOUT_RUNS);
	int later = running ? -EAGAIN : -ENOENT;

	if (count(unit, n, ROLLOUT_BAD) > l->max_bad)
		return later;
	if (l->canary < n && unit[l->canary].stage != ROLLOUT_GOOD)
		return unit[l->canary].stage == ROLLOUT_WAITS ? (int)l->canary : later;
	if (running && running >= l->parallel)
		return later;
	for (unsigned int i = 0; i < n; i++)
		if (unit[i].stage == ROLLOUT_WAITS && !must_wait(unit, n, i))
			return (int)i;
	return later;
}

int rollout_waves(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave)
{
	struct rollout_unit *mine = malloc((n ? n : 1) * sizeof(*mine));
	int waves = 0, next;

	if (!mine)
		return -ENOMEM;
	memcpy(mine, unit, n * sizeof(*mine));
	memset(wave, 0, n * sizeof(*wave));
	while ((next = rollout_next(mine, n, l)) >= 0) {
		waves++;
		do {
			mine[next].stage = ROLLOUT_RUNS;
			wave[next] = waves;
		} while ((next = rollout_next(mine, n, l)) >= 0);
		for (unsigned int i = 0; i < n; i++)
			if (mine[i].stage == ROLLOUT_RUNS)
				mine[i].stage = ROLLOUT_GOOD;
	}
	free(mine);
	return waves;
}
