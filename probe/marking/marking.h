/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marking test: compares the IP header of a packet as sent and as received, without a capture. The
 * first 40 bytes of a UD receive hold the IP header as it arrived. The client sends datagrams of
 * each class from several UDP source ports; the server replies with the same marking and reports
 * the header it received. This covers both directions; replies use the path of ACKs. Datagrams of
 * each RDMA MTU size find the path MTU. One struct marking is one host; both hosts have the same
 * spec except role, device, port, GID index and marking.
 */
#ifndef PROBE_MARKING_H
#define PROBE_MARKING_H

#include <jansson.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"

#define MARKING_CLASSES_MAX	TRAFFIC_CLASSES_MAX
#define MARKING_PATHS_MAX	256u /* UDP source ports of the swept class */
#define MARKING_CLASS_PATHS_MAX 16u  /* of each other class */
#define MARKING_SIZES		5u   /* RDMA MTUs: 256 to 4096 */
#define MARKING_SIZE_PATHS	16u  /* at most, source ports of the MTU sizes */
#define MARKING_FLOWS_MAX                                                                          \
	(MARKING_CLASSES_MAX * MARKING_CLASS_PATHS_MAX + MARKING_PATHS_MAX +                       \
	 2 * MARKING_SIZES * MARKING_SIZE_PATHS)
#define MARKING_COUNT_MAX	256u
#define MARKING_DURATION_MAX_MS 120000u
#define MARKING_SEEN_MAX	4u
#define MARKING_BYTES		64u /* datagram, except for MTU sizes */

/* ToS byte and service level of this host's datagrams in a class. */
struct marking_class {
	uint8_t tos, sl;
};

struct marking_spec {
	enum traffic_role role;
	char ibdev[64];
	uint8_t ib_port;
	uint16_t gid_index;
	uint64_t seed;
	uint32_t duration_ms; /* time limit; the server ends earlier when stopped */
	uint16_t count;	      /* datagrams per flow; of other classes than the first fewer */
	uint16_t paths;	      /* UDP source ports per class */
	uint16_t sweep;	      /* UDP source ports of class 0; at most `paths` = no sweep */
	uint16_t gap_us;      /* between datagrams */
	bool sizes;	      /* also find the path MTU */
	unsigned int class_count;
	struct marking_class class[MARKING_CLASSES_MAX];
};

/* Datagrams of one class, UDP source port and size. */
struct marking_flow {
	uint8_t class;
	bool sized; /* for the path MTU */
	uint16_t path;
	uint16_t count;
	uint32_t bytes[2]; /* of a request, of a reply */
};

/* Datagrams that arrived with one ToS and TTL. */
struct marking_seen {
	uint8_t tos, ttl;
	uint32_t count;
};

struct marking_record {
	uint32_t arrived; /* without duplicates */
	uint32_t repeated, wrong;
	uint32_t unread; /* arrived without a valid IP header */
	uint32_t others; /* arrived with a marking that does not fit into `seen` */
	unsigned int seen_count;
	struct marking_seen seen[MARKING_SEEN_MAX];
};

struct marking_flow_result {
	uint32_t sent; /* requests of the client, replies of the server */
	struct marking_record here;
	struct marking_record there; /* client only: requests as the replies report them */
};

/* Result of one host, 64 KiB. */
struct marking_result {
	char detail[160]; /* reason of an early end; "" = complete */
	uint32_t mtu;	  /* active RDMA MTU of the port, bytes */
	uint32_t foreign; /* datagrams of other senders */
	unsigned int path_count;
	uint16_t port[MARKING_PATHS_MAX]; /* UDP source ports of this host */
	unsigned int flow_count;
	struct marking_flow_result flow[MARKING_FLOWS_MAX];
};

struct marking; /* opaque */

/* Makes the specs of both hosts for the classes of their traffic, each marking once, with ECT(0)
 * where the traffic says nothing of ECN. sweep: UDP source ports of the first class; 0 = no sweep.
 */
void marking_specs_make(const struct traffic_spec traffic[2], unsigned int sweep,
			struct marking_spec spec[2]);

/* Checks a spec. -EINVAL with the member and its range. */
int marking_spec_check(const struct marking_spec *s, struct err *e);

/* Lists the flows of a checked spec, equal on both hosts: classes with their paths, then sizes.
 * Returns their number. */
unsigned int marking_flows(const struct marking_spec *s,
			   struct marking_flow flow[MARKING_FLOWS_MAX]);

/* Returns the number of UDP source ports of all classes together. */
unsigned int marking_paths(const struct marking_spec *s);

/* Return the UDP source port of a flow label (IBTA RoCEv2 annex A17 leaves it to the sender; linux
 * ib_verbs.h: low 14 bits folded with the high 6, above 0xc000), and of a Soft-RoCE queue pair,
 * which ignores the label of a datagram (rxe of Linux 6.1 and 6.12). */
uint16_t marking_label_port(uint32_t flow_label);
uint16_t marking_soft_port(uint32_t qpn);

/* As traffic_open(), traffic_get_endpoint() and so on; marking_connect() posts the receives. The
 * peer has one queue pair. */
int marking_open(const struct marking_spec *s, struct marking **out, struct err *e);
void marking_close(struct marking *x);
void marking_self(const struct marking *x, struct traffic_endpoint *self);
int marking_connect(struct marking *x, const struct traffic_endpoint *peer, struct err *e);

/* Runs the test. The client ends when each request is answered or timed out, the server at *stop,
 * both at the latest after duration_ms. Fills *r; returns 0 also after an early end (r->detail). */
int marking_run(struct marking *x, const atomic_int *stop, struct marking_result *r, struct err *e);

json_t *marking_spec_to_json(const struct marking_spec *s);
int marking_spec_from_json(const json_t *json, struct marking_spec *s, struct err *e);
json_t *marking_result_to_json(const struct marking_result *r);
int marking_result_from_json(const json_t *json, struct marking_result *r, struct err *e);

#endif
