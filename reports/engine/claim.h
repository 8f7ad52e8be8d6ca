/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims of a fabric run about loss under congestion: by priority proven, failed, or not proven.
 */
#ifndef REPORTS_CLAIM_H
#define REPORTS_CLAIM_H

#include "reports/engine/rule.h"

/*
 * Priorities of the run's incast, each in one set; all empty when nothing was congested. A rule of
 * severity error and level maintenance proves a priority by its PASS if it has NEED_LOSSLESS.
 * Without a PASS, or with an INCONCLUSIVE or an allowed violation, the priority is not proven.
 */
struct claim {
	uint8_t proven, failed, unproven;
};

void claim_make(const struct run *run, const struct findings *f, struct claim *claim);

/* True when at least one priority is proven, and none failed or is not proven. */
bool claim_is_lossless(const struct claim *claim);

/* "lossless under congestion: proven on priority 3; not proven on priority 4" */
void claim_text(const struct claim *claim, char *buf, size_t size);

/* The next step towards a claim that is not lossless, one line. */
void claim_next_step(const struct claim *claim, const struct fabric *f, char *buf, size_t size);

#endif
