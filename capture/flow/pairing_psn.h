/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which two flows are the two ways of one connection. Packets name only the QP they go to, so a
 * response is matched with the request that has its PSN between the same two hosts; one match is
 * enough where the UDP source port is the same both ways, as it is when it was derived from both QP
 * numbers, and two in a row otherwise. Bounded: of two requests that fall together the newer stays.
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

/* Flow `id` sent a request; `hosts` stands for its two addresses in that order. */
void pairing_psn_add(struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
		     uint32_t id);

/* The flow whose request a response answers, to be checked by the caller; PAIRING_NONE when it is
 * not known. `hosts` as for the request. *same_port: the source ports are equal. */
uint32_t pairing_psn_find(const struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
			  bool *same_port);

/* The numbers of the flows changed. */
void pairing_psn_clear(struct pairing_psn *t);

#endif
