/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The re-check after an apply. An LLDP agent may write again with the next LLDPDU, up to 30 s later
 * (802.1AB msgTxInterval), and the neighbour may advertise other settings than the profile.
 */
#ifndef CMD_APPLY_VERIFY_H
#define CMD_APPLY_VERIFY_H

#include "cmd/apply/plan_text.h"
#include "dcb/drift/writers.h"
#include "probe/host/snapshot.h"

/* One msgTxInterval and 5 s for a slow agent. */
#define SETTLE_MS   35000
#define SETTLE_AUTO UINT32_MAX

/* Returns the default wait: SETTLE_MS if a running LLDP agent manages a port, else 0. */
unsigned int apply_verify_wait_ms(const struct plans *plans, const struct profile *profile);

/* Checks that the re-check ends before the time to confirm: else it would see the undone settings.
 * within_s: 0 is none; `from`: the option or key that sets it. -EINVAL. */
int apply_verify_check_wait(unsigned int settle_ms, unsigned int within_s, const char *from,
			    struct err *e);

/*
 * Waits ms, then reads the ports, the settings of the LLDP agent, and the neighbours again. Prints
 * each difference from the profile on stdout, or appends it to `texts` when that is not NULL, and
 * counts it in *findings; neighbours count as dcbx.peer says. -EINTR: a signal ended the wait.
 */
int apply_verify(struct dcb *dcb, const struct plans *plans, const struct profile *profile,
		 const char *interface, unsigned int ms, json_t *texts, unsigned int *findings,
		 struct err *e);

/* Input of the re-check; all borrowed. */
struct verify_input {
	const struct profile *profile;
	const struct plans *first, *again;   /* the applied plan, and a new one */
	const struct snapshot *live, *heard; /* kernel state, and received neighbours */
	const struct drift_writers *writers;
	bool lldp_agent_runs;
};

/* The comparison of apply_verify(): pure, except that it prints if texts is NULL. Returns the
 * number of findings. */
unsigned int apply_verify_judge(const struct verify_input *seen, json_t *texts);

#endif
