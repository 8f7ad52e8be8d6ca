/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far each member has come, behind one mutex. Nobody sleeps on it: members have event loops of
 * their own, whose heartbeats must go on, and look again.
 */
#include "probe/coord/meeting.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct meeting {
	pthread_mutex_t lock;
	unsigned int members;
	enum meeting_step reached[MEETING_MAX];
	bool broken;
	char place[MEETING_PLACE_MAX];
	uint64_t start_ns;
};

int meeting_open(unsigned int members, struct meeting **out)
{
	struct meeting *m;

	if (!members || members > MEETING_MAX)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->members = members;
	pthread_mutex_init(&m->lock, NULL);
	*out = m;
	return 0;
}

void meeting_close(struct meeting *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static bool complete(const struct meeting *m, enum meeting_step step)
{
	for (unsigned int i = 0; i < m->members; i++)
		if (m->reached[i] < step)
			return false;
	return true;
}

void meeting_come(struct meeting *m, unsigned int n, enum meeting_step step)
{
	if (n >= m->members)
		return;
	pthread_mutex_lock(&m->lock);
	if (step == MEET_LEFT && !complete(m, MEET_CONNECTED))
		m->broken = true;
	if (m->reached[n] < step)
		m->reached[n] = step;
	pthread_mutex_unlock(&m->lock);
}

bool meeting_complete(struct meeting *m, enum meeting_step step)
{
	bool all;

	pthread_mutex_lock(&m->lock);
	all = complete(m, step);
	pthread_mutex_unlock(&m->lock);
	return all;
}

bool meeting_broken(struct meeting *m)
{
	bool broken;

	pthread_mutex_lock(&m->lock);
	broken = m->broken;
	pthread_mutex_unlock(&m->lock);
	return broken;
}

bool meeting_agrees(struct meeting *m, const char *place, char theirs[MEETING_PLACE_MAX])
{
	pthread_mutex_lock(&m->lock);
	if (!m->place[0])
		snprintf(m->place, sizeof(m->place), "%s", place);
	memcpy(theirs, m->place, sizeof(m->place));
	pthread_mutex_unlock(&m->lock);
	return !strcmp(place, theirs);
}

uint64_t meeting_start_ns(struct meeting *m)
{
	uint64_t start_ns;

	pthread_mutex_lock(&m->lock);
	if (!m->start_ns)
		m->start_ns = monotonic_ns() + MEETING_LEAD_MS * UINT64_C(1000000);
	start_ns = m->start_ns;
	pthread_mutex_unlock(&m->lock);
	return start_ns;
}
