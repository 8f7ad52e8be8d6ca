/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long priority flow control held a priority: from the first frame that stops it to the one
 * that lets it go on, per sender. 802.1Q clause 36. A pause that only ran out has no end that could
 * be seen, because its quanta are bit times of a link whose speed a capture hardly ever knows: it
 * is counted, and its time after the last frame is not.
 */
#ifndef CAPTURE_PAUSE_H
#define CAPTURE_PAUSE_H

#include "capture/decode/packet.h"

#define PAUSE_PRIOS   8
#define PAUSE_SENDERS 4 /* a link has two; of more the one that was quiet longest is forgotten */

/* The slowest link that is thought of, when nobody says its speed. */
#define PAUSE_DEFAULT_MBPS 10000U

/* Who says how fast the link is. */
enum pause_speed_source {
	PAUSE_SPEED_ASSUMED,
	PAUSE_SPEED_GIVEN, /* by the user */
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

/* No pointers. All zero: nothing was seen. */
struct pause_track {
	bool begun; /* a frame was taken */
	struct pause_sender sender[PAUSE_SENDERS];
	/* The last pause that had an end. */
	struct {
		uint8_t smac[6];
		uint64_t since_ns, end_ns;
	} ended[PAUSE_PRIOS];
};

struct pause_extent {
	uint64_t ns;
	uint64_t first_frame, last_frame; /* that showed it */
};

struct pause_totals {
	uint64_t link_mbps; /* that quanta are judged by; 0 = PAUSE_DEFAULT_MBPS */
	enum pause_speed_source speed_source;
	uint64_t first_ns, last_ns;    /* of frames that pause or let go on */
	uint64_t pauses[PAUSE_PRIOS];  /* begun */
	uint64_t ran_out[PAUSE_PRIOS]; /* of them: without a frame that ends them */
	uint64_t ns[PAUSE_PRIOS];      /* of all senders */
	uint64_t most_ns[PAUSE_PRIOS]; /* of the sender that paused for longest, */
	uint8_t most_smac[PAUSE_PRIOS][6];
	struct pause_extent longest[PAUSE_PRIOS]; /* pause, as long as it was renewed in time */
	struct pause_extent
		first_ran_out[PAUSE_PRIOS]; /* the first that ran out: its frames, no time */
};

/* Takes a packet of kind PACKET_PFC. */
void pause_add(struct pause_track *t, const struct packet *p, struct pause_totals *sum);

/* How long the flow of a tagged packet was held between its packet at last_ns and this one: it sent
 * shortly before a pause of its priority, and nothing until the end. 0 = it was not. */
uint64_t pause_held_ns(const struct pause_track *t, const struct packet *p, uint64_t last_ns);

#endif
