/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent protocol without an agent's life: lines in, answers out. Whatever the line, there is
 * one answer with the right id, and the agent goes on.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "dcb/kernel/dcb.h"
#include "probe/agent/agent_priv.h"
#include "probe/io/destination.h"
#include "probe/io/loop.h"
#include "probe/traffic/traffic.h"

struct fixture {
	struct agent_config config;
	struct agent agent;
	int read_fd;
	char answer[65536];
	char self[64]; /* a script in place of a traffic process */
};

static void make_agent(struct fixture *f)
{
	struct err e = {0};
	int fd[2];

	memset(f, 0, sizeof(*f));
	assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
	f->read_fd = fd[0];
	f->config.out_fd = fd[1];
	f->config.build = "test";
	f->config.self = "/nonexistent/rocecheck";
	f->agent.config = &f->config;
	assert_int_equal(loop_open(&f->agent.loop, &e), 0);
}

static void end_agent(struct fixture *f)
{
	agent_traffic_stop_all(&f->agent);
	agent_capture_stop_all(&f->agent);
	loop_close(f->agent.loop);
	dcb_close(f->agent.dcb);
	close(f->read_fd);
	close(f->config.out_fd);
}

/* Exactly one line must come. */
static json_t *ask(struct fixture *f, const char *line, size_t length)
{
	ssize_t n;
	json_t *doc;

	agent_handle_line(&f->agent, line, length);
	n = read(f->read_fd, f->answer, sizeof(f->answer) - 1);
	assert_true(n > 1);
	f->answer[n] = '\0';
	assert_ptr_equal(strchr(f->answer, '\n'), f->answer + n - 1);
	doc = json_loads(f->answer, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_is_object(doc));
	assert_false(f->agent.stopped);
	return doc;
}

static void expect_error(struct fixture *f, const char *line, size_t length, json_int_t id)
{
	json_t *doc = ask(f, line, length);
	const json_t *error = json_object_get(doc, "error");

	if (!error || json_integer_value(json_object_get(doc, "id")) != id ||
	    json_integer_value(json_object_get(error, "code")) >= 0 ||
	    !json_string_length(json_object_get(error, "text")))
		fail_msg("%.80s: %s", line ? line : "(too long)", f->answer);
	json_decref(doc);
}

static const struct {
	const char *line;
	json_int_t id;
} bad_lines[] = {
	{"", 0},
	{" ", 0},
	{"x", 0},
	{"{", 0},
	{"[]", 0},
	{"7", 0},
	{"null", 0},
	{"\"ping\"", 0},
	{"{}", 0},
	{"{\"id\":1}", 1},
	{"{\"op\":\"ping\"}", 0},
	{"{\"id\":-1,\"op\":\"ping\"}", 0},
	{"{\"id\":\"1\",\"op\":\"ping\"}", 0},
	{"{\"id\":1.5,\"op\":\"ping\"}", 0},
	{"{\"id\":9223372036854775807,\"op\":\"ping\"}", 0},
	{"{\"id\":1,\"id\":2,\"op\":\"ping\"}", 0},
	{"{\"id\":3,\"op\":7}", 3},
	{"{\"id\":3,\"op\":\"\"}", 3},
	{"{\"id\":3,\"op\":\"PING\"}", 3},
	{"{\"id\":3,\"op\":\"rm -rf\"}", 3},
	/* The error quotes it, cut inside its last letter. */
	{"{\"id\":3,\"op\":\"a name of thirty-one letters...\u00e9\"}", 3},
	{"{\"id\":4,\"op\":\"ping\",\"lease_ms\":1}", 4},
	{"{\"id\":4,\"op\":\"ping\",\"lease_ms\":\"soon\"}", 4},
	{"{\"id\":5,\"op\":\"collect\",\"ports\":7}", 5},
	{"{\"id\":5,\"op\":\"collect\",\"ports\":[7]}", 5},
	{"{\"id\":5,\"op\":\"collect\",\"ports\":[\"0123456789abcdef\"]}", 5},
	{"{\"id\":6,\"op\":\"counters\"}", 6},
	{"{\"id\":6,\"op\":\"counters\",\"ports\":{}}", 6},
	{"{\"id\":6,\"op\":\"counters\",\"ports\":[{\"netdev\":\"lo\",\"users\":1}]}", 6},
	{"{\"id\":7,\"op\":\"traffic_open\"}", 7},
	{"{\"id\":7,\"op\":\"traffic_open\",\"spec\":[]}", 7},
	{"{\"id\":7,\"op\":\"traffic_open\",\"spec\":{}}", 7},
	{"{\"id\":7,\"op\":\"echo_open\"}", 7},
	{"{\"id\":7,\"op\":\"echo_open\",\"spec\":{\"role\":\"client\"}}", 7},
	{"{\"id\":8,\"op\":\"traffic_connect\",\"handle\":0}", 8},
	{"{\"id\":8,\"op\":\"traffic_connect\",\"handle\":64}", 8},
	{"{\"id\":8,\"op\":\"traffic_connect\",\"handle\":-1}", 8},
	{"{\"id\":9,\"op\":\"traffic_run\",\"handle\":4294967296}", 9},
	{"{\"id\":9,\"op\":\"traffic_close\"}", 9},
	{"{\"id\":10,\"op\":\"capture_start\",\"netdev\":\"/etc/passwd/with/a/long/name\"}", 10},
	{"{\"id\":10,\"op\":\"capture_start\",\"netdev\":\"nonesuch0\",\"full\":1,\"max_"
	 "bytes\":0}",
	 10},
	{"{\"id\":10,\"op\":\"capture_start\",\"netdev\":\"nonesuch0\",\"full\":true,\"max_"
	 "bytes\":-1}",
	 10},
	{"{\"id\":10,\"op\":\"capture_start\",\"netdev\":\"nonesuch0\",\"full\":true,\"max_"
	 "bytes\":0}",
	 10},
	{"{\"id\":11,\"op\":\"capture_stop\",\"handle\":0}", 11},
	{"{\"id\":11,\"op\":\"capture_read\",\"handle\":15,\"offset\":0}", 11},
};

static void test_hostile_lines(void **state)
{
	struct fixture f;

	(void)state;
	make_agent(&f);
	for (size_t i = 0; i < ARRAY_SIZE(bad_lines); i++)
		expect_error(&f, bad_lines[i].line, strlen(bad_lines[i].line), bad_lines[i].id);
	expect_error(&f, NULL, 0, 0);
	expect_error(&f, "{\"id\":1,\"op\":\"ping\"\0}", 21, 0);
	end_agent(&f);
}

static void test_deep_nesting(void **state)
{
	struct fixture f;
	char *line = malloc(100001);

	(void)state;
	assert_non_null(line);
	memset(line, '[', 100000);
	line[100000] = '\0';
	make_agent(&f);
	expect_error(&f, line, 100000, 0);
	memcpy(line, "{\"id\":1,\"op\":", 13);
	expect_error(&f, line, 100000, 0);
	end_agent(&f);
	free(line);
}

static const char spec_line[] =
	"{\"id\":12,\"op\":\"traffic_open\",\"spec\":{\"role\":\"client\",\"mode\":\"observe\","
	"\"bringup\":\"raw\",\"ibdev\":\"nonesuch\",\"ib_port\":1,\"gid_index\":1,"
	"\"duration_ms\":1000,\"seed\":1,\"timeout\":0,\"mtu_bytes\":0,\"threads\":1,\"pin\":false,"
	"\"huge_pages\":false,\"classes\":[{\"tos\":106,\"sl\":0,\"transport\":\"rc\","
	"\"verb\":\"write_imm\",\"direction\":\"forward\",\"check\":\"every\",\"probe\":false,"
	"\"qps\":1,\"message_bytes\":4096,\"window\":0,\"rate_bytes_per_s\":0,\"count\":0}]}}";

static const char echo_line[] =
	"{\"id\":12,\"op\":\"echo_open\",\"spec\":{\"role\":\"client\",\"ibdev\":\"nonesuch\","
	"\"ib_port\":1,\"gid_index\":1,\"seed\":1,\"duration_ms\":1000,\"count\":8,\"paths\":4,"
	"\"sweep\":0,\"gap_us\":0,\"sizes\":true,\"classes\":[{\"tos\":106,\"sl\":3}]}}";

/* A traffic process that cannot be started is an error, and leaves nothing behind. */
static void test_no_traffic_process(void **state)
{
	struct fixture f;

	(void)state;
	make_agent(&f);
	for (unsigned int i = 0; i < 2 * AGENT_TRAFFIC_MAX; i++) {
		expect_error(&f, spec_line, strlen(spec_line), 12);
		expect_error(&f, echo_line, strlen(echo_line), 12);
	}
	for (unsigned int i = 0; i < AGENT_TRAFFIC_MAX; i++)
		assert_null(f.agent.traffic[i]);
	end_agent(&f);
}

/* What is asked for is more than any host has, or than is left beside another run: an error with
 * the figures, and no process. */
static void test_memory(void **state)
{
	char root[] = "/tmp/test_agent_proto.XXXXXX", path[64], *line;
	struct fixture f;
	json_t *doc = json_loads(spec_line, 0, NULL);
	json_t *class = json_array_get(json_object_get(json_object_get(doc, "spec"), "classes"), 0);
	FILE *meminfo;

	(void)state;
	json_object_set_new(class, "qps", json_integer(256));
	json_object_set_new(class, "window", json_integer(4096));
	json_object_set_new(class, "message_bytes", json_integer(8 << 20));
	line = json_dumps(doc, 0);
	make_agent(&f);
	f.config.self = "/bin/cat";
	expect_error(&f, line, strlen(line), 12);
	assert_non_null(strstr(f.answer, "traffic needs 8"));
	assert_null(f.agent.traffic[0]);
	json_decref(doc);
	free(line);
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	meminfo = fopen(path, "w");
	fputs("MemAvailable: 7168 kB\n", meminfo);
	fclose(meminfo);
	f.config.root = root;
	agent_handle_line(&f.agent, spec_line, strlen(spec_line));
	assert_non_null(f.agent.traffic[0]);
	expect_error(&f, spec_line, strlen(spec_line), 12);
	assert_non_null(strstr(f.answer, "and other runs use"));
	assert_null(f.agent.traffic[1]);
	end_agent(&f);
	remove(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	remove(path);
	remove(root);
}

static bool has_answer(void *arg)
{
	struct fixture *f = arg;
	ssize_t n = read(f->read_fd, f->answer, sizeof(f->answer) - 1);

	f->answer[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* An agent --traffic that says one line. */
static void make_process(const char *path, const char *line)
{
	FILE *script = fopen(path, "w");

	assert_non_null(script);
	fprintf(script, "#!/bin/sh\necho '%s'\n", line);
	assert_int_equal(fchmod(fileno(script), 0700), 0);
	fclose(script);
}

/* Traffic processes that are no such thing: each is answered with an error and gone. */
static void test_strange_traffic_process(void **state)
{
	static const struct {
		const char *self, *want;
	} cases[] = {
		{"/bin/false", "ended (status 1)"},
		{"/bin/echo", "invalid answer"},
		{"./strange", "invalid answer"}, /* two errors: neither is believed */
	};
	char old[PATH_MAX], folder[] = "/tmp/test_agent_proto.XXXXXX";

	(void)state;
	assert_non_null(getcwd(old, sizeof(old)));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	make_process("strange", "{\"error\":{\"code\":-5,\"text\":\"one\"},"
				"\"error\":{\"code\":-5,\"text\":\"two\"}}");
	for (size_t k = 0; k < 2 * ARRAY_SIZE(cases); k++) {
		const char *line = k % 2 ? echo_line : spec_line;
		size_t i = k / 2;
		struct fixture f;

		make_agent(&f);
		f.config.self = cases[i].self;
		agent_handle_line(&f.agent, line, strlen(line));
		loop_run_until(f.agent.loop, has_answer, &f);
		assert_non_null(strstr(f.answer, "\"id\":12"));
		if (!strstr(f.answer, cases[i].want))
			fail_msg("%s: %s", cases[i].self, f.answer);
		assert_null(f.agent.traffic[0]);
		end_agent(&f);
	}
	assert_int_equal(unlink("strange"), 0);
	assert_int_equal(chdir(old), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void play(struct fixture *f, const char *script)
{
	static const char head[] = "#!/bin/sh\n";
	int fd;

	snprintf(f->self, sizeof(f->self), "/tmp/test_agent_proto.XXXXXX");
	fd = mkstemp(f->self);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, head, sizeof(head) - 1), sizeof(head) - 1);
	assert_int_equal(write(fd, script, strlen(script)), strlen(script));
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	f->config.self = f->self;
}

/* A traffic process that is open, and where the other end says to be. */
static void test_destinations(void **state)
{
	static const struct {
		const char *gid;
		bool want;
	} cases[] = {
		{"00000000000000000000ffffc6120001", true},
		{"00000000000000000000ffffc6120002", false},
		{"00000000000000000000ffffcb007109", false},
		{"20010db8000000000000000000000001", true},
		{"fe80000000000000505400fffe123456", false},
	};
	/* As of `agent --read-only` without --peer-address. */
	const struct destinations none = {.owner = DESTINATION_OF_AGENT, .address = "none"};
	struct destinations allowed;
	struct err e = {0};

	(void)state;
	assert_int_equal(destinations_make(DESTINATION_OF_SERVER, "198.18.0.1", "2001:db8::/64",
					   &allowed, &e),
			 0);
	for (size_t i = 0; i < 3 * ARRAY_SIZE(cases); i++) {
		const char *gid = cases[i / 3].gid;
		const struct destinations *const given[] = {NULL, &allowed, &none};
		struct fixture f;
		char line[256];

		make_agent(&f);
		play(&f,
		     "read x; echo '{\"peer\":{}}'; read x; echo '{\"connected\":true}'; cat\n");
		f.config.destinations = given[i % 3];
		agent_handle_line(&f.agent, spec_line, strlen(spec_line));
		loop_run_until(f.agent.loop, has_answer, &f);
		assert_non_null(strstr(f.answer, "\"peer\""));
		snprintf(line, sizeof(line),
			 "{\"id\":13,\"op\":\"traffic_connect\",\"handle\":0,\"peer\":{\"gid\":\"%"
			 "s\","
			 "\"mtu\":1024,\"cm_port\":0,\"qps\":[{\"qpn\":1,\"psn\":1,\"addr\":0,"
			 "\"rkey\":0}]}}",
			 gid);
		agent_handle_line(&f.agent, line, strlen(line));
		loop_run_until(f.agent.loop, has_answer, &f);
		if (i % 3 == 2) {
			if (!strstr(f.answer, "the agent's --peer-address, none"))
				fail_msg("%s: %s", gid, f.answer);
		} else if (i % 3 && !cases[i / 3].want) {
			if (!strstr(f.answer, "refusing to send to ") ||
			    !strstr(f.answer, "control connection, 198.18.0.1") ||
			    !strstr(f.answer, "--peer-address"))
				fail_msg("%s: %s", gid, f.answer);
		} else if (!strstr(f.answer, "\"ok\"")) {
			fail_msg("%s: %s", gid, f.answer);
		}
		end_agent(&f);
		remove(f.self);
	}
}

static bool gone(void *arg)
{
	const pid_t *pid = arg;

	return kill(*pid, 0) && errno == ESRCH;
}

static void say(struct fixture *f, const char *line)
{
	agent_handle_line(&f->agent, line, strlen(line));
	loop_run_until(f->agent.loop, has_answer, f);
}

#define CLOSE "{\"id\":13,\"op\":\"traffic_close\",\"handle\":0}"

/* The answer comes when the process is gone, with its queue pairs. */
static void test_close(void **state)
{
	struct fixture f;
	pid_t pid = 0;
	const char *at;

	(void)state;
	make_agent(&f);
	play(&f, "read x; echo '{\"peer\":{\"pid\":'$$'}}'; exec sleep 60\n");
	say(&f, spec_line);
	at = strstr(f.answer, "\"pid\":");
	if (at)
		pid = atoi(at + 6);
	assert_true(pid > 1);
	assert_false(gone(&pid));
	say(&f, CLOSE);
	assert_true(gone(&pid));
	assert_non_null(strstr(f.answer, "\"id\":13"));
	assert_non_null(strstr(f.answer, "\"ok\":true"));
	assert_null(f.agent.traffic[0]);
	unlink(f.self);
	end_agent(&f);
}

/* What waits is told, and a second close finds nothing to do. */
static void test_close_early(void **state)
{
	struct fixture f;

	(void)state;
	make_agent(&f);
	play(&f, "exec sleep 60\n");
	agent_handle_line(&f.agent, spec_line, strlen(spec_line));
	say(&f, CLOSE);
	assert_non_null(strstr(f.answer, "\"id\":12"));
	assert_non_null(strstr(f.answer, "traffic was closed"));
	assert_null(strstr(f.answer, "\"id\":13"));
	say(&f, "{\"id\":14,\"op\":\"traffic_close\",\"handle\":0}");
	assert_non_null(strstr(f.answer, "\"id\":14"));
	assert_non_null(strstr(f.answer, "\"ok\":true"));
	if (!strstr(f.answer, "\"id\":13"))
		loop_run_until(f.agent.loop, has_answer, &f);
	assert_non_null(strstr(f.answer, "\"id\":13"));
	assert_null(f.agent.traffic[0]);
	unlink(f.self);
	end_agent(&f);
}

struct late {
	const struct loop *loop;
	uint64_t end_ms;
};

static bool late(void *arg)
{
	const struct late *l = arg;

	return loop_now_ms(l->loop) >= l->end_ms;
}

/* One that told its result and ended by itself: there is nothing to wait for. */
static void test_close_late(void **state)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	struct late l;
	struct fixture f;
	char *connect;
	json_t *doc;
	pid_t pid;

	(void)state;
	make_agent(&f);
	play(&f, "read x; echo '{\"peer\":{\"pid\":'$$'}}'; read x; echo '{\"connected\":1}'\n"
		 "read x; echo '{\"result\":{}}'\n");
	say(&f, spec_line);
	assert_non_null(strstr(f.answer, "\"pid\":"));
	pid = atoi(strstr(f.answer, "\"pid\":") + 6);
	peer->mtu = 4096;
	doc = json_pack("{s:i, s:s, s:i, s:o}", "id", 15, "op", "traffic_connect", "handle", 0,
			"peer", traffic_endpoint_to_json(peer));
	connect = json_dumps(doc, 0);
	json_decref(doc);
	say(&f, connect);
	assert_non_null(strstr(f.answer, "\"ok\":true"));
	say(&f, "{\"id\":16,\"op\":\"traffic_run\",\"handle\":0}");
	assert_non_null(strstr(f.answer, "\"result\":{}"));
	loop_run_until(f.agent.loop, gone, &pid);
	l = (struct late){f.agent.loop, loop_now_ms(f.agent.loop) + 100};
	loop_run_until(f.agent.loop, late, &l);
	assert_non_null(f.agent.traffic[0]);
	say(&f, CLOSE);
	assert_non_null(strstr(f.answer, "\"ok\":true"));
	assert_null(f.agent.traffic[0]);
	unlink(f.self);
	free(connect);
	free(peer);
	end_agent(&f);
}

static void test_good_lines(void **state)
{
	struct fixture f;
	json_t *doc;

	(void)state;
	make_agent(&f);
	doc = ask(&f, "{\"id\":0,\"op\":\"ping\"}", 20);
	assert_true(json_is_true(json_object_get(doc, "ok")));
	assert_true(json_is_integer(json_object_get(doc, "id")));
	json_decref(doc);
	doc = ask(&f, "{\"id\":77,\"op\":\"traffic_close\",\"handle\":3}", 41);
	assert_int_equal(json_integer_value(json_object_get(doc, "id")), 77);
	assert_true(json_is_true(json_object_get(doc, "ok")));
	json_decref(doc);
	agent_handle_line(&f.agent, "{\"id\":78,\"op\":\"quit\"}", 21);
	assert_true(f.agent.stopped);
	end_agent(&f);
}

/* Every row has a name of its own, a function and a help. */
static void test_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < agent_op_count; i++) {
		assert_true(agent_ops[i].name && *agent_ops[i].name && agent_ops[i].run);
		assert_true(agent_ops[i].help && *agent_ops[i].help);
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(agent_ops[i].name, agent_ops[k].name);
	}
}

/* A read-only agent refuses the rows that change settings, which are these, and no other. */
static void test_read_only(void **state)
{
	static const char *const changing[] = {"apply", "confirm", "rollback"};
	unsigned int count = 0;
	struct fixture f;

	(void)state;
	make_agent(&f);
	f.config.read_only = true;
	for (unsigned int i = 0; i < agent_op_count; i++) {
		char line[64];
		const json_t *error;
		json_t *doc;
		bool found = false;

		for (size_t k = 0; k < ARRAY_SIZE(changing); k++)
			found |= !strcmp(changing[k], agent_ops[i].name);
		assert_int_equal(agent_ops[i].allowed == OP_FOR_CHANGES, found);
		count += found;
		if (!found)
			continue;
		snprintf(line, sizeof(line), "{\"id\":5,\"op\":\"%s\"}", agent_ops[i].name);
		doc = ask(&f, line, strlen(line));
		error = json_object_get(doc, "error");
		assert_int_equal(json_integer_value(json_object_get(error, "code")), -EPERM);
		assert_non_null(
			strstr(json_string_value(json_object_get(error, "text")), "--read-only"));
		json_decref(doc);
	}
	assert_int_equal(count, ARRAY_SIZE(changing));
	end_agent(&f);
}

/* Users are told to those who ask. */
static void test_users(void **state)
{
	static const char with[] = "{\"id\":1,\"op\":\"counters\",\"ports\":"
				   "[{\"netdev\":\"lo\",\"users\":true}]}";
	static const char without[] =
		"{\"id\":2,\"op\":\"counters\",\"ports\":[{\"netdev\":\"lo\"}]}";
	const json_t *one;
	struct fixture f;
	json_t *doc;

	(void)state;
	make_agent(&f);
	doc = ask(&f, with, strlen(with));
	one = json_array_get(json_object_get(doc, "ports"), 0);
	assert_true(json_is_array(json_object_get(one, "users")));
	json_decref(doc);
	doc = ask(&f, without, strlen(without));
	one = json_array_get(json_object_get(doc, "ports"), 0);
	assert_true(json_is_object(one));
	assert_null(json_object_get(one, "users"));
	json_decref(doc);
	end_agent(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_lines),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_no_traffic_process),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_strange_traffic_process),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_close_early),
		cmocka_unit_test(test_close_late),
		cmocka_unit_test(test_good_lines),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
