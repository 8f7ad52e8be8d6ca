/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates with three digits, and what a TCP background was asked to do.
 */
#include "probe/traffic/traffic_text.h"

#include <stdio.h>

void traffic_rate_text(double bytes_per_s, char *buf, size_t size)
{
	static const char *const units[] = {"kb/s", "Mb/s", "Gb/s"};
	double value = bytes_per_s * 8e-3;
	size_t i = 0;

	while (value >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, "%.3g %s", value, units[i]);
}

void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size)
{
	static const char *const ways[] = {
		[TRAFFIC_FORWARD] = "",
		[TRAFFIC_BACKWARD] = ", backward",
		[TRAFFIC_BOTH] = ", both ways",
	};
	char rate[48] = "flat out";

	if (tcp->rate_bytes_per_s)
		traffic_rate_text((double)tcp->rate_bytes_per_s, rate, sizeof(rate));
	snprintf(buf, size, "%u stream%s, %s, ToS %u (DSCP %u)%s", tcp->streams,
		 tcp->streams == 1 ? "" : "s", rate, tcp->tos, tcp->tos >> 2, ways[tcp->direction]);
}
