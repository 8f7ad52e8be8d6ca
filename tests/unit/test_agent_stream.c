/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of an agent behind a socket: the coordinator's against scripts that are good, silent,
 * slow or liars, the agent's against a coordinator that goes away in each way there is.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/agent.h"
#include "probe/agent_link.h"
#include "probe/echo.h"
#include "probe/traffic.h"

#define HELLO "read token; echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "
#define ALIVE "{\"event\":\"alive\"}"

struct scene {
	struct loop *loop;
	struct agent_link link;
	pid_t pid;
	unsigned int events;
};

static void on_event(struct agent_link *k, const json_t *doc, void *arg)
{
	struct scene *s = arg;

	assert_ptr_equal(k, &s->link);
	assert_true(json_is_object(doc));
	s->events++;
}

static void open_tcp(int pair[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(at);

	assert_int_equal(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(getsockname(door, (struct sockaddr *)&at, &length), 0);
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(pair[0], (struct sockaddr *)&at, sizeof(at)), 0);
	pair[1] = accept4(door, NULL, NULL, SOCK_CLOEXEC);
	assert_true(pair[1] >= 0);
	close(door);
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
	link_open_stream(&s->link, s->loop, "h2", fd[0], "token\n", 1500, silence_ms);
	s->link.event = on_event;
	s->link.event_arg = s;
	links_wait(s->loop, &s->link, 1, NULL);
}

static void open_scene(struct scene *s, const char *script, unsigned int silence_ms)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	open_scene_at(s, fd, script, silence_ms);
}

static void end_scene(struct scene *s)
{
	link_close(&s->link);
	link_close(&s->link);
	loop_close(s->loop);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static void test_connecting(void **state)
{
	static const struct {
		const char *name, *script, *text, *hint;
		enum link_state want;
	} cases[] = {
		{"good", HELLO "exec cat", "", "", LINK_READY},
		{"door stays closed",
		 "read x; echo '{\"error\":{\"code\":-13,\"text\":\"wrong token\",\"hint\":\"copy "
		 "it\"}}'; sleep 5",
		 "wrong token", "copy it", LINK_LOST},
		{"error that says nothing", "echo '{\"error\":[]}'; sleep 5", "failed", "",
		 LINK_LOST},
		{"closes", "exit 0", "closed the connection before", "", LINK_LOST},
		{"another service", "echo SSH-2.0-OpenSSH; sleep 5", "sent 'SSH-2.0",
		 "probe server", LINK_LOST},
		{"another document", "echo '{\"hello\":\"other/1\"}'; sleep 5", "no agent",
		 "probe server", LINK_LOST},
		{"silent", "exec sleep 60", "no answer to the connection", "", LINK_LOST},
		{"endless line", "exec tr '\\0' x </dev/zero", "too long a line", "", LINK_LOST},
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
		enum link_state want;
		bool answered;
		unsigned int events;
	} cases[] = {
		{"good", "read x; echo '{\"id\":1,\"ok\":true}'; cat", "", LINK_READY, true, 0},
		{"slow, but it lives",
		 "read x; for i in 1 2 3 4 5 6; do sleep 0.2; echo '" ALIVE
		 "'; done; echo '{\"id\":1,\"ok\":true}'; cat",
		 "", LINK_READY, true, 6},
		{"silent", "read x; exec sleep 60", "nothing heard for 1 s during collect",
		 LINK_LOST, false, 0},
		{"lives, but does not answer", "read x; while sleep 0.2; do echo '" ALIVE "'; done",
		 "no answer to collect", LINK_LOST, false, 0},
		{"closes", "read x; exit 0", "closed the connection during collect", LINK_LOST,
		 false, 0},
		{"answers what nobody asked", "read x; echo '{\"id\":9,\"ok\":true}'; cat",
		 "nobody asked", LINK_LOST, false, 0},
		{"no JSON", "read x; printf '\\377\\n'; cat", "the agent sent", LINK_LOST, false,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;
		char script[512];

		snprintf(script, sizeof(script), HELLO "%s", cases[i].script);
		open_scene(&s, script, 600);
		assert_int_equal(s.link.state, LINK_READY);
		/* What answers is given time: a machine may be slow as well. */
		link_ask(&s.link, "collect", NULL, cases[i].answered ? 10000 : 1700);
		links_wait(s.loop, &s.link, 1, NULL);
		if (s.link.state != cases[i].want || !strstr(s.link.err.text, cases[i].text) ||
		    !!s.link.reply != cases[i].answered)
			fail_msg("%s: state %d: %s", cases[i].name, s.link.state, s.link.err.text);
		if (cases[i].events && s.events != cases[i].events)
			fail_msg("%s: %u events", cases[i].name, s.events);
		end_scene(&s);
	}
}

static bool is_lost(void *arg)
{
	return ((struct agent_link *)arg)->state == LINK_LOST;
}

/* Between two questions too. A host that acknowledges is not gone: that is told. */
static void test_silence_when_idle(void **state)
{
	static const char *const hints[] = {"is gone", "its host answers"};

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
		assert_non_null(strstr(s.link.err.text, "nothing heard"));
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
	assert_int_equal(s.link.state, LINK_READY);
	assert_int_equal(loop_timer_open(s.loop, stand_still, NULL, &still), 0);
	loop_timer_set(still, 10);
	link_ask(&s.link, "traffic_run", NULL, 2500);
	links_wait(s.loop, &s.link, 1, NULL);
	assert_string_equal(s.link.err.text, "");
	assert_non_null(s.link.reply);
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
	link_ask(&s.link, "traffic_run", NULL, 3000);
	link_tell(&s.link, "traffic_stop", json_pack("{s:i}", "handle", 0));
	links_wait(s.loop, &s.link, 1, NULL);
	assert_non_null(s.link.reply);
	end_scene(&s);
}

/* Of a process after its agent: what it may still have to print. */
static unsigned int linger_us;

/* An agent in a process of its own at one end of the pair, which exits with how it ended. */
static pid_t start_agent_at(const int pair[2], const char *self, unsigned int lease_ms,
			    unsigned int alive_ms, unsigned int starved_ms)
{
	pid_t pid = fork();
	int code;

	if (!pid) {
		struct agent_config config = {.build = "test",
					      .self = self,
					      .in_fd = pair[1],
					      .out_fd = pair[1],
					      .probe_only = true,
					      .lease_ms = lease_ms,
					      .starved_ms = starved_ms,
					      .alive_ms = alive_ms};
		enum agent_end end = AGENT_UNHEARD;
		struct err e = {0};

		close(pair[0]);
		signal(SIGPIPE, SIG_DFL);
		code = agent_run(&config, &end, &e) ? 99 : 10 + (int)end;
		usleep(linger_us);
		_exit(code);
	}
	close(pair[1]);
	return pid;
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

static int exit_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads until the text has come. */
static bool heard(int fd, const char *text)
{
	char buf[8192] = "";
	size_t used = 0;

	while (used < sizeof(buf) - 1) {
		ssize_t n = read(fd, buf + used, sizeof(buf) - 1 - used);

		if (n <= 0)
			return false;
		used += (size_t)n;
		buf[used] = '\0';
		if (strstr(buf, text))
			return true;
	}
	return false;
}

static void put(int fd, const char *text)
{
	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void test_agent_ends(void **state)
{
	int fd;
	pid_t pid = start_agent(&fd, 20000, 0);

	(void)state;
	assert_true(heard(fd, AGENT_HELLO));
	put(fd, "{\"id\":1,\"op\":\"quit\"}\n");
	assert_true(heard(fd, "\"ok\":true"));
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);

	pid = start_agent(&fd, 20000, 0);
	assert_true(heard(fd, AGENT_HELLO));
	close(fd);
	assert_int_equal(exit_of(pid), 10 + AGENT_INPUT_ENDED);

	pid = start_agent(&fd, 300, 0); /* from the start on, without a ping */
	assert_true(heard(fd, AGENT_HELLO));
	assert_int_equal(exit_of(pid), 10 + AGENT_SILENCE);
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
	assert_int_equal(exit_of(pid), 10 + AGENT_INPUT_ENDED);
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
		put(fd, line);
		assert_true(heard(fd, "not for a peer of"));
	}
	put(fd, "{\"id\":1,\"op\":\"ping\"}\n"); /* its clock, for a common start */
	assert_true(heard(fd, "\"now_ns\":"));
	put(fd, "{\"id\":2,\"op\":\"counters\",\"ports\":[]}\n");
	assert_true(heard(fd, "\"ok\":true"));
	put(fd, "{\"id\":3,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);
}

/* A traffic process that tells its progress, and its result when it gets a second line after the
 * run began; it must still be there then. */
static const char traffic_script[] =
	"#!/bin/sh\n"
	"read spec; echo '{\"peer\":{}}'; read peer; echo '{\"connected\":true}'; read run\n"
	"echo '{\"progress\":{\"messages\":7}}'; read stop || exit 9\n"
	"echo \"{\\\"result\\\":{\\\"told\\\":$stop},\\\"late_ns\\\":$(echo \"$run\" |\n"
	"sed 's/.*start_ns\\\"://; s/}//')}\"; read end; echo gone >\"$0.gone\"\n";

static void send_doc(int fd, json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);

	assert_non_null(text);
	put(fd, text);
	put(fd, "\n");
	free(text);
	json_decref(doc);
}

static void run_traffic(int fd)
{
	struct traffic_peer peer = {.mtu = 1024, .qp_count = 2};
	struct traffic_spec spec;

	traffic_spec_simple(&spec, TRAFFIC_SEND, 4096, 10000);
	snprintf(spec.ibdev, sizeof(spec.ibdev), "rxe0");
	spec.ib_port = 1;
	send_doc(fd, json_pack("{s:i, s:s, s:o}", "id", 1, "op", "traffic_open", "spec",
			       traffic_spec_to_json(&spec)));
	assert_true(heard(fd, "\"handle\":0"));
	send_doc(fd, json_pack("{s:i, s:s, s:i, s:o}", "id", 2, "op", "traffic_connect", "handle",
			       0, "peer", traffic_peer_to_json(&peer)));
	assert_true(heard(fd, "\"id\":2,\"ok\":true"));
	put(fd,
	    "{\"id\":9,\"op\":\"traffic_run\",\"handle\":0,\"start_ns\":4611686018427387904}\n");
	assert_true(heard(fd, "'start_ns': more than 30 s from now"));
	put(fd,
	    "{\"id\":3,\"op\":\"traffic_run\",\"handle\":0,\"progress_ms\":100,\"start_ns\":77}\n");
	assert_true(heard(fd, "\"event\":\"progress\""));
}

/* A stop is a word: the run answers, and the process stays until it is closed. */
static void test_agent_stops_traffic(void **state)
{
	char path[] = "/tmp/test-agent-XXXXXX", gone[64];
	int fd, file = mkstemp(path);
	pid_t pid;

	(void)state;
	assert_true(file >= 0);
	assert_true(write(file, traffic_script, sizeof(traffic_script) - 1) > 0);
	assert_int_equal(fchmod(file, 0700), 0);
	close(file);
	snprintf(gone, sizeof(gone), "%s.gone", path);
	pid = start_agent_of(path, &fd, 20000, 0);
	assert_true(heard(fd, AGENT_HELLO));
	run_traffic(fd);
	put(fd, "{\"id\":0,\"op\":\"traffic_stop\",\"handle\":0}\n");
	assert_true(heard(fd, "\"result\":{\"told\":{\"stop\":true}},\"late_ns\":77"));
	put(fd, "{\"id\":4,\"op\":\"traffic_stop\",\"handle\":0}\n"); /* over: no error */
	assert_true(heard(fd, "\"id\":4,\"ok\":true"));
	assert_int_not_equal(access(gone, F_OK), 0);
	put(fd, "{\"id\":5,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(fd);
	unlink(path);
	unlink(gone);
}

static void run_echo(int fd)
{
	const struct echo_spec spec = {.ibdev = "rxe0",
				       .ib_port = 1,
				       .duration_ms = 20000,
				       .count = 8,
				       .paths = 1,
				       .class_count = 1};
	struct traffic_peer peer = {.mtu = 1024, .qp_count = 1};

	send_doc(fd, json_pack("{s:i, s:s, s:o}", "id", 1, "op", "echo_open", "spec",
			       echo_spec_to_json(&spec)));
	assert_true(heard(fd, "\"handle\":0"));
	send_doc(fd, json_pack("{s:i, s:s, s:i, s:o}", "id", 2, "op", "traffic_connect", "handle",
			       0, "peer", traffic_peer_to_json(&peer)));
	assert_true(heard(fd, "\"id\":2,\"ok\":true"));
	put(fd, "{\"id\":3,\"op\":\"traffic_run\",\"handle\":0,\"start_ns\":77}\n");
}

static bool is_running(pid_t pid)
{
	return !waitpid(pid, NULL, WNOHANG);
}

/* A coordinator that is silent while its kernel acknowledges: traffic ends at the end of the lease,
 * with a result that is there when the coordinator comes back. */
static void test_agent_of_the_starved(void **state)
{
	char path[] = "/tmp/test-agent-XXXXXX", gone[64];
	int pair[2], file = mkstemp(path);
	pid_t pid;

	(void)state;
	assert_true(file >= 0);
	assert_true(write(file, traffic_script, sizeof(traffic_script) - 1) > 0);
	assert_int_equal(fchmod(file, 0700), 0);
	close(file);
	snprintf(gone, sizeof(gone), "%s.gone", path);
	open_tcp(pair);
	pid = start_agent_at(pair, path, 1500, 100, 60000);
	assert_true(heard(pair[0], AGENT_HELLO));
	run_traffic(pair[0]);
	usleep(2500000);
	assert_true(is_running(pid));
	assert_true(heard(pair[0], "\"result\":{\"told\":{\"unheard\":true}}"));
	put(pair[0], "{\"id\":4,\"op\":\"ping\",\"lease_ms\":1500}\n");
	assert_true(heard(pair[0], "\"now_ns\":"));
	put(pair[0], "{\"id\":5,\"op\":\"traffic_close\",\"handle\":0}\n");
	assert_true(heard(pair[0], "\"id\":5,\"ok\":true"));
	run_echo(pair[0]); /* half of one would tell of losses that were none */
	usleep(2500000);
	assert_true(is_running(pid));
	assert_true(heard(pair[0], "\"id\":3,\"error\":{"));
	put(pair[0], "{\"id\":6,\"op\":\"quit\"}\n");
	assert_int_equal(exit_of(pid), 10 + AGENT_QUIT);
	close(pair[0]);
	unlink(path);
	unlink(gone);
}

/* It has its time and no more; who closes has none. */
static void test_agent_starves_once(void **state)
{
	uint64_t begin_ms;
	int pair[2];
	pid_t pid;

	(void)state;
	open_tcp(pair);
	begin_ms = monotonic_ms();
	pid = start_agent_at(pair, "/nonexistent", 500, 100, 1000);
	assert_int_equal(exit_of(pid), 10 + AGENT_STARVED);
	assert_true(monotonic_ms() - begin_ms >= 1500);
	close(pair[0]);

	open_tcp(pair);
	pid = start_agent_at(pair, "/nonexistent", 500, 100, 60000);
	usleep(1500000);
	assert_true(is_running(pid));
	close(pair[0]);
	assert_int_equal(exit_of(pid), 10 + AGENT_INPUT_ENDED);

	open_tcp(pair); /* nothing was sent of late, so nobody answered */
	pid = start_agent_at(pair, "/nonexistent", 2500, 0, 60000);
	assert_int_equal(exit_of(pid), 10 + AGENT_SILENCE);
	close(pair[0]);
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
	put(fd, "{\"id\":1,\"op\":\"quit\"}\n");
	assert_true(heard(fd, "\"ok\":true"));
	usleep(200000); /* its loop is closed */
	put(fd, "{\"id\":0,\"op\":\"ping\"}\n");
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
		cmocka_unit_test(test_agent_of_the_starved),
		cmocka_unit_test(test_agent_starves_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
