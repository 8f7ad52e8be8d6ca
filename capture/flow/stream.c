/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state machine of a reliable requester. A missing PSN alone is no verdict: it becomes
 * reordered when it comes late by itself, lost when a refusal or a timeout brings it again, and a
 * miss of the capture when the receiver acknowledges it. A restart is named after what went before
 * it.
 */
#include "capture/flow/stream.h"

#include <string.h>

#include "capture/decode/bytes.h"
#include "capture/decode/opcode.h"
#include "capture/flow/renew.h"
#include "capture/flow/trail.h"

/* A timeout that was not agreed on is not shorter than this. */
#define TIMEOUT_MIN_NS 1000000
/* Two captures of one packet: of other bytes, which only the path explains; and of the same, sooner
 * than the shortest timeout and wait for a receiver. */
#define COPY_PATH_NS 1000000
#define COPY_SAME_NS 8000

/* From a hole to the READ that is sent again for it: less than a timeout. */
#define HOLE_NS 1000000

/* In the pieces that the decoder wrote. */
static uint64_t mac_of(const uint8_t mac[6])
{
	return (uint64_t)be32_at(mac) << 16 | be16_at(mac + 4);
}

/* What the way to the capture leaves on packets: addresses, VLAN and TTL change from hop to hop,
 * and stay the same for the packets of a flow. */
static uint32_t path_of(const struct packet *p)
{
	uint64_t h;

	h = mac_of(p->dmac) * UINT64_C(0x9e3779b97f4a7c15);
	h += mac_of(p->smac) * UINT64_C(0xe7037ed1a0b428db);
	h ^= (uint64_t)p->ttl << 40 ^ (uint64_t)(p->vlan_count ? p->vid + 1U : 0) << 24;
	if (p->tunnel.kind)
		h ^= (uint64_t)p->tunnel.egress << 23 ^ (uint64_t)p->tunnel.session << 8;
	h *= UINT64_C(0xa0761d6478bd642f);
	return (uint32_t)(h >> 32) | 1;
}

bool stream_is_on_path(const struct stream *s, const struct packet *p)
{
	return s->path == path_of(p);
}

static bool within(uint64_t now_ns, uint64_t then_ns, uint64_t ns)
{
	return now_ns < then_ns || now_ns - then_ns < ns;
}

/* A file's times may go back. */
static uint64_t since(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

static bool was_bad(const struct stream *s, uint32_t psn)
{
	const struct stream_more *more = s->more;

	for (unsigned int i = 0; i < STREAM_BAD && i < more->bad_count; i++)
		if (more->bad[i] == psn)
			return true;
	return false;
}

void stream_bad_request(struct stream *s, const struct packet *p)
{
	struct stream_more *more = s->more;

	more->bad[more->bad_count % STREAM_BAD] = p->psn;
	/* Stays beyond the size once it is there. */
	more->bad_count = more->bad_count + 1 < 2 * STREAM_BAD ? more->bad_count + 1 : STREAM_BAD;
}

/* A request behind what is expected that was there already. */
static bool is_request_copy(const struct stream *s, const struct packet *p, uint32_t path)
{
	bool last = p->psn == s->last_psn;

	if (psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn) ||
	    (last && p->opcode != s->last_opcode))
		return false;
	if (path != s->path)
		return within(p->time_ns, s->psn.last_ns, COPY_PATH_NS);
	return last && s->more->refused == STREAM_CAUSE_NONE &&
	       within(p->time_ns, s->psn.last_ns, COPY_SAME_NS);
}

bool stream_is_same_answer(const struct stream *s, const struct packet *p)
{
	return s->answer_ns && p->psn == s->answer_psn && packet_answer_kind(p) == s->answer_kind &&
	       within(p->time_ns, s->answer_ns, COPY_SAME_NS);
}

bool stream_is_cnp_copy(struct stream *s, const struct packet *p, uint64_t last_ns)
{
	uint32_t path = path_of(p), before = s->more->cnp_path;

	if (before && path != before && last_ns && within(p->time_ns, last_ns, COPY_PATH_NS))
		return true;
	s->more->cnp_path = path;
	return false;
}

bool stream_is_copy(struct stream *s, const struct packet *p, uint64_t last_ns, bool same)
{
	bool answer = opcode_info(p->opcode)->flags & OP_RESPONSE;
	uint32_t path = path_of(p);

	if (!s->path)
		s->path = path;
	if (path != s->path) {
		uint64_t before_ns = answer ? s->answer_ns : last_ns;

		if (before_ns && within(p->time_ns, before_ns, COPY_PATH_NS) &&
		    (answer ? psn_distance(p->psn, s->answer_psn) <= 0 : trail_has_datagram(s, p)))
			return true;
		if (answer)
			s->path = path;
	} else if (same) {
		return true;
	}
	if (answer) {
		s->answer_kind = (uint8_t)packet_answer_kind(p);
		s->answer_psn = p->psn;
		s->answer_ns = p->time_ns;
	} else {
		trail_keep_datagram(s, p);
	}
	return false;
}

static void set_pending(struct stream *s)
{
	struct stream_more *more = s->more;

	s->pending = more->refused || more->retry || more->late || more->skip_count;
}

static void retry_begin(struct stream *s, enum stream_cause cause, uint32_t from)
{
	struct stream_more *more = s->more;

	more->retry = (uint8_t)cause;
	more->retry_from = from;
	more->retry_end = s->psn.expected;
	more->refused = STREAM_CAUSE_NONE;
	more->late = 0;
}

static void count_go_back(struct stream *s, struct flow *f, uint32_t end)
{
	int32_t wasted = psn_distance(end, s->more->retry_from);

	f->go_back_n++;
	f->wasted_psns += wasted > 0 ? (uint32_t)wasted : 0;
	s->more->retry = STREAM_CAUSE_NONE;
}

/* PSNs from `from` up to the request were there before, and are not there again. Those up to the
 * first new request may all have arrived: of them the receiver waits for one at least, if any. */
static void skip(struct stream *s, uint32_t from, uint32_t psn)
{
	struct stream_more *more = s->more;
	bool tail = psn_distance(psn, s->psn.expected) >= 0;
	int32_t acked = psn_distance(s->una, from), count;

	if (acked > 0 && acked < STREAM_WINDOW_MAX)
		from = s->una & PSN_MASK;
	count = psn_distance(tail ? s->psn.expected : psn, from);
	if (count <= 0)
		return;
	if (!more->skip_count)
		more->skip_from = from;
	more->skip_count += tail ? 1 : (uint32_t)count;
}

/* The receiver waits for psn: true when it was left out, and so lost on its way to the capture. A
 * sender that goes back to send all again leaves nothing out. */
static bool skip_lost(struct stream *s, uint32_t psn, struct flow *f)
{
	struct stream_more *more = s->more;
	bool lost = more->skip_count && psn == more->skip_from;

	if (lost || f->go_back_n > f->selective_repeats)
		f->lost_psns += more->skip_count;
	more->skip_count = 0;
	return lost;
}

/* A request that was never sent before: what came again before it was all that came again. */
static void settle(struct stream *s, const struct packet *p, struct flow *f)
{
	struct stream_more *more = s->more;

	if (more->retry == STREAM_CAUSE_NAK)
		f->selective_repeats++;
	more->retry = STREAM_CAUSE_NONE;
	more->late = 0;
	if (more->refused && p->psn == more->refused_psn)
		more->refused = STREAM_CAUSE_NONE;
	set_pending(s);
}

/* All is sent again as it was refused, but what was refused does not reach the capture, again. */
static bool is_late_start(const struct stream *s, const struct packet *p)
{
	return s->more->refused && psn_distance(p->psn, s->next_psn) < 0 &&
	       psn_distance(p->psn, s->more->refused_psn) > 0;
}

/* Something is sent again: why, when it is the first of what is sent again. */
static void find_cause(struct stream *s, const struct packet *p, struct flow *f, uint64_t before_ns,
		       struct flow_events *ev)
{
	struct stream_more *more = s->more;
	uint64_t timeout_ns = more->timeout_ns ? more->timeout_ns : TIMEOUT_MIN_NS;

	if (is_late_start(s, p)) {
		uint32_t from = more->refused_psn;

		f->rnr_retries += more->refused == STREAM_CAUSE_RNR;
		ev->bits |= more->refused == STREAM_CAUSE_RNR ? FLOW_RNR_RETRY : 0;
		skip_lost(s, from, f);
		retry_begin(s, (enum stream_cause)more->refused, from);
		skip(s, from, p->psn);
	} else if (more->refused && p->psn == more->refused_psn) {
		skip_lost(s, p->psn, f);
		if (more->refused == STREAM_CAUSE_RNR) {
			f->rnr_retries++;
			ev->bits |= FLOW_RNR_RETRY;
		} else {
			f->resends++;
			f->resend_ns += since(p->time_ns, more->refused_ns);
		}
		retry_begin(s, (enum stream_cause)more->refused, p->psn);
	} else if (psn_distance(p->psn, s->next_psn) < 0 &&
		   !within(p->time_ns, before_ns, timeout_ns)) {
		f->timeouts++;
		ev->bits |= FLOW_TIMEOUT;
		skip_lost(s, p->psn, f);
		retry_begin(s, STREAM_CAUSE_TIMEOUT, p->psn);
	}
}

/* After a timeout all may be sent again from the first that was not acknowledged, up to the highest
 * or not: as far as it goes, and it was there before. */
static void waste(struct stream *s, struct flow *f, uint32_t end)
{
	int32_t wasted = psn_distance(end, s->more->retry_from);

	f->wasted_psns += wasted > 0 ? (uint32_t)wasted : 0;
	s->more->retry_from = end;
}

static void note_read(struct stream *s, const struct psn_request *r, uint64_t va)
{
	s->read[s->read_count++ % STREAM_READS] = (struct stream_read){
		.va = va,
		.psn = r->psn,
		.span = psn_span(&s->psn, r),
		.len = r->read_len,
	};
	if (s->read_count == 2 * STREAM_READS)
		s->read_count = STREAM_READS;
}

const struct stream_read *stream_read_of(const struct stream *s, uint32_t psn)
{
	unsigned int n = s ? s->read_count : 0;

	for (unsigned int i = 0; i < n && i < STREAM_READS; i++) {
		int32_t d = psn_distance(psn, s->read[i].psn);

		if (d >= 0 && (uint32_t)d < s->read[i].span)
			return &s->read[i];
	}
	return NULL;
}

/* The requester does not wait for what is missing, so it was not long ago. */
static bool is_recent(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns && within(now_ns, then_ns, HOLE_NS);
}

static bool was_late(const struct stream_more *more, const struct packet *p)
{
	return is_recent(more->late_ns, p->time_ns) && psn_distance(p->psn, more->late_from) >= 0 &&
	       psn_distance(p->psn, more->late_end) < 0;
}

/* The hole lies in the READ q, or ends there. */
static bool is_all_again(const struct stream_more *more, const struct packet *p,
			 const struct stream_read *q, uint32_t len)
{
	return p->psn == q->psn && len == q->len && !more->retry && !more->refused &&
	       is_recent(more->hole_ns, p->time_ns) && psn_distance(more->hole_end, q->psn) > 0 &&
	       psn_distance(more->hole_from, q->psn + q->span) < 0;
}

/* A READ request that is sent again because of what is missing of its responses: all of it, or the
 * rest behind the first ones. */
static bool read_again(struct stream *s, const struct packet *p, const struct psn_request *r,
		       struct flow *f, struct flow_events *ev)
{
	const struct stream_read *q = r->read && r->read_known ? stream_read_of(s, p->psn) : NULL;
	struct stream_more *more = s->more;
	bool rest = q && p->psn != q->psn && r->read_len < q->len && p->reth.va > q->va;

	if (!rest && !(q && is_all_again(more, p, q, r->read_len)))
		return false;
	f->read_retries++;
	ev->bits |= FLOW_READ_RETRY;
	if (ev->bits & FLOW_TIMEOUT)
		return true;
	more->again_psn = p->psn;
	more->again_ns = p->time_ns;
	f->reads_reordered += was_late(more, p);
	more->hole_ns = more->late_ns = 0;
	return true;
}

void stream_read_hole(struct stream *s, const struct packet *p, uint32_t from, struct flow *f,
		      const struct flow_events *ev)
{
	struct stream_more *more = s->more;
	uint32_t end = (p->psn + 1) & PSN_MASK;

	if (ev->bits & FLOW_READ_GAP) {
		more->hole_from = from;
		more->hole_end = p->psn;
		more->hole_ns = p->time_ns;
	} else if (more->again_ns && p->psn == more->again_psn) {
		/* It was under way when it was asked for again. */
		f->reads_reordered++;
		more->again_ns = 0;
	} else {
		if (!is_recent(more->late_ns, p->time_ns) ||
		    psn_distance(p->psn, more->late_from) < 0) {
			more->late_from = p->psn;
			more->late_end = end;
		}
		if (psn_distance(end, more->late_end) > 0)
			more->late_end = end;
		more->late_ns = p->time_ns;
	}
}

static void sent_again(struct stream *s, const struct packet *p, const struct psn_request *r,
		       struct flow *f, uint64_t before_ns, struct flow_events *ev)
{
	struct stream_more *more = s->more;
	uint32_t span = psn_span(&s->psn, r), end = (p->psn + (span ? span : 1)) & PSN_MASK;

	if (more->late && p->psn == more->late_next && !more->retry) {
		/* It was no straggler: more is sent again, for a refusal that was not captured. */
		f->reordered -= more->late_requests;
		f->lost_psns += more->late;
		retry_begin(s, STREAM_CAUSE_NAK, (p->psn - more->late) & PSN_MASK);
	}
	if (read_again(s, p, r, f, ev)) {
		/* And what was asked for behind it. */
		if (!more->retry)
			retry_begin(s, STREAM_CAUSE_READ, p->psn);
		more->retry_from = end;
	} else if (!more->retry && !(more->refused && psn_distance(p->psn, s->next_psn) >= 0)) {
		/* Not what was under way when the refusal came. */
		f->unexplained++;
		ev->bits |= FLOW_UNEXPLAINED;
		retry_begin(s, STREAM_CAUSE_UNKNOWN, p->psn);
	}
	if (more->retry == STREAM_CAUSE_UNKNOWN)
		trail_note(s, r, f, before_ns, ev);
	if (more->retry == STREAM_CAUSE_TIMEOUT)
		waste(s, f, end);
	if (more->retry == STREAM_CAUSE_NAK && psn_distance(end, more->retry_end) >= 0)
		count_go_back(s, f, more->retry_end);
}

static void came_late(struct stream *s, const struct packet *p, uint64_t gap_ns, struct flow *f,
		      struct flow_events *ev)
{
	struct stream_more *more = s->more;

	if (was_bad(s, p->psn)) {
		f->corrupted_psns += ev->psns;
		ev->bits |= FLOW_CORRUPTED;
	} else if (more->retry || more->refused || !within(p->time_ns, gap_ns, STREAM_REORDER_NS)) {
		f->lost_psns += ev->psns;
		ev->bits |= FLOW_LOST;
	} else {
		f->reordered++;
		ev->bits |= FLOW_REORDERED;
		if (!more->late || p->psn != more->late_next)
			more->late = more->late_requests = 0;
		more->late += ev->psns;
		more->late_requests++;
		more->late_next = (p->psn + ev->psns) & PSN_MASK;
	}
}

static void observe_behind(struct stream *s, const struct packet *p, const struct psn_request *r,
			   struct flow *f, struct flow_events *ev)
{
	const struct psn_gap *gap = psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn);
	uint64_t before_ns = s->psn.last_ns, gap_ns = gap ? gap->time_ns : 0;
	bool reliable = opcode_class(p->opcode) != OPCODE_CLASS_UC;
	const struct stream_before before = renew_before(f);
	uint32_t count;

	if (reliable)
		find_cause(s, p, f, before_ns, ev);
	if (psn_observe(&s->psn, r, &count) == PSN_FILLED) {
		f->psn_missing -= count;
		ev->bits |= FLOW_PSN_FILLED;
		ev->psns = count;
		came_late(s, p, gap_ns, f, ev);
	} else {
		f->duplicates++;
		ev->bits |= FLOW_DUPLICATE;
		if (reliable)
			sent_again(s, p, r, f, before_ns, ev);
	}
	if (ev->bits & (FLOW_TIMEOUT | FLOW_UNEXPLAINED))
		renew_doubt(s, p, &before);
	set_pending(s);
}

static void observe_ahead(struct stream *s, const struct packet *p, const struct psn_request *r,
			  struct flow *f, struct flow_events *ev)
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
		renew_begin(s);
		s->anew = true;
		s->doubt = false;
		break;
	case PSN_UNJUDGED:
		f->psn_unjudged++;
		break;
	default:
		break;
	}
	if (s->pending)
		settle(s, p, f);
}

void stream_request(struct stream *s, const struct packet *p, struct flow *f,
		    struct flow_events *ev)
{
	uint8_t flags = opcode_info(p->opcode)->flags;
	const struct psn_request r = {
		.psn = p->psn,
		.read = flags & OP_READ,
		.read_known = p->headers & HDR_RETH,
		.read_len = p->reth.dma_len,
		.unacked = s->una == (p->psn | STREAM_UNA) &&
			   psn_distance(p->psn, s->psn.expected) < 0,
		.time_ns = p->time_ns,
	};
	uint32_t path = path_of(p);
	int32_t d = s->psn.started ? psn_distance(p->psn, s->psn.expected) : 0;

	if (d < 0 && (is_request_copy(s, p, path) || trail_is_copy(s, &r))) {
		f->copies++;
		ev->bits |= FLOW_COPY;
		return;
	}
	/* What came late by itself before the refusal is not sent again. */
	if (s->pending && (s->more->retry || (s->more->refused && !s->more->late)))
		skip(s, s->next_psn, p->psn);
	if (d < 0 && !psn_is_jump(&s->psn, &r))
		observe_behind(s, p, &r, f, ev);
	else
		observe_ahead(s, p, &r, f, ev);
	if (d >= 0 || !s->path)
		s->path = path;
	s->last_psn = p->psn;
	s->next_psn = (p->psn + (r.read ? psn_span(&s->psn, &r) : 1)) & PSN_MASK;
	s->last_opcode = p->opcode;
	if (flags & OP_FULL)
		psn_learn_pmtu(&s->psn, p->payload_len);
	if (r.read && d >= 0)
		note_read(s, &r, p->reth.va);
}

/* A refusal says what the receiver waits for. What of it was seen tells where it went. */
static void refused(struct stream *s, const struct packet *p, enum stream_cause cause,
		    struct flow *f)
{
	struct stream_more *more = s->more;
	const struct psn_gap *gap = psn_gap_at(s->psn.gap, s->psn.gap_count, p->psn);
	bool again = skip_lost(s, p->psn, f);

	/* One that was not ready refuses what comes behind that as well, in Soft-RoCE. */
	if (more->refused_psn == p->psn &&
	    (more->refused == cause || more->refused == STREAM_CAUSE_RNR))
		return;
	if (more->retry == STREAM_CAUSE_NAK && s->last_psn != more->retry_from)
		count_go_back(s, f, (s->last_psn + 1) & PSN_MASK);
	more->refused = (uint8_t)cause;
	more->refused_psn = p->psn;
	more->refused_ns = p->time_ns;
	more->retry = STREAM_CAUSE_NONE;
	s->pending = true;
	if (cause != STREAM_CAUSE_NAK)
		return;
	if (gap) {
		f->naks_timed++;
		f->nak_ns += since(p->time_ns, gap->time_ns);
	}
	if (was_bad(s, p->psn))
		f->corruptions++;
	else if (gap || again)
		f->losses_before++;
	else
		f->losses_after++;
}

bool stream_answer(struct stream *s, const struct packet *p, struct flow *f, struct flow_events *ev)
{
	struct stream_more *more = s->more;
	enum aeth_kind kind = packet_answer_kind(p);
	bool refusal = kind == AETH_RNR || kind == AETH_NAK;
	int32_t d;

	if (s->doubt)
		renew_decide(s, p, f, ev);
	d = psn_distance(p->psn, s->psn.expected);
	/* Of requests that were not captured, or of another connection. */
	if (!s->psn.started || d >= 0 || (d < -STREAM_WINDOW_MAX && !stream_read_of(s, p->psn)))
		return false;
	s->anew = s->doubt;
	s->una = ((p->psn + !refusal) & PSN_MASK) | STREAM_UNA;
	if (s->pending && more->skip_count && psn_distance(s->una, more->skip_from) > 0)
		more->skip_count = 0; /* it had arrived */
	if (s->psn.gap_count) {
		uint32_t missed = psn_cover(&s->psn, p->psn - refusal);

		f->missed_psns += missed;
		ev->bits |= missed ? FLOW_MISSED : 0;
	}
	if (kind == AETH_RNR)
		refused(s, p, STREAM_CAUSE_RNR, f);
	else if (kind == AETH_NAK && !(p->aeth.syndrome & 0x1f))
		refused(s, p, STREAM_CAUSE_NAK, f);
	return true;
}

void stream_connect(struct stream *s, struct flow *f, const struct connection *c)
{
	struct stream_more *more = s->more;

	f->new_connections += s->psn.started;
	stream_end(s, f);
	memset(more, 0, sizeof(*more));
	*s = (struct stream){.more = more, .read = s->read, .psn.gap = more->gap};
	s->psn.started = true;
	s->psn.expected = c->starting_psn;
	s->una = c->starting_psn | STREAM_UNA;
	s->psn.pmtu = c->path_mtu;
	s->psn.last_ns = c->time_ns;
	more->timeout_ns = c->timeout_ns;
}

void stream_end(const struct stream *s, struct flow *f)
{
	f->selective_repeats += s->more && s->more->retry == STREAM_CAUSE_NAK;
}
