/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic in words, for progress, reports and the results of a probe.
 */
#ifndef PROBE_TRAFFIC_TEXT_H
#define PROBE_TRAFFIC_TEXT_H

#include "probe/traffic/traffic.h"

/* "64.2 Mb/s" */
void traffic_rate_text(double bytes_per_s, char *buf, size_t size);

/* "4 streams, 2 Gb/s, ToS 32 (DSCP 8)" */
void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size);

#endif
