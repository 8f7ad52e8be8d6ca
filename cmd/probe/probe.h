/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `probe server` and `probe client` share: the port, the token, and the two times after which
 * a silent other end is gone.
 */
#ifndef CMD_PROBE_H
#define CMD_PROBE_H

#include <stddef.h>

#define PROBE_PORT     18515 /* the one perftest's users have opened */
#define PROBE_ALIVE_MS 500
#define PROBE_LEASE_MS 3000
/* More for a client whose host answers: rdma_rxe of Linux 6.1 kept the processor of an emulated one
 * for 27 s. */
#define PROBE_STARVED_MS 60000

#define PROBE_TOKEN_VARIABLE "ROCECHECK_PROBE_TOKEN"

/* Path of this binary. */
void probe_self(char *buf, size_t size);

#endif
