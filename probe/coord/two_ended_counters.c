/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readings of both ends of a probe, into its observations and into the run beside them.
 */
#include <string.h>

#include "probe/coord/two_ended_inside.h"

/* A reading that did not come is missing: the verdict says so. */
static void counters_observe(struct duo *d, unsigned int side, enum run_reading reading)
{
	const json_t *ports = json_object_get(d->s.conn[side].call.reply, "ports");
	const json_t *users = json_object_get(json_array_get(ports, 0), "users");
	const struct run_port *at = &d->t->run.host[side].port[0];
	struct err ignored;

	if (users)
		(void)observe_put_users(&d->t->seen[side], users, &ignored);
	if (at->has & 1u << reading)
		observe_put(&d->t->seen[side], reading, &at->reading[reading]);
}

void duo_counters(struct duo *d, enum run_reading reading)
{
	session_counters(&d->s, reading, reading == READ_LOAD_BEFORE);
	for (unsigned int i = 0; i < SIDES; i++)
		counters_observe(d, i, reading);
}

void duo_forget_load(struct duo *d)
{
	unsigned int load = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;

	for (unsigned int i = 0; i < SIDES; i++) {
		d->t->seen[i].has &= ~load;
		d->t->run.host[i].port[0].has &= ~load;
	}
}

uint64_t duo_settle_ms(const struct duo *d)
{
	uint64_t a = observe_settle_ms(&d->t->seen[SIDE_CLIENT]);
	uint64_t b = observe_settle_ms(&d->t->seen[SIDE_SERVER]);

	return a > b ? a : b;
}
