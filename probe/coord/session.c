/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections, heartbeats and counter readings of a run.
 */
#include "probe/coord/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "probe/record/run_port.h"
#include "profiles/base/json.h"

#define HEARTBEAT_MS   500
#define QUIT_MS	       2000
#define SETTLE_SOFT_MS 100 /* Soft-RoCE counters are always current */

#define FILES_A_HOST 2u	  /* of its launcher: one socket for input and output, one for errors */
#define FILES_OTHER  256u /* captures and reports among them */

#define LAUNCH_MOST	64u /* logins at once */
#define LAUNCH_LEAST	4u
#define LAUNCH_TRIES	5u
#define LAUNCH_AGAIN_MS 500u /* before the second try, and more before later ones */

static void session_print(run_progress *print, void *arg, const char *fmt, va_list ap)
{
	char line[512];

	if (!print)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	print(line, arg);
}

void session_report(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	session_print(s->progress, s->arg, fmt, ap);
	va_end(ap);
}

void session_notice(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	session_print(s->notice, s->arg, fmt, ap);
	va_end(ap);
}

double session_seconds_left(const struct run_step *step, double passed_s, double round_s)
{
	double left = step->seconds - passed_s;

	if (step->done && step->of)
		left = round_s / step->done * (step->of - step->done) - (passed_s - round_s);
	return left > 0 ? left : 0;
}

static void session_report_step(struct session *s)
{
	double passed_s, round_s;

	if (!s->on_step || !s->step.phase)
		return;
	passed_s = (double)(loop_now_ms(s->loop) - s->step_ms) / 1e3;
	round_s = (double)(s->round_ms - s->step_ms) / 1e3;
	s->step.left_s = session_seconds_left(&s->step, passed_s, round_s);
	s->on_step(&s->step, s->arg);
}

void session_begin_step(struct session *s, const struct run_step *step)
{
	s->step = *step;
	s->step_ms = s->round_ms = loop_now_ms(s->loop);
	session_report_step(s);
}

void session_count_round(struct session *s)
{
	s->step.done += s->step.done < s->step.of;
	s->round_ms = loop_now_ms(s->loop);
	session_report_step(s);
}

bool session_stopped(const struct session *s)
{
	return s->broken || (s->stop && *s->stop);
}

bool session_ready(const struct session *s, unsigned int host)
{
	return s->conn[host].state == CONN_READY;
}

void session_mark_lost(struct session *s)
{
	for (unsigned int i = 0; i < s->r->host_count; i++) {
		const struct agent_conn *k = &s->conn[i];
		struct run_host *h = &s->r->host[i];

		if (k->state != CONN_LOST || h->error[0])
			continue;
		agent_error_text(&k->err, h->error, sizeof(h->error));
		session_report(s, "%s: %s", h->name, h->error);
	}
}

void session_wait(struct session *s)
{
	agent_conns_wait(s->loop, s->conn, s->r->host_count, s->stop);
	session_mark_lost(s);
}

struct session_pause {
	const struct session *s;
	uint64_t end_ms;
};

static bool session_pause_over(void *arg)
{
	const struct session_pause *p = arg;

	return loop_now_ms(p->s->loop) >= p->end_ms || session_stopped(p->s);
}

void session_pause(struct session *s, uint64_t ms)
{
	struct session_pause p = {.s = s, .end_ms = loop_now_ms(s->loop) + ms};

	loop_run_until(s->loop, session_pause_over, &p);
	session_mark_lost(s);
}

static void session_on_heartbeat(void *arg)
{
	struct session *s = arg;

	for (unsigned int i = 0; i < s->r->host_count; i++)
		agent_conn_ping(&s->conn[i], s->lease_ms ? s->lease_ms : SESSION_LEASE_MS);
	loop_timer_set(s->heartbeat, HEARTBEAT_MS);
	session_report_step(s);
}

void session_start_heartbeat(struct session *s)
{
	session_on_heartbeat(s);
}

void session_stop_heartbeat(struct session *s)
{
	loop_timer_stop(s->heartbeat);
}

int session_check_build(struct session *s, unsigned int host, struct err *e)
{
	const struct agent_conn *k = &s->conn[host];
	struct run_host *h = &s->r->host[host];

	snprintf(h->agent_version, sizeof(h->agent_version), "%s", k->build);
	snprintf(h->boot_id, sizeof(h->boot_id), "%s", k->boot_id);
	if (strcmp(k->build, ROCECHECK_VERSION)) {
		err_set(e, -EPROTO, "runs rocecheck %s, this host runs %s", k->build,
			ROCECHECK_VERSION);
		err_hint(e, "install the same version on both hosts");
		return -EPROTO;
	}
	h->reached = true;
	return 0;
}

static json_t *session_counters_request(const struct run_host *h, bool users)
{
	json_t *ports = json_array();

	for (unsigned int p = 0; p < h->port_count; p++) {
		const struct run_port *at = &h->port[p];

		(void)json_array_append_new(
			ports,
			json_pack("{s:s, s:s, s:i, s:b}", "netdev", at->netdev, "ibdev", at->ibdev,
				  "ib_port", at->ib_port ? at->ib_port : 1, "users", users));
	}
	return json_pack("{s:o}", "ports", ports);
}

bool session_port_counters(const json_t *reply, unsigned int port, struct counters *out)
{
	const json_t *list = json_object_get(reply, "ports");
	const json_t *json = json_object_get(json_array_get(list, port), "counters");
	struct err ignored; /* the rules see a missing reading */

	return json && !counters_from_json(json, out, &ignored);
}

static void session_store_counters(struct run_host *h, const json_t *reply,
				   enum run_reading reading)
{
	const json_t *ports = json_object_get(reply, "ports");
	struct counters read;
	struct err ignored;

	for (unsigned int p = 0; p < h->port_count; p++) {
		const json_t *users = json_object_get(json_array_get(ports, p), "users");

		if (users)
			(void)run_port_add_users(&h->port[p], users, &ignored);
		if (session_port_counters(reply, p, &read))
			run_port_set_reading(&h->port[p], reading, &read);
	}
}

void session_ask_host_counters(struct session *s, unsigned int host, struct agent_call *call)
{
	agent_call(&s->conn[host], call, "counters",
		   session_counters_request(&s->r->host[host], false), SESSION_ANSWER_MS);
}

void session_ask_counters(struct session *s, bool users)
{
	for (unsigned int i = 0; i < s->r->host_count; i++)
		agent_conn_ask(&s->conn[i], "counters",
			       session_counters_request(&s->r->host[i], users), SESSION_ANSWER_MS);
}

void session_read_counters(struct session *s, enum run_reading reading)
{
	session_wait(s);
	for (unsigned int i = 0; i < s->r->host_count; i++)
		session_store_counters(&s->r->host[i], s->conn[i].call.reply, reading);
}

unsigned int session_settle_ms(const struct session *s)
{
	unsigned int longest = SETTLE_SOFT_MS;

	for (unsigned int i = 0; i < s->r->host_count; i++) {
		const struct run_host *h = &s->r->host[i];

		for (unsigned int p = 0; p < h->port_count; p++) {
			unsigned int ms = run_port_settle_ms(&h->port[p]);

			longest = ms > longest ? ms : longest;
		}
	}
	return longest;
}

/* Raises the soft limit of open files, as far as the hard one allows. */
static void session_raise_files(const struct session *s)
{
	rlim_t need = FILES_OTHER + FILES_A_HOST * (rlim_t)s->r->host_count;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* on failure the start of an agent tells */
}

int session_open(struct session *s, struct err *e)
{
	session_raise_files(s);
	s->own_loop = !s->loop;
	if (s->own_loop && loop_open(&s->loop, e))
		return e->code;
	s->conn = calloc(s->r->host_count + 1, sizeof(*s->conn));
	if (!s->conn || loop_timer_open(s->loop, session_on_heartbeat, s, &s->heartbeat))
		return err_sys(e, -ENOMEM, "run");
	return 0;
}

struct launch_try {
	unsigned int count;
	uint64_t again_ms; /* of the next one; 0 = not refused */
};

/* Agents that are being started. */
struct session_launcher {
	struct session *s;
	const struct launcher *launcher;
	const struct fabric *f;
	unsigned int next;	 /* the first host that was not tried */
	unsigned int most;	 /* at once */
	struct launch_try *host; /* owned */
};

/* What OpenSSH says when the other side, or a jump host, has too many logins at once (sshd_config:
 * MaxStartups, MaxSessions). */
static bool session_login_refused(const struct agent_conn *k)
{
	static const char *const signs[] = {"Connection closed by", "Connection reset by",
					    "kex_exchange_identification", "open refused by peer"};

	for (size_t i = 0; i < ARRAY_SIZE(signs) && k->state == CONN_LOST; i++)
		if (strstr(k->err.text, signs[i]))
			return true;
	return false;
}

static void session_start(struct session_launcher *l, unsigned int host)
{
	l->host[host] = (struct launch_try){.count = l->host[host].count + 1};
	agent_conn_launch(&l->s->conn[host], l->s->loop, l->launcher, l->f, host);
}

/* Plans another try of a host that was refused. */
static void session_note_refusal(struct session_launcher *l, unsigned int host)
{
	struct launch_try *t = &l->host[host];

	if (t->count >= LAUNCH_TRIES || !session_login_refused(&l->s->conn[host]))
		return;
	t->again_ms = loop_now_ms(l->s->loop) + t->count * LAUNCH_AGAIN_MS;
	l->most = l->most / 2 > LAUNCH_LEAST ? l->most / 2 : LAUNCH_LEAST;
	session_report(l->s, "%s: refused, will try again, with at most %u logins at once: %s",
		       l->s->r->host[host].name, l->most, l->s->conn[host].err.text);
	agent_conn_close(&l->s->conn[host]);
}

/* Starts what may be started now; true when all are there, or lost. */
static bool session_launched(void *arg)
{
	struct session_launcher *l = arg;
	struct session *s = l->s;
	unsigned int busy = 0, waiting = 0;

	for (unsigned int i = 0; i < l->next; i++) {
		if (!l->host[i].again_ms)
			session_note_refusal(l, i);
		busy += agent_conn_busy(&s->conn[i]);
	}
	for (unsigned int i = 0; i < l->next; i++) {
		if (!l->host[i].again_ms)
			continue;
		if (busy < l->most && loop_now_ms(s->loop) >= l->host[i].again_ms) {
			session_start(l, i);
			busy++;
		} else {
			waiting++;
		}
	}
	while (busy < l->most && l->next < s->r->host_count) {
		session_start(l, l->next++);
		busy++;
	}
	return (!busy && !waiting) || session_stopped(s);
}

void session_launch(struct session *s, const struct launcher *launcher, const struct fabric *f)
{
	struct session_launcher l = {.s = s, .launcher = launcher, .f = f, .most = LAUNCH_MOST};

	l.host = calloc(s->r->host_count + 1, sizeof(*l.host));
	session_start_heartbeat(s);
	if (l.host)
		loop_run_until(s->loop, session_launched, &l);
	session_mark_lost(s);
	free(l.host);
}

/* The end of its input stops a busy agent, too. */
static void session_quit_all(struct session *s)
{
	static const atomic_int never;

	for (unsigned int i = 0; i < s->r->host_count; i++) {
		if (agent_conn_busy(&s->conn[i]))
			agent_conn_close(&s->conn[i]);
		agent_conn_ask(&s->conn[i], "quit", NULL, QUIT_MS);
	}
	agent_conns_wait(s->loop, s->conn, s->r->host_count, &never);
	for (unsigned int i = 0; i < s->r->host_count; i++)
		agent_conn_close(&s->conn[i]);
}

void session_close(struct session *s)
{
	if (s->conn && s->loop)
		session_quit_all(s);
	loop_timer_close(s->heartbeat);
	if (s->own_loop)
		loop_close(s->loop);
	free(s->conn);
	s->conn = NULL;
	s->heartbeat = NULL;
	s->loop = NULL;
}
