/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects delayed mirror duplicates: a mirror of two ports of a switch captures each packet twice,
 * with other packets between. A sender that goes back sends no new requests until it has
 * retransmitted all, so repeated requests that advance together with new ones are duplicates.
 */
#ifndef CAPTURE_MIRROR_DUP_H
#define CAPTURE_MIRROR_DUP_H

#include "capture/flow/requester.h"

/* Accounts a repeated request that follows no NAK or timeout. Once such requests prove to be
 * duplicates, corrects f and ev. */
void mirror_dup_add(struct requester_state *s, const struct psn_request *r, struct flow *f,
		    uint64_t before_ns, struct flow_events *ev);

/* True when a repeated request continues a known series of duplicates. */
bool mirror_dup_follows_known(struct requester_state *s, const struct psn_request *r);

/* True when a datagram is one of the last that were kept, or not UD. For datagrams of many senders
 * on different paths, the path alone proves no duplicate. */
bool mirror_dup_has_datagram(const struct requester_state *s, const struct packet *p);
void mirror_dup_keep_datagram(struct requester_state *s, const struct packet *p);

#endif
