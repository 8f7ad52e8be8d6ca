/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks each sending host twice, with calls of its own beside those of the load and the breaker.
 */
#include "probe/coord/half.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/record/run_port.h"

/* Half a load is at least so many times as long as the delay of the counters. */
#define SETTLES_LEAST 2u

static bool half_is_sender(const struct half *x, unsigned int host)
{
	for (unsigned int i = 0; i < x->pairs; i++)
		if (x->pair[i]->phase == PHASE_INCAST && x->pair[i]->client_host == host)
			return session_ready(x->s, host);
	return false;
}

static void half_on_middle(void *arg)
{
	struct half *x = arg;

	for (unsigned int h = 0; h < x->s->r->host_count; h++)
		if (half_is_sender(x, h))
			session_ask_host_counters(x->s, h, &x->middle[h]);
}

int half_start(struct half *x, struct session *s, const struct run_pair *const *pair,
	       unsigned int pairs, unsigned int duration_ms)
{
	unsigned int hosts = s->r->host_count;

	*x = (struct half){.s = s, .pair = pair, .pairs = pairs};
	x->middle = calloc(hosts + 1, sizeof(*x->middle));
	x->end = calloc(hosts + 1, sizeof(*x->end));
	if (!x->middle || !x->end || loop_timer_open(s->loop, half_on_middle, x, &x->timer))
		return -ENOMEM;
	if (duration_ms / 2 >= SETTLES_LEAST * session_settle_ms(s))
		loop_timer_set(x->timer, duration_ms / 2);
	return 0;
}

static bool half_answered(void *arg)
{
	const struct half *x = arg;

	for (unsigned int h = 0; h < x->s->r->host_count; h++)
		if (x->end[h].op)
			return session_stopped(x->s);
	return true;
}

void half_add(const struct counters *half, const struct counters *end, unsigned int prio,
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

/* Adds what the senders counted from the middle to the end. */
static void half_read(struct half *x)
{
	struct counters half, end;

	for (unsigned int i = 0; i < x->pairs; i++) {
		const struct run_pair *p = x->pair[i];
		unsigned int h = p->client_host, port = p->client_port;

		if (p->phase == PHASE_INCAST &&
		    session_port_counters(x->middle[h].reply, port, &half) &&
		    session_port_counters(x->end[h].reply, port, &end))
			half_add(&half, &end, p->prio, &x->s->r->host[h].port[port].late);
	}
}

static void half_end_calls(struct half *x)
{
	for (unsigned int h = 0; h < x->s->r->host_count; h++) {
		agent_call_abandon(&x->s->conn[h], &x->middle[h]);
		agent_call_abandon(&x->s->conn[h], &x->end[h]);
		agent_call_clear(&x->middle[h]);
		agent_call_clear(&x->end[h]);
	}
}

void half_stop(struct half *x)
{
	if (x->timer) {
		for (unsigned int h = 0; h < x->s->r->host_count; h++)
			if (x->middle[h].reply)
				session_ask_host_counters(x->s, h, &x->end[h]);
		loop_run_until(x->s->loop, half_answered, x);
		half_read(x);
		half_end_calls(x);
	}
	loop_timer_close(x->timer);
	free(x->middle);
	free(x->end);
	*x = (struct half){.s = NULL};
}
