/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libuv's conventions end here: positive and negative error codes, handles that live until their
 * close callback, buffers that must outlive a write. Processes are in loop_process.c, sockets in
 * loop_stream.c.
 */
#include "probe/io/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/io/lines.h"
#include "probe/io/loop_uv.h"

#define TICK_MS	      100
#define AWAKE_MOST_MS 500 /* of a tick; in a longer one the loop stood still */

/* Each tick at the latest. */
static void count_awake(struct loop *l)
{
	uint64_t now_ms = uv_now(&l->uv), passed_ms = now_ms - l->seen_ms;

	l->awake_ms += passed_ms < AWAKE_MOST_MS ? passed_ms : AWAKE_MOST_MS;
	l->seen_ms = now_ms;
}

static void on_tick(uv_timer_t *timer)
{
	count_awake(timer->data); /* waking up is all else */
}

int loop_open(struct loop **out, struct err *e)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
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
	uv_timer_start(&l->tick, on_tick, TICK_MS, TICK_MS);
	sigaction(SIGPIPE, &ignore, &l->old_sigpipe);
	*out = l;
	return 0;
}

void loop_close(struct loop *l)
{
	if (!l)
		return;
	uv_close((uv_handle_t *)&l->tick, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT); /* the close callbacks */
	uv_loop_close(&l->uv);
	sigaction(SIGPIPE, &l->old_sigpipe, NULL);
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
	count_awake(l);
	while (!done(arg))
		uv_run(&l->uv, UV_RUN_ONCE);
}

struct loop_timer {
	uv_timer_t uv;
	struct loop *loop;
	uint64_t until_awake_ms; /* of loop_awake_ms(); 0: it goes by the clock */
	void (*fn)(void *arg);
	void *arg;
};

static void free_timer(uv_handle_t *handle)
{
	free(handle->data);
}

static void on_timer(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;

	count_awake(t->loop);
	if (t->until_awake_ms > t->loop->awake_ms)
		uv_timer_start(uv, on_timer, t->until_awake_ms - t->loop->awake_ms, 0);
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
	uv_update_time(t->uv.loop); /* the callback we are in may have taken long */
	t->until_awake_ms = 0;
	uv_timer_start(&t->uv, on_timer, ms, 0);
}

void loop_timer_set_awake(struct loop_timer *t, uint64_t ms)
{
	loop_timer_set(t, ms);
	count_awake(t->loop);
	t->until_awake_ms = t->loop->awake_ms + ms;
}

void loop_timer_stop(struct loop_timer *t)
{
	uv_timer_stop(&t->uv);
}

void loop_timer_close(struct loop_timer *t)
{
	if (t)
		uv_close((uv_handle_t *)&t->uv, free_timer);
}

struct loop_input {
	uv_pipe_t uv;
	struct lines lines;
	const struct loop_input_events *events;
	void *arg;
	bool closed;
};

static void free_input(uv_handle_t *handle)
{
	struct loop_input *in = handle->data;

	lines_clear(&in->lines);
	free(in);
}

void loop_buffer(uv_handle_t *handle, size_t wished, uv_buf_t *buf)
{
	(void)handle;
	(void)wished;
	buf->base = malloc(LOOP_READ_BYTES);
	buf->len = buf->base ? LOOP_READ_BYTES : 0;
}

struct write_request {
	uv_write_t uv;
	char data[];
};

static void on_written(uv_write_t *uv, int status)
{
	(void)status; /* who does not read any more ends; that is told */
	free(uv->data);
}

int loop_write(uv_stream_t *to, const char *data, size_t size)
{
	struct write_request *w = malloc(sizeof(*w) + size);
	uv_buf_t buf;
	int err;

	if (!w)
		return -ENOMEM;
	memcpy(w->data, data, size);
	w->uv.data = w;
	buf = uv_buf_init(w->data, (unsigned int)size);
	err = uv_write(&w->uv, to, &buf, 1, on_written);
	if (err)
		free(w);
	return err;
}

static void on_input_line(char *line, size_t length, void *arg)
{
	struct loop_input *in = arg;

	if (!in->closed)
		in->events->line(line, length, in->arg);
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_input *in = stream->data;

	if (n > 0)
		(void)lines_push(&in->lines, buf->base, (size_t)n, on_input_line, in);
	free(buf->base);
	if (n < 0 && !in->closed) {
		uv_read_stop(stream);
		in->events->end(in->arg);
	}
}

int loop_input_open(struct loop *l, int fd, const struct loop_input_events *events, void *arg,
		    struct loop_input **out, struct err *e)
{
	struct loop_input *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return err_sys(e, -ENOMEM, "input");
	lines_init(&in->lines, LOOP_LINE_MAX);
	in->events = events;
	in->arg = arg;
	uv_pipe_init(&l->uv, &in->uv, 0);
	in->uv.data = in;
	err = uv_pipe_open(&in->uv, fd);
	if (!err)
		err = uv_read_start((uv_stream_t *)&in->uv, loop_buffer, on_input);
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
	uv_close((uv_handle_t *)&in->uv, free_input);
}
