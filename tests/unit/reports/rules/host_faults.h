/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong with the host of one_host.h, or not be known of it: a function each.
 */
#ifndef TESTS_UNIT_HOST_FAULTS_H
#define TESTS_UNIT_HOST_FAULTS_H

#include "tests/unit/reports/rules/one_host.h"

#define P	    (&h->port[0])
#define Q	    (h->port[0].qos)
#define SEAT	    (h->port[0].seat)
#define MACHINE	    (h->host.before.machine)
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
CHANGE(nodes_unknown, MACHINE.numa_nodes = SEAT.numa_node = MACHINE_UNKNOWN)
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
CHANGE(clocks_unknown, MACHINE.cpus = MACHINE_UNKNOWN)
CHANGE(governors_unknown, MACHINE.cpus_saving = MACHINE_UNKNOWN)
CHANGE(irqs_away, SEAT.irqs_remote = 4)
CHANGE(no_irqs, SEAT.irqs = 0)
CHANGE(irqs_unknown, SEAT.irqs = MACHINE_UNKNOWN)
CHANGE(cpus_of_irqs_unknown, SEAT.irqs_remote = MACHINE_UNKNOWN)
CHANGE(translating, strcpy(SEAT.iommu, "DMA-FQ"))
CHANGE(iommu_unknown, SEAT.iommu[0] = '\0')
CHANGE(no_iommu, strcpy(SEAT.iommu, "none"))
CHANGE(no_pci, SEAT.bdf[0] = '\0'; SEAT.pcie_speed = MACHINE_UNKNOWN)
CHANGE(lock_8m, MACHINE.memlock_bytes = 8 << 20)
CHANGE(lock_8m_root, lock_8m(h); MACHINE.ipc_lock = 1)
CHANGE(lock_1g, MACHINE.memlock_bytes = 1 << 30)
CHANGE(lock_unknown, MACHINE.memlock_bytes = MACHINE_UNKNOWN)
CHANGE(balancing, MACHINE.numa_balancing = 1)
CHANGE(balancing_unknown, MACHINE.numa_balancing = 1; MACHINE.numa_nodes = MACHINE_UNKNOWN)
CHANGE(balancing_one, MACHINE.numa_balancing = 1; MACHINE.numa_nodes = 1)
CHANGE(no_rdma_cm, MACHINE.rdma_cm = 0)
CHANGE(rdma_cm_unknown, MACHINE.rdma_cm = MACHINE_UNKNOWN)
CHANGE(no_boot, MACHINE.boot_unit = 0)
BEGIN(setter)
{
	struct machine_owner *o = &MACHINE.owner[MACHINE.owner_count++];

	strcpy(o->kind, "reapply");
	strcpy(o->path, "etc/systemd/system/a.target.wants/qos.service");
	strcpy(o->name, "mlnx_qos");
}
CHANGE(others_boot, setter(h); MACHINE.boot_unit = 0)
CHANGE(no_udev, MACHINE.udev_rule = 0)
CHANGE(no_persist, PROFILE.persist = false)
CHANGE(no_node, SEAT.numa_node = MACHINE_UNKNOWN)
CHANGE(closed, P->active_mtu = 0)
CHANGE(mtu_1024, P->active_mtu = 1024)

BEGIN(one_subnet)
{
	for (unsigned int i = 0; i < 2; i++) {
		h->port[i].seat.subnet_count = 1;
		strcpy(h->port[i].seat.subnet[0].cidr, "198.18.0.0/24");
	}
}
CHANGE(two_subnets, one_subnet(h); strcpy(SEAT.subnet[0].cidr, "198.18.1.0/24"))
CHANGE(arp_answers, one_subnet(h); SEAT.arp_ignore = 0)
CHANGE(arp_unknown, one_subnet(h); SEAT.arp_announce = MACHINE_UNKNOWN)
CHANGE(arp_asks, one_subnet(h); SEAT.arp_announce = 0)
CHANGE(strict_filter, SEAT.rp_filter = 1)
CHANGE(strict_one, SEAT.rp_filter = 1; h->host.before.port_count = 1)
CHANGE(filter_unknown, SEAT.rp_filter = MACHINE_UNKNOWN)
CHANGE(forwards, SEAT.forwarding = 1)
CHANGE(forwarding_unknown, SEAT.forwarding = MACHINE_UNKNOWN)

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
CHANGE(agent_runs, Q.has |= QOS_BIT(QOS_FIRMWARE_AGENT); Q.firmware_agent = 1)
CHANGE(two_agents, agent_runs(h); MACHINE.lldpd = 812)
CHANGE(not_host, Q.dcbx_mode = QOS_DCBX_IEEE)
BEGIN(lldpad)
{
	struct machine_owner *o = &MACHINE.owner[MACHINE.owner_count++];

	MACHINE.lldpad = o->pid = 700;
	strcpy(o->kind, "lldpad");
}
CHANGE(lldpad_no_wish, lldpad(h); no_profile(h))
CHANGE(lldpad_setter, lldpad(h); setter(h))
CHANGE(lldpad_waits, MACHINE.owner_count = 1; strcpy(MACHINE.owner[0].kind, "lldpad-socket"))
CHANGE(owner_unknown, MACHINE.owner_count = 1; strcpy(MACHINE.owner[0].kind, "new"))
CHANGE(other_firmware, strcpy(h->port[1].firmware, "28.39.1002"))
CHANGE(other_mtu, h->port[1].qos.mtu = 1500)
CHANGE(dropped, P->counters.value[METRIC_OUT_OF_BUFFER][0] = 3)
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
	strcpy(P->peer_name, "leaf1");
	strcpy(P->peer_dialect, "ieee");
	P->peer = Q;
	P->peer.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) |
		      QOS_BIT(QOS_TC_TX_BW);
	qos_app_add(&P->peer,
		    (struct qos_app){.selector = QOS_APP_DGRAM, .prio = 3, .protocol = 4791});
}
CHANGE(listened_alone, h->listened = true)
CHANGE(switch_no_pfc, switch_heard(h); P->peer.has &= ~QOS_BIT(QOS_PFC_ENABLED))
CHANGE(switch_cee, switch_heard(h); strcpy(P->peer_dialect, "cee"))
CHANGE(switch_ets, switch_heard(h); P->peer.prio_tc[1] = 5)
CHANGE(switch_no_ets, switch_heard(h); P->peer.has = QOS_BIT(QOS_PFC_ENABLED))
CHANGE(switch_app, switch_heard(h); P->peer.app[0].prio = 4)
CHANGE(switch_ethertype, switch_app(h); P->peer.app[0].selector = QOS_APP_ETHERTYPE;
       P->peer.app[0].protocol = 0x8915)
CHANGE(switch_other_app, switch_app(h); P->peer.app[0].protocol = 3260)
CHANGE(switch_stream, switch_app(h); P->peer.app[0].selector = QOS_APP_STREAM)
CHANGE(switch_lldp_alone, switch_heard(h); P->peer_dialect[0] = '\0')
CHANGE(switch_dscp, switch_no_ets(h); P->peer.has |= QOS_BIT(QOS_DSCP_PRIO);
       P->peer.dscp_prio[26] = 5)
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
CHANGE(peer_heard, h->listened = true; P->peer.has = QOS_BIT(QOS_PFC_ENABLED);
       P->peer.pfc_enabled = 1 << 4)

#endif
