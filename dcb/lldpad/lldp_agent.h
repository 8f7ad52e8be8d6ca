/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DCB settings of a port through the LLDP agent lldpad: reads its configuration file; writes over
 * the socket of a running lldpad, else to the file.
 */
#ifndef DCB_LLDP_AGENT_H
#define DCB_LLDP_AGENT_H

#include "profiles/qos.h"

/* Returns the fields that an agent sets instead of dcbnl. */
uint64_t lldp_agent_fields(void);

/* Returns those of them that the kernel does not show. */
uint64_t lldp_agent_own_fields(void);

/* Replaces these fields by the agent's configuration. -ENOENT: no agent is installed. */
int lldp_agent_read(const char *ifname, struct qos *q, struct err *e);

/* Returns true when lldpad runs, so that its settings reach the kernel. */
bool lldp_agent_runs(void);

/* Returns true when a running lldpad sets the kernel: not if it was started with -R. */
bool lldp_agent_sets(void);

/* Reads the neighbour's TLVs from the running agent; *len is 0 without an agent or a neighbour. */
int lldp_agent_neighbour(const char *ifname, uint8_t *tlvs, size_t size, size_t *len,
			 struct err *e);

#endif
