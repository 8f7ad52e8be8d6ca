/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A QP number that is used again with PSNs nearby, and no connection manager that says so. Its
 * requests look as if they were sent again, only that the receiver had acknowledged them: its
 * answers tell. Who has them already acknowledges the last that it has (IBTA vol 1, 9.7.5.1), while
 * those to a new connection begin at its first PSN, count its messages from there (MSN), and may go
 * to another QP.
 */
#ifndef CAPTURE_RENEW_H
#define CAPTURE_RENEW_H

#include "capture/flow/stream.h"

/* What a flow had counted before a request. */
struct stream_before renew_before(const struct flow *f);

/* A request was told as the first of what is sent again: perhaps it is not. */
void renew_doubt(struct stream *s, const struct packet *p, const struct stream_before *before);

/* An answer of the peer decides, before it is looked at. Those that were told as sent again are a
 * new connection then, in f and ev. */
void renew_decide(struct stream *s, const struct packet *p, struct flow *f, struct flow_events *ev);

/* Whether an answer to another QP fits what is sent since; and then it decides likewise. */
bool renew_fits(const struct stream *s, const struct packet *p);
void renew_settle(struct stream *s, struct flow *f, struct flow_events *ev);

/* The QP number is used anew: nothing of before holds, but for its PSNs. */
void renew_begin(struct stream *s);

#endif
