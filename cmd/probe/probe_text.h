/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A two-ended probe in words: what is asked, what both ends are, what came out.
 */
#ifndef CMD_PROBE_TEXT_H
#define CMD_PROBE_TEXT_H

#include <stdio.h>

#include "probe/coord/two_ended.h"

/* "RC WRITE, 4 QPs, 64 KiB, flat out, ToS 104 (DSCP 26), sampled" */
void probe_class_text(const struct traffic_class *c, char *buf, size_t size);

/* "1.5 MB", "64 KiB"; decimal for traffic, binary for sizes of messages. */
void probe_bytes_text(uint64_t bytes, char *buf, size_t size);
void probe_size_text(uint64_t bytes, char *buf, size_t size);

/* "12.3 us" */
void probe_time_text(uint64_t ns, char *buf, size_t size);

/* All of the record but the verdict. */
void probe_print(const struct two_ended *t, FILE *out);

struct traffic_verdict;
struct size_verdicts;
/* A row for each size of a sweep, and what is said of those that are not PASS; NULL: not judged. */
void probe_print_sizes(const struct two_ended *t, const struct size_verdicts *v, FILE *out);

void probe_print_verdict(const struct traffic_verdict *v, FILE *out);

/* What would be measured: each word of the spec with its meaning. */
void probe_explain(const struct two_ended_wish *w, FILE *out);

/* What registering memory costs on this host, or why that was not measured. */
void probe_explain_registration(const struct registration *r, const struct err *why, FILE *out);

#endif
