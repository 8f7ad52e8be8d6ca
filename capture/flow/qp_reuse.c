/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restores the counters from before the suspected reuse when a new connection is confirmed.
 */
#include "capture/flow/qp_reuse.h"

#include "capture/decode/opcode.h"

struct requester_counters qp_reuse_counters(const struct flow *f)
{
	return (struct requester_counters){
		.duplicates = f->duplicates,
		.wasted_psns = f->wasted_psns,
		.timeouts = f->timeouts,
		.unexplained = f->unexplained,
		.read_retries = f->read_retries,
	};
}

void qp_reuse_suspect(struct requester_state *s, const struct packet *p,
		      const struct requester_counters *before)
{
	struct requester_loss_state *loss = s->loss;

	if (!(s->una & REQUESTER_UNA_KNOWN) || psn_distance(p->psn, s->una) >= 0)
		return;
	s->suspected_reuse = s->recreated = true;
	loss->suspect_psn = p->psn;
	loss->suspect_una = s->una & PSN_MASK;
	loss->suspect_end = s->psn.expected;
	loss->before = *before;
}

/* A message uses at least one PSN, so a connection that began at suspect_psn has an MSN of at most
 * the PSN distance. */
static bool reuse_is_new_response(const struct requester_state *s, const struct packet *p)
{
	int32_t d = psn_distance(p->psn, s->loss->suspect_psn);

	return d >= 0 && psn_distance(p->psn, s->next_psn) < 0 &&
	       (!(p->headers & HDR_AETH) || p->aeth.msn <= (uint32_t)d + 1);
}

bool qp_reuse_fits(const struct requester_state *s, const struct packet *p)
{
	return s->recreated && (!s->suspected_reuse || reuse_is_new_response(s, p));
}

void qp_reuse_confirm(struct requester_state *s, struct flow *f, struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	const struct requester_counters *b = &loss->before;
	bool suspected = s->suspected_reuse;

	s->recreated = s->suspected_reuse = false;
	if (!suspected)
		return;
	f->duplicates = b->duplicates;
	f->wasted_psns = b->wasted_psns;
	f->timeouts = b->timeouts;
	f->unexplained = b->unexplained;
	f->read_retries = b->read_retries;
	f->new_connections++;
	ev->bits |= FLOW_NEW_CONNECTION;
	qp_reuse_reset(s);
	if (s->psn.expected ==
	    loss->suspect_end) /* else the new connection is already beyond the old one */
		s->psn.expected = s->next_psn;
}

/* A repeated READ or atomic response has its original PSN. */
void qp_reuse_decide(struct requester_state *s, const struct packet *p, struct flow *f,
		     struct flow_events *ev)
{
	struct requester_loss_state *loss = s->loss;
	bool back = s->suspected_reuse && psn_distance(p->psn, loss->suspect_una) < -1;

	if (back && !(opcode_info(p->opcode)->headers == HDR_AETH &&
		      opcode_info(p->opcode)->flags & OP_ACK))
		return;
	if (back && reuse_is_new_response(s, p))
		qp_reuse_confirm(s, f, ev);
	s->suspected_reuse = false;
}

void qp_reuse_reset(struct requester_state *s)
{
	struct requester_loss_state *loss = s->loss;

	loss->refused = loss->retry = RETRY_CAUSE_NONE;
	loss->late = loss->bad_count = loss->skip_count = 0;
	loss->dup_count = loss->dup_steps = 0;
	loss->read_gap_ns = loss->late_ns = loss->read_retry_ns = 0;
	s->psn.gap_count = 0;
	s->read_count = 0;
	s->pending = false;
	s->una = 0;
}
