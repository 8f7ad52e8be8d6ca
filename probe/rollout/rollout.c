/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rollout from end to end: links, plans, and the loop that begins with hosts as their order
 * allows. What happens on one host is in rollout_steps.c.
 */
#include "probe/rollout/rollout.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/engine.h"
#include "probe/rollout/rollout_inside.h"
#include "profiles/base/json_take.h"

/* The order of a rollout. Waves are not a thing of their own: they are what comes out when every
 * host takes one step, so that what is announced and what is done cannot differ. */

void rollout_add_group(struct rollout_unit *u, uint32_t group)
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

static bool share_group(const struct rollout_unit *a, const struct rollout_unit *b)
{
	for (unsigned int i = 0; i < a->group_count; i++)
		for (unsigned int k = 0; k < b->group_count; k++)
			if (a->group[i] == b->group[k] || a->group[i] == ROLLOUT_EVERY_GROUP ||
			    b->group[k] == ROLLOUT_EVERY_GROUP)
				return true;
	return false;
}

/* The hosts that run; few, so that 4096 that wait for each other are no matter. */
struct running {
	const struct rollout_unit *unit[ROLLOUT_PARALLEL_MAX];
	unsigned int count;
};

static bool must_wait(const struct running *running, const struct rollout_unit *u)
{
	for (unsigned int i = 0; i < running->count; i++)
		if (share_group(running->unit[i], u))
			return true;
	return false;
}

static unsigned int look(const struct rollout_unit *unit, unsigned int n, struct running *running)
{
	unsigned int bad = 0;

	running->count = 0;
	for (unsigned int i = 0; i < n; i++) {
		bad += unit[i].stage == ROLLOUT_BAD;
		if (unit[i].stage == ROLLOUT_RUNS && running->count < ROLLOUT_PARALLEL_MAX)
			running->unit[running->count++] = &unit[i];
	}
	return bad;
}

int rollout_next(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l)
{
	struct running running;
	unsigned int bad = look(unit, n, &running);
	int later = running.count ? -EAGAIN : -ENOENT;

	if (bad > l->max_bad)
		return later;
	if (l->canary < n && unit[l->canary].stage != ROLLOUT_GOOD)
		return unit[l->canary].stage == ROLLOUT_WAITS ? (int)l->canary : later;
	if (running.count >= l->parallel || running.count == ROLLOUT_PARALLEL_MAX)
		return later;
	for (unsigned int i = 0; i < n; i++)
		if (unit[i].stage == ROLLOUT_WAITS && !must_wait(&running, &unit[i]))
			return (int)i;
	return later;
}

int rollout_waves(const struct rollout_unit *unit, unsigned int n, const struct rollout_limits *l,
		  unsigned int *wave)
{
	struct rollout_unit *mine = malloc((n ? n : 1) * sizeof(*mine));
	int waves = 0, next;

	if (!mine)
		return -ENOMEM;
	memcpy(mine, unit, n * sizeof(*mine));
	memset(wave, 0, n * sizeof(*wave));
	while ((next = rollout_next(mine, n, l)) >= 0) {
		waves++;
		do {
			mine[next].stage = ROLLOUT_RUNS;
			wave[next] = waves;
		} while ((next = rollout_next(mine, n, l)) >= 0);
		for (unsigned int i = 0; i < n; i++)
			if (mine[i].stage == ROLLOUT_RUNS)
				mine[i].stage = ROLLOUT_GOOD;
	}
	free(mine);
	return waves;
}

#define HEARTBEAT_MS 1000
#define LEASE_MS     20000 /* a link that carries this very connection may flap */
#define QUIT_MS	     2000
#define ANSWER_MS    60000

void rollout_say(const struct rollout *r, unsigned int h, const char *fmt, ...)
{
	char text[ROLLOUT_REASON_MAX], line[ROLLOUT_REASON_MAX + FABRIC_NAME_MAX + 2];
	va_list ap;

	if (!r->inside->progress)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", r->host[h].name, text);
	r->inside->progress(line, r->inside->arg);
}

void rollout_link_reason(const struct agent_link *k, char *buf, size_t size)
{
	snprintf(buf, size, "%.380s%s%.200s%s", k->err.text, k->err.hint[0] ? " (" : "",
		 k->err.hint, k->err.hint[0] ? ")" : "");
}

static void on_heartbeat(void *arg)
{
	const struct rollout *r = arg;

	for (unsigned int h = 0; h < r->host_count; h++)
		link_ping(&r->inside->way[h].link, LEASE_MS);
	loop_timer_set(r->inside->heartbeat, HEARTBEAT_MS);
}

static int open_inside(struct rollout *r, struct err *e)
{
	struct rollout_inside *in = r->inside;
	const struct fabric *f = in->f;
	int err = loop_open(&in->loop, e);

	if (err)
		return err;
	in->engine = engine_find(f->engine[0] ? f->engine : "ssh");
	if (!in->engine)
		return err_set(e, -EINVAL, "no engine '%s'", f->engine);
	in->way = calloc(f->host_count + 1, sizeof(*in->way));
	r->host = calloc(f->host_count + 1, sizeof(*r->host));
	r->unit = calloc(f->host_count + 1, sizeof(*r->unit));
	if (!in->way || !r->host || !r->unit ||
	    loop_timer_open(in->loop, on_heartbeat, r, &in->heartbeat))
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
	r->inside = calloc(1, sizeof(*r->inside));
	if (!r->inside)
		return err_sys(e, -ENOMEM, "rollout");
	r->inside->f = f;
	r->inside->stop = stop;
	r->inside->progress = progress;
	r->inside->arg = arg;
	err = open_inside(r, e);
	if (err)
		rollout_close(r);
	return err;
}

/* Waits until no link is busy; a link is not the first member of an array here. */
static bool none_busy(void *arg)
{
	const struct rollout *r = arg;

	for (unsigned int h = 0; h < r->host_count; h++)
		if (link_busy(&r->inside->way[h].link))
			return *r->inside->stop != 0;
	return true;
}

static void close_links(struct rollout *r)
{
	for (unsigned int h = 0; h < r->host_count && !*r->inside->stop; h++)
		link_ask(&r->inside->way[h].link, "quit", NULL, QUIT_MS);
	loop_run_until(r->inside->loop, none_busy, r);
	for (unsigned int h = 0; h < r->host_count; h++)
		link_close(&r->inside->way[h].link);
}

void rollout_close(struct rollout *r)
{
	struct rollout_inside *in = r->inside;

	if (!in)
		return;
	if (in->way && in->loop)
		close_links(r);
	loop_timer_close(in->heartbeat);
	loop_close(in->loop);
	for (unsigned int h = 0; h < r->host_count; h++) {
		json_decref(r->host[h].profile);
		json_decref(r->host[h].plan);
		free(r->host[h].plan_text);
		free(r->host[h].warnings);
	}
	free(in->way);
	free(r->host);
	free(r->unit);
	free(in);
	memset(r, 0, sizeof(*r));
}

void rollout_link(struct rollout *r, unsigned int h)
{
	struct rollout_inside *in = r->inside;
	struct agent_link *k = &in->way[h].link;
	struct engine_argv argv = {0};
	struct err e = {0};

	if (in->engine->make(in->f, h, &argv, &e)) {
		memset(k, 0, sizeof(*k));
		k->state = LINK_LOST;
		k->err = e;
		return;
	}
	/* The engine's own time comes first. */
	link_open(k, in->loop, r->host[h].name, argv.argv, (in->f->connect_timeout_s + 5) * 1000);
}

static void fail(struct rollout *r, unsigned int h, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Before anything was begun. */
static void fail(struct rollout *r, unsigned int h, const char *fmt, ...)
{
	struct rollout_host *host = &r->host[h];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(host->reason, sizeof(host->reason), fmt, ap);
	va_end(ap);
	host->result = ROLLOUT_FAILED;
	r->unit[h].stage = ROLLOUT_BAD;
	rollout_say(r, h, "%s", host->reason);
}

static void greet(struct rollout *r, unsigned int h)
{
	struct agent_link *k = &r->inside->way[h].link;
	char reason[ROLLOUT_REASON_MAX];

	if (k->state != LINK_READY) {
		rollout_link_reason(k, reason, sizeof(reason));
		fail(r, h, "%s", link_busy(k) ? "stopped before it answered" : reason);
		return;
	}
	r->host[h].reached = !strcmp(k->build, ROCECHECK_VERSION);
	if (!r->host[h].reached)
		fail(r, h, "the agent is rocecheck %s, this is %s: install one version", k->build,
		     ROCECHECK_VERSION);
}

void rollout_connect(struct rollout *r)
{
	for (unsigned int h = 0; h < r->host_count; h++)
		rollout_link(r, h);
	loop_run_until(r->inside->loop, none_busy, r);
	for (unsigned int h = 0; h < r->host_count; h++)
		greet(r, h);
}

static bool can_plan(const struct rollout *r, unsigned int h)
{
	return r->host[h].result == ROLLOUT_NOT_STARTED;
}

/* One question to all that can be planned; NULL: without fields. */
static void ask_all(struct rollout *r, const char *op,
		    json_t *(*fields)(const struct rollout_host *host))
{
	for (unsigned int h = 0; h < r->host_count; h++)
		if (can_plan(r, h))
			link_ask(&r->inside->way[h].link, op, fields ? fields(&r->host[h]) : NULL,
				 ANSWER_MS);
	loop_run_until(r->inside->loop, none_busy, r);
}

/* What the command there printed; NULL with the host failed when there is no good answer. */
static const json_t *take_output(struct rollout *r, unsigned int h)
{
	const struct agent_link *k = &r->inside->way[h].link;
	const json_t *status = json_object_get(k->reply, "exit");
	const char *said = json_string_value(json_object_get(k->reply, "said"));
	char reason[ROLLOUT_REASON_MAX];

	if (*r->inside->stop) {
		fail(r, h, "stopped before it answered");
		return NULL;
	}
	if (!json_is_integer(status)) {
		rollout_link_reason(k, reason, sizeof(reason));
		fail(r, h, "%s", reason);
		r->host[h].reached = k->state == LINK_READY;
		return NULL;
	}
	if (json_integer_value(status)) {
		r->host[h].status = (int)json_integer_value(status);
		rollout_reason(said ? said : "", r->host[h].status, reason, sizeof(reason));
		fail(r, h, "%s", reason);
		return NULL;
	}
	return json_object_get(k->reply, "output");
}

static void take_plan(struct rollout *r, unsigned int h)
{
	struct rollout_host *host = &r->host[h];
	const char *said = json_string_value(json_object_get(r->inside->way[h].link.reply, "said"));
	const json_t *output = take_output(r, h);
	struct err e = {0};

	if (!output)
		return;
	if (rollout_take_facts(output, &host->facts, &e)) {
		fail(r, h, "%s", e.text);
		return;
	}
	host->plan = json_deep_copy(output);
	if (!host->plan || json_object_set(host->plan, "profile", host->profile)) {
		fail(r, h, "out of memory");
		return;
	}
	if (said && *said)
		host->warnings = strdup(said);
	rollout_take_groups(host->plan, r->inside->f, h, &r->unit[h]);
}

static void take_text(struct rollout *r, unsigned int h)
{
	const json_t *output = take_output(r, h);

	if (json_is_string(output))
		r->host[h].plan_text = strdup(json_string_value(output));
	else if (output)
		fail(r, h, "what came is no plan");
}

/* The newest one there is, so that ours can be told from it. */
static void take_newest(struct rollout *r, unsigned int h)
{
	const json_t *output = take_output(r, h);
	const json_t *list = json_object_get(output, "transactions");
	const json_t *newest = json_array_get(list, json_array_size(list) - 1);
	char *last = r->inside->way[h].last_tx;
	struct err e = {0};

	if (!output)
		return;
	if (!json_is_array(list) ||
	    (newest && json_take_text(newest, "id", last, sizeof(r->inside->way[h].last_tx), &e)))
		fail(r, h, "what came is no list of transactions");
}

static json_t *plan_fields(const struct rollout_host *host)
{
	return json_pack("{s:O}", "profile", host->profile);
}

static json_t *text_fields(const struct rollout_host *host)
{
	return json_pack("{s:O, s:b}", "profile", host->profile, "as_text", 1);
}

void rollout_plan(struct rollout *r, bool as_text)
{
	ask_all(r, "plan", plan_fields);
	for (unsigned int h = 0; h < r->host_count; h++)
		if (can_plan(r, h))
			take_plan(r, h);
	if (as_text) {
		ask_all(r, "plan", text_fields);
		for (unsigned int h = 0; h < r->host_count; h++)
			if (can_plan(r, h))
				take_text(r, h);
	}
	ask_all(r, "transactions", NULL);
	for (unsigned int h = 0; h < r->host_count; h++)
		if (can_plan(r, h))
			take_newest(r, h);
}

unsigned int rollout_canary(const struct rollout *r)
{
	unsigned int first = r->host_count;

	for (unsigned int h = r->host_count; h-- > 0;) {
		if (!can_plan(r, h))
			continue;
		if (r->host[h].facts.changes || first == r->host_count ||
		    !r->host[first].facts.changes)
			first = h;
	}
	return first;
}

/* False when there is nothing to begin any more. */
static bool begin_all(struct rollout *r)
{
	int next = -EAGAIN;

	while (r->inside->look_again && !*r->inside->stop) {
		next = rollout_next(r->unit, r->host_count, &r->inside->how->limits);
		r->inside->look_again = next >= 0;
		if (next >= 0)
			rollout_begin(r, (unsigned int)next);
	}
	return next != -ENOENT;
}

/* Goes on with those that wait for us, begins with all that may begin. */
static bool is_done(void *arg)
{
	struct rollout *r = arg;

	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->inside->way[h].step != STEP_IDLE && !link_busy(&r->inside->way[h].link))
			rollout_advance(r, h);
	if (!begin_all(r))
		return true;
	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->unit[h].stage == ROLLOUT_RUNS)
			return false;
	return !r->inside->look_again || *r->inside->stop;
}

/* Those whose turn did not come, and why. */
static void explain_not_started(struct rollout *r)
{
	const struct rollout_host *bad = NULL;
	char text[ROLLOUT_REASON_MAX];

	for (unsigned int h = 0; !bad && h < r->host_count; h++)
		if (r->unit[h].stage == ROLLOUT_BAD)
			bad = &r->host[h];
	if (*r->inside->stop)
		snprintf(text, sizeof(text), "stopped");
	else if (bad && bad->result == ROLLOUT_ROLLED_BACK)
		snprintf(text, sizeof(text), "%s was rolled back", bad->name);
	else if (bad)
		snprintf(text, sizeof(text), "%s %s", bad->name,
			 bad->reached ? "failed" : "was not reached");
	else
		text[0] = '\0';
	for (unsigned int h = 0; h < r->host_count; h++)
		if (r->host[h].result == ROLLOUT_NOT_STARTED)
			snprintf(r->host[h].reason, sizeof(r->host[h].reason), "%s", text);
}

int rollout_run(struct rollout *r, const struct rollout_how *how, struct err *e)
{
	struct rollout_inside *in = r->inside;

	in->how = how;
	in->look_again = true;
	on_heartbeat(r);
	loop_run_until(in->loop, is_done, r);
	loop_timer_stop(in->heartbeat);
	explain_not_started(r);
	for (unsigned int h = 0; *in->stop && h < r->host_count; h++)
		if (r->host[h].result == ROLLOUT_NOT_STARTED)
			return err_set(e, -EINTR, "stopped: not all hosts were begun");
	return 0;
}
