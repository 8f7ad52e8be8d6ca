/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that drift is measured from: which of several journals says it.
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
#include <unistd.h>

#include "dcb/drift/drift.h"
#include "tests/unit/fixture/journal_scene.h"

static char dir[32];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_baseline.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void state_of(struct qos *q, uint32_t mtu)
{
	*q = (struct qos){.has = QOS_BIT(QOS_MTU), .mtu = mtu};
}

/* A transaction that left mtu on a port. */
static void add(const char *ifname, uint32_t mtu, enum tx_state end, char id[JOURNAL_ID_MAX])
{
	struct tx_port port = {.ib_port = 1};
	struct tx tx = {.port_count = 1, .port = &port};

	snprintf(port.ifname, sizeof(port.ifname), "%s", ifname);
	state_of(&port.before, 1500);
	state_of(&port.after, mtu);
	port.has_after = true;
	record_tx(dir, &tx, end);
	snprintf(id, JOURNAL_ID_MAX, "%s", tx.id);
}

static uint32_t mtu_of(const char *ifname)
{
	char id[JOURNAL_ID_MAX];
	struct qos q;

	return drift_baseline_find(AT(dir), ifname, &q, id, NULL) ? 0 : q.mtu;
}

static void test_newest_that_stands(void **state)
{
	char first[JOURNAL_ID_MAX], id[JOURNAL_ID_MAX];

	(void)state;
	assert_int_equal(mtu_of("p0"), 0);
	add("p0", 9000, TX_DONE, first);
	assert_int_equal(mtu_of("p0"), 9000);
	assert_int_equal(mtu_of("p1"), 0);
	add("p1", 4000, TX_DONE, id);
	assert_int_equal(mtu_of("p0"), 9000);
	assert_int_equal(mtu_of("p1"), 4000);
	add("p0", 5000, TX_UNDONE, id);
	assert_int_equal(mtu_of("p0"), 9000);
	add("p0", 6000, TX_LOST, id);
	assert_int_equal(mtu_of("p0"), 9000);
	add("p0", 7000, TX_DONE, id);
	assert_int_equal(mtu_of("p0"), 7000);
	/* Rolled back: the one before counts again. */
	end_tx(dir, id, TX_UNDONE);
	assert_int_equal(mtu_of("p0"), 9000);
}

static void test_repair_is_none(void **state)
{
	char id[JOURNAL_ID_MAX];

	(void)state;
	add("p0", 9000, TX_DONE, id);
	add("p0", 1500, TX_DONE, id);
	assert_int_equal(drift_mark_repair(AT(dir), id, NULL), 0);
	assert_int_equal(mtu_of("p0"), 9000);
	assert_int_equal(drift_mark_repair(AT(dir), "20200101-000000-00", NULL), -ENOENT);
}

static void test_broken_journal(void **state)
{
	char id[JOURNAL_ID_MAX], path[128];
	FILE *f;

	(void)state;
	add("p0", 9000, TX_DONE, id);
	add("p0", 4000, TX_DONE, id);
	snprintf(path, sizeof(path), "%s/tx/%s/journal", dir, id);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("{\"schema\":7}\n", f);
	fclose(f);
	assert_int_equal(mtu_of("p0"), 9000);
}

static void test_stamp(void **state)
{
	char id[JOURNAL_ID_MAX];
	uint64_t one, two;

	(void)state;
	assert_true(drift_baseline_stamp(AT(dir)) == 0);
	add("p0", 9000, TX_DONE, id);
	one = drift_baseline_stamp(AT(dir));
	assert_true(one != 0 && one == drift_baseline_stamp(AT(dir)));
	end_tx(dir, id, TX_UNDONE);
	two = drift_baseline_stamp(AT(dir));
	assert_true(two != one);
	add("p0", 9000, TX_DONE, id);
	assert_true(drift_baseline_stamp(AT(dir)) != two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_newest_that_stands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repair_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_journal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stamp, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
