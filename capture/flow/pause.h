/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long PFC held a priority, per sender: from the first pause frame to the frame that
 * ends the pause. 802.1Q clause 36. A pause that expires has no visible end, because a capture
 * rarely knows the link speed: it is counted, but its time after the last frame is not.
 */
#ifndef CAPTURE_PAUSE_H
#define CAPTURE_PAUSE_H

#include "capture/decode/packet.h"

#define PAUSE_PRIOS   8
#define PAUSE_SENDERS 4 /* a link has two; a further one replaces the longest idle one */

/* Assumed link speed when it is unknown. */
#define PAUSE_DEFAULT_MBPS 10000U

/* Source of the link speed. */
enum pause_speed_source {
	PAUSE_SPEED_ASSUMED,
	PAUSE_SPEED_GIVEN, /* by --link-speed */
	PAUSE_SPEED_FILE,
	PAUSE_SPEED_SOURCES,
};

struct pause_sender {
	uint8_t smac[6];
	bool paused[PAUSE_PRIOS];
	uint64_t last_ns; /* of its last frame */
	uint64_t since_ns[PAUSE_PRIOS], until_ns[PAUSE_PRIOS], refreshed_ns[PAUSE_PRIOS];
	uint64_t since_frame[PAUSE_PRIOS], refreshed_frame[PAUSE_PRIOS];
	uint64_t ns[PAUSE_PRIOS]; /* of all its pauses */
};

/* No pointers. All zero: no frame yet. */
struct pause_track {
	bool begun; /* a frame was seen */
	struct pause_sender sender[PAUSE_SENDERS];
	/* The last pause with a visible end. */
	struct {
		uint8_t smac[6];
		uint64_t since_ns, end_ns;
	} ended[PAUSE_PRIOS];
};

struct pause_extent {
	uint64_t ns;
	uint64_t first_frame, last_frame; /* first and last frame of it */
};

struct pause_totals {
	uint64_t link_mbps; /* to convert quanta; 0 = PAUSE_DEFAULT_MBPS */
	enum pause_speed_source speed_source;
	uint64_t first_ns, last_ns;    /* of PFC frames */
	uint64_t pauses[PAUSE_PRIOS];  /* begun */
	uint64_t ran_out[PAUSE_PRIOS]; /* expired, without a frame that ends them */
	uint64_t ns[PAUSE_PRIOS];      /* of all senders */
	uint64_t most_ns[PAUSE_PRIOS]; /* of the sender with the longest total */
	uint8_t most_smac[PAUSE_PRIOS][6];
	struct pause_extent longest[PAUSE_PRIOS];	/* continuously renewed pause */
	struct pause_extent first_ran_out[PAUSE_PRIOS]; /* first expired pause: frames only */
};

/* Accounts a packet of kind PACKET_PFC. */
void pause_add(struct pause_track *t, const struct packet *p, struct pause_totals *sum);

/* Returns how long a pause held the flow of a tagged packet, between its packet at last_ns and
 * this one: the flow sent shortly before a pause of its priority and nothing until its end. 0 =
 * not held. */
uint64_t pause_held_ns(const struct pause_track *t, const struct packet *p, uint64_t last_ns);

#endif
