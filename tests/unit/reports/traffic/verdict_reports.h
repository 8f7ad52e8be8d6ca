/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports that are short of what was asked for, or of what the other end sent.
 */
#ifndef TESTS_UNIT_VERDICT_REPORTS_H
#define TESTS_UNIT_VERDICT_REPORTS_H

#include "tests/unit/reports/traffic/verdict_others.h"

extern const struct fault_table report_faults;

#endif
