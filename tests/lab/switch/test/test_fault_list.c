/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tests/lab/switch/fault_list.c: faults by name while the switch runs, and their times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lab/switch/test/switch_fault.h"

/* Faults have names: given or made, never two alike; each can be changed and ended alone. */
static void test_names(void **state)
{
	static const struct {
		const char *request;
		bool ok;
		const char *name;
	} steps[] = {
		{"{\"add\":{\"kind\":\"drop\"}}", true, "drop"},
		{"{\"add\":{\"kind\":\"drop\"}}", true, "drop-2"},
		{"{\"add\":{\"kind\":\"drop\",\"name\":\"drop-2\"}}", false, NULL},
		{"{\"add\":{\"kind\":\"delay\",\"name\":\"slow\"}}", true, "slow"},
		{"{\"add\":{\"kind\":\"drop\",\"port\":\"p9\"}}", false, NULL},
		{"{\"add\":{\"kind\":\"mtu\"}}", false, NULL},
		{"{\"add\":{\"kind\":\"dscp\",\"value\":64}}", false, NULL},
		{"{\"add\":{\"kind\":\"drop\",\"start\":\"3s\",\"heal\":\"2s\"}}", false, NULL},
		{"{\"change\":{\"name\":\"slow\",\"delay\":\"7ms\"}}", true, "slow"},
		{"{\"change\":{\"name\":\"fast\",\"delay\":\"7ms\"}}", false, NULL},
		{"{\"change\":{\"delay\":\"7ms\"}}", false, NULL},
		{"{\"clear\":\"drop\"}", true, NULL},
		{"{\"clear\":\"drop\"}", false, NULL},
		{"{\"clear\":7}", false, NULL},
		{"{}", false, NULL},
	};
	struct scene s;
	json_t *list;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		json_t *request = json_loads(steps[i].request, 0, NULL), *answer;
		const char *name;
		char *line;

		json_object_set_new(request, "op", json_string("fault"));
		line = json_dumps(request, 0);
		answer = ask(&s, line, steps[i].ok);
		name = json_string_value(json_object_get(answer, "name"));
		if (steps[i].name)
			assert_string_equal(name, steps[i].name);
		json_decref(answer);
		json_decref(request);
		free(line);
	}
	assert_int_equal(s.lab->config.fault[1].delay_ms, 7);
	list = ask(&s, "{\"op\":\"fault\",\"list\":true}", true);
	assert_int_equal(json_object_size(json_object_get(list, "faults")), 2);
	assert_non_null(json_object_get(json_object_get(list, "faults"), "drop-2"));
	json_decref(list);
	tell_switch(&s, "{\"op\":\"fault\",\"clear\":true}");
	assert_int_equal(s.lab->config.fault_count, 0);
	close_scene(&s);
}

/* Times of a request count from the request. */
static void test_times_of_requests(void **state)
{
	static const unsigned int when[] = {100, 111, 121};
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	s.lab->start_ns = s.lab->now_ns - 100 * NS_PER_S;
	tell_switch(&s, "{\"op\":\"fault\",\"add\":{\"name\":\"x\",\"kind\":\"drop\","
			"\"start\":\"10s\",\"heal\":\"20s\"}}");
	for (unsigned int i = 0; i < 3; i++) {
		go_to(&s, when[i]);
		assert_int_equal(stat_of(&s, "active"), i == 1);
	}
	tell_switch(&s, "{\"op\":\"fault\",\"change\":{\"name\":\"x\",\"heal\":\"5s\"}}");
	assert_int_equal(stat_of(&s, "active"), 1);
	go_to(&s, 127);
	assert_int_equal(stat_of(&s, "active"), 0);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_times_of_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
