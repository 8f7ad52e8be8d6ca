/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The invariant CRC of RoCE: everything from the network header to the pad that no switch may
 * change. IBTA vol 1, 7.8.1 and annexes A16.5 and A17.9.
 */
#ifndef CAPTURE_ICRC_H
#define CAPTURE_ICRC_H

#include "capture/decode/packet.h"

/*
 * ICRC over one packet. l3 points to the IPv4 header (20 bytes, no options), the IPv6 header or the
 * GRH, bth_at is the offset of the BTH from it, len the bytes from l3 up to, and without, the ICRC
 * itself. The value is to be compared with the four bytes read as little endian.
 */
uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len);

#endif
