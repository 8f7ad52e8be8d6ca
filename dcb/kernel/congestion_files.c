/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row per file. Of two files for one value the first readable row counts: MLNX_OFED's sysfs and
 * the kernel's debugfs may both show the device. Sources:
 * MLNX_OFED's mlnx_qos and ecn files; linux infiniband/hw/mlx5/cong.c, hw/bnxt_re/debugfs.c,
 * hw/hns/hns_roce_debugfs.c; Broadcom's bnxt_setupcc.sh 236.1; README of Intel's irdma.
 */
#include "dcb/kernel/congestion_priv.h"

enum {
	OFED,
	MLX5,
	BNXT,
	BNXT_OWN, /* Broadcom's out-of-tree driver */
	HNS,
	IRDMA,
	IRDMA_MODULE,
	OFED_TC,
};

static const char *const bnxt_drivers[] = {"bnxt_en", NULL};
static const char *const irdma_drivers[] = {"ice", "i40e", "iavf", "idpf", NULL};

/* clang-format off */

const struct congestion_folder congestion_folders[] = {
	[OFED] = {
		.tree = CC_SYSFS, .name = CC_BY_NETDEV, .before = "class/net/", .after = "/ecn",
	},
	[MLX5] = {
		.tree = CC_DEBUGFS, .name = CC_BY_BUS, .before = "mlx5/", .after = "/cc_params",
	},
	[BNXT] = {
		.tree = CC_DEBUGFS, .name = CC_BY_BUS, .before = "bnxt_re/", .after = "/cc_config",
	},
	[BNXT_OWN] = {
		.tree = CC_CONFIGFS, .name = CC_BY_IB_PORT, .before = "bnxt_re/", .after = "/ports/",
		.commit = "cc/apply", .made_in = "bnxt_re", .drivers = bnxt_drivers,
		.hexadecimal = true,
	},
	[HNS] = {
		.tree = CC_DEBUGFS, .name = CC_BY_BUS, .before = "hns_roce/", .after = "",
	},
	[IRDMA] = {
		.tree = CC_CONFIGFS, .name = CC_BY_IBDEV, .before = "irdma/", .after = "",
		.made_in = "irdma", .drivers = irdma_drivers,
	},
	[IRDMA_MODULE] = {
		.tree = CC_SYSFS, .name = CC_BY_MODULE, .before = "module/", .after = "/parameters",
		.load_time = "irdma", .drivers = irdma_drivers,
	},
	[OFED_TC] = {
		.tree = CC_SYSFS, .name = CC_BY_IB_PORT, .before = "class/infiniband/",
		.after = "/tc/",
	},
};

/* clang-format on */

const struct congestion_file congestion_files[] = {
	{OFED, QOS_NP_ENABLE, 0, CC_BITS, "roce_np/enable", false},
	{OFED, QOS_RP_ENABLE, 0, CC_BITS, "roce_rp/enable", false},
	{OFED, QOS_CNP_DSCP, 0, CC_NUMBER, "roce_np/cnp_dscp", false},
	{OFED, QOS_CNP_PRIO, 0, CC_NUMBER, "roce_np/cnp_802p_prio", false},
	{OFED, QOS_CNP_INTERVAL, 0, CC_NUMBER, "roce_np/min_time_between_cnps", false},
	{OFED, QOS_CC_PARAMS, 0, CC_NUMBER, "roce_rp/clamp_tgt_rate", false},
	{OFED, QOS_CC_PARAMS, 1, CC_NUMBER, "roce_rp/clamp_tgt_rate_after_time_inc", false},
	{OFED, QOS_CC_PARAMS, 2, CC_NUMBER, "roce_rp/rpg_time_reset", false},
	{OFED, QOS_CC_PARAMS, 3, CC_NUMBER, "roce_rp/rpg_byte_reset", false},
	{OFED, QOS_CC_PARAMS, 4, CC_NUMBER, "roce_rp/rpg_threshold", false},
	{OFED, QOS_CC_PARAMS, 5, CC_NUMBER, "roce_rp/rpg_max_rate", false},
	{OFED, QOS_CC_PARAMS, 6, CC_NUMBER, "roce_rp/rpg_ai_rate", false},
	{OFED, QOS_CC_PARAMS, 7, CC_NUMBER, "roce_rp/rpg_hai_rate", false},
	{OFED, QOS_CC_PARAMS, 8, CC_NUMBER, "roce_rp/rpg_gd", false},
	{OFED, QOS_CC_PARAMS, 9, CC_NUMBER, "roce_rp/rpg_min_dec_fac", false},
	{OFED, QOS_CC_PARAMS, 10, CC_NUMBER, "roce_rp/rpg_min_rate", false},
	{OFED, QOS_CC_PARAMS, 11, CC_NUMBER, "roce_rp/rate_to_set_on_first_cnp", false},
	{OFED, QOS_CC_PARAMS, 12, CC_NUMBER, "roce_rp/dce_tcp_g", false},
	{OFED, QOS_CC_PARAMS, 13, CC_NUMBER, "roce_rp/dce_tcp_rtt", false},
	{OFED, QOS_CC_PARAMS, 14, CC_NUMBER, "roce_rp/rate_reduce_monitor_period", false},
	{OFED, QOS_CC_PARAMS, 15, CC_NUMBER, "roce_rp/initial_alpha_value", false},
	{OFED_TC, QOS_VERBS_TOS, 0, CC_OFED_TOS, "traffic_class", false},
	{MLX5, QOS_CNP_DSCP, 0, CC_NUMBER, "np_cnp_dscp", false},
	{MLX5, QOS_CNP_PRIO, 0, CC_NUMBER, "np_cnp_prio", false},
	{MLX5, QOS_CNP_INTERVAL, 0, CC_NUMBER, "np_min_time_between_cnps", false},
	{MLX5, QOS_CC_PARAMS, 0, CC_NUMBER, "rp_clamp_tgt_rate", false},
	{MLX5, QOS_CC_PARAMS, 1, CC_NUMBER, "rp_clamp_tgt_rate_ati", false},
	{MLX5, QOS_CC_PARAMS, 2, CC_NUMBER, "rp_time_reset", false},
	{MLX5, QOS_CC_PARAMS, 3, CC_NUMBER, "rp_byte_reset", false},
	{MLX5, QOS_CC_PARAMS, 4, CC_NUMBER, "rp_threshold", false},
	{MLX5, QOS_CC_PARAMS, 5, CC_NUMBER, "rp_max_rate", false},
	{MLX5, QOS_CC_PARAMS, 6, CC_NUMBER, "rp_ai_rate", false},
	{MLX5, QOS_CC_PARAMS, 7, CC_NUMBER, "rp_hai_rate", false},
	{MLX5, QOS_CC_PARAMS, 8, CC_NUMBER, "rp_gd", false},
	{MLX5, QOS_CC_PARAMS, 9, CC_NUMBER, "rp_min_dec_fac", false},
	{MLX5, QOS_CC_PARAMS, 10, CC_NUMBER, "rp_min_rate", false},
	{MLX5, QOS_CC_PARAMS, 11, CC_NUMBER, "rp_rate_to_set_on_first_cnp", false},
	{MLX5, QOS_CC_PARAMS, 12, CC_NUMBER, "rp_dce_tcp_g", false},
	{MLX5, QOS_CC_PARAMS, 13, CC_NUMBER, "rp_dce_tcp_rtt", false},
	{MLX5, QOS_CC_PARAMS, 14, CC_NUMBER, "rp_rate_reduce_monitor_period", false},
	{MLX5, QOS_CC_PARAMS, 15, CC_NUMBER, "rp_initial_alpha_value", false},
	{BNXT, QOS_CC_ALGORITHM, QOS_CC_DCQCN, CC_SWITCH, "enable_cc", false},
	{BNXT, QOS_CNP_DSCP, 0, CC_NUMBER, "alt_vlan_dscp", false},
	{BNXT, QOS_CNP_PRIO, 0, CC_NUMBER, "alt_vlan_pcp", false},
	{BNXT, QOS_CC_PARAMS, 16, CC_NUMBER, "run_avg_weight_g", false},
	{BNXT, QOS_CC_PARAMS, 17, CC_NUMBER, "num_phase_per_state", false},
	{BNXT, QOS_CC_PARAMS, 18, CC_NUMBER, "init_cr", false},
	{BNXT, QOS_CC_PARAMS, 19, CC_NUMBER, "init_tr", false},
	{BNXT, QOS_CC_PARAMS, 20, CC_NUMBER, "rtt", false},
	{BNXT, QOS_CC_PARAMS, 21, CC_NUMBER, "cc_mode", false},
	{BNXT, QOS_CC_PARAMS, 22, CC_NUMBER, "tcp_cp", false},
	{BNXT, QOS_CC_PARAMS, 23, CC_NUMBER, "inactivity_cp", false},
	{BNXT_OWN, QOS_CC_ALGORITHM, QOS_CC_DCQCN, CC_SWITCH, "cc/ecn_enable", false},
	{BNXT_OWN, QOS_CNP_DSCP, 0, CC_NUMBER, "cc/cnp_dscp", true},
	{BNXT_OWN, QOS_CNP_PRIO, 0, CC_NUMBER, "cc/cnp_prio", true},
	{BNXT_OWN, QOS_CC_PARAMS, 21, CC_NUMBER, "cc/cc_mode", false},
	{BNXT_OWN, QOS_CC_PARAMS, 56, CC_NUMBER, "cc/ecn_marking", false},
	{BNXT_OWN, QOS_CC_PARAMS, 57, CC_NUMBER, "cc/roce_prio", true},
	{BNXT_OWN, QOS_CC_PARAMS, 58, CC_NUMBER, "cc/roce_dscp", true},
	{BNXT_OWN, QOS_CC_PARAMS, 59, CC_NUMBER, "cc/disable_prio_vlan_tx", false},
	{HNS, QOS_CC_PARAMS, 24, CC_NUMBER, "dcqcn_cc_param/ai", false},
	{HNS, QOS_CC_PARAMS, 25, CC_NUMBER, "dcqcn_cc_param/f", false},
	{HNS, QOS_CC_PARAMS, 26, CC_NUMBER, "dcqcn_cc_param/tkp", false},
	{HNS, QOS_CC_PARAMS, 27, CC_NUMBER, "dcqcn_cc_param/tmp", false},
	{HNS, QOS_CC_PARAMS, 28, CC_NUMBER, "dcqcn_cc_param/alp", false},
	{HNS, QOS_CC_PARAMS, 29, CC_NUMBER, "dcqcn_cc_param/max_speed", false},
	{HNS, QOS_CC_PARAMS, 30, CC_NUMBER, "dcqcn_cc_param/g", false},
	{HNS, QOS_CC_PARAMS, 31, CC_NUMBER, "dcqcn_cc_param/al", false},
	{HNS, QOS_CC_PARAMS, 32, CC_NUMBER, "dcqcn_cc_param/cnp_time", false},
	{HNS, QOS_CC_PARAMS, 33, CC_NUMBER, "dcqcn_cc_param/ashift", false},
	{HNS, QOS_CC_PARAMS, 34, CC_NUMBER, "ldcp_cc_param/cwd0", false},
	{HNS, QOS_CC_PARAMS, 35, CC_NUMBER, "ldcp_cc_param/alpha", false},
	{HNS, QOS_CC_PARAMS, 36, CC_NUMBER, "ldcp_cc_param/gamma", false},
	{HNS, QOS_CC_PARAMS, 37, CC_NUMBER, "ldcp_cc_param/beta", false},
	{HNS, QOS_CC_PARAMS, 38, CC_NUMBER, "ldcp_cc_param/eta", false},
	{HNS, QOS_CC_PARAMS, 39, CC_NUMBER, "hc3_cc_param/initial_window", false},
	{HNS, QOS_CC_PARAMS, 40, CC_NUMBER, "hc3_cc_param/bandwidth", false},
	{HNS, QOS_CC_PARAMS, 41, CC_NUMBER, "hc3_cc_param/qlen_shift", false},
	{HNS, QOS_CC_PARAMS, 42, CC_NUMBER, "hc3_cc_param/port_usage_shift", false},
	{HNS, QOS_CC_PARAMS, 43, CC_NUMBER, "hc3_cc_param/over_period", false},
	{HNS, QOS_CC_PARAMS, 44, CC_NUMBER, "hc3_cc_param/max_stage", false},
	{HNS, QOS_CC_PARAMS, 45, CC_NUMBER, "hc3_cc_param/gamma_shift", false},
	{HNS, QOS_CC_PARAMS, 46, CC_NUMBER, "dip_cc_param/ai", false},
	{HNS, QOS_CC_PARAMS, 47, CC_NUMBER, "dip_cc_param/f", false},
	{HNS, QOS_CC_PARAMS, 48, CC_NUMBER, "dip_cc_param/tkp", false},
	{HNS, QOS_CC_PARAMS, 49, CC_NUMBER, "dip_cc_param/tmp", false},
	{HNS, QOS_CC_PARAMS, 50, CC_NUMBER, "dip_cc_param/alp", false},
	{HNS, QOS_CC_PARAMS, 51, CC_NUMBER, "dip_cc_param/max_speed", false},
	{HNS, QOS_CC_PARAMS, 52, CC_NUMBER, "dip_cc_param/g", false},
	{HNS, QOS_CC_PARAMS, 53, CC_NUMBER, "dip_cc_param/al", false},
	{HNS, QOS_CC_PARAMS, 54, CC_NUMBER, "dip_cc_param/cnp_time", false},
	{HNS, QOS_CC_PARAMS, 55, CC_NUMBER, "dip_cc_param/ashift", false},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_DCQCN, CC_SWITCH, "roce_dcqcn_enable", false},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_DCTCP, CC_SWITCH, "roce_dctcp_enable", false},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_TIMELY, CC_SWITCH, "roce_timely_enable", false},
	{IRDMA_MODULE, QOS_CC_ALGORITHM, QOS_CC_DCQCN, CC_SWITCH, "dcqcn_enable", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 60, CC_NUMBER, "dcqcn_cc_cfg_valid", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 61, CC_NUMBER, "dcqcn_min_dec_factor", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 62, CC_NUMBER, "dcqcn_min_rate_MBps", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 63, CC_NUMBER, "dcqcn_F", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 64, CC_NUMBER, "dcqcn_T", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 65, CC_NUMBER, "dcqcn_B", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 66, CC_NUMBER, "dcqcn_rai_factor", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 67, CC_NUMBER, "dcqcn_hai_factor", false},
	{IRDMA_MODULE, QOS_CC_PARAMS, 68, CC_NUMBER, "dcqcn_rreduce_mperiod", false},
};
const unsigned int congestion_file_count = ARRAY_SIZE(congestion_files);
