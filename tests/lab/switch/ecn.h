/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RED with marking: the probability curve between Kmin and Kmax and what it does to a frame.
 * RFC 3168 s5: ECN-capable frames are marked, others are dropped.
 */
#ifndef TESTS_LAB_SWITCH_ECN_H
#define TESTS_LAB_SWITCH_ECN_H

#include "profiles/base/base.h"

#define PPM 1000000u

struct ecn_config {
	bool on;
	bool spare; /* frames that are not ECN capable pass */
	unsigned int kmin_bytes, kmax_bytes, pmax_percent;
};

enum ecn_verdict { ECN_PASS, ECN_MARK, ECN_DROP };

/* In parts per million: 0 up to Kmin, Pmax at Kmax, all of it above. */
uint32_t ecn_probability_ppm(const struct ecn_config *c, uint64_t queue_bytes);

/* random: evenly distributed over 32 bits. ecn: the two bits of the header. */
enum ecn_verdict ecn_judge(const struct ecn_config *c, uint64_t queue_bytes, uint8_t ecn,
			   uint32_t random);

#endif
