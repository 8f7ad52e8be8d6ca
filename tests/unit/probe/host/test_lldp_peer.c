/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an LLDP neighbour said, joined into a port; and that listening names what it cannot open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "capture/flow/summary.h"
#include "probe/host/lldp_peer.h"

static void test_join(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct lldp_peer peer;
		const char *want_name, *want_port, *want_dialect;
	} cases[] = {
		{"nothing heard", {.system = "x"}, "", "", ""},
		{"system name",
		 {.seen = true, .chassis = "02:00", .system = "leaf2", .port = "Eth1/7",
		  .dialect = "ieee"},
		 "leaf2", "Eth1/7", "ieee"},
		{"chassis alone", {.seen = true, .chassis = "02:00", .port = "7"}, "02:00", "7",
		 ""},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lldp_peer peer = cases[i].peer;
		struct port p = {0};

		peer.qos.has = QOS_BIT(QOS_PFC_ENABLED);
		peer.qos.pfc_enabled = 1 << 3;
		lldp_peer_set_port(&p, &peer);
		assert_string_equal(p.lldp_name, cases[i].want_name);
		assert_string_equal(p.lldp_port, cases[i].want_port);
		assert_string_equal(p.lldp_dialect, cases[i].want_dialect);
		assert_int_equal(qos_has(&p.lldp_qos, QOS_PFC_ENABLED), peer.seen);
		assert_int_equal(p.lldp_qos.pfc_enabled, peer.seen ? 1 << 3 : 0);
		assert_int_equal(p.qos.has, 0);
	}
}

static void test_listen(void **state)
{
	struct port port = {.netdev = "nonic9"};
	struct snapshot s = {.port = &port, .port_count = 1};
	struct err e = {0};

	(void)state;
	assert_true(lldp_peer_listen(&s, 10, &e) < 0);
	assert_non_null(strstr(e.text, "nonic9"));
	port.netdev[0] = '\0'; /* a port without netdev is not listened on */
	assert_int_equal(lldp_peer_listen(&s, 10, &e), 0);
	assert_int_equal(port.lldp_qos.has, 0);
	s.port_count = 0;
	assert_int_equal(lldp_peer_listen(&s, 10, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
