/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the counters of all ports that take no part, twice a second, and compares them with the
 * first answer.
 */
#include "probe/coord/breaker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/qos.h"

#define BREAKER_MS 500

bool breaker_sees_harm(const struct counters *before, const struct counters *after, char *buf,
		       size_t size)
{
	struct counters delta;

	counters_delta(before, after, &delta, NULL);
	if (counters_has(&delta, METRIC_LINK_DOWN, 0) && delta.value[METRIC_LINK_DOWN][0]) {
		snprintf(buf, size, "its link went down");
		return true;
	}
	if (counters_has(&delta, METRIC_PAUSE_STORM, 0) && delta.value[METRIC_PAUSE_STORM][0]) {
		snprintf(buf, size, "its NIC saw a pause storm");
		return true;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!counters_has(&delta, METRIC_PFC_RX_FRAMES, prio) ||
		    !delta.value[METRIC_PFC_RX_FRAMES][prio])
			continue;
		snprintf(buf, size, "it received %llu pauses on priority %u",
			 (unsigned long long)delta.value[METRIC_PFC_RX_FRAMES][prio], prio);
		return true;
	}
	return false;
}

/* Reads the last answer of the port's host. */
static void breaker_read(struct breaker *b, struct breaker_port *p)
{
	struct run_host *h = &b->s->r->host[p->host];
	struct run_port *at = &h->port[p->port];
	struct counters now = {0};
	char sign[120];

	/* An answer without counters says nothing of harm. */
	if (!session_port_counters(b->s->conn[p->host].call.reply, p->port, &now))
		return;
	if (!p->known) {
		p->base = now;
		p->known = true;
	} else if (!at->breaker[0] && breaker_sees_harm(&p->base, &now, sign, sizeof(sign))) {
		snprintf(at->breaker, sizeof(at->breaker), "%s", sign);
		b->s->broken = true;
		session_report(b->s,
			       "%s %s takes no part in the incast, but %s: the load is stopped",
			       h->name, at->netdev, sign);
	}
}

static void breaker_ask(struct breaker *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		if (!i || b->port[i].host != b->port[i - 1].host)
			session_ask_host_counters(b->s, b->port[i].host,
						  &b->s->conn[b->port[i].host].call);
}

static void breaker_on_timer(void *arg)
{
	struct breaker *b = arg;

	for (unsigned int i = 0; i < b->count; i++)
		if (!b->s->conn[b->port[i].host].call.op)
			breaker_read(b, &b->port[i]);
	breaker_ask(b);
	loop_timer_set(b->timer, BREAKER_MS);
}

static bool breaker_is_end(const struct run_pair *const *pair, unsigned int pairs,
			   unsigned int host, unsigned int port)
{
	for (unsigned int i = 0; i < pairs; i++)
		if ((pair[i]->client_host == host && pair[i]->client_port == port) ||
		    (pair[i]->server_host == host && pair[i]->server_port == port))
			return true;
	return false;
}

int breaker_start(struct breaker *b, struct session *s, const struct run_pair *const *pair,
		  unsigned int pairs)
{
	unsigned int ports = 0;

	*b = (struct breaker){.s = s};
	for (unsigned int h = 0; h < s->r->host_count; h++)
		ports += s->r->host[h].port_count;
	b->port = calloc(ports + 1, sizeof(*b->port));
	if (!b->port || loop_timer_open(s->loop, breaker_on_timer, b, &b->timer))
		return -ENOMEM;
	for (unsigned int h = 0; h < s->r->host_count; h++)
		for (unsigned int p = 0; p < s->r->host[h].port_count; p++)
			if (session_ready(s, h) && !breaker_is_end(pair, pairs, h, p))
				b->port[b->count++] = (struct breaker_port){.host = h, .port = p};
	breaker_ask(b);
	loop_timer_set(b->timer, BREAKER_MS);
	return 0;
}

void breaker_stop(struct breaker *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		agent_call_abandon(&b->s->conn[b->port[i].host], &b->s->conn[b->port[i].host].call);
	loop_timer_close(b->timer);
	free(b->port);
	*b = (struct breaker){.s = NULL};
}
