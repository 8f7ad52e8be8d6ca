/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traffic process, confined: it has no rights of root before its device is open, it ends with
 * its agent, and it goes first when memory runs out. Over the verbs of fake_verbs.h, in a process
 * of its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "probe/agent/agent.h"
#include "probe/traffic/traffic.h"
#include "profiles/base/privileges.h"
#include "tests/unit/fixture/fake_objects.h"

struct child {
	pid_t pid;
	FILE *to, *from;
};

static void start(struct child *c)
{
	int in[2], out[2];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	c->pid = fork();
	if (!c->pid) {
		close(in[1]);
		close(out[0]);
		_exit(traffic_child(in[0], out[1], true) ? 1 : 0);
	}
	close(in[0]);
	close(out[1]);
	c->to = fdopen(in[1], "w");
	c->from = fdopen(out[0], "r");
}

static void open_child(struct child *c)
{
	struct traffic_spec spec;
	char line[65536] = "";
	json_t *json;

	traffic_spec_simple(&spec, TRAFFIC_WRITE, 4096, 1000);
	strcpy(spec.ibdev, "fake0");
	spec.ib_port = 1;
	json = traffic_spec_to_json(&spec);
	json_dumpf(json, c->to, JSON_COMPACT);
	fputc('\n', c->to);
	fflush(c->to);
	json_decref(json);
	if (!fgets(line, sizeof(line), c->from) || !strstr(line, "\"peer\""))
		fail_msg("not open: %s", line);
}

/* The numbers behind the name in /proc/PID/status. */
static void status(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	buf[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)) || line[strlen(name)] != ':')
			continue;
		snprintf(buf, size, "%s", line + strlen(name) + 2);
		buf[strcspn(buf, "\n")] = '\0';
	}
	fclose(f);
}

static void expect(pid_t pid, const char *name, const char *want)
{
	char got[256];

	status(pid, name, got, sizeof(got));
	if (strcmp(got, want))
		fail_msg("%s: '%s', wanted '%s'", name, got, want);
}

/* The limit of locked memory, as root. */
static bool may_raise(void)
{
	struct rlimit before;
	int code = 1;
	pid_t pid = fork();

	if (!pid) {
		before = (struct rlimit){1u << 30, 1u << 30};
		_exit(setrlimit(RLIMIT_MEMLOCK, &before) != 0);
	}
	waitpid(pid, &code, 0);
	return !code;
}

static void test_rights(void **state)
{
	static const char *const none[] = {"CapInh", "CapAmb", "CapPrm", "CapEff"};
	char path[64], score[16] = "";
	struct child c;
	FILE *f;

	(void)state;
	start(&c);
	open_child(&c);
	if (!geteuid()) {
		expect(c.pid, "Uid", "65534\t65534\t65534\t65534");
		expect(c.pid, "Gid", "65534\t65534\t65534\t65534");
		expect(c.pid, "CapBnd", "0000000000000000");
		expect(c.pid, "Groups", " ");
	}
	expect(c.pid, "NoNewPrivs", "1");
	/* CAP_IPC_LOCK stays where the limit of a container cannot be raised. */
	for (size_t i = 0; i < (may_raise() ? 4 : 2); i++)
		expect(c.pid, none[i], "0000000000000000");
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)c.pid);
	f = fopen(path, "r");
	assert_non_null(fgets(score, sizeof(score), f));
	fclose(f);
	assert_true(atoi(score) >= 500);
	fclose(c.to);
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
	fclose(c.from);
}

/* In a child of its own, which tells by its exit code. */
static int look_inside(void)
{
	struct rlimit limit, before;
	struct err e = {0};
	bool root = !geteuid(), locks = privileges_lock_memory();
	int signal = 0;

	if (getrlimit(RLIMIT_MEMLOCK, &before))
		return 6;
	if (privileges_confine("", "fake0", UINT64_C(96) << 20, &e))
		return 1;
	if (prctl(PR_GET_PDEATHSIG, &signal) || signal != SIGKILL)
		return 2;
	if (prctl(PR_GET_DUMPABLE))
		return 3;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return 6;
	if (locks && limit.rlim_cur != 96u << 20 && limit.rlim_cur != before.rlim_max)
		return 4; /* it may not be raised in a container */
	if (!locks && limit.rlim_cur != before.rlim_cur)
		return 7;
	if (root && (!setuid(0) || !seteuid(0)))
		return 5;
	return 0;
}

static void test_inside(void **state)
{
	int code = -1;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid)
		_exit(look_inside());
	assert_int_equal(waitpid(pid, &code, 0), pid);
	assert_true(WIFEXITED(code));
	assert_int_equal(WEXITSTATUS(code), 0);
}

/* A device of root alone: who opens it stays root. */
static void test_nodes(void **state)
{
	static const struct {
		mode_t verbs, cm;
		bool want;
	} cases[] = {
		{0666, 0666, true}, {0660, 0666, false}, {0666, 0600, false}, {0644, 0666, false}};
	static const char *const folders[] = {"dev",
					      "dev/infiniband",
					      "sys",
					      "sys/class",
					      "sys/class/infiniband_verbs",
					      "sys/class/infiniband_verbs/uverbs0",
					      "sys/class/infiniband_verbs/uverbs1"};
	static const char *const files[][2] = {
		{"dev/infiniband/uverbs0", ""},
		{"dev/infiniband/uverbs1", ""},
		{"dev/infiniband/rdma_cm", ""},
		{"sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n"},
		{"sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n"},
	};
	char root[] = "/tmp/test_traffic_confine.XXXXXX", path[128];

	(void)state;
	assert_true(privileges_rdma_is_public("/nonexistent", "mlx5_1"));
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", root, files[i][0]);
		f = fopen(path, "w");
		fputs(files[i][1], f);
		fclose(f);
		assert_int_equal(chmod(path, 0600), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(path, sizeof(path), "%s/dev/infiniband/uverbs1", root);
		assert_int_equal(chmod(path, cases[i].verbs), 0);
		snprintf(path, sizeof(path), "%s/dev/infiniband/rdma_cm", root);
		assert_int_equal(chmod(path, cases[i].cm), 0);
		assert_int_equal(privileges_rdma_is_public(root, "mlx5_1"), cases[i].want);
		assert_false(privileges_rdma_is_public(root, "mlx5_0"));
	}
	for (size_t i = ARRAY_SIZE(files); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i][0]);
		remove(path);
	}
	for (size_t i = ARRAY_SIZE(folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		remove(path);
	}
	remove(root);
}

/* The agent is killed after the change of the user: the process ends with it. */
static void test_ends_with_agent(void **state)
{
	pid_t agent, traffic = 0;
	int told[2], alive[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(alive), 0);
	agent = fork();
	if (!agent) {
		traffic = fork();
		if (!traffic) {
			struct err e = {0};

			if (privileges_confine("", "fake0", 1 << 20, &e))
				_exit(1);
			(void)!write(told[1], "x", 1);
			pause();
			_exit(0);
		}
		pause();
		_exit(0);
	}
	close(alive[1]); /* the other ends are in both processes */
	assert_int_equal(read(told[0], &byte, 1), 1);
	kill(agent, SIGKILL);
	waitpid(agent, NULL, 0);
	alarm(10); /* it would wait for ever */
	assert_int_equal(read(alive[0], &byte, 1), 0);
	alarm(0);
	close(alive[0]);
	close(told[0]);
	close(told[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_ends_with_agent),
	};

	fake_reset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
