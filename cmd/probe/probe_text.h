/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the plan and the result of `probe client` for people.
 */
#ifndef CMD_PROBE_TEXT_H
#define CMD_PROBE_TEXT_H

#include <stdio.h>

#include "probe/coord/pair.h"

/* "RC WRITE, 4 QPs, 64 KiB, no rate limit, ToS 104 (DSCP 26), check: sampled" */
void probe_class_text(const struct traffic_class *c, char *buf, size_t size);

/* "1.5 MB": decimal units, for traffic. */
void probe_bytes_text(uint64_t bytes, char *buf, size_t size);

/* Prints the record without the verdict. */
void probe_print(const struct pair *t, FILE *out);

struct size_verdicts;
/* Prints one row per message size. v NULL: no verdict. */
void probe_print_sizes(const struct pair *t, const struct size_verdicts *v, FILE *out);

/* Prints the planned run and the meaning of each of its terms. */
void probe_explain(const struct pair_request *w, FILE *out);

/* Prints the cost of memory registration on this host, or the reason it was not measured. */
void probe_explain_registration(const struct registration *r, const struct err *why, FILE *out);

#endif
