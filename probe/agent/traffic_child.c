/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traffic process. A thread watches the input during the run and stops the run when the agent
 * has died.
 */
#include "probe/agent/agent.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probe/marking/marking.h"
#include "probe/traffic/traffic.h"
#include "profiles/base/json.h"
#include "profiles/base/privileges.h"
#include "profiles/base/process.h"

#define LINE_MAX_BYTES	 65536 /* holds the spec with many queue pairs */
#define WAIT_PIECE_NS	 20000000u
#define LOCK_SPARE_BYTES (UINT64_C(64) << 20)

struct child {
	FILE *in, *out;
	struct traffic *traffic;
	struct marking *echo;	  /* instead of traffic */
	unsigned int progress_ms; /* 0 = no progress */
	bool confined;		  /* drops its privileges before it opens the device */
	int done_fd;		  /* tells the watching thread that the run is over */
	uint64_t start_ns;	  /* of the run, CLOCK_MONOTONIC; 0 = at once */
	uint64_t late_ns;	  /* delay of the start after start_ns */
	atomic_int stop;
};

static int child_send(struct child *c, json_t *doc)
{
	int rc;

	flockfile(c->out); /* another thread writes progress */
	rc = doc ? json_dumpf(doc, c->out, JSON_COMPACT) : -1;
	if (fputc('\n', c->out) == EOF || fflush(c->out))
		rc = -1;
	funlockfile(c->out);
	json_decref(doc);
	return rc ? -EPIPE : 0;
}

/* Reads the next line as an object; -ENODATA at the end of the input. */
static int child_read_line(struct child *c, json_t **doc, struct err *e)
{
	char line[LINE_MAX_BYTES];

	if (!fgets(line, sizeof(line), c->in))
		return err_set(e, -ENODATA, "end of input");
	*doc = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	return *doc ? 0 : err_set(e, -EINVAL, "traffic process: invalid JSON");
}

static int child_confine(const struct child *c, const char *ibdev, uint64_t bytes, struct err *e)
{
	return c->confined ? privileges_confine("", ibdev, 2 * bytes + LOCK_SPARE_BYTES, e) : 0;
}

static int child_open_traffic(struct child *c, const json_t *doc, struct traffic_endpoint *self,
			      struct err *e)
{
	struct traffic_spec spec;
	int err = traffic_spec_from_json(doc, &spec, e);

	if (!err)
		err = child_confine(c, spec.ibdev, traffic_spec_bytes(&spec), e);
	if (!err)
		err = traffic_open(&spec, &c->traffic, e);
	if (!err)
		traffic_get_endpoint(c->traffic, self);
	return err;
}

static int child_open_echo(struct child *c, const json_t *doc, struct traffic_endpoint *self,
			   struct err *e)
{
	struct marking_spec spec;
	int err = marking_spec_from_json(doc, &spec, e);

	if (!err)
		err = child_confine(c, spec.ibdev, 0, e);
	if (!err)
		err = marking_open(&spec, &c->echo, e);
	if (!err)
		marking_self(c->echo, self);
	return err;
}

static int child_open(struct child *c, const json_t *doc, struct err *e)
{
	const json_t *echo = json_object_get(doc, "echo");
	struct traffic_endpoint self;
	int err = echo ? child_open_echo(c, echo, &self, e) : child_open_traffic(c, doc, &self, e);

	if (err)
		return err;
	return child_send(c, json_pack("{s:o}", "peer", traffic_endpoint_to_json(&self)));
}

static int child_connect(struct child *c, const json_t *doc, struct err *e)
{
	struct traffic_endpoint peer;
	int err = traffic_endpoint_from_json(doc, &peer, e);

	if (!err)
		err = c->echo ? marking_connect(c->echo, &peer, e)
			      : traffic_connect(c->traffic, &peer, e);
	return err ? err : child_send(c, json_pack("{s:b}", "connected", 1));
}

static void child_send_progress(struct child *c)
{
	struct traffic_progress p;

	traffic_progress(c->traffic, &p);
	(void)child_send(c, json_pack("{s:{s:I, s:I, s:I, s:I}}", "progress", "messages",
				      (json_int_t)p.messages, "bytes", (json_int_t)p.bytes,
				      "mismatches", (json_int_t)p.mismatches, "losses",
				      (json_int_t)p.losses));
}

/* During the run, any input is a stop, or the end of the input. */
static enum traffic_stop child_read_stop(struct child *c)
{
	json_t *doc = NULL;
	struct err ignored;
	bool unheard = !child_read_line(c, &doc, &ignored) && json_object_get(doc, "unheard");

	json_decref(doc);
	return unheard ? TRAFFIC_HEARTBEAT_LOST : TRAFFIC_STOP;
}

static void *child_watch_input(void *arg)
{
	struct child *c = arg;
	struct pollfd fd[] = {
		{.fd = fileno(c->in), .events = POLLIN},
		{.fd = c->done_fd, .events = POLLIN},
	};
	int n;

	do {
		n = poll(fd, ARRAY_SIZE(fd), c->progress_ms ? (int)c->progress_ms : -1);
		if (!n)
			child_send_progress(c);
	} while (!n || (n < 0 && errno == EINTR));
	if (!fd[1].revents)
		c->stop = (int)child_read_stop(c);
	return NULL;
}

/* Sleeps in short steps, to notice a stop. */
static void child_await_start(struct child *c)
{
	uint64_t now_ns = monotonic_ns();

	while (!c->stop && now_ns < c->start_ns) {
		uint64_t left_ns = c->start_ns - now_ns;
		const struct timespec piece = {
			.tv_nsec = (long)(left_ns < WAIT_PIECE_NS ? left_ns : WAIT_PIECE_NS)};

		nanosleep(&piece, NULL);
		now_ns = monotonic_ns();
	}
	c->late_ns = now_ns > c->start_ns ? now_ns - c->start_ns : 0;
}

static int child_run_traffic(struct child *c, json_t **result, struct err *e)
{
	struct traffic_report report = {0};
	int err;

	if (c->start_ns)
		child_await_start(c);
	err = traffic_run(c->traffic, &c->stop, &report, e);

	if (!err)
		*result = traffic_report_to_json(&report);
	traffic_report_clear(&report);
	return err;
}

static int child_run_echo(struct child *c, json_t **result, struct err *e)
{
	struct marking_result *r = calloc(1, sizeof(*r));
	int err = r ? marking_run(c->echo, &c->stop, r, e) : err_sys(e, -ENOMEM, "marking echo");

	if (!err)
		*result = marking_result_to_json(r);
	free(r);
	return err;
}

static int child_run_watched(struct child *c, json_t **result, struct err *e)
{
	const uint64_t one = 1;
	pthread_t watcher;
	int err;

	c->done_fd = eventfd(0, EFD_CLOEXEC);
	if (c->done_fd < 0)
		return err_sys(e, -errno, "traffic process: eventfd");
	err = -pthread_create(&watcher, NULL, child_watch_input, c);
	if (err) {
		err_sys(e, err, "traffic process: thread");
	} else {
		err = c->echo ? child_run_echo(c, result, e) : child_run_traffic(c, result, e);
		while (write(c->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
		pthread_join(watcher, NULL);
	}
	close(c->done_fd);
	return err;
}

static int child_run(struct child *c, const json_t *doc, struct err *e)
{
	uint64_t progress_ms;
	json_t *result = NULL;
	int err = json_get_uint_or(doc, "progress_ms", 0, 0, 60000, &progress_ms, e);

	if (!err)
		err = json_get_uint_or(doc, "start_ns", 0, 0, JSON_UINT_MAX, &c->start_ns, e);
	if (err)
		return err;
	c->progress_ms = c->echo ? 0 : (unsigned int)progress_ms; /* a marking test is short */
	err = child_run_watched(c, &result, e);
	return err ? err
		   : child_send(c, json_pack("{s:o, s:I}", "result", result, "late_ns",
					     (json_int_t)c->late_ns));
}

static int child_serve(struct child *c, struct err *e)
{
	static int (*const step[])(struct child * c, const json_t *doc, struct err *e) = {
		child_open,
		child_connect,
		child_run,
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(step) && !err; i++) {
		json_t *doc = NULL;

		err = child_read_line(c, &doc, e);
		if (!err)
			err = step[i](c, doc, e);
		json_decref(doc);
	}
	return err;
}

int traffic_child(int in_fd, int out_fd, bool confined)
{
	struct child c = {
		.in = fdopen(in_fd, "r"), .out = fdopen(out_fd, "w"), .confined = confined};
	struct err e = {0};
	char line[64];
	int err = -EBADF;

	/* Dies with an agent that is killed. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (confined)
		(void)process_set_oom(PROCESS_OOM_EARLY);
	if (c.in && c.out) {
		setvbuf(c.in, NULL, _IONBF, 0); /* poll() would not see a line in stdio's buffer */
		err = child_serve(&c, &e);
		if (err && err != -ENODATA && err != -EPIPE)
			(void)child_send(&c, json_pack("{s:o}", "error", err_to_json(&e)));
		while (!err && fgets(line, sizeof(line), c.in))
			; /* queue pairs live until the input ends: the peer may still retransmit */
	}
	traffic_close(c.traffic);
	marking_close(c.echo);
	return err == -ENODATA ? 0 : err;
}
