/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a generated frame: Ethernet, one VLAN tag or none, IPv4 or IPv6, UDP, BTH, extension
 * headers, payload, ICRC. IBTA vol 1, 9.2 and annex A17.
 */
#include "tests/tools/frame.h"

#include <string.h>

#define TOS_DATA (26 << 2 | 2)
#define TOS_CNP	 (48 << 2 | 2)

struct cursor {
	uint8_t *at;
};

static void put(struct cursor *c, uint64_t v, unsigned int n)
{
	while (n--)
		*c->at++ = (uint8_t)(v >> (8 * n));
}

/* CRC-32 of Ethernet by four bits a step: a table that is small enough to be written down. */
static uint32_t crc_add(uint32_t crc, const uint8_t *p, uint32_t len)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}

/* With the fields that a switch may change set to ones; the LRH that RoCE has not is ones too. */
static uint32_t icrc_of(const struct gen_path *path, const uint8_t *l3, uint32_t len)
{
	static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint32_t bth = path->ipv6 ? 48 : 28, crc;
	uint8_t head[60];

	memcpy(head, l3, bth + 12);
	if (path->ipv6) {
		head[0] |= 0x0f;
		head[1] = head[2] = head[3] = head[7] = 0xff;
	} else {
		head[1] = head[8] = head[10] = head[11] = 0xff;
	}
	head[bth - 2] = head[bth - 1] = 0xff;
	head[bth + 4] = 0xff;
	crc = crc_add(0xffffffffU, ones, sizeof(ones));
	crc = crc_add(crc, head, bth + 12);
	return ~crc_add(crc, l3 + bth + 12, len - bth - 12);
}

static uint32_t ext_len(uint8_t opcode)
{
	switch (opcode) {
	case GEN_WRITE_FIRST:
	case GEN_WRITE_ONLY:
	case GEN_READ:
	case GEN_CNP:
		return 16;
	case GEN_RESPONSE_FIRST:
	case GEN_RESPONSE_LAST:
	case GEN_RESPONSE_ONLY:
	case GEN_ACK:
		return 4;
	default:
		return 0;
	}
}

static void put_ipv4(struct cursor *c, const struct gen_path *path, const struct gen_frame *f,
		     uint8_t tos, uint32_t transport)
{
	uint8_t *h = c->at;
	uint32_t sum = 0;

	put(c, 0x45, 1);
	put(c, tos, 1);
	put(c, 28 + transport, 2);
	put(c, 0x00004000, 4);
	put(c, f->ttl, 1);
	put(c, 17, 1);
	put(c, 0, 2);
	memcpy(c->at, path->src + 12, 4);
	memcpy(c->at + 4, path->dst + 12, 4);
	c->at += 8;
	for (unsigned int i = 0; i < 20; i += 2)
		sum += (uint32_t)h[i] << 8 | h[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	h[10] = (uint8_t)(~sum >> 8);
	h[11] = (uint8_t)~sum;
}

static void put_ipv6(struct cursor *c, const struct gen_path *path, const struct gen_frame *f,
		     uint8_t tos, uint32_t transport)
{
	put(c, 0x60000000 | (uint32_t)tos << 20, 4);
	put(c, 8 + transport, 2);
	put(c, 17, 1);
	put(c, f->ttl, 1);
	memcpy(c->at, path->src, 16);
	memcpy(c->at + 16, path->dst, 16);
	c->at += 32;
}

static void put_bth(struct cursor *c, const struct gen_path *path, const struct gen_frame *f)
{
	bool cnp = f->opcode == GEN_CNP;

	put(c, f->opcode, 1);
	put(c, (cnp ? 0 : 0x40) | (-f->payload & 3U) << 4, 1);
	put(c, 0xffff, 2);
	put(c, cnp ? 0x40 : 0, 1); /* BECN */
	put(c, path->qpn, 3);
	put(c, f->ackreq ? 0x80 : 0, 1);
	put(c, f->psn, 3);
	switch (ext_len(f->opcode)) {
	case 16:
		put(c, cnp ? 0 : f->va, 8);
		put(c, cnp ? 0 : 0x1234, 4);
		put(c, cnp ? 0 : f->dma_len, 4);
		break;
	case 4:
		put(c, f->syndrome, 1);
		put(c, f->msn, 3);
		break;
	}
}

uint32_t gen_frame_build(const struct gen_path *path, const struct gen_frame *f, uint32_t keep,
			 uint8_t bytes[CAPGEN_FRAME_MAX])
{
	uint32_t pad = -f->payload & 3U, transport = 12 + ext_len(f->opcode) + f->payload + pad + 4;
	uint8_t tos = (uint8_t)((f->opcode == GEN_CNP ? TOS_CNP : TOS_DATA) | f->ce), *l3;
	struct cursor c = {bytes};
	uint32_t len, crc;

	put(&c, 0x020000000000 | path->dst[15], 6);
	put(&c, 0x020000000000 | path->src[15], 6);
	if (path->vlan)
		put(&c, 0x81006064, 4);
	put(&c, path->ipv6 ? 0x86dd : 0x0800, 2);
	l3 = c.at;
	if (path->ipv6)
		put_ipv6(&c, path, f, tos, transport);
	else
		put_ipv4(&c, path, f, tos, transport);
	put(&c, path->sport, 2);
	put(&c, 4791, 2);
	put(&c, 8 + transport, 2);
	put(&c, 0, 2);
	put_bth(&c, path, f);
	len = (uint32_t)(c.at - bytes) + f->payload + pad + 4;
	memset(c.at, (int)(f->psn & 0xff), f->payload);
	memset(c.at + f->payload, 0, pad + 4);
	if (len > keep)
		return len;
	crc = icrc_of(path, l3, (uint32_t)(bytes + len - 4 - l3)) ^ (f->bad_icrc ? 0x10000 : 0);
	for (unsigned int i = 0; i < 4; i++)
		bytes[len - 4 + i] = (uint8_t)(crc >> (8 * i));
	return len;
}
