/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constants shared by `probe server` and `probe client`: port, name of the token variable, and
 * timeouts for a silent remote.
 */
#ifndef CMD_PROBE_H
#define CMD_PROBE_H

#include <stddef.h>

#define PROBE_PORT     18515 /* perftest's port: firewalls of its users already allow it */
#define PROBE_ALIVE_MS 500
#define PROBE_LEASE_MS 3000
/* Longer for a client whose kernel still acknowledges TCP: rdma_rxe of Linux 6.1 once kept the CPU
 * of an emulated host for 27 s. */
#define PROBE_STARVED_MS 60000

#define PROBE_TOKEN_VARIABLE "ROCECHECK_PROBE_TOKEN"

#endif
