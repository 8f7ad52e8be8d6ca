/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent in a process of its own behind a socket, and what is said to it. Included once by a
 * test.
 */
#ifndef TESTS_AGENT_SCENE_H
#define TESTS_AGENT_SCENE_H

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

#include "probe/agent/agent.h"
#include "probe/traffic/traffic.h"

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

/* As the program of an agent; gone: the file that it leaves at its end. */
static void make_traffic_script(char path[32], char gone[64])
{
	int file;

	strcpy(path, "/tmp/test-agent-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_true(write(file, traffic_script, sizeof(traffic_script) - 1) > 0);
	assert_int_equal(fchmod(file, 0700), 0);
	close(file);
	snprintf(gone, 64, "%s.gone", path);
}

#endif
