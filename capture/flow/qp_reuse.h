/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects a reused QP number with PSNs close to the old ones, when the capture has no CM messages.
 * Its requests look like retransmissions of acknowledged requests; the responses decide. A receiver
 * of retransmissions repeats its last ACK (IBTA vol 1, 9.7.5.1). Responses of a new connection
 * begin at its first PSN, count messages (MSN) from there, and may go to another QP.
 */
#ifndef CAPTURE_QP_REUSE_H
#define CAPTURE_QP_REUSE_H

#include "capture/flow/requester.h"

/* Returns the counters of a flow before a request. */
struct requester_counters qp_reuse_counters(const struct flow *f);

/* Notes that the first of several retransmissions may belong to a new connection instead. */
void qp_reuse_suspect(struct requester_state *s, const struct packet *p,
		      const struct requester_counters *before);

/* Decides by a response, before it is accounted: the suspected retransmissions become a new
 * connection in f and ev. */
void qp_reuse_decide(struct requester_state *s, const struct packet *p, struct flow *f,
		     struct flow_events *ev);

/* qp_reuse_fits() is true when a response to another QP matches the requests since then.
 * qp_reuse_confirm() then records a new connection. */
bool qp_reuse_fits(const struct requester_state *s, const struct packet *p);
void qp_reuse_confirm(struct requester_state *s, struct flow *f, struct flow_events *ev);

/* Resets all state of the old connection except its PSNs. */
void qp_reuse_reset(struct requester_state *s);

#endif
