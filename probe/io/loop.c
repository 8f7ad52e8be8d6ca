/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wraps libuv and its conventions: error codes of both signs, handles that live until their close
 * callback, buffers that must outlive a write.
 */
#include "probe/io/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "probe/io/line_buffer.h"
#include "profiles/base/signals.h"

#define LOOP_READ_BYTES 65536

#define TICK_MS	      100
#define AWAKE_MOST_MS 500 /* longest time that counts as awake between two ticks */

struct loop {
	uv_loop_t uv;
	uv_timer_t tick;
	uint64_t seen_ms, awake_ms; /* seen_ms: time of the last update of awake_ms */
	struct sigaction old_sigpipe;
};

/* Called at least at every tick. */
static void loop_count_awake(struct loop *l)
{
	uint64_t now_ms = uv_now(&l->uv), passed_ms = now_ms - l->seen_ms;

	l->awake_ms += passed_ms < AWAKE_MOST_MS ? passed_ms : AWAKE_MOST_MS;
	l->seen_ms = now_ms;
}

static void loop_on_tick(uv_timer_t *timer)
{
	loop_count_awake(timer->data); /* only wakes up the loop */
}

int loop_open(struct loop **out, struct err *e)
{
	struct loop *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return err_sys(e, -ENOMEM, "event loop");
	err = uv_loop_init(&l->uv);
	if (err) {
		free(l);
		return err_sys(e, err, "event loop");
	}
	uv_timer_init(&l->uv, &l->tick);
	l->tick.data = l;
	l->seen_ms = uv_now(&l->uv);
	uv_timer_start(&l->tick, loop_on_tick, TICK_MS, TICK_MS);
	signals_ignore_pipe(&l->old_sigpipe);
	*out = l;
	return 0;
}

void loop_close(struct loop *l)
{
	if (!l)
		return;
	uv_close((uv_handle_t *)&l->tick, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT); /* runs the close callbacks */
	uv_loop_close(&l->uv);
	signals_restore_pipe(&l->old_sigpipe);
	free(l);
}

uint64_t loop_now_ms(const struct loop *l)
{
	return uv_now(&l->uv);
}

uint64_t loop_awake_ms(const struct loop *l)
{
	return l->awake_ms;
}

void loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg)
{
	uv_update_time(&l->uv);
	loop_count_awake(l);
	while (!done(arg))
		uv_run(&l->uv, UV_RUN_ONCE);
}

struct loop_timer {
	uv_timer_t uv;
	struct loop *loop;
	uint64_t until_awake_ms; /* in loop_awake_ms(); 0: the timer uses the clock */
	void (*fn)(void *arg);
	void *arg;
};

static void loop_free_timer(uv_handle_t *handle)
{
	free(handle->data);
}

static void loop_on_timer(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;

	loop_count_awake(t->loop);
	if (t->until_awake_ms > t->loop->awake_ms)
		uv_timer_start(uv, loop_on_timer, t->until_awake_ms - t->loop->awake_ms, 0);
	else
		t->fn(t->arg);
}

int loop_timer_open(struct loop *l, void (*fn)(void *arg), void *arg, struct loop_timer **out)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	uv_timer_init(&l->uv, &t->uv);
	t->uv.data = t;
	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	*out = t;
	return 0;
}

void loop_timer_set(struct loop_timer *t, uint64_t ms)
{
	uv_update_time(t->uv.loop); /* the current callback may have taken long */
	t->until_awake_ms = 0;
	uv_timer_start(&t->uv, loop_on_timer, ms, 0);
}

void loop_timer_set_awake(struct loop_timer *t, uint64_t ms)
{
	loop_timer_set(t, ms);
	loop_count_awake(t->loop);
	t->until_awake_ms = t->loop->awake_ms + ms;
}

void loop_timer_stop(struct loop_timer *t)
{
	uv_timer_stop(&t->uv);
}

void loop_timer_close(struct loop_timer *t)
{
	if (t)
		uv_close((uv_handle_t *)&t->uv, loop_free_timer);
}

struct loop_input {
	uv_pipe_t uv;
	struct line_buffer lines;
	const struct loop_input_events *events;
	void *arg;
	bool closed;
};

static void loop_free_input(uv_handle_t *handle)
{
	struct loop_input *in = handle->data;

	line_buffer_clear(&in->lines);
	free(in);
}

/* Allocates a read buffer, which the read callback frees. */
static void loop_alloc_buffer(uv_handle_t *handle, size_t wished, uv_buf_t *buf)
{
	(void)handle;
	(void)wished;
	buf->base = malloc(LOOP_READ_BYTES);
	buf->len = buf->base ? LOOP_READ_BYTES : 0;
}

struct loop_write_request {
	uv_write_t uv;
	char data[];
};

static void loop_on_written(uv_write_t *uv, int status)
{
	(void)status; /* an error shows when the peer closes */
	free(uv->data);
}

/* Queues a copy. -ENOMEM, or the error of libuv. */
static int loop_write(uv_stream_t *to, const char *data, size_t size)
{
	struct loop_write_request *w = malloc(sizeof(*w) + size);
	uv_buf_t buf;
	int err;

	if (!w)
		return -ENOMEM;
	memcpy(w->data, data, size);
	w->uv.data = w;
	buf = uv_buf_init(w->data, (unsigned int)size);
	err = uv_write(&w->uv, to, &buf, 1, loop_on_written);
	if (err)
		free(w);
	return err;
}

static void loop_on_input_line(char *line, size_t length, void *arg)
{
	struct loop_input *in = arg;

	if (!in->closed)
		in->events->line(line, length, in->arg);
}

static void loop_on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_input *in = stream->data;

	if (n > 0 && line_buffer_push(&in->lines, buf->base, (size_t)n, loop_on_input_line, in))
		n = -ENOMEM;
	free(buf->base);
	if (n < 0 && !in->closed) {
		uv_read_stop(stream);
		in->events->end(n == UV_EOF ? 0 : (int)n, in->arg);
	}
}

int loop_input_open(struct loop *l, int fd, const struct loop_input_events *events, void *arg,
		    struct loop_input **out, struct err *e)
{
	struct loop_input *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return err_sys(e, -ENOMEM, "input");
	line_buffer_init(&in->lines, LOOP_LINE_MAX);
	in->events = events;
	in->arg = arg;
	uv_pipe_init(&l->uv, &in->uv, 0);
	in->uv.data = in;
	err = uv_pipe_open(&in->uv, fd);
	if (!err)
		err = uv_read_start((uv_stream_t *)&in->uv, loop_alloc_buffer, loop_on_input);
	if (err) {
		loop_input_close(in);
		return err_sys(e, err, "input");
	}
	*out = in;
	return 0;
}

void loop_input_close(struct loop_input *in)
{
	if (!in)
		return;
	in->closed = true;
	uv_close((uv_handle_t *)&in->uv, loop_free_input);
}

/* Sockets of the event loop: lines in, bytes out. The socket is already connected
 * (probe/io/tcp_socket.h). */

#define QUEUE_MAX (4u << 20) /* limit of unread bytes of the peer */

struct loop_stream {
	uv_tcp_t uv;
	struct line_buffer lines;
	const struct loop_stream_events *events;
	void *arg;
	bool closed, ended;
};

static void loop_free_stream(uv_handle_t *handle)
{
	struct loop_stream *s = handle->data;

	line_buffer_clear(&s->lines);
	free(s);
}

static void loop_on_stream_line(char *line, size_t length, void *arg)
{
	struct loop_stream *s = arg;

	if (!s->closed)
		s->events->line(line, length, s->arg);
}

static void loop_on_stream(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_stream *s = stream->data;

	if (n > 0 && line_buffer_push(&s->lines, buf->base, (size_t)n, loop_on_stream_line, s))
		n = -ENOMEM;
	free(buf->base);
	if (n >= 0 || s->closed || s->ended)
		return;
	s->ended = true;
	uv_read_stop(stream);
	s->events->ended(n == UV_EOF ? 0 : (int)n, s->arg);
}

int loop_stream_open(struct loop *l, int fd, const struct loop_stream_events *events, void *arg,
		     struct loop_stream **out, struct err *e)
{
	struct loop_stream *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		close(fd);
		return err_sys(e, -ENOMEM, "socket");
	}
	line_buffer_init(&s->lines, LOOP_LINE_MAX);
	s->events = events;
	s->arg = arg;
	uv_tcp_init(&l->uv, &s->uv);
	s->uv.data = s;
	err = uv_tcp_open(&s->uv, fd);
	if (err)
		close(fd);
	else
		err = uv_read_start((uv_stream_t *)&s->uv, loop_alloc_buffer, loop_on_stream);
	if (err) {
		loop_stream_close(s);
		return err_sys(e, err, "socket");
	}
	*out = s;
	return 0;
}

int loop_stream_write(struct loop_stream *s, const char *data, size_t size)
{
	uv_stream_t *stream = (uv_stream_t *)&s->uv;

	if (s->closed || s->ended || uv_stream_get_write_queue_size(stream) > QUEUE_MAX)
		return -EPIPE;
	return loop_write(stream, data, size);
}

int loop_stream_fd(const struct loop_stream *s)
{
	int fd = -1;

	return uv_fileno((const uv_handle_t *)&s->uv, &fd) ? -1 : fd;
}

void loop_stream_close(struct loop_stream *s)
{
	if (!s || s->closed)
		return;
	s->closed = true;
	uv_close((uv_handle_t *)&s->uv, loop_free_stream);
}

/* Processes of the event loop. A process has ended when it exited and its stdout is at its end, or
 * half a second after its exit: a daemon that it left (an ssh master) may keep the pipe open. */

#define LINGER_MS 500

/* One socket is input and output of the process: a process takes two of our open files. */
enum process_pipe {
	PIPE_IN_OUT,
	PIPE_ERR,
	PIPE_COUNT,
};

struct loop_process {
	uv_process_t uv;
	uv_pipe_t pipe[PIPE_COUNT];
	uv_timer_t linger;
	struct line_buffer lines;
	const struct loop_process_events *events;
	void *arg;
	unsigned int open; /* open handles */
	bool started, exited, output_ended, reported, closed, input_ended;
	int status, signal;
	int output_err; /* -errno: its output could not be read */
};

static void loop_on_process_closed(uv_handle_t *handle)
{
	struct loop_process *p = handle->data;

	if (--p->open)
		return;
	line_buffer_clear(&p->lines);
	free(p);
}

static void loop_close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, loop_on_process_closed);
}

static void loop_close_pipes(struct loop_process *p)
{
	p->closed = true;
	for (unsigned int i = 0; i < PIPE_COUNT; i++)
		loop_close_handle((uv_handle_t *)&p->pipe[i]);
	loop_close_handle((uv_handle_t *)&p->linger);
}

void loop_process_close(struct loop_process *p)
{
	if (!p || p->closed)
		return;
	if (p->started && !p->exited)
		uv_process_kill(&p->uv, SIGKILL);
	loop_close_pipes(p);
	/* A running process is reaped first; on_exit closes it. */
	if (!p->started || p->exited)
		loop_close_handle((uv_handle_t *)&p->uv);
}

void loop_process_leave(struct loop_process *p)
{
	if (!p || p->closed)
		return;
	loop_close_pipes(p);
	loop_close_handle((uv_handle_t *)&p->uv);
}

static void loop_report_exit(struct loop_process *p)
{
	if (p->reported || p->closed)
		return;
	p->reported = true;
	p->events->ended(p->output_err ? p->output_err : p->status, p->output_err ? 0 : p->signal,
			 p->arg);
}

static void loop_on_linger(uv_timer_t *timer)
{
	loop_report_exit(timer->data);
}

static void loop_on_exit(uv_process_t *uv, int64_t status, int signal)
{
	struct loop_process *p = uv->data;

	p->exited = true;
	p->status = (int)status;
	p->signal = signal;
	if (p->closed) {
		loop_close_handle((uv_handle_t *)&p->uv);
		return;
	}
	if (p->output_ended)
		loop_report_exit(p);
	else
		uv_timer_start(&p->linger, loop_on_linger, LINGER_MS, 0);
}

static void loop_on_stdout_line(char *line, size_t length, void *arg)
{
	struct loop_process *p = arg;

	if (!p->closed)
		p->events->line(line, length, p->arg);
}

static void loop_on_stdout(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_process *p = stream->data;

	if (n > 0 && line_buffer_push(&p->lines, buf->base, (size_t)n, loop_on_stdout_line, p))
		n = UV_ENOMEM;
	free(buf->base);
	if (n >= 0 || p->closed)
		return;
	uv_read_stop(stream);
	p->output_ended = true;
	/* Other errors are the end, too: a process that exits with unread input resets the pipe. */
	if (n == UV_ENOMEM || n == UV_ENOBUFS) {
		p->output_err = (int)n;
		loop_process_kill(p, SIGKILL);
	}
	if (p->exited)
		loop_report_exit(p);
}

static void loop_on_stderr(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_process *p = stream->data;

	if (n > 0 && !p->closed && p->events->stderr_text)
		p->events->stderr_text(buf->base, (size_t)n, p->arg);
	free(buf->base);
	if (n < 0)
		uv_read_stop(stream);
}

static struct loop_process *loop_new_process(struct loop *l)
{
	struct loop_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	line_buffer_init(&p->lines, LOOP_LINE_MAX);
	for (unsigned int i = 0; i < PIPE_COUNT; i++) {
		uv_pipe_init(&l->uv, &p->pipe[i], 0);
		p->pipe[i].data = p;
	}
	uv_timer_init(&l->uv, &p->linger);
	p->linger.data = p;
	p->uv.data = p;
	p->open = PIPE_COUNT + 2;
	return p;
}

static int loop_start_process(struct loop *l, struct loop_process *p, const char *const *argv)
{
	uv_stream_t *in_out = (uv_stream_t *)&p->pipe[PIPE_IN_OUT];
	uv_stream_t *errors = (uv_stream_t *)&p->pipe[PIPE_ERR];
	uv_stdio_container_t stdio[] = {
		{.flags = UV_INHERIT_FD},
		{.flags = UV_INHERIT_FD},
		{UV_CREATE_PIPE | UV_WRITABLE_PIPE, {errors}},
	};
	uv_process_options_t options = {
		.exit_cb = loop_on_exit,
		.file = argv[0],
		.args = (char **)argv,	      /* libuv does not write to it */
		.flags = UV_PROCESS_DETACHED, /* Ctrl-C must not reach the child */
		.stdio_count = ARRAY_SIZE(stdio),
		.stdio = stdio,
	};
	int err, ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = uv_pipe_open(&p->pipe[PIPE_IN_OUT], ends[0]);
	if (err)
		close(ends[0]);
	stdio[0].data.fd = stdio[1].data.fd = ends[1];
	if (!err)
		err = uv_spawn(&l->uv, &p->uv, &options);
	close(ends[1]);
	if (err)
		return err;
	p->started = true;
	err = uv_read_start(in_out, loop_alloc_buffer, loop_on_stdout);
	if (err)
		return err;
	return uv_read_start(errors, loop_alloc_buffer, loop_on_stderr);
}

int loop_spawn(struct loop *l, const char *const *argv, const struct loop_process_events *events,
	       void *arg, struct loop_process **out, struct err *e)
{
	struct loop_process *p = loop_new_process(l);
	int err;

	if (!p)
		return err_sys(e, -ENOMEM, "%s", argv[0]);
	p->events = events;
	p->arg = arg;
	err = loop_start_process(l, p, argv);
	if (err) {
		loop_process_close(p);
		return err_sys(e, err, "%s", argv[0]);
	}
	*out = p;
	return 0;
}

int loop_process_write(struct loop_process *p, const char *data, size_t size)
{
	if (p->closed || p->exited || p->input_ended)
		return -EPIPE;
	return loop_write((uv_stream_t *)&p->pipe[PIPE_IN_OUT], data, size);
}

static void loop_on_shutdown(uv_shutdown_t *request, int status)
{
	(void)status;
	free(request);
}

void loop_process_end_input(struct loop_process *p)
{
	uv_stream_t *in_out = (uv_stream_t *)&p->pipe[PIPE_IN_OUT];
	uv_shutdown_t *request;

	if (p->closed || p->input_ended)
		return;
	p->input_ended = true;
	request = malloc(sizeof(*request));
	if (!request || uv_shutdown(request, in_out, loop_on_shutdown)) {
		free(request);
		loop_process_kill(p, SIGTERM); /* it would wait for more */
	}
}

void loop_process_kill(struct loop_process *p, int signal)
{
	if (p->started && !p->exited && !p->closed)
		uv_process_kill(&p->uv, signal);
}
