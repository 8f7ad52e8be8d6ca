/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameters of DCQCN and where each driver shows them: MLNX_OFED's sysfs
 * (/sys/class/net/DEV/ecn/roce_np, roce_rp), mlx5's debugfs (cong.c of linux: no switch there) and
 * bnxt_re's (of linux; both switches are one). Names and units are theirs. The values the NIC
 * starts with are not: times are some thousand times longer, to suit links of 8 to 25 MB/s between
 * emulated hosts, where a packet takes half a millisecond and a host may react 10 ms late; and the
 * target rate follows every cut, as in the paper.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "personality.h"

#define ALL_PRIOS 0xff

/* clang-format off */
static const struct {
	u32 start;
	u32 min;
	u32 max;
} limits[LABNIC_CC_PARAMS] = {
	[LABNIC_NP_ENABLE] = {0, 0, ALL_PRIOS},
	[LABNIC_CNP_DSCP] = {48, 0, LABNIC_DSCPS - 1},
	[LABNIC_CNP_PRIO] = {6, 0, LABNIC_PRIOS - 1},
	[LABNIC_CNP_INTERVAL] = {4000, 0, 1000000},
	[LABNIC_RP_ENABLE] = {0, 0, ALL_PRIOS},
	[LABNIC_CLAMP_TARGET] = {1, 0, 1},
	[LABNIC_CLAMP_TARGET_TIME] = {1, 0, 1},
	[LABNIC_TIME_RESET] = {20000, 100, 10000000},
	[LABNIC_BYTE_RESET] = {262144, 1, 1 << 30},
	[LABNIC_THRESHOLD] = {5, 1, 31},
	[LABNIC_MAX_RATE] = {0, 0, 100000},
	[LABNIC_AI_RATE] = {2, 1, 100000},
	[LABNIC_HAI_RATE] = {5, 1, 100000},
	[LABNIC_GD] = {11, 0, 15},
	[LABNIC_MIN_DEC_FAC] = {50, 0, 100},
	[LABNIC_MIN_RATE] = {4, 1, 100000},
	[LABNIC_FIRST_RATE] = {0, 0, 100000},
	[LABNIC_TCP_G] = {960, 0, 1023},
	[LABNIC_TCP_RTT] = {10000, 100, 10000000},
	[LABNIC_REDUCE_PERIOD] = {8000, 0, 10000000},
	[LABNIC_INITIAL_ALPHA] = {1023, 0, 1023},
};
/* clang-format on */

static u32 param_get(const struct labnic *nic, u8 param)
{
	if (param < LABNIC_CC_PARAMS)
		return READ_ONCE(nic->cc.param[param]);
	return param == LABNIC_CC_ENABLE && READ_ONCE(nic->cc.param[LABNIC_NP_ENABLE]) &&
	       READ_ONCE(nic->cc.param[LABNIC_RP_ENABLE]);
}

/* @mask says which bits of the parameter @value is about. */
static int param_set(struct labnic *nic, u8 param, u32 mask, u32 value)
{
	if (labnic_refused())
		return -EBUSY;
	if (param == LABNIC_CC_FIXED)
		return -EOPNOTSUPP;
	if (param == LABNIC_CC_ENABLE) {
		if (value > 1)
			return -EINVAL;
		(void)param_set(nic, LABNIC_NP_ENABLE, ~0U, value ? ALL_PRIOS : 0);
		return param_set(nic, LABNIC_RP_ENABLE, ~0U, value ? ALL_PRIOS : 0);
	}
	if (value < limits[param].min || value > limits[param].max)
		return -EINVAL;
	spin_lock_bh(&nic->link_lock);
	WRITE_ONCE(nic->cc.param[param], (nic->cc.param[param] & ~mask) | value);
	if (param == LABNIC_RP_ENABLE) {
		labnic_flow_forget_all(nic);
		labnic_sched_run(nic);
	}
	spin_unlock_bh(&nic->link_lock);
	return 0;
}

void labnic_cc_init(struct labnic *nic, bool np, bool rp)
{
	bool has = nic->personality->cc_files;
	int i;

	for (i = 0; i < LABNIC_CC_PARAMS; i++)
		nic->cc.param[i] = limits[i].start;
	nic->cc.param[LABNIC_NP_ENABLE] = has && np ? ALL_PRIOS : 0;
	nic->cc.param[LABNIC_RP_ENABLE] = has && rp ? ALL_PRIOS : 0;
}

/* A file of the OFED sysfs: a parameter, or one priority's bit of it. */
struct ofed_file {
	struct kobj_attribute attr;
	u8 param;
	s8 prio;
};

/* The files lie at two depths below the netdev, which is the first parent that is none of ours. */
static struct labnic *ofed_nic(struct kobject *kobj)
{
	while (get_ktype(kobj)->sysfs_ops == &kobj_sysfs_ops)
		kobj = kobj->parent;
	return netdev_priv(to_net_dev(kobj_to_dev(kobj)));
}

static ssize_t ofed_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	const struct ofed_file *file = container_of(attr, struct ofed_file, attr);
	u32 value = param_get(ofed_nic(kobj), file->param);

	return sysfs_emit(page, "%u\n", file->prio < 0 ? value : value >> file->prio & 1);
}

static ssize_t ofed_store(struct kobject *kobj, struct kobj_attribute *attr, const char *text,
			  size_t bytes)
{
	const struct ofed_file *file = container_of(attr, struct ofed_file, attr);
	u32 mask = file->prio < 0 ? ~0U : BIT(file->prio);
	u32 value;
	int err = kstrtou32(text, 0, &value);

	if (!err && file->prio >= 0 && value > 1)
		err = -EINVAL;
	if (!err)
		err = param_set(ofed_nic(kobj), file->param, mask,
				file->prio < 0 ? value : value << file->prio);
	return err ?: bytes;
}

#define OFED_ROW(_name, _param, _prio)                                                             \
	{                                                                                          \
		.attr = __ATTR(_name, 0644, ofed_show, ofed_store), .param = (_param),             \
		.prio = (_prio)                                                                    \
	}
#define OFED_PRIOS(_param)                                                                         \
	OFED_ROW(0, _param, 0), OFED_ROW(1, _param, 1), OFED_ROW(2, _param, 2),                    \
		OFED_ROW(3, _param, 3), OFED_ROW(4, _param, 4), OFED_ROW(5, _param, 5),            \
		OFED_ROW(6, _param, 6), OFED_ROW(7, _param, 7)

static const struct ofed_file np_enable_files[] = {OFED_PRIOS(LABNIC_NP_ENABLE)};
static const struct ofed_file rp_enable_files[] = {OFED_PRIOS(LABNIC_RP_ENABLE)};

static const struct ofed_file np_files[] = {
	OFED_ROW(cnp_dscp, LABNIC_CNP_DSCP, -1),
	OFED_ROW(cnp_802p_prio, LABNIC_CNP_PRIO, -1),
	OFED_ROW(min_time_between_cnps, LABNIC_CNP_INTERVAL, -1),
};

static const struct ofed_file rp_files[] = {
	OFED_ROW(clamp_tgt_rate, LABNIC_CLAMP_TARGET, -1),
	OFED_ROW(clamp_tgt_rate_after_time_inc, LABNIC_CLAMP_TARGET_TIME, -1),
	OFED_ROW(rpg_time_reset, LABNIC_TIME_RESET, -1),
	OFED_ROW(rpg_byte_reset, LABNIC_BYTE_RESET, -1),
	OFED_ROW(rpg_threshold, LABNIC_THRESHOLD, -1),
	OFED_ROW(rpg_max_rate, LABNIC_MAX_RATE, -1),
	OFED_ROW(rpg_ai_rate, LABNIC_AI_RATE, -1),
	OFED_ROW(rpg_hai_rate, LABNIC_HAI_RATE, -1),
	OFED_ROW(rpg_gd, LABNIC_GD, -1),
	OFED_ROW(rpg_min_dec_fac, LABNIC_MIN_DEC_FAC, -1),
	OFED_ROW(rpg_min_rate, LABNIC_MIN_RATE, -1),
	OFED_ROW(rate_to_set_on_first_cnp, LABNIC_FIRST_RATE, -1),
	OFED_ROW(dce_tcp_g, LABNIC_TCP_G, -1),
	OFED_ROW(dce_tcp_rtt, LABNIC_TCP_RTT, -1),
	OFED_ROW(rate_reduce_monitor_period, LABNIC_REDUCE_PERIOD, -1),
	OFED_ROW(initial_alpha_value, LABNIC_INITIAL_ALPHA, -1),
};

/* A folder with its files; whoever removes it removes them. */
static int ofed_folder(const char *name, struct kobject *parent, const struct ofed_file *files,
		       int count, struct kobject **folder)
{
	int err = 0;
	int i;

	*folder = kobject_create_and_add(name, parent);
	if (!*folder)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = sysfs_create_file(*folder, &files[i].attr.attr);
	return err;
}

static int ofed_show_all(struct labnic *nic)
{
	struct labnic_cc *cc = &nic->cc;
	int err = ofed_folder("ecn", &nic->dev->dev.kobj, NULL, 0, &cc->ecn);

	if (!err)
		err = ofed_folder("roce_np", cc->ecn, np_files, ARRAY_SIZE(np_files), &cc->np);
	if (!err)
		err = ofed_folder("enable", cc->np, np_enable_files, ARRAY_SIZE(np_enable_files),
				  &cc->np_enable);
	if (!err)
		err = ofed_folder("roce_rp", cc->ecn, rp_files, ARRAY_SIZE(rp_files), &cc->rp);
	if (!err)
		err = ofed_folder("enable", cc->rp, rp_enable_files, ARRAY_SIZE(rp_enable_files),
				  &cc->rp_enable);
	return err;
}

/* A file of debugfs. Rows without a name end a table. */
struct debug_row {
	const char *name;
	u8 param;
};

static const struct debug_row mlx5_rows[] = {
	{"rp_clamp_tgt_rate", LABNIC_CLAMP_TARGET},
	{"rp_clamp_tgt_rate_ati", LABNIC_CLAMP_TARGET_TIME},
	{"rp_time_reset", LABNIC_TIME_RESET},
	{"rp_byte_reset", LABNIC_BYTE_RESET},
	{"rp_threshold", LABNIC_THRESHOLD},
	{"rp_ai_rate", LABNIC_AI_RATE},
	{"rp_max_rate", LABNIC_MAX_RATE},
	{"rp_hai_rate", LABNIC_HAI_RATE},
	{"rp_min_dec_fac", LABNIC_MIN_DEC_FAC},
	{"rp_min_rate", LABNIC_MIN_RATE},
	{"rp_rate_to_set_on_first_cnp", LABNIC_FIRST_RATE},
	{"rp_dce_tcp_g", LABNIC_TCP_G},
	{"rp_dce_tcp_rtt", LABNIC_TCP_RTT},
	{"rp_rate_reduce_monitor_period", LABNIC_REDUCE_PERIOD},
	{"rp_initial_alpha_value", LABNIC_INITIAL_ALPHA},
	{"rp_gd", LABNIC_GD},
	{"np_min_time_between_cnps", LABNIC_CNP_INTERVAL},
	{"np_cnp_dscp", LABNIC_CNP_DSCP},
	{"np_cnp_prio", LABNIC_CNP_PRIO},
	{},
};

static const struct debug_row bnxt_rows[] = {
	{"enable_cc", LABNIC_CC_ENABLE},
	{"run_avg_weight_g", LABNIC_TCP_G},
	{"rtt", LABNIC_TCP_RTT},
	{"alt_vlan_pcp", LABNIC_CNP_PRIO},
	{"alt_vlan_dscp", LABNIC_CNP_DSCP},
	{"tx_queue", LABNIC_CC_FIXED},
	{},
};

static const struct {
	u8 style;
	const char *root;
	const char *folder;
	const struct debug_row *rows;
} debug_styles[] = {
	{LABNIC_CC_MLX5, "mlx5", "cc_params", mlx5_rows},
	{LABNIC_CC_BNXT, "bnxt_re", "cc_config", bnxt_rows},
};

static int debug_get(void *data, u64 *value)
{
	const struct labnic_cc_file *file = data;

	*value = param_get(file->nic, file->param);
	return 0;
}

static int debug_set(void *data, u64 value)
{
	const struct labnic_cc_file *file = data;

	return value > U32_MAX ? -EINVAL : param_set(file->nic, file->param, ~0U, value);
}

DEFINE_DEBUGFS_ATTRIBUTE(debug_fops, debug_get, debug_set, "%llu\n");

/* ROOT/DEVICE/FOLDER/FILE; several NICs share the root. Nobody depends on debugfs: no errors. */
static void debug_show(struct labnic *nic, const char *root_name, const char *folder_name,
		       const struct debug_row *row)
{
	struct dentry *root = debugfs_lookup(root_name, NULL);
	struct dentry *folder;
	int i;

	if (!root)
		root = debugfs_create_dir(root_name, NULL);
	else
		dput(root); /* whoever made it keeps it */
	if (IS_ERR(root))
		return;
	nic->cc.debugfs = debugfs_create_dir(dev_name(nic->dev->dev.parent), root);
	folder = debugfs_create_dir(folder_name, nic->cc.debugfs);
	for (i = 0; row[i].name; i++) {
		nic->cc.file[i] = (struct labnic_cc_file){nic, row[i].param};
		debugfs_create_file_unsafe(row[i].name, 0600, folder, &nic->cc.file[i],
					   &debug_fops);
	}
}

int labnic_cc_show(struct labnic *nic)
{
	u8 styles = nic->personality->cc_files;
	int err = styles & LABNIC_CC_OFED ? ofed_show_all(nic) : 0;
	int i;

	if (err) {
		labnic_cc_hide(nic);
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(debug_styles); i++) {
		if (styles & debug_styles[i].style)
			debug_show(nic, debug_styles[i].root, debug_styles[i].folder,
				   debug_styles[i].rows);
	}
	return 0;
}

void labnic_cc_hide(struct labnic *nic)
{
	struct labnic_cc *cc = &nic->cc;
	struct kobject *folders[] = {cc->rp_enable, cc->rp, cc->np_enable, cc->np, cc->ecn};
	struct dentry *root;
	int i;

	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		kobject_del(folders[i]);
		kobject_put(folders[i]);
	}
	cc->rp_enable = cc->rp = cc->np_enable = cc->np = cc->ecn = NULL;
	if (IS_ERR_OR_NULL(cc->debugfs))
		return;
	root = dget(cc->debugfs->d_parent);
	debugfs_remove(cc->debugfs);
	if (simple_empty(root))
		debugfs_remove(root);
	dput(root);
	cc->debugfs = NULL;
}
