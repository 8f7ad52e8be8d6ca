/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a marking echo says of the way, in each direction, for each class and UDP source port: a
 * pure function over specs and results of both ends. Adding a kind: a value, its row in
 * echo_kind_table[], and what finds it.
 */
#ifndef PROBE_ECHO_JUDGE_H
#define PROBE_ECHO_JUDGE_H

#include "probe/marking/echo.h"

#define ECHO_FINDINGS_MAX 64u
#define ECHO_NAMED_MAX	  8u /* source ports that a finding names */

enum echo_way {
	ECHO_FORTH, /* requests: client to server */
	ECHO_BACK,  /* answers: the way of ACKs and READ responses of what goes forth */
	ECHO_WAYS,
};

enum echo_kind {
	ECHO_DSCP,	  /* rewritten */
	ECHO_ECT_CLEARED, /* sent as ECN capable, arrived as not */
	ECHO_CE,	  /* congestion experienced */
	ECHO_ECN,	  /* another change of the ECN bits */
	ECHO_LOST,	  /* some of the class */
	ECHO_DEAF,	  /* all of the class */
	ECHO_WRONG,	  /* bytes are not those that were sent */
	ECHO_UNREAD,	  /* the device hands out no IP header */
	ECHO_MTU,	  /* a size that both ports have does not arrive */
	ECHO_KINDS,
};

struct echo_kind_row {
	const char *word; /* JSON, stable */
	bool fault;	  /* else worth a look */
	const char *advice;
	const char *what; /* in a finding's text; NULL: it has numbers */
};
extern const struct echo_kind_row echo_kind_table[ECHO_KINDS];

struct echo_finding {
	enum echo_kind kind;
	enum echo_way way;
	unsigned int class;
	uint8_t from, to;	      /* DSCP, or ECN bits */
	uint32_t count, of;	      /* datagrams: so many of those that came, or were sent */
	unsigned int ports, ports_of; /* source ports that have it, of those used */
	unsigned int whole;	      /* of `ports`: in each of their datagrams */
	uint16_t named[ECHO_NAMED_MAX];
	uint32_t bytes, expected_bytes; /* RDMA MTU that arrives, 0 = none; and of both ports */
};

struct echo_findings {
	unsigned int count, more;
	struct echo_finding finding[ECHO_FINDINGS_MAX];
};

/* Borrowed; by enum traffic_role. A result is NULL when that end gave none: what only it knows is
 * then not judged. */
struct echo_ends {
	const struct echo_spec *spec[2];
	const struct echo_result *result[2];
};

/* -EPROTO when a result does not belong to the spec. Kinds in the order of the enum for each way.
 */
int echo_judge(const struct echo_ends *ends, struct echo_findings *out, struct err *e);

/* One source port of class 0, one way. */
struct echo_port {
	uint16_t port;
	bool known; /* the numbers are there */
	uint32_t sent, arrived;
	uint32_t marked; /* arrived with another ToS than was sent */
};
void echo_port(const struct echo_ends *ends, enum echo_way way, unsigned int path,
	       struct echo_port *out);

/* "arrived", "lost", "some lost", "marked", "not known". */
const char *echo_port_word(const struct echo_port *p);

/* The largest RDMA MTU that arrived; 0 = none, or not measured. */
uint32_t echo_path_mtu(const struct echo_ends *ends, enum echo_way way);

/* "client to server, class 0: DSCP 26 arrives as 0 (32 of 32), on all 4 source ports" */
void echo_finding_text(const struct echo_finding *f, char *buf, size_t size);

const char *echo_way_word(enum echo_way way); /* "client to server" */

/* {"findings": [...], "path_mtu": [n, n], "ports": [[{...}], [{...}]]}; ports of a sweep alone.
 * NULL on -ENOMEM. */
json_t *echo_findings_to_json(const struct echo_ends *ends, const struct echo_findings *found);

#endif
