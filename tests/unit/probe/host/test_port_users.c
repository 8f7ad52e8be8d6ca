/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses a port: queue pairs as RDMA netlink lists them, whole and broken; the login out of a
 * proc of files; netdevs above others out of a sysfs of files, one of them a circle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/kernel/nl.h"
#include "probe/host/port_users.h"

static char root[32];

static void run(const char *format, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_use.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	run("rm -rf %s", root);
	return 0;
}

/* pid 0: of the module */
static void put_qp(struct nl_request *r, uint32_t port, uint32_t pid, const char *module,
		   uint8_t type)
{
	size_t entry = nl_nest_start(r, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	nl_put_attr(r, RDMA_NLDEV_ATTR_PORT_INDEX, &port, sizeof(port));
	nl_put_attr(r, RDMA_NLDEV_ATTR_RES_TYPE, &type, sizeof(type));
	if (pid)
		nl_put_attr(r, RDMA_NLDEV_ATTR_RES_PID, &pid, sizeof(pid));
	else
		nl_put_attr(r, RDMA_NLDEV_ATTR_RES_KERN_NAME, module, strlen(module) + 1);
	nl_nest_end(r, entry);
}

static void fill_answer(struct nl_request *r)
{
	size_t table;

	nl_request_init(r, 0, 0);
	table = nl_nest_start(r, RDMA_NLDEV_ATTR_RES_QP);
	put_qp(r, 1, 0, "ib_core", 1); /* QP 1, which every device has */
	put_qp(r, 1, 812, NULL, 2);
	put_qp(r, 1, 0, "rdma_cm", 2);
	put_qp(r, 1, 812, NULL, 2);
	put_qp(r, 2, 813, NULL, 2); /* of another port */
	nl_nest_end(r, table);
}

static void test_qps(void **state)
{
	static struct nl_request r;
	struct port_users use = {0};
	char text[160];

	(void)state;
	run("mkdir -p %s/812 && printf 'ib_\\033[31m\\302\\2332J\\n' >%s/812/comm", root, root);
	run("printf 'Name:\\tib\\nUid:\\t0\\t0\\t0\\t0\\n' >%s/812/status", root);
	fill_answer(&r);
	port_users_add_qps(&use, 1, r.bytes, r.used, root);
	assert_int_equal(use.count, 2);
	port_user_text(&use.user[0], text, sizeof(text));
	assert_string_equal(text, "2 queue pairs of ib_?[31m?2J (pid 812, user root)");
	port_user_text(&use.user[1], text, sizeof(text));
	assert_string_equal(text, "1 queue pair of the kernel (rdma_cm)");
	/* A process that has ended since. */
	memset(&use, 0, sizeof(use));
	port_users_add_qps(&use, 2, r.bytes, r.used, root);
	port_user_text(&use.user[1], text, sizeof(text));
	assert_int_equal(use.count, 1);
	port_user_text(&use.user[0], text, sizeof(text));
	assert_string_equal(text, "1 queue pair of a process (pid 813)");
	/* A user without an account here. */
	run("mkdir -p %s/813 && printf 'Uid:\\t4294967290\\t0\\t0\\t0\\n' >%s/813/status", root,
	    root);
	memset(&use, 0, sizeof(use));
	port_users_add_qps(&use, 2, r.bytes, r.used, root);
	port_user_text(&use.user[0], text, sizeof(text));
	assert_string_equal(text, "1 queue pair of a process (pid 813, user 4294967290)");
}

/* Cut at each length, on the heap so that a byte too far is seen. */
static void test_qps_cut(void **state)
{
	static struct nl_request r;

	(void)state;
	fill_answer(&r);
	for (size_t size = 0; size <= r.used; size++) {
		struct port_users use = {0};
		uint8_t *copy = malloc(size ? size : 1);

		memcpy(copy, r.bytes, size);
		port_users_add_qps(&use, 1, copy, size, root);
		assert_true(use.count <= 2);
		free(copy);
	}
}

static void test_many(void **state)
{
	static struct nl_request r;
	struct port_users use = {0};
	size_t table;

	(void)state;
	nl_request_init(&r, 0, 0);
	table = nl_nest_start(&r, RDMA_NLDEV_ATTR_RES_QP);
	for (uint32_t pid = 1; pid <= PORT_USERS_MAX + 5; pid++)
		put_qp(&r, 1, pid, NULL, 2);
	nl_nest_end(&r, table);
	port_users_add_qps(&use, 1, r.bytes, r.used, root);
	assert_int_equal(use.count, PORT_USERS_MAX);
	assert_int_equal(use.more, 5);
}

/* 30 is sudo's child without it, 20 the login's shell with it. */
static void test_login(void **state)
{
	char peer[64];

	(void)state;
	run("mkdir -p %s/10 %s/20 %s/30 && cd %s && printf 'A=1\\0' >30/environ && echo '30 (a) b) "
	    "S 20 1' "
	    ">30/stat && printf 'A=1\\0SSH_CONNECTION=198.18.0.1 5000 198.18.0.2 22\\0B=2\\0' "
	    ">20/environ "
	    "&& echo '20 (bash) S 10 1' >20/stat && : >10/environ && echo '10 (init) S 0 1' "
	    ">10/stat",
	    root, root, root, root);
	assert_true(port_users_login_client(root, 30, peer, sizeof(peer)));
	assert_string_equal(peer, "198.18.0.1");
	assert_false(port_users_login_client(root, 10, peer, sizeof(peer)));
	assert_false(port_users_login_client(root, 99, peer, sizeof(peer)));
	/* Its own parent: it ends all the same. */
	run("echo '30 (x) S 30 1' >%s/30/stat", root);
	assert_false(port_users_login_client(root, 30, peer, sizeof(peer)));
}

static void test_above(void **state)
{
	struct dcb_roots roots = {.sysfs = root, .configfs = root};
	struct err e = {0};
	struct dcb *dcb;

	(void)state;
	run("cd %s && mkdir -p class/net/v10/lower_bond0 class/net/bond0/lower_eth0 "
	    "class/net/bond0/lower_eth1 class/net/eth0 class/net/eth1 class/net/eth2 "
	    "class/net/loop/lower_loop2 class/net/loop2/lower_loop",
	    root);
	if (dcb_open(&roots, &dcb, &e))
		fail_msg("%s", e.text);
	assert_true(port_users_is_upper(dcb, "eth0", "eth0"));
	assert_true(port_users_is_upper(dcb, "v10", "eth1"));
	assert_false(port_users_is_upper(dcb, "v10", "eth2"));
	assert_false(port_users_is_upper(dcb, "eth0", "v10"));
	assert_false(port_users_is_upper(dcb, "loop", "eth0"));
	assert_false(port_users_is_upper(dcb, "../../x", "eth0"));
	dcb_close(dcb);
}

/* A login and a bond use the port, and none of their packets is RDMA. */
static void test_keep_rdma(void **state)
{
	struct port_users use = {.count = 4,
				 .user = {{.kind = PORT_USER_LOGIN, .name = "10.0.0.1"},
					  {.kind = PORT_USER_QP, .name = "ib_write_bw"},
					  {.kind = PORT_USER_BOND, .name = "bond0"},
					  {.kind = PORT_USER_NFS, .name = "srv"}}};

	(void)state;
	port_users_keep_rdma(&use);
	assert_int_equal(use.count, 2);
	assert_string_equal(use.user[0].name, "ib_write_bw");
	assert_string_equal(use.user[1].name, "srv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_qps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_qps_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_login, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_above, set_up, tear_down),
		cmocka_unit_test(test_keep_rdma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
