/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How checks write findings: begin one, add evidence, say the verdict. All calls act on the finding
 * begun last; the first -ENOMEM is kept in out->err and makes later calls do nothing.
 */
#ifndef REPORTS_FINDINGS_H
#define REPORTS_FINDINGS_H

#include "reports/engine/rule.h"

typedef unsigned long long count_t; /* of a uint64_t, for %llu */

/* A new finding, INCONCLUSIVE until said otherwise. host and port may be empty. */
void finding_begin(struct findings *out, const struct rule *rule, const char *host,
		   const char *port, uint8_t prio_set);

/* Verdict and its line. FAIL becomes WARN when the rule's severity is below error. */
void finding_set(struct findings *out, enum verdict v, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Appends to the line said. */
void finding_append(struct findings *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

void finding_evidence(struct findings *out, enum evidence_kind kind, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Where the profile states the field. Nothing when it does not. */
void finding_expected_by(struct findings *out, const struct profile *p, enum qos_field_id id);

/* Replaces the priorities the finding is about. */
void finding_prios(struct findings *out, uint8_t prio_set);

/* Verdict of the finding begun last; INCONCLUSIVE when there is none. */
enum verdict finding_verdict(const struct findings *out);

#endif
