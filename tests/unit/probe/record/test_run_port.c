/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port of a record: what can be attributed to a load, how long to wait for its numbers, JSON.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/record/run_port.h"

static uint16_t row_named(enum metric m, const char *name)
{
	for (unsigned int row = 0; row < counter_def_count; row++)
		if (counter_defs[row].metric == m && !strcmp(counter_defs[row].name, name))
			return (uint16_t)row;
	fail_msg("%s: no such row", name);
	return 0;
}

static void count(struct counters *c, enum metric m, const char *row, uint64_t value)
{
	c->has[m] |= 1;
	c->def[m] = row_named(m, row);
	c->value[m][0] = value;
}

static const struct port facts = {.netdev = "roce0",
				  .ibdev = "rxe0",
				  .ib_port = 1,
				  .kind = PORT_SOFT_ROCE,
				  .driver = "virtio_net",
				  .rdma_driver = "rxe",
				  .speed_mbps = 10000};

/* Readings at 0 s, 10 s (idle), 11 s and 31 s (load). */
static void sample(struct run_port *o, const uint64_t gaps[READ_COUNT])
{
	static const uint64_t seconds[READ_COUNT] = {0, 10, 11, 31};

	*o = (struct run_port){.netdev = "roce0"};
	run_port_set_device(o, &facts);
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		struct counters c;

		counters_clear(&c);
		c.when_ns = seconds[r] * UINT64_C(1000000000);
		count(&c, METRIC_OUT_OF_SEQUENCE, "out_of_seq_request", gaps[r]);
		count(&c, METRIC_RX_BYTES, "statistics/rx_bytes", 1000 * gaps[r]);
		run_port_set_reading(o, r, &c);
	}
}

static void test_net(void **state)
{
	static const struct {
		const char *name;
		uint64_t gaps[READ_COUNT];
		uint64_t net;
	} cases[] = {
		{"quiet before", {5, 5, 5, 8}, 3},
		{"as many while idle", {0, 5, 5, 15}, 0},
		{"more than while idle", {0, 5, 5, 16}, 1},
		{"fewer than while idle", {0, 5, 5, 6}, 0},
		{"nothing at all", {7, 7, 7, 7}, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_port o;
		struct counters net;

		sample(&o, cases[i].gaps);
		assert_true(run_port_net(&o, &net));
		if (net.value[METRIC_OUT_OF_SEQUENCE][0] != cases[i].net)
			fail_msg("%s: %llu", cases[i].name,
				 (unsigned long long)net.value[METRIC_OUT_OF_SEQUENCE][0]);
	}
}

static void test_missing_readings(void **state)
{
	static const uint64_t gaps[READ_COUNT] = {0, 5, 5, 15};
	struct run_port o;
	struct counters net;

	(void)state;
	sample(&o, gaps);
	o.has &= ~(1u << READ_QUIET_AFTER);
	assert_true(run_port_net(&o, &net)); /* no baseline: all of it */
	assert_int_equal(net.value[METRIC_OUT_OF_SEQUENCE][0], 10);
	assert_false(run_port_delta(&o, READ_QUIET_BEFORE, &net, NULL));
	o.has &= ~(1u << READ_LOAD_AFTER);
	assert_false(run_port_net(&o, &net));
}

/* When the readings of a port are complete. */
static void test_settle(void **state)
{
	struct port soft = {.ibdev = "rxe0", .ib_port = 1, .kind = PORT_SOFT_ROCE};
	struct port hard = {.ibdev = "mlx5_0", .ib_port = 1};
	struct run_port p = {.netdev = "roce0"};

	(void)state;
	counters_clear(&p.reading[READ_LOAD_BEFORE]);
	run_port_set_device(&p, NULL); /* no RDMA */
	assert_int_equal(run_port_settle_ms(&p), 0);
	run_port_set_device(&p, &soft);
	assert_int_equal(run_port_settle_ms(&p), 0);
	p.has = 1 << READ_LOAD_BEFORE;
	assert_int_equal(run_port_settle_ms(&p), 50);
	/* Soft-RoCE on a NIC that refreshes its own numbers each second. */
	count(&p.reading[READ_LOAD_BEFORE], METRIC_RX_CRC_ERRORS, "rx_fcs_err_frames", 0);
	assert_int_equal(run_port_settle_ms(&p), 2100);
	run_port_set_device(&p, &hard);
	assert_int_equal(run_port_settle_ms(&p), 2200);
	p.has = 0;
	assert_int_equal(run_port_settle_ms(&p), 2200);
}

static void test_json(void **state)
{
	static const uint64_t gaps[READ_COUNT] = {1, 2, 3, 9};
	struct run_port o;
	struct counters back;
	struct err e = {0};
	json_t *json, *users = json_pack("[s, s, s, s, s]", "a", "b", "c", "d", "e");

	(void)state;
	sample(&o, gaps);
	assert_int_equal(run_port_add_users(&o, users, &e), 0);
	assert_int_equal(o.user_count, 5);
	json_decref(users);
	json = run_port_to_json(&o, "h1", &facts);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "netdev")), "roce0");
	assert_int_equal(json_integer_value(json_object_get(json, "speed_mbps")), 10000);
	assert_true(json_is_true(json_object_get(json, "soft")));
	assert_string_equal(json_string_value(json_object_get(json, "host")), "h1");
	assert_string_equal(json_string_value(json_object_get(json, "driver")), "virtio_net");
	assert_int_equal(json_array_size(json_object_get(json, "users")), 5);
	assert_int_equal(counters_from_json(json_object_get(json, "load_after"), &back, &e), 0);
	assert_memory_equal(&o.reading[READ_LOAD_AFTER], &back, sizeof(back));
	json_decref(json);
	o.has &= ~(1u << READ_LOAD_BEFORE);
	json = run_port_to_json(&o, "h1", &facts);
	assert_null(json_object_get(json, "load_before"));
	json_decref(json);
}

/* Two readings while a job runs: each process once, with its last number of queue pairs. */
static void test_users_again(void **state)
{
	struct run_port p = {.user_count = 0};
	struct err e = {0};
	json_t *first = json_pack("[s, s]", "1 queue pair of a (pid 7)", "NFS over RDMA (/data)");
	json_t *second = json_pack("[s, s, s]", "8 queue pairs of a (pid 7)",
				   "1 queue pair of a (pid 8)", "NFS over RDMA (/data)");
	json_t *many = json_array();

	(void)state;
	assert_int_equal(run_port_add_users(&p, first, &e), 0);
	assert_int_equal(run_port_add_users(&p, second, &e), 0);
	assert_int_equal(p.user_count, 3);
	assert_string_equal(p.user[0], "8 queue pairs of a (pid 7)");
	assert_string_equal(p.user[2], "1 queue pair of a (pid 8)");
	for (int i = 0; i < RUN_USERS_MAX; i++)
		json_array_append_new(many, json_sprintf("1 queue pair of b (pid %d)", i));
	for (int i = 0; i < 2; i++)
		assert_int_equal(run_port_add_users(&p, many, &e), 0);
	assert_int_equal(p.user_count, RUN_USERS_MAX);
	assert_int_equal(p.users_left, 3);
	json_decref(first);
	json_decref(second);
	json_decref(many);
}

static void test_users_hostile(void **state)
{
	static const char *const cases[] = {"{}", "[1]", "null"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_port o = {.user_count = 3};
		json_t *users = json_loads(cases[i], JSON_DECODE_ANY, NULL);
		struct err e = {0};

		if (run_port_add_users(&o, users, &e) != -EINVAL || !e.text[0])
			fail_msg("%s is accepted", cases[i]);
		assert_int_equal(o.user_count, 3);
		json_decref(users);
	}
}

static void test_growth(void **state)
{
	static const uint64_t gaps[READ_COUNT] = {1, 2, 3, 9};
	struct run_port o;
	json_t *list, *one;

	(void)state;
	sample(&o, gaps);
	list = run_port_growth_to_json(&o);
	assert_int_equal(json_array_size(list), 2);
	one = json_array_get(list, 1);
	assert_string_equal(json_string_value(json_object_get(one, "metric")), "out_of_sequence");
	assert_string_equal(json_string_value(json_object_get(one, "class")), "loss-request");
	assert_string_equal(json_string_value(json_object_get(one, "source")),
			    "rdma out_of_seq_request");
	assert_int_equal(json_integer_value(json_object_get(one, "idle")), 1);
	assert_int_equal(json_integer_value(json_object_get(one, "load")), 6);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net),	      cmocka_unit_test(test_missing_readings),
		cmocka_unit_test(test_settle),	      cmocka_unit_test(test_json),
		cmocka_unit_test(test_growth),	      cmocka_unit_test(test_users_again),
		cmocka_unit_test(test_users_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
