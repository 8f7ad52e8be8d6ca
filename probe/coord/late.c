/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks each sending host twice, with calls of its own beside those of the load and the breaker.
 */
#include "probe/coord/late.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/record/run_port.h"

/* A counter that is read so many ms late must not show the first half in the second. */
#define SETTLES_LEAST 2u

static bool late_is_sender(const struct late *l, unsigned int host)
{
	for (unsigned int i = 0; i < l->pairs; i++)
		if (l->pair[i]->phase == PHASE_INCAST && l->pair[i]->client_host == host)
			return session_ready(l->s, host);
	return false;
}

static void late_on_half(void *arg)
{
	struct late *l = arg;

	for (unsigned int h = 0; h < l->s->r->host_count; h++)
		if (late_is_sender(l, h))
			session_ask_host_counters(l->s, h, &l->half[h]);
}

int late_start(struct late *l, struct session *s, const struct run_pair *const *pair,
	       unsigned int pairs, unsigned int duration_ms)
{
	unsigned int hosts = s->r->host_count;

	*l = (struct late){.s = s, .pair = pair, .pairs = pairs};
	l->half = calloc(hosts + 1, sizeof(*l->half));
	l->end = calloc(hosts + 1, sizeof(*l->end));
	if (!l->half || !l->end || loop_timer_open(s->loop, late_on_half, l, &l->timer))
		return -ENOMEM;
	if (duration_ms / 2 >= SETTLES_LEAST * session_settle_ms(s))
		loop_timer_set(l->timer, duration_ms / 2);
	return 0;
}

static bool late_answered(void *arg)
{
	const struct late *l = arg;

	for (unsigned int h = 0; h < l->s->r->host_count; h++)
		if (l->end[h].op)
			return session_stopped(l->s);
	return true;
}

void late_add(const struct counters *half, const struct counters *end, unsigned int prio,
	      struct run_late *late)
{
	struct counters delta;

	counters_delta(half, end, &delta, NULL);
	if (!counters_has(&delta, METRIC_CNP_RX, 0) ||
	    !counters_has(&delta, METRIC_PFC_RX_FRAMES, prio))
		return;
	late->known = true;
	late->pauses += delta.value[METRIC_PFC_RX_FRAMES][prio];
	late->cnps += delta.value[METRIC_CNP_RX][0];
}

static bool late_read(const struct agent_call *call, unsigned int port, struct counters *out)
{
	const json_t *ports = json_object_get(call->reply, "ports");
	const json_t *json = json_object_get(json_array_get(ports, port), "counters");
	struct err ignored; /* the rule sees that a reading is missing */

	return json && !counters_from_json(json, out, &ignored);
}

void late_stop(struct late *l)
{
	unsigned int hosts = l->s->r->host_count;
	struct counters half, end;

	for (unsigned int h = 0; l->timer && h < hosts; h++)
		if (l->half[h].reply)
			session_ask_host_counters(l->s, h, &l->end[h]);
	if (l->timer)
		loop_run_until(l->s->loop, late_answered, l);
	for (unsigned int i = 0; l->timer && i < l->pairs; i++) {
		const struct run_pair *p = l->pair[i];
		unsigned int h = p->client_host;

		if (p->phase == PHASE_INCAST && late_read(&l->half[h], p->client_port, &half) &&
		    late_read(&l->end[h], p->client_port, &end))
			late_add(&half, &end, p->prio, &l->s->r->host[h].port[p->client_port].late);
	}
	for (unsigned int h = 0; l->timer && h < hosts; h++) {
		agent_call_abandon(&l->s->conn[h], &l->half[h]);
		agent_call_abandon(&l->s->conn[h], &l->end[h]);
		agent_call_clear(&l->half[h]);
		agent_call_clear(&l->end[h]);
	}
	loop_timer_close(l->timer);
	free(l->half);
	free(l->end);
	*l = (struct late){.s = NULL};
}
