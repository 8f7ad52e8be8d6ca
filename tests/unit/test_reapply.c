/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that call QoS tools: words and parts of words, comments, and a root of folders with enabled
 * units, hooks and what is only installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/reapply.h"
#include "profiles/base.h"

static void test_texts(void **state)
{
	static const struct {
		const char *text, *tool;
	} cases[] = {
		{"", NULL},
		{"ExecStart=/usr/bin/mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n", "mlnx_qos"},
		{"[Service]\nExecStart=/usr/sbin/dcb pfc set dev eth0", "dcb"},
		{"dcbx=on\n", NULL},
		{"/opt/dcb-tools/run\n", NULL},
		{"# mlnx_qos was here\n ; lldptool\n", NULL},
		{"sleep 20; lldptool -T\n", "lldptool"},
		{"true # dcb app\n", NULL},
		{"while true\ndo cma_roce_tos -d mlx5_0 -t 106\n", "cma_roce_tos"},
		{"xlldptool lldptoolx\n", NULL},
		{"a lldptool", "lldptool"},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *tool = reapply_tool(cases[i].text), *want = cases[i].tool;

		if (!tool != !want || (tool && strcmp(tool, want)))
			fail_msg("'%s': %s", cases[i].text, tool ? tool : "none");
	}
}

static void test_root(void **state)
{
	char root[] = "/tmp/test_reapply.XXXXXX", command[1024];
	struct reapply found[8];

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(reapply_find(root, found, 8), 0);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p etc/systemd/system/multi-user.target.wants etc/cron.d "
		 "etc/NetworkManager/dispatcher.d/pre-up.d && cd etc && "
		 "echo 'ExecStart=/usr/bin/mlnx_qos' >systemd/system/installed.service && "
		 "echo 'ExecStart=/usr/bin/mlnx_qos' >systemd/system/qos.service && "
		 "ln -s ../qos.service systemd/system/multi-user.target.wants/ && "
		 "ln -s ../gone.service systemd/system/multi-user.target.wants/ && "
		 "echo '* * * * * root lldptool -T' >cron.d/qos && mkfifo cron.d/fifo && "
		 "printf '\\0\\0dcb app\\n' >rc.local && echo nothing "
		 ">NetworkManager/dispatcher.d/a",
		 root);
	assert_int_equal(system(command), 0);
	assert_int_equal(reapply_find(root, found, 8), 3);
	assert_string_equal(found[0].path,
			    "/etc/systemd/system/multi-user.target.wants/qos.service");
	assert_string_equal(found[0].tool, "mlnx_qos");
	assert_string_equal(found[1].path, "/etc/cron.d/qos");
	assert_string_equal(found[2].tool, "dcb");
	assert_int_equal(reapply_find(root, found, 1), 1);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(reapply_find("/no/such", found, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
