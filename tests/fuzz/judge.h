/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules and reports over a run that came out of a document.
 */
#ifndef TESTS_FUZZ_JUDGE_H
#define TESTS_FUZZ_JUDGE_H

#include "probe/record/run.h"

/* Every rule has an answer, and every writer a report. */
void fuzz_judge(const struct run *r);

#endif
