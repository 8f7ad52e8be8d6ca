/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What two_ways.h declares.
 */
#include "tests/unit/capture/flow/two_ways.h"

struct packet packet(bool back, uint8_t opcode, uint32_t psn, uint64_t time_ns)
{
	struct packet p = good_packet(opcode, back ? A_QPN : B_QPN, psn);

	p.sport = back ? 50001 : 50000;
	p.ackreq = true;
	p.ttl = 64;
	p.time_ns = 1000 * MS + time_ns;
	p.src[15] = back ? 2 : 1;
	p.dst[15] = back ? 1 : 2;
	return p;
}

void add_packet(struct flow_table *t, struct packet p)
{
	assert_int_equal(flow_table_add(t, &p), 0);
}

void send_one(struct flow_table *t, uint32_t psn, uint64_t time_ns)
{
	add_packet(t, packet(false, SEND_ONLY, psn, time_ns));
}

void answer(struct flow_table *t, uint8_t syndrome, uint32_t psn, uint64_t time_ns)
{
	struct packet p = packet(true, ACK, psn, time_ns);

	p.aeth.syndrome = syndrome;
	add_packet(t, p);
}

struct flow flow_to(const struct flow_table *t, uint32_t qpn)
{
	struct flow f = {0};

	for (unsigned int i = 0; i < flow_table_count(t); i++) {
		flow_table_get(t, i, &f);
		if (f.dest_qpn == qpn)
			return f;
	}
	fail_msg("no flow to 0x%x", qpn);
	return f;
}
