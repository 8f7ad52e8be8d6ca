/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of one host, as `doctor` runs them: each has a case that passes, one that is violated and
 * one without evidence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include "tests/unit/fixture/fabric_run.h"

struct one_host {
	struct fabric fabric;
	struct run run;
	struct run_host host;
	struct port port[2];
	bool listened;
};

static inline struct host_state good_machine(void)
{
	return (struct host_state){
		.known = true,
		.memlock_bytes = HOST_UNLIMITED,
		.cpus = 64,
		.numa_nodes = 2,
		.rdma_cm = 1,
		.boot_unit = 1,
		.udev_rule = 1,
	};
}

static inline struct pci_slot good_seat(void)
{
	return (struct pci_slot){
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
	p->pci_slot = good_seat();
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
	h->host.before.host_state = good_machine();
	h->host.before.port = h->port;
	h->host.before.port_count = 2;
	h->host.before.privileged = true;
	h->host.reached = h->host.has_before = true;
	h->run.host = &h->host;
	h->run.host_count = 1;
}

#define P	    (&h->port[0])
#define Q	    (h->port[0].qos)
#define SEAT	    (h->port[0].pci_slot)
#define MACHINE	    (h->host.before.host_state)
#define PROFILE	    (h->fabric.profile)
#define BEGIN(name) static void name(struct one_host *h)
#define CHANGE(name, what)                                                                         \
	BEGIN(name)                                                                                \
	{                                                                                          \
		what;                                                                              \
	}

CHANGE(blind, Q.has = 0; P->active_mtu = 0; memset(P->counters.has, 0, sizeof(P->counters.has)))
CHANGE(no_facts, memset(&SEAT, 0, sizeof(SEAT)); memset(&MACHINE, 0, sizeof(MACHINE)))
CHANGE(no_profile, memset(&PROFILE, 0, sizeof(PROFILE)))
CHANGE(one_node, MACHINE.numa_nodes = 1)
CHANGE(nodes_unknown, MACHINE.numa_nodes = SEAT.numa_node = HOST_UNKNOWN)
CHANGE(one_rail, h->host.before.port_count = 1)
CHANGE(guest, P->kind = PORT_GUEST)

CHANGE(np_off, Q.np_enable = 0)
CHANGE(np_elsewhere, Q.np_enable = 1 << 5)
CHANGE(rp_off, Q.rp_enable = 0)
CHANGE(cnp_other, Q.cnp_dscp = 4)
CHANGE(irdma, Q.has = 0; strcpy(P->rdma_driver, "irdma"))
CHANGE(stranger, Q.has = 0; strcpy(P->rdma_driver, "new_ib"))

BEGIN(mana)
{
	P->kind = PORT_GUEST;
	strcpy(P->rdma_driver, "mana");
	strcpy(P->driver, "mana");
}
CHANGE(mana_old_kernel, mana(h); strcpy(h->host.before.kernel, "6.1.0-18-cloud-amd64"))
CHANGE(mana_old_core, mana(h); strcpy(h->host.before.rdma_core, "44.0"))
CHANGE(mana_unknown, mana(h); h->host.before.rdma_core[0] = '\0')
CHANGE(mana_kernel_5, mana(h); strcpy(h->host.before.kernel, "5.15.0-1"))
CHANGE(mana_kernel_10, mana(h); strcpy(h->host.before.kernel, "10.0"))
CHANGE(pvrdma, P->kind = PORT_GUEST; strcpy(P->rdma_driver, "vmw_pvrdma"))
CHANGE(pvrdma_v1, pvrdma(h); P->gid[0].type = GID_ROCE_V1)
CHANGE(pvrdma_blind, pvrdma(h); P->gid_count = 0)

CHANGE(few_classes, Q.ets_cap = 4)
CHANGE(no_cap, Q.ets_cap = 0)
CHANGE(limited, Q.tc_maxrate_kbps[3] = 1000000)
CHANGE(limited_as_asked, limited(h); PROFILE.qos.tc_maxrate_kbps[3] = 1000000;
       PROFILE.qos.has |= QOS_BIT(QOS_TC_MAXRATE))
CHANGE(no_rates, Q.has &= ~QOS_BIT(QOS_TC_MAXRATE))
CHANGE(strict_bulk, Q.prio_tc[1] = 1; Q.tc_tsa[1] = QOS_TSA_STRICT;
       PROFILE.qos.has &= ~QOS_BIT(QOS_TC_TSA))
CHANGE(strict_limited, strict_bulk(h); Q.tc_maxrate_kbps[1] = 5)
CHANGE(cm_v1, Q.roce_version = 1)
CHANGE(cm_v1_asked, Q.roce_version = 1; PROFILE.qos.roce_version = 1)

CHANGE(saving, MACHINE.cpus_saving = 3; strcpy(MACHINE.governor, "powersave"))
CHANGE(no_clocks, MACHINE.cpus = 0)
CHANGE(clocks_unknown, MACHINE.cpus = HOST_UNKNOWN)
CHANGE(governors_unknown, MACHINE.cpus_saving = HOST_UNKNOWN)
CHANGE(irqs_away, SEAT.irqs_remote = 4)
CHANGE(no_irqs, SEAT.irqs = 0)
CHANGE(irqs_unknown, SEAT.irqs = HOST_UNKNOWN)
CHANGE(cpus_of_irqs_unknown, SEAT.irqs_remote = HOST_UNKNOWN)
CHANGE(translating, strcpy(SEAT.iommu, "DMA-FQ"))
CHANGE(iommu_unknown, SEAT.iommu[0] = '\0')
CHANGE(no_iommu, strcpy(SEAT.iommu, "none"))
CHANGE(no_pci, SEAT.bdf[0] = '\0'; SEAT.pcie_speed = HOST_UNKNOWN)
CHANGE(lock_8m, MACHINE.memlock_bytes = 8 << 20)
CHANGE(lock_8m_root, lock_8m(h); MACHINE.ipc_lock = 1)
CHANGE(lock_1g, MACHINE.memlock_bytes = 1 << 30)
CHANGE(lock_unknown, MACHINE.memlock_bytes = HOST_UNKNOWN)
CHANGE(balancing, MACHINE.numa_balancing = 1)
CHANGE(balancing_unknown, MACHINE.numa_balancing = 1; MACHINE.numa_nodes = HOST_UNKNOWN)
CHANGE(balancing_one, MACHINE.numa_balancing = 1; MACHINE.numa_nodes = 1)
CHANGE(no_rdma_cm, MACHINE.rdma_cm = 0)
CHANGE(rdma_cm_unknown, MACHINE.rdma_cm = HOST_UNKNOWN)
CHANGE(no_boot, MACHINE.boot_unit = 0)
BEGIN(setter)
{
	struct host_owner *o = &MACHINE.owner[MACHINE.owner_count++];

	strcpy(o->kind, "reapply");
	strcpy(o->path, "etc/systemd/system/a.target.wants/qos.service");
	strcpy(o->name, "mlnx_qos");
}
CHANGE(others_boot, setter(h); MACHINE.boot_unit = 0)
CHANGE(no_udev, MACHINE.udev_rule = 0)
CHANGE(no_persist, PROFILE.persist = false)
CHANGE(no_node, SEAT.numa_node = HOST_UNKNOWN)
CHANGE(closed, P->active_mtu = 0)
CHANGE(mtu_1024, P->active_mtu = 1024)

BEGIN(one_subnet)
{
	for (unsigned int i = 0; i < 2; i++) {
		h->port[i].pci_slot.subnet_count = 1;
		strcpy(h->port[i].pci_slot.subnet[0].cidr, "198.18.0.0/24");
	}
}
CHANGE(two_subnets, one_subnet(h); strcpy(SEAT.subnet[0].cidr, "198.18.1.0/24"))
CHANGE(arp_answers, one_subnet(h); SEAT.arp_ignore = 0)
CHANGE(arp_unknown, one_subnet(h); SEAT.arp_announce = HOST_UNKNOWN)
CHANGE(arp_asks, one_subnet(h); SEAT.arp_announce = 0)
CHANGE(strict_filter, SEAT.rp_filter = 1)
CHANGE(strict_one, SEAT.rp_filter = 1; h->host.before.port_count = 1)
CHANGE(filter_unknown, SEAT.rp_filter = HOST_UNKNOWN)
CHANGE(forwards, SEAT.forwarding = 1)
CHANGE(forwarding_unknown, SEAT.forwarding = HOST_UNKNOWN)

CHANGE(half_lanes, SEAT.pcie_width = 8)
CHANGE(slow_pcie, SEAT.pcie_speed = 8000)
CHANGE(old_slot_fast_enough, SEAT.pcie_speed = 8000; P->speed_mbps = 100000)
CHANGE(pcie_unknown_speed, SEAT.pcie_speed = 8000; P->speed_mbps = 0)

CHANGE(willing, Q.ets_willing = 1)
CHANGE(willing_asked, Q.ets_willing = 1; PROFILE.qos.ets_willing = 1;
       PROFILE.qos.has |= QOS_BIT(QOS_ETS_WILLING))
CHANGE(pause_alone, Q.pause_rx = 1; Q.pfc_enabled = 0)
CHANGE(pause_asked, pause_alone(h); PROFILE.qos.pause_rx = 1)
CHANGE(pause_beside, Q.pause_rx = 1)
CHANGE(no_buffer, Q.buffer_size_bytes[1] = 0)
CHANGE(small_buffer, Q.buffer_size_bytes[1] = 20000)
CHANGE(buffer_60k, Q.buffer_size_bytes[1] = 60000)
CHANGE(buffer_60k_10g, buffer_60k(h); P->speed_mbps = 10000)
CHANGE(no_buffers_shown, Q.has &= ~QOS_BIT(QOS_BUFFER_SIZE))
CHANGE(bad_buffer_index, Q.prio_buffer[3] = 9)
CHANGE(three_lossless, Q.pfc_enabled = 0x38)
CHANGE(above_cap, Q.pfc_enabled = 0x18; Q.pfc_cap = 1)
CHANGE(stray_pause, P->counters.value[METRIC_PFC_RX_FRAMES][5] = 7)
CHANGE(right_pause, P->counters.value[METRIC_PFC_RX_FRAMES][3] = 7)
CHANGE(no_pause_count, P->counters.has[METRIC_PFC_RX_FRAMES] = 0)
CHANGE(storm_off, Q.pfc_storm_ms = 0)
CHANGE(no_storm, Q.has &= ~QOS_BIT(QOS_PFC_STORM))

BEGIN(tagged)
{
	Q.trust = QOS_TRUST_PCP;
	Q.has |= QOS_BIT(QOS_VLAN_PRIO);
	Q.vlan_prio[2] = 3;
	PROFILE.qos.trust = QOS_TRUST_PCP;
	PROFILE.qos.has |= QOS_BIT(QOS_VLAN_PRIO);
	PROFILE.qos.vlan_prio[2] = 3;
	SEAT.vlan_count = 1;
	strcpy(SEAT.vlan[0].netdev, "roce0.100");
}
CHANGE(untagged, tagged(h); SEAT.vlan_count = 0)
CHANGE(untagged_lossy, untagged(h); no_profile(h); Q.pfc_enabled = 0)
CHANGE(unmapped, tagged(h); Q.vlan_prio[2] = 0)
CHANGE(maps_differ, tagged(h); Q.has &= ~QOS_BIT(QOS_VLAN_PRIO))
CHANGE(tos_unknown, tagged(h); no_profile(h); Q.has &= ~QOS_BIT(QOS_CM_TOS))
CHANGE(pcp_no_facts, tagged(h); no_facts(h))
CHANGE(cnp_lossless, Q.cnp_dscp = 26)
CHANGE(cnp_best_effort, Q.cnp_dscp = 4)
CHANGE(cnp_behind, Q.prio_tc[6] = 3)
CHANGE(hole, Q.dscp_prio[9] = QOS_UNMAPPED)
CHANGE(hole_elsewhere, hole(h); strcpy(P->driver, "bnxt_en"))
CHANGE(clash, strcpy(P->clash, "roce0: APP table: DSCP 26 has priorities 3 and 5"))
CHANGE(roce_on, Q.has |= QOS_BIT(QOS_ROCE_ENABLE); Q.roce_enable = 1)
CHANGE(roce_off, Q.has |= QOS_BIT(QOS_ROCE_ENABLE); Q.roce_enable = 0)
CHANGE(forced_other, Q.verbs_tos = 96)
CHANGE(forced_not, Q.has &= ~QOS_BIT(QOS_VERBS_TOS))

CHANGE(lld_managed, Q.dcbx_mode = QOS_DCBX_LLD_MANAGED | QOS_DCBX_IEEE)
CHANGE(lld_no_wish, lld_managed(h); no_profile(h))
CHANGE(lldp_agent_runs, Q.has |= QOS_BIT(QOS_FIRMWARE_AGENT); Q.firmware_agent = 1)
CHANGE(two_agents, lldp_agent_runs(h); MACHINE.lldpd = 812)
CHANGE(not_host, Q.dcbx_mode = QOS_DCBX_IEEE)
BEGIN(lldpad)
{
	struct host_owner *o = &MACHINE.owner[MACHINE.owner_count++];

	MACHINE.lldpad = o->pid = 700;
	strcpy(o->kind, "lldpad");
}
CHANGE(lldpad_no_wish, lldpad(h); no_profile(h))
CHANGE(lldpad_setter, lldpad(h); setter(h))
CHANGE(lldpad_waits, MACHINE.owner_count = 1; strcpy(MACHINE.owner[0].kind, "lldpad-socket"))
CHANGE(owner_unknown, MACHINE.owner_count = 1; strcpy(MACHINE.owner[0].kind, "new"))
CHANGE(other_firmware, strcpy(h->port[1].firmware, "28.39.1002"))
CHANGE(other_mtu, h->port[1].qos.mtu = 1500)
CHANGE(dropped, P->counters.value[METRIC_RX_DISCARDS][0] = 3)
CHANGE(was_not_ready, P->counters.value[METRIC_OUT_OF_BUFFER][0] = 3)
CHANGE(prio_dropped, P->counters.value[METRIC_PRIO_RX_DISCARDS][3] = 9)
CHANGE(other_prio_dropped, P->counters.value[METRIC_PRIO_RX_DISCARDS][1] = 9)
CHANGE(no_rdma, P->kind = PORT_SOFT_ROCE; P->ibdev[0] = '\0')
CHANGE(no_params, PROFILE.qos.has &= ~QOS_BIT(QOS_CNP_DSCP))
CHANGE(no_right, h->host.before.privileged = false)
CHANGE(no_dcb, P->dcb = false)
CHANGE(shared_class, Q.prio_tc[0] = 3)
CHANGE(shared_no_wish, shared_class(h); no_profile(h))
CHANGE(lossy_cm_no_wish, no_profile(h); Q.cm_tos = 0)
CHANGE(no_pfc_no_wish, no_profile(h); Q.pfc_enabled = 0)
CHANGE(nothing_there, h->host.before.port_count = 0)
BEGIN(switch_heard)
{
	h->listened = true;
	strcpy(P->lldp_name, "leaf1");
	strcpy(P->lldp_dialect, "ieee");
	P->lldp_qos = Q;
	P->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) |
			  QOS_BIT(QOS_TC_TX_BW);
	qos_app_add(&P->lldp_qos,
		    (struct qos_app){.selector = QOS_APP_DGRAM, .prio = 3, .protocol = 4791});
}
CHANGE(listened_alone, h->listened = true)
CHANGE(switch_no_pfc, switch_heard(h); P->lldp_qos.has &= ~QOS_BIT(QOS_PFC_ENABLED))
CHANGE(switch_cee, switch_heard(h); strcpy(P->lldp_dialect, "cee"))
CHANGE(switch_ets, switch_heard(h); P->lldp_qos.prio_tc[1] = 5)
CHANGE(switch_no_ets, switch_heard(h); P->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED))
CHANGE(switch_app, switch_heard(h); P->lldp_qos.app[0].prio = 4)
CHANGE(switch_ethertype, switch_app(h); P->lldp_qos.app[0].selector = QOS_APP_ETHERTYPE;
       P->lldp_qos.app[0].protocol = 0x8915)
CHANGE(switch_other_app, switch_app(h); P->lldp_qos.app[0].protocol = 3260)
CHANGE(switch_stream, switch_app(h); P->lldp_qos.app[0].selector = QOS_APP_STREAM)
CHANGE(switch_lldp_alone, switch_heard(h); P->lldp_dialect[0] = '\0')
CHANGE(switch_dscp, switch_no_ets(h); P->lldp_qos.has |= QOS_BIT(QOS_DSCP_PRIO);
       P->lldp_qos.dscp_prio[26] = 5)
CHANGE(lldpad_asked, lldpad(h); PROFILE.agent = AGENT_LLDPAD)
CHANGE(lldpad_missing, PROFILE.agent = AGENT_LLDPAD)
BEGIN(idle_nic)
{
	MACHINE.nic_count = 1;
	strcpy(MACHINE.nic[0].netdev, "eth3");
	strcpy(MACHINE.nic[0].driver, "ice");
}
CHANGE(idle_mana, idle_nic(h); strcpy(MACHINE.nic[0].driver, "mana");
       strcpy(h->host.before.kernel, "6.1.0"))
CHANGE(vf, P->kind = PORT_ROCE_VF)
CHANGE(dpu, P->dcb = false; SEAT.vendor = 0x15b3; SEAT.device = 0xa2d6)
CHANGE(peer_heard, h->listened = true; P->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED);
       P->lldp_qos.pfc_enabled = 1 << 4)

#define PASS VERDICT_PASS
#define SKIP VERDICT_SKIP
#define OPEN VERDICT_INCONCLUSIVE
#define WARN VERDICT_WARN
#define FAIL VERDICT_FAIL

static const struct {
	const char *rule;
	void (*change)(struct one_host *h);
	enum verdict want;
	const char *says;
} cases[] = {
	{"RC-ECN-001", NULL, PASS, "priority 3"},
	{"RC-ECN-001", np_off, WARN, "off for priority 3"},
	{"RC-ECN-001", np_elsewhere, WARN, NULL},
	{"RC-ECN-001", blind, OPEN, NULL},
	{"RC-ECN-001", guest, SKIP, "outside the guest"},
	{"RC-ECN-002", NULL, PASS, NULL},
	{"RC-ECN-002", rp_off, WARN, NULL},
	{"RC-ECN-002", blind, OPEN, NULL},
	{"RC-ECN-003", NULL, PASS, NULL},
	{"RC-ECN-003", cnp_other, WARN, "cnp_dscp is 4, the profile wants 48"},
	{"RC-ECN-003", blind, OPEN, NULL},
	{"RC-ECN-003", no_profile, SKIP, "no profile given"},
	{"RC-ECN-013", NULL, PASS, NULL},
	{"RC-ECN-013", irdma, WARN, "irdma"},
	{"RC-ECN-013", stranger, OPEN, NULL},
	{"RC-ENV-002", NULL, SKIP, NULL},
	{"RC-ENV-002", pvrdma, PASS, "not visible here"},
	{"RC-ENV-002", pvrdma_v1, WARN, "has no RoCE v2"},
	{"RC-ENV-002", pvrdma_blind, OPEN, NULL},
	{"RC-ENV-008", NULL, SKIP, NULL},
	{"RC-ENV-008", mana, PASS, NULL},
	{"RC-ENV-008", mana_old_kernel, FAIL, "needs 6.8"},
	{"RC-ENV-008", mana_kernel_5, FAIL, "needs 6.8"},
	{"RC-ENV-008", mana_kernel_10, PASS, NULL},
	{"RC-ENV-008", mana_old_core, FAIL, "needs 50"},
	{"RC-ENV-008", mana_unknown, OPEN, NULL},
	{"RC-ETS-008", NULL, PASS, NULL},
	{"RC-ETS-008", few_classes, FAIL, "class 6 is used, but the port has only 4"},
	{"RC-ETS-008", no_cap, SKIP, NULL},
	{"RC-ETS-008", blind, OPEN, NULL},
	{"RC-ETS-009", NULL, PASS, NULL},
	{"RC-ETS-009", limited, WARN, "1000000 kbit/s"},
	{"RC-ETS-009", limited_as_asked, PASS, NULL},
	{"RC-ETS-009", no_rates, SKIP, NULL},
	{"RC-ETS-010", NULL, PASS, NULL},
	{"RC-ETS-010", strict_bulk, WARN, "class 1 is strict"},
	{"RC-ETS-010", strict_limited, PASS, NULL},
	{"RC-ETS-010", blind, OPEN, NULL},
	{"RC-GID-008", NULL, PASS, NULL},
	{"RC-GID-008", cm_v1, WARN, NULL},
	{"RC-GID-008", cm_v1_asked, PASS, "v1"},
	{"RC-GID-008", blind, OPEN, "configfs"},
	{"RC-HST-002", NULL, PASS, "64"},
	{"RC-HST-002", saving, WARN, "3 of 64 CPUs use the governor powersave"},
	{"RC-HST-002", no_clocks, SKIP, NULL},
	{"RC-HST-002", clocks_unknown, OPEN, NULL},
	{"RC-HST-002", governors_unknown, OPEN, NULL},
	{"RC-HST-002", no_facts, OPEN, NULL},
	{"RC-HST-003", NULL, PASS, NULL},
	{"RC-HST-003", irqs_away, WARN, "4 of 63"},
	{"RC-HST-003", one_node, SKIP, NULL},
	{"RC-HST-003", no_irqs, OPEN, NULL},
	{"RC-HST-003", irqs_unknown, OPEN, NULL},
	{"RC-HST-003", cpus_of_irqs_unknown, OPEN, NULL},
	{"RC-HST-003", no_facts, OPEN, NULL},
	{"RC-HST-004", NULL, PASS, "identity"},
	{"RC-HST-004", no_iommu, PASS, NULL},
	{"RC-HST-004", translating, WARN, "DMA-FQ"},
	{"RC-HST-004", iommu_unknown, OPEN, NULL},
	{"RC-HST-004", no_pci, SKIP, NULL},
	{"RC-HST-004", no_facts, OPEN, NULL},
	{"RC-HST-005", NULL, PASS, "unlimited"},
	{"RC-HST-005", lock_8m, FAIL, "8192 KiB"},
	{"RC-HST-005", lock_8m_root, WARN, NULL},
	{"RC-HST-005", lock_1g, WARN, NULL},
	{"RC-HST-005", lock_unknown, OPEN, NULL},
	{"RC-HST-005", no_facts, OPEN, NULL},
	{"RC-HST-006", NULL, PASS, NULL},
	{"RC-HST-006", balancing, WARN, NULL},
	{"RC-HST-006", balancing_one, SKIP, NULL},
	{"RC-HST-006", balancing_unknown, OPEN, NULL},
	{"RC-HST-006", no_facts, OPEN, NULL},
	{"RC-HST-007", NULL, PASS, NULL},
	{"RC-HST-007", no_rdma_cm, WARN, "rdma_ucm"},
	{"RC-HST-007", rdma_cm_unknown, OPEN, NULL},
	{"RC-HST-007", no_facts, OPEN, NULL},
	{"RC-HST-010", NULL, PASS, NULL},
	{"RC-HST-010", no_boot, WARN, NULL},
	{"RC-HST-010", others_boot, WARN, "another tool"},
	{"RC-HST-010", no_udev, WARN, "driver reload"},
	{"RC-HST-010", no_persist, SKIP, NULL},
	{"RC-HST-010", no_facts, OPEN, NULL},
	{"RC-HST-011", NULL, PASS, "numactl -N 1"},
	{"RC-HST-011", no_node, WARN, NULL},
	{"RC-HST-011", one_node, SKIP, NULL},
	{"RC-HST-011", nodes_unknown, OPEN, NULL},
	{"RC-HST-011", no_facts, OPEN, NULL},
	{"RC-HST-012", NULL, PASS, NULL},
	{"RC-HST-012", closed, FAIL, "cannot open mlx5_0"},
	{"RC-MTU-006", NULL, PASS, NULL},
	{"RC-MTU-006", mtu_1024, WARN, "must be at least 4192"},
	{"RC-MTU-006", blind, OPEN, NULL},
	{"RC-NET-001", NULL, SKIP, NULL},
	{"RC-NET-001", two_subnets, SKIP, NULL},
	{"RC-NET-001", one_subnet, PASS, NULL},
	{"RC-NET-001", arp_answers, FAIL, "address of roce1"},
	{"RC-NET-001", arp_asks, WARN, NULL},
	{"RC-NET-001", arp_unknown, OPEN, NULL},
	{"RC-NET-001", no_facts, OPEN, NULL},
	{"RC-NET-002", NULL, PASS, NULL},
	{"RC-NET-002", strict_filter, WARN, "2 RoCE ports"},
	{"RC-NET-002", strict_one, SKIP, NULL},
	{"RC-NET-002", filter_unknown, OPEN, NULL},
	{"RC-NET-008", NULL, PASS, NULL},
	{"RC-NET-008", forwards, WARN, NULL},
	{"RC-NET-008", forwarding_unknown, OPEN, NULL},
	{"RC-PCI-001", NULL, PASS, "16.0 GT/s x16"},
	{"RC-PCI-001", half_lanes, FAIL, "x8 carries 126030 of the port's 200000 Mb/s"},
	{"RC-PCI-001", slow_pcie, FAIL, "8.0 GT/s"},
	{"RC-PCI-001", old_slot_fast_enough, WARN, "below the NIC"},
	{"RC-PCI-001", pcie_unknown_speed, WARN, NULL},
	{"RC-PCI-001", no_pci, SKIP, NULL},
	{"RC-PCI-001", no_facts, OPEN, NULL},
	{"RC-PFC-006", NULL, PASS, NULL},
	{"RC-PFC-006", willing, WARN, "any DCBX speaker"},
	{"RC-PFC-006", willing_asked, PASS, NULL},
	{"RC-PFC-006", blind, SKIP, NULL},
	{"RC-PFC-008", NULL, PASS, NULL},
	{"RC-PFC-008", pause_alone, WARN, NULL},
	{"RC-PFC-008", pause_beside, SKIP, "RC-PFC-007"},
	{"RC-PFC-008", blind, OPEN, NULL},
	{"RC-PFC-017", NULL, PASS, NULL},
	{"RC-PFC-017", no_buffer, FAIL, "buffer of 0 bytes"},
	{"RC-PFC-017", small_buffer, WARN, "20000 bytes"},
	{"RC-PFC-017", no_buffers_shown, SKIP, NULL},
	{"RC-PFC-017", bad_buffer_index, PASS,
	 NULL}, /* 9 is no index: it must not be used as one */
	{"RC-PFC-019", NULL, PASS, NULL},
	{"RC-PFC-019", three_lossless, WARN, NULL},
	{"RC-PFC-019", above_cap, FAIL, "2 priorities are lossless, the port supports 1"},
	{"RC-PFC-019", blind, OPEN, NULL},
	{"RC-PFC-025", NULL, PASS, NULL},
	{"RC-PFC-025", right_pause, PASS, NULL},
	{"RC-PFC-025", stray_pause, WARN, NULL},
	{"RC-PFC-025", no_pause_count, OPEN, NULL},
	{"RC-PFC-026", NULL, PASS, NULL},
	{"RC-PFC-026", storm_off, WARN, NULL},
	{"RC-PFC-026", no_storm, SKIP, NULL},
	{"RC-QOS-009", NULL, PASS, NULL},
	{"RC-QOS-009", tagged, PASS, "roce0.100"},
	{"RC-QOS-009", untagged, FAIL, "packets are untagged"},
	{"RC-QOS-009", pcp_no_facts, OPEN, NULL},
	{"RC-QOS-009", blind, OPEN, NULL},
	{"RC-QOS-010", NULL, SKIP, NULL},
	{"RC-QOS-010", tagged, PASS, "PCP 3"},
	{"RC-QOS-010", unmapped, WARN, "leaves with PCP 0, its priority is 3"},
	{"RC-QOS-010", tos_unknown, OPEN, NULL},
	{"RC-QOS-010", maps_differ, OPEN, "differ"},
	{"RC-QOS-014", NULL, PASS, "class 6"},
	{"RC-QOS-014", cnp_lossless, WARN, "lossless priority 3"},
	{"RC-QOS-014", cnp_best_effort, WARN, "not strict"},
	{"RC-QOS-014", cnp_behind, WARN, "behind the data"},
	{"RC-QOS-014", blind, OPEN, NULL},
	{"RC-QOS-017", NULL, PASS, NULL},
	{"RC-QOS-017", hole, WARN, "1 DSCPs"},
	{"RC-QOS-017", hole_elsewhere, SKIP, NULL},
	{"RC-QOS-017", blind, OPEN, NULL},
	{"RC-QOS-019", NULL, PASS, NULL},
	{"RC-QOS-019", clash, FAIL, "priorities 3 and 5"},
	{"RC-QOS-019", blind, OPEN, NULL},
	{"RC-HST-014", NULL, SKIP, NULL},
	{"RC-HST-014", roce_on, PASS, NULL},
	{"RC-HST-014", roce_off, FAIL, NULL},
	{"RC-QOS-018", NULL, PASS, NULL},
	{"RC-QOS-018", forced_other, WARN, "forces DSCP 24"},
	{"RC-QOS-018", forced_not, SKIP, NULL},
	{"RC-TOP-002", NULL, PASS, NULL},
	{"RC-TOP-002", lld_managed, FAIL, "owns DCBX"},
	{"RC-TOP-002", lld_no_wish, WARN, NULL},
	{"RC-TOP-002", lldp_agent_runs, FAIL, NULL},
	{"RC-TOP-002", two_agents, FAIL, "and lldpd run"},
	{"RC-TOP-002", not_host, WARN, NULL},
	{"RC-TOP-002", blind, OPEN, NULL},
	{"RC-TOP-004", NULL, PASS, NULL},
	{"RC-TOP-004", lldpad, FAIL, NULL},
	{"RC-TOP-004", lldpad_no_wish, WARN, NULL},
	{"RC-TOP-004", lldpad_setter, FAIL, "overwrite each other"},
	{"RC-TOP-004", owner_unknown, PASS, NULL},
	{"RC-TOP-004", lldpad_waits, WARN, NULL},
	{"RC-TOP-004", setter, WARN, "service or hook"},
	{"RC-TOP-004", no_facts, OPEN, NULL},
	{"RC-TOP-005", NULL, PASS, NULL},
	{"RC-TOP-005", other_firmware, WARN, "firmware"},
	{"RC-TOP-005", other_mtu, WARN, "mtu"},
	{"RC-TOP-005", one_rail, SKIP, NULL},
	{"RC-TRN-010", NULL, PASS, NULL},
	{"RC-TRN-010", dropped, WARN, NULL},
	{"RC-TRN-010", was_not_ready, PASS, NULL},
	{"RC-TRN-010", prio_dropped, WARN, NULL},
	{"RC-TRN-010", other_prio_dropped, PASS, NULL},
	{"RC-HST-012", no_rdma, SKIP, NULL},
	{"RC-ECN-003", no_params, SKIP, "no parameters"},
	{"RC-PFC-008", pause_asked, PASS, "as the profile wants"},
	{"RC-PFC-017", buffer_60k, WARN, "60000"},
	{"RC-PFC-017", buffer_60k_10g, PASS, NULL},
	{"RC-QOS-009", untagged_lossy, SKIP, NULL},
	{"RC-QOS-012", switch_ethertype, WARN, "on 4"},
	{"RC-QOS-012", switch_other_app, SKIP, NULL},
	{"RC-QOS-012", switch_stream, SKIP, NULL},
	{"RC-TOP-003", switch_lldp_alone, SKIP, NULL},
	{"RC-HST-015", NULL, PASS, NULL},
	{"RC-HST-015", no_right, WARN, "CAP_NET_ADMIN"},
	{"RC-ENV-009", NULL, PASS, NULL},
	{"RC-ENV-009", no_dcb, WARN, "mlx5_core has no DCB"},
	{"RC-ENV-009", guest, SKIP, NULL},
	{"RC-TRN-010", blind, OPEN, NULL},
	{"RC-PFC-005", NULL, SKIP, "--listen"},
	{"RC-PFC-005", switch_heard, PASS, NULL},
	{"RC-PFC-005", switch_no_pfc, WARN, NULL},
	{"RC-PFC-005", listened_alone, OPEN, NULL},
	{"RC-TOP-003", switch_heard, PASS, NULL},
	{"RC-TOP-003", switch_cee, WARN, "cee"},
	{"RC-TOP-003", listened_alone, OPEN, NULL},
	{"RC-ETS-006", switch_heard, PASS, NULL},
	{"RC-ETS-006", switch_ets, WARN, "prio_tc"},
	{"RC-ETS-006", switch_no_ets, OPEN, NULL},
	{"RC-QOS-012", switch_heard, PASS, NULL},
	{"RC-QOS-012", switch_app, WARN, "at the link partner on 4"},
	{"RC-QOS-012", switch_dscp, WARN, "on 5"},
	{"RC-QOS-012", switch_no_ets, SKIP, NULL},
	{"RC-QOS-012", listened_alone, OPEN, NULL},
	{"RC-TOP-004", lldpad_asked, PASS, "as the profile wants"},
	{"RC-TOP-004", lldpad_missing, FAIL, "does not run"},
	{"RC-HST-013", NULL, PASS, NULL},
	{"RC-HST-013", idle_nic, WARN, "eth3 (ice)"},
	{"RC-HST-013", idle_mana, WARN, "needs kernel 6.8"},
	{"RC-HST-013", no_facts, OPEN, NULL},
	{"RC-ENV-001", vf, WARN, "virtual function"},
	{"RC-ENV-001", dpu, WARN, "set elsewhere"},
	/* Rules of fabrics, judged here with a profile and without. */
	{"RC-ETS-002", shared_class, FAIL, NULL},
	{"RC-ETS-002", shared_no_wish, FAIL, NULL},
	{"RC-PFC-001", no_profile, PASS, NULL},
	{"RC-PFC-001", no_pfc_no_wish, WARN, NULL},
	{"RC-PFC-002", no_profile, SKIP, "no profile given"},
	{"RC-QOS-005", lossy_cm_no_wish, FAIL, "DSCP 0"},
	{"RC-QOS-005", no_profile, PASS, NULL},
	{"RC-PFC-004", NULL, SKIP, "--listen"},
	{"RC-PFC-004", peer_heard, FAIL, NULL},
	{"RC-META-010", nothing_there, FAIL, NULL},
};

/* Rules that never lack evidence: what they need is there or does not apply. */
static const char *const never_open[] = {
	"RC-ENV-009", "RC-ETS-009", "RC-HST-015", "RC-HST-012", "RC-HST-014", "RC-PFC-006",
	"RC-PFC-017", "RC-PFC-026", "RC-QOS-018", "RC-TOP-005", NULL,
};

static const struct finding *first_of(const struct findings *all, const char *rule)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].rule->id, rule) && strcmp(all->list[i].port, "roce1"))
			return &all->list[i];
	return NULL;
}

static void check_texts(const struct findings *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		if (!f->text || !f->text[0])
			fail_msg("%s: no text", f->rule->id);
		if (f->verdict == VERDICT_PASS && !f->evidence_count)
			fail_msg("%s passes on no evidence: %s", f->rule->id, f->text);
	}
}

static void test_cases(void **state)
{
	static struct one_host h;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct finding *f;
		struct findings all;

		good_one_host(&h);
		if (cases[i].change)
			cases[i].change(&h);
		assert_int_equal(rules_run_host(&h.fabric, &h.run, h.listened, &all), 0);
		f = first_of(&all, cases[i].rule);
		if (!f)
			fail_msg("case %u: %s says nothing", i, cases[i].rule);
		if (f->verdict != cases[i].want ||
		    (cases[i].says && !strstr(f->text, cases[i].says)))
			fail_msg("case %u: %s: want %s (%s), got %s: %s", i, cases[i].rule,
				 verdict_word(cases[i].want), cases[i].says ? cases[i].says : "",
				 verdict_word(f->verdict), f->text);
		check_texts(&all);
		findings_clear(&all);
	}
}

static bool has_case(const char *rule, enum verdict v)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].rule, rule) && cases[i].want == v)
			return true;
	return false;
}

/* Each row of a single host has its cases. */
static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < rule_count; i++) {
		const char *id = rule_table[i].id;
		bool open = false;

		if (rule_table[i].scope != SCOPE_HOST)
			continue;
		for (unsigned int k = 0; never_open[k]; k++)
			open = open || !strcmp(never_open[k], id);
		if (!has_case(id, PASS) || (!has_case(id, FAIL) && !has_case(id, WARN)) ||
		    (!open && !has_case(id, OPEN)))
			fail_msg("%s lacks a case that passes, is violated or has no evidence", id);
	}
}

/* Nothing is found wrong with a good host, with a profile and without. */
static void test_good(void **state)
{
	static struct one_host h;
	struct findings all;

	(void)state;
	for (unsigned int wish = 0; wish < 2; wish++) {
		good_one_host(&h);
		if (!wish)
			no_profile(&h);
		assert_int_equal(rules_run_host(&h.fabric, &h.run, false, &all), 0);
		assert_true(all.count > 60);
		for (size_t i = 0; i < all.count; i++)
			if (all.list[i].verdict != PASS && all.list[i].verdict != SKIP)
				fail_msg("%s: %s", all.list[i].rule->id, all.list[i].text);
		assert_int_equal(findings_exit(&all, SEVERITY_WARN, NULL, 0), 0);
		findings_clear(&all);
	}
}

/* A fabric run asks none of them. */
static void test_scope(void **state)
{
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	for (size_t i = 0; i < all.count; i++)
		assert_int_not_equal(all.list[i].rule->scope, SCOPE_HOST);
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
