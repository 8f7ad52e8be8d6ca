/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of the switch's faults: one fault named x, the time since the start at will, and what
 * statistics say of it.
 */
#ifndef TESTS_UNIT_SWITCH_FAULT_H
#define TESTS_UNIT_SWITCH_FAULT_H

#include "tests/lab/switch/test/switch_scene.h"

/* A fault added here lasts from 10 s to 20 s. */
enum { BEFORE_S = 5, DURING_S = 15, AFTER_S = 25 };

/* Adds a fault by its keys but the times; its name is x. */
static inline void add(struct scene *s, const char *keys)
{
	char line[256];

	s->lab->start_ns = s->lab->now_ns;
	snprintf(
		line, sizeof(line),
		"{\"op\":\"fault\",\"add\":{\"name\":\"x\",\"start\":\"10s\",\"heal\":\"20s\",%s}}",
		keys);
	tell_switch(s, line);
}

/* Moves the switch to a time since its start. */
static inline void go_to(struct scene *s, unsigned int seconds)
{
	s->lab->start_ns = s->lab->now_ns - seconds * NS_PER_S;
	s->lab->tick_ns = 0;
	step(s);
	for (unsigned int i = 0; i < s->host_count; i++)
		read_host(s, i, 0);
}

/* A number of the fault by its key in statistics. */
static inline uint64_t stat_of(struct scene *s, const char *key)
{
	json_t *stats = ask(s, "{\"op\":\"stats\"}", true), *x;
	uint64_t value;

	x = json_object_get(json_object_get(stats, "faults"), "x");
	assert_true(json_is_object(x));
	value = json_is_true(json_object_get(x, key)) + json_integer_value(json_object_get(x, key));
	json_decref(stats);
	return value;
}

#endif
