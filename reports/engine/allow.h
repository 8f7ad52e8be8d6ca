/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions of the inventory (key allow): marks the findings that a site accepts.
 */
#ifndef REPORTS_ALLOW_H
#define REPORTS_ALLOW_H

#include "reports/engine/rule.h"

/* True when the run started after the last day of the exception (UTC). */
bool allow_expired(const struct fabric_allow *a, const struct run *run);

/* Marks each FAIL, WARN and INCONCLUSIVE that an exception covers which has not expired. The marks
 * point into the fabric. */
void findings_allow(struct findings *f, const struct fabric *fabric, const struct run *run);

/* Number of findings that this exception covers; of all exceptions when NULL. */
size_t allow_count(const struct findings *f, const struct fabric_allow *a);

/* Checks that the rules of all exceptions exist and may be allowed. -EINVAL with file and line of
 * the first that may not. */
int allow_check(const struct fabric *f, struct err *e);

#endif
