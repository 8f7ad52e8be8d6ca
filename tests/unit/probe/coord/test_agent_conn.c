/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coordinator's end against agents that are shell scripts: good ones, silent ones, liars and
 * the dead. Every one is an answer or a named error in time, never a hang.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/coord/agent_conn.h"
#include "profiles/base/text.h"

#define HELLO "echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "

static struct loop *open_script(struct agent_conn *k, const char *script, unsigned int timeout_ms)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct err e = {0};
	struct loop *l;

	assert_int_equal(loop_open(&l, &e), 0);
	agent_conn_open(k, l, "h1", argv, timeout_ms);
	agent_conns_wait(l, k, 1, NULL);
	return l;
}

static void end(struct loop *l, struct agent_conn *k)
{
	agent_conn_close(k);
	agent_conn_close(k);
	loop_close(l);
}

static void test_connecting(void **state)
{
	static const struct {
		const char *name, *script, *text, *hint;
		enum agent_conn_state want;
	} cases[] = {
		{"good", HELLO "cat", "", "", CONN_READY},
		{"refused",
		 "echo 'ssh: connect to host h2 port 1: Connection refused' >&2; exit 255",
		 "Connection refused", "sshd", CONN_LOST},
		{"two lines of complaint",
		 "echo 'Warning: something' >&2; echo 'Host key verification failed.' >&2; exit "
		 "255",
		 "Host key verification failed.", "key", CONN_LOST},
		{"exits", "exit 7", "status 7", "", CONN_LOST},
		{"killed", "kill -9 $$", "signal 9", "", CONN_LOST},
		{"silent", "exec sleep 60", "no answer to the connection within 0.5 s", "",
		 CONN_LOST},
		{"silent but complaining", "echo 'waiting for a token' >&2; exec sleep 60",
		 "waiting for a token", "", CONN_LOST},
		{"chatty login script", "echo Welcome to h1; cat", "sent 'Welcome to h1'", "stdout",
		 CONN_LOST},
		{"other program", "echo '{\"hello\":\"other/1\"}'; cat", "not a rocecheck agent",
		 "agent", CONN_LOST},
		{"hello without build", "echo '{\"hello\":\"rocecheck.agent/1\"}'; cat",
		 "not a rocecheck agent", "agent", CONN_LOST},
		{"complaint in C1",
		 "printf '\\302\\2332J\\2338m\\342\\200\\256denied\\033[0m' >&2; exit 255",
		 "?2J?8m?denied [0m", "", CONN_LOST},
		{"silent, complaint in C1",
		 "printf '\\302\\2332Jtoken?\\302\\234' >&2; exec sleep 60", "?2Jtoken??", "",
		 CONN_LOST},
		{"build in C1",
		 "printf '{\"hello\":\"rocecheck.agent/1\",\"build\":\"\\302\\2332J\"}\\n'; cat",
		 "not a rocecheck agent", "agent", CONN_LOST},
		{"a line in C1", "printf '\\302\\2332J\\302\\233HPASS\\n'; cat", "sent '?2J?HPASS'",
		 "", CONN_LOST},
		{"hello is an array", "echo '[]'; cat", "sent '[]'", "", CONN_LOST},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct agent_conn k;
		struct loop *l = open_script(&k, cases[i].script, 500);

		if (k.state != cases[i].want || !strstr(k.err.text, cases[i].text) ||
		    !strstr(k.err.hint, cases[i].hint))
			fail_msg("%s: state %d: %s (%s)", cases[i].name, k.state, k.err.text,
				 k.err.hint);
		assert_true(text_is_safe(k.err.text, TEXT_FIELD));
		end(l, &k);
	}
}

static void test_missing_program(void **state)
{
	const char *const argv[] = {"/nonexistent/agent", NULL};
	struct agent_conn k;
	struct err e = {0};
	struct loop *l;

	(void)state;
	assert_int_equal(loop_open(&l, &e), 0);
	agent_conn_open(&k, l, "h1", argv, 500);
	agent_conns_wait(l, &k, 1, NULL);
	assert_int_equal(k.state, CONN_LOST);
	assert_non_null(strstr(k.err.text, "/nonexistent/agent"));
	end(l, &k);
}

static void test_asking(void **state)
{
	static const struct {
		const char *name, *script, *text;
		enum agent_conn_state want;
		bool answered;
	} cases[] = {
		{"good", "read x; echo '{\"id\":1,\"ok\":true,\"v\":7}'; cat", "", CONN_READY,
		 true},
		{"events and pings first",
		 "read x; echo '{\"event\":1}'; echo '{\"id\":0,\"ok\":true}';"
		 "echo '{\"id\":1,\"ok\":true,\"v\":7}'; cat",
		 "", CONN_READY, true},
		{"error",
		 "read x; echo '{\"id\":1,\"error\":{\"code\":-2,\"text\":\"no such\"}}'; cat",
		 "no such", CONN_READY, false},
		{"error without a text", "read x; echo '{\"id\":1,\"error\":7}'; cat", "failed",
		 CONN_READY, false},
		{"other id", "read x; echo '{\"id\":2,\"ok\":true}'; cat", "without a request",
		 CONN_LOST, false},
		{"id is a text", "read x; echo '{\"id\":\"1\"}'; cat", "without a request",
		 CONN_LOST, false},
		{"no JSON", "read x; echo 'Segmentation fault'; cat", "Segmentation", CONN_LOST,
		 false},
		{"dies", "read x; exit 139", "lost during collect (status 139)", CONN_LOST, false},
		{"silent", "read x; exec sleep 60", "no answer to collect within 0.4 s", CONN_LOST,
		 false},
		{"too long a line",
		 "read x; head -c 1100000 /dev/zero | tr '\\0' x; echo; exec sleep 60",
		 "a line that is too long", CONN_LOST, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct agent_conn k;
		char script[512];
		struct loop *l;

		snprintf(script, sizeof(script), HELLO "%s", cases[i].script);
		l = open_script(&k, script, 3000);
		assert_int_equal(k.state, CONN_READY);
		assert_string_equal(k.build, "0.1.0");
		agent_conn_ask(&k, "collect", NULL, 400);
		agent_conns_wait(l, &k, 1, NULL);
		if (k.state != cases[i].want || !strstr(k.call.err.text, cases[i].text) ||
		    !!k.call.reply != cases[i].answered)
			fail_msg("%s: state %d: %s", cases[i].name, k.state, k.call.err.text);
		if (cases[i].answered)
			assert_int_equal(json_integer_value(json_object_get(k.call.reply, "v")), 7);
		end(l, &k);
	}
}

static bool is_lost(void *arg)
{
	const struct agent_conn *k = arg;

	return k->state == CONN_LOST;
}

/* Lost while nobody asks: it had said hello, and what it answered before is of no use any more. */
static void test_lost_idle(void **state)
{
	struct agent_conn k;
	struct loop *l = open_script(
		&k, HELLO "read x; echo '{\"id\":1,\"ok\":true}'; sleep 0.2; exit 9", 3000);

	(void)state;
	agent_conn_ask(&k, "counters", NULL, 3000);
	agent_conns_wait(l, &k, 1, NULL);
	assert_non_null(k.call.reply);
	loop_run_until(l, is_lost, &k);
	assert_non_null(strstr(k.err.text, "exited between two requests (status 9)"));
	assert_null(k.call.reply);
	end(l, &k);
}

static void test_stop_flag(void **state)
{
	atomic_int stop = 1;
	struct agent_conn k;
	struct loop *l = open_script(&k, HELLO "exec sleep 60", 3000);

	(void)state;
	agent_conn_ask(&k, "collect", json_pack("{s:i}", "x", 1), 60000);
	agent_conns_wait(l, &k, 1, &stop);
	assert_true(agent_conn_busy(&k));
	agent_conn_ping(&k, 3000);
	end(l, &k);
}

/* Answers find their call in any order; the timeout is that of the call that is late. */
static void test_calls(void **state)
{
	struct agent_call call[3] = {0};
	struct agent_conn k;
	struct loop *l =
		open_script(&k,
			    HELLO "read -r x; read -r x; read -r x; "
				  "echo '{\"id\":2,\"v\":2}'; echo '{\"id\":1,\"v\":1}'; read -r x",
			    3000);

	(void)state;
	agent_call(&k, &call[0], "collect", NULL, 60000);
	agent_call(&k, &call[1], "counters", NULL, 60000);
	agent_call(&k, &call[2], "ping", NULL, 700);
	agent_call(&k, &call[2], "quit", NULL, 10); /* is pending: does nothing */
	agent_conns_wait(l, &k, 1, NULL);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(json_integer_value(json_object_get(call[i].reply, "v")), i + 1);
	assert_int_equal(k.state, CONN_LOST);
	assert_null(call[2].op);
	assert_null(call[2].reply);
	assert_non_null(strstr(call[2].err.text, "no answer to ping within 0.7 s"));
	agent_call(&k, &call[2], "quit", NULL, 10); /* fails at once */
	assert_null(call[2].op);
	assert_int_equal(call[2].err.code, -ETIMEDOUT);
	for (unsigned int i = 0; i < 3; i++)
		agent_call_clear(&call[i]);
	end(l, &k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connecting), cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_asking),	   cmocka_unit_test(test_lost_idle),
		cmocka_unit_test(test_stop_flag),  cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
