/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traffic_faults.h declares.
 */
#include "tests/unit/reports/rules/traffic_faults.h"

void arrives_elsewhere(struct fabric_run *f)
{
	struct counters *c = &f->port[1].reading[READ_LOAD_AFTER];

	c->value[METRIC_PRIO_RX_BYTES][5] += 16000000;
	c->value[METRIC_PRIO_RX_BYTES][3] = 100;
}

void arrives_unseen(struct fabric_run *f)
{
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][3] = 100;
}

void discards(struct fabric_run *f)
{
	grow(f, 1, METRIC_PRIO_RX_DISCARDS, 3, 8);
}
