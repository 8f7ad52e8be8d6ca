/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One frame of a generated capture: what it is to hold, and its bytes.
 */
#ifndef TESTS_TOOLS_FRAME_H
#define TESTS_TOOLS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define CAPGEN_FRAME_MAX 4352

enum {
	GEN_SEND_FIRST = 0x00,
	GEN_SEND_MIDDLE = 0x01,
	GEN_SEND_LAST = 0x02,
	GEN_SEND_ONLY = 0x04,
	GEN_WRITE_FIRST = 0x06,
	GEN_WRITE_MIDDLE = 0x07,
	GEN_WRITE_LAST = 0x08,
	GEN_WRITE_ONLY = 0x0a,
	GEN_READ = 0x0c,
	GEN_RESPONSE_FIRST = 0x0d,
	GEN_RESPONSE_MIDDLE = 0x0e,
	GEN_RESPONSE_LAST = 0x0f,
	GEN_RESPONSE_ONLY = 0x10,
	GEN_ACK = 0x11,
	GEN_CNP = 0x81,
};

/* The two ends of a way through the network. */
struct gen_path {
	uint8_t src[16], dst[16]; /* GID form */
	uint32_t qpn;
	uint16_t sport;
	bool ipv6, vlan;
};

struct gen_frame {
	uint8_t opcode, syndrome, ttl;
	bool ackreq, ce, bad_icrc;
	uint32_t psn, msn, payload, dma_len;
	uint64_t va;
};

/* Builds a frame into bytes; returns its length on the wire. The ICRC, and the payload, are filled
 * in only when all of it is kept. */
uint32_t gen_frame_build(const struct gen_path *path, const struct gen_frame *f, uint32_t keep,
			 uint8_t bytes[CAPGEN_FRAME_MAX]);

#endif
