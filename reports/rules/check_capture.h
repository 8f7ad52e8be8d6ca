/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rules of SCOPE_CAPTURE look at, and what they advise.
 */
#ifndef REPORTS_CHECK_CAPTURE_H
#define REPORTS_CHECK_CAPTURE_H

#include "capture/flow/summary.h"
#include "capture/flow/samples.h"
#include "reports/engine/rule.h"

/* How RoCE that bypasses the kernel can be captured, one sentence each; NULL ends. */
extern const char *const capture_methods[];

#endif
