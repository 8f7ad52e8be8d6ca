/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows: what one direction towards one QP did, and the totals of a capture. PSN gaps are judged
 * only for requests of RC and UC (capture semantics: IBTA vol 1, 9.7); responses carry the
 * requester's PSNs.
 */
#ifndef CAPTURE_FLOW_H
#define CAPTURE_FLOW_H

#include <jansson.h>

#include "capture/flow/erspan_seq.h"
#include "capture/flow/pause.h"

/* As it is handed out; in the table its parts lie apart. */
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
	uint64_t psn_missing;	  /* PSNs inside gaps that never came */
	uint64_t duplicates;	  /* request PSNs seen again: retransmission */
	uint64_t new_connections; /* jumps that no loss explains: the QP number was used again */
	uint64_t psn_unjudged;	  /* requests after a READ of unknown path MTU */
	/* Why. What needs the other direction is only known when it was paired. */
	uint64_t lost_psns;	      /* came again after a refusal or a timeout */
	uint64_t corrupted_psns;      /* the same, of what was captured with a bad ICRC */
	uint64_t missed_psns;	      /* acknowledged, but not captured: no loss of the network */
	uint64_t responses_missing;   /* within a READ, and never asked for again */
	uint64_t naks_unknown;	      /* sequence NAKs of what no known request had, of naks_seq */
	uint64_t reordered;	      /* requests that came late by themselves */
	uint64_t responses_reordered; /* within a READ, that came late by themselves */
	uint64_t copies;	      /* packets that the capture saw twice */
	uint64_t losses_before;	      /* refusals of what did not reach the capture */
	uint64_t losses_after;	    /* of what was captured, and lost on its way to the receiver */
	uint64_t corruptions;	    /* of what was captured with a bad ICRC */
	uint64_t go_back_n;	    /* restarts that sent all again, */
	uint64_t wasted_psns;	    /* and how much that was, after timeouts too */
	uint64_t selective_repeats; /* restarts that sent only what was missing */
	uint64_t timeouts, rnr_retries, read_retries;
	uint64_t reads_reordered; /* of read_retries: for responses that were not lost, but late */
	uint64_t unexplained;	  /* restarts for no reason that was captured */
	uint64_t naks_timed, nak_ns; /* from the request after a gap to its refusal: sum */
	uint64_t resends, resend_ns; /* from a refusal to the first resent request: sum */
	/* CNPs that come with this flow slow the requests of its peer. */
	uint64_t cnp_span_ns; /* from the first to the last */
	uint64_t cnp_min_ns;  /* the least between two, 0 = there were no two */
	uint64_t cnp_last_ns;
	uint64_t cnp_close;	/* that came sooner than CNP_SPACING_NS after the one before */
	uint64_t held, held_ns; /* by pauses of its priority; only of tagged packets */
	uint64_t held_unknown;	/* requests without a tag, after the first pause */
	bool paired;
	uint8_t service;      /* enum opcode_class of the first request or response, else packet */
	uint32_t reverse_qpn; /* when paired: the QP that the answers go to */
	uint64_t first_ns, first_frame;
	uint64_t dscp[64]; /* packets by DSCP */
};

/* Whether receivers acknowledge its requests: not those of UC and UD. */
bool flow_is_acknowledged(const struct flow *f);

/* ConnectX sends CNPs of a flow 4 us apart unless told otherwise. What is closer is so for certain
 * by a clock that counts in us. */
#define CNP_SPACING_NS 3000

struct capture_totals {
	uint64_t frames, roce, cnp, lldp, other, truncated, malformed;
	uint64_t pfc_frames, pause_frames;
	uint64_t pfc_by_prio[8]; /* frames that name the priority, XON and XOFF */
	struct pause_totals pause;
	struct erspan_seq_totals mirror;
	uint64_t time_step_ns;	/* of the source's clock, 0 = not known */
	uint64_t evicted_flows; /* beyond the limit, longest idle first, an eighth at once */
};

struct flow_table; /* opaque */

/* max_flows bounds memory (default 65536 when 0). NULL on -ENOMEM. */
struct flow_table *flow_table_new(unsigned int max_flows);
void flow_table_free(struct flow_table *t);

/* Before the first packet: how fast the link is that pauses hold, and who says so. */
void flow_table_set_link_speed(struct flow_table *t, uint32_t mbps, enum pause_speed_source of);

/* What a packet meant to its flow. */
enum flow_event {
	FLOW_PSN_GAP = 1 << 0,
	FLOW_PSN_FILLED = 1 << 1, /* a missing PSN came late, or again */
	FLOW_DUPLICATE = 1 << 2,
	FLOW_NEW_CONNECTION = 1 << 3,
	FLOW_NAK_SEQ = 1 << 4,
	FLOW_NAK_OTHER = 1 << 5,
	FLOW_RNR = 1 << 6,
	FLOW_CNP = 1 << 7,
	FLOW_CE = 1 << 8,
	FLOW_ICRC_BAD = 1 << 9,
	FLOW_FRAGMENT = 1 << 10,   /* IP fragments carry RoCE: always wrong */
	FLOW_MIRROR_DUP = 1 << 11, /* the capture saw the packet before */
	/* Why a request came late or again; beside FLOW_PSN_FILLED and FLOW_DUPLICATE. */
	FLOW_TIMEOUT = 1 << 12, /* the first that is sent again after a silence */
	FLOW_RNR_RETRY = 1 << 13,
	FLOW_READ_RETRY = 1 << 14, /* the rest of a READ */
	FLOW_UNEXPLAINED = 1 << 15,
	FLOW_LOST = 1 << 16,	  /* it did not reach the capture before */
	FLOW_REORDERED = 1 << 17, /* it came late by itself, as far as is known by then */
	FLOW_CORRUPTED = 1 << 18, /* it had a bad ICRC before */
	FLOW_MISSED = 1 << 19,	  /* acknowledges what was not captured */
	FLOW_HELD = 1 << 20,	  /* the first behind a pause of its priority */
	FLOW_CNP_CLOSE = 1 << 21,
	FLOW_MIRROR_GAP = 1 << 22,  /* the mirror's tunnel lost packets before this one */
	FLOW_READ_GAP = 1 << 23,    /* responses of a READ are missing before this one */
	FLOW_READ_FILLED = 1 << 24, /* one of them, late or again */
};

struct flow_events {
	uint32_t bits; /* enum flow_event */
	uint32_t psns; /* missing (gap) or no longer missing (filled) */
};

/* Accounts one packet. A packet with a bad ICRC is counted, but its PSN is not believed: the
 * receiver drops it. -ENOMEM. */
int flow_table_add(struct flow_table *t, const struct packet *p);

/* Packets that are added next, FLOW_AHEAD at most: what memory has of their flows comes meanwhile,
 * for all at once. */
#define FLOW_AHEAD 16
void flow_table_prefetch(const struct flow_table *t, const struct packet *p, unsigned int count);

/* Of the packet that was added last. */
struct flow_events flow_table_events(const struct flow_table *t);

/* Array of words: ["psn_gap"]. NULL on -ENOMEM. */
json_t *flow_events_to_json(struct flow_events ev);

/* "PSN gap of 6, CE"; empty for none. Always terminated. */
void flow_events_text(struct flow_events ev, char *buf, size_t size);

const struct capture_totals *flow_table_totals(const struct flow_table *t);
unsigned int flow_table_count(const struct flow_table *t);

/* Copies flow i (in order of first packet), 0 <= i < count. */
void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f);

#endif
