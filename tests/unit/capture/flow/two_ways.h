/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets between two queue pairs, A and B, into a flow table: requests of A, answers of B.
 */
#ifndef TESTS_UNIT_TWO_WAYS_H
#define TESTS_UNIT_TWO_WAYS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/flow/flow.h"
#include "tests/unit/capture/flow/good_packet.h"

#define US	  UINT64_C(1000)
#define MS	  UINT64_C(1000000)
#define SEND_ONLY 0x04
#define ACK	  0x11
#define ACKED	  0x1f
#define NAK	  0x60
#define A_QPN	  0x11 /* A's QP, that B sends to */
#define B_QPN	  0x22

/* From A to B, or back. */
static struct packet packet(bool back, uint8_t opcode, uint32_t psn, uint64_t time_ns)
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

static void add(struct flow_table *t, struct packet p)
{
	assert_int_equal(flow_table_add(t, &p), 0);
}

static void send(struct flow_table *t, uint32_t psn, uint64_t time_ns)
{
	add(t, packet(false, SEND_ONLY, psn, time_ns));
}

static inline void answer(struct flow_table *t, uint8_t syndrome, uint32_t psn, uint64_t time_ns)
{
	struct packet p = packet(true, ACK, psn, time_ns);

	p.aeth.syndrome = syndrome;
	add(t, p);
}

static struct flow flow_to(const struct flow_table *t, uint32_t qpn)
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

#endif
