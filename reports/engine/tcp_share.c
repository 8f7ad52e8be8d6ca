/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates the results of TCP backgrounds. TCP loss is not counted as a fault.
 */
#include "reports/engine/tcp_share.h"

#include <stdio.h>

#define SEGMENT_LEAST  500u /* payload, when the segment size is unknown */
#define SEGMENT_HEADER 120u /* Ethernet with VLAN and FCS, IPv6, TCP with options; or an ACK */
#define RATE_PC	       10u  /* of the requested rate: TCP may be slow beside RDMA */
#define SLOTS_LEAST    4u

void tcp_share_bytes(const struct traffic_tcp_result *from, const struct traffic_tcp_result *to,
		     uint64_t *data, uint64_t *back)
{
	uint64_t bytes = to ? to->arrived_bytes : 0, segments;

	if (from)
		bytes = larger(bytes, larger(from->wire_bytes, from->sent_bytes));
	segments = bytes / (from && from->mss ? from->mss : SEGMENT_LEAST) + (bytes > 0);
	*data += bytes + segments * SEGMENT_HEADER;
	*back += segments * SEGMENT_HEADER;
}

/* TCP has no service level: on a host that trusts PCP it has priority 0 by default. */
uint8_t tcp_share_prios(const struct qos *q, const struct traffic_tcp *tcp)
{
	int prio = 0;

	if (!qos_has(q, QOS_TRUST) || q->trust != QOS_TRUST_PCP)
		prio = qos_dscp_to_prio(q, tcp->tos >> 2);
	return prio < 0 || prio >= QOS_PRIOS ? 0xff : (uint8_t)(1u << prio);
}

/* True when nothing arrived in the second half of the run. Needs four slots. */
static bool tcp_fell_silent(const struct rate_series *v)
{
	uint64_t whole = v->width_ns ? (v->end_ns - v->start_ns) / v->width_ns : 0;

	if (whole < SLOTS_LEAST || whole > v->slots)
		return false;
	for (uint64_t i = whole / 2; i < v->slots; i++)
		if (v->bytes[i])
			return false;
	return true;
}

/* At the receiver: true when TCP was absent, below its rate, or stopped early. */
static bool tcp_share_short(const struct traffic_tcp *asked, unsigned int number,
			    const struct traffic_tcp_result *r, char *buf, size_t size)
{
	uint64_t rate = rate_per_s(r->arrived_bytes, r->duration_ns);

	if (!r->arrived_bytes)
		snprintf(buf, size,
			 "no data of TCP background %u arrived: the port was not tested with it",
			 number);
	else if (r->duration_ns && rate < asked->rate_bytes_per_s / 100 * RATE_PC)
		snprintf(buf, size,
			 "%.1f of %.1f MB/s requested arrived of TCP background %u: the port was "
			 "not tested with it",
			 (double)rate / 1e6, (double)asked->rate_bytes_per_s / 1e6, number);
	else if (tcp_fell_silent(&r->goodput))
		snprintf(buf, size,
			 "no data of TCP background %u arrived in the second half of the run",
			 number);
	else
		return false;
	return true;
}

bool tcp_share_missing(const struct traffic_tcp *asked, unsigned int number, bool client,
		       const struct traffic_tcp_result *r, char *buf, size_t size)
{
	bool receives = asked->direction == TRAFFIC_BOTH ||
			(asked->direction == TRAFFIC_BACKWARD) == client;

	if (!r->broken)
		return receives && tcp_share_short(asked, number, r, buf, size);
	snprintf(buf, size, "%u of %u streams of TCP background %u broke: %s", r->broken,
		 asked->streams, number, r->detail);
	return true;
}
