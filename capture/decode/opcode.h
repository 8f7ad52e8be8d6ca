/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTH opcodes: name, extension headers and role, one table row each. IBTA vol 1, 9.2.1 (operation
 * code) and annexes A14 (XRC), A17 (CNP), A19 (FLUSH, ATOMIC WRITE). Classes 2 and 7 stay unknown
 * on purpose: 0x40 to 0x5f is RD in the specification, and a vendor's transport with longer headers
 * (DC) in the field. No bit of the packet tells them apart.
 */
#ifndef CAPTURE_OPCODE_H
#define CAPTURE_OPCODE_H

#include "capture/decode/packet.h"

#define OPCODE_CNP 0x81

enum opcode_class {
	OPCODE_CLASS_RC = 0,
	OPCODE_CLASS_UC = 1,
	OPCODE_CLASS_RD = 2, /* or a vendor's dynamically connected transport */
	OPCODE_CLASS_UD = 3,
	OPCODE_CLASS_CNP = 4,
	OPCODE_CLASS_XRC = 5,
	OPCODE_CLASS_VENDOR = 7,
};

enum opcode_flag {
	OP_REQUEST = 1 << 0,
	OP_RESPONSE = 1 << 1,
	OP_PAYLOAD = 1 << 2, /* may carry payload */
	OP_FULL = 1 << 3,    /* first or middle: the payload is exactly the path MTU */
	OP_READ = 1 << 4,    /* a READ request: uses as many PSNs as its responses */
	OP_ACK = 1 << 5,     /* ACK or ATOMIC ACK */
};

struct opcode_info {
	const char *name; /* NULL = unknown opcode */
	uint16_t headers; /* enum roce_header */
	uint8_t flags;	  /* enum opcode_flag */
};

extern const struct opcode_info opcode_table[256];

/* Never NULL; an unknown opcode gives a row without name, headers and flags. */
static inline const struct opcode_info *opcode_info(uint8_t opcode)
{
	return &opcode_table[opcode];
}

static inline enum opcode_class opcode_class(uint8_t opcode)
{
	return (enum opcode_class)(opcode >> 5);
}

struct roce_header_info {
	const char *name;
	uint32_t len;
};

/* By bit number of enum roce_header. */
extern const struct roce_header_info roce_headers[];

/* Returns the bytes of all extension headers in the set; the reserved bytes of a CNP count as one.
 */
uint32_t roce_headers_len(uint16_t headers);

#endif
