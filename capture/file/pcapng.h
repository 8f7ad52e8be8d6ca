/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads interface data of a pcapng file that libpcap ignores: drop counters in interface statistics
 * blocks, and the link speed.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include "capture/flow/summary.h"

#define PCAPNG_INTERFACES     64 /* per section; further ones are not counted */
#define PCAPNG_STATISTICS_MAX 1024U

/* Interfaces of a section are numbered from 0. Counts are cumulative: the last block is valid. */
struct pcapng_section {
	bool swapped;
	bool has_drops[PCAPNG_INTERFACES];
	uint64_t dropped[PCAPNG_INTERFACES];
};

/* Scans a stream for the counters. Members are private. */
struct pcapng_tap {
	struct pcapng_section section;
	bool begun;	/* inside a section */
	bool invalid;	/* not pcapng, or malformed from here on */
	bool has_drops; /* from finished sections, as dropped */
	uint64_t dropped;
	uint32_t step_ns;   /* finest clock step so far, 1 or 1000; 0 = none. Also of a pcap */
	uint32_t link_mbps; /* slowest link so far; 0 = none */
	uint32_t skip;
	size_t need, have; /* of buf */
	uint8_t buf[PCAPNG_STATISTICS_MAX + 12];
};

void pcapng_tap_init(struct pcapng_tap *t);
/* Scans the next bytes of the stream, in pieces of any size. */
void pcapng_tap_feed(struct pcapng_tap *t, const uint8_t *bytes, size_t len);
/* Returns the counters so far, as pcapng_drops(). */
enum capture_drops pcapng_tap_drops(const struct pcapng_tap *t, uint64_t *dropped);

/*
 * Walks the blocks of the regular file fd from its start; keeps the file position. Sums the last
 * drop counts of all interfaces. DROPS_UNKNOWN: not pcapng, or no drop counts. A truncated file
 * counts up to its end.
 */
enum capture_drops pcapng_drops(int fd, uint64_t *dropped);

/* Reads the clock step and link speed from the start of the regular file fd. */
void pcapng_read_head(int fd, uint32_t *step_ns, uint32_t *link_mbps);

#endif
