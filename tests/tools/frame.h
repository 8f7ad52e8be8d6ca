/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One frame of a generated capture: what it is to hold, and its bytes.
 */
#ifndef TESTS_TOOLS_FRAME_H
#define TESTS_TOOLS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define CAPGEN_FRAME_MAX 4352
#define GEN_MAD_LEN	 256

/* The low five bits, which RC, UC, UD and XRC share; and CNP whole. */
enum {
	GEN_SEND_FIRST = 0x00,
	GEN_SEND_MIDDLE = 0x01,
	GEN_SEND_LAST = 0x02,
	GEN_SEND_LAST_IMM = 0x03,
	GEN_SEND_ONLY = 0x04,
	GEN_SEND_ONLY_IMM = 0x05,
	GEN_WRITE_FIRST = 0x06,
	GEN_WRITE_MIDDLE = 0x07,
	GEN_WRITE_LAST = 0x08,
	GEN_WRITE_LAST_IMM = 0x09,
	GEN_WRITE_ONLY = 0x0a,
	GEN_WRITE_ONLY_IMM = 0x0b,
	GEN_READ = 0x0c,
	GEN_RESPONSE_FIRST = 0x0d,
	GEN_RESPONSE_MIDDLE = 0x0e,
	GEN_RESPONSE_LAST = 0x0f,
	GEN_RESPONSE_ONLY = 0x10,
	GEN_ACK = 0x11,
	GEN_ATOMIC_ACK = 0x12,
	GEN_CMP_SWAP = 0x13,
	GEN_FETCH_ADD = 0x14,
	GEN_SEND_LAST_INV = 0x16,
	GEN_SEND_ONLY_INV = 0x17,
	GEN_CNP = 0x81,
};

/* The class of an opcode, to be added to those. */
enum gen_transport {
	GEN_RC = 0x00,
	GEN_UC = 0x20,
	GEN_UD = 0x60,
	GEN_XRC = 0xa0,
};

enum gen_net {
	GEN_IPV4,
	GEN_IPV6,
	GEN_V1, /* RoCEv1: a GRH in place of IP and UDP */
};

/* What a switch mirror, or an overlay, puts around a frame. */
enum gen_tunnel {
	GEN_PLAIN,
	GEN_GRE,
	GEN_ERSPAN1,
	GEN_ERSPAN2,
	GEN_ERSPAN3,
	GEN_VXLAN,
	GEN_TUNNELS,
};

/* The two ends of a way through the network. */
struct gen_path {
	uint8_t src[16], dst[16]; /* GID form */
	uint32_t qpn;
	uint16_t sport;
	uint8_t net, tunnel;
	uint8_t vlans; /* the innermost has priority 3 */
	uint8_t transport;
};

struct gen_frame {
	uint8_t opcode, syndrome, ttl;
	bool ackreq, ce, bad_icrc;
	uint32_t psn, msn, payload, dma_len;
	uint64_t va;
	uint32_t sequence;  /* of the tunnel */
	const uint8_t *mad; /* not NULL: a datagram to QP 1 with that as payload; borrowed */
};

/* Whether an opcode is a request, or a response; a CNP is neither. */
bool gen_is_request(uint8_t opcode);
bool gen_is_response(uint8_t opcode);

/* Builds a frame into bytes; returns its length on the wire. The ICRC, and the payload, are filled
 * in only when all of it is kept. */
uint32_t gen_frame_build(const struct gen_path *path, const struct gen_frame *f, uint32_t keep,
			 uint8_t bytes[CAPGEN_FRAME_MAX]);

/* PFC: one quanta for each priority that `enable` names. Or, with enable 0, a pause of all. */
uint32_t gen_pause_build(uint8_t enable, const uint16_t quanta[8], uint8_t bytes[CAPGEN_FRAME_MAX]);

#endif
