/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Destinations of traffic: the address of the control connection, what is allowed beside it, and
 * the words of a refusal.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/io/destination.h"

static void gid_of(const char *text, uint8_t gid[16])
{
	if (inet_pton(AF_INET6, text, gid) != 1)
		fail_msg("%s", text);
}

static void test_check(void **state)
{
	static const struct {
		const char *address, *more, *gid;
		bool want;
	} cases[] = {
		{"198.18.0.1", NULL, "::ffff:198.18.0.1", true},
		{"198.18.0.1", NULL, "::ffff:198.18.0.2", false},
		{"198.18.0.1", NULL, "::198.18.0.1", false}, /* not mapped */
		{"198.18.0.1", NULL, "2001:db8::1", false},
		{"198.18.0.1", NULL, "fe80::1", false},
		{"2001:db8::1", NULL, "2001:db8::1", true},
		{"2001:db8::1", NULL, "2001:db8::2", false},
		{"2001:db8::1", NULL, "::ffff:198.18.0.1", false},
		{"198.18.0.1", "198.18.4.0/24,2001:db8::/64", "::ffff:198.18.0.1", true},
		{"198.18.0.1", "198.18.4.0/24,2001:db8::/64", "::ffff:198.18.4.77", true},
		{"198.18.0.1", "198.18.4.0/24,2001:db8::/64", "2001:db8::5", true},
		{"198.18.0.1", "198.18.4.0/24,2001:db8::/64", "::ffff:198.18.5.1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct destinations d;
		struct err e = {0};
		uint8_t gid[16];

		gid_of(cases[i].gid, gid);
		assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, cases[i].address,
						   cases[i].more, &d, &e),
				 0);
		if (destinations_check(&d, gid, &e) != (cases[i].want ? 0 : -EPERM))
			fail_msg("%s for %s: %s", cases[i].gid, cases[i].address, e.text);
		assert_int_equal(destinations_check(&d, gid, NULL), cases[i].want ? 0 : -EPERM);
	}
}

static void test_words(void **state)
{
	static const struct {
		enum destination_owner owner;
		const char *text, *hint;
	} cases[DESTINATION_OWNERS] = {
		{DESTINATION_OF_SERVER, "control connection, 198.18.0.1",
		 "start the server with --peer-address 2001:db8::5"},
		{DESTINATION_OF_CLIENT, "control connection, 198.18.0.1",
		 "start the client with --peer-address 2001:db8::5"},
		{DESTINATION_OF_AGENT, "the agent's --peer-address, 198.18.0.1",
		 "start the agent with --peer-address 2001:db8::5"},
		{DESTINATION_OF_FABRIC, "inventory and snapshot, 198.18.0.1", "addresses"},
	};
	uint8_t elsewhere[16], at[16];

	(void)state;
	gid_of("2001:db8::5", elsewhere);
	gid_of("::ffff:198.18.0.1", at);
	for (size_t i = 0; i < DESTINATION_OWNERS; i++) {
		struct destinations d;
		struct err e = {0};

		assert_int_equal(cases[i].owner, i);
		assert_int_equal(destinations_of_gid(cases[i].owner, at, &d, &e), 0);
		assert_int_equal(destinations_check(&d, at, &e), 0);
		assert_int_equal(destinations_check(&d, elsewhere, &e), -EPERM);
		if (!strstr(e.text, "refusing to send to 2001:db8::5: ") ||
		    !strstr(e.text, cases[i].text) || !strstr(e.hint, cases[i].hint))
			fail_msg("%s (%s)", e.text, e.hint);
	}
}

static void test_bad(void **state)
{
	static const char many[] = "::,::,::,::,::,::,::,::,::,::,::,::,::,::,::,::";
	struct destinations d = {.allowed.count = 7};
	struct err e = {0};

	(void)state;
	assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "", NULL, &d, &e), -EINVAL);
	assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "::", "h2", &d, &e), -EINVAL);
	assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "::", "", &d, &e), -EINVAL);
	/* One of them is the peer's. */
	assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "::", many, &d, &e), -EINVAL);
	assert_non_null(strstr(e.text, "at most 15"));
	assert_int_equal(d.allowed.count, 7);
	assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "::", many + 3, &d, &e), 0);
	assert_int_equal(d.allowed.count, ADDRESS_RANGES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
