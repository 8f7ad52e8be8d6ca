/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pcapng file says of its interfaces, and libpcap reads over: the drop counters in interface
 * statistics blocks, and the speed of the link.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include "capture/flow/summary.h"

#define PCAPNG_INTERFACES     64 /* of a section; more are not counted */
#define PCAPNG_STATISTICS_MAX 1024U

/* A section's interfaces are numbered from 0; counts of an interface grow, the last block holds. */
struct pcapng_section {
	bool swapped;
	bool has_drops[PCAPNG_INTERFACES];
	uint64_t dropped[PCAPNG_INTERFACES];
};

/* Stands beside a stream and looks for the counters in it. The members are its own. */
struct pcapng_tap {
	struct pcapng_section section;
	bool begun;	/* the first section */
	bool invalid;	/* no pcapng, or it makes no sense from here on */
	bool has_drops; /* by sections that have ended, as dropped */
	uint64_t dropped;
	uint32_t step_ns; /* the finest that was said so far, 1 or 1000; 0 = none. Of a pcap, too */
	uint32_t link_mbps; /* the slowest that was said so far; 0 = none */
	uint32_t skip;
	size_t need, have; /* of buf */
	uint8_t buf[PCAPNG_STATISTICS_MAX + 12];
};

void pcapng_tap_init(struct pcapng_tap *t);
/* The next bytes of the stream, in pieces of any size. */
void pcapng_tap_feed(struct pcapng_tap *t, const uint8_t *bytes, size_t len);
/* What was found so far, as pcapng_drops(). */
enum capture_drops pcapng_tap_drops(const struct pcapng_tap *t, uint64_t *dropped);

/*
 * Walks the blocks of the regular file fd from its start; the file position is kept. Sums the last
 * drop counts of each interface. DROPS_UNKNOWN: no pcapng, or no statistics with drop counts in it.
 * A file that breaks off counts up to there.
 */
enum capture_drops pcapng_drops(int fd, uint64_t *dropped);

/* The clock that the regular file fd begins with, and the speed of its interfaces, as the tap has
 * them. */
void pcapng_read_head(int fd, uint32_t *step_ns, uint32_t *link_mbps);

#endif
