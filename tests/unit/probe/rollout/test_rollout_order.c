/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of a rollout from literals. A host is written as its groups: "" disrupts nothing, "a"
 * one port of group a, "ab" two, "*" one of an unknown group; in front of it its stage: '!' bad,
 * '.' good, '>' running.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/rollout/rollout.h"

#define HOSTS 8

static unsigned int make(const char *const text[HOSTS], struct rollout_entry unit[HOSTS])
{
	unsigned int n;

	memset(unit, 0, HOSTS * sizeof(*unit));
	for (n = 0; n < HOSTS && text[n]; n++)
		for (const char *c = text[n]; *c; c++)
			switch (*c) {
			case '!':
				unit[n].stage = ROLLOUT_STAGE_FAILED;
				break;
			case '.':
				unit[n].stage = ROLLOUT_STAGE_DONE;
				break;
			case '>':
				unit[n].stage = ROLLOUT_STAGE_RUNNING;
				break;
			case '*':
				rollout_add_group(&unit[n], ROLLOUT_EVERY_GROUP);
				break;
			default:
				rollout_add_group(&unit[n], (uint32_t)*c);
				break;
			}
	return n;
}

static void test_waves(void **state)
{
	static const struct {
		const char *name;
		const char *host[HOSTS];
		struct rollout_limits limits;
		const char *want; /* the wave of each */
	} cases[] = {
		{"canary, then all that disturb nothing", {"", "", "", ""}, {0, 8, 0}, "1222"},
		{"another canary", {"", "", ""}, {2, 8, 0}, "221"},
		{"two at once", {"", "", "", "", ""}, {0, 2, 0}, "12233"},
		{"one disrupted port in the fleet", {"a", "a", "a", "a"}, {0, 8, 0}, "1234"},
		{"one in each rack", {"a", "a", "b", "b"}, {0, 8, 0}, "1223"},
		{"undisturbed ones do not wait", {"a", "a", "", "a", ""}, {0, 8, 0}, "12232"},
		{"two rails on a host", {"ab", "ab", "b", "a", "c"}, {0, 8, 0}, "12332"},
		{"an unknown group is every group", {"", "*", "a", "b", ""}, {0, 8, 0}, "12332"},
		{"parallel counts disturbing ones, too", {"", "a", "b", "c"}, {0, 2, 0}, "1223"},
		{"what is done is left out", {".", ".", "", "a"}, {0, 8, 0}, "0011"},
		{"a bad host stops", {"", "!", ""}, {0, 8, 0}, "000"},
		{"one bad host is allowed", {"", "!", ""}, {0, 8, 1}, "102"},
		{"a bad canary stops whatever is allowed", {"!", "", ""}, {0, 8, 7}, "000"},
		{"no canary at all", {"", "a", "a"}, {9, 8, 0}, "112"},
		{"none", {NULL}, {0, 8, 0}, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rollout_entry unit[HOSTS];
		unsigned int wave[HOSTS], n = make(cases[i].host, unit);
		char got[HOSTS + 1] = "";
		int waves = rollout_waves(unit, n, &cases[i].limits, wave), last = 0;

		for (unsigned int k = 0; k < n; k++) {
			got[k] = (char)('0' + wave[k]);
			last = (int)wave[k] > last ? (int)wave[k] : last;
		}
		if (strcmp(got, cases[i].want) || waves != last)
			fail_msg("%s: %s in %d waves, not %s", cases[i].name, got, waves,
				 cases[i].want);
	}
}

static void test_next(void **state)
{
	static const struct {
		const char *name;
		const char *host[HOSTS];
		struct rollout_limits limits;
		int want;
	} cases[] = {
		{"the canary runs", {">", "", ""}, {0, 8, 0}, -EAGAIN},
		{"a group is taken", {".", ">a", "a"}, {0, 8, 0}, -EAGAIN},
		{"and another is not", {".", ">a", "a", "b"}, {0, 8, 0}, 3},
		{"all places are taken", {".", ">", ">", ""}, {0, 2, 0}, -EAGAIN},
		{"one failed while another runs", {".", "!", ">", ""}, {0, 8, 0}, -EAGAIN},
		{"and has ended", {".", "!", ".", ""}, {0, 8, 0}, -ENOENT},
		{"all done", {".", "."}, {0, 8, 0}, -ENOENT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rollout_entry unit[HOSTS];
		unsigned int n = make(cases[i].host, unit);
		int got = rollout_next(unit, n, &cases[i].limits);

		if (got != cases[i].want)
			fail_msg("%s: %d, not %d", cases[i].name, got, cases[i].want);
	}
}

static void test_groups(void **state)
{
	struct rollout_entry u = {0};

	(void)state;
	for (uint32_t i = 0; i < ROLLOUT_GROUPS_MAX; i++) {
		rollout_add_group(&u, i);
		rollout_add_group(&u, i);
	}
	assert_int_equal(u.group_count, ROLLOUT_GROUPS_MAX);
	rollout_add_group(&u, 4711);
	assert_int_equal(u.group_count, 1);
	assert_int_equal(u.group[0], ROLLOUT_EVERY_GROUP);
}

/* Whatever the hosts: never two disrupted ports of one group, and every host has its turn. */
static void test_all_of_three(void **state)
{
	static const char *const kinds[] = {"", "a", "b", "ab", "*"};
	const struct rollout_limits limits = {0, 8, 0};

	(void)state;
	for (unsigned int c = 0; c < 625; c++) {
		const char *host[HOSTS] = {kinds[c % 5], kinds[c / 5 % 5], kinds[c / 25 % 5],
					   kinds[c / 125]};
		struct rollout_entry unit[HOSTS];
		unsigned int wave[HOSTS], n = make(host, unit);

		rollout_waves(unit, n, &limits, wave);
		for (unsigned int i = 0; i < n; i++) {
			assert_true(wave[i] > 0);
			for (unsigned int k = 0; k < i; k++) {
				bool meet = strpbrk(host[i], host[k]) ||
					    (strchr(host[i], '*') && *host[k]) ||
					    (strchr(host[k], '*') && *host[i]);

				if (meet && *host[i] && *host[k])
					assert_int_not_equal(wave[i], wave[k]);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waves),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_all_of_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
