/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses: which texts are one, and what is inside.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/io/destination.h"

static void test_texts(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"h1",
		"198.18.0.0/33",
		"198.18.0.0/",
		"198.18.0/24",
		"fe80::/129",
		"198.18.0.1/x",
		"::1/ 4",
		"198.18.0.1/-1",
		"1.2.3.4/8/8",
		"1.2.3.4,x,::",
	};
	struct address_ranges r = {.count = 7};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(&e, 0, sizeof(e));
		if (address_ranges_parse(bad[i], &r, &e) != -EINVAL || !strstr(e.text, "expected"))
			fail_msg("'%s': %s", bad[i], e.text);
		assert_int_equal(r.count, 7);
	}
	assert_int_equal(
		address_ranges_parse("::,::,::,::,::,::,::,::,::,::,::,::,::,::,::,::,::", &r, &e),
		-EINVAL);
}

static void test_inside(void **state)
{
	static const struct {
		const char *ranges, *address;
		bool want;
	} cases[] = {
		{"198.18.0.1", "198.18.0.1", true},
		{"198.18.0.1", "198.18.0.2", false},
		{"198.18.0.0/24", "198.18.0.255", true},
		{"198.18.0.0/24", "198.18.1.0", false},
		{"198.18.0.0/23", "198.18.1.0", true},
		{"198.18.0.128/25", "198.18.0.127", false},
		{"0.0.0.0/0", "203.0.113.9", true},
		{"0.0.0.0/0", "2001:db8::1", false},
		{"::/0", "203.0.113.9", true},
		{"2001:db8::/33", "2001:db8:7fff::1", true},
		{"2001:db8::/33", "2001:db8:8000::1", false},
		{"fe80::/10", "febf::1", true},
		{"fe80::/10", "fec0::1", false},
		{"10.0.0.1,198.18.0.0/16", "198.18.7.7", true},
		{"10.0.0.1,198.18.0.0/16", "10.0.0.2", false},
		{"::ffff:198.18.0.1", "198.18.0.1", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t address[16] = {[10] = 0xff, [11] = 0xff};
		struct address_ranges r;
		struct err e = {0};

		if (inet_pton(AF_INET, cases[i].address, address + 12) != 1)
			assert_int_equal(inet_pton(AF_INET6, cases[i].address, address), 1);
		if (address_ranges_parse(cases[i].ranges, &r, &e) ||
		    address_ranges_have(&r, address) != cases[i].want)
			fail_msg("%s in %s: %s", cases[i].address, cases[i].ranges, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
