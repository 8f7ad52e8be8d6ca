/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pauses of a generated capture: one switch stops priority 3 for a while that is known, every
 * now and then, and priority 5 without ever letting it go on.
 */
#ifndef TESTS_TOOLS_PAUSES_H
#define TESTS_TOOLS_PAUSES_H

#include "tests/tools/script.h"

struct gen_pauser {
	uint64_t due_ns;   /* the next frame; INT64_MAX = never */
	uint64_t since_ns; /* of the pause that is on; 0 = none is */
	uint64_t end_ns;
	/* Of the pause that a priority is in: its last frame, 0 = it is in none, and its first. */
	uint64_t last_ns[8], first_ns[8];
};

void gen_pauser_init(struct gen_pauser *p, struct gen_rng *r, uint64_t begin_ns);

/* The frame that is due: its length. Counts it. *ended: it let priority 3 go on. */
uint32_t gen_pauser_step(struct gen_pauser *p, struct gen_rng *r, struct capgen_pauses *truth,
			 bool *ended, uint8_t bytes[CAPGEN_FRAME_MAX]);

/* Whether who sends on this path at due_ns has to wait, until p->end_ns. */
bool gen_pauser_stops(const struct gen_pauser *p, const struct gen_path *path, uint64_t due_ns);

#endif
