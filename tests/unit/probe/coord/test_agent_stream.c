/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of an agent behind a socket: the coordinator's against scripts that are good, silent,
 * slow or liars, the agent's against a coordinator that goes away in each way there is.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/coord/agent_conn.h"
#include "tests/unit/fixture/agent_scene.h"

#define HELLO "echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "
#define ALIVE "{\"event\":\"alive\"}"

struct scene {
	struct loop *loop;
	struct agent_conn link;
	pid_t pid;
	unsigned int events;
};

static void on_event(struct agent_conn *k, const json_t *doc, void *arg)
{
	struct scene *s = arg;

	assert_ptr_equal(k, &s->link);
	assert_true(json_is_object(doc));
	s->events++;
}

static void open_scene_at(struct scene *s, const int fd[2], const char *script,
			  unsigned int silence_ms)
{
	struct err e = {0};

	memset(s, 0, sizeof(*s));
	s->pid = fork();
	if (!s->pid) {
		dup2(fd[1], 0);
		dup2(fd[1], 1);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	close(fd[1]);
	assert_int_equal(loop_open(&s->loop, &e), 0);
	agent_conn_open_stream(&s->link, s->loop, "h2", fd[0], 1500, silence_ms);
	s->link.event = on_event;
	s->link.event_arg = s;
	agent_conns_wait(s->loop, &s->link, 1, NULL);
}

static void open_scene(struct scene *s, const char *script, unsigned int silence_ms)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	open_scene_at(s, fd, script, silence_ms);
}

static void end_scene(struct scene *s)
{
	agent_conn_close(&s->link);
	agent_conn_close(&s->link);
	loop_close(s->loop);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static void test_connecting(void **state)
{
	static const struct {
		const char *name, *script, *text, *hint;
		enum agent_conn_state want;
	} cases[] = {
		{"good", HELLO "exec cat", "", "", CONN_READY},
		{"it cannot serve",
		 "echo '{\"error\":{\"code\":-13,\"text\":\"wrong token\",\"hint\":\"copy "
		 "it\"}}'; sleep 5",
		 "wrong token", "copy it", CONN_LOST},
		{"error that says nothing", "echo '{\"error\":[]}'; sleep 5", "failed", "",
		 CONN_LOST},
		{"closes", "exit 0", "closed the connection during the handshake", "", CONN_LOST},
		{"another service", "echo SSH-2.0-OpenSSH; sleep 5", "sent 'SSH-2.0",
		 "probe server", CONN_LOST},
		{"another document", "echo '{\"hello\":\"other/1\"}'; sleep 5",
		 "not a rocecheck agent", "probe server", CONN_LOST},
		{"silent", "exec sleep 60", "no answer to the connection", "", CONN_LOST},
		{"endless line", "exec tr '\\0' x </dev/zero", "a line that is too long", "",
		 CONN_LOST},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;

		open_scene(&s, cases[i].script, 10000);
		if (s.link.state != cases[i].want || !strstr(s.link.err.text, cases[i].text) ||
		    !strstr(s.link.err.hint, cases[i].hint))
			fail_msg("%s: state %d: %s (%s)", cases[i].name, s.link.state,
				 s.link.err.text, s.link.err.hint);
		end_scene(&s);
	}
}

static void test_asking(void **state)
{
	static const struct {
		const char *name, *script, *text;
		enum agent_conn_state want;
		bool answered;
		unsigned int events;
	} cases[] = {
		{"good", "read x; echo '{\"id\":1,\"ok\":true}'; cat", "", CONN_READY, true, 0},
		{"slow, but it lives",
		 "read x; for i in 1 2 3 4 5 6; do sleep 0.2; echo '" ALIVE
		 "'; done; echo '{\"id\":1,\"ok\":true}'; cat",
		 "", CONN_READY, true, 6},
		{"silent", "read x; exec sleep 60", "no message for 1 s during collect", CONN_LOST,
		 false, 0},
		{"lives, but does not answer", "read x; while sleep 0.2; do echo '" ALIVE "'; done",
		 "no answer to collect", CONN_LOST, false, 0},
		{"closes", "read x; exit 0", "closed the connection during collect", CONN_LOST,
		 false, 0},
		{"answers what nobody asked", "read x; echo '{\"id\":9,\"ok\":true}'; cat",
		 "without a request", CONN_LOST, false, 0},
		{"no JSON", "read x; printf '\\377\\n'; cat", "the agent sent", CONN_LOST, false,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;
		char script[512];

		snprintf(script, sizeof(script), HELLO "%s", cases[i].script);
		open_scene(&s, script, 600);
		assert_int_equal(s.link.state, CONN_READY);
		/* What answers is given time: a machine may be slow as well. */
		agent_conn_ask(&s.link, "collect", NULL, cases[i].answered ? 10000 : 1700);
		agent_conns_wait(s.loop, &s.link, 1, NULL);
		if (s.link.state != cases[i].want || !strstr(s.link.err.text, cases[i].text) ||
		    !!s.link.call.reply != cases[i].answered)
			fail_msg("%s: state %d: %s", cases[i].name, s.link.state, s.link.err.text);
		if (cases[i].events && s.events != cases[i].events)
			fail_msg("%s: %u events", cases[i].name, s.events);
		end_scene(&s);
	}
}

static bool is_lost(void *arg)
{
	return ((struct agent_conn *)arg)->state == CONN_LOST;
}

/* Between two questions too. A host that acknowledges is not gone: that is told. */
static void test_silence_when_idle(void **state)
{
	static const char *const hints[] = {"failed", "still acknowledges"};

	(void)state;
	for (unsigned int tcp = 0; tcp < 2; tcp++) {
		struct scene s;
		int fd[2];

		if (tcp) {
			open_tcp(fd);
			open_scene_at(&s, fd, HELLO "exec sleep 60", 300);
		} else {
			open_scene(&s, HELLO "exec sleep 60", 300);
		}
		loop_run_until(s.loop, is_lost, &s.link);
		assert_non_null(strstr(s.link.err.text, "no message"));
		assert_non_null(strstr(s.link.err.hint, hints[tcp]));
		assert_int_equal(s.link.err.code, -ETIMEDOUT);
		end_scene(&s);
	}
}

static void stand_still(void *arg)
{
	(void)arg;
	usleep(3000000);
}

/* It was us who did not listen: who answers soon after that is neither late nor silent. */
static void test_standing_still(void **state)
{
	struct loop_timer *still;
	struct scene s;

	(void)state;
	open_scene(&s, HELLO "read x; sleep 4; echo '{\"id\":1,\"ok\":true}'; cat", 2500);
	assert_int_equal(s.link.state, CONN_READY);
	assert_int_equal(loop_timer_open(s.loop, stand_still, NULL, &still), 0);
	loop_timer_set(still, 10);
	agent_conn_ask(&s.link, "traffic_run", NULL, 2500);
	agent_conns_wait(s.loop, &s.link, 1, NULL);
	assert_string_equal(s.link.err.text, "");
	assert_non_null(s.link.call.reply);
	loop_timer_close(still);
	end_scene(&s);
}

/* What is told beside a question needs no answer, and an answer to it is none to the question. */
static void test_telling(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s,
		   HELLO "read a; read b; echo '{\"id\":0,\"ok\":true}'; case $b in *'\"id\":0'*) "
			 "echo '{\"id\":1,\"ok\":true}';; esac; cat",
		   5000);
	agent_conn_ask(&s.link, "traffic_run", NULL, 3000);
	agent_conn_notify(&s.link, "traffic_stop", json_pack("{s:i}", "handle", 0));
	agent_conns_wait(s.loop, &s.link, 1, NULL);
	assert_non_null(s.link.call.reply);
	end_scene(&s);
}

static pid_t start_agent_of(const char *self, int *fd, unsigned int lease_ms, unsigned int alive_ms)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	*fd = pair[0];
	return start_agent_at(pair, self, lease_ms, alive_ms, 0);
}

static pid_t start_agent(int *fd, unsigned int lease_ms, unsigned int alive_ms)
{
	return start_agent_of("/nonexistent", fd, lease_ms, alive_ms);
}

static void test_agent_ends(void **state)
{
	int fd;
	pid_t pid = start_agent(&fd, 20000, 0);

	(void)state;
	assert_true(heard(fd, AGENT_HELLO));
	say(fd, "{\"id\":1,\"op\":\"quit\"}\n");
	assert_true(heard(fd, "\"ok\":true"));
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);

	pid = start_agent(&fd, 20000, 0);
	assert_true(heard(fd, AGENT_HELLO));
	close(fd);
	assert_int_equal(exit_of(pid), 10 + AGENT_INPUT_CLOSED);

	pid = start_agent(&fd, 300, 0); /* from the start on, without a ping */
	assert_true(heard(fd, AGENT_HELLO));
	assert_int_equal(exit_of(pid), 10 + AGENT_LEASE_EXPIRED);
	close(fd);
}

static void test_agent_lives(void **state)
{
	int fd;
	pid_t pid = start_agent(&fd, 20000, 50);

	(void)state;
	assert_true(heard(fd, AGENT_HELLO));
	for (unsigned int i = 0; i < 3; i++)
		assert_true(heard(fd, ALIVE));
	close(fd);
	assert_int_equal(exit_of(pid), 10 + AGENT_INPUT_CLOSED);
}

static void test_agent_serves_probes_alone(void **state)
{
	static const char *const refused[] = {"plan",	      "apply",	      "confirm",
					      "rollback",     "transactions", "capture_start",
					      "capture_stop", "capture_read"};
	int fd;
	pid_t pid = start_agent(&fd, 20000, 0);

	(void)state;
	assert_true(heard(fd, AGENT_HELLO));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		char line[128];

		snprintf(line, sizeof(line), "{\"id\":1,\"op\":\"%s\"}\n", refused[i]);
		say(fd, line);
		assert_true(heard(fd, "does not serve op"));
	}
	say(fd, "{\"id\":1,\"op\":\"ping\"}\n"); /* its clock, for a common start */
	assert_true(heard(fd, "\"now_ns\":"));
	say(fd, "{\"id\":2,\"op\":\"counters\",\"ports\":[]}\n");
	assert_true(heard(fd, "\"ok\":true"));
	say(fd, "{\"id\":3,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);
}

/* A stop is a word: the run answers, and the process stays until it is closed. */
static void test_agent_stops_traffic(void **state)
{
	char path[32], gone[64];
	pid_t pid;
	int fd;

	(void)state;
	make_traffic_script(path, gone);
	pid = start_agent_of(path, &fd, 20000, 0);
	assert_true(heard(fd, AGENT_HELLO));
	run_traffic(fd);
	say(fd, "{\"id\":0,\"op\":\"traffic_stop\",\"handle\":0}\n");
	assert_true(heard(fd, "\"result\":{\"told\":{\"stop\":true}},\"late_ns\":77"));
	say(fd, "{\"id\":4,\"op\":\"traffic_stop\",\"handle\":0}\n"); /* over: no error */
	assert_true(heard(fd, "\"id\":4,\"ok\":true"));
	assert_int_not_equal(access(gone, F_OK), 0);
	say(fd, "{\"id\":5,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);
	unlink(path);
	unlink(gone);
}

/* A coordinator that goes on talking kills nobody. */
static void test_agent_is_told_more(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	linger_us = 400000;
	pid = start_agent(&fd, 20000, 0);
	linger_us = 0;
	assert_true(heard(fd, AGENT_HELLO));
	say(fd, "{\"id\":1,\"op\":\"quit\"}\n");
	assert_true(heard(fd, "\"ok\":true"));
	usleep(200000); /* its loop is closed */
	say(fd, "{\"id\":0,\"op\":\"ping\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connecting),
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_silence_when_idle),
		cmocka_unit_test(test_standing_still),
		cmocka_unit_test(test_telling),
		cmocka_unit_test(test_agent_ends),
		cmocka_unit_test(test_agent_is_told_more),
		cmocka_unit_test(test_agent_lives),
		cmocka_unit_test(test_agent_serves_probes_alone),
		cmocka_unit_test(test_agent_stops_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
