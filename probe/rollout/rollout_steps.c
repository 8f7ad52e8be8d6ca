/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens on one host of a rollout:
 *
 *   apply -> check -> confirm -> applied
 *     |        |         |
 *     |        +---------+--> undo -> rolled back
 *     +-> unchanged, rolled back (by itself), failed
 *
 * and from each of them, when the connection is lost: away -> return -> ask, until we know what
 * became of the transaction or its dead-man's time is long over.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/rollout/rollout.h"
#include "probe/rollout/rollout_inside.h"
#include "profiles/base/json_take.h"

/* What hosts answer in a rollout, read with suspicion: plans, and what a command said before it
 * failed. Pure. */

#define PORTS_MAX 1024
#define STEPS_MAX 4096

static const char *const result_words[ROLLOUT_RESULT_COUNT] = {
	[ROLLOUT_NOT_STARTED] = "not started", [ROLLOUT_UNCHANGED] = "unchanged",
	[ROLLOUT_APPLIED] = "applied",	       [ROLLOUT_ROLLED_BACK] = "rolled back",
	[ROLLOUT_FAILED] = "failed",
};

const char *rollout_result_word(enum rollout_result result)
{
	return result_words[result];
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static bool disrupts(const json_t *port)
{
	const json_t *step;
	size_t i;

	json_array_foreach (json_object_get(port, "steps"), i, step)
		if (!json_is_true(json_object_get(step, "cannot")) &&
		    !is_text(step, "disruption", "none"))
			return true;
	return false;
}

static int take_port(const json_t *port, struct rollout_facts *f, struct err *e)
{
	const json_t *steps, *users = json_object_get(port, "used_by");
	char netdev[16];
	unsigned int cannot = 0;
	int err = json_take_text(port, "netdev", netdev, sizeof(netdev), e);

	if (!err)
		err = json_take_array(port, "steps", STEPS_MAX, &steps, e);
	if (err)
		return err;
	for (size_t i = 0; i < json_array_size(steps); i++)
		cannot += json_is_true(json_object_get(json_array_get(steps, i), "cannot"));
	f->ports++;
	f->cannot += cannot;
	f->changes += json_array_size(steps) - cannot;
	f->unproven |= json_array_size(steps) > cannot && is_text(port, "tier", "source");
	if (!disrupts(port))
		return 0;
	f->disrupted++;
	if (json_array_size(users) && !f->used[0])
		snprintf(f->used, sizeof(f->used), "%s is in use by %s", netdev,
			 json_is_string(json_array_get(users, 0))
				 ? json_string_value(json_array_get(users, 0))
				 : "somebody");
	return 0;
}

int rollout_take_facts(const json_t *plan, struct rollout_facts *facts, struct err *e)
{
	struct rollout_facts f = {0};
	const json_t *ports;
	int err = 0;

	if (!json_is_object(plan) || !is_text(plan, "schema", "rocecheck.plan/1"))
		return err_set(e, -EBADMSG, "what came is no plan");
	err = json_take_array(plan, "ports", PORTS_MAX, &ports, e);
	for (size_t i = 0; !err && i < json_array_size(ports); i++)
		err = take_port(json_array_get(ports, i), &f, e);
	if (err)
		return err_set(e, -EBADMSG, "what came is no plan");
	*facts = f;
	return 0;
}

/* Hosts without a rack are one group: what is not known is not taken for independent. */
static uint32_t rack_of(const struct fabric *f, unsigned int h)
{
	for (unsigned int i = 0; i < h; i++)
		if (!strcmp(f->host[i].rack, f->host[h].rack))
			return i;
	return h;
}

static uint32_t rail_of(const struct fabric_host *host, const char *netdev)
{
	for (unsigned int p = 0; netdev && p < host->port_count; p++)
		if (!strcmp(host->port[p].interface, netdev))
			return host->port[p].rail;
	return ROLLOUT_EVERY_GROUP;
}

void rollout_take_groups(const json_t *plan, const struct fabric *f, unsigned int h,
			 struct rollout_unit *u)
{
	const json_t *port;
	size_t i;

	u->group_count = 0;
	json_array_foreach (json_object_get(plan, "ports"), i, port) {
		const char *netdev = json_string_value(json_object_get(port, "netdev"));

		if (!disrupts(port))
			continue;
		if (f->failure_group == GROUP_RAIL)
			rollout_add_group(u, rail_of(&f->host[h], netdev));
		else
			rollout_add_group(u, f->failure_group == GROUP_RACK ? rack_of(f, h) : 0);
	}
}

void rollout_reason(const char *said, int status, char *buf, size_t size)
{
	static const char mark[] = "error: ", help[] = "\n   = help: ";
	const char *text = NULL, *hint;
	size_t length;

	for (const char *at = said; at && (at = strstr(at, mark)); text = at)
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

#define ANSWER_MS    60000
#define APPLY_MS     120000 /* without links to wait for */
#define AGAIN_MS     500    /* between two attempts to reach a host, and two questions */
#define UNSTARTED_MS 10000  /* in which a command that was asked for has made its journal */

/* Exit codes of apply and rollback. */
enum {
	DONE = 0,
	LEFT = 1,
	UNDONE = 5,
	LOST = 6,
};

static struct rollout_way *way_of(const struct rollout *r, unsigned int h)
{
	return &r->inside->way[h];
}

static void end(struct rollout *r, unsigned int h, enum rollout_result result)
{
	struct rollout_host *host = &r->host[h];
	bool good = result == ROLLOUT_APPLIED || result == ROLLOUT_UNCHANGED;

	host->result = result;
	host->took_ms = loop_now_ms(r->inside->loop) - way_of(r, h)->begin_ms;
	way_of(r, h)->step = STEP_IDLE;
	r->unit[h].stage = good ? ROLLOUT_GOOD : ROLLOUT_BAD;
	r->inside->look_again = true;
	rollout_say(r, h, "%s, %.1f s%s%s", rollout_result_word(result), host->took_ms / 1e3,
		    host->reason[0] ? ": " : "", host->reason);
}

static void end_failed(struct rollout *r, unsigned int h, enum rollout_result result, int status,
		       const char *fmt, ...) PRINTF_LIKE(5, 6);

static void end_failed(struct rollout *r, unsigned int h, enum rollout_result result, int status,
		       const char *fmt, ...)
{
	struct rollout_host *host = &r->host[h];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(host->reason, sizeof(host->reason), fmt, ap);
	va_end(ap);
	host->status = status;
	host->lost = status == LOST;
	end(r, h, result);
}

static void ask(struct rollout *r, unsigned int h, enum rollout_step step, const char *op,
		json_t *fields, unsigned int timeout_ms)
{
	way_of(r, h)->step = step;
	link_ask(&way_of(r, h)->link, op, fields, timeout_ms);
}

static void ask_tx(struct rollout *r, unsigned int h, enum rollout_step step, const char *op)
{
	ask(r, h, step, op, json_pack("{s:s}", "tx", r->host[h].tx), ANSWER_MS);
}

static void undo(struct rollout *r, unsigned int h, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void undo(struct rollout *r, unsigned int h, const char *fmt, ...)
{
	struct rollout_way *w = way_of(r, h);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
	w->undoing = true;
	ask_tx(r, h, STEP_UNDO, "rollback");
}

static void ask_again_later(struct rollout *r, unsigned int h)
{
	way_of(r, h)->step = STEP_AWAY;
	way_of(r, h)->again_ms = loop_now_ms(r->inside->loop) + AGAIN_MS;
}

static void give_up(struct rollout *r, unsigned int h)
{
	const struct rollout_way *w = way_of(r, h);

	end_failed(r, h, ROLLOUT_FAILED, LOST,
		   "lost: %.400s; unless it is off, it undid by itself what it wrote: see "
		   "'rocecheck rollback --list' there",
		   w->why);
}

/* Its journal has to say what became of it. The first time, the clock starts. */
static void puzzle(struct rollout *r, unsigned int h, const char *why)
{
	struct rollout_way *w = way_of(r, h);
	uint64_t now_ms = loop_now_ms(r->inside->loop);
	const struct rollout_how *how = r->inside->how;
	uint64_t time_s = how->confirm_within_s +
			  (uint64_t)how->wait_link_s * r->host[h].facts.disrupted;
	uint64_t time_ms = time_s * 1000 + how->margin_ms;

	if (!w->give_up_ms) {
		w->give_up_ms = now_ms + time_ms;
		if (!w->undoing)
			snprintf(w->why, sizeof(w->why), "%s", why);
		rollout_say(r, h, "%s: asking for %u s what became of it", why,
			    (unsigned int)(time_ms / 1000));
	}
	if (now_ms >= w->give_up_ms)
		give_up(r, h);
	else
		ask_again_later(r, h);
}

static void lose(struct rollout *r, unsigned int h)
{
	struct rollout_way *w = way_of(r, h);
	char why[ROLLOUT_REASON_MAX];

	rollout_link_reason(&w->link, why, sizeof(why));
	link_close(&w->link);
	puzzle(r, h, why);
}

static void check(struct rollout *r, unsigned int h)
{
	ask(r, h, STEP_CHECK, "plan", json_pack("{s:O}", "profile", r->host[h].profile), ANSWER_MS);
}

void rollout_begin(struct rollout *r, unsigned int h)
{
	const struct rollout_how *how = r->inside->how;
	const struct rollout_host *host = &r->host[h];
	unsigned int ports = host->facts.disrupted, links_ms = how->wait_link_s * 1000 * ports;
	/* "unproven" is for older agents, which refuse such a driver without it. */
	json_t *fields = json_pack("{s:O, s:i, s:i, s:b, s:b}", "plan", host->plan,
				   "confirm_within_s", (int)how->confirm_within_s, "wait_link_s",
				   (int)how->wait_link_s, "unproven", host->facts.unproven,
				   "disruption", how->disruption);

	if (how->settle_ms != ROLLOUT_SETTLE_AUTO) {
		(void)json_object_set_new(fields, "settle_ms", json_integer(how->settle_ms));
		links_ms += how->settle_ms;
	}
	r->unit[h].stage = ROLLOUT_RUNS;
	way_of(r, h)->asked = way_of(r, h)->link.state == LINK_READY;
	way_of(r, h)->begin_ms = loop_now_ms(r->inside->loop);
	rollout_say(r, h, "%u to change%s", host->facts.changes,
		    h == how->limits.canary ? ", the canary" : "");
	ask(r, h, STEP_APPLY, "apply", fields, APPLY_MS + links_ms);
}

/* A command there and how it ended. */
struct answer {
	int status;
	const json_t *output;
	char reason[ROLLOUT_REASON_MAX]; /* when it failed */
};

/* False when the agent did not come to start it, or to tell its end. */
static bool take_answer(const struct rollout_way *w, struct answer *a)
{
	const json_t *status = json_object_get(w->link.reply, "exit");
	const char *said = json_string_value(json_object_get(w->link.reply, "said"));

	memset(a, 0, sizeof(*a));
	a->output = json_object_get(w->link.reply, "output");
	if (!json_is_integer(status)) {
		rollout_link_reason(&w->link, a->reason, sizeof(a->reason));
		return false;
	}
	a->status = (int)json_integer_value(status);
	rollout_reason(said ? said : "", a->status, a->reason, sizeof(a->reason));
	return true;
}

static void after_apply(struct rollout *r, unsigned int h, const struct answer *a)
{
	struct rollout_host *host = &r->host[h];
	const char *outcome = json_string_value(json_object_get(a->output, "outcome"));
	const json_t *left = json_object_get(a->output, "left");
	struct err e = {0};

	(void)json_take_text(a->output, "tx", host->tx, sizeof(host->tx), &e);
	if (a->status == UNDONE)
		end_failed(r, h, ROLLOUT_ROLLED_BACK, UNDONE, "%s", a->reason);
	else if (a->status == LOST)
		end_failed(r, h, ROLLOUT_FAILED, LOST, "%s", a->reason);
	else if (a->status == DONE && outcome && !strcmp(outcome, "unchanged"))
		end(r, h, ROLLOUT_UNCHANGED);
	else if (a->status == DONE && host->tx[0])
		check(r, h);
	else if (a->status == LEFT && host->tx[0] && json_integer_value(left) > 0)
		undo(r, h, "%lld of its settings did not read back as they were written",
		     (long long)json_integer_value(left));
	else if (host->tx[0])
		undo(r, h, "what it saw behind it was not as it should be: %.500s", a->reason);
	else if (a->status == DONE)
		puzzle(r, h, "what it answered makes no sense");
	else
		end_failed(r, h, ROLLOUT_FAILED, a->status, "%s", a->reason);
}

/* Looked at from here, and over a connection that still works. */
static void after_check(struct rollout *r, unsigned int h, const struct answer *a)
{
	const struct rollout_way *w = way_of(r, h);
	struct rollout_facts facts;
	struct err e = {0};

	if (a->status)
		undo(r, h, "it cannot be looked at again: %.600s", a->reason);
	else if (rollout_take_facts(a->output, &facts, &e))
		undo(r, h, "%s", e.text);
	else if (facts.changes)
		undo(r, h, "%u of its settings differ again", facts.changes);
	else if (w->sure)
		end(r, h, ROLLOUT_APPLIED);
	else
		ask_tx(r, h, STEP_CONFIRM, "confirm");
}

static void after_confirm(struct rollout *r, unsigned int h, const struct answer *a)
{
	if (a->status)
		undo(r, h, "it could not be confirmed: %.600s", a->reason);
	else
		end(r, h, ROLLOUT_APPLIED);
}

static void after_undo(struct rollout *r, unsigned int h, const struct answer *a)
{
	const struct rollout_way *w = way_of(r, h);

	if (!a->status)
		end_failed(r, h, ROLLOUT_ROLLED_BACK, UNDONE, "%s", w->why);
	else
		end_failed(r, h, ROLLOUT_FAILED, LOST, "%.300s; and not undone: %.300s", w->why,
			   a->reason);
}

/* Newest transaction of the list: what state is it in, and is it ours? */
struct newest {
	char id[32], state[16];
	bool waits;
};

static bool take_newest(const struct answer *a, struct newest *n)
{
	const json_t *list = json_object_get(a->output, "transactions");
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	struct err e = {0};

	memset(n, 0, sizeof(*n));
	if (a->status || !json_is_array(list))
		return false;
	return !last || (!json_take_text(last, "id", n->id, sizeof(n->id), &e) &&
			 !json_take_text(last, "state", n->state, sizeof(n->state), &e) &&
			 !json_take_bool(last, "waits", &n->waits, &e));
}

/* The host is back: what its journal says counts. */
static void after_ask(struct rollout *r, unsigned int h, const struct answer *a)
{
	struct rollout_way *w = way_of(r, h);
	struct rollout_host *host = &r->host[h];
	uint64_t lost_ms = loop_now_ms(r->inside->loop) - w->begin_ms;
	struct newest n;

	if (!take_newest(a, &n)) {
		ask_again_later(r, h);
		return;
	}
	if (!w->asked) {
		w->give_up_ms = 0;
		rollout_begin(r, h);
		return;
	}
	/* One that is only prepared has not begun to write, or its process has ended. */
	if (!strcmp(n.id, w->last_tx) || !strcmp(n.state, "prepared") ||
	    !strcmp(n.state, "empty")) {
		if (lost_ms < UNSTARTED_MS)
			ask_again_later(r, h);
		else
			end_failed(r, h, ROLLOUT_FAILED, 0, "%.500s; it wrote nothing", w->why);
		return;
	}
	memcpy(host->tx, n.id, sizeof(host->tx));
	w->sure = !n.waits;
	if (!strcmp(n.state, "done") && w->undoing)
		ask_tx(r, h, STEP_UNDO, "rollback");
	else if (!strcmp(n.state, "done"))
		check(r, h);
	else if (!strcmp(n.state, "undone"))
		end_failed(r, h, ROLLOUT_ROLLED_BACK, UNDONE, "%.500s; it undid it by itself",
			   w->why);
	else if (!strcmp(n.state, "lost"))
		end_failed(r, h, ROLLOUT_FAILED, LOST, "%.500s; and it could not undo it", w->why);
	else
		ask_again_later(r, h);
}

/* Time to connect, or only to ask again? */
static void go_on_away(struct rollout *r, unsigned int h)
{
	struct rollout_way *w = way_of(r, h);
	uint64_t now_ms = loop_now_ms(r->inside->loop);

	if (now_ms < w->again_ms)
		return;
	if (w->link.state == LINK_READY && now_ms < w->give_up_ms) {
		ask(r, h, STEP_ASK, "transactions", NULL, ANSWER_MS);
	} else if (now_ms < w->give_up_ms) {
		w->step = STEP_RETURN;
		rollout_link(r, h);
	} else {
		give_up(r, h);
	}
}

typedef void after(struct rollout *r, unsigned int h, const struct answer *a);

static after *const afters[] = {
	[STEP_APPLY] = after_apply, [STEP_CHECK] = after_check, [STEP_CONFIRM] = after_confirm,
	[STEP_UNDO] = after_undo,   [STEP_ASK] = after_ask,
};

void rollout_advance(struct rollout *r, unsigned int h)
{
	struct rollout_way *w = way_of(r, h);
	struct answer a;

	if (w->step == STEP_AWAY) {
		go_on_away(r, h);
		return;
	}
	if (w->link.state != LINK_READY) {
		lose(r, h);
		return;
	}
	if (w->step == STEP_RETURN) {
		ask(r, h, STEP_ASK, "transactions", NULL, ANSWER_MS);
		return;
	}
	if (!take_answer(w, &a))
		puzzle(r, h, a.reason);
	else
		afters[w->step](r, h, &a);
}
