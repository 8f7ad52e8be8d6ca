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
void add_fault(struct scene *s, const char *keys);

/* Moves the switch to a time since its start. */
void go_to(struct scene *s, unsigned int seconds);

/* A number of the fault by its key in statistics. */
uint64_t stat_of(struct scene *s, const char *key);

#endif
