/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's plan, apply, confirm and rollback, with a script in the place of the program: what
 * command line and input each becomes, what is answered, and that an apply whose agent ends is left
 * to its own end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/agent/agent_priv.h"
#include "probe/io/loop.h"

#define PLAN "{\"ports\":[],\"profile\":{\"name\":\"a\"}}"

struct fixture {
	struct agent_config config;
	struct agent agent;
	int read_fd;
	char dir[32], self[48];
	char answer[65536];
};

static void make(struct fixture *f, const char *script)
{
	struct err e = {0};
	FILE *out;
	int fd[2];

	memset(f, 0, sizeof(*f));
	strcpy(f->dir, "/tmp/test_command.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->self, sizeof(f->self), "%s/self", f->dir);
	out = fopen(f->self, "w");
	assert_non_null(out);
	fprintf(out, "#!/bin/sh\ncd %s\n%s\n", f->dir, script);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(f->self, 0755), 0);
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	f->read_fd = fd[0];
	f->config = (struct agent_config){.build = "test", .self = f->self, .out_fd = fd[1]};
	f->agent.config = &f->config;
	assert_int_equal(loop_open(&f->agent.loop, &e), 0);
}

static void end(struct fixture *f)
{
	char command[64];

	agent_command_detach(&f->agent);
	loop_close(f->agent.loop);
	close(f->read_fd);
	close(f->config.out_fd);
	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
}

static bool has_answer(void *arg)
{
	struct fixture *f = arg;
	ssize_t n = read(f->read_fd, f->answer, sizeof(f->answer) - 1);

	f->answer[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static json_t *ask(struct fixture *f, const char *line)
{
	json_t *doc;

	agent_handle_line(&f->agent, line, strlen(line));
	loop_run_until(f->agent.loop, has_answer, f);
	doc = json_loads(f->answer, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_is_object(doc));
	return doc;
}

/* The words behind the program, and what stood on its input. */
static void test_command_lines(void **state)
{
	static const struct {
		const char *request, *words, *input;
	} cases[] = {
		{"\"op\":\"plan\",\"profile\":{\"name\":\"a\"}", "plan - --json",
		 "{\"schema\":\"rocecheck.plan/1\",\"ports\":[],\"profile\":{\"name\":\"a\"}}"},
		{"\"op\":\"apply\",\"confirm_within_s\":60,\"wait_link_s\":5,\"plan\":" PLAN,
		 "apply - --json --quiet --auto-approve --confirm-within 60s --wait-link 5s", PLAN},
		{"\"op\":\"apply\",\"confirm_within_s\":1,\"wait_link_s\":1,\"unproven\":true,"
		 "\"disruption\":true,\"settle_ms\":500,\"plan\":" PLAN,
		 "apply - --json --quiet --auto-approve --accept-disruption "
		 "--confirm-within 1s --wait-link 1s --settle 500ms",
		 PLAN},
		{"\"op\":\"confirm\",\"tx\":\"20260101-000000-00\"",
		 "confirm --json 20260101-000000-00", ""},
		{"\"op\":\"rollback\",\"tx\":\"20260101-000000-00\"",
		 "rollback --json 20260101-000000-00", ""},
		{"\"op\":\"transactions\"", "rollback --list --json", ""},
	};
	struct fixture f;

	(void)state;
	make(&f, "cat >input; printf '{\"words\":\"%s\"}\\n' \"$*\"; echo careful >&2; exit 5");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[512], path[64], input[512] = "";
		json_t *doc;
		FILE *in;

		snprintf(line, sizeof(line), "{\"id\":%zu,%s}", i + 1, cases[i].request);
		doc = ask(&f, line);
		snprintf(path, sizeof(path), "%s/input", f.dir);
		in = fopen(path, "r");
		assert_non_null(in);
		input[fread(input, 1, sizeof(input) - 1, in)] = '\0';
		fclose(in);
		assert_string_equal(
			json_string_value(json_object_get(json_object_get(doc, "output"), "words")),
			cases[i].words);
		assert_string_equal(input, cases[i].input);
		assert_int_equal(json_integer_value(json_object_get(doc, "exit")), 5);
		assert_int_equal(json_integer_value(json_object_get(doc, "id")), i + 1);
		assert_string_equal(json_string_value(json_object_get(doc, "said")), "careful\n");
		json_decref(doc);
	}
	end(&f);
}

/* Nothing is started for any of them. */
static void test_refused(void **state)
{
	static const char *const requests[] = {
		"\"op\":\"plan\"",
		"\"op\":\"plan\",\"profile\":3",
		"\"op\":\"plan\",\"profile\":{},\"as_text\":1",
		"\"op\":\"apply\",\"plan\":" PLAN,
		"\"op\":\"apply\",\"plan\":[],\"confirm_within_s\":60,\"wait_link_s\":5",
		"\"op\":\"apply\",\"plan\":" PLAN ",\"confirm_within_s\":0,\"wait_link_s\":5",
		"\"op\":\"apply\",\"plan\":" PLAN ",\"confirm_within_s\":9999,\"wait_link_s\":5",
		"\"op\":\"apply\",\"plan\":" PLAN ",\"confirm_within_s\":60,\"wait_link_s\":5,"
		"\"disruption\":\"yes\"",
		"\"op\":\"confirm\"",
		"\"op\":\"confirm\",\"tx\":\"\"",
		"\"op\":\"confirm\",\"tx\":\"--state-dir=/tmp\"",
		"\"op\":\"rollback\",\"tx\":\"../x\"",
		"\"op\":\"rollback\",\"tx\":\"2026 1\"",
		"\"op\":\"rollback\",\"tx\":\"00000000000000000000000000000000\"",
	};
	struct fixture f;

	(void)state;
	make(&f, "echo '{}'");
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		char line[512];
		json_t *doc;

		snprintf(line, sizeof(line), "{\"id\":1,%s}", requests[i]);
		doc = ask(&f, line);
		if (!json_object_get(doc, "error") || f.agent.command)
			fail_msg("%s: %s", requests[i], f.answer);
		json_decref(doc);
	}
	end(&f);
}

/* What a command may print, and how it may end. */
static void test_strange_commands(void **state)
{
	static const struct {
		const char *script, *want;
	} cases[] = {
		{"echo no document", "\"output\":null"},
		{"exit 3", "\"exit\":3,\"output\":null,\"said\":\"\""},
		{"printf 'a\\377\\nb\\000c' >&2; exit 1", "\"said\":\"a?\\nb\""},
		{"head -c 9000 /dev/zero | sed 's/\\x00/\\xc3\\xa9/g' >&2; exit 1",
		 "\"said\":\"?\u00e9\u00e9"},
		{"head -c 9000 /dev/zero | tr '\\0' x >&2; echo last >&2", "xlast\\n\""},
		{"kill -9 $$", "signal 9 killed"},
		{"for i in 1 2 3; do head -c 500000 /dev/zero | tr '\\0' x; echo; done",
		 "printed more than"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture f;

		make(&f, cases[i].script);
		json_decref(ask(&f, "{\"id\":1,\"op\":\"transactions\"}"));
		if (!strstr(f.answer, cases[i].want))
			fail_msg("%s: %s", cases[i].script, f.answer);
		assert_null(f.agent.command);
		end(&f);
	}
}

static bool is_there(const char *dir, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static bool has_begun(void *arg)
{
	return is_there(((struct fixture *)arg)->dir, "begun");
}

static void test_one_at_a_time_and_left(void **state)
{
	static const char again[] = "{\"id\":2,\"op\":\"transactions\"}";
	struct fixture f;
	char path[64];

	(void)state;
	make(&f, "trap '' PIPE; touch begun; while [ ! -e go ]; do sleep 0.02; done\n"
		 "echo into nowhere 2>/dev/null; touch done");
	agent_handle_line(&f.agent, "{\"id\":1,\"op\":\"transactions\"}", 28);
	loop_run_until(f.agent.loop, has_begun, &f);
	json_decref(ask(&f, again));
	assert_non_null(strstr(f.answer, "another command is running"));
	agent_command_detach(&f.agent);
	assert_null(f.agent.command);
	loop_close(f.agent.loop);
	f.agent.loop = NULL;
	assert_false(is_there(f.dir, "done"));
	snprintf(path, sizeof(path), "%s/go", f.dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	for (unsigned int i = 0; i < 1000 && !is_there(f.dir, "done"); i++)
		poll(NULL, 0, 10);
	assert_true(is_there(f.dir, "done"));
	assert_int_equal(loop_open(&f.agent.loop, &(struct err){0}), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_strange_commands),
		cmocka_unit_test(test_one_at_a_time_and_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
