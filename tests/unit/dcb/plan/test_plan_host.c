/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host adds to a plan: a kernel that is too old or locked down, a bond around the port. The
 * host is a folder of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "dcb/plan/plan.h"

static struct qos from_text(const char *json)
{
	json_t *j = json_loads(json, 0, NULL);
	struct qos q = {0};
	struct err e = {0};

	assert_non_null(j);
	if (qos_from_json(j, &q, &e))
		fail_msg("%s: %s", json, e.text);
	json_decref(j);
	return q;
}

/* Names of the steps in order, "!" before those that cannot be run. */
static void steps_text(const struct plan *p, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < p->count; i++)
		used += snprintf(buf + used, size - used, "%s%s%s", i ? " " : "",
				 p->step[i].cannot ? "!" : "", qos_fields[p->step[i].field].key);
}

/* Cases are written with single quotes. */
static struct qos parse(const char *body)
{
	char text[2048];

	snprintf(text, sizeof(text), "{%s}", body);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	return from_text(text);
}

/* A kernel that would skip PCP entries is told from one that takes them. */
static void test_kernel(void **state)
{
	static const struct {
		const char *release, *have, *steps;
	} rows[] = {
		{"6.1.0-56-amd64", "'app':{'entries':[]}", "!app.entries"},
		{"5.14.0-503.el9.x86_64", "'app':{'entries':[]}", "!app.entries"},
		{"5.14.0-503.el9.x86_64", "'app':{'entries':[],'trust':['pcp']}", "app.entries"},
		{"6.2.0", "'app':{'entries':[]}", "app.entries"},
		{"7.0.1", "'app':{'entries':[]}", "app.entries"},
		{"strange", "'app':{'entries':[]}", "app.entries"},
	};
	struct dcb dcb = {.ioctl_fd = socket(AF_INET, SOCK_DGRAM, 0), .configfs_fd = -1};
	struct profile *profile = calloc(1, sizeof(*profile));
	struct err e = {0};
	char text[128];
	struct plan p;

	(void)state;
	assert_true(dcb.ioctl_fd >= 0);
	profile->qos = parse("'app':{'entries':[{'selector':'pcp','protocol':3,'prio':3}]}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct qos have = parse(rows[i].have);

		strcpy(dcb.release, rows[i].release);
		if (plan_port(&dcb, profile, "lo", NULL, 0, &have, &p, &e))
			fail_msg("%s", e.text);
		steps_text(&p, text, sizeof(text));
		if (strcmp(text, rows[i].steps))
			fail_msg("%s: %s", rows[i].release, text);
	}
	close(dcb.ioctl_fd);
	free(profile);
}

/* A kernel that is locked down hides what the device may have. */
static void test_lockdown(void **state)
{
	static const struct {
		const char *lockdown, *reason;
		bool debugfs;
	} rows[] = {
		{"none [integrity] confidentiality",
		 "the device does not offer it, or kernel lockdown blocks debugfs", true},
		{"[none] integrity confidentiality", "the device does not offer it", true},
		{NULL, "the device does not offer it", true},
		{NULL,
		 "the device does not offer it, or debugfs is not mounted or not readable by this "
		 "user",
		 false},
	};
	char root[] = "/tmp/test_plan_host.XXXXXX", path[80], command[256];
	struct profile *profile = calloc(1, sizeof(*profile));
	struct dcb dcb = {.ioctl_fd = socket(AF_INET, SOCK_DGRAM, 0), .configfs_fd = -1};
	struct qos have = {0};
	struct err e = {0};
	struct plan p;

	(void)state;
	assert_non_null(mkdtemp(root));
	dcb.sysfs_fd = open(root, O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/kernel/security", root);
	profile->qos = parse("'congestion_control':{'np':{'cnp_dscp':46}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].lockdown)
			snprintf(command, sizeof(command), "mkdir -p %s && echo '%s' >%s/lockdown",
				 path, rows[i].lockdown, path);
		else
			snprintf(command, sizeof(command), "rm -rf %s", path);
		assert_int_equal(system(command), 0);
		dcb.debugfs_fd = rows[i].debugfs ? dcb.sysfs_fd : -1;
		if (plan_port(&dcb, profile, "lo", NULL, 0, &have, &p, &e))
			fail_msg("%s", e.text);
		assert_true(p.step[0].cannot);
		assert_string_equal(p.step[0].reason, rows[i].reason);
	}
	snprintf(command, sizeof(command), "rm -rf %.40s", root);
	assert_int_equal(system(command), 0);
	close(dcb.sysfs_fd);
	close(dcb.ioctl_fd);
	free(profile);
}

/* ice sets no DCB in a bond, but all else; others do. */
static void test_bond(void **state)
{
	static const struct {
		const char *driver, *steps;
	} rows[] = {{"ice", "mtu.netdev !pfc.enabled"}, {"mlx5_core", "mtu.netdev pfc.enabled"}};
	struct qos want = parse("'pfc':{'enabled':[1]},'mtu':{'netdev':9000}");
	struct qos have = parse("'pfc':{'enabled':[]},'mtu':{'netdev':1500}");
	char root[] = "/tmp/test_plan_host.XXXXXX", command[256], text[128];
	int line[QOS_FIELD_COUNT] = {0};
	struct dcb dcb = {.configfs_fd = -1, .debugfs_fd = -1};
	struct plan p;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "mkdir -p %s/class/net/eth0/master/bonding && cd %s/class/net/eth0/master/bonding "
		 "&& echo '802.3ad 4' >mode",
		 root, root);
	assert_int_equal(system(command), 0);
	dcb.sysfs_fd = open(root, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		plan_make(&want, line, &have, rows[i].driver, &p);
		strcpy(p.ifname, "eth1");
		plan_check_host(&dcb, &have, &p);
		assert_int_equal(plan_changes(&p), 2);
		strcpy(p.ifname, "eth0");
		plan_check_host(&dcb, &have, &p);
		steps_text(&p, text, sizeof(text));
		assert_string_equal(text, rows[i].steps);
	}
	close(dcb.sysfs_fd);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_bond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
