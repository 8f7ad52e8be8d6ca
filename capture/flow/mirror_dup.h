/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies that trail behind: a mirror of two ports of one switch shows each packet twice with the
 * same bytes, and the second time others came between. A sender that goes back sends nothing new
 * before it sent all again, so what comes again in step with what is new is a copy.
 */
#ifndef CAPTURE_MIRROR_DUP_H
#define CAPTURE_MIRROR_DUP_H

#include "capture/flow/requester.h"

/* A request that was there before, and that no refusal or timeout brings again: when it shows that
 * such requests are copies, they are told so in f and ev. */
void mirror_dup_add(struct requester_state *s, const struct psn_request *r, struct flow *f,
		    uint64_t before_ns, struct flow_events *ev);

/* Whether a request that was there before is one more copy of a trail that is known. */
bool mirror_dup_follows_known(struct requester_state *s, const struct psn_request *r);

/* Whether a datagram is one of the last that were kept; with those of many senders, each its own
 * way, the way alone tells no copy. Of what is no UD, true. */
bool mirror_dup_has_datagram(const struct requester_state *s, const struct packet *p);
void mirror_dup_keep_datagram(struct requester_state *s, const struct packet *p);

#endif
