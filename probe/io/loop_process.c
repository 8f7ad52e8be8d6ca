/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of the event loop. A process has ended when it exited and its stdout was read to the
 * end, or half a second after its exit: a daemon it left behind (an ssh master) may keep the pipe
 * open.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/io/lines.h"
#include "probe/io/loop.h"
#include "probe/io/loop_uv.h"

#define LINGER_MS 500

enum process_pipe {
	PIPE_IN,
	PIPE_OUT,
	PIPE_ERR,
	PIPE_COUNT,
};

struct loop_process {
	uv_process_t uv;
	uv_pipe_t pipe[PIPE_COUNT];
	uv_timer_t linger;
	struct lines lines;
	const struct loop_process_events *events;
	void *arg;
	unsigned int open; /* handles not closed yet */
	bool started, exited, output_ended, told, closed, input_ended;
	int status, signal;
};

static void on_closed(uv_handle_t *handle)
{
	struct loop_process *p = handle->data;

	if (--p->open)
		return;
	lines_clear(&p->lines);
	free(p);
}

static void close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

static void close_pipes(struct loop_process *p)
{
	p->closed = true;
	for (unsigned int i = 0; i < PIPE_COUNT; i++)
		close_handle((uv_handle_t *)&p->pipe[i]);
	close_handle((uv_handle_t *)&p->linger);
}

void loop_process_close(struct loop_process *p)
{
	if (!p || p->closed)
		return;
	if (p->started && !p->exited)
		uv_process_kill(&p->uv, SIGKILL);
	close_pipes(p);
	/* A running one is reaped first: on_exit closes it. */
	if (!p->started || p->exited)
		close_handle((uv_handle_t *)&p->uv);
}

void loop_process_leave(struct loop_process *p)
{
	if (!p || p->closed)
		return;
	close_pipes(p);
	close_handle((uv_handle_t *)&p->uv);
}

static void tell_end(struct loop_process *p)
{
	if (p->told || p->closed)
		return;
	p->told = true;
	p->events->ended(p->status, p->signal, p->arg);
}

static void on_linger(uv_timer_t *timer)
{
	tell_end(timer->data);
}

static void on_exit_status(uv_process_t *uv, int64_t status, int signal)
{
	struct loop_process *p = uv->data;

	p->exited = true;
	p->status = (int)status;
	p->signal = signal;
	if (p->closed) {
		close_handle((uv_handle_t *)&p->uv);
		return;
	}
	if (p->output_ended)
		tell_end(p);
	else
		uv_timer_start(&p->linger, on_linger, LINGER_MS, 0);
}

static void on_line(char *line, size_t length, void *arg)
{
	struct loop_process *p = arg;

	if (!p->closed)
		p->events->line(line, length, p->arg);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_process *p = stream->data;

	if (n > 0)
		(void)lines_push(&p->lines, buf->base, (size_t)n, on_line, p);
	free(buf->base);
	if (n >= 0 || p->closed)
		return;
	uv_read_stop(stream);
	p->output_ended = true;
	if (p->exited)
		tell_end(p);
}

static void on_complaint(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_process *p = stream->data;

	if (n > 0 && !p->closed && p->events->complaint)
		p->events->complaint(buf->base, (size_t)n, p->arg);
	free(buf->base);
	if (n < 0)
		uv_read_stop(stream);
}

static struct loop_process *new_process(struct loop *l)
{
	struct loop_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	lines_init(&p->lines, LOOP_LINE_MAX);
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

static int start(struct loop *l, struct loop_process *p, const char *const *argv)
{
	uv_stdio_container_t stdio[PIPE_COUNT] = {
		[PIPE_IN] = {UV_CREATE_PIPE | UV_READABLE_PIPE, {(uv_stream_t *)&p->pipe[PIPE_IN]}},
		[PIPE_OUT] = {UV_CREATE_PIPE | UV_WRITABLE_PIPE,
			      {(uv_stream_t *)&p->pipe[PIPE_OUT]}},
		[PIPE_ERR] = {UV_CREATE_PIPE | UV_WRITABLE_PIPE,
			      {(uv_stream_t *)&p->pipe[PIPE_ERR]}},
	};
	uv_process_options_t options = {
		.exit_cb = on_exit_status,
		.file = argv[0],
		.args = (char **)argv,	      /* libuv does not write to it */
		.flags = UV_PROCESS_DETACHED, /* Ctrl-C is for us: we end it in order */
		.stdio_count = PIPE_COUNT,
		.stdio = stdio,
	};
	int err = uv_spawn(&l->uv, &p->uv, &options);

	if (err)
		return err;
	p->started = true;
	err = uv_read_start((uv_stream_t *)&p->pipe[PIPE_OUT], loop_buffer, on_output);
	if (err)
		return err;
	return uv_read_start((uv_stream_t *)&p->pipe[PIPE_ERR], loop_buffer, on_complaint);
}

int loop_spawn(struct loop *l, const char *const *argv, const struct loop_process_events *events,
	       void *arg, struct loop_process **out, struct err *e)
{
	struct loop_process *p = new_process(l);
	int err;

	if (!p)
		return err_sys(e, -ENOMEM, "%s", argv[0]);
	p->events = events;
	p->arg = arg;
	err = start(l, p, argv);
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
	return loop_write((uv_stream_t *)&p->pipe[PIPE_IN], data, size);
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
	(void)status;
	free(request);
}

/* After what is queued. */
void loop_process_end_input(struct loop_process *p)
{
	uv_shutdown_t *request;

	if (p->closed || p->input_ended)
		return;
	p->input_ended = true;
	request = malloc(sizeof(*request));
	if (!request || uv_shutdown(request, (uv_stream_t *)&p->pipe[PIPE_IN], on_shutdown)) {
		free(request);
		close_handle((uv_handle_t *)&p->pipe[PIPE_IN]);
	}
}

void loop_process_kill(struct loop_process *p, int signal)
{
	if (p->started && !p->exited && !p->closed)
		uv_process_kill(&p->uv, signal);
}
