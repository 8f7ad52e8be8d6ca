/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one requester did, and why: which of its requests were lost, reordered, corrupted or copied,
 * what it sent again, and what made it do so. Requests come from its own direction,
 * acknowledgements and refusals from the other, once the two are paired. IBTA vol 1, 9.7.5
 * (reliable service).
 */
#ifndef CAPTURE_REQUESTER_H
#define CAPTURE_REQUESTER_H

#include "capture/flow/pairing_cm.h"
#include "capture/flow/flow.h"
#include "capture/flow/psn.h"

#define REQUESTER_READS	     16 /* that are asked for at once; few NICs do more */
#define REQUESTER_BAD	     4
#define REQUESTER_DATAGRAMS  4
#define REQUESTER_WINDOW_MAX (1 << 20)	/* an answer is not to older requests */
#define REQUESTER_UNA_KNOWN  (1U << 24) /* more bits than a PSN has */
#define REQUESTER_REORDER_NS 50000	/* a network reorders within this */

enum retry_cause {
	RETRY_CAUSE_NONE,
	RETRY_CAUSE_NAK,
	RETRY_CAUSE_RNR,
	RETRY_CAUSE_TIMEOUT,
	RETRY_CAUSE_READ, /* responses came with others missing before them */
	RETRY_CAUSE_UNKNOWN,
};

/* Counters of a flow, see renew.h. */
struct requester_counters {
	uint64_t duplicates, wasted_psns, timeouts, unexplained, read_retries;
};

struct requester_read {
	uint64_t va;
	uint32_t psn, span, len;
};

/* What only requesters have of which something was lost, or who say when they time out. */
struct requester_loss_state {
	/* A refusal that was not obeyed yet, and what is being sent again for which reason. */
	uint8_t refused, retry; /* enum retry_cause */
	uint32_t refused_psn;
	uint64_t refused_ns;
	uint32_t retry_from, retry_end;
	/* The first PSN that was left out of what is sent again, and how many there were: lost once
	 * more, unless only what was missing is sent again. 0 = none. */
	uint32_t skip_from, skip_count;
	/* PSNs that requests in a row brought late, how many they were, and what follows them. */
	uint32_t late, late_requests, late_next;
	/* Requests that come again in step with new ones, see trail.h: what comes next, what was
	 * expected by then, and how many are not known to be copies. */
	uint32_t dup_next, dup_expected, dup_count, dup_restarts;
	uint8_t dup_steps;
	uint32_t bad[REQUESTER_BAD]; /* PSNs of requests with a bad ICRC */
	uint8_t bad_count;
	uint32_t cnp_path;   /* as stream.path, of CNPs */
	uint64_t timeout_ns; /* as agreed by CM, 0 = unknown */
	/* Responses to its READs that were missing before others, the last; those of them that came
	 * late by themselves; and the READ that was sent again last. Their times, 0 = none. */
	uint32_t read_gap_from, read_gap_end, late_from, late_end, read_retry_psn;
	uint64_t read_gap_ns, late_ns, read_retry_ns;
	/* In doubt: what was acknowledged, up to doubt_una, and sent again from doubt_psn on, when
	 * doubt_end was expected. */
	uint32_t suspect_psn, suspect_una, suspect_end;
	struct requester_counters before;
	uint32_t response_gap_count;
	/* Of what it sends, psn.gap, and of what it answers; the last, for they mean nothing by
	 * themselves. */
	struct psn_gap gap[PSN_GAPS_MAX], response_gap[PSN_GAPS_MAX];
};

/* All zero is a requester of which nothing was seen. `more` and `read` are of the caller; NULL
 * stands for zeros, and is for those who only look. */
struct requester_state {
	uint32_t path; /* what the way to the capture left on the packets; 0 = none seen */
	union {
		struct {
			uint32_t last_psn, next_psn; /* of the last request, and what follows */
			uint32_t una; /* the first that is not acknowledged | REQUESTER_UNA_KNOWN,
					 once that is known */
			uint32_t response_psn; /* of the last response in this direction */
		};
		uint32_t datagram[REQUESTER_DATAGRAMS]; /* of UD: marks of the last, newest first */
	};
	uint8_t last_opcode;
	bool pending : 1;	  /* refused, retry, skip_count or late may be in use */
	bool recreated : 1;	  /* its pair may have changed, */
	bool suspected_reuse : 1; /* and what was told as sent again may be of a new connection */
	uint8_t read_count;
	uint8_t response_kind; /* enum aeth_kind, of the same */
	uint64_t response_ns;
	struct psn_track psn;
	struct requester_loss_state *loss;
	struct requester_read *read; /* REQUESTER_READS */
};

/* Accounts a request: what it was goes into f, which is its flow, and ev. */
void requester_add_request(struct requester_state *s, const struct packet *p, struct flow *f,
			   struct flow_events *ev);

/* The READ that a response of this PSN answers; NULL = it is not known any more, or s is NULL. */
const struct requester_read *requester_find_read(const struct requester_state *s, uint32_t psn);

/* A response to s left a hole between `from` and it, or filled one by itself, as its event says. f:
 * of s. */
void requester_note_read_gap(struct requester_state *s, const struct packet *p, uint32_t from,
			     struct flow *f, const struct flow_events *ev);

/* Whether a packet came the way that the packets of the stream come. */
bool requester_is_on_path(const struct requester_state *s, const struct packet *p);

/* A request that its receiver drops. */
void requester_add_bad_request(struct requester_state *s, const struct packet *p);

/* A packet that the capture saw twice, as a mirror of two ports does; to be asked of everything
 * but requests with a good PSN. Accounts it, too. last_ns: of the packet before it; same:
 * requester_is_same_response(), and requester_is_steady() of the other direction. */
bool requester_is_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns,
		      bool same);

/* Whether an answer is the last one again, in no time. */
bool requester_is_same_response(const struct requester_state *s, const struct packet *p);

/* The same for a CNP. The NIC makes them by itself, with a TTL and a VLAN that need not be those of
 * the other packets. last_ns: of the CNP before, 0 = none. */
bool requester_is_cnp_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns);

/* Whether nothing is sent again just now, as far as is known. */
static inline bool requester_is_steady(const struct requester_state *s)
{
	return s->psn.started && s->next_psn == s->psn.expected && !(s->pending && s->loss->retry);
}

/* The connection manager said how the requests begin. What was seen before is of another
 * connection. */
void requester_set_connection(struct requester_state *s, struct flow *f,
			      const struct connection *c);

/* What the receiver answered to the requester of s: its flow is f, ev is of the answer. False when
 * it fits nothing that was sent. */
bool requester_add_response(struct requester_state *s, const struct packet *p, struct flow *f,
			    struct flow_events *ev);

/* Nothing more comes: what was still open is told in f. */
void requester_finish(const struct requester_state *s, struct flow *f);

#endif
