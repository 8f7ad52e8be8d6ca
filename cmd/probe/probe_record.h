/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left of a probe, with one server or many: its document, and the record of --out.
 */
#ifndef CMD_PROBE_RECORD_H
#define CMD_PROBE_RECORD_H

#include <jansson.h>

#include "profiles/base/file.h"

/* The document with its verdict and exit code; takes both, which may be NULL. NULL on -ENOMEM. */
json_t *probe_document(json_t *doc, json_t *verdict, int code);

/* The folder of --out, before anything is sent: a record that cannot be kept is known then. f->path
 * stays NULL without --out. */
int probe_record_open(struct folder *f, struct err *e);

/* Says where the record is, or with err why there is none; returns the exit code. */
int probe_record_tell(const struct folder *f, int code, int err, const struct err *e);

#endif
