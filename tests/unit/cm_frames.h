/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CM messages in frames, for tests: one of each kind with a value of its own in every field, placed
 * by hand after IBTA vol 1, 12.6 and not by the table under test.
 */
#ifndef TESTS_UNIT_CM_FRAMES_H
#define TESTS_UNIT_CM_FRAMES_H

#include "tests/unit/roce_frames.h"

#define CM_MAD_HEADER 24
#define CM_PAYLOAD    256

struct cm_field_value {
	const char *key;
	uint64_t value;
	uint16_t byte; /* behind the MAD header */
	uint8_t bytes;
	uint8_t shift;
	uint32_t wire; /* when the wire has another number than value; 0 = the same */
};

struct cm_frame_spec {
	const char *name;
	uint16_t attribute;
	uint16_t ip_at; /* of RDMA CM's private data; 0 = none */
	struct cm_field_value fields[16];
};

static const struct cm_frame_spec cm_frame_specs[] = {
	{"REQ",
	 0x10,
	 140,
	 {{"local_id", 0xa1b2c3d4, 0, 4, 0, 0},
	  {"service_id", 0x0000000001064a21, 8, 8, 0, 0},
	  {"qpn", 0x000112, 32, 3, 0, 0},
	  {"responder_resources", 16, 35, 1, 0, 0},
	  {"initiator_depth", 15, 39, 1, 0, 0},
	  {"cm_timeout", 20, 43, 1, 3, 0},
	  {"transport", 0, 43, 1, 1, 0},
	  {"starting_psn", 0xabcdef, 44, 3, 0, 0},
	  {"retry_count", 7, 47, 1, 0, 0},
	  {"pkey", 0xffff, 48, 2, 0, 0},
	  {"path_mtu", 1024, 50, 1, 4, 3},
	  {"rnr_retry", 6, 50, 1, 0, 0},
	  {"traffic_class", 105, 92, 1, 0, 0},
	  {"sl", 3, 94, 1, 4, 0},
	  {"ack_timeout", 18, 95, 1, 3, 0}}},
	{"REP",
	 0x13,
	 0,
	 {{"local_id", 0x11111111, 0, 4, 0, 0},
	  {"remote_id", 0xa1b2c3d4, 4, 4, 0, 0},
	  {"qkey", 0x22222222, 8, 4, 0, 0},
	  {"qpn", 0x000213, 12, 3, 0, 0},
	  {"starting_psn", 0x123456, 20, 3, 0, 0},
	  {"responder_resources", 14, 24, 1, 0, 0},
	  {"initiator_depth", 13, 25, 1, 0, 0},
	  {"ack_delay", 15, 26, 1, 3, 0},
	  {"rnr_retry", 5, 27, 1, 5, 0}}},
	{"RTU",
	 0x14,
	 0,
	 {{"local_id", 0xa1b2c3d4, 0, 4, 0, 0}, {"remote_id", 0x11111111, 4, 4, 0, 0}}},
	{"MRA",
	 0x11,
	 0,
	 {{"local_id", 5, 0, 4, 0, 0},
	  {"remote_id", 6, 4, 4, 0, 0},
	  {"answered", 1, 8, 1, 6, 0},
	  {"cm_timeout", 21, 9, 1, 3, 0}}},
	{"REJ",
	 0x12,
	 0,
	 {{"local_id", 0, 0, 4, 0, 0},
	  {"remote_id", 0xa1b2c3d4, 4, 4, 0, 0},
	  {"rejected", 2, 8, 1, 6, 0},
	  {"reason", 28, 10, 2, 0, 0}}},
	{"DREQ",
	 0x15,
	 0,
	 {{"local_id", 0xa1b2c3d4, 0, 4, 0, 0},
	  {"remote_id", 0x11111111, 4, 4, 0, 0},
	  {"qpn", 0x000213, 8, 3, 0, 0}}},
	{"DREP",
	 0x16,
	 0,
	 {{"local_id", 0x11111111, 0, 4, 0, 0}, {"remote_id", 0xa1b2c3d4, 4, 4, 0, 0}}},
	{"SIDR_REQ",
	 0x17,
	 16,
	 {{"local_id", 0x77, 0, 4, 0, 0},
	  {"pkey", 0x8001, 4, 2, 0, 0},
	  {"service_id", 0x0000000001111bf7, 8, 8, 0, 0}}},
	{"SIDR_REP",
	 0x18,
	 0,
	 {{"local_id", 0x77, 0, 4, 0, 0},
	  {"status", 2, 4, 1, 0, 0},
	  {"qpn", 0x000314, 8, 3, 0, 0},
	  {"service_id", 0x0000000001111bf7, 12, 8, 0, 0},
	  {"qkey", 0x80000001, 20, 4, 0, 0}}},
	{"LAP", 0x19, 0, {{0}}},
	{"APR", 0x1a, 0, {{0}}},
};

#define CM_FRAME_SPECS (sizeof(cm_frame_specs) / sizeof(cm_frame_specs[0]))

static inline void cm_put(uint8_t *data, const struct cm_field_value *f)
{
	uint64_t v = (f->wire ? f->wire : f->value) << f->shift;
	unsigned int i;

	for (i = 0; i < f->bytes; i++)
		data[f->byte + i] |= (uint8_t)(v >> (8 * (f->bytes - 1 - i)));
}

/* The 256 bytes of the datagram. */
static inline void cm_mad(const struct cm_frame_spec *s, uint8_t mad[CM_PAYLOAD])
{
	static const uint8_t header[] = {1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9};
	static const uint8_t ip[36] = {[1] = 0x40, [2] = 0xc0, [3] = 0x01, [16] = 198, 18, 0,
				       1,	   [32] = 198, 18,	   0,	       2};
	const struct cm_field_value *f;

	memset(mad, 0, CM_PAYLOAD);
	memcpy(mad, header, sizeof(header));
	mad[17] = (uint8_t)s->attribute;
	for (f = s->fields; f->key; f++)
		cm_put(mad + CM_MAD_HEADER, f);
	if (s->ip_at)
		memcpy(mad + CM_MAD_HEADER + s->ip_at, ip, sizeof(ip));
}

/* The datagram in a UD SEND from QP 1 (by DETH) to QP 1. */
static inline void cm_frame(const struct cm_frame_spec *s, enum frame_net net, struct frame *f)
{
	struct frame_spec fs = {.net = net,
				.opcode = 0x64,
				.headers = "G",
				.payload = CM_PAYLOAD,
				.qpn = 1,
				.psn = 3};

	frame_build(&fs, f);
	cm_mad(s, f->bytes + f->len - 4 - CM_PAYLOAD);
	f->icrc = frame_icrc(f, net, f->len - 4);
	for (unsigned int i = 0; i < 4; i++)
		f->bytes[f->len - 4 + i] = (uint8_t)(f->icrc >> (8 * i));
}

#endif
