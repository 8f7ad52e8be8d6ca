/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory traffic may take: by /proc/meminfo and control groups in a small tree, and the
 * bytes that a specification comes to.
 */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "probe/traffic/traffic.h"
#include "profiles/base/memory_limit.h"

#define GIB (UINT64_C(1) << 30)

static char top[] = "/tmp/test_memory_limit.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (!text) {
		remove(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_tree(void **state)
{
	static const char *const folders[] = {"proc",
					      "proc/self",
					      "sys",
					      "sys/fs",
					      "sys/fs/cgroup",
					      "sys/fs/cgroup/a",
					      "sys/fs/cgroup/a/b",
					      "sys/fs/cgroup/memory",
					      "sys/fs/cgroup/memory/a"};
	char path[256];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, folders[i]);
		if (mkdir(path, 0755))
			return -1;
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int remove_tree(void **state)
{
	(void)state;
	return nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define MEMINFO(kib) "MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable:   " kib " kB\n"

static void test_available(void **state)
{
	static const struct {
		const char *name, *meminfo, *cgroup, *max, *max_above, *current, *stat;
		uint64_t want; /* 0: an error */
	} cases[] = {
		{"host", MEMINFO("1024"), NULL, NULL, NULL, NULL, NULL, 1 << 20},
		{"old kernel", "MemTotal: 5 kB\n", NULL, NULL, NULL, NULL, NULL, 0},
		{"junk", "MemAvailable: x\n", NULL, NULL, NULL, NULL, NULL, 0},
		{"v1 alone", MEMINFO("1024"), "4:memory:/a/b\n", "4096", NULL, "0", NULL, 1 << 20},
		{"group", MEMINFO("1024"), "1:x:/\n0::/a/b\n", "8192\n", NULL, "4096\n", NULL,
		 4096},
		{"cache counts as free", MEMINFO("1024"), "0::/a/b\n", "8192\n", NULL, "4096\n",
		 "anon 96\ninactive_file 4000\n", 8096},
		{"group above", MEMINFO("1024"), "0::/a/b\n", "max\n", "6000\n", "5000\n", NULL,
		 1000},
		{"full", MEMINFO("1024"), "0::/a/b\n", "8192\n", NULL, "9000\n", NULL, UINT64_MAX},
		{"no limit", MEMINFO("1024"), "0::/a/b\n", "max\n", "max\n", "5\n", NULL, 1 << 20},
		{"top", MEMINFO("1024"), "0::/\n", "1\n", "1\n", "0\n", NULL, 1 << 20},
		{"outside", MEMINFO("1024"), "0::/../a\n", "1\n", "1\n", "0\n", NULL, 1 << 20},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t want = cases[i].want == UINT64_MAX ? 0 : cases[i].want, got = 7;
		struct err e = {0};
		int err;

		write_file("proc/meminfo", cases[i].meminfo);
		write_file("proc/self/cgroup", cases[i].cgroup);
		write_file("sys/fs/cgroup/a/b/memory.max", cases[i].max);
		write_file("sys/fs/cgroup/a/memory.max", cases[i].max_above);
		write_file("sys/fs/cgroup/a/b/memory.current", cases[i].current);
		write_file("sys/fs/cgroup/a/memory.current", cases[i].current);
		write_file("sys/fs/cgroup/a/b/memory.stat", cases[i].stat);
		err = memory_available(top, &got, &e);
		if (!cases[i].want ? err != -EIO : err || got != want)
			fail_msg("%s: %d %llu %s", cases[i].name, err, (unsigned long long)got,
				 e.text);
	}
}

/* Control groups v1: limits of the group and of the top, which is all that a container sees. */
static void test_available_v1(void **state)
{
	static const char none[] = "9223372036854771712\n";
	static const struct {
		const char *name, *cgroup, *most, *most_of_top, *stat;
		uint64_t want;
	} cases[] = {
		{"group", "4:memory:/a\n", "8192\n", none, NULL, 4096},
		{"cache counts as free", "4:memory:/a\n", "8192\n", none,
		 "inactive_file 1\ntotal_inactive_file 4000\n", 8096},
		{"among others", "9:pids:/\n4:cpu,memory:/a\n0::/\n", "8192\n", none, NULL, 4096},
		{"top", "4:memory:/a\n", none, "6096\n", NULL, 2000},
		{"container", "4:memory:/docker/0123\n", "1\n", "6096\n", NULL, 2000},
		{"no limit", "4:memory:/a\n", none, none, NULL, 1 << 20},
		{"another controller", "4:memory2,cpu:/a\n", "8192\n", "1\n", NULL, 1 << 20},
		{"outside", "4:memory:/../a\n", "1\n", "1\n", NULL, 1 << 20},
		{"short", "4:memory\n", "1\n", "1\n", NULL, 1 << 20},
	};

	(void)state;
	write_file("proc/meminfo", MEMINFO("1024"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};
		uint64_t got = 7;

		write_file("proc/self/cgroup", cases[i].cgroup);
		write_file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", cases[i].most);
		write_file("sys/fs/cgroup/memory/memory.limit_in_bytes", cases[i].most_of_top);
		write_file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4096\n");
		write_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
		write_file("sys/fs/cgroup/memory/a/memory.stat", cases[i].stat);
		if (memory_available(top, &got, &e) || got != cases[i].want)
			fail_msg("%s: %llu %s", cases[i].name, (unsigned long long)got, e.text);
	}
}

/* 24 GiB are available. */
static void test_share(void **state)
{
	static const struct {
		struct memory_demand d; /* in GiB */
		const char *text;	/* NULL: it may */
	} cases[] = {
		{{12, 0, 0}, NULL},
		{{13, 0, 0},
		 "traffic needs 13.0 GiB of memory; all runs together may use 12.0 GiB of the "
		 "24.0 GiB available"},
		{{8192, 0, 0}, "needs 8192.0 GiB"},
		{{4, 4, 4}, NULL},
		{{8, 4, 4}, "14.0 GiB of the 24.0 GiB available, and other runs use 8.0 GiB"},
		{{1, 0, 12}, "other runs use 12.0 GiB"},
		{{UINT64_MAX / GIB, 0, 1}, "traffic needs"},
	};

	(void)state;
	write_file("proc/meminfo", MEMINFO("25165824"));
	write_file("proc/self/cgroup", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct memory_demand d = {cases[i].d.wanted_bytes * GIB,
						cases[i].d.used_bytes * GIB,
						cases[i].d.opening_bytes * GIB};
		struct err e = {0};
		int err = memory_limit_check(top, &d, &e);

		if (err != (cases[i].text ? -ENOMEM : 0) ||
		    (err && (!strstr(e.text, cases[i].text) || !*e.hint)))
			fail_msg("case %zu: %d %s", i, err, e.text);
		assert_int_equal(memory_limit_check(top, &d, NULL), err);
	}
}

/* The most that a specification can ask for, and what is asked for by default. */
static void test_spec_bytes(void **state)
{
	struct traffic_spec spec;
	uint64_t one;

	(void)state;
	traffic_spec_simple(&spec, TRAFFIC_WRITE, 8u << 20, 1000);
	spec.class[0].window = TRAFFIC_WINDOW_MAX;
	spec.class[0].qps = TRAFFIC_QPS_MAX;
	spec.role = TRAFFIC_SERVER;
	assert_true(traffic_spec_bytes(&spec) >= UINT64_C(8) << 40);
	spec.class[0].direction = TRAFFIC_BOTH;
	assert_true(traffic_spec_bytes(&spec) >= UINT64_C(16) << 40);
	traffic_spec_simple(&spec, TRAFFIC_SEND, 4096, 1000);
	one = traffic_spec_bytes(&spec);
	assert_true(one >= 4096 && one < 64u << 20);
	spec.class[0].qps = 4;
	assert_true(traffic_spec_bytes(&spec) > one);
	spec.class[1] = spec.class[0];
	one = traffic_spec_bytes(&spec);
	spec.class_count = 2;
	assert_true(traffic_spec_bytes(&spec) == 2 * one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_available),
		cmocka_unit_test(test_available_v1),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_spec_bytes),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
