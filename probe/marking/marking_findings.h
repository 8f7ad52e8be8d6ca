/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a marking echo says of the way, in each direction, for each class and UDP source port: a
 * pure function over specs and results of both ends. Adding a kind: a value, its row in
 * marking_kind_table[], and what finds it.
 */
#ifndef PROBE_MARKING_FINDINGS_H
#define PROBE_MARKING_FINDINGS_H

#include "probe/marking/marking.h"

#define MARKING_FINDINGS_MAX 64u
#define MARKING_NAMED_MAX    8u /* source ports that a finding names */

enum marking_direction {
	MARKING_FORWARD, /* requests: client to server */
	MARKING_REVERSE, /* answers: the way of ACKs and READ responses of what goes forth */
	MARKING_DIRECTIONS,
};

enum marking_kind {
	MARKING_DSCP,	     /* rewritten */
	MARKING_ECT_CLEARED, /* sent as ECN capable, arrived as not */
	MARKING_CE,	     /* congestion experienced */
	MARKING_ECN,	     /* another change of the ECN bits */
	MARKING_LOST,	     /* some of the class */
	MARKING_BLACKHOLE,   /* all of the class */
	MARKING_WRONG,	     /* bytes are not those that were sent */
	MARKING_UNREAD,	     /* the device hands out no IP header */
	MARKING_MTU,	     /* a size that both ports have does not arrive */
	MARKING_KINDS,
};

struct marking_kind_row {
	const char *word; /* JSON, stable */
	bool fault;	  /* else worth a look */
	const char *advice;
	const char *what; /* in a finding's text; NULL: it has numbers */
};
extern const struct marking_kind_row marking_kind_table[MARKING_KINDS];

struct marking_finding {
	enum marking_kind kind;
	enum marking_direction direction;
	unsigned int class;
	uint8_t from, to;	      /* DSCP, or ECN bits */
	uint32_t count, of;	      /* datagrams: so many of those that came, or were sent */
	unsigned int ports, ports_of; /* source ports that have it, of those used */
	unsigned int whole;	      /* of `ports`: in each of their datagrams */
	uint16_t named[MARKING_NAMED_MAX];
	uint32_t bytes, expected_bytes; /* RDMA MTU that arrives, 0 = none; and of both ports */
};

struct marking_findings {
	unsigned int count, more;
	struct marking_finding finding[MARKING_FINDINGS_MAX];
};

/* Borrowed; by enum traffic_role. A result is NULL when that end gave none: what only it knows is
 * then not judged. */
struct marking_endpoints {
	const struct marking_spec *spec[2];
	const struct marking_result *result[2];
};

/* -EPROTO when a result does not belong to the spec. Kinds in the order of the enum for each way.
 */
int marking_findings_make(const struct marking_endpoints *ends, struct marking_findings *out,
			  struct err *e);

/* One source port of class 0, one way. */
struct marking_port {
	uint16_t port;
	bool known; /* the numbers are there */
	uint32_t sent, arrived;
	uint32_t marked; /* arrived with another ToS than was sent */
};
void marking_port_make(const struct marking_endpoints *ends, enum marking_direction way,
		       unsigned int path, struct marking_port *out);

/* "arrived", "lost", "some lost", "marked", "not known". */
const char *marking_port_word(const struct marking_port *p);

/* The largest RDMA MTU that arrived; 0 = none, or not measured. */
uint32_t marking_path_mtu(const struct marking_endpoints *ends, enum marking_direction way);

/* "client to server, class 0: DSCP 26 arrives as 0 (32 of 32), on all 4 source ports" */
void marking_finding_text(const struct marking_finding *f, char *buf, size_t size);

const char *marking_direction_word(enum marking_direction way); /* "client to server" */

/* {"findings": [...], "path_mtu": [n, n], "ports": [[{...}], [{...}]]}; ports of a sweep alone.
 * NULL on -ENOMEM. */
json_t *marking_findings_to_json(const struct marking_endpoints *ends,
				 const struct marking_findings *found);

#endif
