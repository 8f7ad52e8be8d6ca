/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fabric run from end to end: connect, collect, quiet baseline, captures, traffic between
 * counter readings, collect again. Agents hold a lease that only a living coordinator renews.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/coord/engine.h"
#include "probe/coord/run_phases.h"
#include "probe/host/peer.h"
#include "profiles/base/json.h"

#define HEARTBEAT_MS   500
#define LEASE_MS       3000
#define QUIT_MS	       2000
#define SETTLE_SOFT_MS 100 /* counters of Soft-RoCE are read fresh */

void phase_say(struct coordinator *c, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!c->progress)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	c->progress(line, c->arg);
}

bool phase_stopped(const struct coordinator *c)
{
	return c->stop && *c->stop;
}

bool phase_ready(const struct coordinator *c, unsigned int host)
{
	return c->link[host].state == LINK_READY;
}

void phase_mark_lost(struct coordinator *c)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		const struct agent_link *k = &c->link[i];
		struct run_host *h = &c->r->host[i];

		if (k->state != LINK_LOST || h->error[0])
			continue;
		snprintf(h->error, sizeof(h->error), "%.380s%s%.200s%s", k->err.text,
			 k->err.hint[0] ? " (" : "", k->err.hint, k->err.hint[0] ? ")" : "");
		phase_say(c, "%s: %s", h->name, h->error);
	}
}

void phase_wait(struct coordinator *c)
{
	links_wait(c->loop, c->link, c->r->host_count, c->stop);
	phase_mark_lost(c);
}

struct pause {
	struct coordinator *c;
	uint64_t end_ms;
};

static bool pause_over(void *arg)
{
	const struct pause *p = arg;

	return loop_now_ms(p->c->loop) >= p->end_ms || phase_stopped(p->c);
}

void phase_pause(struct coordinator *c, uint64_t ms)
{
	struct pause p = {c, loop_now_ms(c->loop) + ms};

	loop_run_until(c->loop, pause_over, &p);
	phase_mark_lost(c);
}

static void on_heartbeat(void *arg)
{
	struct coordinator *c = arg;

	for (unsigned int i = 0; i < c->r->host_count; i++)
		link_ping(&c->link[i], LEASE_MS);
	loop_timer_set(c->heartbeat, HEARTBEAT_MS);
}

static void start_agent(struct coordinator *c, const struct engine *engine, unsigned int host)
{
	unsigned int timeout_ms = (c->f->connect_timeout_s + 5) *
				  1000; /* the engine's own comes first */
	struct agent_link *k = &c->link[host];
	struct engine_argv argv = {0};
	struct err e = {0};

	if (engine->make(c->f, host, &argv, &e)) {
		k->state = LINK_LOST;
		k->err = e;
		return;
	}
	link_open(k, c->loop, c->r->host[host].name, argv.argv, timeout_ms);
}

/* Both ends of the protocol are this build, or the host is not used. */
static void greet(struct coordinator *c, unsigned int host)
{
	struct run_host *h = &c->r->host[host];
	struct agent_link *k = &c->link[host];

	if (k->state != LINK_READY)
		return;
	snprintf(h->agent_version, sizeof(h->agent_version), "%s", k->build);
	if (!strcmp(k->build, ROCECHECK_VERSION)) {
		h->reached = true;
		return;
	}
	snprintf(h->error, sizeof(h->error),
		 "the agent is rocecheck %s, this is %s: install one version", k->build,
		 ROCECHECK_VERSION);
	phase_say(c, "%s: %s", h->name, h->error);
	link_close(k);
}

static unsigned int count_ready(const struct coordinator *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->r->host_count; i++)
		n += phase_ready(c, i);
	return n;
}

static int connect_all(struct coordinator *c, struct err *e)
{
	const struct engine *engine = engine_find(c->f->engine[0] ? c->f->engine : "ssh");

	if (!engine)
		return err_set(e, -EINVAL, "no engine '%s'", c->f->engine);
	phase_say(c, "connecting to %u hosts (%s)", c->r->host_count, engine->name);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		start_agent(c, engine, i);
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		greet(c, i);
	on_heartbeat(c);
	if (!count_ready(c) && !phase_stopped(c))
		return err_set(e, -EHOSTUNREACH, "none of %u hosts was reached", c->r->host_count);
	return 0;
}

static void collect_all(struct coordinator *c, bool after)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		const struct run_host *h = &c->r->host[i];
		json_t *ports = json_array();

		for (unsigned int p = 0; p < h->port_count; p++)
			(void)json_array_append_new(ports, json_string(h->port[p].netdev));
		link_ask(&c->link[i], "collect", json_pack("{s:o}", "ports", ports),
			 PHASE_ANSWER_MS);
	}
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];
		const json_t *json = json_object_get(c->link[i].reply, "snapshot");
		struct err e = c->link[i].err;

		if (!phase_ready(c, i))
			continue;
		if (json && !snapshot_from_json(json, after ? &h->after : &h->before, &e)) {
			h->has_after = h->has_after || after;
			h->has_before = h->has_before || !after;
		} else if (!h->error[0]) {
			snprintf(h->error, sizeof(h->error), "%s%.240s", json ? "snapshot: " : "",
				 e.text);
			phase_say(c, "%s: %s", h->name, h->error);
		}
	}
}

const struct port *phase_port(const struct coordinator *c, unsigned int host, unsigned int p)
{
	const struct run_host *h = &c->r->host[host];

	return h->has_before ? snapshot_port(&h->before, h->port[p].netdev) : NULL;
}

static json_t *counters_request(const struct coordinator *c, unsigned int host)
{
	const struct run_host *h = &c->r->host[host];
	json_t *ports = json_array();

	for (unsigned int p = 0; p < h->port_count; p++) {
		const struct port *port = phase_port(c, host, p);

		(void)json_array_append_new(ports, json_pack("{s:s, s:s, s:i}", "netdev",
							     h->port[p].netdev, "ibdev",
							     port ? port->ibdev : "", "ib_port",
							     port ? port->ib_port : 1));
	}
	return json_pack("{s:o}", "ports", ports);
}

static void take_counters(struct run_port *p, const json_t *json, enum run_reading reading)
{
	const json_t *counters = json_object_get(json, "counters");
	struct err ignored; /* no reading is what the rules see then */

	if (counters && !counters_from_json(counters, &p->reading[reading], &ignored))
		p->has |= 1u << reading;
}

/* Counters of all ports into this reading. */
static void phase_counters(struct coordinator *c, enum run_reading reading)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		if (phase_ready(c, i))
			link_ask(&c->link[i], "counters", counters_request(c, i), PHASE_ANSWER_MS);
	}
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];
		const json_t *ports = json_object_get(c->link[i].reply, "ports");

		for (unsigned int p = 0; phase_ready(c, i) && p < h->port_count; p++)
			take_counters(&h->port[p], json_array_get(ports, p), reading);
	}
}

/* What the captures heard of link partners, for ports whose snapshot knows none. */
static void join_peers(struct run_host *h)
{
	struct snapshot *snapshots[] = {h->has_before ? &h->before : NULL,
					h->has_after ? &h->after : NULL};

	for (unsigned int p = 0; p < h->port_count; p++) {
		const struct lldp_peer *peer = &h->port[p].capture.peer;

		for (unsigned int s = 0; s < ARRAY_SIZE(snapshots); s++) {
			struct snapshot *snap = snapshots[s];

			for (unsigned int k = 0; snap && k < snap->port_count; k++) {
				if (h->port[p].has_capture && peer->seen &&
				    !snap->port[k].peer.has &&
				    !strcmp(snap->port[k].netdev, h->port[p].netdev))
					peer_join(&snap->port[k], peer);
			}
		}
	}
}

/* Until the last packet has been counted everywhere. */
static uint64_t settle_ms(const struct coordinator *c)
{
	uint64_t longest = SETTLE_SOFT_MS;

	for (unsigned int i = 0; i < c->r->host_count; i++) {
		for (unsigned int p = 0; p < c->r->host[i].port_count; p++) {
			const struct run_port *at = &c->r->host[i].port[p];
			const struct port *port = phase_port(c, i, p);
			uint64_t ms = 0;

			if (at->has & 1u << READ_LOAD_BEFORE)
				ms = counters_settle_ms(&at->reading[READ_LOAD_BEFORE]);
			if (port && port->ibdev[0] && port->kind != PORT_SOFT_ROCE)
				ms = COUNTERS_SETTLE_MS;
			if (ms > longest)
				longest = ms;
		}
	}
	return longest;
}

/* Everything that happens around the load. */
static int run_load_phases(struct coordinator *c, struct err *e)
{
	int err;

	phase_say(c, "quiet baseline, %u s", c->f->quiet_s);
	phase_counters(c, READ_QUIET_BEFORE);
	phase_pause(c, c->f->quiet_s * UINT64_C(1000));
	phase_counters(c, READ_QUIET_AFTER);
	if (phase_stopped(c))
		return 0;
	phase_capture_start(c);
	phase_counters(c, READ_LOAD_BEFORE);
	err = phase_traffic(c, e);
	phase_pause(c, settle_ms(c));
	phase_counters(c, READ_LOAD_AFTER);
	phase_capture_stop(c);
	return err;
}

static int run_phases(struct coordinator *c, struct err *e)
{
	int err = 0;

	phase_say(c, "collecting configuration");
	collect_all(c, false);
	if (c->f->traffic_s && !phase_stopped(c))
		err = run_load_phases(c, e);
	if (phase_stopped(c))
		return err;
	phase_say(c, "collecting configuration again");
	collect_all(c, true);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		join_peers(&c->r->host[i]);
	return err;
}

static void quit_all(struct coordinator *c)
{
	static const atomic_int never;

	for (unsigned int i = 0; i < c->r->host_count && !phase_stopped(c); i++)
		link_ask(&c->link[i], "quit", NULL, QUIT_MS);
	links_wait(c->loop, c->link, phase_stopped(c) ? 0 : c->r->host_count, &never);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		link_close(&c->link[i]); /* the end of its input stops an agent that is busy */
}

/* What a former run left in the folder must not pass for a part of this one. */
static int open_folder(struct coordinator *c, struct err *e)
{
	int err = phase_capture_forget(c, e);

	return err ? err : phase_traffic_forget(c, e);
}

static int open_coordinator(struct coordinator *c, struct err *e)
{
	int err = loop_open(&c->loop, e);

	if (err)
		return err;
	c->link = calloc(c->r->host_count + 1, sizeof(*c->link));
	c->capture = malloc((c->r->host_count + 1) * sizeof(*c->capture));
	if (!c->link || !c->capture || loop_timer_open(c->loop, on_heartbeat, c, &c->heartbeat))
		return err_sys(e, -ENOMEM, "run");
	memset(c->capture, -1, (c->r->host_count + 1) * sizeof(*c->capture));
	return c->dir ? open_folder(c, e) : 0;
}

static void close_coordinator(struct coordinator *c)
{
	if (c->link && c->loop)
		quit_all(c);
	loop_timer_close(c->heartbeat);
	loop_close(c->loop);
	free(c->link);
	free(c->capture);
	folder_close(&c->captures);
}

/* A host that had no time to answer is not to blame. */
static void mark_stopped(const struct coordinator *c)
{
	for (unsigned int i = 0; phase_stopped(c) && i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];

		if (!h->reached && !h->error[0])
			snprintf(h->error, sizeof(h->error),
				 "the run was stopped before this host answered");
	}
}

static int64_t unix_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int run_fabric(const struct fabric *f, const struct folder *dir, const atomic_int *stop,
	       run_progress *progress, void *arg, struct run *r, struct err *e)
{
	struct coordinator c = {
		.f = f,
		.dir = dir,
		.stop = stop,
		.progress = progress,
		.arg = arg,
		.r = r,
		.fetch_grace_ms = PHASE_FETCH_GRACE_MS,
	};
	int err = run_init(r, f);

	if (err)
		return err_sys(e, err, "run");
	err = open_coordinator(&c, e);
	if (!err)
		err = connect_all(&c, e);
	if (!err && !phase_stopped(&c))
		err = run_phases(&c, e);
	mark_stopped(&c);
	close_coordinator(&c);
	r->ended_unix_ns = unix_now_ns();
	if (!err && stop && *stop)
		err = err_set(e, -EINTR, "the run was stopped: what follows is partial");
	return err;
}
