/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ports in memory, what is wanted of them, and a folder for the journals: apply and rollback
 * there, whole or killed in the middle.
 */
#ifndef TESTS_UNIT_APPLY_WORLD_H
#define TESTS_UNIT_APPLY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "dcb/apply/plan_apply.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

struct world {
	struct fake_machine *machine; /* shared with children */
	struct fake_port before[2];
	struct dcb dcb;
	struct plan plan[2];
	char dir[32];
};

void fill_want(struct qos *want);
void make_plans(struct world *w);
void world_open(struct world *w);
void world_close(struct world *w);
int apply(struct world *w, enum apply_outcome *outcome, struct err *e);
int rollback(struct world *w, enum apply_outcome *outcome, struct err *e);

/* Runs one of them in a child that dies at point die_at. True if it did not live to the end. */
bool dies(struct world *w, bool rolling_back, unsigned int die_at);

/* Byte for byte: every member, and which are known. */
bool as_before(const struct world *w);
bool is_applied(const struct world *w);

#endif
