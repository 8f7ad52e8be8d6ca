/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A QP number that is used again with PSNs nearby, and no connection manager that says so. Its
 * requests look as if they were sent again, only that the receiver had acknowledged them: its
 * answers tell. Who has them already acknowledges the last that it has (IBTA vol 1, 9.7.5.1), while
 * those to a new connection begin at its first PSN, count its messages from there (MSN), and may go
 * to another QP.
 */
#ifndef CAPTURE_QP_REUSE_H
#define CAPTURE_QP_REUSE_H

#include "capture/flow/requester.h"

/* What a flow had counted before a request. */
struct requester_counters qp_reuse_counters(const struct flow *f);

/* A request was told as the first of what is sent again: perhaps it is not. */
void qp_reuse_suspect(struct requester_state *s, const struct packet *p,
		      const struct requester_counters *before);

/* An answer of the peer decides, before it is looked at. Those that were told as sent again are a
 * new connection then, in f and ev. */
void qp_reuse_decide(struct requester_state *s, const struct packet *p, struct flow *f,
		     struct flow_events *ev);

/* Whether an answer to another QP fits what is sent since; and then it decides likewise. */
bool qp_reuse_fits(const struct requester_state *s, const struct packet *p);
void qp_reuse_confirm(struct requester_state *s, struct flow *f, struct flow_events *ev);

/* The QP number is used anew: nothing of before holds, but for its PSNs. */
void qp_reuse_reset(struct requester_state *s);

#endif
