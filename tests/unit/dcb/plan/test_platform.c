/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Platforms: a file each under tests/platforms. It begins with what the port is and where
 * pfc.enabled and rdma.cm_default_tos are set ("-": here); behind an empty line is its sysfs, a
 * line PATH=VALUE for a file, PATH -> TARGET for a link. All of them together fit every row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "dcb/plan/platform.h"

#define PLATFORMS "tests/platforms"

struct expect {
	char ifname[16], ibdev[64], dcb[8], kind[24];
	char where[2][PLATFORM_WHERE_MAX]; /* of pfc.enabled, of rdma.cm_default_tos */
};

static void read_expect(FILE *f, struct expect *x)
{
	assert_int_equal(fscanf(f, "%15s %63s %7s %23s\n", x->ifname, x->ibdev, x->dcb, x->kind),
			 4);
	for (int i = 0; i < 2; i++) {
		assert_non_null(fgets(x->where[i], sizeof(x->where[i]), f));
		x->where[i][strcspn(x->where[i], "\n")] = '\0';
	}
}

/* One line of a sysfs, with the folders that its path wants. */
static void unpack_line(const char *root, char *line)
{
	char path[512], *link = strstr(line, " -> "), *value = strchr(line, '=');
	FILE *f;

	line[strcspn(line, "\n")] = '\0';
	assert_true(link || value);
	*(link ? link : value) = '\0';
	assert_true(snprintf(path, sizeof(path), "%s/%s", root, line) < (int)sizeof(path));
	for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = '\0';
		assert_true(!mkdir(path, 0755) || errno == EEXIST);
	}
	if (link) {
		assert_int_equal(symlink(link + strlen(" -> "), path), 0);
		return;
	}
	f = fopen(path, "wxe");
	assert_non_null(f);
	assert_true(fprintf(f, "%s\n", value + 1) > 0);
	assert_int_equal(fclose(f), 0);
}

static void unpack(const char *file, const char *root, struct expect *x)
{
	char line[512];
	FILE *f;

	snprintf(line, sizeof(line), PLATFORMS "/%s", file);
	f = fopen(line, "re");
	assert_non_null(f);
	read_expect(f, x);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_string_equal(line, "\n");
	while (fgets(line, sizeof(line), f))
		unpack_line(root, line);
	fclose(f);
}

static void gather(const char *file, struct expect *x, struct platform_facts *facts)
{
	char root[] = "/tmp/test_platform.XXXXXX", command[64];
	struct dcb_roots roots = {.sysfs = root, .configfs = root, .debugfs = root};
	struct dcb *dcb;
	struct err e;

	assert_non_null(mkdtemp(root));
	unpack(file, root, x);
	assert_int_equal(dcb_open(&roots, &dcb, &e), 0);
	platform_gather(dcb, x->ifname, x->ibdev, !strcmp(x->dcb, "dcb"), facts);
	dcb_close(dcb);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

/* A wish of everything that a port of another kind would be given. */
static struct qos wish(void)
{
	struct qos want = {.pfc_enabled = 8, .mtu = 4200, .cm_tos = 106, .roce_version = 2};

	want.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU) | QOS_BIT(QOS_CM_TOS) |
		   QOS_BIT(QOS_ROCE_VERSION);
	return want;
}

static const struct plan_step *step_of(const struct plan *plan, enum qos_field_id field)
{
	for (unsigned int i = 0; i < plan->count; i++)
		if (plan->step[i].field == field)
			return &plan->step[i];
	return NULL;
}

/* A place ends the reason; "-" is a step that is not the platform's to refuse. */
static void check_step(const char *tree, const struct plan_step *s, const char *where)
{
	char want[sizeof(s->reason)];

	assert_non_null(s);
	if (!strcmp(where, "-")) {
		if (s->cannot)
			fail_msg("%s: %s: %s", tree, qos_fields[s->field].key, s->reason);
		return;
	}
	snprintf(want, sizeof(want), ": %s", where);
	if (!s->cannot || !strstr(s->reason, want) ||
	    strlen(strstr(s->reason, want)) != strlen(want))
		fail_msg("%s: %s: '%s', not '%s'", tree, qos_fields[s->field].key, s->reason,
			 where);
}

static void check_tree(const char *tree, uint32_t *seen)
{
	static const int no_line[QOS_FIELD_COUNT];
	struct qos want = wish(), have = {.mtu = 1500};
	struct platform_facts facts;
	const struct platform *p;
	struct expect x;
	struct plan plan;

	gather(tree, &x, &facts);
	p = platform_find(&facts);
	if (strcmp(p ? p->word : "-", x.kind))
		fail_msg("%s: %s, not %s", tree, p ? p->word : "-", x.kind);
	assert_true(platform_is_virtual(&facts) == !strcmp(x.kind, "sriov-vf"));
	for (unsigned int i = 0; i < platform_count; i++)
		if (platforms[i].is(&facts))
			*seen |= 1u << i;
	have.has = QOS_BIT(QOS_MTU) | QOS_BIT(QOS_PFC_ENABLED);
	plan_make(&want, no_line, &have, facts.driver, &plan);
	plan.firmware_owned = true;
	platform_judge(&facts, &plan);
	assert_string_equal(plan.platform, p ? p->word : "");
	/* cxgb4's own limits refuse PFC besides. */
	if (strcmp(facts.driver, "cxgb4"))
		check_step(tree, step_of(&plan, QOS_PFC_ENABLED), x.where[0]);
	check_step(tree, step_of(&plan, QOS_CM_TOS), x.where[1]);
	check_step(tree, step_of(&plan, QOS_ROCE_VERSION), x.where[1]);
	check_step(tree, step_of(&plan, QOS_MTU), "-");
	assert_true(plan.firmware_owned == !strcmp(x.where[0], "-"));
}

static void test_trees(void **state)
{
	DIR *dir = opendir(PLATFORMS);
	unsigned int trees = 0;
	struct dirent *d;
	uint32_t seen = 0;

	(void)state;
	assert_non_null(dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.') {
			check_tree(d->d_name, &seen);
			trees++;
		}
	closedir(dir);
	assert_true(trees > platform_count);
	for (unsigned int i = 0; i < platform_count; i++)
		if (!(seen & 1u << i))
			fail_msg("no tree is %s", platforms[i].word);
}

/* Rows: texts that fit, fields that can be written at all, none twice in a row, words once. */
static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < platform_count; i++) {
		const struct platform *p = &platforms[i];
		uint64_t fields = 0;

		assert_true(p->word[0] && p->name[0] && p->seen[0] && p->place[0].fields);
		assert_true(strlen(p->word) < sizeof(((struct plan *)NULL)->platform));
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(platforms[k].word, p->word);
		for (unsigned int k = 0; k < PLATFORM_PLACES && p->place[k].fields; k++) {
			assert_false(fields & p->place[k].fields);
			fields |= p->place[k].fields;
			/* With the name of a physical function the reason still fits. */
			assert_true(strlen(p->name) + strlen("not settable on : ") +
					    strlen(p->place[k].where) +
					    (p->place[k].physical ? 32 : 0) <
				    sizeof(((struct plan_step *)NULL)->reason));
			assert_true(strlen(p->place[k].where) + 32 < PLATFORM_WHERE_MAX);
		}
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			assert_false(fields & QOS_BIT(id) && qos_fields[id].read_only);
		assert_false(fields & QOS_BIT(QOS_MTU));
	}
}

/* What sysfs holds is not trusted: ids and names that are none. */
static void test_hostile(void **state)
{
	char root[] = "/tmp/test_platform.XXXXXX", command[512];
	struct dcb_roots roots = {.sysfs = root, .configfs = root, .debugfs = root};
	struct platform_facts facts;
	struct dcb *dcb;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p class/net/eth0/device/physfn/net/name_of_16_bytes class/net/x "
		 "&& "
		 "cd class/net/eth0 && echo 0x115b3 >device/vendor && echo q >device/device && "
		 "ln -s /a/driver_whose_name_is_longer_than_31 device/driver && "
		 "seq -s p 99 >phys_port_name",
		 root);
	assert_int_equal(system(command), 0);
	assert_int_equal(dcb_open(&roots, &dcb, &e), 0);
	platform_gather(dcb, "eth0", "../net/eth0", false, &facts);
	assert_int_equal(facts.vendor, 0);
	assert_int_equal(facts.device, 0);
	assert_string_equal(facts.driver, "");
	assert_string_equal(facts.rdma_driver, "");
	assert_string_equal(facts.physical, "");
	assert_true(facts.has_physical);
	platform_gather(dcb, "../net/eth0", NULL, false, &facts);
	assert_false(facts.has_physical);
	assert_null(platform_find(&facts));
	dcb_close(dcb);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static void test_json(void **state)
{
	struct platform_facts facts = {.driver = "iavf", .physical = "eth0", .iwarp = true};
	json_t *list = platform_json(&facts);
	const json_t *place;

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "kind")),
			    "sriov-vf");
	place = json_array_get(json_object_get(json_array_get(list, 0), "elsewhere"), 0);
	assert_string_equal(json_string_value(json_object_get(place, "where")),
			    "set it on its physical function eth0");
	assert_string_equal(json_string_value(json_array_get(json_object_get(place, "fields"), 0)),
			    "dcbx.mode");
	json_decref(list);
	memset(&facts, 0, sizeof(facts));
	list = platform_json(&facts);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
