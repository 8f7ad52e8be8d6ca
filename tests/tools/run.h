/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run while it is under way: what its parts share. For capgen.c, setup.c and counts.c alone.
 */
#ifndef TESTS_TOOLS_RUN_H
#define TESTS_TOOLS_RUN_H

#include "tests/tools/pauses.h"
#include "tests/tools/script.h"

#define PSN_ROUND UINT64_C(0x1000000)
#define PAUSE_NS  3000 /* a burst of one requester follows so long after those of all others */

/* Both ways of a connection. */
struct link {
	uint32_t manager[2]; /* flows to QP 1 */
	uint8_t waiting;     /* requesters that wait for it to be made */
	bool down, again;
};

struct held {
	uint64_t last_ns, since_ns,
		end_ns; /* since: of a pause that it may have waited for, or 0 */
};

struct tunnel {
	uint32_t sequence; /* of the next packet */
	uint32_t missed;   /* numbers before it that were not captured */
	bool begun;
};

struct run {
	const struct capgen_options *o;
	capgen_put *put;
	void *arg;
	struct capgen_truth *truth;
	struct gen_rng rng;
	struct gen_stream *stream;
	struct gen_path *path; /* by flow */
	struct link *link;
	struct held *held; /* by flow */
	struct gen_pauser pauser;
	uint32_t *heap, heap_count;
	struct tunnel tunnel[GEN_TUNNELS];
	struct gen_burst *spare[64];
	unsigned int spare_count;
};

/* Everything that is there before the first frame. -ENOMEM; to be cleared in any case. */
int run_set_up(struct run *r);
void run_clear(struct run *r);

/* Makes a heap of what lies below `at`. */
void run_sift_down(struct run *r, uint32_t at);

/* Counts a frame: a step of requester id, which belongs to flow `index` and was kept whole or not.
 */
void run_count(struct run *r, uint32_t id, const struct gen_step *step, uint32_t index, bool whole);

/* The number of the next packet in a tunnel. Counts it. */
uint32_t run_number(struct run *r, uint8_t tunnel);

/* The step that was counted last shows the fault of its burst. -ENOMEM. */
int run_note_event(struct run *r, const struct gen_burst *b, uint32_t flow);

/* Priority 3 may go on: who sent shortly before, and nothing since, was held. */
void run_end_pause(struct run *r);

#endif
