/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Root causes: which finding explains which, by the causes[] of their rules.
 */
#ifndef REPORTS_CAUSES_H
#define REPORTS_CAUSES_H

struct findings;
struct run;

/* Links each violation to its root cause. Called by rules_run(); -ENOMEM is kept in f->err. */
void findings_set_causes(struct findings *f, const struct run *run);

#endif
