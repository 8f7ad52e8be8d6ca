/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the writer table, one file each, and what they share.
 */
#ifndef REPORTS_WRITERS_H
#define REPORTS_WRITERS_H

#include "reports/write/writer.h"

int write_text(const struct report *r, FILE *out, struct err *e);
int write_json(const struct report *r, FILE *out, struct err *e);
int write_junit(const struct report *r, FILE *out, struct err *e);

/* Writes a whole document at once, so that errno is the stream's. -errno, -ENOSPC on a full disk.
 */
int writer_put(FILE *out, const char *document, size_t size, struct err *e);

/* "PASS", "FAIL", "INCOMPLETE": the run's verdict by its exit code. */
const char *report_verdict(const struct report *r);

#endif
