/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport part of packet_decode(): BTH, extension headers, payload length and ICRC. The ICRC
 * covers all bytes from the network header to the pad that no switch may change. IBTA vol 1, 7.8.1
 * and annexes A16.5 and A17.9.
 */
#ifndef CAPTURE_BTH_H
#define CAPTURE_BTH_H

#include "capture/decode/packet.h"

#define BTH_LEN	 12
#define ICRC_LEN 4

/*
 * Decodes the BTH at p->bth_offset. end is the offset after the ICRC according to the network
 * header, perhaps beyond cap_len. verifiable: no known reason makes the ICRC meaningless.
 */
void bth_decode(const uint8_t *data, uint32_t end, bool verifiable, struct packet *p);

/*
 * Computes the ICRC of a packet. l3 points to the IPv4 header (20 bytes, no options), the IPv6
 * header or the GRH; bth_at is the offset of the BTH from it; len is the number of bytes from l3 to
 * the ICRC. Compare the value with the four ICRC bytes as little endian.
 */
uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len);

/* Sets fault and note, unless there is a fault already: the first one is the cause. */
void packet_fault(struct packet *p, enum packet_fault fault, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Sets the fault of a capture or frame that ends before `need` bytes, inside of what. */
void packet_fault_short(struct packet *p, uint32_t need, const char *what);

/* True when bytes up to `need` were captured; else sets the fault: capture or frame too short. */
static inline bool packet_reaches(struct packet *p, uint32_t need, const char *what)
{
	if (p->cap_end < need)
		packet_fault_short(p, need, what);
	return p->cap_end >= need;
}

#endif
