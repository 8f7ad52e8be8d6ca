/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who ran when a setting changed, out of a /proc that is a folder here; and who holds the lock of a
 * transaction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/drift/writers.h"
#include "profiles/qos.h"

#define BIT(id) QOS_BIT(QOS_##id)

static char dir[] = "/tmp/test_suspects.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_link(const char *name, const char *to)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(symlink(to, path), 0);
}

static void put_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* A process. Its start time is field 22 of stat. */
static void put_process(const char *pid, const char *comm, const char *stat, const char *net)
{
	char path[64], text[64];

	put_dir(pid);
	snprintf(path, sizeof(path), "%s/comm", pid);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(path, text);
	if (stat) {
		snprintf(path, sizeof(path), "%s/stat", pid);
		put(path, stat);
	}
	snprintf(path, sizeof(path), "%s/ns", pid);
	put_dir(path);
	snprintf(path, sizeof(path), "%s/ns/net", pid);
	put_link(path, net);
}

static int setup(void **state)
{
	char stat[256];

	(void)state;
	assert_non_null(mkdtemp(dir));
	put("stat", "cpu 1 2\nbtime 1000\nprocesses 3\n");
	put_dir("self");
	put_dir("self/ns");
	put_link("self/ns/net", "net:[1]");
	snprintf(stat, sizeof(stat),
		 "42 (a) b) S 1 42 42 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 %ld 1 2 3",
		 500 * sysconf(_SC_CLK_TCK));
	put_process("42", "lldpad", stat, "net:[1]");
	put_process("43", "dcb", "43 (dcb) S 1", "net:[1]"); /* cut */
	put_process("44", "ethtool", NULL, "net:[1]");
	put_process("45", "lldpad", stat, "net:[2]"); /* of another network namespace */
	put_process("46", "dcbx", stat, "net:[1]");
	put_process("47", "", stat, "net:[1]");
	put_dir("48"); /* ended meanwhile */
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const struct drift_writer *find(const struct drift_writers *s, const char *name)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!strcmp(s->writer[i].name, name))
			return &s->writer[i];
	return NULL;
}

static void test_found(void **state)
{
	struct drift_writers s = {0};

	(void)state;
	writers_add(dir, &s);
	assert_int_equal(s.count, 3);
	assert_int_equal(find(&s, "lldpad")->pid, 42);
	assert_int_equal(find(&s, "lldpad")->started, 1500);
	assert_int_equal(find(&s, "dcb")->started, 0);
	assert_int_equal(find(&s, "ethtool")->started, 0);
	/* Each once, also in a second look. */
	writers_add(dir, &s);
	assert_int_equal(s.count, 3);
	writers_add("/no/such/folder", &s);
	assert_int_equal(s.count, 3);
}

static void test_keep(void **state)
{
	struct drift_writers s = {0}, pfc, pause, mtu;

	(void)state;
	writers_add(dir, &s);
	pfc = pause = mtu = s;
	writers_filter(&pfc, BIT(PFC_ENABLED));
	assert_non_null(find(&pfc, "lldpad"));
	writers_filter(&pause, BIT(PAUSE_RX));
	assert_int_equal(pause.count, 1);
	assert_non_null(find(&pause, "ethtool"));
	writers_filter(&mtu, BIT(MTU));
	assert_int_equal(mtu.count, 0);
}

static void test_never_too_many(void **state)
{
	struct drift_writers s = {0};
	char pid[16];

	(void)state;
	for (int i = 100; i < 100 + 2 * DRIFT_WRITERS_MAX; i++) {
		snprintf(pid, sizeof(pid), "%d", i);
		put_process(pid, "mlnx_qos", NULL, "net:[1]");
	}
	writers_add(dir, &s);
	assert_int_equal(s.count, DRIFT_WRITERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_never_too_many),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
