/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds RoCE frames for tests from a description, with an ICRC from a bitwise CRC of its own, so
 * that the decoder is judged by other code than itself. Extension headers are letters in wire
 * order: D DETH, G DETH of QP 1, X XRCETH, F FETH, R RETH, T AtomicETH, A AETH, k AtomicAckETH, I
 * ImmDt, V IETH, C CNP.
 */
#ifndef TESTS_UNIT_ROCE_FRAMES_H
#define TESTS_UNIT_ROCE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum frame_net {
	NET_IPV4,
	NET_IPV6,
	NET_V1,
};

struct frame_spec {
	enum frame_net net;
	unsigned int vlans;
	uint8_t opcode;
	const char *headers;
	uint32_t payload;
	uint8_t byte4; /* FECN 0x80, BECN 0x40 */
	uint32_t qpn, psn;
	uint8_t syndrome;
	uint8_t tos;
	bool reply; /* from the second host to the first */
};

struct frame {
	uint8_t bytes[4600];
	uint32_t len;
	uint32_t l3, bth; /* offsets */
	uint32_t icrc;
};

static inline void frame_put(struct frame *f, uint64_t v, unsigned int n)
{
	while (n--)
		f->bytes[f->len++] = (uint8_t)(v >> (8 * n));
}

/* CRC-32 of Ethernet, bit by bit. */
static inline uint32_t frame_crc(uint32_t crc, const uint8_t *p, uint32_t len)
{
	while (len--) {
		int bit;

		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320U : crc >> 1;
	}
	return crc;
}

static inline uint32_t frame_icrc(const struct frame *f, enum frame_net net, uint32_t end)
{
	static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t copy[4600];
	uint8_t *l3 = copy + f->l3;

	memcpy(copy, f->bytes, sizeof(copy));
	copy[f->bth + 4] = 0xff;
	if (net == NET_IPV4) {
		l3[1] = l3[8] = l3[10] = l3[11] = 0xff;
	} else {
		l3[0] |= 0x0f;
		l3[1] = l3[2] = l3[3] = l3[7] = 0xff;
	}
	if (net != NET_V1)
		copy[f->bth - 2] = copy[f->bth - 1] = 0xff;
	return ~frame_crc(frame_crc(0xffffffffU, ones, 8), l3, end - f->l3);
}

static inline uint32_t frame_header_len(char c)
{
	static const char letters[] = "DXFRTAkIVCG";
	static const uint32_t lens[] = {8, 4, 4, 16, 28, 4, 8, 4, 4, 16, 8};

	return lens[strchr(letters, c) - letters];
}

static inline void frame_put_header(struct frame *f, char c, const struct frame_spec *s)
{
	switch (c) {
	case 'D':
		frame_put(f, 0x80010000, 4);
		frame_put(f, 0x000789, 4);
		break;
	case 'G':
		frame_put(f, 0x80010000, 4);
		frame_put(f, 1, 4);
		break;
	case 'X':
		frame_put(f, 0x000321, 4);
		break;
	case 'F':
		frame_put(f, 0x21, 4);
		break;
	case 'R':
		frame_put(f, 0x1122334455667788, 8);
		frame_put(f, 0xcafe0001, 4);
		frame_put(f, 0x1000, 4);
		break;
	case 'T':
		frame_put(f, 0x1122334455667788, 8);
		frame_put(f, 0xcafe0002, 4);
		frame_put(f, 0xaaaa0000aaaa, 8);
		frame_put(f, 0xbbbb0000bbbb, 8);
		break;
	case 'A':
		frame_put(f, s->syndrome, 1);
		frame_put(f, 0x00abcd, 3);
		break;
	case 'k':
		frame_put(f, 0x0102030405060708, 8);
		break;
	case 'I':
		frame_put(f, 0xdeadbeef, 4);
		break;
	case 'V':
		frame_put(f, 0xcafe0003, 4);
		break;
	default: /* C */
		frame_put(f, 0, 8);
		frame_put(f, 0, 8);
	}
}

static inline void frame_put_net(struct frame *f, const struct frame_spec *s, uint32_t transport)
{
	uint32_t sum = 0;
	unsigned int i;

	if (s->net == NET_IPV4) {
		frame_put(f, 0x45, 1);
		frame_put(f, s->tos, 1);
		frame_put(f, 28 + transport, 2);
		frame_put(f, 0x00014000, 4);
		frame_put(f, 0x4011, 2);
		frame_put(f, 0, 2);
		frame_put(f, 0xc6120001 + s->reply, 4); /* 198.18.0.1 */
		frame_put(f, 0xc6120002 - s->reply, 4);
		for (i = 0; i < 20; i += 2)
			sum += (uint32_t)f->bytes[f->l3 + i] << 8 | f->bytes[f->l3 + i + 1];
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		f->bytes[f->l3 + 10] = (uint8_t)(~sum >> 8);
		f->bytes[f->l3 + 11] = (uint8_t)~sum;
	} else {
		frame_put(f, 0x60000000 | (uint32_t)s->tos << 20 | 0x12345, 4);
		frame_put(f, s->net == NET_V1 ? transport : 8 + transport, 2);
		frame_put(f, s->net == NET_V1 ? 0x1b40 : 0x1140, 2);
		frame_put(f, 0xfe80000000000000, 8);
		frame_put(f, 0x1 + s->reply, 8);
		frame_put(f, 0xfe80000000000000, 8);
		frame_put(f, 0x2 - s->reply, 8);
	}
	if (s->net != NET_V1) {
		frame_put(f, 0xc123, 2);
		frame_put(f, 4791, 2);
		frame_put(f, 8 + transport, 2);
		frame_put(f, 0, 2);
	}
}

static inline void frame_build(const struct frame_spec *s, struct frame *f)
{
	static const uint16_t ethertype[] = {0x0800, 0x86dd, 0x8915};
	uint32_t pad = -s->payload & 3U, ext = 0, i;
	const char *c;

	memset(f, 0, sizeof(*f));
	for (c = s->headers; *c; c++)
		ext += frame_header_len(*c);
	frame_put(f, 0x020000000002, 6);
	frame_put(f, 0x020000000001, 6);
	for (i = 0; i < s->vlans; i++)
		frame_put(f, i ? 0x81006064 : 0x88a80005, 4); /* inner: pcp 3, vid 100 */
	frame_put(f, ethertype[s->net], 2);
	f->l3 = f->len;
	frame_put_net(f, s, 12 + ext + s->payload + pad + 4);
	f->bth = f->len;
	frame_put(f, s->opcode, 1);
	frame_put(f, 0x40 | pad << 4, 1);
	frame_put(f, 0xffff, 2);
	frame_put(f, s->byte4, 1);
	frame_put(f, s->qpn, 3);
	frame_put(f, 0x80, 1);
	frame_put(f, s->psn, 3);
	for (c = s->headers; *c; c++)
		frame_put_header(f, *c, s);
	for (i = 0; i < s->payload; i++)
		frame_put(f, 0x40 + i, 1);
	frame_put(f, 0, pad);
	f->icrc = frame_icrc(f, s->net, f->len);
	for (i = 0; i < 4; i++)
		f->bytes[f->len++] = (uint8_t)(f->icrc >> (8 * i));
}

/* Every opcode rocecheck knows, as the specification's tables have them. */
struct frame_opcode {
	uint8_t opcode;
	const char *headers;
	uint32_t payload;
};

static const struct frame_opcode frame_opcodes[] = {
	{0x00, "", 8},	 {0x01, "", 8},	   {0x02, "", 7},    {0x03, "I", 5},   {0x04, "", 0},
	{0x05, "I", 6},	 {0x06, "R", 8},   {0x07, "", 8},    {0x08, "", 1},    {0x09, "I", 2},
	{0x0a, "R", 3},	 {0x0b, "RI", 4},  {0x0c, "R", 0},   {0x0d, "A", 8},   {0x0e, "", 8},
	{0x0f, "A", 5},	 {0x10, "A", 0},   {0x11, "A", 0},   {0x12, "Ak", 0},  {0x13, "T", 0},
	{0x14, "T", 0},	 {0x16, "V", 9},   {0x17, "V", 10},  {0x1c, "FR", 0},  {0x1d, "R", 8},
	{0x20, "", 8},	 {0x21, "", 8},	   {0x22, "", 7},    {0x23, "I", 5},   {0x24, "", 0},
	{0x25, "I", 6},	 {0x26, "R", 8},   {0x27, "", 8},    {0x28, "", 1},    {0x29, "I", 2},
	{0x2a, "R", 3},	 {0x2b, "RI", 4},  {0x64, "D", 11},  {0x65, "DI", 12}, {0x81, "C", 0},
	{0xa0, "X", 8},	 {0xa1, "X", 8},   {0xa2, "X", 7},   {0xa3, "XI", 5},  {0xa4, "X", 0},
	{0xa5, "XI", 6}, {0xa6, "XR", 8},  {0xa7, "X", 8},   {0xa8, "X", 1},   {0xa9, "XI", 2},
	{0xaa, "XR", 3}, {0xab, "XRI", 4}, {0xac, "XR", 0},  {0xad, "A", 8},   {0xae, "", 8},
	{0xaf, "A", 5},	 {0xb0, "A", 0},   {0xb1, "A", 0},   {0xb2, "Ak", 0},  {0xb3, "XT", 0},
	{0xb4, "XT", 0}, {0xb6, "XV", 9},  {0xb7, "XV", 10}, {0xbc, "XFR", 0}, {0xbd, "XR", 8},
};

#define FRAME_OPCODES (sizeof(frame_opcodes) / sizeof(frame_opcodes[0]))

/* One vector of an opcode. */
static inline void frame_of_opcode(unsigned int i, enum frame_net net, unsigned int vlans,
				   struct frame *f)
{
	const struct frame_spec s = {
		.net = net,
		.vlans = vlans,
		.opcode = frame_opcodes[i].opcode,
		.headers = frame_opcodes[i].headers,
		.payload = frame_opcodes[i].payload,
		.byte4 = frame_opcodes[i].opcode == 0x81 ? 0x40 : 0,
		.qpn = 0x17,
		.psn = 0xfffffe,
		.syndrome = 0x1f,
		.tos = 26 << 2 | 2,
	};

	frame_build(&s, f);
}

#endif
