/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the rule table, one function per rule. Fabric checks begin their findings; port
 * checks run for each port with a finding begun, and set its verdict.
 */
#ifndef REPORTS_CHECKS_H
#define REPORTS_CHECKS_H

#include "reports/engine/rule.h"

#define FABRIC_CHECK(name)                                                                         \
	void name(const struct rule *rule, const struct rule_context *c, struct findings *out)
#define PORT_CHECK(name) void name(const struct port_ctx *s, struct findings *out)

/* Begins the finding of the host (check_host.c). Without machine data sets INCONCLUSIVE and returns
 * NULL. */
const struct host_state *check_begin_host(const struct rule *rule, const struct rule_context *c,
					  struct findings *out);

/* check_meta.c */
PORT_CHECK(check_meta_counters);
PORT_CHECK(check_meta_load);
PORT_CHECK(check_meta_reset);
PORT_CHECK(check_meta_capture);
PORT_CHECK(check_meta_visible);
PORT_CHECK(check_meta_foreign);
FABRIC_CHECK(check_meta_hosts);
PORT_CHECK(check_meta_changed);
FABRIC_CHECK(check_meta_ports);
FABRIC_CHECK(check_meta_allow);

/* check_pfc.c */
PORT_CHECK(check_pfc_none);
PORT_CHECK(check_pfc_mask);
PORT_CHECK(check_pfc_peer);
PORT_CHECK(check_pfc_global_pause);
PORT_CHECK(check_pfc_loss);
PORT_CHECK(check_pfc_lossy_pause);
PORT_CHECK(check_pfc_idle_pause);
PORT_CHECK(check_pfc_pause_instead);
PORT_CHECK(check_pfc_buffer);
PORT_CHECK(check_pfc_count);
PORT_CHECK(check_pfc_stray_pause);
PORT_CHECK(check_pfc_storm);

/* check_incast.c. The first sets the verdict of a port that received in an incast: lost, lossless,
 * or not put to the test; false when there was no incast to it. */
bool incast_check_loss(const struct port_ctx *s, struct findings *out);
PORT_CHECK(check_incast_paused);
PORT_CHECK(check_incast_marks);
PORT_CHECK(check_incast_rate_cut);
PORT_CHECK(check_incast_cnps);
PORT_CHECK(check_incast_control);
PORT_CHECK(check_incast_canary);
PORT_CHECK(check_incast_breaker);
PORT_CHECK(check_incast_shares);

/* check_across.c: compares one setting of all hosts, chosen by the rule id */
FABRIC_CHECK(check_across);

/* check_qos.c: settings */
PORT_CHECK(check_qos_trust);
PORT_CHECK(check_qos_map);
PORT_CHECK(check_qos_lossy);
PORT_CHECK(check_qos_cm_tos);
PORT_CHECK(check_qos_untagged);
PORT_CHECK(check_qos_egress);
PORT_CHECK(check_qos_holes);
PORT_CHECK(check_qos_clash);
PORT_CHECK(check_qos_forced);
PORT_CHECK(check_qos_cnp);

/* check_marking.c: packets and byte counters */
PORT_CHECK(check_qos_sent_dscp);
PORT_CHECK(check_qos_rewritten);
PORT_CHECK(check_qos_ecn_cleared);
PORT_CHECK(check_qos_arrival);
PORT_CHECK(check_net_lost);

/* check_job.c: a job of the user */
PORT_CHECK(check_job_prio);
FABRIC_CHECK(check_job_result);

/* check_isolate.c: the common place of what marking tests found */
FABRIC_CHECK(check_net_isolate);

/* check_ets.c */
PORT_CHECK(check_ets_sum);
PORT_CHECK(check_ets_shared);
PORT_CHECK(check_ets_strict);
PORT_CHECK(check_ets_share);
PORT_CHECK(check_ets_cap);
PORT_CHECK(check_ets_rate);
PORT_CHECK(check_ets_starve);

/* check_ecn.c */
PORT_CHECK(check_ecn_ect);
PORT_CHECK(check_ecn_idle);
PORT_CHECK(check_ecn_cnp);
PORT_CHECK(check_ecn_driver);
PORT_CHECK(check_ecn_np);
PORT_CHECK(check_ecn_rp);
PORT_CHECK(check_ecn_params);

/* check_mtu.c */
PORT_CHECK(check_mtu_rdma);
PORT_CHECK(check_mtu_path);
PORT_CHECK(check_mtu_jumbo);

/* check_gid.c */
PORT_CHECK(check_gid_version);
FABRIC_CHECK(check_gid_index);
PORT_CHECK(check_gid_address);
FABRIC_CHECK(check_gid_duplicate);
PORT_CHECK(check_gid_cm);

/* port_signs.c: RC-PFC-027, RC-TRN-004 and -007 */
PORT_CHECK(check_port_sign);

/* check_transport.c */
PORT_CHECK(check_transport_retransmits);
PORT_CHECK(check_transport_icrc);
PORT_CHECK(check_transport_dropped);
PORT_CHECK(check_transport_unsent);
/* One of three rules, by what ended the traffic. */
PORT_CHECK(check_transport_ended);

/* port_events.c: by the rule id */
PORT_CHECK(check_port_events);

/* check_env.c */
PORT_CHECK(check_env_guest);
PORT_CHECK(check_env_iwarp);
PORT_CHECK(check_env_device);
PORT_CHECK(check_env_link);
PORT_CHECK(check_env_dcb);

/* check_host.c: the machine */
FABRIC_CHECK(check_host_governor);
FABRIC_CHECK(check_host_memlock);
FABRIC_CHECK(check_host_balancing);
FABRIC_CHECK(check_host_modules);
FABRIC_CHECK(check_host_idle);
FABRIC_CHECK(check_host_privilege);
PORT_CHECK(check_host_verbs);
PORT_CHECK(check_host_roce);
PORT_CHECK(check_host_node);
PORT_CHECK(check_host_irqs);
PORT_CHECK(check_host_iommu);
PORT_CHECK(check_host_pcie);
PORT_CHECK(check_env_mana);
PORT_CHECK(check_env_pvrdma);

/* check_owner.c: other writers of DCB, rails, routing */
PORT_CHECK(check_top_firmware);
FABRIC_CHECK(check_top_setters);
PORT_CHECK(check_top_willing);
FABRIC_CHECK(check_top_persist);
PORT_CHECK(check_top_rails);
PORT_CHECK(check_net_arp);
PORT_CHECK(check_net_rp_filter);
PORT_CHECK(check_net_forwarding);

/* check_lldp_peer.c: LLDP of the link partner */
PORT_CHECK(check_lldp_peer_pfc);
PORT_CHECK(check_lldp_peer_dialect);
PORT_CHECK(check_lldp_peer_alone);
PORT_CHECK(check_lldp_peer_ets);
PORT_CHECK(check_lldp_peer_app);

/* check_capture.c: a capture */
FABRIC_CHECK(check_cap_drops);
FABRIC_CHECK(check_cap_visible);
FABRIC_CHECK(check_cap_both);
FABRIC_CHECK(check_cap_lost);
FABRIC_CHECK(check_cap_flows);
FABRIC_CHECK(check_cap_frames);
FABRIC_CHECK(check_cap_order);
FABRIC_CHECK(check_cap_missing);
FABRIC_CHECK(check_cap_icrc);
FABRIC_CHECK(check_cap_pause);
FABRIC_CHECK(check_cap_dscp);
FABRIC_CHECK(check_cap_neighbours);

/* check_pfc_timing.c: pauses, marks and CNPs in a capture */
FABRIC_CHECK(check_cap_cnp);
FABRIC_CHECK(check_cap_paused);
FABRIC_CHECK(check_cap_storm);
FABRIC_CHECK(check_cap_ran_out);
FABRIC_CHECK(check_cap_held);
FABRIC_CHECK(check_cap_cnp_close);
FABRIC_CHECK(check_cap_marked);
FABRIC_CHECK(check_cap_mirror);

#endif
