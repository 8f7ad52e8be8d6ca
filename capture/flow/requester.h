/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies the requests of one requester: lost, reordered, corrupted, duplicated by a mirror, or
 * retransmitted, and the cause of each retransmission. Requests come from its own direction; ACKs
 * and NAKs from the reverse direction, once both are paired. IBTA vol 1, 9.7.5 (reliable service).
 */
#ifndef CAPTURE_REQUESTER_H
#define CAPTURE_REQUESTER_H

#include "capture/flow/pairing_cm.h"
#include "capture/flow/flow.h"
#include "capture/flow/psn.h"

#define REQUESTER_READS	     16 /* outstanding READs; few NICs do more */
#define REQUESTER_BAD	     4
#define REQUESTER_DATAGRAMS  4
#define REQUESTER_WINDOW_MAX (1 << 20)	/* a response never answers older requests */
#define REQUESTER_UNA_KNOWN  (1U << 24) /* above the 24 bits of a PSN */
#define REQUESTER_REORDER_NS 50000	/* longest reordering in a network */

enum retry_cause {
	RETRY_CAUSE_NONE,
	RETRY_CAUSE_NAK,
	RETRY_CAUSE_RNR,
	RETRY_CAUSE_TIMEOUT,
	RETRY_CAUSE_READ, /* responses are missing before captured ones */
	RETRY_CAUSE_UNKNOWN,
};

/* Counters of a flow, see qp_reuse.h. */
struct requester_counters {
	uint64_t duplicates, wasted_psns, timeouts, unexplained, read_retries;
};

struct requester_read {
	uint64_t va;
	uint32_t psn, span, len;
};

/* State of requesters with a loss, or with a timeout stated by the CM. */
struct requester_loss_state {
	/* NAK without a reaction so far, and the cause of the current retransmission. */
	uint8_t refused, retry; /* enum retry_cause */
	uint32_t refused_psn;
	uint64_t refused_ns;
	uint32_t retry_from, retry_end;
	/* First PSN that the retransmission skipped, and their number: lost once more, unless the
	 * sender repeats selectively. 0 = none. */
	uint32_t skip_from, skip_count;
	/* Consecutive late requests: their PSNs, their number, and the PSN after them. */
	uint32_t late, late_requests, late_next;
	/* Repeated requests that advance together with new ones, see mirror_dup.h: next PSN, PSN
	 * expected at that time, and how many are not yet known to be duplicates. */
	uint32_t dup_next, dup_expected, dup_count, dup_restarts;
	uint8_t dup_steps;
	uint32_t bad[REQUESTER_BAD]; /* PSNs of requests with a bad ICRC */
	uint8_t bad_count;
	uint32_t cnp_path;   /* as requester_state.path, of CNPs */
	uint64_t timeout_ns; /* from the CM, 0 = unknown */
	/* Last gap in the responses to its READs, its late responses, and the READ that was
	 * retried last. Times: 0 = none. */
	uint32_t read_gap_from, read_gap_end, late_from, late_end, read_retry_psn;
	uint64_t read_gap_ns, late_ns, read_retry_ns;
	/* Suspected QP reuse: PSNs up to suspect_una were acknowledged and repeated from
	 * suspect_psn on, when suspect_end was expected. */
	uint32_t suspect_psn, suspect_una, suspect_end;
	struct requester_counters before;
	uint32_t response_gap_count;
	/* psn.gap of its requests, and gaps of its responses. Last members: valid only with their
	 * counts. */
	struct psn_gap gap[PSN_GAPS_MAX], response_gap[PSN_GAPS_MAX];
};

/* All zero: no packet seen yet. `loss` and `read` are the caller's; NULL stands for zeros and is
 * for readers only. */
struct requester_state {
	uint32_t path; /* hash of the path to the capture; 0 = none yet */
	union {
		struct {
			uint32_t last_psn, next_psn; /* last request, and the PSN after it */
			uint32_t una;	       /* first unacknowledged PSN | REQUESTER_UNA_KNOWN */
			uint32_t response_psn; /* last response in this direction */
		};
		uint32_t datagram[REQUESTER_DATAGRAMS]; /* of UD: hashes, newest first */
	};
	uint8_t last_opcode;
	bool pending : 1;	  /* refused, retry, skip_count or late may be in use */
	bool recreated : 1;	  /* its reverse flow may have changed */
	bool suspected_reuse : 1; /* counted retransmissions may belong to a new connection */
	uint8_t read_count;
	uint8_t response_kind; /* enum aeth_kind of the last response */
	uint64_t response_ns;
	struct psn_track psn;
	struct requester_loss_state *loss;
	struct requester_read *read; /* REQUESTER_READS */
};

/* Accounts a request in f (its flow) and ev. */
void requester_add_request(struct requester_state *s, const struct packet *p, struct flow *f,
			   struct flow_events *ev);

/* Returns the READ that a response of this PSN answers, or NULL when it is unknown or s is NULL. */
const struct requester_read *requester_find_read(const struct requester_state *s, uint32_t psn);

/* Notes that a response to s left a gap between `from` and itself, or filled one late, as ev says.
 * f: flow of s. */
void requester_note_read_gap(struct requester_state *s, const struct packet *p, uint32_t from,
			     struct flow *f, const struct flow_events *ev);

/* True when a packet took the usual path of its flow to the capture. */
bool requester_is_on_path(const struct requester_state *s, const struct packet *p);

/* Notes a request with a bad ICRC, which its receiver drops. */
void requester_add_bad_request(struct requester_state *s, const struct packet *p);

/* True when the capture has a packet twice, as with a mirror of two ports. For all packets but
 * requests with a good PSN. Accounts the packet, too. last_ns: time of the packet before it; same:
 * requester_is_same_response(), and requester_is_steady() of the reverse direction. */
bool requester_is_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns,
		      bool same);

/* True when a response repeats the last one immediately. */
bool requester_is_same_response(const struct requester_state *s, const struct packet *p);

/* The same for a CNP. The NIC generates CNPs with a TTL and a VLAN that may differ from other
 * packets. last_ns: time of the CNP before, 0 = none. */
bool requester_is_cnp_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns);

/* True when no retransmission is known to be under way. */
static inline bool requester_is_steady(const struct requester_state *s)
{
	return s->psn.started && s->next_psn == s->psn.expected && !(s->pending && s->loss->retry);
}

/* Sets the start of a connection from the CM. Earlier packets belong to another connection. */
void requester_set_connection(struct requester_state *s, struct flow *f,
			      const struct connection *c);

/* Accounts a response to s: f is the flow of s, ev of the response. False when no request matches.
 */
bool requester_add_response(struct requester_state *s, const struct packet *p, struct flow *f,
			    struct flow_events *ev);

/* Ends the flow: counts open state in f. */
void requester_finish(const struct requester_state *s, struct flow *f);

#endif
