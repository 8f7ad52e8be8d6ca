/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a good run that the rules over traffic meet alone and beside TCP.
 */
#ifndef TRAFFIC_FAULTS_H
#define TRAFFIC_FAULTS_H

#include "tests/unit/reports/rules/rule_cases.h"

static inline void arrives_elsewhere(struct fabric_run *f)
{
	struct counters *c = &f->port[1].reading[READ_LOAD_AFTER];

	c->value[METRIC_PRIO_RX_BYTES][5] += 16000000;
	c->value[METRIC_PRIO_RX_BYTES][3] = 100;
}

static inline void arrives_unseen(struct fabric_run *f)
{
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][3] = 100;
}

static inline void discards(struct fabric_run *f)
{
	grow(f, 1, METRIC_PRIO_RX_DISCARDS, 3, 8);
}

#endif
