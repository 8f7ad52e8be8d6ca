/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP backgrounds of the pairs of a run: from the inventory, into the record, and in words.
 */
#ifndef PROBE_RUN_TCP_H
#define PROBE_RUN_TCP_H

#include "probe/record/run.h"

/* What the inventory wants beside each pair, into the spec of one end. */
void run_tcp_set_spec(const struct fabric *f, struct traffic_spec *spec);

/* Room for the results of these. -ENOMEM. run_pair_clear() takes it away. */
int run_tcp_alloc(struct run_pair *p, const struct traffic_tcp *asked, unsigned int count);

/* Results of one end: the "tcp" of its report. An end that was killed tells fewer than were asked,
 * and more are an error; those that are missing stay zero. */
int run_tcp_parse_report(struct run_pair *p, bool client, const json_t *report, struct err *e);

/* "TCP 0, 4 streams, flat out, ToS 0 (DSCP 0): 34.2 MB arrived, 12 segments sent again" */
void run_tcp_text(const struct run_tcp *tcp, unsigned int number, char *buf, size_t size);

/* Adds what was moved and sent again by another pair's; asked becomes the other's. */
void run_tcp_add(struct run_tcp *sum, const struct run_tcp *more);

#endif
