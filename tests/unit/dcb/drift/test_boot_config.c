/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units that call QoS tools: words and parts of words, comments, and a root of folders with enabled
 * units and what is only installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "dcb/drift/boot_config.h"
#include "dcb/drift/owner.h"

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
		const char *tool = boot_config_tool(cases[i].text), *want = cases[i].tool;

		if (!tool != !want || (tool && strcmp(tool, want)))
			fail_msg("'%s': %s", cases[i].text, tool ? tool : "none");
	}
}

static void test_root(void **state)
{
	char root[] = "/tmp/test_reapply.XXXXXX", command[1024];
	struct owner found[8];

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(boot_config_find(root, found, 8), 0);
	/* Only units are read. */
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p etc/systemd/system/a.target.wants etc/cron.d "
		 "etc/NetworkManager/dispatcher.d && cd etc && "
		 "echo '* * * * * root lldptool -T' >cron.d/qos && echo 'dcb app' >rc.local && "
		 "echo 'dcb app' >NetworkManager/dispatcher.d/a && cd systemd/system && "
		 "echo 'ExecStart=/usr/bin/mlnx_qos' >installed.service && "
		 "echo 'ExecStart=/usr/bin/mlnx_qos' >qos.service && "
		 "ln -s ../gone.service ../qos.service a.target.wants/ && mkdir -p b.target.wants "
		 "&& "
		 "printf '\\0\\0dcb app\\n' >nul.service && ln -s ../nul.service b.target.wants/",
		 root);
	assert_int_equal(system(command), 0);
	assert_int_equal(boot_config_find(root, found, 8), 2);
	if (!strcmp(found[0].name, "dcb")) { /* folders have no order */
		found[7] = found[0];
		found[0] = found[1];
		found[1] = found[7];
	}
	assert_string_equal(found[0].path, "etc/systemd/system/a.target.wants/qos.service");
	assert_string_equal(found[0].name, "mlnx_qos");
	assert_string_equal(found[1].path, "etc/systemd/system/b.target.wants/nul.service");
	assert_string_equal(found[1].name, "dcb");
	assert_string_equal(found[1].via, "");
	assert_int_equal(boot_config_find(root, found, 1), 1);
	assert_int_equal(boot_config_find(root, found, 0), 0);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(boot_config_find("/no/such", found, 8), 0);
}

/* What a unit starts: one enabled unit each in a root of its own. */
static const struct {
	const char *name, *make, *path, *via, *tool;
} started[] = {
	{"a timer",
	 "unit qos.timer '[Timer]\nOnUnitActiveSec=20'; "
	 "unit qos.service 'ExecStart=/usr/bin/mlnx_qos -i eth0'; want qos.timer",
	 "qos.timer", "/lib/systemd/system/qos.service", "mlnx_qos"},
	{"a timer of another unit",
	 "unit t.timer 'Unit=x.service\nUnit=qos.service'; "
	 "unit qos.service 'ExecStart=dcb app'; want t.timer",
	 "t.timer", "/lib/systemd/system/qos.service", "dcb"},
	{"a path unit",
	 "unit q.path 'PathChanged=/etc/q'; unit q.service 'ExecStart=lldptool'; want "
	 "q.path",
	 "q.path", "/lib/systemd/system/q.service", "lldptool"},
	{"an instance of a template",
	 "unit q@.timer 'x=y'; unit q@.service 'ExecStart=dcb pfc'; want q@eth0.timer",
	 "q@eth0.timer", "/lib/systemd/system/q@.service", "dcb"},
	{"a script is not read",
	 "unit q.service 'ExecStart=/opt/q.sh eth0'; file opt/q.sh '#!/bin/sh\nmlnx_qos'; "
	 "want q.service",
	 NULL, NULL, NULL},
	{"a masked service",
	 "unit q.timer 'x=y'; unit q.service 'ExecStart=dcb'; want q.timer; "
	 "ln -s /dev/null etc/systemd/system/q.service",
	 NULL, NULL, NULL},
	{"a masked timer",
	 "unit q.timer 'x=y'; unit q.service 'ExecStart=dcb'; want q.timer; "
	 "ln -s /dev/null etc/systemd/system/q.timer",
	 NULL, NULL, NULL},
	{"one that is not enabled", "unit q.timer 'x=y'; unit q.service 'ExecStart=dcb'", NULL,
	 NULL, NULL},
	{"a name that leaves the folders",
	 "unit q.timer 'Unit=../../../opt/q'; file opt/q 'dcb'; want q.timer", NULL, NULL, NULL},
};

static void test_started(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(started); i++) {
		char root[] = "/tmp/test_reapply.XXXXXX", command[2048], path[256] = "";
		struct owner found[2];
		unsigned int n;

		assert_non_null(mkdtemp(root));
		snprintf(command, sizeof(command),
			 "cd %s && mkdir -p lib/systemd/system etc/systemd/system/a.target.wants "
			 "opt; "
			 "file() { printf -- \"$2\\n\" >$1; }; "
			 "unit() { file lib/systemd/system/$1 \"$2\"; }; "
			 "want() { ln -s /nowhere/$1 etc/systemd/system/a.target.wants/; }; %s",
			 root, started[i].make);
		assert_int_equal(system(command), 0);
		n = boot_config_find(root, found, 2);
		if (started[i].path)
			snprintf(path, sizeof(path), "etc/systemd/system/a.target.wants/%s",
				 started[i].path);
		if (n != (started[i].path != NULL))
			fail_msg("%s: %u found", started[i].name, n);
		if (n && (strcmp(found[0].path, path) || strcmp(found[0].via, started[i].via) ||
			  strcmp(found[0].name, started[i].tool)))
			fail_msg("%s: %s %s %s", started[i].name, found[0].path, found[0].via,
				 found[0].name);
		snprintf(command, sizeof(command), "rm -rf %s", root);
		assert_int_equal(system(command), 0);
	}
}

/* A device in place of a unit: opening it might do something. */
static void test_device(void **state)
{
	char root[] = "/tmp/test_reapply.XXXXXX", command[512], path[64], event[1024];
	struct owner found[8];
	int watch;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p etc/systemd/system/a.target.wants && mkfifo device && "
		 "ln -s ../../../device etc/systemd/system/w.service && "
		 "ln -s ../w.service etc/systemd/system/a.target.wants/",
		 root);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/device", root);
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(boot_config_find(root, found, 8), 0);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_started),
		cmocka_unit_test(test_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
