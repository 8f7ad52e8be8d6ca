/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a rollout. Waves are not a thing of their own: they are what comes out when every
 * host takes one step, so that what is announced and what is done cannot differ.
 */
#include "probe/rollout/rollout_order.h"

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

/* The hosts that run; few, so that 4096 that wait for each other are no matter. */
struct running {
	const struct rollout_unit *unit[ROLLOUT_PARALLEL_MAX];
	unsigned int count;
};

static bool must_wait(const struct running *running, const struct rollout_unit *u)
{
	for (unsigned int i = 0; i < running->count; i++)
		if (share_group(running->unit[i], u))
			return true;
	return false;
}

static unsigned int look(const struct rollout_unit *unit, unsigned int n, struct running *running)
{
	unsigned int bad = 0;

	running->count = 0;
	for (unsigned int i = 0; i < n; i++) {
		bad += unit[i].stage == ROLLOUT_BAD;
		if (unit[i].stage == ROLLOUT_RUNS && running->count < ROLLOUT_PARALLEL_MAX)
			running->unit[running->count++] = &unit[i];
	}
	return bad;
}

int rollout_next(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l)
{
	struct running running;
	unsigned int bad = look(unit, n, &running);
	int later = running.count ? -EAGAIN : -ENOENT;

	if (bad > l->max_bad)
		return later;
	if (l->canary < n && unit[l->canary].stage != ROLLOUT_GOOD)
		return unit[l->canary].stage == ROLLOUT_WAITS ? (int)l->canary : later;
	if (running.count >= l->parallel || running.count == ROLLOUT_PARALLEL_MAX)
		return later;
	for (unsigned int i = 0; i < n; i++)
		if (unit[i].stage == ROLLOUT_WAITS && !must_wait(&running, &unit[i]))
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
