/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points that see RoCE, for rules of SCOPE_CAPTURE and for the capture commands.
 */
#ifndef REPORTS_CHECK_CAPTURE_H
#define REPORTS_CHECK_CAPTURE_H

#include "capture/flow/summary.h"
#include "capture/flow/samples.h"
#include "reports/engine/rule.h"

/* Ways to capture RoCE that bypasses the kernel, one phrase each; NULL ends. */
extern const char *const capture_methods[];

#endif
