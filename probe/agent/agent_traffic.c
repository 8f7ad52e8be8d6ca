/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic of the agent: one process per traffic endpoint (traffic_child()), one request to it at a
 * time, and a watchdog that kills it when it hangs in the kernel.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/agent/agent_priv.h"
#include "probe/io/destination.h"
#include "probe/io/loop.h"
#include "probe/marking/marking.h"
#include "probe/traffic/traffic.h"
#include "profiles/base/json.h"
#include "profiles/base/memory_limit.h"

#define ANSWER_MS	10000 /* opening or connecting: memory registration may take a while */
#define PROGRESS_MIN_MS 100
#define PROGRESS_MAX_MS 60000
#define START_MAX_MS	30000 /* limit of "start_ns" */
#define CLOSE_MS	3000  /* time in which the kernel destroys the queue pairs of the process */
#define RUN_MARGIN_MS	12000 /* traffic_run() ends at most 10 s after the end of the run */

enum traffic_step {
	STEP_OPENING,
	STEP_OPEN,
	STEP_CONNECTING,
	STEP_CONNECTED,
	STEP_RUNNING,
	STEP_DONE,
	STEP_CLOSING,
};

static const char *const step_text[] = {
	[STEP_OPENING] = "being opened",  [STEP_OPEN] = "open",
	[STEP_CONNECTING] = "connecting", [STEP_CONNECTED] = "connected",
	[STEP_RUNNING] = "running",	  [STEP_DONE] = "over",
	[STEP_CLOSING] = "being closed",
};

struct agent_traffic {
	struct agent *agent;
	unsigned int handle;
	struct loop_process *process;
	struct loop_timer *watchdog;
	enum traffic_step step;
	uint32_t duration_ms;
	uint64_t bytes; /* of memory */
	bool echo;	/* a marking test, not traffic */
	uint64_t id;	/* of the pending request */
	bool waiting;
	bool ended; /* the process has exited */
};

static void free_traffic(struct agent_traffic *t)
{
	t->agent->traffic[t->handle] = NULL;
	loop_process_close(t->process);
	loop_timer_close(t->watchdog);
	free(t);
}

static void traffic_answer(struct agent_traffic *t, json_t *reply)
{
	bool waiting = t->waiting;

	loop_timer_stop(t->watchdog);
	t->waiting = false;
	if (waiting)
		agent_reply(t->agent, t->id, reply);
	else
		json_decref(reply);
}

/* After an error the endpoint is unusable. */
static void traffic_answer_error(struct agent_traffic *t, const struct err *e)
{
	if (t->waiting)
		agent_reply_error(t->agent, t->id, e);
	free_traffic(t);
}

static void traffic_on_peer(struct agent_traffic *t, json_t *doc)
{
	t->step = STEP_OPEN;
	traffic_answer(t, json_pack("{s:i, s:O}", "handle", (int)t->handle, "peer",
				    json_object_get(doc, "peer")));
}

static void traffic_on_connected(struct agent_traffic *t, json_t *doc)
{
	(void)doc;
	t->step = STEP_CONNECTED;
	traffic_answer(t, json_object());
}

/* Passes progress and results to the program that runs the agent. */
static void traffic_notify(const struct agent_traffic *t, const char *key, const json_t *doc)
{
	const struct agent_config *config = t->agent->config;

	if (config->on_traffic)
		config->on_traffic(key, json_object_get(doc, key), config->arg);
}

static void traffic_on_result(struct agent_traffic *t, json_t *doc)
{
	t->step = STEP_DONE;
	if (!t->echo)
		traffic_notify(t, "result", doc);
	traffic_answer(t, json_pack("{s:O, s:O*}", "result", json_object_get(doc, "result"),
				    "late_ns", json_object_get(doc, "late_ns")));
}

static const struct {
	enum traffic_step step;
	const char *key;
	void (*handle)(struct agent_traffic *t, json_t *doc);
} answers[] = {
	{STEP_OPENING, "peer", traffic_on_peer},
	{STEP_CONNECTING, "connected", traffic_on_connected},
	{STEP_RUNNING, "result", traffic_on_result},
};

/* Not an answer: the watchdog continues. */
static void traffic_on_progress(struct agent_traffic *t, json_t *doc)
{
	traffic_notify(t, "progress", doc);
	agent_send(t->agent,
		   json_pack("{s:s, s:i, s:O}", "event", "progress", "handle", (int)t->handle,
			     "progress", json_object_get(doc, "progress")));
}

static void traffic_handle_doc(struct agent_traffic *t, json_t *doc)
{
	const json_t *error = json_object_get(doc, "error");
	struct err e = {0};

	if (t->step == STEP_RUNNING && json_object_get(doc, "progress")) {
		traffic_on_progress(t, doc);
		return;
	}
	for (size_t i = 0; !error && i < ARRAY_SIZE(answers); i++) {
		if (answers[i].step == t->step && json_object_get(doc, answers[i].key)) {
			answers[i].handle(t, doc);
			return;
		}
	}
	if (error)
		err_from_json(error, "traffic failed", &e);
	else
		err_set(&e, -EPROTO, "invalid answer from the traffic process");
	traffic_answer_error(t, &e);
}

static void traffic_on_line(char *line, size_t length, void *arg)
{
	struct agent_traffic *t = arg;
	json_t *doc;

	if (t->step == STEP_CLOSING)
		return;
	doc = line ? json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
	traffic_handle_doc(t, doc);
	json_decref(doc);
}

static void traffic_on_exit(int status, int signal, void *arg)
{
	struct agent_traffic *t = arg;
	struct err e = {0};

	t->ended = true;
	if (t->step == STEP_CLOSING) {
		traffic_answer(t, json_object());
		free_traffic(t);
		return;
	}
	if (status < 0)
		err_sys(&e, status, "answers of the traffic process");
	else if (signal)
		err_set(&e, -EPIPE, "signal %d killed the traffic process", signal);
	else
		err_set(&e, -EPIPE, "the traffic process ended (status %d)", status);
	if (t->waiting || t->step != STEP_DONE)
		traffic_answer_error(t, &e);
}

static const struct loop_process_events process_events = {.line = traffic_on_line,
							  .ended = traffic_on_exit};

/* Kills a process that hangs. During a run this is a result with cause timeout. */
static void traffic_on_watchdog(void *arg)
{
	struct agent_traffic *t = arg;
	struct traffic_report r = {.total = {.cause = CAUSE_TIMEOUT}};
	struct err e = {0};

	loop_process_kill(t->process, SIGKILL);
	if (t->step != STEP_RUNNING) {
		err_set(&e, -ETIMEDOUT, "traffic was %s for %u s: killed its process",
			step_text[t->step],
			(t->step == STEP_CLOSING ? CLOSE_MS : ANSWER_MS) / 1000);
		traffic_answer_error(t, &e);
		return;
	}
	snprintf(r.total.detail, sizeof(r.total.detail),
		 "the traffic process hung in the kernel for %u s after its end: killed it",
		 RUN_MARGIN_MS / 1000);
	t->step = STEP_DONE;
	traffic_answer(t, json_pack("{s:o}", "result", traffic_report_to_json(&r)));
}

/* Sends a line to the process; its answer belongs to request id. */
static int traffic_request(struct agent_traffic *t, uint64_t id, const json_t *doc,
			   enum traffic_step step, uint64_t wait_ms, struct err *e)
{
	char *text = json_dumps(doc, JSON_COMPACT);
	size_t length = text ? strlen(text) : 0;
	int err = -ENOMEM;

	if (text) {
		text[length] = '\n'; /* over the NUL */
		err = loop_process_write(t->process, text, length + 1);
	}
	free(text);
	if (err)
		return err_sys(e, err, "traffic process");
	t->id = id;
	t->waiting = true;
	t->step = step;
	loop_timer_set(t->watchdog, wait_ms);
	return AGENT_LATER;
}

static int new_traffic(struct agent *a, struct agent_traffic **out, struct err *e)
{
	const char *const argv[] = {a->config->self, "agent", "--traffic", NULL};
	struct agent_traffic *t;
	unsigned int handle = 0;
	int err;

	while (handle < AGENT_TRAFFIC_MAX && a->traffic[handle])
		handle++;
	if (handle == AGENT_TRAFFIC_MAX)
		return err_set(e, -ENOSPC, "too many traffic runs: at most %u at the same time",
			       AGENT_TRAFFIC_MAX);
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_sys(e, -ENOMEM, "traffic");
	t->agent = a;
	t->handle = handle;
	a->traffic[handle] = t;
	err = loop_timer_open(a->loop, traffic_on_watchdog, t, &t->watchdog);
	if (err)
		err_sys(e, err, "traffic");
	else
		err = loop_spawn(a->loop, argv, &process_events, t, &t->process, e);
	if (err) {
		free_traffic(t);
		return err;
	}
	*out = t;
	return 0;
}

/* Open endpoints have their memory already; those being opened still need it. */
static int traffic_check_memory(const struct agent *a, uint64_t wanted_bytes, struct err *e)
{
	struct memory_demand d = {.wanted_bytes = wanted_bytes};

	for (unsigned int i = 0; i < AGENT_TRAFFIC_MAX; i++) {
		const struct agent_traffic *t = a->traffic[i];

		if (t && t->step == STEP_OPENING)
			d.opening_bytes += t->bytes;
		else if (t && !t->ended)
			d.used_bytes += t->bytes;
	}
	return memory_limit_check(a->config->root ? a->config->root : "", &d, e);
}

int agent_traffic_open(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	struct agent_traffic *t = NULL;
	struct traffic_spec spec;
	const json_t *json;
	int err = json_get_object(request, "spec", &json, e);

	(void)reply;
	if (!err)
		err = traffic_spec_from_json(json, &spec, e);
	if (!err)
		err = traffic_check_memory(a, traffic_spec_bytes(&spec), e);
	if (!err)
		err = new_traffic(a, &t, e);
	if (err)
		return err;
	t->bytes = traffic_spec_bytes(&spec);
	t->duration_ms = spec.duration_ms ? spec.duration_ms : TRAFFIC_DURATION_MAX_MS;
	err = traffic_request(t, id, json, STEP_OPENING, ANSWER_MS, e);
	if (err < 0)
		free_traffic(t);
	return err;
}

int agent_echo_open(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		    struct err *e)
{
	struct agent_traffic *t = NULL;
	const json_t *json = NULL;
	struct marking_spec spec;
	json_t *line;
	int err = json_get_object(request, "spec", &json, e);

	(void)reply;
	if (!err)
		err = marking_spec_from_json(json, &spec, e);
	if (!err)
		err = new_traffic(a, &t, e);
	if (err)
		return err;
	t->echo = true;
	t->duration_ms = spec.duration_ms;
	line = json_pack("{s:O}", "echo", json);
	err = traffic_request(t, id, line, STEP_OPENING, ANSWER_MS, e);
	json_decref(line);
	if (err < 0)
		free_traffic(t);
	return err;
}

/* Finds the endpoint of a request and checks its step. */
static int traffic_find(struct agent *a, const json_t *request, enum traffic_step step,
			struct agent_traffic **t, struct err *e)
{
	uint64_t handle;
	int err = json_get_uint(request, "handle", 0, AGENT_TRAFFIC_MAX - 1, &handle, e);

	if (err)
		return err;
	if (!a->traffic[handle])
		return err_set(e, -ENOENT, "no traffic with handle %u", (unsigned int)handle);
	if (a->traffic[handle]->step != step)
		return err_set(e, -EBUSY, "traffic %u is %s", (unsigned int)handle,
			       step_text[a->traffic[handle]->step]);
	*t = a->traffic[handle];
	return 0;
}

int agent_traffic_connect(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
			  struct err *e)
{
	struct agent_traffic *t;
	struct traffic_endpoint peer;
	const json_t *json;
	int err = traffic_find(a, request, STEP_OPEN, &t, e);

	(void)reply;
	if (!err)
		err = json_get_object(request, "peer", &json, e);
	if (!err)
		err = traffic_endpoint_from_json(json, &peer, e);
	if (!err && a->config->destinations)
		err = destinations_check(a->config->destinations, peer.gid, e);
	return err ? err : traffic_request(t, id, json, STEP_CONNECTING, ANSWER_MS, e);
}

int agent_traffic_run(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		      struct err *e)
{
	struct agent_traffic *t;
	uint64_t progress_ms, start_ns = 0, now_ns = monotonic_ns(), wait_ms;
	json_t *line;
	int err = traffic_find(a, request, STEP_CONNECTED, &t, e);

	(void)reply;
	if (!err)
		err = json_get_uint_or(request, "progress_ms", 0, PROGRESS_MIN_MS, PROGRESS_MAX_MS,
				       &progress_ms, e);
	if (!err)
		err = json_get_uint_or(request, "start_ns", 0, 0, JSON_UINT_MAX, &start_ns, e);
	if (err)
		return err;
	wait_ms = start_ns > now_ns ? (start_ns - now_ns) / 1000000 : 0;
	if (wait_ms > START_MAX_MS)
		return err_set(e, -EINVAL, "'start_ns': more than %u s in the future",
			       START_MAX_MS / 1000);
	line = json_pack("{s:b, s:i, s:I}", "run", 1, "progress_ms", (int)progress_ms, "start_ns",
			 (json_int_t)start_ns);
	err = traffic_request(t, id, line, STEP_RUNNING, wait_ms + t->duration_ms + RUN_MARGIN_MS,
			      e);
	json_decref(line);
	return err;
}

/* The process stops at any line, answers, and keeps its queue pairs until it is closed, because the
 * peer may not be finished. If it ended by itself meanwhile, it has answered: no error. */
int agent_traffic_stop(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	static const char line[] = "{\"stop\":true}\n";
	uint64_t handle;
	int err = json_get_uint(request, "handle", 0, AGENT_TRAFFIC_MAX - 1, &handle, e);

	(void)id;
	if (err)
		return err;
	if (a->traffic[handle] && a->traffic[handle]->step == STEP_RUNNING) {
		(void)loop_process_write(a->traffic[handle]->process, line, sizeof(line) - 1);
		if (a->traffic[handle]->waiting)
			loop_timer_set(a->traffic[handle]->watchdog, RUN_MARGIN_MS);
	}
	*reply = json_object();
	return 0;
}

/* A marking test does not count: half of it would report losses that are none. */
bool agent_traffic_has_run(const struct agent *a)
{
	bool any = false;

	for (unsigned int i = 0; i < AGENT_TRAFFIC_MAX; i++) {
		const struct agent_traffic *t = a->traffic[i];

		if (t && t->echo)
			return false;
		any |= t && (t->step == STEP_RUNNING || t->step == STEP_DONE);
	}
	return any;
}

void agent_traffic_lease_expired(struct agent *a)
{
	static const char line[] = "{\"unheard\":true}\n";

	for (unsigned int i = 0; i < AGENT_TRAFFIC_MAX; i++) {
		struct agent_traffic *t = a->traffic[i];

		if (!t || t->step != STEP_RUNNING)
			continue;
		(void)loop_process_write(t->process, line, sizeof(line) - 1);
		loop_timer_set(t->watchdog, RUN_MARGIN_MS);
	}
}

/* Answers when the process is gone, so that a following request for the users of the port does not
 * find its queue pairs. Closing twice is no error: the process may have failed. */
int agent_traffic_close(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
			struct err *e)
{
	uint64_t handle;
	int err = json_get_uint(request, "handle", 0, AGENT_TRAFFIC_MAX - 1, &handle, e);
	struct agent_traffic *t = err ? NULL : a->traffic[handle];
	struct err stopped = {0};

	if (err)
		return err;
	if (t && !t->ended && t->step != STEP_CLOSING) {
		err_set(&stopped, -ECANCELED, "traffic was closed");
		if (t->waiting)
			agent_reply_error(a, t->id, &stopped);
		loop_process_kill(t->process, SIGKILL);
		t->id = id;
		t->waiting = true;
		t->step = STEP_CLOSING;
		loop_timer_set(t->watchdog, CLOSE_MS);
		return AGENT_LATER;
	}
	if (t && t->ended)
		free_traffic(t);
	*reply = json_object();
	return 0;
}

void agent_traffic_stop_all(struct agent *a)
{
	for (unsigned int i = 0; i < AGENT_TRAFFIC_MAX; i++) {
		if (a->traffic[i])
			free_traffic(a->traffic[i]);
	}
}
