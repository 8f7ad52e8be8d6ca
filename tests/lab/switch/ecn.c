/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RED by the length of the queue at this moment, as switches do for DCQCN: no average.
 */
#include "tests/lab/switch/ecn.h"

uint32_t ecn_probability_ppm(const struct ecn_config *c, uint64_t queue_bytes)
{
	uint64_t pmax = (uint64_t)c->pmax_percent * (PPM / 100);

	if (!c->on || queue_bytes <= c->kmin_bytes)
		return 0;
	if (queue_bytes > c->kmax_bytes)
		return PPM;
	return pmax * (queue_bytes - c->kmin_bytes) / (c->kmax_bytes - c->kmin_bytes);
}

enum ecn_verdict ecn_judge(const struct ecn_config *c, uint64_t queue_bytes, uint8_t ecn,
			   uint32_t random)
{
	uint64_t ppm = ecn_probability_ppm(c, queue_bytes);

	if (((uint64_t)random * PPM) >> 32 >= ppm)
		return ECN_PASS;
	if (ecn)
		return ECN_MARK;
	return c->spare ? ECN_PASS : ECN_DROP;
}
