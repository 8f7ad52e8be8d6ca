/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to agents and their answers. Input of an agent is hostile: a line that is neither an
 * event nor the answer to a pending call ends the connection.
 */
#include "probe/coord/agent_conn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/agent/agent.h"
#include "probe/coord/launcher.h"
#include "probe/io/tcp_socket.h"
#include "profiles/base/json.h"
#include "profiles/fabric.h"

#define SECOND_LOOK_MS 300
#define ANSWERED_MS    1500 /* several pings are sent within this time */

/* The operation that an error names, or NULL. */
static const char *conn_pending_op(const struct agent_conn *k)
{
	return k->pending ? k->pending->op : NULL;
}

/* The call that times out first, or NULL. */
static const struct agent_call *conn_next_timeout(const struct agent_conn *k)
{
	const struct agent_call *next = k->pending;

	for (const struct agent_call *c = next; c; c = c->next)
		if (c->end_ms < next->end_ms)
			next = c;
	return next;
}

static void conn_set_timer(struct agent_conn *k)
{
	const struct agent_call *next = conn_next_timeout(k);
	uint64_t now_ms = loop_awake_ms(k->loop);

	if (next)
		loop_timer_set_awake(k->timer, next->end_ms > now_ms ? next->end_ms - now_ms : 0);
	else
		loop_timer_stop(k->timer);
}

/* Takes a call out of the pending ones, with its reply (reference stolen) or this error. */
static void conn_end_call(struct agent_conn *k, struct agent_call *c, json_t *reply,
			  const struct err *e)
{
	struct agent_call **at = &k->pending;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	c->op = NULL;
	c->answered_ns = monotonic_ns();
	c->reply = reply;
	if (!reply)
		c->err = *e;
}

static void conn_lose(struct agent_conn *k)
{
	k->state = CONN_LOST;
	while (k->pending)
		conn_end_call(k, k->pending, NULL, &k->err);
	agent_call_clear(&k->call); /* an earlier reply */
	k->call.err = k->err;
	loop_timer_stop(k->timer);
	if (k->silence)
		loop_timer_stop(k->silence);
	loop_process_close(k->process);
	loop_stream_close(k->stream);
	k->process = NULL;
	k->stream = NULL;
}

static void conn_read_hello(struct agent_conn *k, const json_t *doc)
{
	char hello[32];
	struct err e = {0};

	if (k->stream && json_object_get(doc, "error")) { /* the server refuses */
		err_from_json(json_object_get(doc, "error"), "failed", &k->err);
		conn_lose(k);
		return;
	}
	if (json_get_text(doc, "hello", hello, sizeof(hello), &e) || strcmp(hello, AGENT_HELLO) ||
	    json_get_text(doc, "build", k->build, sizeof(k->build), &e)) {
		err_set(&k->err, -EPROTO, "the program that answers is not a rocecheck agent");
		err_hint(&k->err,
			 k->stream ? "check that 'rocecheck probe server' listens on this address"
				   : "check 'agent' in the inventory");
		conn_lose(k);
		return;
	}
	if (json_get_text(doc, "boot", k->boot_id, sizeof(k->boot_id), &e) ||
	    k->boot_id[strspn(k->boot_id, "0123456789abcdef-")])
		k->boot_id[0] = '\0';
	k->state = CONN_READY;
	loop_timer_stop(k->timer);
}

/* Drops answers to pings (id 0), to abandoned calls, and events (no id). */
static void conn_read_answer(struct agent_conn *k, json_t *doc)
{
	const json_t *id = json_object_get(doc, "id");
	const json_t *error = json_object_get(doc, "error");
	json_int_t number = json_is_integer(id) ? json_integer_value(id) : -1;
	struct agent_call *c = k->pending;
	struct err e = {0};

	if (!id && k->event)
		k->event(k, doc, k->event_arg);
	if (!id || (!number && !error))
		return;
	while (c && (json_int_t)c->id != number)
		c = c->next;
	if (!c && k->abandoned && number > 0 && number <= (json_int_t)k->id) {
		k->abandoned--;
		return;
	}
	if (!c) {
		err_set(&k->err, -EPROTO, "the agent sent an answer without a request");
		conn_lose(k);
		return;
	}
	if (error)
		err_from_json(error, "failed", &e);
	conn_end_call(k, c, error ? NULL : json_incref(doc), &e);
	conn_set_timer(k);
}

static void conn_on_line(char *line, size_t length, void *arg)
{
	struct agent_conn *k = arg;
	json_t *doc;

	if (k->silence)
		loop_timer_set_awake(k->silence, k->silence_ms);
	k->silent = false;
	doc = line ? json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (!json_is_object(doc)) {
		err_set(&k->err, -EPROTO, "the agent sent '%.60s'",
			line ? line : "a line that is too long");
		err_hint(&k->err,
			 k->stream ? "check that 'rocecheck probe server' listens on this address"
				   : "the agent's stdout must be JSON only: check login scripts "
				     "for output");
		conn_lose(k);
	} else if (k->state == CONN_STARTING) {
		conn_read_hello(k, doc);
	} else {
		conn_read_answer(k, doc);
	}
	json_decref(doc);
}

/* Keeps the last line that is not empty. */
static void conn_on_stderr(const char *text, size_t length, void *arg)
{
	struct agent_conn *k = arg;
	size_t used = strlen(k->stderr_line);

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n' || c == '\r') {
			if (used && k->stderr_line[used - 1] != '\n' &&
			    used < sizeof(k->stderr_line) - 1)
				k->stderr_line[used++] = '\n';
			continue;
		}
		if (used && k->stderr_line[used - 1] == '\n')
			used = 0;
		if (used < sizeof(k->stderr_line) - 2)
			k->stderr_line[used++] = c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
	k->stderr_line[used] = '\0';
}

static void conn_on_exit(int status, int signal, void *arg)
{
	struct agent_conn *k = arg;
	const char *hint = launcher_hint(k->stderr_line), *op = conn_pending_op(k);

	k->stderr_line[strcspn(k->stderr_line, "\n")] = '\0';
	if (status < 0)
		err_sys(&k->err, status, "reading the agent's answers");
	else if (k->stderr_line[0])
		err_set(&k->err, -ECONNRESET, "%s", k->stderr_line);
	else if (signal)
		err_set(&k->err, -ECONNRESET, "signal %d killed the connection's process", signal);
	else if (op)
		err_set(&k->err, -ECONNRESET, "the connection was lost during %s (status %d)", op,
			status);
	else if (k->state == CONN_READY)
		err_set(&k->err, -ECONNRESET, "the agent exited between two requests (status %d)",
			status);
	else
		err_set(&k->err, -ECONNRESET,
			"the command exited before the handshake (status %d): is it a rocecheck "
			"agent?",
			status);
	if (hint)
		err_hint(&k->err, "%s", hint);
	conn_lose(k);
}

static void conn_on_stream_end(int err, void *arg)
{
	struct agent_conn *k = arg;
	const char *op = conn_pending_op(k);

	if (k->state == CONN_STARTING)
		err_set(&k->err, -ECONNRESET,
			"the server closed the connection during the handshake");
	else
		err_set(&k->err, -ECONNRESET, "the server closed the connection%s%s",
			op ? " during " : "", op ? op : "");
	if (err)
		err_prefix(&k->err, "%s", strerror(-err));
	conn_lose(k);
}

static const struct loop_stream_events stream_events = {
	.line = conn_on_line,
	.ended = conn_on_stream_end,
};

static const struct loop_process_events process_events = {
	.line = conn_on_line,
	.stderr_text = conn_on_stderr,
	.ended = conn_on_exit,
};

static void conn_on_timeout(void *arg)
{
	struct agent_conn *k = arg;
	const struct agent_call *late = conn_next_timeout(k);

	k->stderr_line[strcspn(k->stderr_line, "\n")] = '\0';
	err_set(&k->err, -ETIMEDOUT, "no answer to %s within %.1f s%s%s",
		late ? late->op : "the connection", (late ? late->timeout_ms : k->hello_ms) / 1e3,
		k->stderr_line[0] ? ": " : "", k->stderr_line);
	conn_lose(k);
}

/* Waits once more, because lines may be pending. */
static void conn_on_silence(void *arg)
{
	struct agent_conn *k = arg;
	bool answered = socket_is_answered(loop_stream_fd(k->stream), ANSWERED_MS);
	const char *op = conn_pending_op(k);

	if (!k->silent) {
		k->silent = true;
		loop_timer_set_awake(k->silence, SECOND_LOOK_MS);
		return;
	}
	err_set(&k->err, -ETIMEDOUT, "no message for %.0f s%s%s", k->silence_ms / 1e3,
		op ? " during " : "", op ? op : "");
	err_hint(&k->err,
		 answered ? "the host still acknowledges: its program is stopped, or gets no "
			    "CPU time"
			  : "the host, its program or the path to it failed");
	conn_lose(k);
}

static int conn_init(struct agent_conn *k, struct loop *loop, const char *name)
{
	memset(k, 0, sizeof(*k));
	k->loop = loop;
	k->state = CONN_LOST;
	snprintf(k->name, sizeof(k->name), "%s", name);
	return loop_timer_open(loop, conn_on_timeout, k, &k->timer)
		       ? err_sys(&k->err, -ENOMEM, "agent")
		       : 0;
}

static void conn_await_hello(struct agent_conn *k, unsigned int timeout_ms)
{
	k->state = CONN_STARTING;
	k->hello_ms = timeout_ms;
	loop_timer_set_awake(k->timer, timeout_ms);
}

void agent_conn_open(struct agent_conn *k, struct loop *loop, const char *name,
		     const char *const *argv, unsigned int timeout_ms)
{
	if (!conn_init(k, loop, name) &&
	    !loop_spawn(loop, argv, &process_events, k, &k->process, &k->err))
		conn_await_hello(k, timeout_ms);
}

void agent_conn_launch(struct agent_conn *k, struct loop *loop, const struct launcher *launcher,
		       const struct fabric *f, unsigned int host)
{
	struct launcher_argv argv = {0};
	struct err e = {0};

	if (launcher->make_argv(f, host, &argv, &e)) {
		memset(k, 0, sizeof(*k));
		k->state = CONN_LOST;
		k->err = e;
		return;
	}
	/* The launcher's own timeout comes first. */
	agent_conn_open(k, loop, f->host[host].name, argv.argv, (f->connect_timeout_s + 5) * 1000);
}

void agent_error_text(const struct err *e, char *buf, size_t size)
{
	snprintf(buf, size, "%.380s%s%.200s%s", e->text, e->hint[0] ? " (" : "", e->hint,
		 e->hint[0] ? ")" : "");
}

void agent_conn_open_stream(struct agent_conn *k, struct loop *loop, const char *name, int fd,
			    unsigned int timeout_ms, unsigned int silence_ms)
{
	int err = conn_init(k, loop, name);

	if (err) {
		close(fd);
		return;
	}
	if (loop_timer_open(loop, conn_on_silence, k, &k->silence)) {
		close(fd);
		err_sys(&k->err, -ENOMEM, "agent");
		return;
	}
	if (loop_stream_open(loop, fd, &stream_events, k, &k->stream, &k->err))
		return;
	k->silence_ms = silence_ms;
	conn_await_hello(k, timeout_ms);
}

void agent_conn_close(struct agent_conn *k)
{
	struct err closed = k->err;

	if (!closed.code)
		err_set(&closed, -ECONNRESET, "the connection was closed");
	while (k->pending)
		conn_end_call(k, k->pending, NULL, &closed);
	agent_call_clear(&k->call);
	loop_process_close(k->process);
	loop_stream_close(k->stream);
	loop_timer_close(k->timer);
	loop_timer_close(k->silence);
	k->process = NULL;
	k->stream = NULL;
	k->timer = k->silence = NULL;
	k->state = CONN_CLOSED;
}

static int conn_send_request(struct agent_conn *k, json_t *doc)
{
	char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	int err = -ENOMEM;

	if (text) {
		text[length] = '\n'; /* over the NUL */
		err = k->stream ? loop_stream_write(k->stream, text, length + 1)
				: loop_process_write(k->process, text, length + 1);
	}
	free(text);
	return err;
}

const json_t *agent_call_reply(const struct agent_conn *k, const struct agent_call *c,
			       struct err *e)
{
	if (c->reply)
		return c->reply;
	*e = c->err;
	if (!e->code)
		err_set(e, -EINTR, "stopped");
	if (k->state == CONN_LOST)
		e->code = -EPIPE;
	return NULL;
}

void agent_call_clear(struct agent_call *c)
{
	json_decref(c->reply);
	c->reply = NULL;
}

/* Sends the request of a call. */
static int conn_send_call(struct agent_conn *k, const struct agent_call *c, const char *op,
			  json_t *doc)
{
	if (!doc || json_object_set_new(doc, "id", json_integer((json_int_t)c->id)) ||
	    json_object_set_new(doc, "op", json_string(op)))
		return -ENOMEM;
	return conn_send_request(k, doc);
}

void agent_call(struct agent_conn *k, struct agent_call *c, const char *op, json_t *fields,
		unsigned int timeout_ms)
{
	json_t *doc = fields ? fields : json_object();
	struct agent_call **end = &k->pending;
	int err;

	if (c->op) {
		json_decref(doc);
		return;
	}
	agent_call_clear(c);
	*c = (struct agent_call){
		.id = ++k->id, .timeout_ms = timeout_ms, .sent_ns = monotonic_ns()};
	if (k->state != CONN_READY) {
		json_decref(doc);
		c->err = k->err;
		return;
	}
	err = conn_send_call(k, c, op, doc);
	json_decref(doc);
	if (err) {
		err_sys(&k->err, err, "asking for %s", op);
		c->err = k->err;
		conn_lose(k);
		return;
	}
	c->op = op;
	c->end_ms = loop_awake_ms(k->loop) + timeout_ms;
	while (*end)
		end = &(*end)->next;
	*end = c;
	conn_set_timer(k);
}

void agent_call_abandon(struct agent_conn *k, struct agent_call *c)
{
	struct err e;

	if (!c->op)
		return;
	err_set(&e, -EINTR, "stopped");
	conn_end_call(k, c, NULL, &e);
	conn_set_timer(k);
	k->abandoned++;
}

void agent_conn_ask(struct agent_conn *k, const char *op, json_t *fields, unsigned int timeout_ms)
{
	agent_call(k, &k->call, op, fields, timeout_ms);
}

void agent_conn_notify(struct agent_conn *k, const char *op, json_t *fields)
{
	json_t *doc = fields ? fields : json_object();

	if (k->state == CONN_READY && doc && !json_object_set_new(doc, "id", json_integer(0)) &&
	    !json_object_set_new(doc, "op", json_string(op)))
		(void)conn_send_request(k, doc); /* an error shows at the next request */
	json_decref(doc);
}

void agent_conn_ping(struct agent_conn *k, unsigned int lease_ms)
{
	agent_conn_notify(k, "ping", json_pack("{s:i}", "lease_ms", (int)lease_ms));
}

bool agent_conn_busy(const struct agent_conn *k)
{
	return k->state == CONN_STARTING || k->pending;
}

struct wait {
	const struct agent_conn *conn;
	unsigned int count;
	const atomic_int *stop;
};

static bool conn_all_idle(void *arg)
{
	const struct wait *w = arg;

	if (w->stop && *w->stop)
		return true;
	for (unsigned int i = 0; i < w->count; i++) {
		if (agent_conn_busy(&w->conn[i]))
			return false;
	}
	return true;
}

void agent_conns_wait(struct loop *loop, struct agent_conn *k, unsigned int n,
		      const atomic_int *stop)
{
	struct wait w = {k, n, stop};

	loop_run_until(loop, conn_all_idle, &w);
}
