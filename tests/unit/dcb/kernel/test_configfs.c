/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma_cm in a configfs that is a folder here: reading makes nothing, writing needs the device's
 * directory, and what is no value is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/kernel/configfs.h"
#include "dcb/kernel/dcb.h"

struct root {
	char path[64];
	int fd;
};

static void root_open(struct root *r)
{
	strcpy(r->path, "/tmp/test_configfs.XXXXXX");
	assert_non_null(mkdtemp(r->path));
	r->fd = open(r->path, O_RDONLY | O_DIRECTORY);
	assert_true(r->fd >= 0);
}

static void root_close(struct root *r)
{
	char command[128];

	close(r->fd);
	snprintf(command, sizeof(command), "rm -rf %s", r->path);
	assert_int_equal(system(command), 0);
}

static void put(const struct root *r, const char *path, const char *text)
{
	int fd = openat(r->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void get(const struct root *r, const char *path, char *buf, size_t size)
{
	int fd = openat(r->fd, path, O_RDONLY);
	ssize_t n = read(fd, buf, size - 1);

	assert_true(n >= 0);
	buf[n] = '\0';
	close(fd);
}

/* What the kernel makes below a mkdir. */
static void put_device(const struct root *r, const char *mode, const char *tos)
{
	mkdirat(r->fd, "rdma_cm", 0755);
	mkdirat(r->fd, "rdma_cm/rxe0", 0755);
	mkdirat(r->fd, "rdma_cm/rxe0/ports", 0755);
	mkdirat(r->fd, "rdma_cm/rxe0/ports/1", 0755);
	put(r, "rdma_cm/rxe0/ports/1/default_roce_mode", mode);
	put(r, "rdma_cm/rxe0/ports/1/default_roce_tos", tos);
}

static void test_read(void **state)
{
	static const struct {
		const char *mode, *tos;
		int want;
		uint8_t version, value;
	} cases[] = {
		{"RoCE v2\n", "106\n", 0, 2, 106},
		{"IB/RoCE v1\n", "0\n", 0, 1, 0},
		{"RoCE v2", "255", 0, 2, 255},
		{"RoCE v3\n", "0\n", -EBADMSG, 0, 0},
		{"", "0\n", -EBADMSG, 0, 0},
		{"RoCE v2\n", "256\n", -EBADMSG, 0, 0},
		{"RoCE v2\n", "-1\n", -EBADMSG, 0, 0},
		{"RoCE v2\n", "", -EBADMSG, 0, 0},
		{"RoCE v2\n", "12x\n", -EBADMSG, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qos q = {0};
		struct err e = {0};
		struct root r;
		int err;

		root_open(&r);
		put_device(&r, cases[i].mode, cases[i].tos);
		err = configfs_read(r.fd, "rxe0", 1, &q, &e);
		if (err != cases[i].want)
			fail_msg("'%s' '%s': %d", cases[i].mode, cases[i].tos, err);
		if (!err) {
			assert_int_equal(q.roce_version, cases[i].version);
			assert_int_equal(q.cm_tos, cases[i].value);
			assert_true(qos_has(&q, QOS_ROCE_VERSION) && qos_has(&q, QOS_CM_TOS));
		} else {
			assert_non_null(strstr(e.text, "rxe0 port 1"));
		}
		root_close(&r);
	}
}

static void test_read_changes_nothing(void **state)
{
	struct qos q = {0};
	struct err e = {0};
	struct root r;

	(void)state;
	root_open(&r);
	assert_int_equal(configfs_read(r.fd, "rxe0", 1, &q, &e), 0);
	assert_false(configfs_has_rdma_cm(r.fd));
	assert_int_equal(mkdirat(r.fd, "rdma_cm", 0755), 0);
	assert_true(configfs_has_rdma_cm(r.fd));
	assert_int_equal(configfs_read(r.fd, "rxe0", 1, &q, &e), 0);
	assert_int_equal(q.has, 0);
	assert_int_equal(faccessat(r.fd, "rdma_cm/rxe0", F_OK, 0), -1);
	/* A port that the device has not. */
	put_device(&r, "RoCE v2\n", "0\n");
	assert_int_equal(configfs_read(r.fd, "rxe0", 2, &q, &e), 0);
	assert_int_equal(q.has, 0);
	assert_int_equal(configfs_read(-1, "rxe0", 1, &q, &e), 0);
	root_close(&r);
}

static void test_write(void **state)
{
	struct qos q = {.roce_version = 2, .cm_tos = 106};
	struct err e = {0};
	struct root r;
	char text[32];

	(void)state;
	root_open(&r);
	assert_int_equal(configfs_write(r.fd, "rxe0", 1, &q, QOS_BIT(QOS_CM_TOS), &e), -ENOENT);
	put_device(&r, "IB/RoCE v1\n", "0\n");
	assert_int_equal(configfs_write(r.fd, "rxe0", 1, &q, QOS_BIT(QOS_CM_TOS), &e), 0);
	get(&r, "rdma_cm/rxe0/ports/1/default_roce_tos", text, sizeof(text));
	assert_string_equal(text, "106");
	get(&r, "rdma_cm/rxe0/ports/1/default_roce_mode", text, sizeof(text));
	assert_string_equal(text, "IB/RoCE v1\n");
	assert_int_equal(configfs_write(r.fd, "rxe0", 1, &q, QOS_BIT(QOS_ROCE_VERSION), &e), 0);
	get(&r, "rdma_cm/rxe0/ports/1/default_roce_mode", text, sizeof(text));
	assert_string_equal(text, "RoCE v2");
	root_close(&r);
}

static void test_make(void **state)
{
	struct err e = {0};
	struct root r;
	bool made;

	(void)state;
	root_open(&r);
	assert_int_equal(configfs_cm_dir_create(r.fd, "rxe0", &made, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.hint, "configfs"));
	assert_int_equal(configfs_cm_dir_create(r.fd, "rxe0", &made, NULL), -EOPNOTSUPP);
	assert_int_equal(configfs_cm_dir_create(-1, "rxe0", &made, NULL), -EOPNOTSUPP);
	assert_int_equal(mkdirat(r.fd, "rdma_cm", 0755), 0);
	assert_int_equal(configfs_cm_dir_create(r.fd, "rxe0", &made, &e), 0);
	assert_true(made);
	assert_int_equal(configfs_cm_dir_create(r.fd, "rxe0", &made, &e), 0);
	assert_false(made);
	assert_int_equal(configfs_cm_dir_remove(r.fd, "rxe0", &e), 0);
	assert_int_equal(configfs_cm_dir_remove(r.fd, "rxe0", &e), 0);
	assert_int_equal(faccessat(r.fd, "rdma_cm/rxe0", F_OK, 0), -1);
	root_close(&r);
}

/* A device name is one path element. */
static void test_names(void **state)
{
	static const char *const bad[] = {"", ".", "..", "../x", "a/b", "/etc"};
	struct err e = {0};
	struct qos q = {0};
	struct root r;
	bool made;

	(void)state;
	root_open(&r);
	assert_int_equal(mkdirat(r.fd, "rdma_cm", 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_true(configfs_cm_dir_create(r.fd, bad[i], &made, &e) < 0);
		assert_true(configfs_read(r.fd, bad[i], 1, &q, &e) < 0);
		assert_true(configfs_cm_dir_remove(r.fd, bad[i], &e) < 0);
	}
	root_close(&r);
}

/* dcb_open() with roots of our own: text files below sysfs, and the speed of a link. */
static void test_sysfs(void **state)
{
	static const struct {
		const char *text;
		uint32_t want;
	} speeds[] = {
		{"100000\n", 100000}, {"-1\n", 0}, {"\n", 0}, {"x\n", 0}, {"99999999999\n", 0}};
	struct dcb_roots roots;
	struct err e = {0};
	struct dcb *dcb;
	struct root r;
	char text[16];

	(void)state;
	root_open(&r);
	roots = (struct dcb_roots){.sysfs = r.path, .configfs = r.path};
	if (dcb_open(&roots, &dcb, &e)) {
		root_close(&r);
		skip();
	}
	mkdirat(r.fd, "class", 0755);
	mkdirat(r.fd, "class/net", 0755);
	mkdirat(r.fd, "class/net/eth0", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		uint32_t mbps = 1;

		put(&r, "class/net/eth0/speed", speeds[i].text);
		assert_int_equal(dcb_link_speed(dcb, "eth0", &mbps, &e), 0);
		assert_int_equal(mbps, speeds[i].want);
	}
	put(&r, "class/net/eth0/long", "0123456789012345678901234567890\n");
	assert_int_equal(dcb_sysfs_read(dcb, "class/net/eth0/long", text, sizeof(text)), 0);
	assert_string_equal(text, "012345678901234");
	assert_int_equal(dcb_sysfs_read(dcb, "class/net/no", text, sizeof(text)), -ENOENT);
	assert_true(dcb_sysfs_fd(dcb) >= 0);
	dcb_close(dcb);
	dcb_close(NULL);
	roots.sysfs = "/no/such/folder";
	assert_int_equal(dcb_open(&roots, &dcb, &e), -ENOENT);
	root_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),  cmocka_unit_test(test_read_changes_nothing),
		cmocka_unit_test(test_write), cmocka_unit_test(test_make),
		cmocka_unit_test(test_names), cmocka_unit_test(test_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
