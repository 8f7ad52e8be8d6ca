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

#include "dcb/resolve.h"
#include "profiles/base.h"

static const char tree[] =
	"cd %s && mkdir -p class/net && cd class/net && "
	"dev() { mkdir -p $1; echo \"INTERFACE=$1\" >$1/uevent; "
	"[ -z \"$2\" ] || echo \"DEVTYPE=$2\" >>$1/uevent; shift 2; "
	"for l; do mkdir $n/lower_$l; done; }; "
	"for d in 'eth1 -' 'eth0 -' 'bond0 bond eth1 eth0' 'v10 vlan bond0' "
	"'br0 bridge v10 eth0 eth2' 'eth2 -' 'loop vlan loop2' 'loop2 vlan loop' 'empty bond' "
	"'mac0 macvlan eth0'; do set -- $d; n=$1; dev \"$@\"; done; "
	"set -- big bond; n=big; for i in $(seq 17); do set -- \"$@\" p$i; done; dev \"$@\"";

static void test_ports(void **state)
{
	static const struct {
		const char *netdev;
		int err;
		const char *want;
	} cases[] = {
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
	char root[] = "/tmp/test_resolve.XXXXXX", command[1024], text[128];
	struct dcb_roots roots = {.sysfs = root, .configfs = root};
	struct err e = {0};
	struct dcb *dcb;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), tree, root);
	assert_int_equal(system(command), 0);
	assert_int_equal(dcb_open(&roots, &dcb, &e), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct resolved ports = {0};
		int err = resolve_ports(dcb, cases[i].netdev, &ports, &e);
		size_t used = 0;

		text[0] = '\0';
		for (unsigned int k = 0; k < ports.count; k++)
			used += snprintf(text + used, sizeof(text) - used, "%s ", ports.netdev[k]);
		if (err != cases[i].err || strcmp(text, cases[i].want))
			fail_msg("%s: %d '%s'", cases[i].netdev, err, text);
	}
	dcb_close(dcb);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
