/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink's enable_roce: answers made attribute by attribute as the kernel makes them, whole, of
 * other parameters, and cut at every byte; and the request that sets it, taken apart again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/devlink.h"

#define NONE 0xff /* a value without a mode, or a list that ends */

struct value {
	uint8_t mode;
	bool on;
};

/* name NULL: an answer without the parameter. */
static void make(struct nl_request *r, const char *name, const struct value *values, size_t count)
{
	const struct genlmsghdr h = {.cmd = DEVLINK_CMD_PARAM_GET, .version = 1};
	size_t param, list, value;

	nl_request_init(r, 20, 0);
	nl_put(r, &h, sizeof(h));
	nl_put_attr(r, DEVLINK_ATTR_BUS_NAME, "pci", 4);
	nl_put_attr(r, DEVLINK_ATTR_DEV_NAME, "0000:65:00.0", 13);
	if (!name)
		return;
	param = nl_nest_start(r, DEVLINK_ATTR_PARAM);
	nl_put_attr(r, DEVLINK_ATTR_PARAM_NAME, name, strlen(name) + 1);
	nl_put_attr(r, DEVLINK_ATTR_PARAM_GENERIC, NULL, 0);
	nl_put_attr(r, DEVLINK_ATTR_PARAM_TYPE, &(uint8_t){6}, 1);
	list = nl_nest_start(r, DEVLINK_ATTR_PARAM_VALUES_LIST);
	for (size_t i = 0; i < count; i++) {
		value = nl_nest_start(r, DEVLINK_ATTR_PARAM_VALUE);
		if (values[i].mode != NONE)
			nl_put_attr(r, DEVLINK_ATTR_PARAM_VALUE_CMODE, &values[i].mode, 1);
		if (values[i].on)
			nl_put_attr(r, DEVLINK_ATTR_PARAM_VALUE_DATA, NULL, 0);
		nl_nest_end(r, value);
	}
	nl_nest_end(r, list);
	nl_nest_end(r, param);
}

static void test_answers(void **state)
{
	static const struct {
		const char *name, *param;
		struct value value[3];
		size_t count;
		int err;
		struct value want;
	} cases[] = {
		{"mlx5: on", "enable_roce", {{1, true}}, 1, 0, {1, true}},
		{"mlx5: off", "enable_roce", {{1, false}}, 1, 0, {1, false}},
		{"ice", "enable_roce", {{0, true}}, 1, 0, {0, true}},
		{"bnxt", "enable_roce", {{2, false}}, 1, 0, {2, false}},
		{"what counts first", "enable_roce", {{2, true}, {0, false}}, 2, 0, {0, false}},
		{"in any order", "enable_roce", {{1, false}, {2, true}}, 2, 0, {1, false}},
		{"a mode nobody knows", "enable_roce", {{7, true}}, 1, -ENOENT, {0, false}},
		{"beside one that is known",
		 "enable_roce",
		 {{7, true}, {1, false}},
		 2,
		 0,
		 {1, false}},
		{"no value", "enable_roce", {{0, false}}, 0, -ENOENT, {0, false}},
		{"a value without its mode",
		 "enable_roce",
		 {{NONE, true}},
		 1,
		 -EBADMSG,
		 {0, false}},
		{"another parameter", "enable_iwarp", {{0, true}}, 1, -ENOENT, {0, false}},
		{"one that begins alike", "enable_roce2", {{0, true}}, 1, -ENOENT, {0, false}},
		{"no parameter", NULL, {{0, false}}, 0, -EBADMSG, {0, false}},
	};
	struct nl_request r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool on = false;
		uint8_t mode = 0;
		int err;

		make(&r, cases[i].param, cases[i].value, cases[i].count);
		err = devlink_parse_param(r.bytes, r.used, &on, &mode);
		if (err != cases[i].err || on != cases[i].want.on || mode != cases[i].want.mode)
			fail_msg("%s: %d, %d in mode %u", cases[i].name, err, on, mode);
	}
}

static void test_cut(void **state)
{
	static const struct value value = {1, true};
	struct nl_request r;
	uint8_t mode;
	bool on;

	(void)state;
	make(&r, "enable_roce", &value, 1);
	for (size_t size = 0; size < r.used; size++) {
		uint8_t *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, r.bytes, size);
		if (!devlink_parse_param(copy, size, &on, &mode))
			fail_msg("%zu of %zu bytes are taken", size, r.used);
		free(copy);
	}
	/* A name whose end is not there. */
	nl_request_init(&r, 20, 0);
	nl_put(&r, &(struct genlmsghdr){0}, sizeof(struct genlmsghdr));
	size_t param = nl_nest_start(&r, DEVLINK_ATTR_PARAM);
	nl_put_attr(&r, DEVLINK_ATTR_PARAM_NAME, "enable_roce", 11);
	nl_nest_end(&r, param);
	assert_int_equal(devlink_parse_param(r.bytes, r.used, &on, &mode), -ENOENT);
}

/* The kernel wants these five, and of a bool a flag or none. */
static void test_request(void **state)
{
	const struct devlink_roce roce = {
		.mode = DEVLINK_AT_LOAD, .bus = "pci", .device = "0000:65:00.0"};
	struct nl_request r;

	(void)state;
	for (int on = 0; on < 2; on++) {
		const uint8_t *pos = r.bytes + GENL_HDRLEN;
		uint32_t seen = 0;
		struct nl_attr a;

		devlink_request_set(&r, 20, &roce, on);
		assert_int_equal(r.head.nlmsg_type, 20);
		assert_int_equal(r.bytes[0], DEVLINK_CMD_PARAM_SET);
		while (nl_attr_next(&pos, r.bytes + r.used, &a)) {
			switch (a.type) {
			case DEVLINK_ATTR_BUS_NAME:
				assert_string_equal((const char *)a.data, "pci");
				seen |= 1;
				break;
			case DEVLINK_ATTR_DEV_NAME:
				assert_string_equal((const char *)a.data, "0000:65:00.0");
				seen |= 2;
				break;
			case DEVLINK_ATTR_PARAM_NAME:
				assert_string_equal((const char *)a.data, "enable_roce");
				seen |= 4;
				break;
			case DEVLINK_ATTR_PARAM_TYPE:
				assert_int_equal(a.data[0], 6);
				seen |= 8;
				break;
			case DEVLINK_ATTR_PARAM_VALUE_CMODE:
				assert_int_equal(a.data[0], DEVLINK_PARAM_CMODE_DRIVERINIT);
				seen |= 16;
				break;
			case DEVLINK_ATTR_PARAM_VALUE_DATA:
				assert_int_equal(a.size, 0);
				seen |= 32;
				break;
			default:
				fail_msg("attribute %u", a.type);
			}
		}
		assert_int_equal(seen, on ? 63 : 31);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
