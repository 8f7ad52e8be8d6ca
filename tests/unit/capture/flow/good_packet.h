/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet of RoCE with nothing wrong in it, as it comes out of the decoder.
 */
#ifndef TESTS_UNIT_GOOD_PACKET_H
#define TESTS_UNIT_GOOD_PACKET_H

#include "capture/decode/opcode.h"

/* From ::1 to ::2. */
struct packet good_packet(uint8_t opcode, uint32_t qpn, uint32_t psn);

#endif
