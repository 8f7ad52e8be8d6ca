/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DCB of a port through the host's LLDP agent, lldpad: what it was told is read from its file;
 * a running one is told over its socket, for one that does not run its file is changed.
 */
#ifndef DCB_LLDP_AGENT_H
#define DCB_LLDP_AGENT_H

#include "profiles/qos.h"

/* The fields that an agent sets in the place of dcbnl. */
uint64_t lldp_agent_fields(void);

/* Those of them that no kernel shows. */
uint64_t lldp_agent_own_fields(void);

/* Puts what the agent was told in the place of what the kernel says. -ENOENT when there is none. */
int lldp_agent_read(const char *ifname, struct qos *q, struct err *e);

/* Whether it runs, and so whether what it is told reaches the kernel. */
bool lldp_agent_runs(void);

/* Whether it does so: one that was started to listen alone (-R) sets nothing. */
bool lldp_agent_sets(void);

/* The TLVs of the neighbour as the running agent heard them; *len is 0 where none runs or it knows
 * none. */
int lldp_agent_neighbour(const char *ifname, uint8_t *tlvs, size_t size, size_t *len,
			 struct err *e);

#endif
