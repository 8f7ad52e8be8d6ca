/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second look after an apply. An LLDP agent writes again with the next LLDPDU, up to 30 s later
 * (802.1AB msgTxInterval), and the neighbour may want something else than the profile.
 */
#ifndef CMD_APPLY_VERIFY_H
#define CMD_APPLY_VERIFY_H

#include "cmd/apply/plan_text.h"
#include "dcb/drift/writers.h"
#include "probe/host/snapshot.h"

/* One interval and the time a slow agent needs. */
#define SETTLE_MS   35000
#define SETTLE_AUTO UINT32_MAX

/* How long to wait where nobody said it: SETTLE_MS where an agent has a say, else 0. */
unsigned int apply_verify_wait_ms(const struct plans *plans, const struct profile *profile);

/* The second look has to end before the time to confirm, or it sees what was undone. within_s: 0 is
 * none; `from`: the option or key that says it. -EINVAL. */
int apply_verify_check_wait(unsigned int settle_ms, unsigned int within_s, const char *from,
			    struct err *e);

/*
 * Waits ms, then reads the ports, what an agent was told, and the neighbours again. What is not as
 * the profile says is told on stdout, or appended to `told` as texts when that is not NULL, and
 * counted in *findings; of neighbours as dcbx.peer says. -EINTR when a signal ended the wait.
 */
int apply_verify(struct dcb *dcb, const struct plans *plans, const struct profile *profile,
		 const char *interface, unsigned int ms, json_t *texts, unsigned int *findings,
		 struct err *e);

/* What the second look has seen; all of it borrowed. */
struct verify_input {
	const struct profile *profile;
	const struct plans *first, *again;   /* what was applied, and a plan made anew */
	const struct snapshot *live, *heard; /* what the kernel has, and neighbours in `peer` */
	const struct drift_writers *writers;
	bool lldp_agent_runs;
};

/* The judgement of apply_verify(): pure, but that it prints where told is NULL. The number of
 * findings. */
unsigned int apply_verify_judge(const struct verify_input *seen, json_t *texts);

#endif
