/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP backgrounds of pairs. Their figures are in none of the pair's own.
 */
#include "probe/record/run_tcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define TEXT_MAX 128

_Static_assert(FABRIC_TCP_MAX == TRAFFIC_TCP_MAX, "an inventory asks for what a probe can do");
_Static_assert(FABRIC_STREAMS_MAX == TRAFFIC_STREAMS_MAX, "likewise");

void run_tcp_set_spec(const struct fabric *f, struct traffic_spec *spec)
{
	static const enum traffic_direction ways[] = {
		[FABRIC_TCP_FORWARD] = TRAFFIC_FORWARD,
		[FABRIC_TCP_BACKWARD] = TRAFFIC_BACKWARD,
		[FABRIC_TCP_BOTH] = TRAFFIC_BOTH,
	};

	spec->tcp_count = f->tcp_count;
	for (unsigned int i = 0; i < f->tcp_count; i++)
		spec->tcp[i] = (struct traffic_tcp){
			.tos = (uint8_t)f->tcp[i].tos,
			.direction = ways[f->tcp[i].direction],
			.streams = f->tcp[i].streams,
			.rate_bytes_per_s = f->tcp[i].rate_kbps * UINT64_C(125),
		};
}

int run_tcp_alloc(struct run_pair *p, const struct traffic_tcp *asked, unsigned int count)
{
	free(p->tcp);
	p->tcp = NULL;
	p->tcp_count = 0;
	if (!count)
		return 0;
	p->tcp = calloc(count, sizeof(*p->tcp));
	if (!p->tcp)
		return -ENOMEM;
	p->tcp_count = count;
	for (unsigned int i = 0; i < count; i++)
		p->tcp[i].asked = asked[i];
	return 0;
}

int run_tcp_parse_report(struct run_pair *p, bool client, const json_t *report, struct err *e)
{
	const json_t *list;
	int err;

	if (!p->tcp_count)
		return 0;
	err = json_get_array(report, "tcp", p->tcp_count, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		struct run_tcp *tcp = &p->tcp[i];

		err = traffic_tcp_result_from_json(json_array_get(list, i),
						   client ? &tcp->client : &tcp->server, e);
		if (err)
			err_prefix(e, "tcp[%zu]", i);
	}
	return err;
}

void run_tcp_text(const struct run_tcp *tcp, unsigned int number, char *buf, size_t size)
{
	char asked[TEXT_MAX];

	traffic_tcp_text(&tcp->asked, asked, sizeof(asked));
	snprintf(buf, size, "TCP %u, %s: %.1f MB arrived, %llu segments retransmitted", number,
		 asked,
		 ((double)tcp->client.arrived_bytes + (double)tcp->server.arrived_bytes) / 1e6,
		 (unsigned long long)tcp->client.retransmits + tcp->server.retransmits);
}

/* Others tell up to 63 bits each. */
static void tcp_add_saturated(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void run_tcp_add(struct run_tcp *sum, const struct run_tcp *more)
{
	sum->asked = more->asked;
	tcp_add_saturated(&sum->client.arrived_bytes, more->client.arrived_bytes);
	tcp_add_saturated(&sum->server.arrived_bytes, more->server.arrived_bytes);
	tcp_add_saturated(&sum->client.retransmits, more->client.retransmits);
	tcp_add_saturated(&sum->server.retransmits, more->server.retransmits);
}
