/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State machine of a reliable requester. A missing PSN becomes reordered when it arrives late
 * without a retry, lost when it arrives after a NAK or a timeout, and missed by the capture when
 * the receiver acknowledges it. A retry gets its cause from the events before it.
 */
#include "capture/flow/requester.h"

#include <string.h>

#include "capture/decode/bytes.h"
#include "capture/decode/opcode.h"
#include "capture/flow/qp_reuse.h"
#include "capture/flow/mirror_dup.h"

/* Shortest timeout when the CM did not state one. */
#define TIMEOUT_MIN_NS 1000000
/* Limits for two captures of one packet: on different paths (other header bytes), and of the same
 * bytes, sooner than the shortest timeout and RNR wait. */
#define DUP_PATH_NS 1000000
#define DUP_SAME_NS 8000

/* From a gap to the READ that is retried for it: less than a timeout. */
#define READ_GAP_NS 1000000

/* Loads 4 and 2 bytes, as the decoder stores them: store forwarding needs equal pieces. */
static uint64_t requester_mac(const uint8_t mac[6])
{
	return (uint64_t)be32_at(mac) << 16 | be16_at(mac + 4);
}

/* Hash of header fields that show the path to the capture: MAC addresses, VLAN and TTL change from
 * hop to hop, but not between packets of a flow. */
static uint32_t requester_path_hash(const struct packet *p)
{
	uint64_t h;

	h = requester_mac(p->dmac) * UINT64_C(0x9e3779b97f4a7c15);
	h += requester_mac(p->smac) * UINT64_C(0xe7037ed1a0b428db);
	h ^= (uint64_t)p->ttl << 40 ^ (uint64_t)(p->vlan_count ? p->vid + 1U : 0) << 24;
	if (p->tunnel.kind)
		h ^= (uint64_t)p->tunnel.egress << 23 ^ (uint64_t)p->tunnel.session << 8;
	h *= UINT64_C(0xa0761d6478bd642f);
	return (uint32_t)(h >> 32) | 1;
}

bool requester_is_on_path(const struct requester_state *s, const struct packet *p)
{
	return s->path == requester_path_hash(p);
}

static bool requester_is_within(uint64_t now_ns, uint64_t then_ns, uint64_t ns)
{
	return now_ns < then_ns || now_ns - then_ns < ns;
}

static bool requester_was_bad(const struct requester_state *s, uint32_t psn)
{
	const struct requester_loss_state *loss = s->loss;

	for (unsigned int i = 0; i < REQUESTER_BAD && i < loss->bad_count; i++)
		if (loss->bad[i] == psn)
			return true;
	return false;
}

void requester_add_bad_request(struct requester_state *s, const struct packet *p)
{
	struct requester_loss_state *loss = s->loss;

	loss->bad[loss->bad_count % REQUESTER_BAD] = p->psn;
	/* never below REQUESTER_BAD again */
	loss->bad_count = loss->bad_count + 1 < 2 * REQUESTER_BAD ? loss->bad_count + 1
								  : REQUESTER_BAD;
}

/* A request before the expected PSN that was captured before. */
static bool requester_is_request_dup(const struct requester_state *s, const struct packet *p,
				     uint32_t path)
{
	bool last = p->psn == s->last_psn;

	if (psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn) ||
	    (last && p->opcode != s->last_opcode))
		return false;
	if (path != s->path)
		return requester_is_within(p->time_ns, s->psn.last_ns, DUP_PATH_NS);
	return last && s->loss->refused == RETRY_CAUSE_NONE &&
	       requester_is_within(p->time_ns, s->psn.last_ns, DUP_SAME_NS);
}

bool requester_is_same_response(const struct requester_state *s, const struct packet *p)
{
	return s->response_ns && p->psn == s->response_psn &&
	       packet_aeth_kind(p) == s->response_kind &&
	       requester_is_within(p->time_ns, s->response_ns, DUP_SAME_NS);
}

bool requester_is_cnp_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns)
{
	uint32_t path = requester_path_hash(p), before = s->loss->cnp_path;

	if (before && path != before && last_ns &&
	    requester_is_within(p->time_ns, last_ns, DUP_PATH_NS))
		return true;
	s->loss->cnp_path = path;
	return false;
}

bool requester_is_dup(struct requester_state *s, const struct packet *p, uint64_t last_ns,
		      bool same)
{
	bool answer = opcode_info(p->opcode)->flags & OP_RESPONSE;
	uint32_t path = requester_path_hash(p);

	if (!s->path)
		s->path = path;
	if (path != s->path) {
		uint64_t before_ns = answer ? s->response_ns : last_ns;

		if (before_ns && requester_is_within(p->time_ns, before_ns, DUP_PATH_NS) &&
		    (answer ? psn_distance(p->psn, s->response_psn) <= 0
			    : mirror_dup_has_datagram(s, p)))
			return true;
		if (answer)
			s->path = path;
	} else if (same) {
		return true;
	}
	if (answer) {
		s->response_kind = (uint8_t)packet_aeth_kind(p);
		s->response_psn = p->psn;
		s->response_ns = p->time_ns;
	} else {
		mirror_dup_keep_datagram(s, p);
	}
	return false;
}

static void requester_set_pending(struct requester_state *s)
{
	struct requester_loss_state *loss = s->loss;

	s->pending = loss->refused || loss->retry || loss->late || loss->skip_count;
}

static void requester_begin_retry(struct requester_state *s, enum retry_cause cause, uint32_t from)
{
	struct requester_loss_state *loss = s->loss;

	loss->retry = (uint8_t)cause;
	loss->retry_from = from;
	loss->retry_end = s->psn.expected;
	loss->refused = RETRY_CAUSE_NONE;
	loss->late = 0;
}

static void requester_count_go_back(struct requester_state *s, struct flow *f, uint32_t end)
{
	int32_t wasted = psn_distance(end, s->loss->retry_from);

	f->go_back_n++;
	f->wasted_psns += wasted > 0 ? (uint32_t)wasted : 0;
	s->loss->retry = RETRY_CAUSE_NONE;
}

/* PSNs from `from` up to the request were sent before and are not retransmitted. All up to the
 * first new request may have arrived; if not, the receiver waits for at least one of them. */
static void requester_skip(struct requester_state *s, uint32_t from, uint32_t psn)
{
	struct requester_loss_state *loss = s->loss;
	bool tail = psn_distance(psn, s->psn.expected) >= 0;
	int32_t acked = psn_distance(s->una, from), count;

	if (acked > 0 && acked < REQUESTER_WINDOW_MAX)
		from = s->una & PSN_MASK;
	count = psn_distance(tail ? s->psn.expected : psn, from);
	if (count <= 0)
		return;
	if (!loss->skip_count)
		loss->skip_from = from;
	loss->skip_count += tail ? 1 : (uint32_t)count;
}

/* The receiver waits for psn. True when the retransmission of psn was lost before the capture. A
 * go-back-N sender skips nothing. */
static bool requester_skip_lost(struct requester_state *s, uint32_t psn, struct flow *f)
{
	struct requester_loss_state *loss = s->loss;
	bool lost = loss->skip_count && psn == loss->skip_from;

	if (lost || f->go_back_n > f->selective_repeats)
		f->lost_psns += loss->skip_count;
	loss->skip_count = 0;
	return lost;
}

/* A new request ends the retransmission. */
static void requester_end_retry(struct requester_state *s, const struct packet *p, struct flow *f)
{
	struct requester_loss_state *loss = s->loss;

	if (loss->retry == RETRY_CAUSE_NAK)
		f->selective_repeats++;
	loss->retry = RETRY_CAUSE_NONE;
	loss->late = 0;
	if (loss->refused && p->psn == loss->refused_psn)
		loss->refused = RETRY_CAUSE_NONE;
	requester_set_pending(s);
}

/* Retransmission after a NAK, of which the first packet is lost again before the capture. */
static bool requester_is_late_start(const struct requester_state *s, const struct packet *p)
{
	return s->loss->refused && psn_distance(p->psn, s->next_psn) < 0 &&
	       psn_distance(p->psn, s->loss->refused_psn) > 0;
}

/* Finds the cause of a retransmission, at its first packet. */
static void requester_find_cause(struct requester_state *s, const struct packet *p, struct flow *f,
				 uint64_t before_ns, struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	uint64_t timeout_ns = loss->timeout_ns ? loss->timeout_ns : TIMEOUT_MIN_NS;

	if (requester_is_late_start(s, p)) {
		uint32_t from = loss->refused_psn;

		f->rnr_retries += loss->refused == RETRY_CAUSE_RNR;
		ev->bits |= loss->refused == RETRY_CAUSE_RNR ? FLOW_RNR_RETRY : 0;
		requester_skip_lost(s, from, f);
		requester_begin_retry(s, (enum retry_cause)loss->refused, from);
		requester_skip(s, from, p->psn);
	} else if (loss->refused && p->psn == loss->refused_psn) {
		requester_skip_lost(s, p->psn, f);
		if (loss->refused == RETRY_CAUSE_RNR) {
			f->rnr_retries++;
			ev->bits |= FLOW_RNR_RETRY;
		} else {
			f->resends++;
			f->resend_ns += saturating_sub(p->time_ns, loss->refused_ns);
		}
		requester_begin_retry(s, (enum retry_cause)loss->refused, p->psn);
	} else if (psn_distance(p->psn, s->next_psn) < 0 &&
		   !requester_is_within(p->time_ns, before_ns, timeout_ns)) {
		f->timeouts++;
		ev->bits |= FLOW_TIMEOUT;
		requester_skip_lost(s, p->psn, f);
		requester_begin_retry(s, RETRY_CAUSE_TIMEOUT, p->psn);
	}
}

/* After a timeout, a sender retransmits from the first unacknowledged request, but perhaps not up
 * to the highest: counts only what it retransmits. */
static void requester_count_wasted(struct requester_state *s, struct flow *f, uint32_t end)
{
	int32_t wasted = psn_distance(end, s->loss->retry_from);

	f->wasted_psns += wasted > 0 ? (uint32_t)wasted : 0;
	s->loss->retry_from = end;
}

static void requester_note_read(struct requester_state *s, const struct psn_request *r, uint64_t va)
{
	s->read[s->read_count++ % REQUESTER_READS] = (struct requester_read){
		.va = va,
		.psn = r->psn,
		.span = psn_span(&s->psn, r),
		.len = r->read_len,
	};
	if (s->read_count == 2 * REQUESTER_READS)
		s->read_count = REQUESTER_READS;
}

const struct requester_read *requester_find_read(const struct requester_state *s, uint32_t psn)
{
	unsigned int n = s ? s->read_count : 0;

	for (unsigned int i = 0; i < n && i < REQUESTER_READS; i++) {
		int32_t d = psn_distance(psn, s->read[i].psn);

		if (d >= 0 && (uint32_t)d < s->read[i].span)
			return &s->read[i];
	}
	return NULL;
}

/* A requester does not wait for missing responses: the gap is recent. */
static bool requester_is_recent(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns && requester_is_within(now_ns, then_ns, READ_GAP_NS);
}

static bool requester_was_late(const struct requester_loss_state *loss, const struct packet *p)
{
	return requester_is_recent(loss->late_ns, p->time_ns) &&
	       psn_distance(p->psn, loss->late_from) >= 0 &&
	       psn_distance(p->psn, loss->late_end) < 0;
}

/* The gap lies in READ q, or ends there. */
static bool requester_is_whole_read(const struct requester_loss_state *loss, const struct packet *p,
				    const struct requester_read *q, uint32_t len)
{
	return p->psn == q->psn && len == q->len && !loss->retry && !loss->refused &&
	       requester_is_recent(loss->read_gap_ns, p->time_ns) &&
	       psn_distance(loss->read_gap_end, q->psn) > 0 &&
	       psn_distance(loss->read_gap_from, q->psn + q->span) < 0;
}

/* A READ that is retried for missing responses: as a whole, or the rest after the first responses.
 */
static bool requester_retry_read(struct requester_state *s, const struct packet *p,
				 const struct psn_request *r, struct flow *f,
				 struct flow_events *ev)
{
	const struct requester_read *q = r->read && r->read_known ? requester_find_read(s, p->psn)
								  : NULL;
	struct requester_loss_state *loss = s->loss;
	bool rest = q && p->psn != q->psn && r->read_len < q->len && p->reth.va > q->va;

	if (!rest && !(q && requester_is_whole_read(loss, p, q, r->read_len)))
		return false;
	f->read_retries++;
	ev->bits |= FLOW_READ_RETRY;
	if (ev->bits & FLOW_TIMEOUT)
		return true;
	loss->read_retry_psn = p->psn;
	loss->read_retry_ns = p->time_ns;
	f->reads_reordered += requester_was_late(loss, p);
	loss->read_gap_ns = loss->late_ns = 0;
	return true;
}

void requester_note_read_gap(struct requester_state *s, const struct packet *p, uint32_t from,
			     struct flow *f, const struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	uint32_t end = (p->psn + 1) & PSN_MASK;

	if (ev->bits & FLOW_READ_GAP) {
		loss->read_gap_from = from;
		loss->read_gap_end = p->psn;
		loss->read_gap_ns = p->time_ns;
	} else if (loss->read_retry_ns && p->psn == loss->read_retry_psn) {
		/* The response was already in flight when the READ was retried. */
		f->reads_reordered++;
		loss->read_retry_ns = 0;
	} else {
		if (!requester_is_recent(loss->late_ns, p->time_ns) ||
		    psn_distance(p->psn, loss->late_from) < 0) {
			loss->late_from = p->psn;
			loss->late_end = end;
		}
		if (psn_distance(end, loss->late_end) > 0)
			loss->late_end = end;
		loss->late_ns = p->time_ns;
	}
}

static void requester_count_resent(struct requester_state *s, const struct packet *p,
				   const struct psn_request *r, struct flow *f, uint64_t before_ns,
				   struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	uint32_t span = psn_span(&s->psn, r), end = (p->psn + (span ? span : 1)) & PSN_MASK;

	if (loss->late && p->psn == loss->late_next && !loss->retry) {
		/* Not reordered: it is a retransmission after a NAK that was not captured. */
		f->reordered -= loss->late_requests;
		f->lost_psns += loss->late;
		requester_begin_retry(s, RETRY_CAUSE_NAK, (p->psn - loss->late) & PSN_MASK);
	}
	if (requester_retry_read(s, p, r, f, ev)) {
		/* and the requests after the READ */
		if (!loss->retry)
			requester_begin_retry(s, RETRY_CAUSE_READ, p->psn);
		loss->retry_from = end;
	} else if (!loss->retry && !(loss->refused && psn_distance(p->psn, s->next_psn) >= 0)) {
		/* except requests in flight when the NAK arrived */
		f->unexplained++;
		ev->bits |= FLOW_UNEXPLAINED;
		requester_begin_retry(s, RETRY_CAUSE_UNKNOWN, p->psn);
	}
	if (loss->retry == RETRY_CAUSE_UNKNOWN)
		mirror_dup_add(s, r, f, before_ns, ev);
	if (loss->retry == RETRY_CAUSE_TIMEOUT)
		requester_count_wasted(s, f, end);
	if (loss->retry == RETRY_CAUSE_NAK && psn_distance(end, loss->retry_end) >= 0)
		requester_count_go_back(s, f, loss->retry_end);
}

static void requester_count_late(struct requester_state *s, const struct packet *p, uint64_t gap_ns,
				 struct flow *f, struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;

	if (requester_was_bad(s, p->psn)) {
		f->corrupted_psns += ev->psns;
		ev->bits |= FLOW_CORRUPTED;
	} else if (loss->retry || loss->refused ||
		   !requester_is_within(p->time_ns, gap_ns, REQUESTER_REORDER_NS)) {
		f->lost_psns += ev->psns;
		ev->bits |= FLOW_LOST;
	} else {
		f->reordered++;
		ev->bits |= FLOW_REORDERED;
		if (!loss->late || p->psn != loss->late_next)
			loss->late = loss->late_requests = 0;
		loss->late += ev->psns;
		loss->late_requests++;
		loss->late_next = (p->psn + ev->psns) & PSN_MASK;
	}
}

static void requester_observe_behind(struct requester_state *s, const struct packet *p,
				     const struct psn_request *r, struct flow *f,
				     struct flow_events *ev)
{
	const struct psn_gap *gap = psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn);
	uint64_t before_ns = s->psn.last_ns, gap_ns = gap ? gap->time_ns : 0;
	bool reliable = opcode_class(p->opcode) != OPCODE_CLASS_UC;
	const struct requester_counters before = qp_reuse_counters(f);
	uint32_t count;

	if (reliable)
		requester_find_cause(s, p, f, before_ns, ev);
	if (psn_observe(&s->psn, r, &count) == PSN_FILLED) {
		f->psn_missing -= count;
		ev->bits |= FLOW_PSN_FILLED;
		ev->psns = count;
		requester_count_late(s, p, gap_ns, f, ev);
	} else {
		f->duplicates++;
		ev->bits |= FLOW_DUPLICATE;
		if (reliable)
			requester_count_resent(s, p, r, f, before_ns, ev);
	}
	if (ev->bits & (FLOW_TIMEOUT | FLOW_UNEXPLAINED))
		qp_reuse_suspect(s, p, &before);
	requester_set_pending(s);
}

static void requester_observe_ahead(struct requester_state *s, const struct packet *p,
				    const struct psn_request *r, struct flow *f,
				    struct flow_events *ev)
{
	uint32_t count;

	switch (psn_observe(&s->psn, r, &count)) {
	case PSN_GAP:
		f->psn_gaps++;
		f->psn_missing += count;
		ev->bits |= FLOW_PSN_GAP;
		ev->psns = count;
		break;
	case PSN_NEW_CONNECTION:
		f->new_connections++;
		ev->bits |= FLOW_NEW_CONNECTION;
		qp_reuse_reset(s);
		s->recreated = true;
		s->suspected_reuse = false;
		break;
	case PSN_UNJUDGED:
		f->psn_unjudged++;
		break;
	default:
		break;
	}
	if (s->pending)
		requester_end_retry(s, p, f);
}

void requester_add_request(struct requester_state *s, const struct packet *p, struct flow *f,
			   struct flow_events *ev)
{
	uint8_t flags = opcode_info(p->opcode)->flags;
	const struct psn_request r = {
		.psn = p->psn,
		.read = flags & OP_READ,
		.read_known = p->headers & HDR_RETH,
		.read_len = p->reth.dma_len,
		.unacked = s->una == (p->psn | REQUESTER_UNA_KNOWN) &&
			   psn_distance(p->psn, s->psn.expected) < 0,
		.time_ns = p->time_ns,
	};
	uint32_t path = requester_path_hash(p);
	int32_t d = s->psn.started ? psn_distance(p->psn, s->psn.expected) : 0;

	if (d < 0 && (requester_is_request_dup(s, p, path) || mirror_dup_follows_known(s, &r))) {
		f->copies++;
		ev->bits |= FLOW_MIRROR_DUP;
		return;
	}
	/* Reordered requests before the NAK are no retransmission. */
	if (s->pending && (s->loss->retry || (s->loss->refused && !s->loss->late)))
		requester_skip(s, s->next_psn, p->psn);
	if (d < 0 && !psn_is_jump(&s->psn, &r))
		requester_observe_behind(s, p, &r, f, ev);
	else
		requester_observe_ahead(s, p, &r, f, ev);
	if (d >= 0 || !s->path)
		s->path = path;
	s->last_psn = p->psn;
	s->next_psn = (p->psn + (r.read ? psn_span(&s->psn, &r) : 1)) & PSN_MASK;
	s->last_opcode = p->opcode;
	if (flags & OP_FULL)
		psn_learn_pmtu(&s->psn, p->payload_len);
	if (r.read && d >= 0)
		requester_note_read(s, &r, p->reth.va);
}

/* A NAK names the PSN that the receiver waits for; if that PSN was captured, it was lost after the
 * capture. */
static void requester_add_nak(struct requester_state *s, const struct packet *p,
			      enum retry_cause cause, struct flow *f)
{
	struct requester_loss_state *loss = s->loss;
	const struct psn_gap *gap = psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn);
	bool again = requester_skip_lost(s, p->psn, f);

	/* Soft-RoCE also sends a sequence NAK for packets after an RNR NAK. */
	if (loss->refused_psn == p->psn &&
	    (loss->refused == cause || loss->refused == RETRY_CAUSE_RNR))
		return;
	if (loss->retry == RETRY_CAUSE_NAK && s->last_psn != loss->retry_from)
		requester_count_go_back(s, f, (s->last_psn + 1) & PSN_MASK);
	loss->refused = (uint8_t)cause;
	loss->refused_psn = p->psn;
	loss->refused_ns = p->time_ns;
	loss->retry = RETRY_CAUSE_NONE;
	s->pending = true;
	if (cause != RETRY_CAUSE_NAK)
		return;
	if (gap) {
		f->naks_timed++;
		/* Timestamps of a file may go back. */
		f->nak_ns += saturating_sub(p->time_ns, gap->time_ns);
	}
	if (requester_was_bad(s, p->psn))
		f->corruptions++;
	else if (gap || again)
		f->losses_before++;
	else
		f->losses_after++;
}

bool requester_add_response(struct requester_state *s, const struct packet *p, struct flow *f,
			    struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	enum aeth_kind kind = packet_aeth_kind(p);
	bool refusal = kind == AETH_RNR || kind == AETH_NAK;
	int32_t d;

	if (s->suspected_reuse)
		qp_reuse_decide(s, p, f, ev);
	d = psn_distance(p->psn, s->psn.expected);
	/* A response to requests that were not captured, or of another connection. */
	if (!s->psn.started || d >= 0 ||
	    (d < -REQUESTER_WINDOW_MAX && !requester_find_read(s, p->psn)))
		return false;
	s->recreated = s->suspected_reuse;
	s->una = ((p->psn + !refusal) & PSN_MASK) | REQUESTER_UNA_KNOWN;
	if (s->pending && loss->skip_count && psn_distance(s->una, loss->skip_from) > 0)
		loss->skip_count = 0; /* it arrived */
	if (s->psn.gap_count) {
		uint32_t missed = psn_cover(&s->psn, p->psn - refusal);

		f->missed_psns += missed;
		ev->bits |= missed ? FLOW_MISSED : 0;
	}
	if (kind == AETH_RNR)
		requester_add_nak(s, p, RETRY_CAUSE_RNR, f);
	else if (kind == AETH_NAK && !(p->aeth.syndrome & 0x1f))
		requester_add_nak(s, p, RETRY_CAUSE_NAK, f);
	return true;
}

void requester_set_connection(struct requester_state *s, struct flow *f, const struct connection *c)
{
	struct requester_loss_state *loss = s->loss;

	f->new_connections += s->psn.started;
	requester_finish(s, f);
	memset(loss, 0, sizeof(*loss));
	*s = (struct requester_state){.loss = loss, .read = s->read, .psn.gap = loss->gap};
	s->psn.started = true;
	s->psn.expected = c->starting_psn;
	s->una = c->starting_psn | REQUESTER_UNA_KNOWN;
	s->psn.pmtu = c->path_mtu;
	s->psn.last_ns = c->time_ns;
	loss->timeout_ns = c->timeout_ns;
}

void requester_finish(const struct requester_state *s, struct flow *f)
{
	f->selective_repeats += s->loss && s->loss->retry == RETRY_CAUSE_NAK;
}
