/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port with Soft-RoCE on it that trusts DSCPs and has 26 on priority 3, as literals.
 */
#ifndef TESTS_UNIT_SOFT_PORT_H
#define TESTS_UNIT_SOFT_PORT_H

#include <stdio.h>
#include <string.h>

#include "probe/host/snapshot.h"

static inline void make_soft_port(struct port *p)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	snprintf(p->ibdev, sizeof(p->ibdev), "rxe0");
	p->kind = PORT_SOFT_ROCE;
	p->qos.has = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO);
	p->qos.trust = QOS_TRUST_DSCP;
	memset(p->qos.dscp_prio, QOS_UNMAPPED, sizeof(p->qos.dscp_prio));
	p->qos.dscp_prio[26] = 3;
}

#endif
