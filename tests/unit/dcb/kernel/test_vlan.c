/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The egress map out of RTM_NEWLINK messages, made here attribute by attribute: whole, without
 * mappings, of other links, with values that cannot be, and cut at every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/netdev.h"
#include "dcb/kernel/nl.h"

struct mapping {
	uint32_t from, to;
};

/* kind NULL: no IFLA_LINKINFO; count 0: no egress map. */
static void make(struct nl_request *r, const char *kind, const struct mapping *map, size_t count)
{
	struct ifinfomsg link = {.ifi_index = 7};
	size_t info, data, egress;
	uint32_t mtu = 1500;

	nl_request_init(r, RTM_NEWLINK, 0);
	nl_put(r, &link, sizeof(link));
	nl_put_attr(r, IFLA_MTU, &mtu, sizeof(mtu));
	if (!kind)
		return;
	info = nl_nest_start(r, IFLA_LINKINFO);
	nl_put_attr(r, IFLA_INFO_KIND, kind, strlen(kind) + 1);
	data = nl_nest_start(r, IFLA_INFO_DATA);
	nl_put_attr(r, IFLA_VLAN_ID, &(uint16_t){10}, sizeof(uint16_t));
	if (count) {
		egress = nl_nest_start(r, IFLA_VLAN_EGRESS_QOS);
		for (size_t i = 0; i < count; i++)
			nl_put_attr(r, IFLA_VLAN_QOS_MAPPING, &map[i], sizeof(map[i]));
		nl_nest_end(r, egress);
	}
	nl_nest_end(r, data);
	nl_nest_end(r, info);
}

static void test_maps(void **state)
{
	static const struct {
		const char *name, *kind;
		struct mapping map[3];
		size_t count;
		int err;
		uint8_t want[QOS_SKB_PRIOS];
	} cases[] = {
		{"two", "vlan", {{2, 3}, {15, 7}}, 2, 0, {[2] = 3, [15] = 7}},
		{"none", "vlan", {{0}}, 0, 0, {0}},
		{"the last of two counts", "vlan", {{2, 3}, {2, 5}}, 2, 0, {[2] = 5}},
		{"a priority no ToS leads to", "vlan", {{16, 3}, {0x80000002, 1}}, 2, 0, {0}},
		{"a bond", "bond", {{2, 3}}, 1, -ENOTTY, {0}},
		{"a name that begins alike", "vlanx", {{2, 3}}, 1, -ENOTTY, {0}},
		{"a name that ends before", "vla", {{2, 3}}, 1, -ENOTTY, {0}},
		{"no kind", NULL, {{0}}, 0, -ENOTTY, {0}},
		{"a VLAN priority that cannot be", "vlan", {{1, 1}, {2, 8}}, 2, -EBADMSG, {0}},
	};
	struct nl_request r;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t map[QOS_SKB_PRIOS], before[QOS_SKB_PRIOS];
		int index = 0, err;

		memset(map, 0x55, sizeof(map));
		memcpy(before, map, sizeof(map));
		make(&r, cases[i].kind, cases[i].map, cases[i].count);
		err = vlan_parse(r.bytes, r.used, &index, map);
		if (err != cases[i].err || index != (err ? 0 : 7) ||
		    memcmp(map, err ? before : cases[i].want, sizeof(map)))
			fail_msg("%s: %d, index %d", cases[i].name, err, index);
	}
}

/* A short message is refused or has fewer mappings, and is never read behind its end. */
static void test_cut(void **state)
{
	static const struct mapping map[] = {{2, 3}, {6, 6}};
	uint8_t taken[QOS_SKB_PRIOS];
	struct nl_request r;
	int index;

	(void)state;
	make(&r, "vlan", map, ARRAY_SIZE(map));
	for (size_t size = 0; size < r.used; size++) {
		uint8_t *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, r.bytes, size);
		memset(taken, 0, sizeof(taken));
		if (!vlan_parse(copy, size, &index, taken))
			fail_msg("%zu of %zu bytes are taken", size, r.used);
		free(copy);
	}
	/* A mapping shorter than its struct, in a message that is whole. */
	nl_request_init(&r, RTM_NEWLINK, 0);
	nl_put(&r, &(struct ifinfomsg){0}, sizeof(struct ifinfomsg));
	size_t info = nl_nest_start(&r, IFLA_LINKINFO), data, egress;
	nl_put_attr(&r, IFLA_INFO_KIND, "vlan", 5);
	data = nl_nest_start(&r, IFLA_INFO_DATA);
	egress = nl_nest_start(&r, IFLA_VLAN_EGRESS_QOS);
	nl_put_attr(&r, IFLA_VLAN_QOS_MAPPING, map, 4);
	nl_nest_end(&r, egress);
	nl_nest_end(&r, data);
	nl_nest_end(&r, info);
	assert_int_equal(vlan_parse(r.bytes, r.used, &index, taken), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
