/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that came from hosts, files and the wire, made fit for terminals, JSON and XML.
 */
#ifndef REPORTS_CLEAN_H
#define REPORTS_CLEAN_H

#include <stdio.h>

/* A copy in valid UTF-8 without control characters and without what XML 1.0 forbids; each bad byte
 * or character becomes '?'. NULL (-ENOMEM) or an allocated string; NULL text counts as empty. */
char *clean_text(const char *text);

/* Writes clean_text(text). */
void clean_put(FILE *out, const char *text);

#endif
