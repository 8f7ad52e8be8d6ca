/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bonds, VLANs and bridges out of a sysfs of files: two layers, a port reached twice, a circle, too
 * many, an empty bond, and a stacked device that is a port itself.
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

#include "dcb/kernel/sysfs.h"
#include "profiles/base/base.h"

static const char tree[] =
	"cd %s && mkdir -p class/net && cd class/net && "
	"dev() { mkdir -p $1; echo \"INTERFACE=$1\" >$1/uevent; "
	"[ -z \"$2\" ] || echo \"DEVTYPE=$2\" >>$1/uevent; shift 2; "
	"for l; do mkdir $n/lower_$l; mkdir -p $l/upper_$n; done; }; "
	"for d in 'eth1 -' 'eth0 -' 'bond0 bond eth1 eth0' 'v10 vlan bond0' "
	"'v20 vlan br0' 'q vlan v10' "
	"'br0 bridge v10 eth0 eth2' 'eth2 -' 'loop vlan loop2' 'loop2 vlan loop' 'empty bond' "
	"'mac0 macvlan eth0'; do set -- $d; n=$1; dev \"$@\"; done; "
	"set -- big bond; n=big; for i in $(seq 17); do set -- \"$@\" p$i; done; dev \"$@\"; "
	"for i in $(seq 17); do n=m$i; dev m$i vlan many; done";

struct resolve_case {
	const char *netdev;
	int err;
	const char *want;
};

typedef int resolve(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *found,
		    struct err *e);

static void walk(resolve *one, const struct resolve_case *cases, size_t count)
{
	char root[] = "/tmp/test_resolve.XXXXXX", command[2048], text[128];
	struct dcb_roots roots = {.sysfs = root, .configfs = root};
	struct err e = {0};
	struct dcb *dcb;

	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), tree, root);
	assert_int_equal(system(command), 0);
	assert_int_equal(dcb_open(&roots, &dcb, &e), 0);
	for (size_t i = 0; i < count; i++) {
		struct sysfs_netdevs found = {0};
		int err = one(dcb, cases[i].netdev, &found, &e);
		size_t used = 0;

		text[0] = '\0';
		for (unsigned int k = 0; k < found.count; k++)
			used += snprintf(text + used, sizeof(text) - used, "%s ", found.netdev[k]);
		if (err != cases[i].err || strcmp(text, cases[i].want))
			fail_msg("%s: %d '%s'", cases[i].netdev, err, text);
	}
	dcb_close(dcb);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

/* The VLAN devices above each. */
static void test_vlans(void **state)
{
	static const struct resolve_case cases[] = {
		{"eth0", 0, "q v10 v20 "},
		{"eth1", 0, "q v10 v20 "},
		{"eth2", 0, "v20 "},
		{"v10", 0, "q v20 "},
		{"q", 0, ""},
		{"mac0", 0, ""},
		{"absent", 0, ""},
		{"loop", -ELOOP, ""},
		{"many", -E2BIG, ""},
		{"../net/eth0", -EINVAL, ""},
	};

	(void)state;
	walk(sysfs_upper_vlans, cases, ARRAY_SIZE(cases));
}

static void test_ports(void **state)
{
	static const struct resolve_case cases[] = {
		{"eth0", 0, "eth0 "},
		{"bond0", 0, "eth0 eth1 "},
		{"v10", 0, "eth0 eth1 "},
		{"br0", 0, "eth0 eth1 eth2 "},
		{"mac0", 0, "mac0 "},
		{"empty", 0, "empty "},
		{"absent", 0, "absent "},
		{"loop", -ELOOP, ""},
		{"big", -E2BIG, ""},
		{"../net/bond0", -EINVAL, ""},
		{"nameof16letters.", -EINVAL, ""},
	};

	(void)state;
	walk(sysfs_lower_ports, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports),
					   cmocka_unit_test(test_vlans)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
