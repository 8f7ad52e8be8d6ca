/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `probe server` and `probe client` share: the port, the token, and the two times after which
 * a silent other end is gone.
 */
#ifndef CMD_PROBE_H
#define CMD_PROBE_H

#include "probe/gate.h"
#include "probe/two_ended.h"
#include "reports/rules.h"

#define PROBE_PORT     18515 /* the one perftest's users have opened */
#define PROBE_ALIVE_MS 500
#define PROBE_LEASE_MS 3000
/* More for a client whose host answers: rdma_rxe of Linux 6.1 kept the processor of an emulated one
 * for 27 s. */
#define PROBE_STARVED_MS 60000

#define PROBE_TOKEN_VARIABLE "ROCECHECK_PROBE_TOKEN"

/* The token of --token-file, else of the environment; token[0] stays NUL when there is neither. It
 * never stands on a command line, where every user of the host can read it. */
int probe_token_find(const char *file, char token[GATE_TOKEN_MAX + 1], struct err *e);

/* The exit code of a verdict. */
int probe_exit_for(enum verdict v);

/* An incast from these hosts to this one, told; returns the exit code. w->arg is a struct
 * probe_talk. */
int probe_run_incast(const struct two_ended_wish *w, const char *const *host, unsigned int count);

/* Path of this binary. */
void probe_self(char *buf, size_t size);

#endif
