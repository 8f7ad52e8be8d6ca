/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary: what a capture says, small enough to keep and to send: totals, flows,
 * LLDP neighbour, and how complete the capture was. The rules read this, never packets.
 */
#ifndef CAPTURE_SUMMARY_H
#define CAPTURE_SUMMARY_H

#include "capture/decode/lldp.h"
#include "capture/flow/flow.h"

/* How many packets the source lost, as far as it tells. */
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

/* Takes a copy of all flows of a table. -ENOMEM. The caller clears. */
int capture_summary_make(const struct flow_table *t, const struct lldp_peer *peer,
			 enum capture_drops drops, uint64_t dropped, struct capture_summary *s);
void capture_summary_clear(struct capture_summary *s);

/* NULL on -ENOMEM, null when no neighbour was heard. */
json_t *lldp_peer_to_json(const struct lldp_peer *p);
/* *p is zero before. null: nothing was heard. -EINVAL with the key. */
int lldp_peer_from_json(const json_t *json, struct lldp_peer *p, struct err *e);
#define LLDP_PEER_TEXT 320
/* Who it is, and what it says of PFC and ETS, for people. */
void lldp_peer_text(const struct lldp_peer *p, char *buf, size_t size);

json_t *capture_summary_to_json(const struct capture_summary *s);
int capture_summary_from_json(const json_t *json, struct capture_summary *s, struct err *e);

#endif
