/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of the fields of the CM messages (IBTA vol 1, 12.6), and the addresses of RDMA CM (annex
 * A11). LAP and APR, which move a connection to an alternate path, have only a name: RoCE has no
 * alternate path.
 *
 *   MAD header: | base version 8 | class 8 | class version 8 | method 8 | status, reserved 32 |
 *               | transaction id 64 | attribute 16 | reserved 16 | modifier 32 |
 */
#include "capture/decode/cm.h"

#include <stddef.h>
#include <string.h>

#include "capture/decode/bytes.h"

#define MAD_HEADER_LEN	  24
#define MAD_BASE_VERSION  1
#define MAD_CLASS_CM	  7
#define MAD_CLASS_VERSION 2
#define MAD_METHOD_SEND	  3

/* RDMA CM's service ids: | 0 32 | 0x01 8 | port space 8 | port 16 |. */
#define SERVICE_RDMA_CM	  0x01
#define REQ_PRIVATE_DATA  140
#define SIDR_PRIVATE_DATA 16
#define IP_HEADER_LEN	  36

#define IN(member) offsetof(struct cm, member)

/* 1 = 256 bytes to 5 = 4096. */
static uint32_t cm_mtu_bytes(uint32_t code)
{
	return code >= 1 && code <= 5 ? 128U << code : 0;
}

/* clang-format off */
const struct cm_field cm_fields[] = {
	{CM_REQ, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_REQ, "service_id", 8, 8, 0, 64, IN(service_id), NULL},
	{CM_REQ, "qpn", 32, 3, 0, 24, IN(qpn), NULL},
	{CM_REQ, "responder_resources", 35, 1, 0, 8, IN(responder_resources), NULL},
	{CM_REQ, "initiator_depth", 39, 1, 0, 8, IN(initiator_depth), NULL},
	{CM_REQ, "cm_timeout", 43, 1, 3, 5, IN(cm_timeout), NULL},
	{CM_REQ, "transport", 43, 1, 1, 2, IN(transport), NULL},
	{CM_REQ, "starting_psn", 44, 3, 0, 24, IN(starting_psn), NULL},
	{CM_REQ, "retry_count", 47, 1, 0, 3, IN(retry_count), NULL},
	{CM_REQ, "pkey", 48, 2, 0, 16, IN(pkey), NULL},
	{CM_REQ, "path_mtu", 50, 1, 4, 4, IN(path_mtu), cm_mtu_bytes},
	{CM_REQ, "rnr_retry", 50, 1, 0, 3, IN(rnr_retry), NULL},
	{CM_REQ, "traffic_class", 92, 1, 0, 8, IN(traffic_class), NULL},
	{CM_REQ, "sl", 94, 1, 4, 4, IN(sl), NULL},
	{CM_REQ, "ack_timeout", 95, 1, 3, 5, IN(ack_timeout), NULL},

	{CM_MRA, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_MRA, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},
	{CM_MRA, "answered", 8, 1, 6, 2, IN(rejected), NULL},
	{CM_MRA, "cm_timeout", 9, 1, 3, 5, IN(cm_timeout), NULL},

	{CM_REJ, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_REJ, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},
	{CM_REJ, "rejected", 8, 1, 6, 2, IN(rejected), NULL},
	{CM_REJ, "reason", 10, 2, 0, 16, IN(reason), NULL},

	{CM_REP, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_REP, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},
	{CM_REP, "qkey", 8, 4, 0, 32, IN(qkey), NULL},
	{CM_REP, "qpn", 12, 3, 0, 24, IN(qpn), NULL},
	{CM_REP, "starting_psn", 20, 3, 0, 24, IN(starting_psn), NULL},
	{CM_REP, "responder_resources", 24, 1, 0, 8, IN(responder_resources), NULL},
	{CM_REP, "initiator_depth", 25, 1, 0, 8, IN(initiator_depth), NULL},
	{CM_REP, "ack_delay", 26, 1, 3, 5, IN(ack_delay), NULL},
	{CM_REP, "rnr_retry", 27, 1, 5, 3, IN(rnr_retry), NULL},

	{CM_RTU, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_RTU, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},

	{CM_DREQ, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_DREQ, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},
	{CM_DREQ, "qpn", 8, 3, 0, 24, IN(qpn), NULL},

	{CM_DREP, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_DREP, "remote_id", 4, 4, 0, 32, IN(remote_id), NULL},

	{CM_SIDR_REQ, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_SIDR_REQ, "pkey", 4, 2, 0, 16, IN(pkey), NULL},
	{CM_SIDR_REQ, "service_id", 8, 8, 0, 64, IN(service_id), NULL},

	{CM_SIDR_REP, "local_id", 0, 4, 0, 32, IN(local_id), NULL},
	{CM_SIDR_REP, "status", 4, 1, 0, 8, IN(reason), NULL},
	{CM_SIDR_REP, "qpn", 8, 3, 0, 24, IN(qpn), NULL},
	{CM_SIDR_REP, "service_id", 12, 8, 0, 64, IN(service_id), NULL},
	{CM_SIDR_REP, "qkey", 20, 4, 0, 32, IN(qkey), NULL},
};
/* clang-format on */

const unsigned int cm_field_count = ARRAY_SIZE(cm_fields);

static const char *const message_names[] = {
	[CM_REQ] = "REQ",   [CM_MRA] = "MRA",		[CM_REJ] = "REJ",
	[CM_REP] = "REP",   [CM_RTU] = "RTU",		[CM_DREQ] = "DREQ",
	[CM_DREP] = "DREP", [CM_SIDR_REQ] = "SIDR_REQ", [CM_SIDR_REP] = "SIDR_REP",
	[CM_LAP] = "LAP",   [CM_APR] = "APR",
};

const char *cm_message_text(const struct cm *c)
{
	const char *name = c->message < ARRAY_SIZE(message_names) ? message_names[c->message]
								  : NULL;

	return name ? name : "?";
}

static bool cm_field_is_captured(const struct cm *c, const struct cm_field *f)
{
	return MAD_HEADER_LEN + (uint32_t)f->byte + f->bytes <= c->reached;
}

static void cm_read_field(const uint8_t *data, const struct cm_field *f, struct cm *c)
{
	uint64_t v = 0;
	uint32_t value;
	unsigned int i;

	for (i = 0; i < f->bytes; i++)
		v = v << 8 | data[f->byte + i];
	if (f->bits == 64) {
		memcpy((char *)c + f->member, &v, sizeof(v));
		return;
	}
	value = (uint32_t)(v >> f->shift) & (uint32_t)((1ULL << f->bits) - 1);
	if (f->convert)
		value = f->convert(value);
	memcpy((char *)c + f->member, &value, sizeof(value));
}

bool cm_value(const struct cm *c, const struct cm_field *f, uint64_t *value)
{
	uint32_t v;

	if (!cm_field_is_captured(c, f))
		return false;
	if (f->bits == 64) {
		memcpy(value, (const char *)c + f->member, sizeof(*value));
		return true;
	}
	memcpy(&v, (const char *)c + f->member, sizeof(v));
	*value = v;
	return true;
}

bool cm_find(const struct cm *c, const char *key, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < cm_field_count; i++)
		if (cm_fields[i].message == c->message && !strcmp(cm_fields[i].key, key))
			return cm_value(c, &cm_fields[i], value);
	return false;
}

bool cm_whole(const struct cm *c)
{
	unsigned int i;

	for (i = 0; i < cm_field_count; i++)
		if (cm_fields[i].message == c->message && !cm_field_is_captured(c, &cm_fields[i]))
			return false;
	return true;
}

/* IPv4 is in the last four of sixteen bytes; the others need not be zero. */
static void cm_ip_to_gid(const uint8_t *h, bool v4, uint8_t gid[16])
{
	if (v4)
		ipv4_to_gid(h + 12, gid);
	else
		memcpy(gid, h, 16);
}

/* | version 8 | IP version 4, reserved 4 | source port 16 | source 128 | destination 128 | */
static void cm_read_ip(const uint8_t *data, uint32_t at, struct cm *c)
{
	const uint8_t *h = data + at;
	uint8_t version;

	if (MAD_HEADER_LEN + at + IP_HEADER_LEN > c->reached ||
	    c->service_id >> 24 != SERVICE_RDMA_CM)
		return;
	version = h[1] >> 4;
	if (h[0] != 0 || (version != 4 && version != 6))
		return;
	c->ip = true;
	c->ip_port = (uint16_t)c->service_id;
	c->ip_sport = be16_at(h + 2);
	cm_ip_to_gid(h + 4, version == 4, c->ip_src);
	cm_ip_to_gid(h + 20, version == 4, c->ip_dst);
}

bool cm_decode(const uint8_t *mad, uint32_t captured, struct cm *c)
{
	uint16_t message;
	unsigned int i;

	if (captured < MAD_HEADER_LEN || mad[0] != MAD_BASE_VERSION || mad[1] != MAD_CLASS_CM ||
	    mad[2] != MAD_CLASS_VERSION || mad[3] != MAD_METHOD_SEND)
		return false;
	message = be16_at(mad + 16);
	if (message >= ARRAY_SIZE(message_names) || !message_names[message])
		return false;
	memset(c, 0, sizeof(*c));
	c->message = message;
	c->reached = (uint16_t)(captured < CM_MAD_LEN ? captured : CM_MAD_LEN);
	c->tid = be64_at(mad + 8);
	for (i = 0; i < cm_field_count; i++)
		if (cm_fields[i].message == message && cm_field_is_captured(c, &cm_fields[i]))
			cm_read_field(mad + MAD_HEADER_LEN, &cm_fields[i], c);
	if (message == CM_REQ)
		cm_read_ip(mad + MAD_HEADER_LEN, REQ_PRIVATE_DATA, c);
	else if (message == CM_SIDR_REQ)
		cm_read_ip(mad + MAD_HEADER_LEN, SIDR_PRIVATE_DATA, c);
	return true;
}
