/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a traffic message holds, so that the receiver can tell not only a flipped bit but the right
 * bytes in the wrong place: a header of 40 bytes {magic, kind, seed, sequence, flow, slot, length,
 * check} and 64-bit words mixed from seed, flow, sequence and index, little endian; a length that
 * is no multiple of 8 ends in a cut word.
 */
#ifndef PROBE_TRAFFIC_PATTERN_H
#define PROBE_TRAFFIC_PATTERN_H

#include "profiles/base/base.h"

#define PATTERN_HEADER_BYTES 40

enum pattern_kind {
	PATTERN_DATA = 1,
};

/* What makes one message different from all others of all runs. */
struct pattern_id {
	uint64_t seed, sequence;
	uint32_t slot;
	uint32_t kind; /* enum pattern_kind */
	uint32_t flow; /* number of the QP within the run */
};

enum pattern_fault {
	PATTERN_OK,
	PATTERN_FOREIGN,  /* no header of ours, or of another run */
	PATTERN_FLOW,	  /* a whole message of another flow of this run */
	PATTERN_SEQUENCE, /* a whole message, but another one than expected here */
	PATTERN_SLOT,	  /* the right message in the wrong slot */
	PATTERN_BYTES,	  /* a byte differs */
};

/* Fills length bytes (at least PATTERN_HEADER_BYTES). */
void pattern_fill(void *buf, uint32_t length, const struct pattern_id *id);

/* The header alone, of a message of length bytes. */
void pattern_fill_header(void *buf, uint32_t length, const struct pattern_id *id);

/* Compares every byte. On a fault *offset is that of the first wrong byte. */
enum pattern_fault pattern_check(const void *buf, uint32_t length, const struct pattern_id *id,
				 uint64_t *offset);

/* The same for the header alone: which message it is, wherever its bytes are not looked at. */
enum pattern_fault pattern_check_header(const void *buf, uint32_t length,
					const struct pattern_id *id, uint64_t *offset);

/* Reads kind, flow, slot and sequence of a message of this run, to see which one it claims to be:
 * -EINVAL when there is no sound header of this seed. The rest is not looked at. */
int pattern_peek(const void *buf, uint32_t length, uint64_t seed, struct pattern_id *id);

const char *pattern_fault_text(enum pattern_fault fault);

#endif
