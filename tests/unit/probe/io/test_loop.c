/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop with real processes: their lines, their end, their death, and that closing
 * anything at any time is safe.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <signal.h>

#include "probe/io/loop.h"

struct seen {
	char text[512], complaint[512];
	int status, signal;
	unsigned int long_lines, ended, fired;
	struct loop_process *process;
	bool close_on_line;
};

static void on_line(char *line, size_t length, void *arg)
{
	struct seen *s = arg;
	size_t used = strlen(s->text);

	(void)length;
	if (!line) {
		s->long_lines++;
		return;
	}
	snprintf(s->text + used, sizeof(s->text) - used, "[%s]", line);
	if (s->close_on_line) {
		loop_process_close(s->process);
		s->ended++;
	}
}

static void on_complaint(const char *text, size_t length, void *arg)
{
	struct seen *s = arg;
	size_t used = strlen(s->complaint);

	snprintf(s->complaint + used, sizeof(s->complaint) - used, "%.*s", (int)length, text);
}

static void on_ended(int status, int signal, void *arg)
{
	struct seen *s = arg;

	s->status = status;
	s->signal = signal;
	s->ended++;
}

static const struct loop_process_events events = {on_line, on_complaint, on_ended};

static bool has_ended(void *arg)
{
	const struct seen *s = arg;

	return s->ended;
}

static struct loop *start(struct seen *s, const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct err e = {0};
	struct loop *l;

	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_spawn(l, argv, &events, s, &s->process, &e), 0);
	return l;
}

static void finish(struct loop *l, struct seen *s)
{
	loop_process_close(s->process);
	loop_close(l);
}

static void test_output(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "echo a; echo oops >&2; printf 'b\nrest'; exit 3");

	(void)state;
	loop_run_until(l, has_ended, &s);
	assert_string_equal(s.text, "[a][b]");
	assert_string_equal(s.complaint, "oops\n");
	assert_int_equal(s.status, 3);
	assert_int_equal(s.signal, 0);
	finish(l, &s);
}

static void test_input(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "cat");

	(void)state;
	assert_int_equal(loop_process_write(s.process, "one\ntw", 6), 0);
	assert_int_equal(loop_process_write(s.process, "o\n", 2), 0);
	loop_process_end_input(s.process);
	loop_process_end_input(s.process);
	assert_int_equal(loop_process_write(s.process, "x", 1), -EPIPE);
	loop_run_until(l, has_ended, &s);
	assert_string_equal(s.text, "[one][two]");
	assert_int_equal(s.status, 0);
	finish(l, &s);
}

/* A process that is dead but does not look so must not kill us with SIGPIPE. */
static void test_write_to_the_dead(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "exec 0<&-; exit 0");

	(void)state;
	usleep(100000);
	for (unsigned int i = 0; i < 100; i++)
		(void)loop_process_write(s.process, "x\n", 2);
	loop_run_until(l, has_ended, &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(loop_process_write(s.process, "x", 1), -EPIPE);
	finish(l, &s);
}

static void test_kill(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "exec sleep 100");

	(void)state;
	loop_process_kill(s.process, SIGKILL);
	loop_run_until(l, has_ended, &s);
	assert_int_equal(s.signal, SIGKILL);
	finish(l, &s);
}

/* Closing a running process kills and reaps it. */
static void test_close_running(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "exec sleep 100");

	(void)state;
	finish(l, &s);
	assert_int_equal(s.ended, 0);
}

static void test_close_in_callback(void **state)
{
	struct seen s = {.status = -1, .close_on_line = true};
	struct loop *l = start(&s, "echo a; echo b; echo c; exec sleep 100");

	(void)state;
	loop_run_until(l, has_ended, &s);
	assert_string_equal(s.text, "[a]");
	loop_close(l);
}

/* Someone else keeps the output open: the end is told all the same. */
static void test_daemon_keeps_pipe(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "sleep 5 & echo a; exit 0");
	uint64_t begin = loop_now_ms(l);

	(void)state;
	loop_run_until(l, has_ended, &s);
	assert_string_equal(s.text, "[a]");
	assert_true(loop_now_ms(l) - begin < 4000);
	finish(l, &s);
}

static void test_long_line(void **state)
{
	struct seen s = {.status = -1};
	struct loop *l = start(&s, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo ok");

	(void)state;
	loop_run_until(l, has_ended, &s);
	assert_int_equal(s.long_lines, 1);
	assert_string_equal(s.text, "[ok]");
	finish(l, &s);
}

static void test_missing_program(void **state)
{
	const char *const argv[] = {"/nonexistent/program", NULL};
	struct loop_process *p = NULL;
	struct err e = {0};
	struct loop *l;

	(void)state;
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_spawn(l, argv, &events, NULL, &p, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/program"));
	assert_null(p);
	loop_close(l);
}

static void on_timer(void *arg)
{
	struct seen *s = arg;

	s->fired++;
	s->ended++;
}

static void test_timer(void **state)
{
	struct loop_timer *kept, *stopped;
	struct seen s = {0}, never = {0};
	struct err e = {0};
	struct loop *l;
	uint64_t begin;

	(void)state;
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_timer_open(l, on_timer, &s, &kept), 0);
	assert_int_equal(loop_timer_open(l, on_timer, &never, &stopped), 0);
	begin = loop_now_ms(l);
	loop_timer_set(kept, 5);
	loop_timer_set(kept, 60); /* moves it */
	loop_timer_set(stopped, 10);
	loop_timer_stop(stopped);
	loop_run_until(l, has_ended, &s);
	assert_true(loop_now_ms(l) - begin >= 55);
	assert_int_equal(s.fired, 1);
	assert_int_equal(never.fired, 0);
	loop_timer_close(kept);
	loop_timer_close(stopped);
	loop_timer_close(NULL);
	loop_close(l);
}

#define STILL_MS 1500

static void stand_still(void *arg)
{
	(void)arg;
	usleep(STILL_MS * 1000);
}

/* What is waited for gets its time in spite of a loop that stood still, a clock does not wait. */
static void test_awake_timer(void **state)
{
	struct loop_timer *still, *clock, *patient;
	struct seen by_clock = {0}, awake = {0};
	struct err e = {0};
	struct loop *l;
	uint64_t begin, awake_begin;

	(void)state;
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_timer_open(l, stand_still, NULL, &still), 0);
	assert_int_equal(loop_timer_open(l, on_timer, &by_clock, &clock), 0);
	assert_int_equal(loop_timer_open(l, on_timer, &awake, &patient), 0);
	begin = loop_now_ms(l);
	awake_begin = loop_awake_ms(l);
	loop_timer_set(still, 20);
	loop_timer_set(clock, 900);
	loop_timer_set_awake(patient, 900);
	loop_run_until(l, has_ended, &by_clock);
	assert_int_equal(awake.fired, 0);
	assert_true(loop_now_ms(l) - begin >= STILL_MS);
	assert_true(loop_awake_ms(l) - awake_begin < 900);
	loop_run_until(l, has_ended, &awake);
	assert_true(loop_now_ms(l) - begin >= STILL_MS + 300);
	assert_true(loop_awake_ms(l) - awake_begin >= 900);
	loop_timer_set_awake(patient, 60000);
	loop_timer_set(patient, 5); /* moves it, and by the clock */
	awake = (struct seen){0};
	loop_run_until(l, has_ended, &awake);
	assert_int_equal(awake.fired, 1);
	loop_timer_close(still);
	loop_timer_close(clock);
	loop_timer_close(patient);
	loop_close(l);
}

static void on_input_end(int err, void *arg)
{
	struct seen *s = arg;

	assert_int_equal(err, 0);
	s->ended++;
}

static void test_input_pipe(void **state)
{
	static const struct loop_input_events input_events = {on_line, on_input_end};
	struct loop_input *in;
	struct seen s = {0};
	struct err e = {0};
	struct loop *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(loop_open(&l, &e), 0);
	assert_int_equal(loop_input_open(l, fd[0], &input_events, &s, &in, &e), 0);
	assert_int_equal(write(fd[1], "a\nb\nc", 5), 5);
	close(fd[1]);
	loop_run_until(l, has_ended, &s);
	assert_string_equal(s.text, "[a][b]");
	loop_input_close(in);
	loop_input_close(NULL);
	loop_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_write_to_the_dead),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_close_running),
		cmocka_unit_test(test_close_in_callback),
		cmocka_unit_test(test_daemon_keeps_pipe),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_awake_timer),
		cmocka_unit_test(test_input_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
