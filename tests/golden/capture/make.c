/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the capture files of this folder; they are committed, this is where they come from:
 *   gcc -I. -o build/make-captures tests/golden/capture/make.c tests/unit/fixture/*_frames.c &&
 *       build/make-captures
 * Run it from the root after a change, then GOLDEN_UPDATE=1 bats tests/golden/capture.bats, and
 * read the difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/fixture/cm_frames.h"
#include "tests/unit/fixture/tunnel_frames.h"

#define START_US 1700000000000000ULL

struct out {
	FILE *file;
	uint64_t time_us;
	uint32_t snaplen;
};

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, 4, 1, f);
}

static void out_open(struct out *o, const char *name, uint32_t link, uint32_t snaplen)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/golden/capture/%s", name);
	o->file = fopen(path, "wb");
	if (!o->file) {
		perror(path);
		exit(1);
	}
	o->time_us = START_US;
	o->snaplen = snaplen;
	put32(o->file, 0xa1b2c3d4);
	put32(o->file, 0x00040002);
	put32(o->file, 0);
	put32(o->file, 0);
	put32(o->file, snaplen);
	put32(o->file, link);
}

static void out_bytes(struct out *o, const void *bytes, uint32_t len)
{
	uint32_t cap = len < o->snaplen ? len : o->snaplen;

	put32(o->file, (uint32_t)(o->time_us / 1000000));
	put32(o->file, (uint32_t)(o->time_us % 1000000));
	put32(o->file, cap);
	put32(o->file, len);
	fwrite(bytes, cap, 1, o->file);
	o->time_us += 10;
}

static void out_spec(struct out *o, struct frame_spec s)
{
	struct frame f;

	frame_build(&s, &f);
	out_bytes(o, f.bytes, f.len);
}

/* Data of a requester: 198.18.0.1 to 198.18.0.2. */
static struct frame_spec request(uint8_t opcode, const char *headers, uint32_t psn,
				 uint32_t payload)
{
	return (struct frame_spec){.opcode = opcode,
				   .headers = headers,
				   .psn = psn,
				   .payload = payload,
				   .qpn = 0x11,
				   .tos = 26 << 2 | 2};
}

static struct frame_spec response(uint8_t opcode, const char *headers, uint32_t psn,
				  uint8_t syndrome)
{
	return (struct frame_spec){.opcode = opcode,
				   .headers = headers,
				   .psn = psn,
				   .syndrome = syndrome,
				   .reply = true,
				   .qpn = 0x22,
				   .tos = 26 << 2 | 2};
}

static void every_opcode(void)
{
	struct out o;
	struct frame f;
	unsigned int i;

	out_open(&o, "opcodes.pcap", 1, 65535);
	for (i = 0; i < frame_opcode_count; i++) {
		frame_of_opcode(i, NET_IPV4, 0, &f);
		out_bytes(&o, f.bytes, f.len);
	}
	out_spec(&o, (struct frame_spec){.opcode = 0x47, .headers = "", .payload = 40, .qpn = 9});
	out_spec(&o, (struct frame_spec){.opcode = 0xe3, .headers = "", .payload = 3, .qpn = 9});
	fclose(o.file);
}

static void every_encapsulation(void)
{
	struct out o;
	struct frame f;
	unsigned int i, vlans;

	out_open(&o, "encaps.pcap", 1, 65535);
	for (i = 0; i < 3; i++) {
		for (vlans = 0; vlans <= 2; vlans++) {
			frame_of_opcode(6, (enum frame_net)i, vlans, &f);
			out_bytes(&o, f.bytes, f.len);
			frame_of_opcode(17, (enum frame_net)i, vlans, &f);
			out_bytes(&o, f.bytes, f.len);
		}
	}
	fclose(o.file);
}

/* Every CM message, and all of them in a capture that keeps too little. */
static void management(void)
{
	static const uint32_t snaplens[] = {65535, 128};
	static const char *const names[] = {"cm.pcap", "cm128.pcap"};
	struct frame f;
	struct out o;
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		out_open(&o, names[k], 1, snaplens[k]);
		for (i = 0; i < cm_frame_spec_count; i++) {
			cm_frame(&cm_frame_specs[i], (enum frame_net)(i % 3), &f);
			out_bytes(&o, f.bytes, f.len);
		}
		fclose(o.file);
	}
}

/* What switches mirror: every tunnel over IPv4 and IPv6, then a frame that the mirror cut, and an
 * ERSPAN header of the wrong version. */
static void mirrored(void)
{
	struct frame in, f;
	struct out o;
	unsigned int i;

	out_open(&o, "mirror.pcap", 1, 65535);
	for (i = 0; i < tunnel_spec_count; i++) {
		frame_of_opcode(6 + i, NET_IPV4, tunnel_specs[i].ip ? 0 : 1, &in);
		tunnel_build(&tunnel_specs[i], i & 1, &in, in.len, &f);
		out_bytes(&o, f.bytes, f.len);
	}
	frame_of_opcode(6, NET_IPV6, 0, &in);
	tunnel_build(&tunnel_specs[4], false, &in, in.len - 10, &f);
	f.bytes[48] |= 4;
	out_bytes(&o, f.bytes, f.len);
	tunnel_build(&tunnel_specs[6], false, &in, in.len, &f);
	f.bytes[46] = 0x10;
	out_bytes(&o, f.bytes, f.len);
	frame_of_opcode(6, NET_IPV6, 0, &in);
	vxlan_build(8, &in, &f);
	out_bytes(&o, f.bytes, f.len);
	fclose(o.file);
}

/* A WRITE of which one packet is lost, marked on its way, repaired by go-back-N; then a CNP, a
 * READ, a receiver that was not ready, and a corrupted packet; the PSNs wrap. */
static void loss(void)
{
	struct frame_spec s;
	struct frame f;
	struct out o;

	out_open(&o, "loss.pcap", 1, 65535);
	out_spec(&o, request(0x06, "R", 0xfffffb, 256));
	s = request(0x07, "", 0xfffffc, 256);
	s.tos |= 3; /* CE */
	out_spec(&o, s);
	out_spec(&o, request(0x07, "", 0xfffffe, 256)); /* fffffd is lost */
	out_spec(&o, request(0x08, "", 0xffffff, 100));
	s = (struct frame_spec){.opcode = 0x81,
				.headers = "C",
				.byte4 = 0x40,
				.reply = true,
				.qpn = 0x22,
				.tos = 48 << 2};
	out_spec(&o, s);
	out_spec(&o, response(0x11, "A", 0xfffffd, 0x60)); /* sequence NAK */
	out_spec(&o, request(0x07, "", 0xfffffd, 256));
	out_spec(&o, request(0x07, "", 0xfffffe, 256));
	out_spec(&o, request(0x08, "", 0xffffff, 100));
	out_spec(&o, response(0x11, "A", 0xffffff, 0x1f));
	out_spec(&o, request(0x0c, "R", 0, 0)); /* READ of 4096 bytes: PSNs 0 to 15 */
	out_spec(&o, request(0x05, "I", 16, 8));
	out_spec(&o, response(0x11, "A", 16, 0x2e)); /* receiver not ready */
	out_spec(&o, request(0x05, "I", 16, 8));
	s = request(0x04, "", 17, 64);
	frame_build(&s, &f);
	f.bytes[f.len - 20] ^= 1;
	out_bytes(&o, f.bytes, f.len);
	out_spec(&o, request(0x04, "", 18, 64));
	out_spec(&o, request(0x04, "", 17, 64));
	out_spec(&o, request(0x04, "", 0x700000, 64)); /* the QP number used again */
	fclose(o.file);
}

static void control_frames(void)
{
	static const uint8_t pfc[60] = {0x01, 0x80, 0xc2, 0, 0,	   1, 2, 0, 0, 0, 0, 1,	   0x88,
					0x08, 1,    1,	  0, 0x18, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	static const uint8_t pause[60] = {0x01, 0x80, 0xc2, 0,	  0,	1, 2, 0,    0,
					  0,	0,    1,    0x88, 0x08, 0, 1, 0x12, 0x34};
	static const uint8_t arp[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6};
	uint8_t lldp[] = {
		0x01, 0x80, 0xc2, 0,	0,    0x0e, 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x01,
		0x88, 0xcc, 0x02, 0x07, 0x04, 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x04,
		0x05, 0x05, 's',  'w',	'p',  '1',  0x06, 0x02, 0x00, 0x78, 0x0a, 0x05,
		'l',  'e',  'a',  'f',	'1',  0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08,
		0x08, 0xfe, 0x0b, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x65, 0x00, 0x1a, 0xc5,
		0x00, 0x30, 0xfe, 0x06, 0x00, 0x12, 0x0f, 0x04, 0x24, 0x00, 0x00, 0x00,
	};
	struct out o;

	out_open(&o, "control.pcap", 1, 65535);
	out_bytes(&o, pfc, sizeof(pfc));
	out_bytes(&o, pause, sizeof(pause));
	out_bytes(&o, arp, sizeof(arp));
	out_bytes(&o, lldp, sizeof(lldp));
	lldp[22] = 2; /* another switch */
	out_bytes(&o, lldp, sizeof(lldp));
	lldp[15] = 0xff; /* a chassis id longer than the frame */
	out_bytes(&o, lldp, sizeof(lldp));
	fclose(o.file);
}

static void pfc_frame(struct out *o, uint16_t quanta)
{
	uint8_t pfc[60] = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0x08, 0x01, 1, 0, 8};

	pfc[24] = (uint8_t)(quanta >> 8); /* priority 3 */
	pfc[25] = (uint8_t)quanta;
	out_bytes(o, pfc, sizeof(pfc));
}

/* How traffic is slowed: requests of priority 3, most of them marked, CNPs too close to each other,
 * a pause storm that holds them and one pause that runs out; then a mirror that loses packets. */
static void pace(void)
{
	struct frame_spec s = request(0x04, "", 0, 0);
	struct frame_spec cnp = {.opcode = 0x81,
				 .headers = "C",
				 .byte4 = 0x40,
				 .reply = true,
				 .qpn = 0x22,
				 .tos = 48 << 2};
	struct frame in, f;
	struct out o;
	unsigned int i;

	out_open(&o, "pace.pcap", 1, 65535);
	s.vlans = 2;
	for (i = 0; i < 100; i++) {
		s.psn = i;
		s.tos = 26 << 2 | (i % 5 ? 3 : 2);
		out_spec(&o, s);
		if (i == 50 || i == 51)
			out_spec(&o, cnp);
		o.time_us -= i == 50 ? 18 : 0;
	}
	for (i = 0; i < 40; i++) {
		pfc_frame(&o, 0xffff);
		o.time_us += 2600;
	}
	pfc_frame(&o, 0);
	s.psn = 100;
	out_spec(&o, s);
	out_spec(&o, response(0x11, "A", 100, 0x1f));
	pfc_frame(&o, 100);
	o.time_us += 500;
	pfc_frame(&o, 0);
	for (i = 0; i < 3; i++) {
		s = request(0x04, "", i, 8);
		s.qpn = 0x33;
		frame_build(&s, &in);
		tunnel_build(&tunnel_specs[4], false, &in, in.len, &f);
		f.bytes[45] = (uint8_t)(i * i); /* of the sequence: 0, 1, 4 */
		out_bytes(&o, f.bytes, f.len);
	}
	fclose(o.file);
}

/* Headers alone, and headers that are cut. */
static void snapped(void)
{
	static const uint32_t snaplens[] = {64, 52, 38, 20};
	char name[32];
	struct out o;
	unsigned int i;

	for (i = 0; i < sizeof(snaplens) / sizeof(snaplens[0]); i++) {
		snprintf(name, sizeof(name), "snap%u.pcap", snaplens[i]);
		out_open(&o, name, 1, snaplens[i]);
		out_spec(&o, request(0x0a, "R", 1, 1000));
		out_spec(&o, request(0x04, "", 2, 1000));
		fclose(o.file);
	}
}

static void contradictions(void)
{
	static const struct {
		uint32_t at; /* from the IPv4 header */
		uint8_t byte;
	} rows[] = {{0, 0x44},	{2, 0x01},  {3, 40},	{25, 9},
		    {28, 0x13}, {28, 0x11}, {29, 0x70}, {6, 0x20}};
	struct frame_spec s = request(0x06, "R", 1, 8);
	struct out o;
	unsigned int i;

	out_open(&o, "malformed.pcap", 1, 65535);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f;

		frame_build(&s, &f);
		f.bytes[f.l3 + rows[i].at] = rows[i].byte;
		out_bytes(&o, f.bytes, f.len);
	}
	fclose(o.file);
}

static void cooked(void)
{
	static const uint8_t header[20] = {8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1};
	struct frame_spec s = request(0x04, "", 1, 32);
	uint8_t bytes[4700];
	struct frame f;
	struct out o;

	frame_build(&s, &f);
	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), f.bytes + 14, f.len - 14);
	out_open(&o, "sll2.pcap", 276, 65535);
	out_bytes(&o, bytes, f.len + 6);
	fclose(o.file);
	out_open(&o, "raw.pcap", 101, 65535);
	out_bytes(&o, f.bytes + 14, f.len - 14);
	fclose(o.file);
}

/* Breaks off inside the third frame. */
static void broken(void)
{
	struct out o;
	unsigned int i;

	out_open(&o, "broken.pcap", 1, 65535);
	for (i = 0; i < 3; i++)
		out_spec(&o, request(0x04, "", i, 100));
	fflush(o.file);
	if (ftell(o.file) < 30 || truncate("tests/golden/capture/broken.pcap", ftell(o.file) - 30))
		exit(1);
	fclose(o.file);
}

/* One frame, and 3 + 4 packets dropped by interface and kernel, as dumpcap writes it. */
static void pcapng(void)
{
	struct frame_spec s = request(0x04, "", 1, 32);
	FILE *file = fopen("tests/golden/capture/drops.pcapng", "wb");
	static const uint32_t head[] = {0x0a0d0d0a, 28, 0x1a2b3c4d, 1, ~0U, ~0U,
					28,	    1,	20,	    1, 0,   20};
	static const uint32_t tail[] = {5, 52,		0, 0, 0, 8 << 16 | 5, 3,
					0, 8 << 16 | 7, 4, 0, 0, 52};
	uint32_t epb[7], padded, total;
	struct frame f;

	if (!file)
		exit(1);
	frame_build(&s, &f);
	padded = (f.len + 3) & ~3U;
	total = 32 + padded;
	epb[0] = 6;
	epb[1] = total;
	epb[2] = 0;
	epb[3] = (uint32_t)(START_US >> 32);
	epb[4] = (uint32_t)START_US;
	epb[5] = f.len;
	epb[6] = f.len;
	fwrite(head, sizeof(head), 1, file);
	fwrite(epb, sizeof(epb), 1, file);
	fwrite(f.bytes, padded, 1, file);
	fwrite(&total, 4, 1, file);
	fwrite(tail, sizeof(tail), 1, file);
	fclose(file);
}

int main(void)
{
	every_opcode();
	every_encapsulation();
	mirrored();
	management();
	loss();
	control_frames();
	pace();
	snapped();
	contradictions();
	cooked();
	broken();
	pcapng();
	return 0;
}
