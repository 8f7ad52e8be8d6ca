/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows (one direction to one QP) and the totals of a capture. PSN gaps are checked only for
 * requests of RC and UC (IBTA vol 1, 9.7); responses carry the PSNs of the requester.
 */
#ifndef CAPTURE_FLOW_H
#define CAPTURE_FLOW_H

#include <jansson.h>

#include "capture/flow/erspan_seq.h"
#include "capture/flow/pause.h"

/* As returned by flow_table_get(); the table stores its parts separately. */
struct flow {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
	uint16_t sport; /* of the first packet */
	uint8_t encap;
	uint32_t max_payload;
	uint64_t packets, payload_bytes;
	uint64_t requests, responses; /* packets with request and response opcodes */
	uint64_t last_ns, last_frame;
	uint64_t ecn[4]; /* packets by ECN codepoint: Not-ECT, ECT(1), ECT(0), CE */
	uint64_t icrc_good, icrc_bad, icrc_unverifiable;
	uint64_t acks, naks_seq, naks_other, rnr, cnp;
	uint64_t psn_gaps;	  /* gap events among requests */
	uint64_t psn_missing;	  /* missing PSNs of gaps */
	uint64_t duplicates;	  /* request PSNs seen again: retransmission */
	uint64_t new_connections; /* PSN jumps too large for a loss: the QP number was reused */
	uint64_t psn_unjudged;	  /* requests after a READ of unknown path MTU */
	/* Causes. Those that need the reverse direction are known only when paired. */
	uint64_t lost_psns;	      /* retransmitted after a NAK or a timeout */
	uint64_t corrupted_psns;      /* retransmitted after a capture with a bad ICRC */
	uint64_t missed_psns;	      /* acknowledged but not captured: no network loss */
	uint64_t responses_missing;   /* within a READ, never retried */
	uint64_t naks_unknown;	      /* of naks_seq: without a known request */
	uint64_t reordered;	      /* late requests without a retransmission */
	uint64_t responses_reordered; /* within a READ, late without a retry */
	uint64_t copies;	      /* duplicates in the capture */
	uint64_t losses_before;	      /* sequence NAKs for packets lost before the capture */
	uint64_t losses_after;	      /* for packets captured and then lost */
	uint64_t corruptions;	      /* for packets captured with a bad ICRC */
	uint64_t go_back_n;	      /* retransmissions of all packets, */
	uint64_t wasted_psns;	      /* and their PSNs, also after timeouts */
	uint64_t selective_repeats;   /* retransmissions of missing packets only */
	uint64_t timeouts, rnr_retries, read_retries;
	uint64_t reads_reordered;    /* of read_retries: the responses were late, not lost */
	uint64_t unexplained;	     /* retransmissions without a captured trigger */
	uint64_t naks_timed, nak_ns; /* sum of times from the request after a gap to its NAK */
	uint64_t resends, resend_ns; /* sum of times from a NAK to the first retransmission */
	/* CNPs of this flow slow the requests of its reverse flow. */
	uint64_t cnp_span_ns; /* from the first to the last */
	uint64_t cnp_min_ns;  /* minimum between two, 0 = fewer than two */
	uint64_t cnp_last_ns;
	uint64_t cnp_close;	/* sooner than CNP_SPACING_NS after the previous one */
	uint64_t held, held_ns; /* by pauses of its priority; tagged packets only */
	uint64_t held_unknown;	/* requests without a tag, after the first pause */
	bool paired;
	uint8_t service;      /* enum opcode_class of the first request or response, else packet */
	uint32_t reverse_qpn; /* when paired: destination QP of the responses */
	uint64_t first_ns, first_frame;
	uint64_t dscp[64]; /* packets by DSCP */
};

/* True when receivers acknowledge its requests: not UC and UD. */
bool flow_is_acknowledged(const struct flow *f);

/* ConnectX sends CNPs of a flow at least 4 us apart by default. A smaller limit allows for a clock
 * of 1 us. */
#define CNP_SPACING_NS 3000

struct capture_totals {
	uint64_t frames, roce, cnp, lldp, other, truncated, malformed;
	uint64_t pfc_frames, pause_frames;
	uint64_t pfc_by_prio[8]; /* frames for the priority, XON and XOFF */
	struct pause_totals pause;
	struct erspan_seq_totals mirror;
	uint64_t time_step_ns;	/* clock step of the capture, 0 = unknown */
	uint64_t evicted_flows; /* beyond max_flows, longest idle first, an eighth at a time */
};

struct flow_table; /* opaque */

/* max_flows bounds memory (default 65536 when 0). NULL on -ENOMEM. */
struct flow_table *flow_table_new(unsigned int max_flows);
void flow_table_free(struct flow_table *t);

/* Sets the link speed that converts quanta, and its source. Call before the first packet. */
void flow_table_set_link_speed(struct flow_table *t, uint32_t mbps, enum pause_speed_source of);

/* Events of a packet in its flow. */
enum flow_event {
	FLOW_PSN_GAP = 1 << 0,
	FLOW_PSN_FILLED = 1 << 1, /* a missing PSN arrived late or retransmitted */
	FLOW_DUPLICATE = 1 << 2,
	FLOW_NEW_CONNECTION = 1 << 3,
	FLOW_NAK_SEQ = 1 << 4,
	FLOW_NAK_OTHER = 1 << 5,
	FLOW_RNR = 1 << 6,
	FLOW_CNP = 1 << 7,
	FLOW_CE = 1 << 8,
	FLOW_ICRC_BAD = 1 << 9,
	FLOW_FRAGMENT = 1 << 10,   /* RoCE in IP fragments: always a fault */
	FLOW_MIRROR_DUP = 1 << 11, /* duplicate in the capture */
	/* Cause of a late or retransmitted request, with FLOW_PSN_FILLED or FLOW_DUPLICATE. */
	FLOW_TIMEOUT = 1 << 12, /* first retransmission after a silence */
	FLOW_RNR_RETRY = 1 << 13,
	FLOW_READ_RETRY = 1 << 14, /* retries the rest of a READ */
	FLOW_UNEXPLAINED = 1 << 15,
	FLOW_LOST = 1 << 16,	  /* lost before the capture */
	FLOW_REORDERED = 1 << 17, /* late without a retry, as far as known */
	FLOW_CORRUPTED = 1 << 18, /* captured with a bad ICRC before */
	FLOW_MISSED = 1 << 19,	  /* acknowledges PSNs that were not captured */
	FLOW_HELD = 1 << 20,	  /* first packet after a pause of its priority */
	FLOW_CNP_CLOSE = 1 << 21,
	FLOW_MIRROR_GAP = 1 << 22,  /* the mirror lost packets before this one */
	FLOW_READ_GAP = 1 << 23,    /* responses of a READ are missing before this one */
	FLOW_READ_FILLED = 1 << 24, /* one of these, late or retried */
};

struct flow_events {
	uint32_t bits; /* enum flow_event */
	uint32_t psns; /* missing (gap) or no longer missing (filled) */
};

/* Accounts one packet. The PSN of a packet with a bad ICRC is ignored: the receiver drops it.
 * -ENOMEM. */
int flow_table_add(struct flow_table *t, const struct packet *p);

/* Prefetches the flows of the next packets (at most FLOW_AHEAD) into the CPU cache. */
#define FLOW_AHEAD 16
void flow_table_prefetch(const struct flow_table *t, const struct packet *p, unsigned int count);

/* Returns the events of the last packet. */
struct flow_events flow_table_events(const struct flow_table *t);

/* Returns an array of words: ["psn_gap"]. NULL on -ENOMEM. */
json_t *flow_events_to_json(struct flow_events ev);

/* Writes "PSN gap of 6, CE mark", or an empty string. Always terminated. */
void flow_events_text(struct flow_events ev, char *buf, size_t size);

const struct capture_totals *flow_table_totals(const struct flow_table *t);
unsigned int flow_table_count(const struct flow_table *t);

/* Copies flow i (in order of first packet), 0 <= i < count. */
void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f);

#endif
