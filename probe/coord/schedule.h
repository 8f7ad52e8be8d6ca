/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who talks to whom when: rounds of pairs, so that every ordered pair meets once and no host is
 * busy twice in a round. Pure: a function of the number of hosts alone, printed in a form that can
 * be read back ("server,client;server,client", one round a line).
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

/* Circle method: n hosts, 0 to SCHEDULE_HOSTS_MAX. -ERANGE, -ENOMEM. The caller clears. */
int schedule_make(unsigned int n, struct schedule *s);
void schedule_clear(struct schedule *s);

/* The printed form, with these names or (NULL) with numbers; free() it. NULL on -ENOMEM. */
char *schedule_text(const struct schedule *s, const char *const *names);

#endif
