/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of `probe server`: who shows the token comes in, and nobody else, whatever they send,
 * however they cut it, and however many stand there.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/dial.h"
#include "probe/gate.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define RIGHT "{\"probe\":\"rocecheck.probe/1\",\"token\":\"" TOKEN "\"}"

static void test_tokens_made(void **state)
{
	char a[GATE_TOKEN_MAX + 1], b[GATE_TOKEN_MAX + 1];
	struct err e = {0};

	(void)state;
	assert_int_equal(gate_token_make(a, &e), 0);
	assert_int_equal(gate_token_make(b, &e), 0);
	assert_int_equal(strlen(a), 2 * GATE_TOKEN_BYTES);
	assert_string_not_equal(a, b);
	assert_int_equal(gate_token_check(a, "made", &e), 0);
}

static void test_tokens_compared(void **state)
{
	static const struct {
		const char *a, *b;
		bool want;
	} cases[] = {
		{TOKEN, TOKEN, true},
		{TOKEN, "0123456789abcdef0123456789abcdee", false},
		{TOKEN, "1123456789abcdef0123456789abcdef", false},
		{TOKEN, "0123456789abcdef0123456789abcde", false},
		{TOKEN, TOKEN "0", false},
		{TOKEN, "", false},
		{"", "", false}, /* no token opens nothing */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (gate_token_equal(cases[i].a, cases[i].b) != cases[i].want)
			fail_msg("'%s' and '%s'", cases[i].a, cases[i].b);
}

static void test_token_files(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		int want;
	} cases[] = {
		{TOKEN "\n", 0600, 0},
		{TOKEN "\r\nmore\n", 0400, 0},
		{TOKEN, 0600, 0},
		{TOKEN "\n", 0644, -EPERM},
		{TOKEN "\n", 0640, -EPERM},
		{"", 0600, -EINVAL},
		{"short\n", 0600, -EINVAL},
		{"0123456789 abcdef\n", 0600, -EINVAL},
		{"0123456789\"abcdef\n", 0600, -EINVAL},
		{"0123456789\\abcdef\n", 0600, -EINVAL},
		{"0123456789\xc3\xa9"
		 "abcdef\n",
		 0600, -EINVAL},
	};
	char path[] = "/tmp/test-gate-XXXXXX", token[GATE_TOKEN_MAX + 1];
	int fd = mkstemp(path);
	struct err e = {0};

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		assert_true(pwrite(fd, cases[i].text, strlen(cases[i].text), 0) ==
			    (ssize_t)strlen(cases[i].text));
		if (gate_token_load(path, token, &e) != cases[i].want)
			fail_msg("'%s': %s", cases[i].text, e.text);
		if (!cases[i].want)
			assert_string_equal(token, TOKEN);
	}
	close(fd);
	unlink(path);
	assert_int_equal(gate_token_load(path, token, &e), -ENOENT);
}

static void test_first_lines(void **state)
{
	static const struct {
		const char *line;
		int want;
	} cases[] = {
		{RIGHT, 0},
		{"{\"token\":\"" TOKEN "\",\"more\":1,\"probe\":\"rocecheck.probe/1\"}", 0},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":\"x\"}", -EACCES},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":\"\"}", -EACCES},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":7}", -EACCES},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":[\"" TOKEN "\"]}", -EACCES},
		{"{\"probe\":\"rocecheck.probe/1\"}", -EACCES},
		{"{\"probe\":\"rocecheck.probe/2\",\"token\":\"" TOKEN "\"}", -EPROTO},
		{"{\"token\":\"" TOKEN "\"}", -EPROTO},
		{TOKEN, -EPROTO},
		{"", -EPROTO},
		{"[]", -EPROTO},
		{"GET / HTTP/1.1", -EPROTO},
		{"\xff\xfe\x00", -EPROTO},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":\"x\",\"token\":\"" TOKEN "\"}",
		 -EPROTO},
	};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (gate_judge(cases[i].line, strlen(cases[i].line), TOKEN, &e) != cases[i].want)
			fail_msg("%s: %s", cases[i].line, e.text);
}

/* Each single byte of the right line made each other byte: none of them opens the door. */
static void test_first_lines_spoiled(void **state)
{
	char line[] = RIGHT;

	(void)state;
	for (size_t i = 0; i < sizeof(line) - 1; i++) {
		char right = line[i];

		for (unsigned int c = 0; c < 256; c++) {
			struct err e = {0};

			line[i] = (char)c;
			if (line[i] != right && !gate_judge(line, sizeof(line) - 1, TOKEN, &e))
				fail_msg("byte %zu as %u: %s", i, c, line);
		}
		line[i] = right;
	}
}

struct server {
	struct gate gate;
	pthread_t thread;
	unsigned int port, refused;
	atomic_int stop;
	int fd, rc;
	char peer[64];
	struct err err;
};

static void on_refused(const char *peer, const char *why, void *arg)
{
	struct server *s = arg;

	assert_string_equal(peer, "127.0.0.1");
	assert_true(*why);
	s->refused++;
}

static void *wait_at_gate(void *arg)
{
	struct server *s = arg;

	s->rc = gate_wait(&s->gate, &s->fd, s->peer, &s->err);
	return NULL;
}

static void start(struct server *s, unsigned int wait_ms)
{
	struct err e = {0};

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->gate = (struct gate){.token = TOKEN,
				.wait_ms = wait_ms,
				.stop = &s->stop,
				.refused = on_refused,
				.arg = s};
	assert_int_equal(gate_listen("127.0.0.1", 0, &s->gate.listen_fd, &s->port, &e), 0);
	assert_true(s->port > 0);
	assert_int_equal(pthread_create(&s->thread, NULL, wait_at_gate, s), 0);
}

static void finish(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->gate.listen_fd);
	if (s->fd >= 0)
		close(s->fd);
}

static int call(const struct server *s)
{
	char own[64], peer[64];
	struct err e = {0};
	int fd;

	if (dial("127.0.0.1", s->port, 5000, NULL, &fd, own, peer, &e))
		fail_msg("%s", e.text);
	assert_string_equal(own, "127.0.0.1");
	assert_string_equal(peer, "127.0.0.1");
	return fd;
}

static void say(int fd, const char *text)
{
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void test_let_in(void **state)
{
	struct server s;
	int fd, silent[GATE_PENDING - 1];

	(void)state;
	start(&s, 20000);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = call(&s); /* these say nothing, and keep nobody out */
	fd = call(&s);
	say(fd, "nonsense\n");
	close(fd);
	fd = call(&s);
	for (const char *p = RIGHT "\n"; *p; p++) /* a byte a packet */
		say(fd, (const char[]){*p, '\0'});
	finish(&s);
	if (s.rc)
		fail_msg("%s", s.err.text);
	assert_string_equal(s.peer, "127.0.0.1");
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
}

/* Whoever waits behind those that hold all places comes in when their time is over. */
static void test_crowd(void **state)
{
	struct server s;
	int fd, silent[GATE_PENDING];

	(void)state;
	start(&s, 20000);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = call(&s);
	fd = call(&s);
	say(fd, RIGHT "\n");
	finish(&s);
	assert_int_equal(s.rc, 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"{\"probe\":\"rocecheck.probe/"
		"1\",\"token\":\"00000000000000000000000000000000\"}\n",
		RIGHT "\nmore", /* it did not wait for us */
		"\n",
		"long",
	};
	char too_long[2048];
	ssize_t n;

	(void)state;
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char answer[1024] = "";
		struct server s;

		start(&s, 20000);
		for (unsigned int k = 0; k < GATE_TRIES; k++) {
			int fd = call(&s);

			say(fd, strcmp(lines[i], "long") ? lines[i] : too_long);
			n = recv(fd, answer, sizeof(answer) - 1, 0);
			if (n > 0) {
				answer[n] = '\0';
				assert_non_null(strstr(answer, "\"error\""));
				assert_null(strstr(answer, TOKEN));
			}
			close(fd);
		}
		finish(&s);
		assert_int_equal(s.rc, -EACCES);
		assert_int_equal(s.refused, GATE_TRIES);
		assert_int_equal(s.fd, -1);
	}
}

static void test_nobody_comes(void **state)
{
	struct server s;

	(void)state;
	start(&s, 200);
	finish(&s);
	assert_int_equal(s.rc, -ETIMEDOUT);
	start(&s, 0);
	s.stop = 1;
	finish(&s);
	assert_int_equal(s.rc, -EINTR);
}

static void test_dial_and_listen_errors(void **state)
{
	char own[64], peer[64];
	unsigned int port, again;
	struct err e = {0};
	int fd, other;

	(void)state;
	assert_int_equal(gate_listen("127.0.0.1", 0, &fd, &port, &e), 0);
	assert_int_equal(gate_listen("127.0.0.1", port, &other, &again, &e), -EADDRINUSE);
	assert_non_null(strstr(e.hint, "-p"));
	close(fd);
	assert_int_equal(gate_listen("host.invalid", 0, &fd, &port, &e), -EINVAL);
	assert_int_equal(dial("127.0.0.1", port ? port : 1, 2000, NULL, &fd, own, peer, &e),
			 -ECONNREFUSED);
	assert_non_null(strstr(e.hint, "probe server"));
	assert_int_not_equal(dial("host.invalid", 1, 2000, NULL, &fd, own, peer, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens_made),
		cmocka_unit_test(test_tokens_compared),
		cmocka_unit_test(test_token_files),
		cmocka_unit_test(test_first_lines),
		cmocka_unit_test(test_first_lines_spoiled),
		cmocka_unit_test(test_let_in),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_dial_and_listen_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
