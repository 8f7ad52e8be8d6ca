/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of `capture stats --by`: opcode, dscp, host, time.
 */
#ifndef CMD_CAPTURE_BY_H
#define CMD_CAPTURE_BY_H

#include "capture/summary.h"
#include "capture/views.h"

extern const char *const capture_by_words[]; /* NULL ends */

/* Prints one table, as text or JSON. Returns an exit code. */
int capture_by_print(const char *by, const struct capture_views *v,
		     const struct capture_summary *s);

#endif
