/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the host's IP stack, out of texts of /proc/net/netstat and /proc/net/snmp6.
 */
#include "probe/host/counters_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Names of the first group that is called so, and of snmp6; what is no number is no counter. */
static void test_names(void **state)
{
	static const char other[] = "TcpExt: A InCEPkts\nTcpExt: 1 2\n";
	static const struct {
		const char *name, *netstat, *snmp6, *pattern;
		bool found;
		uint64_t want;
	} cases[] = {
		{"IPv4", "IpExt: InOctets InCEPkts\nIpExt: 5 7\n", "", "InCEPkts", true, 7},
		{"both", "IpExt: InCEPkts\nIpExt: 7\n", "Ip6InCEPkts   \t3\n",
		 "InCEPkts+Ip6InCEPkts", true, 10},
		{"IPv6 in the middle", "", "A 1\nIp6InCEPkts \t4\nB 2\n", "Ip6InCEPkts", true, 4},
		{"another group", other, "", "InCEPkts", false, 0},
		{"names without values", "IpExt: InCEPkts\n", "", "InCEPkts", false, 0},
		{"fewer values", "IpExt: A InCEPkts\nIpExt: 1\n", "", "InCEPkts", false, 0},
		{"more values", "IpExt: InCEPkts\nIpExt: 1 2 3\n", "", "InCEPkts", true, 1},
		{"cut in a name", "IpExt: A InCE", "", "InCE", false, 0},
		{"no newline at the end", "IpExt: InCEPkts\nIpExt: 12", "", "InCEPkts", true, 12},
		{"glued", "IpExt: InCEPkts\nIpExt: 12x\n", "", "InCEPkts", false, 0},
		{"negative", "IpExt: InCEPkts\nIpExt: -1\n", "", "InCEPkts", false, 0},
		{"beyond 64 bits", "IpExt: InCEPkts\nIpExt: 99999999999999999999\n", "", "InCEPkts",
		 false, 0},
		{"a line without a value", "", "Ip6InCEPkts\nB 2\n", "Ip6InCEPkts", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counters_index index = {0};
		uint64_t value = 0;
		bool found;

		assert_int_equal(counters_ip_parse(cases[i].netstat, cases[i].snmp6, &index), 0);
		found = counters_index_get(&index, cases[i].pattern, 0, &value);
		if (found != cases[i].found || value != cases[i].want)
			fail_msg("%s: %d %llu", cases[i].name, found, (unsigned long long)value);
		counters_index_clear(&index);
	}
}

/* More names than there is room for: no more, and no harm. */
static void test_too_many(void **state)
{
	struct counters_index index = {0};
	char *text = malloc(2000 * 16);
	uint64_t value;
	size_t used = 0;

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < 2000; i++)
		used += (size_t)snprintf(text + used, 16, "N%u %u\n", i, i);
	assert_int_equal(counters_ip_parse("", text, &index), 0);
	assert_true(counters_index_get(&index, "N7", 0, &value));
	assert_int_equal(value, 7);
	assert_false(counters_index_get(&index, "N1999", 0, &value));
	counters_index_clear(&index);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
