/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over traffic, counters and captures: marking, loss, pause, ECN, path MTU.
 */
#include "tests/unit/reports/rules/traffic_faults.h"

static void no_counters(struct fabric_run *f)
{
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		lose_metric(f, m);
}

static void no_readings(struct fabric_run *f)
{
	f->port[0].has = f->port[1].has = 0;
}

static void events(struct fabric_run *f)
{
	static const enum metric of_port[] = {METRIC_CNP_IGNORED, METRIC_SYMBOL_ERRORS,
					      METRIC_LINK_DOWN, METRIC_PAUSE_STORM,
					      METRIC_BUFFER_HIGH};

	for (unsigned int i = 0; i < ARRAY_SIZE(of_port); i++)
		for (unsigned int r = READ_LOAD_AFTER; r < READ_COUNT; r++)
			f->port[1].reading[r].value[of_port[i]][0]++;
}

/* Between the phases, and two times in the incast. */
static void lost_in_incast(struct fabric_run *f)
{
	for (unsigned int r = READ_INCAST_BEFORE; r < READ_COUNT; r++)
		f->port[1].reading[r].value[METRIC_LINK_DOWN][0] += r == READ_INCAST_BEFORE ? 7 : 9;
}

static void lost_in_marking(struct fabric_run *f)
{
	for (unsigned int r = READ_LOAD_BEFORE; r < READ_COUNT; r++)
		f->port[1].reading[r].value[METRIC_LINK_DOWN][0]++;
}

static void lost_in_a_pause(struct fabric_run *f)
{
	lost_in_marking(f);
	f->run.continued = true;
}

static void no_capture(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->port[i].has_capture = false;
		snprintf(f->port[i].capture_error, sizeof(f->port[i].capture_error),
			 "Operation not permitted");
	}
}

static void blind(struct fabric_run *f)
{
	no_counters(f);
	no_capture(f);
}

static void blind_and_unchecked(struct fabric_run *f)
{
	blind(f);
	f->pair[0].server.checked_bytes = f->pair[1].server.checked_bytes = 0;
}

static void blind_tos(struct fabric_run *f)
{
	no_capture(f);
	for (unsigned int i = 0; i < 2; i++)
		f->before[i].qos.has &= ~QOS_BIT(QOS_CM_TOS);
}

/* On real NICs, where captures see no RoCE: the marking tests decide. */
static void marking_only(struct fabric_run *f)
{
	no_capture(f);
	add_marking(f, MARKING_KINDS);
}

static void uncounted_but_marked(struct fabric_run *f)
{
	marking_only(f);
	lose_metric(f, METRIC_PRIO_RX_BYTES);
}

static void marking_dscp(struct fabric_run *f)
{
	no_capture(f);
	add_marking(f, MARKING_DSCP);
}

static void marking_ecn(struct fabric_run *f)
{
	no_capture(f);
	add_marking(f, MARKING_ECT_CLEARED);
}

static void marking_mtu(struct fabric_run *f)
{
	add_marking(f, MARKING_MTU);
}

static void marking_ce(struct fabric_run *f)
{
	add_marking(f, MARKING_CE);
}

/* Of another class than RoCE's, whose DSCP the finding has. */
static void marking_blocked(struct fabric_run *f)
{
	add_marking(f, MARKING_BLACKHOLE);
	f->run.marking[0].finding[0].class = 2;
	f->run.marking[0].finding[0].from = 48;
}

static void marking_lost(struct fabric_run *f)
{
	add_marking(f, MARKING_LOST);
}

static void marking_unheard(struct fabric_run *f)
{
	marking_only(f);
	f->marking.arrived[SIDE_CLIENT] = 0;
}

static void marking_failed(struct fabric_run *f)
{
	marking_only(f);
	f->marking.ran = false;
}

/* One of two tests of h1 did not run. */
static void marking_partly(struct fabric_run *f)
{
	static struct run_marking both[2];

	marking_only(f);
	both[0] = both[1] = f->marking;
	both[1].ran = false;
	f->run.marking = both;
	f->run.marking_count = 2;
}

static void marking_wrong_tos(struct fabric_run *f)
{
	marking_only(f);
	f->marking.tos[SIDE_SERVER] = 42;
}

/* The capture is not whole, but the tests are. */
static void marking_and_drops(struct fabric_run *f)
{
	f->port[0].capture.drops = DROPS_SOME;
	f->port[0].capture.dropped = 7;
	add_marking(f, MARKING_KINDS);
}

static void no_traffic(struct fabric_run *f)
{
	f->run.traffic = false;
	f->run.pair_count = 0;
}

static void not_run(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->pair[i].ran = false;
		snprintf(f->pair[i].error, sizeof(f->pair[i].error), "no route to host");
	}
}

/* The load was not reached, nothing else is wrong. */
static void too_slow(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++)
		f->pair[i].asked_bytes_per_s = 50000000;
}

static void capture_drops(struct fabric_run *f)
{
	f->port[1].capture.drops = DROPS_SOME;
	f->port[1].capture.dropped = 7;
}

static void wrong_dscp(struct fabric_run *f)
{
	f->flow[1][1].dscp[26] = 3000;
	f->flow[1][1].dscp[0] = 1000;
}

static void wrong_dscp_and_slow(struct fabric_run *f)
{
	wrong_dscp(f);
	too_slow(f);
}

/* CNPs carry DSCP 48 and Not-ECT, as the profile may want: neither is a fault. */
static void cnps(struct fabric_run *f)
{
	for (unsigned int at = 0; at < 2; at++) {
		f->flow[at][1].cnp = 50;
		f->flow[at][1].dscp[48] = 50;
		f->flow[at][1].ecn[0] = 50;
	}
}

/* The NIC of h2 sent them behind its capture. */
static void cnps_of_nic(struct fabric_run *f)
{
	f->flow[0][1].cnp = 50;
	f->flow[0][1].dscp[48] = 50;
}

static void cnps_and_rewritten(struct fabric_run *f)
{
	cnps_of_nic(f);
	f->flow[0][1].dscp[8] = 100;
}

static void one_neighbour(struct fabric_run *f)
{
	f->port[0].capture.lldp_peer =
		(struct lldp_peer){.seen = true, .neighbours = 1, .system = "leaf1"};
}

static void two_neighbours(struct fabric_run *f)
{
	one_neighbour(f);
	f->port[0].capture.lldp_peer.neighbours = 2;
}

static void gsi(struct fabric_run *f)
{
	f->flow[1][1].dest_qpn = f->flow[0][1].dest_qpn = 1;
	wrong_dscp(f);
}

static void rewritten(struct fabric_run *f)
{
	f->flow[0][1].dscp[26] = 0;
	f->flow[0][1].dscp[8] = 4000;
}

static void one_end_captured(struct fabric_run *f)
{
	f->port[1].has_capture = false;
}

static void other_qp(struct fabric_run *f)
{
	f->flow[0][1].dest_qpn = 99;
	f->flow[1][0].dest_qpn = 98;
}

static void ecn_cleared(struct fabric_run *f)
{
	f->flow[0][1].ecn[2] = 0;
	f->flow[0][1].ecn[0] = 4000;
}

static void marked_on_the_way(struct fabric_run *f)
{
	f->flow[0][1].ecn[2] = 3900;
	f->flow[0][1].ecn[3] = 100;
}

static void sent_not_ect(struct fabric_run *f)
{
	for (unsigned int at = 0; at < 2; at++) {
		f->flow[at][1].ecn[2] = 0;
		f->flow[at][1].ecn[0] = 4000;
	}
}

static void tos_not_ect(struct fabric_run *f)
{
	f->before[1].qos.cm_tos = 104;
}

static void profile_not_ect(struct fabric_run *f)
{
	f->fabric.profile.qos.cm_tos = 104;
}

static void arrives_and_more(struct fabric_run *f)
{
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][0] += 90000000;
}

/* All that came was what others sent. */
static void delivers_nothing(struct fabric_run *f)
{
	struct counters *c = &f->port[1].reading[READ_LOAD_AFTER];

	c->value[METRIC_PRIO_RX_BYTES][0] += 2000;
	c->value[METRIC_PRIO_RX_BYTES][3] = 100;
	for (unsigned int i = 0; i < ARRAY_SIZE(f->pair); i++)
		f->pair[i].server.bytes = 0;
}

static void ce_seen(struct fabric_run *f)
{
	grow(f, 1, METRIC_ECN_MARKED_RX, 0, 40);
}

static void ce_answered(struct fabric_run *f)
{
	ce_seen(f);
	grow(f, 1, METRIC_CNP_TX, 0, 3);
}

static void ce_captured(struct fabric_run *f)
{
	no_counters(f);
	f->flow[1][0].ecn[2] = 3900;
	f->flow[1][0].ecn[3] = 100;
}

static void ce_and_cnps_captured(struct fabric_run *f)
{
	ce_captured(f);
	f->flow[1][1].cnp = 7;
}

static void ce_captured_cnps_counted(struct fabric_run *f)
{
	ce_captured(f);
	for (unsigned int r = 0; r < READ_COUNT; r++)
		count(&f->port[1].reading[r], METRIC_CNP_TX, 0, 0);
}

static void ce_counted_alone(struct fabric_run *f)
{
	ce_seen(f);
	lose_metric(f, METRIC_CNP_TX);
	no_capture(f);
}

static void gaps(struct fabric_run *f)
{
	grow(f, 1, METRIC_OUT_OF_SEQUENCE, 0, 3);
}

static void gaps_uncounted(struct fabric_run *f)
{
	lose_metric(f, METRIC_OUT_OF_SEQUENCE);
}

static void retransmits_uncounted(struct fabric_run *f)
{
	lose_metric(f, METRIC_RETRANSMITS);
}

/* A NIC that counts neither gaps nor NAKs, but retransmissions. */
static void retransmits_alone(struct fabric_run *f)
{
	lose_metric(f, METRIC_OUT_OF_SEQUENCE);
	lose_metric(f, METRIC_SEQ_NAK_RX);
}

static void retransmits_grow(struct fabric_run *f)
{
	retransmits_alone(f);
	f->before[1].kind = f->after[1].kind = PORT_ROCE_PF;
	grow(f, 1, METRIC_RETRANSMITS, 0, 2);
}

/* A NIC that counts none of it: pairs run without retransmission. */
static void strict(struct fabric_run *f)
{
	no_counters(f);
	f->pair[0].strict = f->pair[1].strict = true;
}

static void strict_and_retransmits(struct fabric_run *f)
{
	retransmits_grow(f);
	f->pair[0].strict = f->pair[1].strict = true;
}

static void strict_loss(struct fabric_run *f)
{
	strict(f);
	f->pair[1].losses = 2;
}

static void gaps_and_slow(struct fabric_run *f)
{
	gaps(f);
	too_slow(f);
}

/* On Soft-RoCE every RNR NAK is followed by a gap that is none. */
static void gaps_of_rnr(struct fabric_run *f)
{
	gaps(f);
	grow(f, 1, METRIC_RNR_NAK_TX, 0, 3);
}

static void gaps_beside_rnr_on_hardware(struct fabric_run *f)
{
	gaps_of_rnr(f);
	f->before[1].kind = f->after[1].kind = PORT_ROCE_PF;
}

/* A queue pair that gave up on a receiver that was not ready, with all that comes of RNRs. */
static void rnr_to_death(struct fabric_run *f)
{
	gaps_of_rnr(f);
	grow(f, 1, METRIC_RNR_NAK_RX, 0, 3);
	grow(f, 1, METRIC_SEQ_NAK_RX, 0, 3);
	grow(f, 1, METRIC_RETRANSMITS, 0, 3);
	grow(f, 1, METRIC_DUPLICATE_REQUEST, 0, 2);
	grow(f, 1, METRIC_RETRY_EXCEEDED, 0, 1);
	grow(f, 1, METRIC_RNR_EXCEEDED, 0, 1);
}

static void answers_missed(struct fabric_run *f)
{
	grow(f, 1, METRIC_RESPONSE_LOST, 0, 2);
}

static void naks(struct fabric_run *f)
{
	grow(f, 1, METRIC_SEQ_NAK_RX, 0, 2);
}

static void spurious(struct fabric_run *f)
{
	grow(f, 1, METRIC_RETRANSMITS, 0, 9);
	grow(f, 1, METRIC_DUPLICATE_REQUEST, 0, 9);
}

/* Both ends count their packets: what h1 sent, and came to h2, and back. */
static void packets_counted(struct fabric_run *f, uint64_t sent, uint64_t came)
{
	grow(f, 0, METRIC_RDMA_TX_PACKETS, 0, sent);
	grow(f, 1, METRIC_RDMA_RX_PACKETS, 0, came);
	grow(f, 1, METRIC_RDMA_TX_PACKETS, 0, 70);
	grow(f, 0, METRIC_RDMA_RX_PACKETS, 0, 70);
}

static void spurious_counted(struct fabric_run *f, uint64_t sent, uint64_t came)
{
	spurious(f);
	packets_counted(f, sent, came);
}

static void gaps_all_came(struct fabric_run *f)
{
	gaps(f);
	packets_counted(f, 4000, 4000);
}

static void gaps_one_missing(struct fabric_run *f)
{
	gaps(f);
	packets_counted(f, 4000, 3999);
}

static void gaps_all_came_and_died(struct fabric_run *f)
{
	gaps_all_came(f);
	f->pair[1].client.cause = CAUSE_RETRY_EXCEEDED;
}

static void one_missing(struct fabric_run *f)
{
	packets_counted(f, 4000, 3999);
}

static void spurious_all_came(struct fabric_run *f)
{
	spurious_counted(f, 4000, 4000);
}

static void spurious_one_missing(struct fabric_run *f)
{
	spurious_counted(f, 4000, 3999);
}

/* Others sent before the load: its packets may be theirs. */
static void spurious_one_missing_beside_others(struct fabric_run *f)
{
	spurious_one_missing(f);
	for (unsigned int r = READ_QUIET_AFTER; r < READ_COUNT; r++)
		f->port[0].reading[r].value[METRIC_RDMA_TX_PACKETS][0] += 5;
}

static void spurious_sent_unknown(struct fabric_run *f)
{
	spurious_all_came(f);
	lose_metric(f, METRIC_RDMA_TX_PACKETS);
}

/* h2 hears from outside the run, too. */
static void spurious_more_came(struct fabric_run *f)
{
	spurious_counted(f, 4000, 4001);
}

static void spurious_all_came_on_hardware(struct fabric_run *f)
{
	spurious_all_came(f);
	f->before[0].kind = f->after[0].kind = PORT_ROCE_PF;
}

static void spurious_on_hardware(struct fabric_run *f)
{
	spurious_all_came(f);
	f->before[1].kind = f->after[1].kind = PORT_ROCE_PF;
}

static void spurious_under_pause(struct fabric_run *f)
{
	spurious_on_hardware(f);
	grow(f, 1, METRIC_PFC_RX_FRAMES, 3, 30);
}

static void died(struct fabric_run *f)
{
	f->pair[1].client.cause = CAUSE_RETRY_EXCEEDED;
	snprintf(f->pair[1].client.detail, sizeof(f->pair[1].client.detail), "RETRY_EXC_ERR");
}

static void rnr(struct fabric_run *f)
{
	grow(f, 1, METRIC_RNR_NAK_RX, 0, 4);
}

static void rnr_died(struct fabric_run *f)
{
	f->pair[1].client.cause = CAUSE_RNR;
}

/* Each of them was answered with an RNR NAK. */
static void no_buffer(struct fabric_run *f)
{
	grow(f, 1, METRIC_OUT_OF_BUFFER, 0, 6);
}

static void bad_fcs(struct fabric_run *f)
{
	grow(f, 1, METRIC_RX_CRC_ERRORS, 0, 7);
}

static void paused_long(struct fabric_run *f)
{
	grow(f, 1, METRIC_PFC_RX_PAUSE_US, 5, 9000000);
}

static void pauses_untimed(struct fabric_run *f)
{
	lose_metric(f, METRIC_PFC_RX_PAUSE_US);
}

static void refused(struct fabric_run *f)
{
	f->pair[1].server.cause = CAUSE_REMOTE;
	snprintf(f->pair[1].server.detail, sizeof(f->pair[1].server.detail), "REM_ACCESS_ERR");
}

static void stalled(struct fabric_run *f)
{
	f->pair[1].client.cause = CAUSE_TIMEOUT;
}

/* h1 died, and the traffic with it. */
static void stalled_by_death(struct fabric_run *f)
{
	stalled(f);
	snprintf(f->host[0].error, sizeof(f->host[0].error), "no answer");
}

static void not_sent(struct fabric_run *f)
{
	grow(f, 0, METRIC_SEND_ERRORS, 0, 5);
}

static void not_sent_and_missed(struct fabric_run *f)
{
	not_sent(f);
	grow(f, 1, METRIC_OUT_OF_SEQUENCE, 0, 3);
}

static void send_errors_uncounted(struct fabric_run *f)
{
	lose_metric(f, METRIC_SEND_ERRORS);
	lose_metric(f, METRIC_TX_DISCARDS);
}

static void only_port_discards(struct fabric_run *f)
{
	lose_metric(f, METRIC_PRIO_RX_DISCARDS);
	lose_metric(f, METRIC_OUT_OF_BUFFER);
	lose_metric(f, METRIC_RDMA_RX_DISCARDS);
	grow(f, 1, METRIC_RX_DISCARDS, 0, 8);
}

static void icrc_counted(struct fabric_run *f)
{
	grow(f, 1, METRIC_ICRC_ERRORS, 0, 1);
}

static void icrc_captured(struct fabric_run *f)
{
	no_counters(f);
	f->flow[1][0].icrc_good--;
	f->flow[1][0].icrc_bad++;
}

static void wrong_bytes(struct fabric_run *f)
{
	f->pair[0].server.mismatches = 1;
}

/* The data of a READ comes back to the client. */
static void wrong_bytes_read(struct fabric_run *f)
{
	f->pair[0].verb = TRAFFIC_READ;
	f->pair[0].client.mismatches = 1;
}

static void congested(struct fabric_run *f)
{
	grow(f, 1, METRIC_PFC_RX_FRAMES, 3, 12);
}

/* As mlx5 does. */
static void lossy_uncounted(struct fabric_run *f)
{
	for (unsigned int r = 0; r < READ_COUNT; r++)
		f->port[1].reading[r].has[METRIC_PFC_RX_FRAMES] = 1 << 3;
}

static void pause_on_lossy(struct fabric_run *f)
{
	grow(f, 1, METRIC_PFC_RX_FRAMES, 5, 12);
}

static void idle_pause(struct fabric_run *f)
{
	for (unsigned int r = READ_QUIET_AFTER; r < READ_COUNT; r++)
		f->port[1].reading[r].value[METRIC_PFC_TX_FRAMES][3] += 5;
}

/* Only the time of pauses is counted. */
static void idle_paused_time(struct fabric_run *f)
{
	lose_metric(f, METRIC_PFC_RX_FRAMES);
	for (unsigned int r = 0; r < READ_COUNT; r++)
		count(&f->port[1].reading[r], METRIC_PFC_RX_PAUSE_US, 3,
		      r < READ_QUIET_AFTER ? 100 : 900);
}

static void received_pause_uncounted(struct fabric_run *f)
{
	lose_metric(f, METRIC_PFC_RX_FRAMES);
	lose_metric(f, METRIC_PFC_RX_PAUSE_US);
}

static void congested_gaps_uncounted(struct fabric_run *f)
{
	congested(f);
	gaps_uncounted(f);
}

static void congested_strict(struct fabric_run *f)
{
	congested_gaps_uncounted(f);
	f->pair[0].strict = f->pair[1].strict = true;
}

static void nothing_arrives(struct fabric_run *f)
{
	f->pair[1].server.messages = 0;
	died(f);
}

static void nothing_large_arrives(struct fabric_run *f)
{
	nothing_arrives(f);
	f->flow[0][1].max_payload = 0;
}

static void small_messages(struct fabric_run *f)
{
	f->fabric.message_bytes = 1024;
}

/* clang-format off */
static const struct rule_case cases[] = {
	{ "RC-QOS-006", NULL, "h2", VERDICT_PASS, "DSCP 26" },
	{ "RC-QOS-006", cnps, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-006", wrong_dscp, "h2", VERDICT_FAIL, "DSCP 0, the profile wants 26"},
	{ "RC-QOS-006", wrong_dscp_and_slow, "h2", VERDICT_FAIL, NULL },
	{ "RC-QOS-006", wrong_dscp, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-006", gsi, "h2", VERDICT_INCONCLUSIVE, "no RoCE packet" },
	{ "RC-QOS-006", no_capture, "h2", VERDICT_INCONCLUSIVE, "not permitted" },
	{ "RC-QOS-006", too_slow, "h2", VERDICT_INCONCLUSIVE, "RC-META-002" },
	{ "RC-QOS-006", capture_drops, "h2", VERDICT_INCONCLUSIVE, "RC-META-004" },
	{ "RC-QOS-006", not_run, "h2", VERDICT_INCONCLUSIVE, "no route to host" },
	{ "RC-QOS-006", no_traffic, "", VERDICT_SKIP, "no traffic" },
	{ "RC-QOS-007", NULL, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-007", cnps_of_nic, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-007", cnps_and_rewritten, "h1", VERDICT_FAIL, "arrives as" },
	{ "RC-QOS-007", rewritten, "h1", VERDICT_FAIL, "DSCP 26 from h2 arrives as 8" },
	{ "RC-QOS-007", one_end_captured, "h1", VERDICT_INCONCLUSIVE, "both ends" },
	{ "RC-QOS-007", other_qp, "h1", VERDICT_INCONCLUSIVE, "both ends" },
	{ "RC-QOS-006", marking_only, "h2", VERDICT_PASS, "DSCP 26" },
	{ "RC-QOS-006", marking_wrong_tos, "h2", VERDICT_FAIL, "DSCP 10, the profile wants 26" },
	{ "RC-QOS-006", marking_wrong_tos, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-007", marking_only, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-007", marking_dscp, "h1", VERDICT_FAIL, "DSCP 26 from h2 arrives as 8" },
	{ "RC-QOS-007", marking_dscp, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-007", marking_ecn, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-007", marking_unheard, "h1", VERDICT_INCONCLUSIVE, "not permitted" },
	{ "RC-QOS-007", marking_failed, "h1", VERDICT_INCONCLUSIVE, "not permitted" },
	{ "RC-QOS-007", capture_drops, "h2", VERDICT_INCONCLUSIVE, "RC-META-004" },
	{ "RC-QOS-007", marking_and_drops, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-008", marking_only, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-008", marking_ecn, "h1", VERDICT_FAIL, "from h2 are changed on the path" },
	{ "RC-QOS-008", marking_ecn, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-008", NULL, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-008", cnps, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-008", marked_on_the_way, "h1", VERDICT_PASS, NULL },
	{ "RC-QOS-008", ecn_cleared, "h1", VERDICT_FAIL, "from h2" },
	{ "RC-QOS-008", sent_not_ect, "h1", VERDICT_SKIP, "h2 sends Not-ECT" },
	{ "RC-QOS-008", one_end_captured, "h1", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-QOS-011", NULL, "h2", VERDICT_PASS, "priority 3" },
	{ "RC-QOS-011", arrives_and_more, "h2", VERDICT_PASS, NULL },
	{ "RC-QOS-011", arrives_elsewhere, "h2", VERDICT_FAIL, "priority 5, wanted 3" },
	{ "RC-QOS-011", arrives_unseen, "h2", VERDICT_INCONCLUSIVE, "did not count" },
	{ "RC-QOS-011", delivers_nothing, "h2", VERDICT_INCONCLUSIVE, "nothing was delivered" },
	{ "RC-QOS-011", no_counters, "h2", VERDICT_INCONCLUSIVE, "does not count" },
	{ "RC-QOS-011", uncounted_but_marked, "h2", VERDICT_SKIP, "does not count" },
	{ "RC-QOS-011", no_readings, "h2", VERDICT_INCONCLUSIVE, "were not read" },
	{ "RC-ECN-010", NULL, "h1", VERDICT_SKIP, "no marking test" },
	{ "RC-ECN-010", marking_only, "h1", VERDICT_PASS, "no packet is marked CE" },
	{ "RC-ECN-010", marking_ce, "h1", VERDICT_WARN, "from h2 arrive with CE" },
	{ "RC-ECN-004", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-ECN-004", cnps, "h2", VERDICT_PASS, NULL },
	{ "RC-ECN-004", sent_not_ect, "h2", VERDICT_FAIL, "sent Not-ECT" },
	{ "RC-ECN-004", tos_not_ect, "h2", VERDICT_FAIL, "ToS 104" },
	{ "RC-ECN-004", profile_not_ect, "h2", VERDICT_FAIL, "profile itself" },
	{ "RC-ECN-004", blind_tos, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ECN-006", NULL, "h2", VERDICT_SKIP, "no CNP was due" },
	{ "RC-ECN-006", ce_answered, "h2", VERDICT_PASS, NULL },
	{ "RC-ECN-006", ce_seen, "h2", VERDICT_FAIL, "40 packets" },
	{ "RC-ECN-006", ce_captured, "h2", VERDICT_INCONCLUSIVE, "the capture shows none" },
	{ "RC-ECN-006", ce_and_cnps_captured, "h2", VERDICT_PASS, "100 CE packets were answered with 7 CNPs" },
	{ "RC-ECN-006", ce_captured_cnps_counted, "h2", VERDICT_FAIL, "100 packets" },
	{ "RC-ECN-006", ce_counted_alone, "h2", VERDICT_INCONCLUSIVE, "does not count the CNPs that it sends" },
	{ "RC-ECN-006", blind, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-001", gaps, "h2", VERDICT_FAIL, "3 sequence gaps" },
	{ "RC-TRN-001", gaps_all_came, "h2", VERDICT_FAIL, "arrived out of order: 3 sequence gaps" },
	{ "RC-TRN-001", gaps_one_missing, "h2", VERDICT_FAIL, "3 sequence gaps; 1 of 4070 packets" },
	{ "RC-TRN-001", gaps_all_came_and_died, "h2", VERDICT_FAIL, "3 sequence gaps, 1 failed queue pairs" },
	{ "RC-TRN-001", one_missing, "h1", VERDICT_WARN, "none was retransmitted: ACKs were lost" },
	{ "RC-TRN-001", retransmits_uncounted, "h2", VERDICT_PASS, "does not count retransmissions" },
	{ "RC-TRN-001", gaps_and_slow, "h2", VERDICT_FAIL, NULL },
	{ "RC-TRN-001", gaps_of_rnr, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-001", gaps_beside_rnr_on_hardware, "h2", VERDICT_FAIL, NULL },
	{ "RC-TRN-001", rnr_to_death, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-001", answers_missed, "h2", VERDICT_FAIL, "2 missing responses" },
	{ "RC-TRN-001", naks, "h2", VERDICT_FAIL, "2 sequence NAKs" },
	{ "RC-TRN-001", spurious, "h2", VERDICT_WARN, "18 retries" },
	{ "RC-TRN-001", spurious_all_came, "h2", VERDICT_PASS, "18 retries and duplicates, but all 4070 packets" },
	{ "RC-TRN-001", spurious_one_missing, "h2", VERDICT_FAIL, "1 of 4070 packets never arrived" },
	{ "RC-TRN-001", spurious_one_missing_beside_others, "h2", VERDICT_WARN, "1 of 4070 packets never arrived" },
	{ "RC-TRN-001", spurious_sent_unknown, "h2", VERDICT_WARN, "timer also fires without loss" },
	{ "RC-TRN-001", spurious_more_came, "h2", VERDICT_WARN, "timer also fires without loss" },
	{ "RC-TRN-001", spurious_all_came_on_hardware, "h2", VERDICT_WARN, "timer also fires" },
	{ "RC-TRN-001", spurious_on_hardware, "h2", VERDICT_WARN, "or a response was late" },
	{ "RC-TRN-001", spurious_under_pause, "h2", VERDICT_WARN, "responses were late" },
	{ "RC-TRN-001", died, "h2", VERDICT_FAIL, "1 failed queue pairs" },
	{ "RC-TRN-001", no_counters, "h2", VERDICT_INCONCLUSIVE, "nor retransmissions" },
	{ "RC-TRN-001", retransmits_alone, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-001", retransmits_grow, "h2", VERDICT_INCONCLUSIVE, "2 packets were retransmitted, after a loss or a late response" },
	{ "RC-TRN-001", strict_and_retransmits, "h2", VERDICT_WARN, "transfers without retransmission lost none" },
	{ "RC-TRN-001", strict, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-001", strict_loss, "h2", VERDICT_FAIL, "2 packets without retransmission" },
	{ "RC-TRN-001", strict_loss, "h1", VERDICT_PASS, NULL },
	{ "RC-TRN-001", too_slow, "h2", VERDICT_INCONCLUSIVE, "RC-META-002" },
	{ "RC-TRN-004", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-004", rnr, "h2", VERDICT_WARN, "4 RNR" },
	{ "RC-TRN-004", no_buffer, "h2", VERDICT_WARN, "6 packets without a buffer" },
	{ "RC-TRN-004", no_counters, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-006", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-006", icrc_counted, "h2", VERDICT_FAIL, "1 packets" },
	{ "RC-TRN-006", bad_fcs, "h2", VERDICT_FAIL, "7 frames with a bad FCS" },
	{ "RC-TRN-006", icrc_captured, "h2", VERDICT_FAIL, "ICRC" },
	{ "RC-TRN-006", wrong_bytes, "h2", VERDICT_FAIL, "1 message arrived with wrong contents, the first by write from h1" },
	{ "RC-TRN-006", wrong_bytes_read, "h1", VERDICT_FAIL, "the first by read from h2" },
	{ "RC-TRN-006", wrong_bytes_read, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-006", blind, "h2", VERDICT_PASS, "every compared byte" },
	{ "RC-TRN-006", blind_and_unchecked, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-007", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-007", discards, "h2", VERDICT_FAIL, "8 RoCE packets" },
	{ "RC-TRN-007", no_buffer, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-007", only_port_discards, "h2", VERDICT_WARN, "any protocol" },
	{ "RC-TRN-007", only_port_discards, "h1", VERDICT_PASS, NULL },
	{ "RC-TRN-007", no_counters, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-ECN-007", NULL, "h2", VERDICT_PASS, "congestion notifications ignored: 0" },
	{ "RC-ECN-007", events, "h2", VERDICT_WARN, "congestion notifications ignored: 1" },
	{ "RC-ECN-007", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-LNK-002", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-LNK-002", events, "h2", VERDICT_WARN, "packets: 0, symbol errors on the wire: 1" },
	{ "RC-LNK-002", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-LNK-004", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-LNK-004", events, "h2", VERDICT_FAIL, "link losses: 1" },
	{ "RC-LNK-004", lost_in_incast, "h2", VERDICT_FAIL, "link losses: 2" },
	{ "RC-LNK-004", lost_in_marking, "h2", VERDICT_FAIL, "link losses: 1" },
	{ "RC-LNK-004", lost_in_a_pause, "h2", VERDICT_PASS, NULL },
	{ "RC-LNK-004", no_counters, "h2", VERDICT_SKIP, "does not count link losses" },
	{ "RC-LNK-004", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-014", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-014", events, "h2", VERDICT_WARN, "pause storms seen by the NIC: 1" },
	{ "RC-PFC-014", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-027", NULL, "h2", VERDICT_PASS, "not paused" },
	{ "RC-PFC-027", paused_long, "h2", VERDICT_WARN, "for 9000 of" },
	{ "RC-PFC-027", pauses_untimed, "h2", VERDICT_SKIP, NULL },
	{ "RC-PFC-027", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-011", NULL, "h1", VERDICT_PASS, "sent all" },
	{ "RC-TRN-011", not_sent, "h1", VERDICT_WARN, "failed to send 5 times" },
	{ "RC-TRN-011", not_sent_and_missed, "h1", VERDICT_FAIL, "its remote ports miss 3 packets" },
	{ "RC-TRN-011", not_sent_and_missed, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-011", send_errors_uncounted, "h1", VERDICT_SKIP, "not counted" },
	{ "RC-TRN-011", no_readings, "h1", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-012", NULL, "h1", VERDICT_PASS, "none of" },
	{ "RC-TRN-012", refused, "h1", VERDICT_FAIL, "REM_ACCESS_ERR" },
	{ "RC-TRN-012", refused, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-012", not_run, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-012", no_traffic, "", VERDICT_SKIP, NULL },
	{ "RC-TRN-013", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-013", rnr_died, "h2", VERDICT_FAIL, "1 of" },
	{ "RC-TRN-013", not_run, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-014", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-014", stalled, "h2", VERDICT_FAIL, "1 of" },
	{ "RC-TRN-014", stalled_by_death, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-014", not_run, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-016", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-016", events, "h2", VERDICT_WARN, "nearly full: 1, PCIe stalls: 0" },
	{ "RC-TRN-016", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-010", NULL, "h2", VERDICT_INCONCLUSIVE, "no congestion was made" },
	{ "RC-PFC-010", congested, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-010", gaps, "h2", VERDICT_FAIL, "lost or reordered on lossless priority 3" },
	{ "RC-PFC-010", discards, "h2", VERDICT_FAIL, "lost on lossless priority 3" },
	{ "RC-PFC-010", no_counters, "h2", VERDICT_INCONCLUSIVE, "does not count sequence gaps" },
	{ "RC-PFC-010", congested_gaps_uncounted, "h2", VERDICT_INCONCLUSIVE, "would not show" },
	{ "RC-PFC-010", congested_strict, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-010", strict_loss, "h2", VERDICT_FAIL, "2 packets from or to this port were lost" },
	{ "RC-PFC-012", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-012", congested, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-012", pause_on_lossy, "h2", VERDICT_FAIL, "priority 5" },
	{ "RC-PFC-012", lossy_uncounted, "h2", VERDICT_SKIP, "only for priorities with PFC" },
	{ "RC-PFC-012", no_counters, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-PFC-013", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-013", congested, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-013", idle_pause, "h2", VERDICT_WARN, "priority 3" },
	{ "RC-PFC-013", idle_paused_time, "h2", VERDICT_WARN, "priority 3" },
	{ "RC-PFC-013", received_pause_uncounted, "h2", VERDICT_INCONCLUSIVE, "received pause" },
	{ "RC-PFC-013", no_counters, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TOP-001", NULL, "h1", VERDICT_SKIP, "no LLDP was captured" },
	{ "RC-TOP-001", one_neighbour, "h1", VERDICT_PASS, "one LLDP neighbour" },
	{ "RC-TOP-001", two_neighbours, "h1", VERDICT_WARN, "2 LLDP neighbours" },
	{ "RC-NET-009", marking_only, "h1", VERDICT_PASS, NULL },
	{ "RC-NET-009", marking_lost, "h1", VERDICT_FAIL, "64 of 64 datagrams from h2" },
	{ "RC-NET-009", marking_blocked, "h1", VERDICT_FAIL, "no datagram with DSCP 48 arrives" },
	{ "RC-NET-009", marking_lost, "h2", VERDICT_PASS, NULL },
	{ "RC-NET-009", marking_failed, "h1", VERDICT_SKIP, "did not run" },
	{ "RC-NET-009", marking_partly, "h1", VERDICT_INCONCLUSIVE, "did not run" },
	{ "RC-NET-009", NULL, "h1", VERDICT_SKIP, "no marking test" },
	{ "RC-MTU-003", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-MTU-003", nothing_large_arrives, "h2", VERDICT_FAIL, "4096 bytes do not reach h1" },
	{ "RC-MTU-003", marking_mtu, "h2", VERDICT_FAIL, "4096 bytes do not reach h1: the path's MTU is 1024" },
	{ "RC-MTU-003", marking_mtu, "h1", VERDICT_PASS, NULL },
	{ "RC-MTU-003", nothing_arrives, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-MTU-003", small_messages, "h2", VERDICT_INCONCLUSIVE, "message_bytes" },
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static void test_coverage(void **state)
{
	static const char *const groups[] = {
		"RC-QOS-006", "RC-QOS-007", "RC-QOS-008", "RC-QOS-011", "RC-ECN-004", "RC-ECN-006",
		"RC-ECN-007", "RC-TRN",	    "RC-LNK-002", "RC-LNK-004", "RC-PFC-010", "RC-PFC-014",
		"RC-PFC-012", "RC-PFC-013", "RC-PFC-027", "RC-MTU-003", "RC-NET-009", NULL};

	(void)state;
	check_coverage(cases, ARRAY_SIZE(cases), groups, NULL);
}

/* Loss on the way to h2 is seen at both ends and is one leading finding. */
static void test_loss_is_one_finding(void **state)
{
	static struct fabric_run f;
	struct findings all;
	unsigned int leads = 0;

	(void)state;
	good_run(&f);
	gaps(&f);
	grow(&f, 0, METRIC_SEQ_NAK_RX, 0, 3);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	for (size_t i = 0; i < all.count; i++) {
		if (!finding_violated(&all.list[i]) || all.list[i].caused_by >= 0)
			continue;
		assert_string_equal(all.list[i].rule->id, "RC-PFC-010");
		assert_string_equal(all.list[i].host, "h2");
		leads++;
	}
	assert_int_equal(leads, 1);
	findings_clear(&all);
}

/* The port counts the queue pairs that lost packets ended: it is one thing, and said once. */
static void test_events_count_once(void **state)
{
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	retransmits_alone(&f);
	lose_metric(&f, METRIC_RETRANSMITS);
	f.pair[1].strict = true;
	f.pair[1].losses = 2;
	grow(&f, 1, METRIC_RETRY_EXCEEDED, 0, 2);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_string_equal(finding_of(&all, "RC-TRN-001", "h2")->text,
			    "packets were lost: 2 packets without retransmission");
	findings_clear(&all);
}

/* The advice on wrong contents at h1, where h2 answered its READ. */
static void check_wrong_read(void (*also)(struct fabric_run *f), const char *advice)
{
	static struct fabric_run f;
	struct findings all;

	good_run(&f);
	wrong_bytes_read(&f);
	also(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_non_null(strstr(finding_advice(finding_of(&all, "RC-TRN-006", "h1")), advice));
	findings_clear(&all);
}

static void responder_cannot_send(struct fabric_run *f)
{
	grow(f, 1, METRIC_SEND_ERRORS, 0, 1);
}

static void device_cannot_send(struct fabric_run *f)
{
	responder_cannot_send(f);
	f->before[1].kind = f->after[1].kind = PORT_ROCE_PF;
}

static void test_wrong_contents_name_the_suspect(void **state)
{
	(void)state;
	check_wrong_read(wrong_bytes_read, "suspect memory");
	check_wrong_read(responder_cannot_send, "why the sender drops packets");
	check_wrong_read(device_cannot_send, "suspect memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_loss_is_one_finding),
		cmocka_unit_test(test_events_count_once),
		cmocka_unit_test(test_wrong_contents_name_the_suspect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
