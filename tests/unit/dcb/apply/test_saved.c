/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kept profile of a port: written and read back whole, staged until a transaction is confirmed,
 * the one before where that was rolled back, and files that are none.
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
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/apply/journal.h"
#include "dcb/apply/saved.h"
#include "tests/unit/fixture/journal_scene.h"
#include "tests/unit/fixture/qos_samples.h"

static char dir[32];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_last.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct profile sample(const char *name)
{
	struct profile p = {.intent = INTENT_LOSSY,
			    .on_unsupported = CHOICE_WARN,
			    .disruption = CHOICE_DENY,
			    .persist = strcmp(name, "not kept") != 0};

	snprintf(p.name, sizeof(p.name), "%s", name);
	snprintf(p.path, sizeof(p.path), "/etc/%s.yaml", name);
	sample_qos(&p.qos);
	return p;
}

static int stage(const char *tx, const char *name)
{
	struct plan plans[2] = {{.ifname = "p0", .ibdev = "rxe0"}, {.ifname = "p1.100"}};
	struct profile p = sample(name);

	return saved_stage(AT(dir), tx, &p, plans, 2, NULL);
}

/* A transaction in that state. */
static void add_tx(enum tx_state end, char id[JOURNAL_ID_MAX])
{
	struct tx_port port = {.ifname = "p0", .ib_port = 1};
	struct tx tx = {.port_count = 1, .port = &port};

	record_tx(dir, &tx, end);
	snprintf(id, JOURNAL_ID_MAX, "%s", tx.id);
}

static const char *kept(const char *ifname)
{
	static char name[64];
	struct saved_profile l;

	if (saved_load(AT(dir), ifname, &l, NULL))
		return "";
	snprintf(name, sizeof(name), "%s", l.profile.name);
	return name;
}

static void test_whole(void **state)
{
	struct profile p = sample("a");
	struct saved_profile l;
	char(*names)[16];
	unsigned int n;

	(void)state;
	assert_int_equal(saved_list(AT(dir), &names, &n, NULL), 0);
	assert_int_equal(n, 0);
	free(names);
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), -ENOENT);
	assert_int_equal(stage("", "a"), 0);
	assert_int_equal(saved_commit(AT(dir), "", NULL), 0);
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), 0);
	assert_true(l.rdma && l.persist && l.profile.persist);
	assert_string_equal(l.profile.path, "/etc/a.yaml");
	assert_int_equal(l.profile.intent, INTENT_LOSSY);
	assert_int_equal(l.profile.on_unsupported, CHOICE_WARN);
	assert_int_equal(l.profile.disruption, CHOICE_DENY);
	/* policy.persist: off is kept as that, not forgotten. */
	assert_int_equal(stage("", "not kept"), 0);
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), 0);
	assert_false(l.persist || l.profile.persist);
	assert_int_equal(stage("", "a"), 0);
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), 0);
	assert_true(l.profile.qos.has == p.qos.has);
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		assert_true(qos_field_equal(&l.profile.qos, &p.qos, id));
	assert_int_equal(saved_load(AT(dir), "p1.100", &l, NULL), 0);
	assert_false(l.rdma);
	assert_int_equal(saved_list(AT(dir), &names, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "p0");
	assert_string_equal(names[1], "p1.100");
	free(names);
}

/* A name that leads out of the folder, to a file that would do. */
static void test_names(void **state)
{
	static const char *const names[] = {"../p0", "last/p0", "/p0",
					    "..",    "",	"a-name-that-is-long"};
	char command[128];
	struct saved_profile l;

	(void)state;
	assert_int_equal(stage("", "a"), 0);
	assert_int_equal(saved_commit(AT(dir), "", NULL), 0);
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), 0);
	snprintf(command, sizeof(command),
		 "cd %s && sed 's,\"p0\",\"../p0\",' last/p0.json >p0.json", dir);
	assert_int_equal(system(command), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err e = {0};

		assert_int_equal(saved_load(AT(dir), names[i], &l, &e), -EINVAL);
		assert_non_null(strstr(e.text, "invalid port"));
	}
}

static void test_confirmed_only(void **state)
{
	char first[JOURNAL_ID_MAX], second[JOURNAL_ID_MAX], third[JOURNAL_ID_MAX];

	(void)state;
	add_tx(TX_DONE, first);
	assert_int_equal(stage(first, "a"), 0);
	assert_string_equal(kept("p0"), "");
	assert_int_equal(saved_commit(AT(dir), first, NULL), 0);
	assert_string_equal(kept("p0"), "a");
	/* Staged and never confirmed. */
	add_tx(TX_UNDONE, second);
	assert_int_equal(stage(second, "b"), 0);
	assert_string_equal(kept("p0"), "a");
	/* Confirmed, and rolled back later. */
	add_tx(TX_DONE, third);
	assert_int_equal(stage(third, "c"), 0);
	assert_int_equal(saved_commit(AT(dir), third, NULL), 0);
	assert_string_equal(kept("p0"), "c");
	assert_string_equal(kept("p1.100"), "c");
	end_tx(dir, third, TX_UNDONE);
	assert_string_equal(kept("p0"), "a");
	/* Confirming twice, or what is not there, changes nothing. */
	assert_int_equal(saved_commit(AT(dir), first, NULL), 0);
	assert_int_equal(saved_commit(AT(dir), "20200101-000000-00", NULL), 0);
	assert_string_equal(kept("p0"), "a");
}

/* What a crash of an older version between two renames left: the one before alone. */
static void test_before_alone(void **state)
{
	char from[64], to[64];
	char(*names)[16];
	unsigned int n;

	(void)state;
	assert_int_equal(stage("", "a"), 0);
	snprintf(from, sizeof(from), "%s/last/p0.json", dir);
	snprintf(to, sizeof(to), "%s/last/p0.json~", dir);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(saved_list(AT(dir), &names, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "p0");
	free(names);
	assert_string_equal(kept("p0"), "a");
}

/* A crash between the confirmation and the keeping: done later, in order, and once. */
static void test_commit_confirmed(void **state)
{
	char first[JOURNAL_ID_MAX], second[JOURNAL_ID_MAX], third[JOURNAL_ID_MAX];

	(void)state;
	assert_int_equal(saved_commit_confirmed(AT(dir), NULL), 0);
	add_tx(TX_DONE, first);
	assert_int_equal(stage(first, "a"), 0);
	add_tx(TX_DONE, second);
	assert_int_equal(stage(second, "b"), 0);
	assert_int_equal(saved_commit(AT(dir), second, NULL), 0);
	/* The older one does not come over the newer one. */
	assert_int_equal(saved_commit_confirmed(AT(dir), NULL), 0);
	assert_string_equal(kept("p0"), "b");
	add_tx(TX_UNDONE, third);
	assert_int_equal(stage(third, "c"), 0);
	assert_int_equal(saved_commit_confirmed(AT(dir), NULL), 0);
	assert_string_equal(kept("p0"), "b");
	add_tx(TX_DONE, third);
	assert_int_equal(stage(third, "d"), 0);
	assert_int_equal(saved_commit_confirmed(AT(dir), NULL), 0);
	assert_string_equal(kept("p0"), "d");
	assert_string_equal(kept("p1.100"), "d");
	/* Rolled back: the one before is still there. */
	end_tx(dir, third, TX_UNDONE);
	assert_int_equal(saved_commit_confirmed(AT(dir), NULL), 0);
	assert_string_equal(kept("p0"), "b");
}

/* Two that were rolled back, one behind the other: the one that stood before both is in force. */
static void test_undone_twice(void **state)
{
	char id[JOURNAL_ID_MAX];

	(void)state;
	add_tx(TX_DONE, id);
	assert_int_equal(stage(id, "a"), 0);
	assert_int_equal(saved_commit(AT(dir), id, NULL), 0);
	for (int i = 0; i < 2; i++) {
		add_tx(TX_DONE, id);
		assert_int_equal(stage(id, i ? "c" : "b"), 0);
		assert_int_equal(saved_commit(AT(dir), id, NULL), 0);
		assert_string_equal(kept("p0"), i ? "c" : "b");
		end_tx(dir, id, TX_UNDONE);
		assert_string_equal(kept("p0"), "a");
	}
}

/* A bad disk: it does not come over the good one before. */
static void test_unreadable_is_not_copied(void **state)
{
	char path[64], id[JOURNAL_ID_MAX];
	FILE *f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		add_tx(TX_DONE, id);
		assert_int_equal(stage(id, i ? "b" : "a"), 0);
		assert_int_equal(saved_commit(AT(dir), id, NULL), 0);
	}
	snprintf(path, sizeof(path), "%s/last/p0.json", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("{", f);
	fclose(f);
	add_tx(TX_DONE, id);
	assert_int_equal(stage(id, "c"), 0);
	assert_int_equal(saved_commit(AT(dir), id, NULL), 0);
	assert_string_equal(kept("p0"), "c");
	end_tx(dir, id, TX_UNDONE);
	assert_string_equal(kept("p0"), "a");
}

static void test_dropped(void **state)
{
	char id[JOURNAL_ID_MAX];

	(void)state;
	add_tx(TX_DONE, id);
	assert_int_equal(stage(id, "a"), 0);
	assert_int_equal(saved_drop(AT(dir), id, NULL), 0);
	assert_int_equal(saved_commit(AT(dir), id, NULL), 0);
	assert_string_equal(kept("p0"), "");
}

static void test_lock_is_private(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	fd = saved_lock(AT(dir), NULL);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close(fd);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void put(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/last", dir);
	(void)mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/last/p0.json", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define HEAD   "{\"schema\":\"rocecheck.last/1\",\"netdev\":\"p0\",\"rdma\":false,"
#define MORE   "\"persist\":true,\"tx\":\"\",\"profile\":"
#define POLICY "\"on_unsupported\":\"fail\",\"disruption\":\"ask\""

static void test_hostile(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"schema\":\"rocecheck.last/2\"}",
		HEAD "}",
		HEAD MORE "null}",
		HEAD MORE "{}}",
		HEAD MORE "{\"name\":\"a\",\"path\":\"a\",\"intent\":\"best\"," POLICY
			  ",\"qos\":{}}}",
		HEAD MORE "{\"name\":7,\"path\":\"a\",\"intent\":\"lossy\"," POLICY ",\"qos\":{}}}",
		HEAD MORE "{\"name\":\"a\",\"path\":\"a\",\"intent\":\"lossy\"," POLICY "}}",
		HEAD MORE "{\"name\":\"a\",\"path\":\"a\",\"intent\":\"lossy\"," POLICY
			  ",\"qos\":{\"mtu\":{\"netdev\":-1}}}}",
	};
	struct err e = {0};
	struct saved_profile l;

	(void)state;
	put(HEAD MORE "{\"name\":\"a\",\"path\":\"a\",\"intent\":\"lossy\"," POLICY
		      ",\"qos\":{}}}");
	assert_int_equal(saved_load(AT(dir), "p0", &l, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int err;

		put(texts[i]);
		err = saved_load(AT(dir), "p0", &l, &e);
		if (!err || err == -ENOENT || !strstr(e.text, "p0.json"))
			fail_msg("%s: %d %s", texts[i], err, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_confirmed_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_commit_confirmed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_undone_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_is_not_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lock_is_private, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
