/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else sets DCB, each in a /proc and / of files: running, started at boot, configured and not,
 * and what is told of it.
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
#include <unistd.h>

#include "dcb/drift/owner.h"

/* Shell functions that make a tree: a process, a unit that is installed, its link, a file. */
#define TREE                                                                                       \
	"cd %s && mkdir -p proc/net etc/systemd/system/a.target.wants lib/systemd/system "         \
	"etc/lldpd.d etc/NetworkManager/system-connections; : >proc/net/unix; "                    \
	"runs() { mkdir -p proc/$1 bin; echo $2 >proc/$1/comm; touch bin/$2; "                     \
	"chmod 755 bin/$2; ln -s $PWD/bin/$2 proc/$1/exe; uid=${3:-0}; "                           \
	"echo \"Uid:\t$uid\t0\t0\t0\" >proc/$1/status; }; "                                        \
	"socket() { echo '0: 2 0 0 2 01 1 @/com/intel/lldpad' >proc/net/unix; }; "                 \
	"unit() { echo '[Unit]' >lib/systemd/system/$1; }; "                                       \
	"want() { ln -s /lib/systemd/system/$1 etc/systemd/system/a.target.wants/; }; "            \
	"mask() { ln -s /dev/null etc/systemd/system/$1; }; "                                      \
	"file() { printf \"$2\" >etc/$1; }; nm() { file NetworkManager/system-connections/$1 "     \
	"\"$2\"; }; %s"

#define DCB_CONNECTION                                                                             \
	"[connection]\\nid=store\\ninterface-name=eth0\\n[dcb]\\npriority-flow-control-flags=1\\n"
#define PFC_TLV "configure lldp custom-tlv oui 00,80,c2 subtype 11 oui-info 08,08\\n"

static const struct owner_case {
	const char *name, *make;
	const char *text, *hint; /* of the first one found; NULL: nobody */
} cases[] = {
	{"nobody", "runs 7 sh", NULL, NULL},
	{"lldpad runs", "runs 42 lldpad; socket",
	 "lldpad (pid 42) is running: it writes its own ETS and PFC with every LLDPDU",
	 "systemctl disable --now lldpad.socket lldpad.service, or let lldpad set the port: "
	 "'dcbx.agent: lldpad'"},
	{"a stranger has the name of its socket", "runs 812 perl 65534; socket",
	 "a process that is not lldpad (uid unknown) holds lldpad's socket name, so lldpad cannot "
	 "start",
	 "find the process: ss -xlp | grep com/intel/lldpad"},
	{"a set-uid program that is called lldpad", "runs 42 lldpad 65534; socket",
	 "a process that is not lldpad (uid unknown) holds lldpad's socket name, so lldpad cannot "
	 "start",
	 "find the process: ss -xlp | grep com/intel/lldpad"},
	{"lldpad at boot", "unit lldpad.service; want lldpad.service",
	 "lldpad is not running, but /etc/systemd/system/a.target.wants/lldpad.service starts it "
	 "at boot, and lldpad then writes its own ETS and PFC",
	 "systemctl disable lldpad.socket lldpad.service, or let lldpad set the port: "
	 "'dcbx.agent: lldpad'"},
	{"its socket at boot", "unit lldpad.socket; want lldpad.socket",
	 "lldpad is not running, but /etc/systemd/system/a.target.wants/lldpad.socket starts it "
	 "at boot, and lldpad then writes its own ETS and PFC",
	 "systemctl disable lldpad.socket lldpad.service, or let lldpad set the port: "
	 "'dcbx.agent: lldpad'"},
	{"lldpad installed, not enabled", "unit lldpad.service; unit lldpad.socket", NULL, NULL},
	{"lldpad masked", "unit lldpad.service; want lldpad.service; mask lldpad.service", NULL,
	 NULL},
	{"a link that lldpad left behind", "want lldpad.service", NULL, NULL},
	{"lldpd runs and is told nothing", "runs 9 lldpd", NULL, NULL},
	{"lldpd with other TLVs",
	 "runs 9 lldpd; file lldpd.conf '"
	 "configure system hostname x\\nconfigure dot3 power pse\\n"
	 "configure lldp custom-tlv oui 00,80,c2 subtype 3 oui-info 01\\n"
	 "configure lldp custom-tlv oui 33,44,55 subtype 11\\n"
	 "unconfigure lldp custom-tlv oui 00,80,c2 subtype 11\\n"
	 "# " PFC_TLV "'",
	 NULL, NULL},
	{"lldpd sends PFC", "runs 9 lldpd; file lldpd.d/x.conf '" PFC_TLV "'",
	 "lldpd sends its own DCBX TLVs (/etc/lldpd.d/x.conf): the switch sees those, not the "
	 "settings of the port",
	 "remove the custom-tlv lines and restart lldpd; without them lldpd neither sets nor sends "
	 "DCB"},
	{"lldpd sends the dialect before, shortly written",
	 "unit lldpd.service; want lldpd.service; file lldpd.conf '"
	 "conf ports eth0 lldp custom add oui 00,1B,21 sub 2 oui-info 01\\n'",
	 "lldpd sends its own DCBX TLVs (/etc/lldpd.conf): the switch sees those, not the "
	 "settings of the port",
	 "remove the custom-tlv lines and restart lldpd; without them lldpd neither sets nor sends "
	 "DCB"},
	{"lldpd of a user's", "runs 9 lldpd 65534; file lldpd.d/x.conf '" PFC_TLV "'", NULL, NULL},
	{"lldpd would, but does not run", "file lldpd.conf '" PFC_TLV "'", NULL, NULL},
	{"a file of another name", "runs 9 lldpd; file lldpd.d/x.conf.old '" PFC_TLV "'", NULL,
	 NULL},
	{"NetworkManager runs", "runs 5 NetworkManager; nm a '" DCB_CONNECTION "'",
	 "NetworkManager connection 'store' (/etc/NetworkManager/system-connections/a) sets DCB "
	 "whenever it comes up",
	 "nmcli connection modify 'store' remove dcb"},
	{"NetworkManager at boot, a connection of any device",
	 "unit NetworkManager.service; want NetworkManager.service; "
	 "nm a '[connection]\\nid = any one\\n[dcb]\\n'",
	 "NetworkManager connection 'any one' (/etc/NetworkManager/system-connections/a) sets "
	 "DCB whenever it comes up",
	 "nmcli connection modify 'any one' remove dcb"},
	{"of another device",
	 "runs 5 NetworkManager; nm a '[connection]\\ninterface-name=eth7\\n[dcb]\\n'", NULL, NULL},
	{"no DCB", "runs 5 NetworkManager; nm a '[connection]\\nid=[dcb]\\n[ipv4]\\n#[dcb]\\n'",
	 NULL, NULL},
	{"NetworkManager of a user's", "runs 5 NetworkManager 65534; nm a '" DCB_CONNECTION "'",
	 NULL, NULL},
	{"NetworkManager is not there", "nm a '" DCB_CONNECTION "'", NULL, NULL},
	{"a name that ends a quote",
	 "runs 5 NetworkManager; nm a \"[connection]\\nid=a'; reboot\\033\\n[dcb]\\n\"",
	 "NetworkManager connection 'a?; reboot?' (/etc/NetworkManager/system-connections/a) "
	 "sets "
	 "DCB whenever it comes up",
	 "nmcli connection modify 'a?; reboot?' remove dcb"},
	{"a timer",
	 "unit q.timer; echo ExecStart=/opt/mlnx_qos -i eth0 >lib/systemd/system/q.service; "
	 "want q.timer",
	 "/etc/systemd/system/a.target.wants/q.timer runs mlnx_qos (in "
	 "/lib/systemd/system/q.service), which may overwrite these settings",
	 "disable it, or make it run 'rocecheck apply' instead"},
	{"a unit", "echo ExecStart=lldptool -T >lib/systemd/system/x.service; want x.service",
	 "/etc/systemd/system/a.target.wants/x.service runs lldptool, which may overwrite these "
	 "settings",
	 "disable it, or make it run 'rocecheck apply' instead"},
};

/* Finds at most max in a tree. */
static unsigned int find(const char *make, struct owner *found, unsigned int max)
{
	static const char *const ports[] = {"eth1", "eth0"};
	char dir[] = "/tmp/test_owner.XXXXXX", command[4096], proc[64];
	const struct owner_roots roots = {.proc = proc, .root = dir};
	unsigned int n;

	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), TREE, dir, make);
	assert_int_equal(system(command), 0);
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	n = owner_find(&roots, ports, ARRAY_SIZE(ports), found, max);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	return n;
}

static void test_cases(void **state)
{
	uint32_t seen = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct owner_case *c = &cases[i];
		struct owner found[4];
		struct err e = {0};
		unsigned int n = find(c->make, found, ARRAY_SIZE(found));

		if (n != (c->text != NULL))
			fail_msg("%s: %u found", c->name, n);
		if (!n)
			continue;
		seen |= 1u << found[0].kind;
		assert_true(owner_is_lldpad(&found[0]) == !strncmp(c->text, "lldpad ", 7));
		/* A user's process keeps root from nothing. */
		assert_true(owner_blocks(&found[0]) == (found[0].kind != OWNER_FOREIGN_SOCKET));
		assert_int_equal(owner_report(&found[0], &e), -EBUSY);
		if (strcmp(e.text, c->text) || strcmp(e.hint, c->hint))
			fail_msg("%s: '%s', '%s'", c->name, e.text, e.hint);
	}
	/* Every kind has a case, or one of its own. */
	assert_int_equal(seen | 1u << OWNER_LLDPAD_SOCKET, (1u << OWNER_KIND_COUNT) - 1);
}

static void test_several(void **state)
{
	static const char make[] = "runs 42 lldpad; socket; runs 9 lldpd; file lldpd.conf '" PFC_TLV
				   "'; runs 5 NetworkManager; nm a '" DCB_CONNECTION
				   "'; nm b '" DCB_CONNECTION
				   "'; echo dcb >lib/systemd/system/x.service; want x.service; "
				   "unit lldpad.service; want lldpad.service";
	static const enum owner_kind want[] = {OWNER_LLDPAD, OWNER_LLDPD, OWNER_NETWORKMANAGER,
					       OWNER_NETWORKMANAGER, OWNER_BOOT_CONFIG};
	struct owner found[8];
	const struct owner_roots none = {.proc = "/no/such", .root = "/no/such"};

	(void)state;
	assert_int_equal(find(make, found, ARRAY_SIZE(found)), ARRAY_SIZE(want));
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(found[i].kind, want[i]);
	for (unsigned int max = 0; max < ARRAY_SIZE(want); max++)
		assert_int_equal(find(make, found, max), max);
	assert_int_equal(owner_find(&none, NULL, 0, found, ARRAY_SIZE(found)), 0);
}

/* Who made a socket the kernel alone says: found in test_lldpad_process.c and
 * tests/golden/owner.bats. */
static void test_waiting(void **state)
{
	const struct owner waits = {.kind = OWNER_LLDPAD_SOCKET};
	struct err e = {0};

	(void)state;
	assert_true(owner_is_lldpad(&waits));
	assert_true(owner_blocks(&waits));
	assert_int_equal(owner_report(&waits, &e), -EBUSY);
	assert_string_equal(e.text, "the first use of lldpad.socket starts lldpad, and lldpad then "
				    "writes its own ETS and PFC");
	assert_string_equal(e.hint, "systemctl disable --now lldpad.socket, or let lldpad set the "
				    "port: 'dcbx.agent: lldpad'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
