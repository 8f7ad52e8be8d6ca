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
struct packet packet(bool back, uint8_t opcode, uint32_t psn, uint64_t time_ns);
void add_packet(struct flow_table *t, struct packet p);
void send_one(struct flow_table *t, uint32_t psn, uint64_t time_ns);
void answer(struct flow_table *t, uint8_t syndrome, uint32_t psn, uint64_t time_ns);
struct flow flow_to(const struct flow_table *t, uint32_t qpn);

#endif
