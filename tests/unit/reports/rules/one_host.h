/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One host with two rails, mlx5_0 on roce0 and mlx5_1 on roce1, as literals: a machine and settings
 * without a fault. Tests change what they are about.
 */
#ifndef TESTS_UNIT_ONE_HOST_H
#define TESTS_UNIT_ONE_HOST_H

#include "tests/unit/fixture/fabric_run.h"

struct one_host {
	struct fabric fabric;
	struct run run;
	struct run_host host;
	struct port port[2];
	bool listened;
};

static inline struct machine good_machine(void)
{
	return (struct machine){
		.known = true,
		.memlock_bytes = MACHINE_UNLIMITED,
		.cpus = 64,
		.numa_nodes = 2,
		.rdma_cm = 1,
		.boot_unit = 1,
		.udev_rule = 1,
	};
}

static inline struct seat good_seat(void)
{
	return (struct seat){
		.known = true,
		.bdf = "0000:65:00.0",
		.numa_node = 1,
		.pcie_speed = 16000,
		.pcie_speed_max = 16000,
		.pcie_width = 16,
		.pcie_width_max = 16,
		.slot_speed_max = 32000,
		.slot_width_max = 16,
		.iommu = "identity",
		.irqs = 63,
		.rp_filter = 2,
		.arp_ignore = 2,
		.arp_announce = 2,
	};
}

static inline void good_rail(unsigned int i, struct port *p)
{
	struct qos *q = &p->qos;

	good_port(i, p);
	p->kind = PORT_ROCE_PF;
	snprintf(p->netdev, sizeof(p->netdev), "roce%u", i);
	snprintf(p->ibdev, sizeof(p->ibdev), "mlx5_%u", i);
	snprintf(p->driver, sizeof(p->driver), "mlx5_core");
	snprintf(p->rdma_driver, sizeof(p->rdma_driver), "mlx5_ib");
	snprintf(p->firmware, sizeof(p->firmware), "28.41.1000");
	p->speed_mbps = 200000;
	p->seat = good_seat();
	q->has |= QOS_BIT(QOS_DCBX_MODE) | QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_ETS_CAP) |
		  QOS_BIT(QOS_PFC_CAP) | QOS_BIT(QOS_TC_MAXRATE) | QOS_BIT(QOS_PRIO_BUFFER) |
		  QOS_BIT(QOS_BUFFER_SIZE) | QOS_BIT(QOS_PFC_STORM) | QOS_BIT(QOS_NP_ENABLE) |
		  QOS_BIT(QOS_RP_ENABLE) | QOS_BIT(QOS_CNP_DSCP) | QOS_BIT(QOS_CNP_PRIO) |
		  QOS_BIT(QOS_VERBS_TOS);
	q->dcbx_mode = QOS_DCBX_HOST | QOS_DCBX_IEEE;
	q->ets_cap = q->pfc_cap = 8;
	q->pfc_storm_ms = QOS_STORM_AUTO;
	q->np_enable = q->rp_enable = 1 << 3;
	q->cnp_dscp = 48;
	q->cnp_prio = 6;
	q->verbs_tos = 106;
	q->prio_buffer[3] = 1;
	q->buffer_size_bytes[0] = q->buffer_size_bytes[1] = 262144;
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		q->dscp_prio[dscp] = (uint8_t)(dscp >> 3);
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		p->counters.has[m] = 0xff;
}

static inline void good_one_host(struct one_host *h)
{
	struct qos *wish = &h->fabric.profile.qos;

	memset(h, 0, sizeof(*h));
	good_profile(&h->fabric.profile);
	h->fabric.profile.persist = true;
	good_rail(0, &h->port[0]);
	good_rail(1, &h->port[1]);
	wish->cnp_dscp = 48;
	wish->has |= QOS_BIT(QOS_CNP_DSCP);
	h->fabric.profile.line[QOS_CNP_DSCP] = 40;
	snprintf(h->host.name, sizeof(h->host.name), "gpu1");
	snprintf(h->host.before.host, sizeof(h->host.before.host), "gpu1");
	snprintf(h->host.before.kernel, sizeof(h->host.before.kernel), "6.8.0-31-generic");
	snprintf(h->host.before.rdma_core, sizeof(h->host.before.rdma_core), "50.0");
	h->host.before.machine = good_machine();
	h->host.before.port = h->port;
	h->host.before.port_count = 2;
	h->host.before.privileged = true;
	h->host.reached = h->host.has_before = true;
	h->run.host = &h->host;
	h->run.host_count = 1;
}

#endif
