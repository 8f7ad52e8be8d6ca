/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a traffic run that cost packets, data or the connection, and those that look like it.
 */
#ifndef TESTS_UNIT_VERDICT_LOSSES_H
#define TESTS_UNIT_VERDICT_LOSSES_H

#include "tests/unit/reports/traffic/verdict_scene.h"

void no_buffer_datagrams(struct scene *s);
void bad_icrc_and_loss(struct scene *s);
void qdisc_612(struct scene *s);

/* The MTU of a port is lowered under way: Linux 6.1 tries again and again, and nobody died. */
void sends_nothing_any_more(struct scene *s);

extern const struct fault_table loss_faults;

#endif
