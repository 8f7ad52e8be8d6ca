/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of a rollout, for rollout*.c: the links, and where each host stands.
 */
#ifndef PROBE_ROLLOUT_INSIDE_H
#define PROBE_ROLLOUT_INSIDE_H

#include <stdatomic.h>

#include "probe/coord/agent_link.h"
#include "probe/rollout/rollout.h"

struct engine;

enum rollout_step {
	STEP_IDLE, /* not begun, or ended */
	STEP_APPLY,
	STEP_CHECK, /* plans again: it must be empty */
	STEP_CONFIRM,
	STEP_UNDO,
	STEP_AWAY, /* lost: waits before it connects again */
	STEP_RETURN,
	STEP_ASK, /* came back: what became of its transaction? */
};

/* One host on its way. */
struct rollout_way {
	struct agent_link link;
	enum rollout_step step;
	char last_tx[32]; /* its newest transaction before us, empty = none */
	bool asked;	  /* it was told to apply */
	bool sure;	  /* it came back and need not be confirmed any more */
	bool undoing;	  /* whatever it says of itself, it is to be undone */
	uint64_t begin_ms, again_ms, give_up_ms;
	char why[ROLLOUT_REASON_MAX]; /* it is undone, or was lost */
};

struct rollout_inside {
	const struct fabric *f;
	const struct engine *engine;
	const atomic_int *stop;
	rollout_progress *progress;
	void *arg;
	const struct rollout_how *how;
	struct loop *loop;
	struct loop_timer *heartbeat;
	struct rollout_way *way; /* of each host */
	bool look_again;	 /* one has ended: another may begin */
};

void rollout_say(const struct rollout *r, unsigned int h, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Starts the agent of a host and waits for nothing. */
void rollout_link(struct rollout *r, unsigned int h);

/* What became of the link that is not ready: in one line. */
void rollout_link_reason(const struct agent_link *k, char *buf, size_t size);

/* Begins with a host. */
void rollout_begin(struct rollout *r, unsigned int h);

/* Goes on with a host whose link is not busy. */
void rollout_advance(struct rollout *r, unsigned int h);

#endif
