/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedule of a fabric run: rounds of pairs in which every ordered pair runs once and no host is in
 * two pairs of a round. Pure: depends only on the number of hosts. Printed in a parsable form
 * ("server,client;server,client", one line per round).
 */
#ifndef PROBE_SCHEDULE_H
#define PROBE_SCHEDULE_H

#include "profiles/base/base.h"

#define SCHEDULE_HOSTS_MAX 1024

struct schedule_pair {
	unsigned int server, client;
	unsigned int round; /* from 0 */
};

struct schedule {
	struct schedule_pair *pair; /* owned, by round */
	unsigned int pair_count, round_count;
};

/* Makes the schedule of n hosts, 0 to SCHEDULE_HOSTS_MAX, by the circle method. The caller calls
 * schedule_clear(). -ERANGE, -ENOMEM. */
int schedule_make(unsigned int n, struct schedule *s);
void schedule_clear(struct schedule *s);

/* Returns the printed form, with names or (NULL) numbers; the caller calls free(). NULL on -ENOMEM.
 */
char *schedule_text(const struct schedule *s, const char *const *names);

#endif
