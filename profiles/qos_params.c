/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of congestion control parameters, over all vendors; the value of a word is its index in
 * struct qos_params. Those of mlx5 are MLNX_OFED's (its sysfs, mlxconfig), those of bnxt_re the
 * file names of its debugfs and of Broadcom's configfs, those of hns_roce too, with their algorithm
 * in front, those of irdma the parameters of Intel's module, with irdma in the place of dcqcn.
 * Ranges and units are the device's own.
 */
#include "profiles/qos.h"

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

void qos_param_put(struct qos_params *params, unsigned int i, uint32_t value)
{
	params->has[i / 32] |= UINT32_C(1) << i % 32;
	params->value[i] = value;
}
