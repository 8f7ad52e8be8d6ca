/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking echo: what becomes of a packet's IP header on its way, seen without a sniffer. A UD
 * receive begins with 40 bytes in which the device puts the IP header as it arrived. The client
 * sends datagrams of each class from several UDP source ports; the server answers each with the
 * same marking and tells in it what it saw. So both ways are seen, and that of answers is the way
 * of ACKs. One struct echo is one end; both have the same spec but for role, device, port, GID
 * index and marking. Datagrams of each RDMA MTU size find the path's MTU.
 */
#ifndef PROBE_ECHO_H
#define PROBE_ECHO_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"

#define ECHO_CLASSES_MAX     TRAFFIC_CLASSES_MAX
#define ECHO_PATHS_MAX	     256u /* of the swept class */
#define ECHO_CLASS_PATHS_MAX 16u  /* of each other one */
#define ECHO_SIZES	     5u	  /* RDMA MTUs: 256 to 4096 */
#define ECHO_SIZE_PATHS	     4u	  /* source ports that the sizes go by, at most */
#define ECHO_FLOWS_MAX                                                                             \
	(ECHO_CLASSES_MAX * ECHO_CLASS_PATHS_MAX + ECHO_PATHS_MAX +                                \
	 2 * ECHO_SIZES * ECHO_SIZE_PATHS)
#define ECHO_COUNT_MAX	     256u
#define ECHO_DURATION_MAX_MS 120000u
#define ECHO_SEEN_MAX	     4u
#define ECHO_BYTES	     64u /* of a datagram that is not about sizes */

/* A class: traffic class byte and service level of this end's datagrams. */
struct echo_class {
	uint8_t tos, sl;
};

struct echo_spec {
	enum traffic_role role;
	char ibdev[64];
	uint8_t ib_port;
	uint16_t gid_index;
	uint64_t seed;
	uint32_t duration_ms; /* at the latest; the server ends when it is told to */
	uint16_t count;	      /* datagrams of each flow */
	uint16_t paths;	      /* UDP source ports of each class */
	uint16_t sweep;	      /* of class 0; at most `paths` = no sweep */
	uint16_t gap_us;      /* between datagrams */
	bool sizes;	      /* the path's MTU too */
	unsigned int class_count;
	struct echo_class class[ECHO_CLASSES_MAX];
};

/* Datagrams of one class, UDP source port and size. */
struct echo_flow {
	uint8_t class;
	bool sized; /* about the path's MTU */
	uint16_t path;
	uint16_t count;
	uint32_t bytes[2]; /* of a request, of an answer */
};

/* What came with one marking. */
struct echo_seen {
	uint8_t tos, ttl;
	uint32_t count;
};

struct echo_record {
	uint32_t arrived; /* different ones */
	uint32_t repeated, wrong;
	uint32_t unread; /* arrived, without an IP header that can be read */
	uint32_t others; /* arrived with more markings than `seen` holds */
	unsigned int seen_count;
	struct echo_seen seen[ECHO_SEEN_MAX];
};

struct echo_flow_result {
	uint32_t sent; /* requests of the client, answers of the server */
	struct echo_record here;
	struct echo_record there; /* at the client: what answers say of the requests */
};

/* What an end has to tell, 60 KiB. */
struct echo_result {
	char detail[160]; /* why it ended early; "" = it did not */
	uint32_t mtu;	  /* active RDMA MTU of the port, bytes */
	uint32_t foreign; /* datagrams that were none of ours */
	unsigned int path_count;
	uint16_t port[ECHO_PATHS_MAX]; /* UDP source ports of this end */
	unsigned int flow_count;
	struct echo_flow_result flow[ECHO_FLOWS_MAX];
};

struct echo; /* opaque */

/* -EINVAL with the member and its range. */
int echo_spec_check(const struct echo_spec *s, struct err *e);

/* The flows of a spec, the same at both ends: classes with their paths, then sizes. Returns how
 * many. The spec was checked. */
unsigned int echo_flows(const struct echo_spec *s, struct echo_flow flow[ECHO_FLOWS_MAX]);

/* UDP source ports that all classes together use. */
unsigned int echo_paths(const struct echo_spec *s);

/* Source port of a flow label (IBTA RoCEv2 annex A17 leaves it to the sender; linux ib_verbs.h:
 * low 14 bits folded with the high 6, above 0xc000), and of a queue pair of Soft-RoCE, which does
 * not look at the label of a datagram (rxe of Linux 6.1 and 6.12). */
uint16_t echo_label_port(uint32_t flow_label);
uint16_t echo_soft_port(uint32_t qpn);

/* As traffic_open(), traffic_self() and so on; receives are posted when it is connected. The peer
 * has one queue pair. */
int echo_open(const struct echo_spec *s, struct echo **out, struct err *e);
void echo_close(struct echo *x);
void echo_self(const struct echo *x, struct traffic_peer *self);
int echo_connect(struct echo *x, const struct traffic_peer *peer, struct err *e);

/* The client: until all is sent and answered or written off. The server: until *stop. Both end
 * after duration_ms. Fills *r; 0 also when r->detail says that it ended early. */
int echo_run(struct echo *x, const atomic_int *stop, struct echo_result *r, struct err *e);

json_t *echo_spec_to_json(const struct echo_spec *s);
int echo_spec_from_json(const json_t *json, struct echo_spec *s, struct err *e);
json_t *echo_result_to_json(const struct echo_result *r);
int echo_result_from_json(const json_t *json, struct echo_result *r, struct err *e);

#endif
