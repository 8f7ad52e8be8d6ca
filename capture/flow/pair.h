/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which two flows are the two ways of one connection. Packets name only the QP they go to, so a
 * response is matched with the request that has its PSN between the same two hosts; one match is
 * enough where the UDP source port is the same both ways, as it is when it was derived from both QP
 * numbers, and two in a row otherwise. Bounded: of two requests that fall together the newer stays.
 */
#ifndef CAPTURE_PAIR_H
#define CAPTURE_PAIR_H

#include <stdbool.h>
#include <stdint.h>

struct pair_table; /* opaque */

#define PAIR_NONE UINT32_MAX

/* NULL on -ENOMEM. */
struct pair_table *pair_table_new(void);
void pair_table_free(struct pair_table *t);

/* Flow `id` sent a request; `hosts` stands for its two addresses in that order. */
void pair_note(struct pair_table *t, uint64_t hosts, uint32_t psn, uint16_t sport, uint32_t id);

/* The flow whose request a response answers, to be checked by the caller; PAIR_NONE when it is not
 * known. `hosts` as for the request. *same_port: the source ports are equal. */
uint32_t pair_find(const struct pair_table *t, uint64_t hosts, uint32_t psn, uint16_t sport,
		   bool *same_port);

/* The numbers of the flows changed. */
void pair_forget(struct pair_table *t);

#endif
