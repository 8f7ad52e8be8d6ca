/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes communication management: MADs to QP 1 in which two hosts agree on QP numbers, starting
 * PSNs and path MTU before RC traffic. IBTA vol 1, 12.6 (messages) and annex A11 (IP addresses in
 * the private data).
 */
#ifndef CAPTURE_CM_H
#define CAPTURE_CM_H

#include "profiles/base/base.h"

/* Attribute ids, as on the wire. */
enum cm_message {
	CM_NONE = 0,
	CM_REQ = 0x10,
	CM_MRA = 0x11,
	CM_REJ = 0x12,
	CM_REP = 0x13,
	CM_RTU = 0x14,
	CM_DREQ = 0x15,
	CM_DREP = 0x16,
	CM_SIDR_REQ = 0x17,
	CM_SIDR_REP = 0x18,
	CM_LAP = 0x19,
	CM_APR = 0x1a,
};

#define CM_MAD_LEN 256

struct cm {
	uint16_t message; /* enum cm_message */
	uint16_t reached; /* bytes of the MAD that were captured; fields beyond are 0 */
	uint64_t tid, service_id;
	/* Ids of the sender and the receiver of this message; SIDR: the request id in local_id. */
	uint32_t local_id, remote_id;
	/* REQ, REP, SIDR_REP: the sender's QP. DREQ: the receiver's. */
	uint32_t qpn, qkey;
	/* REQ, REP: the first PSN that the receiver of this message sends, not its sender. */
	uint32_t starting_psn;
	uint32_t responder_resources, initiator_depth;
	uint32_t transport; /* REQ: 0 RC, 1 UC, 2 RD, 3 another one, XRC */
	uint32_t path_mtu;  /* bytes; 0 = a reserved code */
	/* Times are exponents: 4.096 us * 2^n. */
	uint32_t cm_timeout, ack_timeout, ack_delay;
	uint32_t retry_count, rnr_retry, pkey, sl, traffic_class;
	uint32_t rejected; /* REJ, MRA: 0 REQ, 1 REP, 2 another message, LAP */
	uint32_t reason;   /* REJ; SIDR_REP: status */
	/* Private data of RDMA CM in REQ and SIDR_REQ; the destination port is the end of the
	 * service id. */
	bool ip;
	uint16_t ip_port, ip_sport;
	uint8_t ip_src[16], ip_dst[16]; /* GID form, as in struct packet */
};

/* One field of one message: its place on the wire and in struct cm. */
struct cm_field {
	uint16_t message;
	const char *key;
	uint16_t byte; /* after the MAD header */
	uint8_t bytes; /* big endian */
	uint8_t shift; /* from the right */
	uint8_t bits;
	uint16_t member; /* offset in struct cm: a uint64_t when bits is 64, else a uint32_t */
	uint32_t (*convert)(uint32_t code); /* NULL: as on the wire */
};

extern const struct cm_field cm_fields[];
extern const unsigned int cm_field_count;

/*
 * Decodes a MAD of CM_MAD_LEN bytes, `captured` of them present. True for a CM message, also a
 * truncated one: then its captured part is decoded. *c is written only on true.
 */
bool cm_decode(const uint8_t *mad, uint32_t captured, struct cm *c);

/* True and *value when the field was captured. */
bool cm_value(const struct cm *c, const struct cm_field *f, uint64_t *value);

/* The same by key; false also when the message has no such field. */
bool cm_find(const struct cm *c, const char *key, uint64_t *value);

/* True when every field of the message was captured. */
bool cm_whole(const struct cm *c);

/* "REQ"; "?" when message is none. */
const char *cm_message_text(const struct cm *c);

#endif
