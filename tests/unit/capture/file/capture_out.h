/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture files of literals: pcap, and pcapng with statistics.
 */
#ifndef TESTS_UNIT_CAPTURE_OUT_H
#define TESTS_UNIT_CAPTURE_OUT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/fixture/tunnel_frames.h"

/* A file under construction, in either byte order. */
struct out {
	uint8_t bytes[8192];
	size_t len;
	bool big;
};

static void put32(struct out *o, uint32_t v)
{
	v = o->big ? htobe32(v) : htole32(v);
	memcpy(o->bytes + o->len, &v, 4);
	o->len += 4;
}

static void put16(struct out *o, uint16_t v)
{
	v = o->big ? htobe16(v) : htole16(v);
	memcpy(o->bytes + o->len, &v, 2);
	o->len += 2;
}

static void put_bytes(struct out *o, const void *v, size_t len)
{
	memcpy(o->bytes + o->len, v, len);
	o->len += (len + 3) & ~(size_t)3;
}

static void put_section(struct out *o)
{
	put32(o, 0x0a0d0d0a);
	put32(o, 28);
	put32(o, 0x1a2b3c4d);
	put16(o, 1);
	put16(o, 0);
	put32(o, 0xffffffff);
	put32(o, 0xffffffff);
	put32(o, 28);
	put32(o, 1); /* interface: Ethernet, microseconds */
	put32(o, 20);
	put16(o, 1);
	put16(o, 0);
	put32(o, 0);
	put32(o, 20);
}

static void put_packet(struct out *o, const struct frame *f, uint32_t time_us)
{
	uint32_t len = 32 + ((f->len + 3) & ~3U);

	put32(o, 6);
	put32(o, len);
	put32(o, 0);
	put32(o, 0);
	put32(o, time_us);
	put32(o, f->len);
	put32(o, f->len);
	put_bytes(o, f->bytes, f->len);
	put32(o, len);
}

static void put_option64(struct out *o, uint16_t code, uint32_t value)
{
	put16(o, code);
	put16(o, 8);
	put32(o, o->big ? 0 : value);
	put32(o, o->big ? value : 0);
}

/* ifdrop and osdrop: -1 = option absent. */
static void put_statistics(struct out *o, uint32_t interface, int ifdrop, int osdrop)
{
	uint32_t len = 24 + 12 + (ifdrop >= 0 ? 12 : 0) + (osdrop >= 0 ? 12 : 0) + 4;

	put32(o, 5);
	put32(o, len);
	put32(o, interface);
	put32(o, 0);
	put32(o, 0);
	put_option64(o, 4, 1000); /* received: not a drop */
	if (ifdrop >= 0)
		put_option64(o, 5, (uint32_t)ifdrop);
	if (osdrop >= 0)
		put_option64(o, 7, (uint32_t)osdrop);
	put32(o, 0); /* end of options */
	put32(o, len);
}

static void make_pcapng(struct out *o, bool big)
{
	struct frame f;
	unsigned int i;

	memset(o, 0, sizeof(*o));
	o->big = big;
	put_section(o);
	for (i = 0; i < 3; i++) {
		frame_of_opcode(4 + i, NET_IPV4, 0, &f);
		put_packet(o, &f, 1000 + i);
	}
}

static void make_pcap(struct out *o, uint32_t magic)
{
	struct frame f;
	unsigned int i;

	memset(o, 0, sizeof(*o));
	put32(o, magic);
	put32(o, 0x00040002);
	put32(o, 0);
	put32(o, 0);
	put32(o, 65535);
	put32(o, 1);
	for (i = 0; i < 3; i++) {
		frame_of_opcode(4 + i, NET_IPV4, 0, &f);
		put32(o, 1700000000);
		put32(o, 123 + i);
		put32(o, f.len);
		put32(o, f.len);
		memcpy(o->bytes + o->len, f.bytes, f.len);
		o->len += f.len;
	}
}

#endif
