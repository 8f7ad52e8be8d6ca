/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the agent: hello, requests, end. A separate thread reads the input, so that the loss of the
 * coordinator is noticed while a request blocks (netlink may take seconds). Input can be any file
 * type.
 */
#include "probe/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/apply/journal.h"
#include "dcb/kernel/dcb.h"
#include "probe/agent/agent_priv.h"
#include "probe/io/tcp_socket.h"
#include "probe/io/loop.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define OUTPUT_WAIT_MS 2000 /* a coordinator that reads nothing this long is gone */
#define LOOK_AGAIN_MS  200
#define ANSWERED_MS    1500    /* more than alive_ms, so the kernel has data to acknowledge */
#define EXIT_WAIT_US   2500000 /* after the end of input */

struct relay {
	int from, to;
	int (*on_stuck)(void);
};

static int agent_write_fd(int fd, const char *data, size_t size)
{
	while (size) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		ssize_t n = write(fd, data, size);

		if (n > 0) {
			data += n;
			size -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			if (poll(&p, 1, OUTPUT_WAIT_MS) <= 0)
				return -EPIPE;
		} else if (n == 0 || errno != EINTR) {
			return -EPIPE;
		}
	}
	return 0;
}

void agent_stop(struct agent *a, enum agent_stop_reason end)
{
	if (!a->stopped)
		a->stop_reason = end;
	a->stopped = true;
}

void agent_send(struct agent *a, json_t *doc)
{
	char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	int err = -EMSGSIZE; /* the error itself does not fit */

	if (text && length < LOOP_LINE_MAX) {
		text[length++] = '\n';
		pthread_mutex_lock(&a->output);
		err = agent_write_fd(a->config->out_fd, text, length);
		pthread_mutex_unlock(&a->output);
	}
	if (err)
		agent_stop(a, AGENT_OUTPUT_FAILED);
	free(text);
	json_decref(doc);
}

void agent_reply_error(struct agent *a, uint64_t id, const struct err *e)
{
	agent_send(a, json_pack("{s:I, s:o}", "id", (json_int_t)id, "error", err_to_json(e)));
}

void agent_reply(struct agent *a, uint64_t id, json_t *reply)
{
	struct err e = {0};

	if (!reply || json_object_set_new(reply, "id", json_integer((json_int_t)id)) ||
	    json_object_set_new(reply, "ok", json_true())) {
		json_decref(reply);
		err_sys(&e, -ENOMEM, "agent: reply");
		agent_reply_error(a, id, &e);
		return;
	}
	if (json_dumpb(reply, NULL, 0, JSON_COMPACT) + 1 >= LOOP_LINE_MAX) {
		json_decref(reply);
		err_set(&e, -EMSGSIZE, "agent: the reply exceeds the line limit");
		agent_reply_error(a, id, &e);
		return;
	}
	agent_send(a, reply);
}

int agent_dcb(struct agent *a, struct dcb **dcb, struct err *e)
{
	int err = a->dcb ? 0 : dcb_open(NULL, &a->dcb, e);

	if (!err)
		*dcb = a->dcb;
	return err;
}

static void agent_send_hello(struct agent *a)
{
	char host[HOST_NAME_MAX + 1] = "", boot[JOURNAL_BOOT_MAX];

	(void)gethostname(host, sizeof(host) - 1);
	journal_boot_id(boot);
	agent_send(a, json_pack("{s:s, s:s, s:o, s:i, s:i, s:s}", "hello", AGENT_HELLO, "build",
				a->config->build, "host", text_to_json(host), "pid", (int)getpid(),
				"uid", (int)geteuid(), "boot", boot));
}

static void agent_on_line(char *line, size_t length, void *arg)
{
	struct agent *a = arg;

	if (!a->stopped)
		agent_handle_line(a, line, length);
}

static void agent_on_end(int err, void *arg)
{
	struct agent *a = arg;

	a->input_err = err;
	agent_stop(a, AGENT_INPUT_CLOSED);
}

static const struct loop_input_events input_events = {.line = agent_on_line, .end = agent_on_end};

/* A coordinator that died has its connection closed by its kernel. One that is silent while its
 * kernel acknowledges is stopped or has no CPU. Ends its traffic. */
static void agent_on_missed_lease(struct agent *a)
{
	const struct agent_config *config = a->config;

	if (!config->starved_ms || !agent_traffic_has_run(a) ||
	    !socket_is_answered(config->in_fd, ANSWERED_MS)) {
		agent_stop(a, AGENT_LEASE_EXPIRED);
	} else if (!a->starved_until_ms) {
		a->starved_until_ms = loop_now_ms(a->loop) + config->starved_ms;
		agent_traffic_lease_expired(a);
		if (config->on_starved)
			config->on_starved(config->arg);
	} else if (loop_now_ms(a->loop) >= a->starved_until_ms) {
		agent_stop(a, AGENT_STARVED);
	}
}

/* Reads pending requests once more before the lease counts as expired. */
static void agent_on_lease(void *arg)
{
	struct agent *a = arg;

	if (a->lease_late)
		agent_on_missed_lease(a);
	a->lease_late = true;
	loop_timer_set_awake(a->lease, LOOK_AGAIN_MS);
}

static void *agent_relay_input(void *arg)
{
	struct relay r = *(struct relay *)arg;
	char buf[65536];
	sigset_t pipe_only;

	free(arg);
	/* This thread outlives the loop, which ignores SIGPIPE, until the process ends. */
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
	for (;;) {
		ssize_t n = read(r.from, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || agent_write_fd(r.to, buf, (size_t)n))
			break;
	}
	close(r.to);
	usleep(EXIT_WAIT_US);
	_exit(r.on_stuck ? r.on_stuck() : 1); /* children die with it (PR_SET_PDEATHSIG) */
}

/* Sends alive events while the loop is blocked in a call. Ignores errors: other code detects a
 * coordinator that does not read. */
static void *agent_send_alive(void *arg)
{
	static const char line[] = "{\"event\":\"alive\"}\n";
	struct agent *a = arg;

	for (;;) {
		usleep(a->config->alive_ms * 1000);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		pthread_mutex_lock(&a->output);
		(void)agent_write_fd(a->config->out_fd, line, sizeof(line) - 1);
		pthread_mutex_unlock(&a->output);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	}
	return NULL;
}

static int agent_open_input(struct agent *a, struct loop_input **in, struct err *e)
{
	struct relay *r = malloc(sizeof(*r));
	pthread_t thread;
	int fd[2], err;

	if (!r || pipe2(fd, O_CLOEXEC)) {
		free(r);
		return err_sys(e, -errno, "agent: input");
	}
	r->from = a->config->in_fd;
	r->to = fd[1];
	r->on_stuck = a->config->on_stuck;
	err = loop_input_open(a->loop, fd[0], &input_events, a, in, e);
	if (err) {
		close(fd[1]);
		free(r);
		return err;
	}
	err = pthread_create(&thread, NULL, agent_relay_input, r);
	if (err) {
		close(fd[1]);
		free(r);
		loop_input_close(*in);
		return err_sys(e, -err, "agent: input");
	}
	pthread_detach(thread);
	return 0;
}

static bool agent_is_stopped(void *arg)
{
	const struct agent *a = arg;

	return a->stopped;
}

static void agent_serve(struct agent *a)
{
	bool alive = false;
	pthread_t thread;

	agent_send_hello(a);
	if (a->config->alive_ms)
		alive = !pthread_create(&thread, NULL, agent_send_alive, a);
	if (a->config->lease_ms)
		loop_timer_set_awake(a->lease, a->config->lease_ms);
	loop_run_until(a->loop, agent_is_stopped, a);
	if (alive) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
}

int agent_run(const struct agent_config *config, enum agent_stop_reason *end, struct err *e)
{
	struct agent a = {.config = config, .output = PTHREAD_MUTEX_INITIALIZER};
	struct loop_input *in = NULL;
	int err = loop_open(&a.loop, e);

	if (err)
		return err;
	if (loop_timer_open(a.loop, agent_on_lease, &a, &a.lease))
		err = err_sys(e, -ENOMEM, "agent");
	if (!err)
		err = agent_open_input(&a, &in, e);
	if (!err)
		agent_serve(&a);
	if (a.input_err)
		err = err_sys(e, a.input_err, "agent: input");
	if (end)
		*end = a.stop_reason;
	agent_traffic_stop_all(&a);
	agent_capture_stop_all(&a);
	agent_command_detach(&a);
	loop_input_close(in);
	loop_timer_close(a.lease);
	loop_close(a.loop);
	dcb_close(a.dcb);
	return err;
}
