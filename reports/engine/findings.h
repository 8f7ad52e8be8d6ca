/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing findings: begin one, add evidence, set the verdict. All calls act on the finding begun
 * last; the first -ENOMEM is kept in out->err and makes later calls do nothing.
 */
#ifndef REPORTS_FINDINGS_H
#define REPORTS_FINDINGS_H

#include "reports/engine/rule.h"

typedef unsigned long long count_t; /* of a uint64_t, for %llu */

/* Ending of a noun after a number: "s", or nothing when it is 1. */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Begins a finding, INCONCLUSIVE until finding_set(). host and port may be empty. */
void finding_begin(struct findings *out, const struct rule *rule, const char *host,
		   const char *port, uint8_t prio_set);

/* Sets verdict and text. FAIL becomes WARN when the rule's severity is below error. */
void finding_set(struct findings *out, enum verdict v, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Appends to the text. */
void finding_append(struct findings *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

void finding_evidence(struct findings *out, enum evidence_kind kind, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Notes file and line of the profile that state the field; nothing when none does. */
void finding_expected_by(struct findings *out, const struct profile *p, enum qos_field_id id);

/* Replaces the priorities of the finding. */
void finding_prios(struct findings *out, uint8_t prio_set);

/* Returns the verdict of the finding begun last; INCONCLUSIVE without one. */
enum verdict finding_verdict(const struct findings *out);

#endif
