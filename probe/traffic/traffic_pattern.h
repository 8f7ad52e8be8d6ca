/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payload of a traffic message, by which the receiver detects flipped bits and correct bytes in the
 * wrong place: a header of 40 bytes {magic, kind, seed, sequence, flow, slot, length, check}, then
 * 64-bit words mixed from seed, flow, sequence and index, little endian. The last word is truncated
 * to the length.
 */
#ifndef PROBE_TRAFFIC_PATTERN_H
#define PROBE_TRAFFIC_PATTERN_H

#include "profiles/base/base.h"

#define PATTERN_HEADER_BYTES 40

enum pattern_kind {
	PATTERN_DATA = 1,
};

/* Identity of a message among all messages of all runs. */
struct pattern_id {
	uint64_t seed, sequence;
	uint32_t slot;
	uint32_t kind; /* enum pattern_kind */
	uint32_t flow; /* number of the QP within the run */
};

enum pattern_fault {
	PATTERN_OK,
	PATTERN_FOREIGN,  /* no valid header, or a header of another run */
	PATTERN_FLOW,	  /* a message of another flow of this run */
	PATTERN_SEQUENCE, /* a message of this flow, but not the expected one */
	PATTERN_SLOT,	  /* the right message in the wrong slot */
	PATTERN_BYTES,	  /* a byte differs */
};

/* Fills length bytes (at least PATTERN_HEADER_BYTES). */
void pattern_fill(void *buf, uint32_t length, const struct pattern_id *id);

/* Fills only the header of a message of length bytes. */
void pattern_fill_header(void *buf, uint32_t length, const struct pattern_id *id);

/* Compares every byte. On a fault, *offset is the offset of the first wrong byte. */
enum pattern_fault pattern_check(const void *buf, uint32_t length, const struct pattern_id *id,
				 uint64_t *offset);

/* Compares only the header. */
enum pattern_fault pattern_check_header(const void *buf, uint32_t length,
					const struct pattern_id *id, uint64_t *offset);

/* Reads kind, flow, slot and sequence from the header. -EINVAL without a valid header of this seed.
 * Does not check the payload. */
int pattern_peek(const void *buf, uint32_t length, uint64_t seed, struct pattern_id *id);

const char *pattern_fault_text(enum pattern_fault fault);

#endif
