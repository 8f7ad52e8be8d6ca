/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attribute iteration over hostile bytes, requests that do not fit, and talks with the kernel's own
 * rtnetlink and generic netlink (of the loopback device; skipped where there is no netlink).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/nl.h"

static void test_attributes(void **state)
{
	static const struct {
		const char *name;
		uint8_t in[24];
		size_t size;
		unsigned int want; /* attributes seen */
		uint16_t type;	   /* of the first */
		size_t data;	   /* bytes of the first */
	} cases[] = {
		{"empty", {0}, 0, 0, 0, 0},
		{"half a header", {8, 0, 1}, 3, 0, 0, 0},
		{"length below the header", {3, 0, 1, 0}, 4, 0, 0, 0},
		{"length zero", {0, 0, 1, 0, 0, 0, 0, 0}, 8, 0, 0, 0},
		{"length beyond the end", {9, 0, 1, 0, 1, 2, 3, 4}, 8, 0, 0, 0},
		{"largest length", {255, 255, 1, 0, 1, 2, 3, 4}, 8, 0, 0, 0},
		{"header alone", {4, 0, 7, 0}, 4, 1, 7, 0},
		{"one byte, padded", {5, 0, 2, 0, 9, 0, 0, 0}, 8, 1, 2, 1},
		{"one byte, padding cut off", {5, 0, 2, 0, 9}, 5, 1, 2, 1},
		{"nested flag is not the type", {4, 0, 3, 0x80}, 4, 1, 3, 0},
		{"byte order flag is not the type", {4, 0, 3, 0x40}, 4, 1, 3, 0},
		{"two", {6, 0, 1, 0, 1, 2, 0, 0, 8, 0, 2, 0, 1, 2, 3, 4}, 16, 2, 1, 2},
		{"second broken", {4, 0, 1, 0, 200, 0, 2, 0}, 8, 1, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		/* On the heap and exactly as long: the sanitizer sees a byte too far. */
		uint8_t *in = malloc(cases[i].size ? cases[i].size : 1);
		const uint8_t *pos = in, *end = in + cases[i].size;
		struct nl_attr a, first = {0};
		unsigned int n = 0;

		memcpy(in, cases[i].in, cases[i].size);
		while (nl_attr_next(&pos, end, &a)) {
			assert_true(a.data >= in && a.data + a.size <= end);
			if (!n++)
				first = a;
		}
		if (n != cases[i].want || (n && first.type != cases[i].type) ||
		    (n && first.size != cases[i].data))
			fail_msg("%s: %u attributes, first %u of %zu", cases[i].name, n, first.type,
				 first.size);
		free(in);
	}
}

static void test_any_bytes(void **state)
{
	uint8_t *in = malloc(64);

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		const uint8_t *pos = in, *end = in + rand() % 64;
		struct nl_attr a;

		for (int i = 0; i < 64; i++)
			in[i] = rand() % 4 ? rand() % 12 : rand();
		while (nl_attr_next(&pos, end, &a))
			assert_true(a.data >= in && a.data + a.size <= end && pos <= end);
	}
	free(in);
}

static void test_request(void **state)
{
	static const uint8_t big[9000];
	struct nl_request r;
	size_t nest;

	(void)state;
	nl_request_init(&r, 1, 0);
	nl_put(&r, "ab", 2);
	assert_int_equal(r.used, 4);
	nest = nl_nest_start(&r, 5);
	nl_put_attr(&r, 6, "x", 2);
	nl_nest_end(&r, nest);
	assert_int_equal(r.used, 16);
	assert_int_equal(r.bytes[4], 12); /* the nest's length */
	assert_int_equal(r.bytes[7], 0x80);
	assert_false(r.overflow);
	nl_put_attr(&r, 7, big, sizeof(big));
	assert_true(r.overflow);
	assert_int_equal(r.used, 16);

	nl_request_init(&r, 1, 0);
	for (int i = 0; i < 10000; i++)
		nl_put_attr(&r, 1, "abcd", 4);
	assert_true(r.overflow);
	assert_in_range(r.used, 1, sizeof(r.bytes));
	nest = nl_nest_start(&r, 1);
	nl_nest_end(&r, nest);
	nl_put(&r, big, SIZE_MAX);
	assert_in_range(r.used, 1, sizeof(r.bytes));
}

static struct nl *open_or_skip(int protocol)
{
	struct nl *nl = NULL;
	struct err e = {0};

	if (nl_open(protocol, &nl, &e))
		skip();
	return nl;
}

static int count(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	(void)payload;
	assert_int_equal(type, RTM_NEWLINK);
	assert_true(size >= sizeof(struct ifinfomsg));
	++*(int *)arg;
	return 0;
}

static int refuse(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	(void)type;
	(void)payload;
	(void)size;
	++*(int *)arg;
	return -ERANGE;
}

static void ask_link(struct nl_request *r, const char *name, uint16_t flags)
{
	struct ifinfomsg i = {0};

	nl_request_init(r, RTM_GETLINK, flags);
	nl_put(r, &i, sizeof(i));
	if (name)
		nl_put_attr(r, IFLA_IFNAME, name, strlen(name) + 1);
}

static void test_talk(void **state)
{
	struct nl *nl = open_or_skip(NETLINK_ROUTE);
	struct nl_request r;
	struct err e = {0};
	int n = 0;

	(void)state;
	ask_link(&r, "lo", 0);
	assert_int_equal(nl_talk(nl, &r, count, &n, &e), 0);
	assert_int_equal(n, 1);
	/* A dump has many answers and an end of its own; a refusing callback does not leave them.
	 */
	n = 0;
	ask_link(&r, NULL, NLM_F_DUMP);
	assert_int_equal(nl_talk(nl, &r, refuse, &n, &e), -ERANGE);
	assert_int_equal(n, 1);
	n = 0;
	ask_link(&r, NULL, NLM_F_DUMP);
	assert_int_equal(nl_talk(nl, &r, count, &n, &e), 0);
	assert_true(n >= 1);
	ask_link(&r, "no-such-netdev", 0);
	assert_int_equal(nl_talk(nl, &r, count, &n, &e), -ENODEV);
	assert_int_equal(e.code, -ENODEV);
	/* The kernel says more than the errno when a name is too long. */
	ask_link(&r, "a-name-that-is-longer-than-a-netdev-may-be", 0);
	assert_true(nl_talk(nl, &r, count, &n, &e) < 0);
	assert_non_null(strstr(e.text, "kernel: "));
	/* And after all that the socket is in step. */
	n = 0;
	ask_link(&r, "lo", 0);
	assert_int_equal(nl_talk(nl, &r, count, &n, &e), 0);
	assert_int_equal(n, 1);
	r.overflow = true;
	assert_int_equal(nl_talk(nl, &r, count, &n, &e), -EMSGSIZE);
	assert_int_equal(nl_join(nl, RTNLGRP_LINK, &e), 0);
	nl_shut(nl);
	nl_shut(NULL);
}

static void test_family(void **state)
{
	struct nl *nl = open_or_skip(NETLINK_GENERIC);
	struct err e = {0};

	(void)state;
	assert_int_equal(nl_family(nl, "nlctrl", &e), 0x10);
	assert_int_equal(nl_family(nl, "no-such-family", &e), -ENOENT);
	nl_shut(nl);
}

static void test_no_protocol(void **state)
{
	struct nl *nl = NULL;
	struct err e = {0};

	(void)state;
	assert_true(nl_open(31, &nl, &e) < 0);
	assert_null(nl);
	assert_true(e.code < 0 && e.text[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attributes), cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_request),	   cmocka_unit_test(test_talk),
		cmocka_unit_test(test_family),	   cmocka_unit_test(test_no_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
