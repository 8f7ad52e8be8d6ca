/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary: totals, flows, LLDP neighbour and completeness of a capture, small enough
 * to keep and to send. Rules read this, never packets.
 */
#ifndef CAPTURE_SUMMARY_H
#define CAPTURE_SUMMARY_H

#include "capture/decode/lldp.h"
#include "capture/flow/flow.h"

/* Drop counters of the capture. */
enum capture_drops {
	DROPS_UNKNOWN, /* a pcap file has no drop counters */
	DROPS_ZERO,
	DROPS_SOME,
};

struct capture_summary {
	struct capture_totals totals;
	enum capture_drops drops;
	uint64_t dropped;
	struct flow *flow; /* owned */
	unsigned int flow_count;
	struct lldp_peer lldp_peer;
};

/* Copies all flows of a table. -ENOMEM. The caller clears. */
int capture_summary_make(const struct flow_table *t, const struct lldp_peer *peer,
			 enum capture_drops drops, uint64_t dropped, struct capture_summary *s);
void capture_summary_clear(struct capture_summary *s);

/* NULL on -ENOMEM; JSON null without a neighbour. */
json_t *lldp_peer_to_json(const struct lldp_peer *p);
/* *p must be zero. JSON null: no neighbour. -EINVAL with the key. */
int lldp_peer_from_json(const json_t *json, struct lldp_peer *p, struct err *e);
#define LLDP_PEER_TEXT 320
/* Name, port and DCBX settings of the neighbour, for people. */
void lldp_peer_text(const struct lldp_peer *p, char *buf, size_t size);

json_t *capture_summary_to_json(const struct capture_summary *s);
int capture_summary_from_json(const json_t *json, struct capture_summary *s, struct err *e);

#endif
