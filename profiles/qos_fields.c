/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The field table of struct qos. diff, plan, show, JSON and the profile loader walk these rows;
 * manual page and JSON Schema are printed from them. Names of keys follow linux dcbnl.h and 802.1Q
 * clauses 36 (PFC) and 37 (ETS).
 */
#include "profiles/qos.h"

#include <stddef.h>

/* Names of congestion control parameters of all vendors; the value of a word is its index in struct
 * qos_params. Sources: mlx5 = MLNX_OFED (sysfs, mlxconfig); bnxt_re = its debugfs and Broadcom's
 * configfs; hns_roce = its debugfs, with the algorithm in front; irdma = parameters of Intel's
 * module, with irdma instead of dcqcn. Ranges and units are those of the device. */

/* clang-format off */
const struct qos_word qos_param_words[QOS_PARAM_COUNT + 1] = {
	{"clamp_tgt_rate", 0}, {"clamp_tgt_rate_after_time_inc", 1},
	{"rpg_time_reset", 2}, {"rpg_byte_reset", 3},
	{"rpg_threshold", 4}, {"rpg_max_rate", 5},
	{"rpg_ai_rate", 6}, {"rpg_hai_rate", 7},
	{"rpg_gd", 8}, {"rpg_min_dec_fac", 9},
	{"rpg_min_rate", 10}, {"rate_to_set_on_first_cnp", 11},
	{"dce_tcp_g", 12}, {"dce_tcp_rtt", 13},
	{"rate_reduce_monitor_period", 14}, {"initial_alpha_value", 15},

	{"run_avg_weight_g", 16}, {"num_phase_per_state", 17},
	{"init_cr", 18}, {"init_tr", 19},
	{"rtt", 20}, {"cc_mode", 21},
	{"tcp_cp", 22}, {"inactivity_cp", 23},

	{"dcqcn_ai", 24}, {"dcqcn_f", 25},
	{"dcqcn_tkp", 26}, {"dcqcn_tmp", 27},
	{"dcqcn_alp", 28}, {"dcqcn_max_speed", 29},
	{"dcqcn_g", 30}, {"dcqcn_al", 31},
	{"dcqcn_cnp_time", 32}, {"dcqcn_ashift", 33},
	{"ldcp_cwd0", 34}, {"ldcp_alpha", 35},
	{"ldcp_gamma", 36}, {"ldcp_beta", 37},
	{"ldcp_eta", 38},
	{"hc3_initial_window", 39}, {"hc3_bandwidth", 40},
	{"hc3_qlen_shift", 41}, {"hc3_port_usage_shift", 42},
	{"hc3_over_period", 43}, {"hc3_max_stage", 44},
	{"hc3_gamma_shift", 45},
	{"dip_ai", 46}, {"dip_f", 47},
	{"dip_tkp", 48}, {"dip_tmp", 49},
	{"dip_alp", 50}, {"dip_max_speed", 51},
	{"dip_g", 52}, {"dip_al", 53},
	{"dip_cnp_time", 54}, {"dip_ashift", 55},

	{"ecn_marking", 56}, {"roce_prio", 57},
	{"roce_dscp", 58}, {"disable_prio_vlan_tx", 59},

	{"irdma_cc_cfg_valid", 60}, {"irdma_min_dec_factor", 61},
	{"irdma_min_rate_MBps", 62}, {"irdma_F", 63},
	{"irdma_T", 64}, {"irdma_B", 65},
	{"irdma_rai_factor", 66}, {"irdma_hai_factor", 67},
	{"irdma_rreduce_mperiod", 68},
	{NULL, 0},
};
/* clang-format on */

bool qos_param_has(const struct qos_params *params, unsigned int i)
{
	return params->has[i / 32] & UINT32_C(1) << i % 32;
}

void qos_param_set(struct qos_params *params, unsigned int i, uint32_t value)
{
	params->has[i / 32] |= UINT32_C(1) << i % 32;
	params->value[i] = value;
}

/* clang-format off */

static const struct qos_word dcbx_words[] = {
	{"host", QOS_DCBX_HOST},
	{"lld_managed", QOS_DCBX_LLD_MANAGED},
	{"cee", QOS_DCBX_CEE},
	{"ieee", QOS_DCBX_IEEE},
	{"static", QOS_DCBX_STATIC},
	{NULL, 0},
};

static const struct qos_word admin_words[] = {
	{"disabled", QOS_LLDP_DISABLED},
	{"tx", QOS_LLDP_TX},
	{"rx", QOS_LLDP_RX},
	{"rxtx", QOS_LLDP_RXTX},
	{NULL, 0},
};

static const struct qos_word advertise_words[] = {
	{"ets_cfg", QOS_ADVERTISE_ETS_CFG},
	{"ets_rec", QOS_ADVERTISE_ETS_REC},
	{"pfc", QOS_ADVERTISE_PFC},
	{"app", QOS_ADVERTISE_APP},
	{NULL, 0},
};

static const struct qos_word trust_words[] = {
	{"pcp", QOS_TRUST_PCP},
	{"dscp", QOS_TRUST_DSCP},
	{NULL, 0},
};

static const struct qos_word tsa_words[] = {
	{"strict", QOS_TSA_STRICT},
	{"cbs", QOS_TSA_CBS},
	{"ets", QOS_TSA_ETS},
	{"vendor", QOS_TSA_VENDOR},
	{NULL, 0},
};

static const struct qos_word roce_words[] = {
	{"v1", 1},
	{"v2", 2},
	{NULL, 0},
};

/* RFC 3168 s5: the two low bits of the former ToS octet. */
static const struct qos_word ecn_words[] = {
	{"none", 0},
	{"ect1", 1},
	{"ect0", 2},
	{"ce", 3},
	{NULL, 0},
};

static const struct qos_word storm_words[] = {
	{"off", 0},
	{"auto", QOS_STORM_AUTO},
	{NULL, 0},
};

static const struct qos_word algorithm_words[] = {
	{"off", QOS_CC_OFF},
	{"dcqcn", QOS_CC_DCQCN},
	{"dctcp", QOS_CC_DCTCP},
	{"timely", QOS_CC_TIMELY},
	{NULL, 0},
};

const struct qos_word qos_app_words[] = {
	{"pcp", QOS_APP_PCP},
	{"ethertype", QOS_APP_ETHERTYPE},
	{"tcp", QOS_APP_STREAM},
	{"udp", QOS_APP_DGRAM},
	{"any", QOS_APP_ANY},
	{NULL, 0},
};

static const struct qos_word selector_words[] = {
	{"ethertype", QOS_APP_ETHERTYPE},
	{"tcp", QOS_APP_STREAM},
	{"udp", QOS_APP_DGRAM},
	{"any", QOS_APP_ANY},
	{"dscp", QOS_APP_DSCP},
	{"pcp", QOS_APP_PCP},
	{NULL, 0},
};

#define AT(member) offsetof(struct qos, member)

const struct qos_field qos_fields[QOS_FIELD_COUNT] = {
	[QOS_DCBX_MODE] = {
		.key = "dcbx.mode", .kind = QOS_KIND_FLAGS,
		.offset = AT(dcbx_mode), .words = dcbx_words,
		.min = 0, .max = 0xff, .unit = "", .source = "dcbnl",
		.help = "DCBX flags of the port; [host, ieee] = the host configures DCB, no agent",
	},
	[QOS_FIRMWARE_AGENT] = {
		.key = "dcbx.firmware_agent", .kind = QOS_KIND_BOOL,
		.offset = AT(firmware_agent),
		.min = 0, .max = 1, .unit = "", .source = "ethtool",
		.help = "LLDP agent in the NIC firmware; while it is on, it controls DCB",
	},
	[QOS_ADMIN_STATUS] = {
		.key = "dcbx.admin_status", .kind = QOS_KIND_WORD,
		.offset = AT(admin_status), .words = admin_words,
		.min = 0, .max = QOS_LLDP_RXTX, .unit = "", .source = "lldpad",
		.help = "LLDP direction of lldpad (default rxtx with dcbx.agent: lldpad)",
	},
	[QOS_ADVERTISE] = {
		.key = "dcbx.advertise", .kind = QOS_KIND_FLAGS,
		.offset = AT(advertise), .words = advertise_words,
		.min = 0, .max = 0xff, .unit = "", .source = "lldpad",
		.help = "DCBX TLVs that lldpad sends: ets_cfg, ets_rec, pfc, app",
	},
	[QOS_TRUST] = {
		.key = "trust", .kind = QOS_KIND_WORD,
		.offset = AT(trust), .words = trust_words,
		.min = 0, .max = 1, .unit = "", .source = "dcbnl",
		.help = "header field that selects the priority of a packet: DSCP or VLAN PCP",
	},
	[QOS_DSCP_PRIO] = {
		.key = "app.dscp", .kind = QOS_KIND_DSCP_MAP,
		.offset = AT(dscp_prio),
		.min = 0, .max = 7, .unit = "", .source = "DCB APP table",
		.help = "priority of each DSCP (unlisted: see app.dscp_default)",
	},
	[QOS_APP] = {
		.key = "app.entries", .kind = QOS_KIND_APP,
		.offset = AT(app), .words = qos_app_words,
		.min = 0, .max = 7, .unit = "", .source = "DCB APP table",
		.help = "priority by EtherType, TCP or UDP port; app.udp etc. are short forms",
	},
	[QOS_APP_TRUST] = {
		.key = "app.trust", .kind = QOS_KIND_SELECTORS,
		.offset = AT(app_trust), .words = selector_words,
		.min = 0, .max = 0xff, .unit = "", .source = "dcbnl",
		.help = "order in which header fields select the priority: [dscp, pcp] (needs Linux 6.2)",
	},
	[QOS_REWRITE_DSCP] = {
		.key = "app.rewrite_dscp", .kind = QOS_KIND_PRIO_MAP,
		.offset = AT(rewrite_dscp),
		.min = 0, .max = QOS_DSCPS - 1, .unit = "", .source = "dcbnl",
		.help = "DSCP written into packets of each priority (needs Linux 6.3)",
	},
	[QOS_REWRITE_PCP] = {
		.key = "app.rewrite_pcp", .kind = QOS_KIND_PRIO_MAP,
		.offset = AT(rewrite_pcp),
		.min = 0, .max = 15, .unit = "", .source = "dcbnl",
		.help = "PCP, plus 8 for DEI, written into tagged packets of each priority (needs Linux 6.3)",
	},
	[QOS_ETS_WILLING] = {
		.key = "ets.willing", .kind = QOS_KIND_BOOL,
		.offset = AT(ets_willing),
		.min = 0, .max = 1, .unit = "", .source = "dcbnl",
		.help = "accept the ETS settings of the DCBX peer",
	},
	[QOS_ETS_CAP] = {
		.key = "ets.cap", .kind = QOS_KIND_U8,
		.offset = AT(ets_cap), .read_only = true,
		.min = 0, .max = QOS_TCS, .unit = "traffic classes", .source = "dcbnl",
		.help = "number of traffic classes of the device (read-only)",
	},
	[QOS_PRIO_TC] = {
		.key = "ets.prio_tc", .kind = QOS_KIND_PRIO_U8,
		.offset = AT(prio_tc),
		.min = 0, .max = QOS_TCS - 1, .unit = "", .source = "dcbnl ETS",
		.help = "traffic class of each priority (unlisted: 0)",
	},
	[QOS_TC_TSA] = {
		.key = "ets.tc_tsa", .kind = QOS_KIND_TC_WORD,
		.offset = AT(tc_tsa), .words = tsa_words,
		.min = 0, .max = 0xff, .unit = "", .source = "dcbnl ETS",
		.help = "transmission selection algorithm of each traffic class (unlisted: strict)",
	},
	[QOS_TC_TX_BW] = {
		.key = "ets.tc_tx_bw", .kind = QOS_KIND_TC_U8,
		.offset = AT(tc_tx_bw),
		.min = 0, .max = 100, .unit = "percent", .source = "dcbnl ETS",
		.help = "bandwidth share of each ets traffic class (unlisted: 0)",
	},
	[QOS_TC_MAXRATE] = {
		.key = "ets.tc_maxrate_kbps", .kind = QOS_KIND_TC_U64,
		.offset = AT(tc_maxrate_kbps),
		.min = 0, .max = UINT32_MAX, .unit = "kbit/s", .source = "dcbnl",
		.help = "rate limit of each traffic class (unlisted: 0, no limit)",
	},
	[QOS_RECO_PRIO_TC] = {
		.key = "ets.reco_prio_tc", .kind = QOS_KIND_PRIO_U8,
		.offset = AT(reco_prio_tc),
		.min = 0, .max = QOS_TCS - 1, .unit = "", .source = "lldpad",
		.help = "traffic class of each priority, recommended to the DCBX peer",
	},
	[QOS_RECO_TSA] = {
		.key = "ets.tc_reco_tsa", .kind = QOS_KIND_TC_WORD,
		.offset = AT(reco_tsa), .words = tsa_words,
		.min = 0, .max = 0xff, .unit = "", .source = "lldpad",
		.help = "transmission selection algorithms, recommended to the DCBX peer",
	},
	[QOS_RECO_BW] = {
		.key = "ets.tc_reco_bw", .kind = QOS_KIND_TC_U8,
		.offset = AT(reco_bw),
		.min = 0, .max = 100, .unit = "percent", .source = "lldpad",
		.help = "bandwidth shares, recommended to the DCBX peer",
	},
	[QOS_PFC_WILLING] = {
		.key = "pfc.willing", .kind = QOS_KIND_BOOL,
		.offset = AT(pfc_willing),
		.min = 0, .max = 1, .unit = "", .source = "dcbnl",
		.help = "accept the PFC settings of the DCBX peer",
	},
	[QOS_PFC_CAP] = {
		.key = "pfc.cap", .kind = QOS_KIND_U8,
		.offset = AT(pfc_cap), .read_only = true,
		.min = 0, .max = QOS_PRIOS, .unit = "priorities", .source = "dcbnl",
		.help = "number of lossless priorities that the device supports (read-only)",
	},
	[QOS_PFC_ENABLED] = {
		.key = "pfc.enabled", .kind = QOS_KIND_PRIO_SET,
		.offset = AT(pfc_enabled),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "dcbnl",
		.help = "lossless priorities (PFC enabled)",
	},
	[QOS_PFC_DELAY] = {
		.key = "pfc.delay", .kind = QOS_KIND_U16,
		.offset = AT(pfc_delay),
		.min = 0, .max = UINT16_MAX, .unit = "bit times", .source = "dcbnl",
		.help = "delay allowance of the link to the peer; on mlx5: cable length in metres",
	},
	[QOS_PFC_STORM] = {
		.key = "pfc.storm_prevention_ms", .kind = QOS_KIND_MS,
		.offset = AT(pfc_storm_ms), .words = storm_words,
		.min = 80, .max = 8000, .unit = "ms", .source = "ethtool", /* mlx5, en_ethtool.c */
		.help = "maximum time that a stalled host pauses the fabric: off, auto, or milliseconds",
	},
	[QOS_PRIO_BUFFER] = {
		.key = "buffer.prio2buffer", .kind = QOS_KIND_PRIO_U8,
		.offset = AT(prio_buffer),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "dcbnl",
		.help = "receive buffer of each priority (unlisted: 0)",
	},
	[QOS_BUFFER_SIZE] = {
		.key = "buffer.size", .kind = QOS_KIND_TC_U32,
		.offset = AT(buffer_size_bytes),
		.min = 0, .max = UINT32_MAX, .unit = "bytes", .source = "dcbnl",
		.help = "size of each receive buffer (unlisted: 0)",
	},
	[QOS_PAUSE_AUTONEG] = {
		.key = "link_pause.autoneg", .kind = QOS_KIND_BOOL,
		.offset = AT(pause_autoneg),
		.min = 0, .max = 1, .unit = "", .source = "ethtool",
		.help = "negotiate link pause (802.3x)",
	},
	[QOS_PAUSE_RX] = {
		.key = "link_pause.rx", .kind = QOS_KIND_BOOL,
		.offset = AT(pause_rx),
		.min = 0, .max = 1, .unit = "", .source = "ethtool",
		.help = "obey received link pause; set off with PFC",
	},
	[QOS_PAUSE_TX] = {
		.key = "link_pause.tx", .kind = QOS_KIND_BOOL,
		.offset = AT(pause_tx),
		.min = 0, .max = 1, .unit = "", .source = "ethtool",
		.help = "send link pause; set off with PFC",
	},
	[QOS_MTU] = {
		.key = "mtu.netdev", .kind = QOS_KIND_U32,
		.offset = AT(mtu),
		.min = 68, .max = 65536, .unit = "bytes", .source = "rtnetlink",
		.help = "MTU of the network device",
	},
	[QOS_IB_MTU] = {
		.key = "mtu.ib_min", .kind = QOS_KIND_U32,
		.offset = AT(ib_mtu), .read_only = true,
		.min = 256, .max = 4096, .unit = "bytes", .source = "verbs",
		.help = "smallest accepted active MTU of the RDMA port: 256, 512, 1024, 2048 or 4096",
	},
	[QOS_VLAN_PRIO] = {
		.key = "vlan.egress_qos_map", .kind = QOS_KIND_SKB_MAP,
		.offset = AT(vlan_prio),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "rtnetlink",
		.help = "VLAN priority of each socket priority, on all VLAN devices of the port "
			"(unlisted: 0); set it with trust: pcp",
	},
	[QOS_ROCE_ENABLE] = {
		.key = "rdma.enable_roce", .kind = QOS_KIND_BOOL,
		.offset = AT(roce_enable),
		.min = 0, .max = 1, .unit = "", .source = "devlink",
		.help = "devlink parameter enable_roce; a change reloads mlx5 and recreates the network device",
	},
	[QOS_ROCE_VERSION] = {
		.key = "rdma.roce_version", .kind = QOS_KIND_WORD,
		.offset = AT(roce_version), .words = roce_words,
		.min = 1, .max = 2, .unit = "", .source = "rdma_cm",
		.help = "RoCE version of RDMA-CM connections",
	},
	[QOS_CM_TOS] = {
		.key = "rdma.cm_default_tos", .kind = QOS_KIND_TOS,
		.offset = AT(cm_tos), .words = ecn_words,
		.min = 0, .max = 0xff, .unit = "", .source = "rdma_cm",
		.help = "default DSCP and ECN of RDMA-CM connections",
	},
	[QOS_VERBS_TOS] = {
		.key = "rdma.verbs_traffic_class", .kind = QOS_KIND_TOS,
		.offset = AT(verbs_tos), .words = ecn_words,
		.min = 0, .max = 0xff, .unit = "", .source = "driver",
		.help = "DSCP and ECN forced on all connections (MLNX_OFED only)",
	},
	[QOS_NP_ENABLE] = {
		.key = "congestion_control.np.enable", .kind = QOS_KIND_PRIO_SET,
		.offset = AT(np_enable),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "driver",
		.help = "priorities on which the receiver answers CE marks with CNPs",
	},
	[QOS_RP_ENABLE] = {
		.key = "congestion_control.rp.enable", .kind = QOS_KIND_PRIO_SET,
		.offset = AT(rp_enable),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "driver",
		.help = "priorities on which CNPs slow the sender down",
	},
	[QOS_CNP_DSCP] = {
		.key = "congestion_control.np.cnp_dscp", .kind = QOS_KIND_U8,
		.offset = AT(cnp_dscp),
		.min = 0, .max = QOS_DSCPS - 1, .unit = "", .source = "driver",
		.help = "DSCP of CNPs",
	},
	[QOS_CNP_PRIO] = {
		.key = "congestion_control.np.cnp_prio", .kind = QOS_KIND_U8,
		.offset = AT(cnp_prio),
		.min = 0, .max = QOS_PRIOS - 1, .unit = "", .source = "driver",
		.help = "VLAN priority of CNPs",
	},
	[QOS_CNP_INTERVAL] = {
		.key = "congestion_control.np.min_time_between_cnps_us", .kind = QOS_KIND_U32,
		.offset = AT(cnp_interval_us),
		.min = 0, .max = UINT32_MAX, .unit = "us", .source = "driver",
		.help = "minimum time between CNPs of a flow",
	},
	[QOS_CC_ALGORITHM] = {
		.key = "congestion_control.algorithm", .kind = QOS_KIND_WORD,
		.offset = AT(cc_algorithm), .words = algorithm_words,
		.min = 0, .max = QOS_CC_TIMELY, .unit = "", .source = "driver",
		.help = "RoCE congestion control algorithm, on devices with one setting for it",
	},
	[QOS_CC_PARAMS] = {
		.key = "congestion_control.params", .kind = QOS_KIND_PARAMS,
		.offset = AT(cc_params),
		.min = 0, .max = UINT32_MAX, .unit = "", .source = "driver",
		.help = "congestion control parameters, in the driver's names and units",
	},
};

/* clang-format on */
