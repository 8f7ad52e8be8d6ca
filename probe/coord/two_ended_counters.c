/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readings of both ends of a probe, into its observations and into the run beside them.
 */
#include <string.h>

#include "probe/coord/two_ended_inside.h"

static json_t *request(const struct port *p, bool users)
{
	return json_pack("{s:[{s:s, s:s, s:i, s:b}]}", "ports", "netdev", p->netdev, "ibdev",
			 p->ibdev, "ib_port", p->ib_port, "users", users);
}

/* A reading that did not come is missing: that is for the verdict to say. */
static void take(struct duo *d, unsigned int side, enum run_reading reading)
{
	const json_t *port = json_array_get(json_object_get(d->c.conn[side].call.reply, "ports"), 0);
	const json_t *users = json_object_get(port, "users");
	struct run_port *at = &d->t->run.host[side].port[0];
	struct counters counters;
	struct err ignored;

	if (users)
		(void)observe_put_users(&d->t->seen[side], users, &ignored);
	if (counters_from_json(json_object_get(port, "counters"), &counters, &ignored))
		return;
	observe_put(&d->t->seen[side], reading, &counters);
	at->reading[reading] = counters;
	at->has |= 1u << reading;
}

void duo_counters(struct duo *d, enum run_reading reading)
{
	for (unsigned int i = 0; i < SIDES; i++)
		agent_conn_ask(&d->c.conn[i], "counters",
			       request(d->t->ends.port[i], reading == READ_LOAD_BEFORE),
			       PHASE_ANSWER_MS);
	phase_wait(&d->c);
	for (unsigned int i = 0; i < SIDES; i++)
		if (phase_ready(&d->c, i) && d->c.conn[i].call.reply)
			take(d, i, reading);
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
