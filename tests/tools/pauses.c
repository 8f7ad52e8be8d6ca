/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priority 3 is stopped for 100 to 300 us, renewed once, and let go on; 802.1Q clause 36. With
 * one in four priority 5 is stopped too, for 5 us at 10 Gbit/s, and nothing ends that. Now
 * and then there is an 802.3x pause of all, which stops nobody here.
 */
#include "tests/tools/pauses.h"

#define PRIO	     3
#define PRIO_RAN_OUT 5
#define RARE_QUANTA  100

void gen_pauser_init(struct gen_pauser *p, struct gen_rng *r, uint64_t begin_ns)
{
	*p = (struct gen_pauser){.due_ns = begin_ns + 200000 + gen_below(r, 200000)};
}

static uint32_t say(struct gen_pauser *p, uint8_t enable, uint16_t quanta3,
		    struct capgen_pauses *truth, uint8_t bytes[CAPGEN_FRAME_MAX])
{
	const uint16_t quanta[8] = {[PRIO] = quanta3, [PRIO_RAN_OUT] = RARE_QUANTA};

	truth->pfc_frames++;
	for (unsigned int i = 0; i < 8; i++) {
		if (!(enable >> i & 1))
			continue;
		truth->named[i]++;
		if (i == PRIO_RAN_OUT && p->last_ns[i]) {
			truth->ran_out[i]++;
			p->last_ns[i] = 0;
		}
		if (p->last_ns[i]) {
			truth->ns[i] += p->due_ns - p->last_ns[i];
			if (p->due_ns - p->first_ns[i] > truth->longest[i])
				truth->longest[i] = p->due_ns - p->first_ns[i];
		} else {
			truth->begun[i]++;
			p->first_ns[i] = p->due_ns;
		}
		p->last_ns[i] = quanta[i] ? p->due_ns : 0;
	}
	return gen_pause_build(enable, quanta, bytes);
}

uint32_t gen_pauser_step(struct gen_pauser *p, struct gen_rng *r, struct capgen_pauses *truth,
			 bool *ended, uint8_t bytes[CAPGEN_FRAME_MAX])
{
	static const uint16_t one[8] = {1};
	uint32_t half = 50000 + gen_below(r, 100000), len;

	*ended = false;
	if (p->end_ns == p->due_ns) {
		len = say(p, 1 << PRIO, 0, truth, bytes);
		*ended = true;
		p->due_ns += 500000 + gen_below(r, 500000);
	} else if (p->since_ns && p->due_ns < p->end_ns) {
		len = say(p, 1 << PRIO, 0xffff, truth, bytes);
		p->due_ns = p->end_ns;
	} else if (!gen_below(r, 8)) {
		truth->pause_frames++;
		len = gen_pause_build(0, one, bytes);
		p->due_ns += 10000;
	} else {
		len = say(p, (uint8_t)(1 << PRIO | (!gen_below(r, 4)) << PRIO_RAN_OUT), 0xffff,
			  truth, bytes);
		p->since_ns = p->due_ns;
		p->end_ns = p->due_ns + 2 * half;
		p->due_ns += half;
	}
	return len;
}

bool gen_pauser_stops(const struct gen_pauser *p, const struct gen_path *path, uint64_t due_ns)
{
	return path->vlans && due_ns >= p->since_ns && due_ns < p->end_ns;
}
