/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs tables of {rule, what differs from a good run, host, verdict}, and demands that each rule of
 * a group has a case for every verdict it can give.
 */
#ifndef TESTS_UNIT_RULE_CASES_H
#define TESTS_UNIT_RULE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fixture/fabric_run.h"

struct rule_case {
	const char *rule;
	void (*change)(struct fabric_run *f); /* NULL: a good run */
	const char *host;		      /* "" is the fabric */
	enum verdict want;
	const char *says; /* part of the line; NULL = any */
};

void check_case(const struct rule_case *c);
bool listed(const char *const *list, const char *id);

/* Each rule whose id begins with one of groups: PASS and violation, and INCONCLUSIVE unless the
 * rule is in never_open, because what it reads is always there. */
void check_coverage(const struct rule_case *cases, size_t count, const char *const *groups,
		    const char *const *never_open);

#endif
