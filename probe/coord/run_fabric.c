/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fabric run: connect, collect, the phases of the table with their counter readings, the
 * second pass, collect again. Agents stop when the coordinator does not renew their lease.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/launcher.h"
#include "probe/coord/phase_priv.h"
#include "probe/host/lldp_peer.h"
#include "probe/record/run_port.h"
#include "profiles/base/json.h"

/* The job may take the CPU of this host, and its agents do nothing that must stop at once. */
#define JOB_LEASE_MS 30000

#define SAVE_LEASE_MS 300000

/* Skips a host whose agent has another version. */
static void fabric_check_build(struct coordinator *c, unsigned int host)
{
	struct run_host *h = &c->s.r->host[host];
	struct err e;

	if (!session_ready(&c->s, host) || !session_check_build(&c->s, host, &e))
		return;
	agent_error_text(&e, h->error, sizeof(h->error));
	session_report(&c->s, "%s: %s", h->name, h->error);
	agent_conn_close(&c->s.conn[host]);
}

/* Removes files of an earlier run, unless they belong to a phase that is kept. */
static int fabric_remove_files(struct coordinator *c, struct err *e)
{
	int err;

	if (!c->dir || c->s.r->stages & 1u << STAGE_PAIRS)
		return 0;
	err = phase_capture_remove(c, e);
	return err ? err : phase_traffic_remove(c, e);
}

static void fabric_begin_step(struct coordinator *c, const char *name, double seconds)
{
	const struct run_step step = {.phase = name, .seconds = seconds};

	session_begin_step(&c->s, &step);
}

static int fabric_connect_all(struct coordinator *c, struct err *e)
{
	const struct launcher *launcher = launcher_of_fabric(c->f, e);
	bool ready = false;

	if (!launcher)
		return e->code;
	fabric_begin_step(c, "connect", 0);
	session_report(&c->s, "connecting to %u hosts (%s)", c->s.r->host_count, launcher->name);
	session_launch(&c->s, launcher, c->f);
	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		fabric_check_build(c, i);
		ready = ready || session_ready(&c->s, i);
	}
	if (!ready && !session_stopped(&c->s))
		return err_set(e, -EHOSTUNREACH, "cannot reach any of %u hosts",
			       c->s.r->host_count);
	return 0;
}

const struct port *phase_port(const struct coordinator *c, unsigned int host, unsigned int p)
{
	const struct run_host *h = &c->s.r->host[host];

	return h->has_before ? snapshot_port(&h->before, h->port[p].netdev) : NULL;
}

/* One collection of all hosts. */
struct fabric_collection {
	struct coordinator *c;
	bool after; /* the load */
};

/* Stores the snapshot that a host sent, or why it sent none. */
static void fabric_store_snapshot(struct coordinator *c, unsigned int host, bool after)
{
	struct run_host *h = &c->s.r->host[host];
	const json_t *json = json_object_get(c->s.conn[host].call.reply, "snapshot");
	struct err e = c->s.conn[host].call.err;

	if (json && !snapshot_from_json(json, after ? &h->after : &h->before, &e)) {
		h->has_after = h->has_after || after;
		h->has_before = h->has_before || !after;
		for (unsigned int p = 0; p < h->port_count; p++)
			run_port_set_device(&h->port[p], phase_port(c, host, p));
	} else if (!h->error[0]) {
		snprintf(h->error, sizeof(h->error), "%s%.240s", json ? "snapshot: " : "", e.text);
		session_report(&c->s, "%s: %s", h->name, h->error);
	}
}

/* Stores each snapshot as it comes: JSON takes several times the memory of the struct. */
static bool fabric_collected(void *arg)
{
	const struct fabric_collection *w = arg;
	struct session *s = &w->c->s;
	bool busy = false;

	for (unsigned int i = 0; i < s->r->host_count; i++) {
		if (s->conn[i].call.reply) {
			fabric_store_snapshot(w->c, i, w->after);
			agent_call_clear(&s->conn[i].call);
		}
		busy = busy || agent_conn_busy(&s->conn[i]);
	}
	return !busy || session_stopped(s);
}

static void fabric_collect_all(struct coordinator *c, bool after)
{
	struct fabric_collection w = {c, after};

	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		const struct run_host *h = &c->s.r->host[i];
		json_t *ports = json_array();

		for (unsigned int p = 0; p < h->port_count; p++)
			(void)json_array_append_new(ports, json_string(h->port[p].netdev));
		agent_conn_ask(&c->s.conn[i], "collect", json_pack("{s:o}", "ports", ports),
			       SESSION_ANSWER_MS);
	}
	loop_run_until(c->s.loop, fabric_collected, &w);
	session_mark_lost(&c->s);
	for (unsigned int i = 0; i < c->s.r->host_count; i++) {
		const struct run_host *h = &c->s.r->host[i];

		if (session_ready(&c->s, i) && !agent_conn_busy(&c->s.conn[i]) &&
		    !(after ? h->has_after : h->has_before))
			fabric_store_snapshot(c, i, after);
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

void phase_read_counters(struct coordinator *c, enum run_reading reading)
{
	session_ask_counters(&c->s, false);
	session_read_counters(&c->s, reading);
}

static int fabric_estimate_quiet(const struct coordinator *c, enum run_stage stage,
				 struct schedule_estimate *sum, struct err *e)
{
	(void)stage;
	(void)e;
	sum->seconds = c->f->quiet_s;
	return 0;
}

static int fabric_run_quiet(struct coordinator *c, enum run_stage stage, struct err *e)
{
	(void)stage;
	(void)e;
	session_report(&c->s, "reading idle counters, %u s", c->f->quiet_s);
	phase_read_counters(c, READ_QUIET_BEFORE);
	session_pause(&c->s, c->f->quiet_s * UINT64_C(1000));
	phase_read_counters(c, READ_QUIET_AFTER);
	return 0;
}

static int fabric_run_pairs(struct coordinator *c, enum run_stage stage, struct err *e)
{
	int err;

	(void)stage;
	phase_capture_start(c);
	phase_read_counters(c, READ_LOAD_BEFORE);
	err = phase_traffic(c, e);
	session_pause(&c->s, session_settle_ms(&c->s));
	phase_read_counters(c, READ_LOAD_AFTER);
	phase_capture_stop(c);
	return err;
}

const struct phase phases[STAGES] = {
	[STAGE_QUIET] = {.claim = "traffic of others while this run sends nothing",
			 .before = READ_QUIET_BEFORE,
			 .estimate = fabric_estimate_quiet,
			 .run = fabric_run_quiet},
	[STAGE_MARKING] = {.claim = "DSCP of each class, ECN and MTU of each path",
			   .before = READ_COUNT,
			   .link_percent = 1,
			   .estimate = phase_traffic_estimate,
			   .run = phase_marking},
	[STAGE_PAIRS] = {.claim = "delivery between pairs of ports",
			 .before = READ_LOAD_BEFORE,
			 .pairs = 1u << PHASE_LOAD,
			 .estimate = phase_traffic_estimate,
			 .run = fabric_run_pairs},
	[STAGE_INCAST] = {.claim = "lossless under congestion",
			  .before = READ_INCAST_BEFORE,
			  .pairs = 1u << PHASE_INCAST | 1u << PHASE_CANARY |
				   1u << PHASE_CANARY_BESIDE,
			  .maintenance = true,
			  .link_percent = 100,
			  .estimate = phase_incast_estimate,
			  .run = phase_incast},
	[STAGE_CONTROL] = {.claim = "the same load on a lossy priority",
			   .before = READ_CONTROL_BEFORE,
			   .pairs = 1u << PHASE_CONTROL,
			   .maintenance = true,
			   .link_percent = 100,
			   .estimate = phase_incast_estimate,
			   .run = phase_incast},
	[STAGE_SHARES] = {.claim = "shares of RDMA and TCP on full links",
			  .before = READ_COUNT,
			  .pairs = 1u << PHASE_SHARES,
			  .maintenance = true,
			  .link_percent = 100,
			  .estimate = phase_incast_estimate,
			  .run = phase_incast},
};

int run_parse_stages(const char *list, const struct fabric *f, unsigned int *stages, struct err *e)
{
	unsigned int made = 0;

	for (const char *p = list;; p++) {
		size_t length = strcspn(p, ",");
		const struct qos_word *w = run_stage_words;

		while (w->word && (strlen(w->word) != length || strncmp(w->word, p, length) != 0))
			w++;
		if (!w->word) {
			err_set(e, -EINVAL, "unknown phase '%.*s'",
				(int)(length < 40 ? length : 40), p);
			err_hint(e, "expected a list of quiet, marking, pairs, incast, control, "
				    "shares");
			return -EINVAL;
		}
		if (phases[w->value].maintenance && !f->maintenance)
			return err_set(e, -EINVAL, "phase %s needs --maintenance PRIOS", w->word);
		made |= 1u << w->value;
		p += length;
		if (!*p)
			break;
	}
	*stages = made;
	return 0;
}

static void fabric_bytes_text(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = {"MB", "GB", "TB", "PB"};
	double value = (double)bytes / 1e6;
	unsigned int unit = 0;

	if (!bytes) {
		snprintf(buf, size, "no traffic");
		return;
	}
	while (value >= 1000 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, size, "%.1f %s", value, units[unit]);
}

void phase_plan_text(enum run_stage stage, const struct schedule_estimate *sum,
		     unsigned int load_percent, char *buf, size_t size)
{
	const struct phase *p = &phases[stage];
	const char *name = qos_word_text(run_stage_words, stage);
	unsigned int percent = p->link_percent ? p->link_percent : load_percent;
	char time[32], bytes[32], share[40] = "";

	run_seconds_text(sum->seconds, time, sizeof(time));
	fabric_bytes_text(sum->bytes, bytes, sizeof(bytes));
	if (sum->bytes)
		snprintf(share, sizeof(share), ", at most %u %% of a link", percent);
	snprintf(buf, size, "phase %s: about %s, %s%s (%s)", name, time, bytes, share, p->claim);
}

/* Prints the plan. estimate: of each phase, zero for those that do not run. */
static void fabric_print_plan(struct coordinator *c,
			      const struct schedule_estimate estimate[STAGES])
{
	struct schedule_estimate all = {0};
	char text[256], time[32], bytes[32];

	for (unsigned int i = 0; i < STAGES; i++) {
		if (!(c->stages & 1u << i))
			continue;
		phase_plan_text(i, &estimate[i], c->f->load_percent, text, sizeof(text));
		session_notice(&c->s, "%s", text);
		schedule_estimate_add(&all, &estimate[i]);
	}
	run_seconds_text(all.seconds, time, sizeof(time));
	fabric_bytes_text(all.bytes, bytes, sizeof(bytes));
	session_notice(&c->s, "all phases: about %s, %s", time, bytes);
}

/* A phase is complete when it was not stopped, and no host was missing. */
static bool fabric_is_complete(const struct coordinator *c, const struct phase *p)
{
	if (session_stopped(&c->s) || (p->maintenance && phase_was_broken(c->s.r)))
		return false;
	for (unsigned int i = 0; i < c->s.r->host_count; i++)
		if (!session_ready(&c->s, i) || c->s.r->host[i].error[0])
			return false;
	return true;
}

/* Stores what is known until now. Failures cost the file and not the run: the first is reported.
 * Agents, which send nothing now, wait longer than usual: the disk can be slow. */
static void fabric_save(struct coordinator *c)
{
	struct err e = {0};
	int err;

	if (!c->dir || c->save_failed || session_stopped(&c->s))
		return;
	c->s.lease_ms = SAVE_LEASE_MS;
	session_start_heartbeat(&c->s);
	err = run_save_record(c->s.r, c->dir, &e);
	c->s.lease_ms = 0;
	session_start_heartbeat(&c->s);
	if (!err)
		return;
	c->save_failed = true;
	session_notice(&c->s, "warning: %s", e.text);
}

static int fabric_run_stages(struct coordinator *c, struct err *e)
{
	struct schedule_estimate estimate[STAGES] = {{0}};
	struct run_step step = {.count = (unsigned int)__builtin_popcount(c->stages)};
	int err = 0;

	for (unsigned int i = 0; !err && i < STAGES; i++)
		if (c->stages & 1u << i)
			err = phases[i].estimate(c, (enum run_stage)i, &estimate[i], e);
	if (err)
		return err;
	if (c->stages)
		fabric_print_plan(c, estimate);
	c->s.r->traffic = true;
	for (unsigned int i = 0; !err && i < STAGES && !session_stopped(&c->s); i++) {
		const struct phase *p = &phases[i];

		if (!(c->stages & 1u << i))
			continue;
		step.number++;
		if (p->maintenance && phase_was_broken(c->s.r))
			continue;
		step.phase = qos_word_text(run_stage_words, i);
		step.of = estimate[i].rounds;
		step.seconds = estimate[i].seconds;
		session_begin_step(&c->s, &step);
		err = p->run(c, (enum run_stage)i, e);
		if (!err && fabric_is_complete(c, p))
			c->s.r->stages |= 1u << i;
		fabric_save(c);
	}
	if (!err && !session_stopped(&c->s) && (c->stages | c->s.r->stages) & 1u << STAGE_MARKING)
		err = phase_isolate(c, e);
	return err;
}

/* Waits while the users' own jobs run. */
static void fabric_wait_interval(struct coordinator *c)
{
	fabric_begin_step(c, "second reading", c->interval_ms / 1e3);
	session_report(&c->s, "waiting %.0f s between two readings", c->interval_ms / 1e3);
	session_pause(&c->s, c->interval_ms);
}

static int fabric_run_phases(struct coordinator *c, struct err *e)
{
	int err = 0;

	fabric_begin_step(c, "collect", 0);
	session_report(&c->s, "collecting configuration");
	fabric_collect_all(c, false);
	if (c->earlier) {
		resume_check_same(c);
		err = fabric_remove_files(c, e);
		if (err)
			return err;
	}
	if (c->job && !session_stopped(&c->s))
		err = phase_job(c, e);
	else if (c->interval_ms && !session_stopped(&c->s))
		fabric_wait_interval(c);
	else if (c->f->traffic_s && !session_stopped(&c->s))
		err = fabric_run_stages(c, e);
	if (session_stopped(&c->s) || (c->job && err))
		return err;
	fabric_begin_step(c, "collect", 0);
	session_report(&c->s, "collecting configuration again");
	fabric_collect_all(c, true);
	for (unsigned int i = 0; i < c->s.r->host_count; i++)
		fabric_join_lldp_peers(&c->s.r->host[i]);
	return err;
}

static int fabric_open_coordinator(struct coordinator *c, struct err *e)
{
	int err = session_open(&c->s, e);

	if (err)
		return err;
	c->capture = malloc((c->s.r->host_count + 1) * sizeof(*c->capture));
	if (!c->capture)
		return err_sys(e, -ENOMEM, "run");
	memset(c->capture, -1, (c->s.r->host_count + 1) * sizeof(*c->capture));
	if (resume_set_sums(c->s.r, c->f))
		return err_sys(e, -ENOMEM, "run");
	if (!c->earlier)
		return fabric_remove_files(c, e);
	resume_begin(c);
	return 0;
}

static void fabric_close_coordinator(struct coordinator *c)
{
	session_close(&c->s);
	free(c->capture);
	folder_close(&c->captures);
}

/* Sets the error of hosts that had no time to answer before the stop. */
static void fabric_mark_stopped(const struct coordinator *c)
{
	for (unsigned int i = 0; session_stopped(&c->s) && i < c->s.r->host_count; i++) {
		struct run_host *h = &c->s.r->host[i];

		if (!h->reached && !h->error[0])
			snprintf(h->error, sizeof(h->error),
				 "the run was stopped before this host answered");
	}
}

static int fabric_run(struct coordinator *c, struct err *e)
{
	int err = fabric_open_coordinator(c, e);

	if (!err)
		err = fabric_connect_all(c, e);
	if (!err && !session_stopped(&c->s))
		err = fabric_run_phases(c, e);
	if (c->earlier)
		resume_end(c);
	fabric_mark_stopped(c);
	if (!err && session_stopped(&c->s))
		err = err_set(e, -EINTR, "the run was stopped: the results are incomplete");
	fabric_close_coordinator(c);
	c->s.r->ended_unix_ns = unix_ns();
	return err;
}

static struct coordinator fabric_coordinator(const struct fabric *f, const struct run_options *o,
					     struct run *r)
{
	return (struct coordinator){
		.s = {.r = r,
		      .stop = o->stop,
		      .progress = o->watcher.detail,
		      .notice = o->watcher.notice,
		      .on_step = o->watcher.step,
		      .arg = o->watcher.arg},
		.f = f,
		.dir = o->dir,
		.fetch_grace_ms = PHASE_FETCH_GRACE_MS,
	};
}

int run_fabric(const struct fabric *f, const struct run_options *o, struct run *r, struct err *e)
{
	struct coordinator c = fabric_coordinator(f, o, r);

	c.earlier = o->earlier;
	c.stages = o->stages ? o->stages : STAGES_ALL;
	for (unsigned int i = 0; i < STAGES; i++)
		if (phases[i].maintenance && !f->maintenance)
			c.stages &= ~(1u << i);
	return fabric_run(&c, e);
}

int run_survey(const struct fabric *f, unsigned int interval_ms, const struct run_options *o,
	       struct run *r, struct err *e)
{
	struct coordinator c = fabric_coordinator(f, o, r);

	c.interval_ms = interval_ms;
	return fabric_run(&c, e);
}

int run_around(const struct fabric *f, char *const *argv, const struct run_options *o,
	       struct run *r, struct err *e)
{
	struct coordinator c = fabric_coordinator(f, o, r);

	c.s.lease_ms = JOB_LEASE_MS;
	c.job = argv;
	return fabric_run(&c, e);
}
