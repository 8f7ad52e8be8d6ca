/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else a traffic run meets: pause, congestion, foreign traffic, its pace, its priority; and
 * counters that do not say enough.
 */
#ifndef TESTS_UNIT_VERDICT_OTHERS_H
#define TESTS_UNIT_VERDICT_OTHERS_H

#include "tests/unit/reports/traffic/verdict_scene.h"

void storm(struct scene *s);
void uncounted(struct scene *s);
void unread(struct scene *s);

/* 50 MB of TCP from h1 to h2, 2 MB of it twice. */
void tcp_beside(struct scene *s);
void aborted(struct scene *s);

extern const struct fault_table other_faults;

#endif
