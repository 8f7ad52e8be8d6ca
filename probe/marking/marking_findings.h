/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of a marking test, per direction, class and UDP source port: a pure function over specs
 * and results of both hosts. To add a kind, add an enum value, its row in marking_kind_table[] and
 * its check.
 */
#ifndef PROBE_MARKING_FINDINGS_H
#define PROBE_MARKING_FINDINGS_H

#include "probe/marking/marking.h"

#define MARKING_FINDINGS_MAX 64u
#define MARKING_NAMED_MAX    8u /* source ports that a finding names */

enum marking_direction {
	MARKING_FORWARD, /* requests: client to server */
	MARKING_REVERSE, /* replies: server to client, the path of ACKs and READ responses */
	MARKING_DIRECTIONS,
};

enum marking_kind {
	MARKING_DSCP,	     /* rewritten */
	MARKING_ECT_CLEARED, /* ECT became Not-ECT */
	MARKING_CE,	     /* congestion experienced */
	MARKING_ECN,	     /* another change of the ECN bits */
	MARKING_LOST,	     /* some of the class */
	MARKING_BLACKHOLE,   /* all of the class */
	MARKING_WRONG,	     /* wrong payload */
	MARKING_UNREAD,	     /* the device delivers no IP header */
	MARKING_MTU,	     /* datagrams of the MTU of both ports do not arrive */
	MARKING_KINDS,
};

struct marking_kind_row {
	const char *word; /* JSON, stable */
	bool fault;	  /* false: a warning */
	const char *advice;
	const char *what; /* text of the finding; NULL: made from numbers */
};
extern const struct marking_kind_row marking_kind_table[MARKING_KINDS];

struct marking_finding {
	enum marking_kind kind;
	enum marking_direction direction;
	unsigned int class;
	uint8_t from, to;	      /* ECN bits, else DSCP as sent and as it arrived */
	uint32_t count, of;	      /* affected datagrams, of those that arrived or were sent */
	unsigned int ports, ports_of; /* affected source ports, of those in use */
	unsigned int whole;	      /* of `ports`: those with all datagrams affected */
	uint16_t named[MARKING_NAMED_MAX];
	uint32_t bytes, expected_bytes; /* path MTU (0 = none), RDMA MTU of both ports */
};

struct marking_findings {
	unsigned int count, more;
	struct marking_finding finding[MARKING_FINDINGS_MAX];
};

/* Specs and results by enum traffic_role, borrowed. A result is NULL when that host has none;
 * checks that need it are skipped. */
struct marking_endpoints {
	const struct marking_spec *spec[2];
	const struct marking_result *result[2];
};

/* Makes the findings; per direction, in the order of the enum. -EPROTO when a result does not
 * belong to the spec. */
int marking_findings_make(const struct marking_endpoints *ends, struct marking_findings *out,
			  struct err *e);

/* Result of one source port of class 0 in one direction. */
struct marking_port {
	uint16_t port;
	bool known; /* the counts are valid */
	uint32_t sent, arrived;
	uint32_t marked; /* arrived with a changed ToS */
};
void marking_port_make(const struct marking_endpoints *ends, enum marking_direction direction,
		       unsigned int path, struct marking_port *out);

/* "arrived", "lost", "some lost", "marked", "not known". */
const char *marking_port_word(const struct marking_port *p);

/* Returns the largest RDMA MTU that arrived; 0 = none, or not measured. */
uint32_t marking_path_mtu(const struct marking_endpoints *ends, enum marking_direction direction);

/* Returns the datagrams of all classes that arrived with a header which the host could read. */
uint32_t marking_arrived(const struct marking_endpoints *ends, enum marking_direction direction);

/* Writes "client to server, class 0: DSCP 26 arrives as 0 (32 of 32), on all 4 source ports". */
void marking_finding_text(const struct marking_finding *f, char *buf, size_t size);

const char *marking_direction_word(enum marking_direction direction); /* "client to server" */

/* {"kind": "dscp-rewritten", "way": "client to server", "class", "from", "to", "count", "of",
 * "text",
 * ..}; NULL on -ENOMEM, -EINVAL. */
json_t *marking_finding_to_json(const struct marking_finding *f);
int marking_finding_from_json(const json_t *json, struct marking_finding *f, struct err *e);

/* Returns {"findings": [...], "path_mtu": [n, n], "ports": [[{...}], [{...}]]}; "ports" only with a
 * sweep. NULL on -ENOMEM. */
json_t *marking_findings_to_json(const struct marking_endpoints *ends,
				 const struct marking_findings *found);

#endif
