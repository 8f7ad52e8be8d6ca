/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a switch looks at, once a frame: VLAN tag, DSCP and ECN, ports, and the opcode of a
 * RoCEv2 BTH (IBTA vol 1, annex A17), which only faults ask for.
 */
#include "tests/lab/switch/switch.h"

#include <string.h>

#include "capture/decode/bytes.h"

#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTO_TCP      6
#define PROTO_UDP      17
#define PORT_ROCE      4791
#define TAG_LEN	       4

static void put_be16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint32_t hash_more(uint32_t h, const uint8_t *data, unsigned int len)
{
	while (len--)
		h = (h ^ *data++) * 16777619U;
	return h;
}

static void parse_ports(struct frame *f)
{
	const uint8_t *at = f->data + f->l4;

	if ((f->ip_proto != PROTO_UDP && f->ip_proto != PROTO_TCP) || f->len < f->l4 + 8u)
		return;
	f->sport = be16_at(at);
	f->dport = be16_at(at + 2);
	f->hash = hash_more(f->hash, at, 4);
	if (f->ip_proto == PROTO_UDP && f->dport == PORT_ROCE && f->len >= f->l4 + 20u) {
		f->roce = true;
		f->opcode = at[8];
	}
}

static void parse_ipv4(struct frame *f)
{
	const uint8_t *at = f->data + f->l3;

	if (f->len < f->l3 + 20u || at[0] >> 4 != 4 || (at[0] & 0xf) < 5)
		return;
	f->ip_version = 4;
	f->tos = at[1];
	f->ip_proto = at[9];
	f->l4 = f->l3 + (at[0] & 0xf) * 4;
	f->hash = hash_more(hash_more(f->hash, at + 12, 8), at + 9, 1);
	if (!(be16_at(at + 6) & 0x1fff)) /* not a later fragment */
		parse_ports(f);
}

static void parse_ipv6(struct frame *f)
{
	const uint8_t *at = f->data + f->l3;

	if (f->len < f->l3 + 40u || at[0] >> 4 != 6)
		return;
	f->ip_version = 6;
	f->tos = be16_at(at) >> 4;
	f->ip_proto = at[6];
	f->l4 = f->l3 + 40;
	f->hash = hash_more(hash_more(f->hash, at + 8, 32), at + 6, 1);
	parse_ports(f);
}

bool frame_parse(struct frame *f)
{
	f->pcp = f->tos = f->opcode = f->ip_proto = f->ip_version = 0;
	f->tagged = f->roce = false;
	f->sport = f->dport = f->l4 = 0;
	f->hash = 2166136261U;
	if (f->len < 14)
		return false;
	f->ethertype = be16_at(f->data + 12);
	f->l3 = 14;
	if (f->ethertype == ETHERTYPE_VLAN) {
		if (f->len < 18)
			return false;
		f->tagged = true;
		f->pcp = f->data[14] >> 5;
		f->ethertype = be16_at(f->data + 16);
		f->l3 = 18;
	}
	if (f->ethertype == ETHERTYPE_IPV4)
		parse_ipv4(f);
	else if (f->ethertype == ETHERTYPE_IPV6)
		parse_ipv6(f);
	if (!f->ip_version)
		f->hash = hash_more(f->hash, f->data, 12);
	f->hash ^= f->hash >> 16;
	return true;
}

uint8_t frame_prio(const struct frame *f, const struct port_config *c)
{
	if (c->trust == QOS_TRUST_DSCP && f->ip_version)
		return c->dscp_prio[f->tos >> 2];
	if (f->tagged)
		return c->pcp_prio[f->pcp];
	return c->default_prio;
}

static void add_tag(struct frame *f)
{
	memmove(f->data + 16, f->data + 12, f->len - 12);
	put_be16(f->data + 12, ETHERTYPE_VLAN);
	put_be16(f->data + 14, 0);
	f->tagged = true;
	f->len += TAG_LEN;
	f->l3 += TAG_LEN;
	f->l4 += f->l4 ? TAG_LEN : 0;
}

static void strip_tag(struct frame *f)
{
	memmove(f->data + 12, f->data + 16, f->len - 16);
	f->tagged = false;
	f->len -= TAG_LEN;
	f->l3 -= TAG_LEN;
	f->l4 -= f->l4 ? TAG_LEN : 0;
}

bool frame_retag(struct frame *f, const struct port_config *c)
{
	if (c->tag == TAG_STRIP && f->tagged && !(be16_at(f->data + 14) & 0xfff))
		strip_tag(f);
	if (c->tag != TAG_ADD)
		return true;
	if (!f->tagged && f->len + TAG_LEN > FRAME_MAX)
		return false;
	if (!f->tagged)
		add_tag(f);
	f->pcp = c->prio[f->prio].pcp;
	f->data[14] = (f->data[14] & 0x1f) | f->pcp << 5;
	return true;
}

void frame_set_tos(struct frame *f, uint8_t tos)
{
	uint8_t *at = f->data + f->l3;

	if (f->ip_version == 6) {
		at[0] = (at[0] & 0xf0) | tos >> 4;
		at[1] = (at[1] & 0x0f) | tos << 4;
	} else if (f->ip_version == 4) {
		/* RFC 1624: HC' = ~(~HC + ~m + m') */
		uint32_t sum = (uint16_t)~be16_at(at + 10) + (uint16_t)~be16_at(at);

		at[1] = tos;
		sum += be16_at(at);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		at[10] = (uint16_t)~sum >> 8;
		at[11] = ~sum;
	}
	f->tos = tos;
}
