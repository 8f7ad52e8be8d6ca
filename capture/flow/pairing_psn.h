/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs the two flows of one connection by PSN. A packet names only its destination QP, so a
 * response is matched with a request of the same PSN between the same hosts. One match is enough if
 * the UDP source port is equal in both directions (derived from both QP numbers), else two in a
 * row. Bounded: a newer request replaces an older one in its bucket.
 */
#ifndef CAPTURE_PAIRING_PSN_H
#define CAPTURE_PAIRING_PSN_H

#include <stdbool.h>
#include <stdint.h>

struct pairing_psn; /* opaque */

#define PAIRING_NONE UINT32_MAX

/* NULL on -ENOMEM. */
struct pairing_psn *pairing_psn_new(void);
void pairing_psn_free(struct pairing_psn *t);

/* Notes a request of flow `id`; `hosts`: flow_hash() of its addresses. */
void pairing_psn_add(struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
		     uint32_t id);

/* Returns the flow whose request a response answers (the caller verifies it), or PAIRING_NONE.
 * `hosts` as for the request. *same_port: the source ports are equal. */
uint32_t pairing_psn_find(const struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
			  bool *same_port);

/* Forgets all requests, because flows were renumbered. */
void pairing_psn_clear(struct pairing_psn *t);

#endif
