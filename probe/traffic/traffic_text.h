/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic in words, for progress, reports and the results of a probe.
 */
#ifndef PROBE_TRAFFIC_TEXT_H
#define PROBE_TRAFFIC_TEXT_H

#include <stdio.h>

#include "probe/traffic/traffic.h"

/* "64.2 Mb/s" */
void traffic_rate_text(double bytes_per_s, char *buf, size_t size);

/* "4 streams, 2 Gb/s, ToS 32 (DSCP 8)" */
void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size);

/* "waits for 16 completions, 2 control acknowledgements; posted 308, last completion 5.0 s ago;
 * arrived 0, last 5.3 s ago; no processor for 0.1 of 5.3 s", without an end of line. */
void traffic_stall_print(const struct traffic_stall *s, FILE *out);

#endif
