/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP streams that run in parallel to the pairs of a run: spec from the inventory, record, and
 * text.
 */
#ifndef PROBE_RUN_TCP_H
#define PROBE_RUN_TCP_H

#include "probe/record/run.h"

/* Adds the TCP streams of the inventory to the spec of one host. */
void run_tcp_set_spec(const struct fabric *f, struct traffic_spec *spec);

/* Allocates results for these streams; run_pair_clear() frees them, and so does the next call.
 * -ENOMEM. */
int run_tcp_alloc(struct run_pair *p, const struct traffic_tcp *asked, unsigned int count);

/* Reads the results of one host from "tcp" of its report. A killed host reports fewer; missing ones
 * stay zero. More than requested are an error. */
int run_tcp_parse_report(struct run_pair *p, bool client, const json_t *report, struct err *e);

/* Writes "TCP 0, 4 streams, no rate limit, ToS 0 (DSCP 0): 34.2 MB arrived, 12 segments ...". */
void run_tcp_text(const struct run_tcp *tcp, unsigned int number, char *buf, size_t size);

/* Adds the results of another pair; the request becomes the other's. */
void run_tcp_add(struct run_tcp *sum, const struct run_tcp *more);

#endif
