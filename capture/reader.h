/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an input: decodes its frames, accounts them to flows and collects LLDP. Commands and agents
 * call it step by step and get a summary at any time.
 */
#ifndef CAPTURE_READER_H
#define CAPTURE_READER_H

#include "capture/file/input.h"

struct reader {
	struct input *input;
	struct flow_table *flows;
	struct lldp_peer lldp_peer;
	uint64_t frames;
	const uint8_t *data; /* the frame of the last packet, until the next step */
	/* Decoded frames, several of a plain file; those before `at` are done. */
	unsigned int count, at;
	struct record record[FLOW_AHEAD];
	struct packet packet[FLOW_AHEAD];
};

/* Owns s from the call on, also on failure. max_flows as for flow_table_new(). -ENOMEM. The caller
 * clears. */
int reader_init(struct reader *r, struct input *s, unsigned int max_flows, struct err *e);
void reader_clear(struct reader *r);

/* Sets the link speed for pauses if the input does not state one. Call before the first frame. */
void reader_assume_link_speed(struct reader *r, uint32_t mbps);

/* Reads one frame, as input_next(): 1 and a packet, valid until the next step, 0, or -errno. A
 * broken LLDP frame is a malformed packet. */
int reader_next(struct reader *r, int timeout_ms, const struct packet **p, struct err *e);

/* Sums up all frames so far, with the drops of the input. -ENOMEM. The caller clears the summary.
 */
int reader_summary(struct reader *r, struct capture_summary *s);

#endif
