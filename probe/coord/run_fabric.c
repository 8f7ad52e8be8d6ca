/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs all phases of a fabric run: connect, collect, idle counters, captures, traffic between
 * counter readings, collect again. Agents stop when the coordinator does not renew their lease.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/launcher.h"
#include "probe/coord/phase_priv.h"
#include "probe/host/lldp_peer.h"
#include "profiles/base/json.h"

#define HEARTBEAT_MS   500
#define LEASE_MS       3000
#define QUIT_MS	       2000
#define SETTLE_SOFT_MS 100 /* Soft-RoCE counters are always current */

void phase_report(struct coordinator *c, const char *fmt, ...)
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
	return c->conn[host].state == CONN_READY;
}

void phase_mark_lost(struct coordinator *c)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		const struct agent_conn *k = &c->conn[i];
		struct run_host *h = &c->r->host[i];

		if (k->state != CONN_LOST || h->error[0])
			continue;
		agent_error_text(&k->err, h->error, sizeof(h->error));
		phase_report(c, "%s: %s", h->name, h->error);
	}
}

void phase_wait(struct coordinator *c)
{
	agent_conns_wait(c->loop, c->conn, c->r->host_count, c->stop);
	phase_mark_lost(c);
}

struct pause {
	struct coordinator *c;
	uint64_t end_ms;
};

static bool fabric_pause_over(void *arg)
{
	const struct pause *p = arg;

	return loop_now_ms(p->c->loop) >= p->end_ms || phase_stopped(p->c);
}

void phase_pause(struct coordinator *c, uint64_t ms)
{
	struct pause p = {c, loop_now_ms(c->loop) + ms};

	loop_run_until(c->loop, fabric_pause_over, &p);
	phase_mark_lost(c);
}

static void fabric_on_heartbeat(void *arg)
{
	struct coordinator *c = arg;

	for (unsigned int i = 0; i < c->r->host_count; i++)
		agent_conn_ping(&c->conn[i], LEASE_MS);
	loop_timer_set(c->heartbeat, HEARTBEAT_MS);
}

/* Skips a host whose agent has another version. */
static void fabric_check_build(struct coordinator *c, unsigned int host)
{
	struct run_host *h = &c->r->host[host];
	struct agent_conn *k = &c->conn[host];

	if (k->state != CONN_READY)
		return;
	snprintf(h->agent_version, sizeof(h->agent_version), "%s", k->build);
	if (!strcmp(k->build, ROCECHECK_VERSION)) {
		h->reached = true;
		return;
	}
	snprintf(h->error, sizeof(h->error),
		 "version mismatch: agent %s, coordinator %s: install the same version", k->build,
		 ROCECHECK_VERSION);
	phase_report(c, "%s: %s", h->name, h->error);
	agent_conn_close(k);
}

static int fabric_connect_all(struct coordinator *c, struct err *e)
{
	const struct launcher *launcher = launcher_of_fabric(c->f, e);
	bool ready = false;

	if (!launcher)
		return e->code;
	phase_report(c, "connecting to %u hosts (%s)", c->r->host_count, launcher->name);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		agent_conn_launch(&c->conn[i], c->loop, launcher, c->f, i);
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		fabric_check_build(c, i);
		ready = ready || phase_ready(c, i);
	}
	fabric_on_heartbeat(c);
	if (!ready && !phase_stopped(c))
		return err_set(e, -EHOSTUNREACH, "cannot reach any of %u hosts", c->r->host_count);
	return 0;
}

static void fabric_collect_all(struct coordinator *c, bool after)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		const struct run_host *h = &c->r->host[i];
		json_t *ports = json_array();

		for (unsigned int p = 0; p < h->port_count; p++)
			(void)json_array_append_new(ports, json_string(h->port[p].netdev));
		agent_conn_ask(&c->conn[i], "collect", json_pack("{s:o}", "ports", ports),
			       PHASE_ANSWER_MS);
	}
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];
		const json_t *json = json_object_get(c->conn[i].call.reply, "snapshot");
		struct err e = c->conn[i].call.err;

		if (!phase_ready(c, i))
			continue;
		if (json && !snapshot_from_json(json, after ? &h->after : &h->before, &e)) {
			h->has_after = h->has_after || after;
			h->has_before = h->has_before || !after;
		} else if (!h->error[0]) {
			snprintf(h->error, sizeof(h->error), "%s%.240s", json ? "snapshot: " : "",
				 e.text);
			phase_report(c, "%s: %s", h->name, h->error);
		}
	}
}

const struct port *phase_port(const struct coordinator *c, unsigned int host, unsigned int p)
{
	const struct run_host *h = &c->r->host[host];

	return h->has_before ? snapshot_port(&h->before, h->port[p].netdev) : NULL;
}

static json_t *fabric_counters_request(const struct coordinator *c, unsigned int host)
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

static void fabric_store_counters(struct run_port *p, const json_t *json, enum run_reading reading)
{
	const json_t *counters = json_object_get(json, "counters");
	struct err ignored; /* the rules see a missing reading */

	if (counters && !counters_from_json(counters, &p->reading[reading], &ignored))
		p->has |= 1u << reading;
}

/* Reads the counters of all ports into this reading. */
static void fabric_read_counters(struct coordinator *c, enum run_reading reading)
{
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		if (phase_ready(c, i))
			agent_conn_ask(&c->conn[i], "counters", fabric_counters_request(c, i),
				       PHASE_ANSWER_MS);
	}
	phase_wait(c);
	for (unsigned int i = 0; i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];
		const json_t *ports = json_object_get(c->conn[i].call.reply, "ports");

		for (unsigned int p = 0; phase_ready(c, i) && p < h->port_count; p++)
			fabric_store_counters(&h->port[p], json_array_get(ports, p), reading);
	}
}

/* Copies LLDP neighbors from captures to ports whose snapshot has none. */
static void fabric_join_lldp_peers(struct run_host *h)
{
	struct snapshot *snapshots[] = {h->has_before ? &h->before : NULL,
					h->has_after ? &h->after : NULL};

	for (unsigned int p = 0; p < h->port_count; p++) {
		const struct lldp_peer *peer = &h->port[p].capture.lldp_peer;

		for (unsigned int s = 0; s < ARRAY_SIZE(snapshots); s++) {
			struct snapshot *snap = snapshots[s];

			for (unsigned int k = 0; snap && k < snap->port_count; k++) {
				if (h->port[p].has_capture && peer->seen &&
				    !snap->port[k].lldp_qos.has &&
				    !strcmp(snap->port[k].netdev, h->port[p].netdev))
					lldp_peer_set_port(&snap->port[k], peer);
			}
		}
	}
}

/* Returns the time until all counters include the last packet. */
static uint64_t fabric_settle_ms(const struct coordinator *c)
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

/* Runs the load, with idle counters, captures and counter readings around it. */
static int fabric_run_load(struct coordinator *c, struct err *e)
{
	int err;

	phase_report(c, "reading idle counters, %u s", c->f->quiet_s);
	fabric_read_counters(c, READ_QUIET_BEFORE);
	phase_pause(c, c->f->quiet_s * UINT64_C(1000));
	fabric_read_counters(c, READ_QUIET_AFTER);
	if (phase_stopped(c))
		return 0;
	phase_capture_start(c);
	fabric_read_counters(c, READ_LOAD_BEFORE);
	err = phase_traffic(c, e);
	phase_pause(c, fabric_settle_ms(c));
	fabric_read_counters(c, READ_LOAD_AFTER);
	phase_capture_stop(c);
	return err;
}

static int fabric_run_phases(struct coordinator *c, struct err *e)
{
	int err = 0;

	phase_report(c, "collecting configuration");
	fabric_collect_all(c, false);
	if (c->f->traffic_s && !phase_stopped(c))
		err = fabric_run_load(c, e);
	if (phase_stopped(c))
		return err;
	phase_report(c, "collecting configuration again");
	fabric_collect_all(c, true);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		fabric_join_lldp_peers(&c->r->host[i]);
	return err;
}

static void fabric_quit_all(struct coordinator *c)
{
	static const atomic_int never;

	for (unsigned int i = 0; i < c->r->host_count && !phase_stopped(c); i++)
		agent_conn_ask(&c->conn[i], "quit", NULL, QUIT_MS);
	agent_conns_wait(c->loop, c->conn, phase_stopped(c) ? 0 : c->r->host_count, &never);
	for (unsigned int i = 0; i < c->r->host_count; i++)
		agent_conn_close(&c->conn[i]); /* end of input also stops a busy agent */
}

static int fabric_open_coordinator(struct coordinator *c, struct err *e)
{
	int err = loop_open(&c->loop, e);

	if (err)
		return err;
	c->conn = calloc(c->r->host_count + 1, sizeof(*c->conn));
	c->capture = malloc((c->r->host_count + 1) * sizeof(*c->capture));
	if (!c->conn || !c->capture ||
	    loop_timer_open(c->loop, fabric_on_heartbeat, c, &c->heartbeat))
		return err_sys(e, -ENOMEM, "run");
	memset(c->capture, -1, (c->r->host_count + 1) * sizeof(*c->capture));
	err = c->dir ? phase_capture_remove(c, e) : 0; /* files of an earlier run */
	return err || !c->dir ? err : phase_traffic_remove(c, e);
}

static void fabric_close_coordinator(struct coordinator *c)
{
	if (c->conn && c->loop)
		fabric_quit_all(c);
	loop_timer_close(c->heartbeat);
	loop_close(c->loop);
	free(c->conn);
	free(c->capture);
	folder_close(&c->captures);
}

/* Sets the error of hosts that had no time to answer before the stop. */
static void fabric_mark_stopped(const struct coordinator *c)
{
	for (unsigned int i = 0; phase_stopped(c) && i < c->r->host_count; i++) {
		struct run_host *h = &c->r->host[i];

		if (!h->reached && !h->error[0])
			snprintf(h->error, sizeof(h->error),
				 "the run was stopped before this host answered");
	}
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
	int err = fabric_open_coordinator(&c, e);

	if (!err)
		err = fabric_connect_all(&c, e);
	if (!err && !phase_stopped(&c))
		err = fabric_run_phases(&c, e);
	fabric_mark_stopped(&c);
	fabric_close_coordinator(&c);
	r->ended_unix_ns = unix_ns();
	if (!err && stop && *stop)
		err = err_set(e, -EINTR, "the run was stopped: the results are incomplete");
	return err;
}
