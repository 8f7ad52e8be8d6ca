/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture under judgement: what rules of SCOPE_CAPTURE are given.
 */
#ifndef REPORTS_CHECK_CAPTURE_H
#define REPORTS_CHECK_CAPTURE_H

#include "capture/flow/summary.h"
#include "capture/flow/witness.h"
#include "reports/engine/rules.h"

/* Borrowed, as long as the findings are made. */
struct capture_case {
	const char *name; /* of the file, as findings name it */
	const struct capture_summary *summary;
	const struct witnesses *witnesses;
};

/* The rules of captures alone, over one. fabric and run are empty ones, for the links of causes and
 * for the writers. -ENOMEM. The caller clears. */
int rules_run_capture(const struct fabric *f, const struct run *run,
		      const struct capture_case *capture, struct findings *out);

/* How RoCE that bypasses the kernel can be captured, one sentence each; NULL ends. */
extern const char *const capture_ways[];

#endif
