/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a generated frame: what a mirror puts around it, Ethernet, VLAN tags, IPv4 or IPv6
 * and UDP, or a GRH, then BTH, extension headers, payload, ICRC. IBTA vol 1, 9.2 and annexes A14,
 * A16, A17.
 */
#include "tests/tools/frame.h"

#include <string.h>

#define TOS_DATA (26 << 2 | 2)
#define TOS_CNP	 (48 << 2 | 2)

static const uint32_t l3_len[] = {[GEN_IPV4] = 28, [GEN_IPV6] = 48, [GEN_V1] = 40};

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
	uint32_t bth = l3_len[path->net], crc;
	uint8_t head[60];

	memcpy(head, l3, bth + 12);
	if (path->net == GEN_IPV4) {
		head[1] = head[8] = head[10] = head[11] = 0xff;
	} else {
		head[0] |= 0x0f;
		head[1] = head[2] = head[3] = head[7] = 0xff;
	}
	if (path->net != GEN_V1)
		head[bth - 2] = head[bth - 1] = 0xff;
	head[bth + 4] = 0xff;
	crc = crc_add(0xffffffffU, ones, sizeof(ones));
	crc = crc_add(crc, head, bth + 12);
	return ~crc_add(crc, l3 + bth + 12, len - bth - 12);
}

/* Extension headers by the low five bits, in wire order: R RETH, T AtomicETH, A AETH, k
 * AtomicAckETH, I ImmDt, V IETH; and X XRCETH, D DETH, C what a CNP keeps free. */
static const char *ext_of(uint8_t opcode, char buf[8])
{
	static const char *const ext[32] = {
		"",  "",  "",	"I", "",  "I", "R", "",	 "", "I", "R", "RI", "R", "A", "", "A",
		"A", "A", "Ak", "T", "T", "",  "V", "V", "", "",  "",  "",   "",  "",  "", "",
	};
	char *at = buf;

	if (opcode == GEN_CNP)
		return "C";
	if ((opcode & 0xe0) == GEN_XRC && gen_is_request(opcode))
		*at++ = 'X';
	if ((opcode & 0xe0) == GEN_UD)
		*at++ = 'D';
	strcpy(at, ext[opcode & 0x1f]);
	return buf;
}

static uint32_t ext_len(const char *ext)
{
	static const char letters[] = "RTAkIVXDC";
	static const uint8_t lens[] = {16, 28, 4, 8, 4, 4, 4, 8, 16};
	uint32_t len = 0;

	for (; *ext; ext++)
		len += lens[strchr(letters, *ext) - letters];
	return len;
}

bool gen_is_request(uint8_t opcode)
{
	uint8_t low = opcode & 0x1f;

	return opcode != GEN_CNP && (low <= GEN_READ || low >= GEN_CMP_SWAP);
}

bool gen_is_response(uint8_t opcode)
{
	return opcode != GEN_CNP && !gen_is_request(opcode);
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

/* The header of IPv6 is the GRH of RoCEv1, whose next header is the BTH. */
static void put_ipv6(struct cursor *c, const struct gen_path *path, const struct gen_frame *f,
		     uint8_t tos, uint32_t transport)
{
	bool v1 = path->net == GEN_V1;

	put(c, 0x60000000 | (uint32_t)tos << 20, 4);
	put(c, (v1 ? 0 : 8) + transport, 2);
	put(c, v1 ? 0x1b : 17, 1);
	put(c, f->ttl, 1);
	memcpy(c->at, path->src, 16);
	memcpy(c->at + 16, path->dst, 16);
	c->at += 32;
}

static void put_ext(struct cursor *c, char letter, const struct gen_frame *f)
{
	switch (letter) {
	case 'R':
		put(c, f->va, 8);
		put(c, 0x1234, 4);
		put(c, f->dma_len, 4);
		break;
	case 'T':
		put(c, f->va & ~UINT64_C(7), 8);
		put(c, 0x1234, 4);
		put(c, f->va + 1, 8);
		put(c, f->va + 2, 8);
		break;
	case 'A':
		put(c, f->syndrome, 1);
		put(c, f->msn, 3);
		break;
	case 'D':
		put(c, 0x80010000, 4);
		put(c, f->mad ? 1 : 0x345, 4);
		break;
	case 'k':
		put(c, f->psn, 8);
		break;
	case 'C':
		put(c, 0, 8);
		put(c, 0, 8);
		break;
	default:
		put(c, 0x5678, 4);
	}
}

static void put_bth(struct cursor *c, const struct gen_path *path, const struct gen_frame *f)
{
	bool cnp = f->opcode == GEN_CNP;

	put(c, f->opcode, 1);
	put(c, (cnp ? 0 : 0x40) | (-f->payload & 3U) << 4, 1);
	put(c, 0xffff, 2);
	put(c, cnp ? 0x40 : 0, 1); /* BECN */
	put(c, f->mad ? 1 : path->qpn, 3);
	put(c, f->ackreq ? 0x80 : 0, 1);
	put(c, f->psn, 3);
}

/* What is behind GRE without and with a sequence number: nothing, or VLAN 100, CoS 3, session 5. */
static void put_erspan(struct cursor *c, uint8_t tunnel)
{
	if (tunnel == GEN_ERSPAN2) {
		put(c, 0x10647805, 4);
		put(c, 9, 4);
	} else if (tunnel == GEN_ERSPAN3) {
		put(c, 0x20647805, 4);
		put(c, 0x01020304, 4);
		put(c, 0x00000009, 4); /* with a subheader, as sent */
		put(c, 0x1122334455667788, 8);
	}
}

/* An outer frame: RFC 2784, RFC 2890, RFC 7348, draft-foschiano-erspan. */
static void put_tunnel(struct cursor *c, uint8_t tunnel, uint32_t sequence, uint32_t inner)
{
	static const struct {
		uint32_t gre; /* flags and protocol */
		uint32_t len;
	} kinds[] = {
		[GEN_GRE] = {0x00006558, 4},
		[GEN_ERSPAN1] = {0x000088be, 4},
		[GEN_ERSPAN2] = {0x100088be, 16},
		[GEN_ERSPAN3] = {0x100022eb, 28},
		[GEN_VXLAN] = {0, 16},
	};

	if (tunnel == GEN_PLAIN)
		return;
	put(c, 0x020000000099, 6);
	put(c, 0x020000000098, 6);
	put(c, 0x0800, 2);
	put(c, 0x4500, 2);
	put(c, 20 + kinds[tunnel].len + inner, 2);
	put(c, 0x00004000, 4);
	/* Its checksum is nobody's business here. */
	put(c, tunnel == GEN_VXLAN ? 0x40110000 : 0x402f0000, 4);
	put(c, 0x0a000001, 4);
	put(c, 0x0a000002, 4);
	if (tunnel == GEN_VXLAN) {
		put(c, 0xd00012b5, 4);
		put(c, (uint64_t)(16 + inner) << 16, 4);
		put(c, 0x0800000000123400, 8);
		return;
	}
	put(c, kinds[tunnel].gre, 4);
	if (kinds[tunnel].gre & 0x10000000)
		put(c, sequence, 4);
	put_erspan(c, tunnel);
}

static void put_link(struct cursor *c, const struct gen_path *path)
{
	static const uint16_t ethertype[] = {
		[GEN_IPV4] = 0x0800, [GEN_IPV6] = 0x86dd, [GEN_V1] = 0x8915};

	put(c, 0x020000000000 | path->dst[15], 6);
	put(c, 0x020000000000 | path->src[15], 6);
	if (path->vlans > 1)
		put(c, 0x88a80005, 4);
	if (path->vlans)
		put(c, 0x81006064, 4);
	put(c, ethertype[path->net], 2);
}

static void put_net(struct cursor *c, const struct gen_path *path, const struct gen_frame *f,
		    uint32_t transport)
{
	uint8_t tos = (uint8_t)((f->opcode == GEN_CNP ? TOS_CNP : TOS_DATA) | f->ce);

	if (path->net == GEN_IPV4)
		put_ipv4(c, path, f, tos, transport);
	else
		put_ipv6(c, path, f, tos, transport);
	if (path->net == GEN_V1)
		return;
	put(c, path->sport, 2);
	put(c, 4791, 2);
	put(c, 8 + transport, 2);
	put(c, 0, 2);
}

uint32_t gen_frame_build(const struct gen_path *path, const struct gen_frame *f, uint32_t keep,
			 uint8_t bytes[CAPGEN_FRAME_MAX])
{
	char buf[8];
	const char *ext = ext_of(f->opcode, buf);
	uint32_t pad = -f->payload & 3U, transport = 12 + ext_len(ext) + f->payload + pad + 4;
	uint32_t len, crc;
	struct cursor c = {bytes};
	uint8_t *l3;

	put_tunnel(&c, path->tunnel, f->sequence,
		   14 + 4U * path->vlans + l3_len[path->net] + transport);
	put_link(&c, path);
	l3 = c.at;
	put_net(&c, path, f, transport);
	put_bth(&c, path, f);
	for (; *ext; ext++)
		put_ext(&c, *ext, f);
	len = (uint32_t)(c.at - bytes) + f->payload + pad + 4;
	if (f->mad)
		memcpy(c.at, f->mad, f->payload);
	else
		memset(c.at, (int)(f->psn & 0xff), f->payload);
	memset(c.at + f->payload, 0, pad + 4);
	if (len > keep)
		return len;
	crc = icrc_of(path, l3, (uint32_t)(bytes + len - 4 - l3)) ^ (f->bad_icrc ? 0x10000 : 0);
	for (unsigned int i = 0; i < 4; i++)
		bytes[len - 4 + i] = (uint8_t)(crc >> (8 * i));
	return len;
}

uint32_t gen_pause_build(uint8_t enable, const uint16_t quanta[8], uint8_t bytes[CAPGEN_FRAME_MAX])
{
	struct cursor c = {bytes};

	memset(bytes, 0, 60);
	put(&c, 0x0180c2000001, 6);
	put(&c, 0x020000000097, 6);
	put(&c, 0x8808, 2);
	put(&c, enable ? 0x0101 : 0x0001, 2);
	if (enable)
		put(&c, enable, 2);
	for (unsigned int i = 0; i < (enable ? 8 : 1); i++)
		put(&c, quanta[i], 2);
	return 60;
}
