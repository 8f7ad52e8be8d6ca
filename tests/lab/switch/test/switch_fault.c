/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What switch_fault.h declares.
 */
#include "tests/lab/switch/test/switch_fault.h"

void add_fault(struct scene *s, const char *keys)
{
	char line[256];

	s->lab->start_ns = s->lab->now_ns;
	snprintf(
		line, sizeof(line),
		"{\"op\":\"fault\",\"add\":{\"name\":\"x\",\"start\":\"10s\",\"heal\":\"20s\",%s}}",
		keys);
	tell_switch(s, line);
}

void go_to(struct scene *s, unsigned int seconds)
{
	s->lab->start_ns = s->lab->now_ns - seconds * NS_PER_S;
	s->lab->tick_ns = 0;
	step_switch(s);
	for (unsigned int i = 0; i < s->host_count; i++)
		read_host(s, i, 0);
}

uint64_t stat_of(struct scene *s, const char *key)
{
	json_t *stats = ask(s, "{\"op\":\"stats\"}", true), *x;
	uint64_t value;

	x = json_object_get(json_object_get(stats, "faults"), "x");
	assert_true(json_is_object(x));
	value = json_is_true(json_object_get(x, key)) + json_integer_value(json_object_get(x, key));
	json_decref(stats);
	return value;
}
