/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `probe server` and `probe client` share: the port, the token, and the two times after which
 * a silent other end is gone.
 */
#ifndef CMD_PROBE_H
#define CMD_PROBE_H

#include "probe/coord/two_ended.h"
#include "probe/io/gate.h"
#include "probe/io/token.h"
#include "reports/engine/rules.h"

struct folder;

#define PROBE_PORT     18515 /* the one perftest's users have opened */
#define PROBE_ALIVE_MS 500
#define PROBE_LEASE_MS 3000
/* More for a client whose host answers: rdma_rxe of Linux 6.1 kept the processor of an emulated one
 * for 27 s. */
#define PROBE_STARVED_MS 60000

#define PROBE_TOKEN_VARIABLE "ROCECHECK_PROBE_TOKEN"

/* The exit code of a verdict. */
int probe_exit_for(enum verdict v);

/* An incast from these hosts, each with its token, to this one, reported; returns the exit code.
 * w->arg is a struct probe_talk. record: the folder of --out, path NULL without one. */
int probe_run_incast(const struct two_ended_wish *w, const char *const *host,
		     const char *const *token, unsigned int count, const struct folder *record);

/* Path of this binary. */
void probe_self(char *buf, size_t size);

#endif
