/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies that trail behind: a mirror of two ports of one switch shows each packet twice with the
 * same bytes, and the second time others came between. A sender that goes back sends nothing new
 * before it sent all again, so what comes again in step with what is new is a copy.
 */
#ifndef CAPTURE_TRAIL_H
#define CAPTURE_TRAIL_H

#include "capture/flow/stream.h"

/* A request that was there before, and that no refusal or timeout brings again: when it shows that
 * such requests are copies, they are told so in f and ev. */
void trail_note(struct stream *s, const struct psn_request *r, struct flow *f, uint64_t before_ns,
		struct flow_events *ev);

/* Whether a request that was there before is one more copy of a trail that is known. */
bool trail_is_copy(struct stream *s, const struct psn_request *r);

/* Whether a datagram is one of the last that were kept; with those of many senders, each its own
 * way, the way alone tells no copy. Of what is no UD, true. */
bool trail_has_datagram(const struct stream *s, const struct packet *p);
void trail_keep_datagram(struct stream *s, const struct packet *p);

#endif
