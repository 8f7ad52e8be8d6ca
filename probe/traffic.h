/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA traffic between two hosts: RC WRITE and SEND, every received byte checked, errors told by
 * cause. One struct traffic is one end; what the two ends need from each other (struct
 * traffic_peer) is carried by somebody else. Host memory only.
 */
#ifndef PROBE_TRAFFIC_H
#define PROBE_TRAFFIC_H

#include <jansson.h>

#include "profiles/base.h"

enum traffic_verb {
	TRAFFIC_WRITE,
	TRAFFIC_SEND,
};

enum traffic_role {
	TRAFFIC_CLIENT, /* requester: sends data */
	TRAFFIC_SERVER, /* responder: receives and checks */
};

/* Why a run ended early. Kept apart because each has another next step. */
enum traffic_cause {
	CAUSE_NONE,
	CAUSE_RETRY_EXCEEDED, /* no answer: loss, wrong path, peer gone */
	CAUSE_RNR,	      /* receiver posted nothing: host, not fabric */
	CAUSE_REMOTE,	      /* remote access or operation error */
	CAUSE_LOCAL,	      /* local QP, memory or length error */
	CAUSE_PORT_DOWN,
	CAUSE_PEER_GONE, /* the other end vanished */
	CAUSE_DATA,	 /* delivered bytes are wrong */
	CAUSE_TIMEOUT,	 /* our own deadline passed */
	CAUSE_COUNT,
};

struct traffic_spec {
	enum traffic_role role;
	enum traffic_verb verb;
	char ibdev[64];
	uint8_t ib_port;
	uint16_t gid_index;
	uint8_t tos;		/* traffic class of this end's QP: DSCP << 2 | ECN */
	uint32_t message_bytes; /* 64 .. 8 MiB */
	uint32_t duration_ms;
	uint64_t rate_bytes_per_s; /* 0 = as fast as it goes */
	uint64_t seed;		   /* of the pattern; the same on both ends */
	uint8_t sl;		   /* service level: the priority, for NICs that trust PCP */
	uint8_t timeout; /* ACK timeout code, 4.096 us * 2^t; 0 = 18 on Soft-RoCE, 16 else */
};

/* What one end tells the other. */
struct traffic_peer {
	uint32_t qpn, psn;
	uint8_t gid[16];
	uint32_t mtu;  /* IB MTU of the end, bytes; the smaller one is used */
	uint64_t addr; /* ring of slots, for WRITE */
	uint32_t rkey;
	uint32_t slots;
};

struct traffic_result {
	uint64_t messages; /* completed (client) or checked (server) */
	uint64_t bytes;
	uint64_t duration_ns;	/* first post to last completion */
	uint64_t checked_bytes; /* server: every payload byte compared */
	uint64_t mismatches;	/* server: messages with a wrong byte, sequence or slot */
	uint32_t mtu;		/* IB MTU in use */
	enum traffic_cause cause;
	char detail[160]; /* "RETRY_EXC_ERR after 1.2 s, message 381"; empty when cause is none */
};

struct traffic; /* opaque */

/* Opens device, PD, CQ, QP, MR. On failure e names device and step. */
int traffic_open(const struct traffic_spec *spec, struct traffic **t, struct err *e);
void traffic_close(struct traffic *t);

void traffic_self(const struct traffic *t, struct traffic_peer *self);

/* INIT -> RTR -> RTS towards the peer. Server side: receives are posted before it returns. */
int traffic_connect(struct traffic *t, const struct traffic_peer *peer, struct err *e);

/* Runs this end until duration_ms has passed and all is drained, the peer's last message has come,
 * or *stop becomes nonzero. Always fills *result; returns 0 also when result->cause says that
 * traffic failed, -errno only when it could not run at all. Never blocks longer than duration + 10
 * s. */
int traffic_run(struct traffic *t, const volatile int *stop, struct traffic_result *result,
		struct err *e);

const char *traffic_verb_word(enum traffic_verb verb); /* "write" */
int traffic_verb_take(const json_t *json, const char *key, enum traffic_verb *verb, struct err *e);
const char *traffic_cause_word(enum traffic_cause cause); /* "retry-exceeded" */
const char *traffic_cause_advice(enum traffic_cause cause);

json_t *traffic_result_to_json(const struct traffic_result *r);
int traffic_result_from_json(const json_t *json, struct traffic_result *r, struct err *e);
json_t *traffic_peer_to_json(const struct traffic_peer *p);
int traffic_peer_from_json(const json_t *json, struct traffic_peer *p, struct err *e);
json_t *traffic_spec_to_json(const struct traffic_spec *s);
int traffic_spec_from_json(const json_t *json, struct traffic_spec *s, struct err *e);

#endif
