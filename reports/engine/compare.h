/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a setting across hosts and names the odd ones: those that differ from the profile while
 * others match it; else those outside the majority; without a majority, all.
 */
#ifndef REPORTS_COMPARE_H
#define REPORTS_COMPARE_H

#include "reports/engine/subject.h"

struct comparison {
	uint64_t fields;	/* QOS_BIT()s that are compared */
	uint64_t conform;	/* fields by which the profile tells right from wrong */
	enum qos_field_id show; /* the field evidence shows when all agree */
	const char *noun;	/* "the PFC mask" */
};

/* One PASS for the fabric, or a violation for each odd port. */
void compare_hosts(const struct rule *rule, const struct rule_context *c,
		   const struct comparison *what, struct findings *out);

#endif
