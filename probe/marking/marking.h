/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking echo: what becomes of a packet's IP header on its way, seen without a sniffer. A UD
 * receive begins with 40 bytes in which the device puts the IP header as it arrived. The client
 * sends datagrams of each class from several UDP source ports; the server answers each with the
 * same marking and tells in it what it saw. So both ways are seen, and that of answers is the way
 * of ACKs. One struct marking is one end; both have the same spec but for role, device, port, GID
 * index and marking. Datagrams of each RDMA MTU size find the path's MTU.
 */
#ifndef PROBE_MARKING_H
#define PROBE_MARKING_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"

#define MARKING_CLASSES_MAX	TRAFFIC_CLASSES_MAX
#define MARKING_PATHS_MAX	256u /* of the swept class */
#define MARKING_CLASS_PATHS_MAX 16u  /* of each other one */
#define MARKING_SIZES		5u   /* RDMA MTUs: 256 to 4096 */
#define MARKING_SIZE_PATHS	4u   /* source ports that the sizes go by, at most */
#define MARKING_FLOWS_MAX                                                                          \
	(MARKING_CLASSES_MAX * MARKING_CLASS_PATHS_MAX + MARKING_PATHS_MAX +                       \
	 2 * MARKING_SIZES * MARKING_SIZE_PATHS)
#define MARKING_COUNT_MAX	256u
#define MARKING_DURATION_MAX_MS 120000u
#define MARKING_SEEN_MAX	4u
#define MARKING_BYTES		64u /* of a datagram that is not about sizes */

/* A class: traffic class byte and service level of this end's datagrams. */
struct marking_class {
	uint8_t tos, sl;
};

struct marking_spec {
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
	struct marking_class class[MARKING_CLASSES_MAX];
};

/* Datagrams of one class, UDP source port and size. */
struct marking_flow {
	uint8_t class;
	bool sized; /* about the path's MTU */
	uint16_t path;
	uint16_t count;
	uint32_t bytes[2]; /* of a request, of an answer */
};

/* What came with one marking. */
struct marking_seen {
	uint8_t tos, ttl;
	uint32_t count;
};

struct marking_record {
	uint32_t arrived; /* different ones */
	uint32_t repeated, wrong;
	uint32_t unread; /* arrived, without an IP header that can be read */
	uint32_t others; /* arrived with more markings than `seen` holds */
	unsigned int seen_count;
	struct marking_seen seen[MARKING_SEEN_MAX];
};

struct marking_flow_result {
	uint32_t sent; /* requests of the client, answers of the server */
	struct marking_record here;
	struct marking_record there; /* at the client: what answers say of the requests */
};

/* What an end has to tell, 60 KiB. */
struct marking_result {
	char detail[160]; /* why it ended early; "" = it did not */
	uint32_t mtu;	  /* active RDMA MTU of the port, bytes */
	uint32_t foreign; /* datagrams that were none of ours */
	unsigned int path_count;
	uint16_t port[MARKING_PATHS_MAX]; /* UDP source ports of this end */
	unsigned int flow_count;
	struct marking_flow_result flow[MARKING_FLOWS_MAX];
};

struct marking; /* opaque */

/* -EINVAL with the member and its range. */
int marking_spec_check(const struct marking_spec *s, struct err *e);

/* The flows of a spec, the same at both ends: classes with their paths, then sizes. Returns how
 * many. The spec was checked. */
unsigned int marking_flows(const struct marking_spec *s,
			   struct marking_flow flow[MARKING_FLOWS_MAX]);

/* UDP source ports that all classes together use. */
unsigned int marking_paths(const struct marking_spec *s);

/* Source port of a flow label (IBTA RoCEv2 annex A17 leaves it to the sender; linux ib_verbs.h:
 * low 14 bits folded with the high 6, above 0xc000), and of a queue pair of Soft-RoCE, which does
 * not look at the label of a datagram (rxe of Linux 6.1 and 6.12). */
uint16_t marking_label_port(uint32_t flow_label);
uint16_t marking_soft_port(uint32_t qpn);

/* As traffic_open(), traffic_get_endpoint() and so on; receives are posted when it is connected.
 * The peer has one queue pair. */
int marking_open(const struct marking_spec *s, struct marking **out, struct err *e);
void marking_close(struct marking *x);
void marking_self(const struct marking *x, struct traffic_endpoint *self);
int marking_connect(struct marking *x, const struct traffic_endpoint *peer, struct err *e);

/* The client: until all is sent and answered or written off. The server: until *stop. Both end
 * after duration_ms. Fills *r; 0 also when r->detail says that it ended early. */
int marking_run(struct marking *x, const atomic_int *stop, struct marking_result *r, struct err *e);

json_t *marking_spec_to_json(const struct marking_spec *s);
int marking_spec_from_json(const json_t *json, struct marking_spec *s, struct err *e);
json_t *marking_result_to_json(const struct marking_result *r);
int marking_result_from_json(const json_t *json, struct marking_result *r, struct err *e);

#endif
