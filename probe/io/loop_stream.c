/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets of the event loop: lines in, bytes out. Connecting and accepting are not here: a socket
 * comes connected (probe/io/dial.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/io/lines.h"
#include "probe/io/loop.h"
#include "probe/io/loop_uv.h"

#define QUEUE_MAX (4u << 20) /* what the other end may leave unread */

struct loop_stream {
	uv_tcp_t uv;
	struct lines lines;
	const struct loop_stream_events *events;
	void *arg;
	bool closed, ended;
};

static void free_stream(uv_handle_t *handle)
{
	struct loop_stream *s = handle->data;

	lines_clear(&s->lines);
	free(s);
}

static void on_line(char *line, size_t length, void *arg)
{
	struct loop_stream *s = arg;

	if (!s->closed)
		s->events->line(line, length, s->arg);
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct loop_stream *s = stream->data;

	if (n > 0 && lines_push(&s->lines, buf->base, (size_t)n, on_line, s))
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
	lines_init(&s->lines, LOOP_LINE_MAX);
	s->events = events;
	s->arg = arg;
	uv_tcp_init(&l->uv, &s->uv);
	s->uv.data = s;
	err = uv_tcp_open(&s->uv, fd);
	if (err)
		close(fd);
	else
		err = uv_read_start((uv_stream_t *)&s->uv, loop_buffer, on_bytes);
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
	uv_close((uv_handle_t *)&s->uv, free_stream);
}
