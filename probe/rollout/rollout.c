/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a rollout: orders the hosts, connects to their agents, plans, and starts each host when its
 * turn comes. Steps of one host:
 *
 *   apply -> check -> confirm -> applied
 *     |        |         |
 *     |        +---------+--> undo -> rolled back
 *     +-> unchanged, rolled back (by itself), failed
 *
 * A lost connection leads from each step to: back off -> reconnect -> ask, until the host reports
 * the outcome of its transaction or the time of its dead-man is over.
 */
#include "probe/rollout/rollout.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/session.h"
#include "probe/coord/launcher.h"
#include "profiles/base/json.h"

#define LEASE_MS     20000 /* the connection itself may use a link that flaps */
#define ANSWER_MS    60000
#define APPLY_MS     120000 /* plus the waits for links */
#define AGAIN_MS     500    /* between two connection attempts or requests to a host */
#define UNSTARTED_MS 10000  /* by then an apply that was requested has written its journal */
#define PORTS_MAX    1024
#define STEPS_MAX    4096

enum rollout_step {
	STEP_IDLE, /* not begun, or ended */
	STEP_APPLY,
	STEP_CHECK, /* plans again: it must be empty */
	STEP_CONFIRM,
	STEP_UNDO,
	STEP_BACKOFF, /* connection lost: waits before it connects again */
	STEP_RECONNECT,
	STEP_ASK, /* connected again: reads the outcome of its transaction */
};

struct rollout_host_state {
	enum rollout_step step;
	char last_tx[32]; /* its newest transaction before this rollout, empty = none */
	bool asked;	  /* apply was requested */
	bool confirmed;	  /* after a reconnect: its transaction needs no confirmation */
	bool undoing;	  /* to be rolled back, whatever its own outcome is */
	uint64_t begin_ms, again_ms, give_up_ms;
	char why[ROLLOUT_REASON_MAX]; /* reason of the rollback or of the lost connection */
};

struct rollout_priv {
	const struct fabric *f;
	const struct launcher *launcher;
	const atomic_int *stop;
	rollout_progress *progress;
	void *arg;
	const struct rollout_options *options;
	struct run run; /* names of the hosts for the session */
	struct session s;
	struct rollout_host_state *host_state; /* of each host */
	bool look_again;		       /* a host has ended: another may start */
};

void rollout_add_group(struct rollout_entry *u, uint32_t group)
{
	for (unsigned int i = 0; i < u->group_count; i++)
		if (u->group[i] == group || u->group[i] == ROLLOUT_EVERY_GROUP)
			return;
	if (u->group_count < ROLLOUT_GROUPS_MAX) {
		u->group[u->group_count++] = group;
		return;
	}
	u->group_count = 1;
	u->group[0] = ROLLOUT_EVERY_GROUP;
}

static bool rollout_share_group(const struct rollout_entry *a, const struct rollout_entry *b)
{
	for (unsigned int i = 0; i < a->group_count; i++)
		for (unsigned int k = 0; k < b->group_count; k++)
			if (a->group[i] == b->group[k] || a->group[i] == ROLLOUT_EVERY_GROUP ||
			    b->group[k] == ROLLOUT_EVERY_GROUP)
				return true;
	return false;
}

/* The running hosts. */
struct running {
	const struct rollout_entry *entry[ROLLOUT_PARALLEL_MAX];
	unsigned int count;
};

static bool rollout_must_wait(const struct running *running, const struct rollout_entry *u)
{
	for (unsigned int i = 0; i < running->count; i++)
		if (rollout_share_group(running->entry[i], u))
			return true;
	return false;
}

static unsigned int rollout_scan(const struct rollout_entry *unit, unsigned int n,
				 struct running *running)
{
	unsigned int failed = 0;

	running->count = 0;
	for (unsigned int i = 0; i < n; i++) {
		failed += unit[i].stage == ROLLOUT_STAGE_FAILED;
		if (unit[i].stage == ROLLOUT_STAGE_RUNNING && running->count < ROLLOUT_PARALLEL_MAX)
			running->entry[running->count++] = &unit[i];
	}
	return failed;
}

int rollout_next(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l)
{
	struct running running;
	unsigned int failed = rollout_scan(unit, n, &running);
	int later = running.count ? -EAGAIN : -ENOENT;

	if (failed > l->max_failed)
		return later;
	if (l->canary < n && unit[l->canary].stage != ROLLOUT_STAGE_DONE)
		return unit[l->canary].stage == ROLLOUT_STAGE_WAITING ? (int)l->canary : later;
	if (running.count >= l->parallel || running.count == ROLLOUT_PARALLEL_MAX)
		return later;
	for (unsigned int i = 0; i < n; i++)
		if (unit[i].stage == ROLLOUT_STAGE_WAITING &&
		    !rollout_must_wait(&running, &unit[i]))
			return (int)i;
	return later;
}

/* Simulates rollout_next(), so announced and real order agree. */
int rollout_waves(const struct rollout_entry *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave)
{
	struct rollout_entry *mine = malloc((n ? n : 1) * sizeof(*mine));
	int waves = 0, next;

	if (!mine)
		return -ENOMEM;
	memcpy(mine, unit, n * sizeof(*mine));
	memset(wave, 0, n * sizeof(*wave));
	while ((next = rollout_next(mine, n, l)) >= 0) {
		waves++;
		do {
			mine[next].stage = ROLLOUT_STAGE_RUNNING;
			wave[next] = waves;
		} while ((next = rollout_next(mine, n, l)) >= 0);
		for (unsigned int i = 0; i < n; i++)
			if (mine[i].stage == ROLLOUT_STAGE_RUNNING)
				mine[i].stage = ROLLOUT_STAGE_DONE;
	}
	free(mine);
	return waves;
}

/* Answers of hosts are hostile input. */

static const char *const result_words[ROLLOUT_RESULT_COUNT] = {
	[ROLLOUT_NOT_STARTED] = "not started", [ROLLOUT_UNCHANGED] = "unchanged",
	[ROLLOUT_APPLIED] = "applied",	       [ROLLOUT_ROLLED_BACK] = "rolled back",
	[ROLLOUT_FAILED] = "failed",
};

const char *rollout_result_word(enum rollout_result result)
{
	return result_words[result];
}

static bool rollout_is_text(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static bool rollout_disrupts(const json_t *port)
{
	const json_t *step;
	size_t i;

	json_array_foreach (json_object_get(port, "steps"), i, step)
		if (!json_is_true(json_object_get(step, "cannot")) &&
		    !rollout_is_text(step, "disruption", "none"))
			return true;
	return false;
}

static int rollout_read_port(const json_t *port, struct rollout_facts *f, struct err *e)
{
	const json_t *steps, *users = json_object_get(port, "used_by");
	char netdev[16];
	unsigned int cannot = 0;
	int err = json_get_text(port, "netdev", netdev, sizeof(netdev), e);

	if (!err)
		err = json_get_array(port, "steps", STEPS_MAX, &steps, e);
	if (err)
		return err;
	for (size_t i = 0; i < json_array_size(steps); i++)
		cannot += json_is_true(json_object_get(json_array_get(steps, i), "cannot"));
	f->ports++;
	f->cannot += cannot;
	f->changes += json_array_size(steps) - cannot;
	f->unproven |= json_array_size(steps) > cannot && rollout_is_text(port, "tier", "source");
	if (!rollout_disrupts(port))
		return 0;
	f->disrupted++;
	if (json_array_size(users) && !f->used[0])
		snprintf(f->used, sizeof(f->used), "%s is in use by %s", netdev,
			 json_is_string(json_array_get(users, 0))
				 ? json_string_value(json_array_get(users, 0))
				 : "a program");
	return 0;
}

int rollout_read_facts(const json_t *plan, struct rollout_facts *facts, struct err *e)
{
	struct rollout_facts f = {0};
	const json_t *ports;
	int err = 0;

	if (!json_is_object(plan) || !rollout_is_text(plan, "schema", "rocecheck.plan/1"))
		return err_set(e, -EBADMSG, "the host did not answer with a plan");
	err = json_get_array(plan, "ports", PORTS_MAX, &ports, e);
	for (size_t i = 0; !err && i < json_array_size(ports); i++)
		err = rollout_read_port(json_array_get(ports, i), &f, e);
	if (err)
		return err_set(e, -EBADMSG, "the host did not answer with a plan");
	*facts = f;
	return 0;
}

/* Hosts without a rack form one group. */
static uint32_t rollout_rack_of(const struct fabric *f, unsigned int h)
{
	for (unsigned int i = 0; i < h; i++)
		if (!strcmp(f->host[i].rack, f->host[h].rack))
			return i;
	return h;
}

static uint32_t rollout_rail_of(const struct fabric_host *host, const char *netdev)
{
	for (unsigned int p = 0; netdev && p < host->port_count; p++)
		if (!strcmp(host->port[p].interface, netdev))
			return host->port[p].rail;
	return ROLLOUT_EVERY_GROUP;
}

void rollout_read_groups(const json_t *plan, const struct fabric *f, unsigned int h,
			 struct rollout_entry *u)
{
	const json_t *port;
	size_t i;

	u->group_count = 0;
	json_array_foreach (json_object_get(plan, "ports"), i, port) {
		const char *netdev = json_string_value(json_object_get(port, "netdev"));

		if (!rollout_disrupts(port))
			continue;
		if (f->failure_group == GROUP_RAIL)
			rollout_add_group(u, rollout_rail_of(&f->host[h], netdev));
		else
			rollout_add_group(u, f->failure_group == GROUP_RACK ? rollout_rack_of(f, h)
									    : 0);
	}
}

void rollout_reason(const char *stderr_text, int status, char *buf, size_t size)
{
	static const char mark[] = "error: ", help[] = "\n   = help: ";
	const char *text = NULL, *hint;
	size_t length;

	for (const char *at = stderr_text; at && (at = strstr(at, mark)); text = at)
		at += strlen(mark);
	if (!text) {
		snprintf(buf, size, "exit %d", status);
		return;
	}
	length = strcspn(text, "\n");
	hint = !strncmp(text + length, help, strlen(help)) ? text + length + strlen(help) : NULL;
	snprintf(buf, size, "%.*s%s%.*s%s", (int)length, text, hint ? " (" : "",
		 hint ? (int)strcspn(hint, "\n") : 0, hint ? hint : "", hint ? ")" : "");
}

static void PRINTF_LIKE(3, 4)
	rollout_report(const struct rollout *r, unsigned int h, const char *fmt, ...)
{
	char text[ROLLOUT_REASON_MAX], line[ROLLOUT_REASON_MAX + FABRIC_NAME_MAX + 2];
	va_list ap;

	if (!r->priv->progress)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", r->host[h].name, text);
	r->priv->progress(line, r->priv->arg);
}

/* Exit codes of apply and rollback. */
enum {
	ROLLOUT_EXIT_OK = 0,
	ROLLOUT_EXIT_FINDINGS = 1,
	ROLLOUT_EXIT_UNDONE = 5,
	ROLLOUT_EXIT_LOST = 6,
};

static struct agent_conn *rollout_conn(const struct rollout *r, unsigned int h)
{
	return &r->priv->s.conn[h];
}

static struct rollout_host_state *rollout_state(const struct rollout *r, unsigned int h)
{
	return &r->priv->host_state[h];
}

static void rollout_end_host(struct rollout *r, unsigned int h, enum rollout_result result)
{
	struct rollout_host *host = &r->host[h];
	bool success = result == ROLLOUT_APPLIED || result == ROLLOUT_UNCHANGED;

	host->result = result;
	host->took_ms = loop_now_ms(r->priv->s.loop) - rollout_state(r, h)->begin_ms;
	rollout_state(r, h)->step = STEP_IDLE;
	r->entry[h].stage = success ? ROLLOUT_STAGE_DONE : ROLLOUT_STAGE_FAILED;
	r->priv->look_again = true;
	rollout_report(r, h, "%s, %.1f s%s%s", rollout_result_word(result), host->took_ms / 1e3,
		       host->reason[0] ? ": " : "", host->reason);
}

static void PRINTF_LIKE(5, 6)
	rollout_fail(struct rollout *r, unsigned int h, enum rollout_result result, int status,
		     const char *fmt, ...)
{
	struct rollout_host *host = &r->host[h];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(host->reason, sizeof(host->reason), fmt, ap);
	va_end(ap);
	host->status = status;
	host->lost = status == ROLLOUT_EXIT_LOST;
	rollout_end_host(r, h, result);
}

static void rollout_ask(struct rollout *r, unsigned int h, enum rollout_step step, const char *op,
			json_t *fields, unsigned int timeout_ms)
{
	rollout_state(r, h)->step = step;
	agent_conn_ask(rollout_conn(r, h), op, fields, timeout_ms);
}

static void rollout_ask_tx(struct rollout *r, unsigned int h, enum rollout_step step,
			   const char *op)
{
	rollout_ask(r, h, step, op, json_pack("{s:s}", "tx", r->host[h].tx), ANSWER_MS);
}

static void PRINTF_LIKE(3, 4) rollout_undo(struct rollout *r, unsigned int h, const char *fmt, ...)
{
	struct rollout_host_state *w = rollout_state(r, h);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	w->undoing = true;
	rollout_ask_tx(r, h, STEP_UNDO, "rollback");
}

static void rollout_back_off(struct rollout *r, unsigned int h)
{
	rollout_state(r, h)->step = STEP_BACKOFF;
	rollout_state(r, h)->again_ms = loop_now_ms(r->priv->s.loop) + AGAIN_MS;
}

static void rollout_give_up(struct rollout *r, unsigned int h)
{
	const struct rollout_host_state *w = rollout_state(r, h);

	rollout_fail(r, h, ROLLOUT_FAILED, ROLLOUT_EXIT_LOST,
		     "connection lost: %.400s; a running host rolls back by itself: check "
		     "'rocecheck rollback --list' on the host",
		     w->why);
}

/* The journal of the host has the outcome. The first call starts the timeout. */
static void rollout_await_outcome(struct rollout *r, unsigned int h, const char *why)
{
	struct rollout_host_state *w = rollout_state(r, h);
	uint64_t now_ms = loop_now_ms(r->priv->s.loop);
	const struct rollout_options *how = r->priv->options;
	uint64_t time_s = how->confirm_within_s +
			  (uint64_t)how->wait_link_s * r->host[h].facts.disrupted;
	uint64_t time_ms = time_s * 1000 + how->margin_ms;

	if (!w->give_up_ms) {
		w->give_up_ms = now_ms + time_ms;
		if (!w->undoing)
			snprintf(w->why, sizeof(w->why), "%s", why);
		rollout_report(r, h, "%s: trying for %u s to read the outcome", why,
			       (unsigned int)(time_ms / 1000));
	}
	if (now_ms >= w->give_up_ms)
		rollout_give_up(r, h);
	else
		rollout_back_off(r, h);
}

static void rollout_check(struct rollout *r, unsigned int h)
{
	rollout_ask(r, h, STEP_CHECK, "plan", json_pack("{s:O}", "profile", r->host[h].profile),
		    ANSWER_MS);
}

static void rollout_apply(struct rollout *r, unsigned int h)
{
	const struct rollout_options *how = r->priv->options;
	const struct rollout_host *host = &r->host[h];
	unsigned int ports = host->facts.disrupted, links_ms = how->wait_link_s * 1000 * ports;
	json_t *fields = json_pack("{s:O, s:i, s:i, s:b}", "plan", host->plan, "confirm_within_s",
				   (int)how->confirm_within_s, "wait_link_s", (int)how->wait_link_s,
				   "disruption", how->disruption);

	if (how->settle_ms != ROLLOUT_SETTLE_AUTO) {
		(void)json_object_set_new(fields, "settle_ms", json_integer(how->settle_ms));
		links_ms += how->settle_ms;
	}
	r->entry[h].stage = ROLLOUT_STAGE_RUNNING;
	rollout_state(r, h)->asked = rollout_conn(r, h)->state == CONN_READY;
	rollout_state(r, h)->begin_ms = loop_now_ms(r->priv->s.loop);
	rollout_report(r, h, "applying %u change%s%s", host->facts.changes,
		       plural(host->facts.changes), h == how->limits.canary ? " (canary)" : "");
	rollout_ask(r, h, STEP_APPLY, "apply", fields, APPLY_MS + links_ms);
}

/* Result of a command on the host. */
struct answer {
	int status;
	const json_t *output;
	char reason[ROLLOUT_REASON_MAX]; /* of a failure */
};

/* Returns false when the agent did not start the command, or did not report its end. */
static bool rollout_read_answer(const struct agent_conn *k, struct answer *a)
{
	const json_t *status = json_object_get(k->call.reply, "exit");
	const char *stderr_text = json_string_value(json_object_get(k->call.reply, "said"));

	memset(a, 0, sizeof(*a));
	a->output = json_object_get(k->call.reply, "output");
	if (!json_is_integer(status)) {
		agent_error_text(&k->call.err, a->reason, sizeof(a->reason));
		return false;
	}
	a->status = (int)json_integer_value(status);
	rollout_reason(stderr_text ? stderr_text : "", a->status, a->reason, sizeof(a->reason));
	return true;
}

static void rollout_after_apply(struct rollout *r, unsigned int h, const struct answer *a)
{
	struct rollout_host *host = &r->host[h];
	const char *outcome = json_string_value(json_object_get(a->output, "outcome"));
	const json_t *left = json_object_get(a->output, "left");
	struct err e = {0};

	(void)json_get_text(a->output, "tx", host->tx, sizeof(host->tx), &e);
	if (a->status == ROLLOUT_EXIT_UNDONE)
		rollout_fail(r, h, ROLLOUT_ROLLED_BACK, ROLLOUT_EXIT_UNDONE, "%s", a->reason);
	else if (a->status == ROLLOUT_EXIT_LOST)
		rollout_fail(r, h, ROLLOUT_FAILED, ROLLOUT_EXIT_LOST, "%s", a->reason);
	else if (a->status == ROLLOUT_EXIT_OK && outcome && !strcmp(outcome, "unchanged"))
		rollout_end_host(r, h, ROLLOUT_UNCHANGED);
	else if (a->status == ROLLOUT_EXIT_OK && host->tx[0])
		rollout_check(r, h);
	else if (a->status == ROLLOUT_EXIT_FINDINGS && host->tx[0] && json_integer_value(left) > 0)
		rollout_undo(r, h, "%lld settings read back with other values than written",
			     (long long)json_integer_value(left));
	else if (host->tx[0])
		rollout_undo(r, h, "the re-check after apply failed: %.500s", a->reason);
	else if (a->status == ROLLOUT_EXIT_OK)
		rollout_await_outcome(r, h, "invalid answer to apply");
	else
		rollout_fail(r, h, ROLLOUT_FAILED, a->status, "%s", a->reason);
}

/* The check proves that the connection still works after the change. */
static void rollout_after_check(struct rollout *r, unsigned int h, const struct answer *a)
{
	const struct rollout_host_state *w = rollout_state(r, h);
	struct rollout_facts facts;
	struct err e = {0};

	if (a->status)
		rollout_undo(r, h, "the check after apply failed: %.600s", a->reason);
	else if (rollout_read_facts(a->output, &facts, &e))
		rollout_undo(r, h, "%s", e.text);
	else if (facts.changes)
		rollout_undo(r, h, "%u settings differ again after apply", facts.changes);
	else if (w->confirmed)
		rollout_end_host(r, h, ROLLOUT_APPLIED);
	else
		rollout_ask_tx(r, h, STEP_CONFIRM, "confirm");
}

static void rollout_after_confirm(struct rollout *r, unsigned int h, const struct answer *a)
{
	if (a->status)
		rollout_undo(r, h, "confirming failed: %.600s", a->reason);
	else
		rollout_end_host(r, h, ROLLOUT_APPLIED);
}

static void rollout_after_undo(struct rollout *r, unsigned int h, const struct answer *a)
{
	const struct rollout_host_state *w = rollout_state(r, h);

	if (!a->status)
		rollout_fail(r, h, ROLLOUT_ROLLED_BACK, ROLLOUT_EXIT_UNDONE, "%s", w->why);
	else
		rollout_fail(r, h, ROLLOUT_FAILED, ROLLOUT_EXIT_LOST,
			     "%.300s; and the rollback failed: %.300s", w->why, a->reason);
}

/* The newest transaction of the host. */
struct newest {
	char id[32], state[16];
	bool waits;
};

static bool rollout_read_newest(const struct answer *a, struct newest *n)
{
	const json_t *list = json_object_get(a->output, "transactions");
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	struct err e = {0};

	memset(n, 0, sizeof(*n));
	if (a->status || !json_is_array(list))
		return false;
	return !last || (!json_get_text(last, "id", n->id, sizeof(n->id), &e) &&
			 !json_get_text(last, "state", n->state, sizeof(n->state), &e) &&
			 !json_get_bool(last, "waits", &n->waits, &e));
}

/* The host answers again: its journal decides. */
static void rollout_after_ask(struct rollout *r, unsigned int h, const struct answer *a)
{
	struct rollout_host_state *w = rollout_state(r, h);
	struct rollout_host *host = &r->host[h];
	uint64_t lost_ms = loop_now_ms(r->priv->s.loop) - w->begin_ms;
	struct newest n;

	if (!rollout_read_newest(a, &n)) {
		rollout_back_off(r, h);
		return;
	}
	if (!w->asked) {
		w->give_up_ms = 0;
		rollout_apply(r, h);
		return;
	}
	/* A prepared transaction has not begun to write, or its process has ended. */
	if (!strcmp(n.id, w->last_tx) || !strcmp(n.state, "prepared") ||
	    !strcmp(n.state, "empty")) {
		if (lost_ms < UNSTARTED_MS)
			rollout_back_off(r, h);
		else
			rollout_fail(r, h, ROLLOUT_FAILED, 0, "%.500s; the host changed nothing",
				     w->why);
		return;
	}
	memcpy(host->tx, n.id, sizeof(host->tx));
	w->confirmed = !n.waits;
	if (!strcmp(n.state, "done") && w->undoing)
		rollout_ask_tx(r, h, STEP_UNDO, "rollback");
	else if (!strcmp(n.state, "done"))
		rollout_check(r, h);
	else if (!strcmp(n.state, "undone"))
		rollout_fail(r, h, ROLLOUT_ROLLED_BACK, ROLLOUT_EXIT_UNDONE,
			     "%.500s; the host rolled back by itself", w->why);
	else if (!strcmp(n.state, "lost"))
		rollout_fail(r, h, ROLLOUT_FAILED, ROLLOUT_EXIT_LOST,
			     "%.500s; and the host could not roll back", w->why);
	else
		rollout_back_off(r, h);
}

static void rollout_reconnect(struct rollout *r, unsigned int h)
{
	struct rollout_host_state *w = rollout_state(r, h);
	uint64_t now_ms = loop_now_ms(r->priv->s.loop);

	if (now_ms < w->again_ms)
		return;
	if (rollout_conn(r, h)->state == CONN_READY && now_ms < w->give_up_ms) {
		rollout_ask(r, h, STEP_ASK, "transactions", NULL, ANSWER_MS);
	} else if (now_ms < w->give_up_ms) {
		w->step = STEP_RECONNECT;
		agent_conn_launch(rollout_conn(r, h), r->priv->s.loop, r->priv->launcher,
				  r->priv->f, h);
	} else {
		rollout_give_up(r, h);
	}
}

typedef void after(struct rollout *r, unsigned int h, const struct answer *a);

static after *const afters[] = {
	[STEP_APPLY] = rollout_after_apply,	[STEP_CHECK] = rollout_after_check,
	[STEP_CONFIRM] = rollout_after_confirm, [STEP_UNDO] = rollout_after_undo,
	[STEP_ASK] = rollout_after_ask,
};

static void rollout_advance(struct rollout *r, unsigned int h)
{
	struct rollout_host_state *w = rollout_state(r, h);
	char why[ROLLOUT_REASON_MAX];
	struct answer a;

	if (w->step == STEP_BACKOFF) {
		rollout_reconnect(r, h);
		return;
	}
	if (rollout_conn(r, h)->state != CONN_READY) {
		agent_error_text(&rollout_conn(r, h)->err, why, sizeof(why));
		agent_conn_close(rollout_conn(r, h));
		rollout_await_outcome(r, h, why);
		return;
	}
	if (w->step == STEP_RECONNECT) {
		rollout_ask(r, h, STEP_ASK, "transactions", NULL, ANSWER_MS);
		return;
	}
	if (!rollout_read_answer(rollout_conn(r, h), &a))
		rollout_await_outcome(r, h, a.reason);
	else
		afters[w->step](r, h, &a);
}

static int rollout_open_priv(struct rollout *r, struct err *e)
{
	struct rollout_priv *in = r->priv;
	const struct fabric *f = in->f;
	int err = run_init(&in->run, f);

	if (err)
		return err_sys(e, err, "rollout");
	in->s = (struct session){.r = &in->run, .stop = in->stop, .lease_ms = LEASE_MS};
	if (session_open(&in->s, e))
		return e->code;
	in->launcher = launcher_of_fabric(f, e);
	if (!in->launcher)
		return e->code;
	in->host_state = calloc(f->host_count + 1, sizeof(*in->host_state));
	r->host = calloc(f->host_count + 1, sizeof(*r->host));
	r->entry = calloc(f->host_count + 1, sizeof(*r->entry));
	if (!in->host_state || !r->host || !r->entry)
		return err_sys(e, -ENOMEM, "rollout");
	r->host_count = f->host_count;
	for (unsigned int h = 0; h < r->host_count; h++)
		snprintf(r->host[h].name, sizeof(r->host[h].name), "%s", f->host[h].name);
	return 0;
}

int rollout_open(const struct fabric *f, const atomic_int *stop, rollout_progress *progress,
		 void *arg, struct rollout *r, struct err *e)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->priv = calloc(1, sizeof(*r->priv));
	if (!r->priv)
		return err_sys(e, -ENOMEM, "rollout");
	r->priv->f = f;
	r->priv->stop = stop;
	r->priv->progress = progress;
	r->priv->arg = arg;
	err = rollout_open_priv(r, e);
	if (err)
		rollout_close(r);
	return err;
}

void rollout_close(struct rollout *r)
{
	struct rollout_priv *in = r->priv;

	if (!in)
		return;
	session_close(&in->s);
	run_clear(&in->run);
	for (unsigned int h = 0; h < r->host_count; h++) {
		json_decref(r->host[h].profile);
		json_decref(r->host[h].plan);
		free(r->host[h].plan_text);
		free(r->host[h].warnings);
	}
	free(in->host_state);
	free(r->host);
	free(r->entry);
	free(in);
	memset(r, 0, sizeof(*r));
}

/* The host failed before its apply. */
static void PRINTF_LIKE(3, 4)
	rollout_reject(struct rollout *r, unsigned int h, const char *fmt, ...)
{
	struct rollout_host *host = &r->host[h];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(host->reason, sizeof(host->reason), fmt, ap);
	va_end(ap);
	host->result = ROLLOUT_FAILED;
	r->entry[h].stage = ROLLOUT_STAGE_FAILED;
	rollout_report(r, h, "%s", host->reason);
}

static void rollout_check_build(struct rollout *r, unsigned int h)
{
	const struct agent_conn *k = rollout_conn(r, h);
	char reason[ROLLOUT_REASON_MAX];
	struct err e = k->err;

	if (agent_conn_busy(k))
		err_set(&e, -EINTR, "interrupted before the host answered");
	else if (k->state == CONN_READY && !session_check_build(&r->priv->s, h, &e))
		r->host[h].reached = true;
	if (r->host[h].reached)
		return;
	agent_error_text(&e, reason, sizeof(reason));
	rollout_reject(r, h, "%s", reason);
}

void rollout_connect(struct rollout *r)
{
	struct rollout_priv *in = r->priv;

	session_launch(&in->s, in->launcher, in->f);
	for (unsigned int h = 0; h < r->host_count; h++)
		rollout_check_build(r, h);
}

static bool rollout_can_plan(const struct rollout *r, unsigned int h)
{
	return r->host[h].result == ROLLOUT_NOT_STARTED;
}

/* Sends a request to each host that can be planned; plan: with the profile of the host. */
static void rollout_ask_all(struct rollout *r, const char *op, bool plan, bool as_text)
{
	for (unsigned int h = 0; h < r->host_count; h++) {
		json_t *fields;

		if (!rollout_can_plan(r, h))
			continue;
		fields = plan ? json_pack("{s:O}", "profile", r->host[h].profile) : NULL;
		if (as_text)
			(void)json_object_set_new(fields, "as_text", json_true());
		agent_conn_ask(rollout_conn(r, h), op, fields, ANSWER_MS);
	}
	session_wait(&r->priv->s);
}

/* Returns the output of the command on the host; NULL: the host has failed. */
static const json_t *rollout_read_output(struct rollout *r, unsigned int h)
{
	struct answer a;

	if (*r->priv->stop) {
		rollout_reject(r, h, "interrupted before the host answered");
		return NULL;
	}
	if (!rollout_read_answer(rollout_conn(r, h), &a)) {
		rollout_reject(r, h, "%s", a.reason);
		r->host[h].reached = rollout_conn(r, h)->state == CONN_READY;
		return NULL;
	}
	r->host[h].status = a.status;
	if (a.status)
		rollout_reject(r, h, "%s", a.reason);
	return a.status ? NULL : a.output;
}

static void rollout_read_plan(struct rollout *r, unsigned int h)
{
	const json_t *warnings = json_object_get(rollout_conn(r, h)->call.reply, "said");
	const json_t *output = rollout_read_output(r, h);
	struct rollout_host *host = &r->host[h];
	struct err e = {0};

	if (!output)
		return;
	if (rollout_read_facts(output, &host->facts, &e)) {
		rollout_reject(r, h, "%s", e.text);
		return;
	}
	host->plan = json_deep_copy(output);
	if (!host->plan || json_object_set(host->plan, "profile", host->profile)) {
		rollout_reject(r, h, "out of memory");
		return;
	}
	if (json_string_length(warnings))
		host->warnings = strdup(json_string_value(warnings));
	rollout_read_groups(host->plan, r->priv->f, h, &r->entry[h]);
}

static void rollout_read_plan_text(struct rollout *r, unsigned int h)
{
	const json_t *output = rollout_read_output(r, h);

	if (json_is_string(output))
		r->host[h].plan_text = strdup(json_string_value(output));
	else if (output)
		rollout_reject(r, h, "the host did not answer with a plan");
}

/* Remembers the newest transaction before ours. */
static void rollout_read_last_tx(struct rollout *r, unsigned int h)
{
	const json_t *output = rollout_read_output(r, h);
	const json_t *list = json_object_get(output, "transactions");
	const json_t *newest = json_array_get(list, json_array_size(list) - 1);
	struct rollout_host_state *w = rollout_state(r, h);

	if (!output)
		return;
	if (!json_is_array(list) ||
	    (newest && json_get_text(newest, "id", w->last_tx, sizeof(w->last_tx), NULL)))
		rollout_reject(r, h, "the host did not answer with a list of transactions");
}

void rollout_plan(struct rollout *r, bool as_text)
{
	rollout_ask_all(r, "plan", true, false);
	for (unsigned int h = 0; h < r->host_count; h++)
		if (rollout_can_plan(r, h))
			rollout_read_plan(r, h);
	if (as_text) {
		rollout_ask_all(r, "plan", true, true);
		for (unsigned int h = 0; h < r->host_count; h++)
			if (rollout_can_plan(r, h))
				rollout_read_plan_text(r, h);
	}
	rollout_ask_all(r, "transactions", false, false);
	for (unsigned int h = 0; h < r->host_count; h++)
		if (rollout_can_plan(r, h))
			rollout_read_last_tx(r, h);
}

unsigned int rollout_canary(const struct rollout *r)
{
	unsigned int first = r->host_count;

	for (unsigned int h = r->host_count; h-- > 0;) {
		if (!rollout_can_plan(r, h))
			continue;
		if (r->host[h].facts.changes || first == r->host_count ||
		    !r->host[first].facts.changes)
			first = h;
	}
	return first;
}

/* Returns false when no host is left to start. */
static bool rollout_begin_all(struct rollout *r)
{
	int next = -EAGAIN;

	while (r->priv->look_again && !*r->priv->stop) {
		next = rollout_next(r->entry, r->host_count, &r->priv->options->limits);
		r->priv->look_again = next >= 0;
		if (next >= 0)
			rollout_apply(r, (unsigned int)next);
	}
	return next != -ENOENT;
}

/* Advances hosts that answered, starts hosts that may start. */
static bool rollout_advance_all(void *arg)
{
	struct rollout *r = arg;

	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->priv->host_state[h].step != STEP_IDLE &&
		    !agent_conn_busy(rollout_conn(r, h)))
			rollout_advance(r, h);
	if (!rollout_begin_all(r))
		return true;
	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->entry[h].stage == ROLLOUT_STAGE_RUNNING)
			return false;
	return !r->priv->look_again || *r->priv->stop;
}

/* Gives each host that was not started its reason. */
static void rollout_explain_rest(struct rollout *r)
{
	const struct rollout_host *failed = NULL;
	char text[ROLLOUT_REASON_MAX];

	for (unsigned int h = 0; !failed && h < r->host_count; h++)
		if (r->entry[h].stage == ROLLOUT_STAGE_FAILED)
			failed = &r->host[h];
	if (*r->priv->stop)
		snprintf(text, sizeof(text), "stopped");
	else if (failed && failed->result == ROLLOUT_ROLLED_BACK)
		snprintf(text, sizeof(text), "%s was rolled back", failed->name);
	else if (failed)
		snprintf(text, sizeof(text), "%s %s", failed->name,
			 failed->reached ? "failed" : "was not reached");
	else
		text[0] = '\0';
	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->host[h].result == ROLLOUT_NOT_STARTED)
			snprintf(r->host[h].reason, sizeof(r->host[h].reason), "%s", text);
}

int rollout_run(struct rollout *r, const struct rollout_options *how, struct err *e)
{
	struct rollout_priv *in = r->priv;

	in->options = how;
	in->look_again = true;
	session_start_heartbeat(&in->s);
	loop_run_until(in->s.loop, rollout_advance_all, r);
	session_stop_heartbeat(&in->s);
	rollout_explain_rest(r);
	for (unsigned int h = 0; *in->stop && h < r->host_count; h++)
		if (r->host[h].result == ROLLOUT_NOT_STARTED)
			return err_set(e, -EINTR, "interrupted: some hosts were not started");
	return 0;
}
