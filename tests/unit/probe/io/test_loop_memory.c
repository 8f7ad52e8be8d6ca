/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop on a machine short of memory: lines that cannot be kept end their stream with an
 * error, instead of being dropped. line_buffer_push() is the test's own, and always fails.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/io/line_buffer.h"
#include "probe/io/loop.h"

void line_buffer_init(struct line_buffer *l, size_t max)
{
	memset(l, 0, sizeof(*l));
	l->max = max;
}

void line_buffer_clear(struct line_buffer *l)
{
	(void)l;
}

int line_buffer_push(struct line_buffer *l, const char *data, size_t size, line_buffer_fn *fn,
		     void *arg)
{
	(void)l;
	(void)data;
	(void)size;
	(void)fn;
	(void)arg;
	return -ENOMEM;
}

struct seen {
	unsigned int lines, ended;
	int err, signal;
};

static void on_line(char *line, size_t length, void *arg)
{
	(void)line;
	(void)length;
	((struct seen *)arg)->lines++;
}

static void on_end(int err, void *arg)
{
	struct seen *s = arg;

	s->err = err;
	s->ended++;
}

static void on_exit_of(int status, int signal, void *arg)
{
	on_end(status, arg);
	((struct seen *)arg)->signal = signal;
}

static bool has_ended(void *arg)
{
	return ((const struct seen *)arg)->ended;
}

static void expect_end(struct loop *l, struct seen *s)
{
	loop_run_until(l, has_ended, s);
	assert_int_equal(s->err, -ENOMEM);
	assert_int_equal(s->signal, 0);
	assert_int_equal(s->lines, 0);
}

static void test_input(void **state)
{
	static const struct loop_input_events events = {on_line, on_end};
	struct loop_input *in;
	struct seen s = {0};
	struct err e = {0};
	struct loop *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_input_open(l, fd[0], &events, &s, &in, &e), 0);
	assert_int_equal(write(fd[1], "a\nb\n", 4), 4);
	expect_end(l, &s);
	close(fd[1]);
	loop_input_close(in);
	loop_close(l);
	assert_int_equal(s.ended, 1);
}

static void test_stream(void **state)
{
	static const struct loop_stream_events events = {on_line, on_end};
	struct loop_stream *stream;
	struct seen s = {0};
	struct err e = {0};
	struct loop *l;
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_stream_open(l, fd[0], &events, &s, &stream, &e), 0);
	assert_int_equal(write(fd[1], "a\n", 2), 2);
	expect_end(l, &s);
	close(fd[1]);
	loop_stream_close(stream);
	loop_close(l);
	assert_int_equal(s.ended, 1);
}

/* A program that would run on is killed: nobody reads what it writes. */
static void test_process(void **state)
{
	static const struct loop_process_events events = {.line = on_line, .ended = on_exit_of};
	static const char *const argv[] = {"/bin/sh", "-c", "echo a; exec sleep 60", NULL};
	struct loop_process *p;
	struct seen s = {0};
	struct err e = {0};
	struct loop *l;

	(void)state;
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_spawn(l, argv, &events, &s, &p, &e), 0);
	expect_end(l, &s);
	loop_process_close(p);
	loop_close(l);
	assert_int_equal(s.ended, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
