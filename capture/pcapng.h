/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drop counters of a pcapng file, which libpcap reads over: interface statistics blocks.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include "capture/summary.h"

/*
 * Walks the blocks of the regular file fd from its start; the file position is kept. Sums the last
 * drop counts of each interface. DROPS_UNKNOWN: no pcapng, or no statistics with drop counts in it.
 * A file that breaks off counts up to there.
 */
enum capture_drops pcapng_drops(int fd, uint64_t *dropped);

#endif
