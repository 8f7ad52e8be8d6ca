/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row a file. Of two files for one value the first row counts: where MLNX_OFED's sysfs and the
 * kernel's debugfs are both there they show one device. Sources: MLNX_OFED's mlnx_qos and ecn
 * files; linux infiniband/hw/mlx5/cong.c, hw/bnxt_re/debugfs.c, hw/hns/hns_roce_debugfs.c; README
 * of Intel's irdma.
 */
#include "dcb/cc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/sysfs.h"

#define PATH_LENGTH 320

enum tree {
	SYSFS,
	DEBUGFS,
	CONFIGFS,
};

/* What the name in a folder is. */
enum name {
	BY_NETDEV,
	BY_BUS,
	BY_IBDEV,
	BY_IB_PORT, /* IBDEV, and the number of its port at the end */
};

enum form {
	NUMBER,
	BITS,	 /* files 0 to 7 with 0 or 1, one a priority */
	SWITCH,	 /* 0 or 1: off, or the algorithm that `index` says */
	OFED_TOS /* "Global tclass=106"; nothing forced is empty, written as -1, and 0 here */
};

/* The folder is before, name, after. */
static const struct place {
	enum tree tree;
	enum name name;
	const char *before, *after;
} places[] = {
#define OFED 0
	{SYSFS, BY_NETDEV, "class/net/", "/ecn"},
#define MLX5 1
	{DEBUGFS, BY_BUS, "mlx5/", "/cc_params"},
#define BNXT 2
	{DEBUGFS, BY_BUS, "bnxt_re/", "/cc_config"},
#define HNS 3
	{DEBUGFS, BY_BUS, "hns_roce/", ""},
#define IRDMA 4
	{CONFIGFS, BY_IBDEV, "irdma/", ""},
#define OFED_TC 5
	{SYSFS, BY_IB_PORT, "class/infiniband/", "/tc/"},
};

static const struct row {
	uint8_t place;
	uint8_t field; /* enum qos_field_id */
	uint8_t index; /* of qos_param_words[]; of the algorithm */
	uint8_t form;
	const char *file;
} rows[] = {
	{OFED, QOS_NP_ENABLE, 0, BITS, "roce_np/enable"},
	{OFED, QOS_RP_ENABLE, 0, BITS, "roce_rp/enable"},
	{OFED, QOS_CNP_DSCP, 0, NUMBER, "roce_np/cnp_dscp"},
	{OFED, QOS_CNP_PRIO, 0, NUMBER, "roce_np/cnp_802p_prio"},
	{OFED, QOS_CNP_INTERVAL, 0, NUMBER, "roce_np/min_time_between_cnps"},
	{OFED, QOS_CC_PARAMS, 0, NUMBER, "roce_rp/clamp_tgt_rate"},
	{OFED, QOS_CC_PARAMS, 1, NUMBER, "roce_rp/clamp_tgt_rate_after_time_inc"},
	{OFED, QOS_CC_PARAMS, 2, NUMBER, "roce_rp/rpg_time_reset"},
	{OFED, QOS_CC_PARAMS, 3, NUMBER, "roce_rp/rpg_byte_reset"},
	{OFED, QOS_CC_PARAMS, 4, NUMBER, "roce_rp/rpg_threshold"},
	{OFED, QOS_CC_PARAMS, 5, NUMBER, "roce_rp/rpg_max_rate"},
	{OFED, QOS_CC_PARAMS, 6, NUMBER, "roce_rp/rpg_ai_rate"},
	{OFED, QOS_CC_PARAMS, 7, NUMBER, "roce_rp/rpg_hai_rate"},
	{OFED, QOS_CC_PARAMS, 8, NUMBER, "roce_rp/rpg_gd"},
	{OFED, QOS_CC_PARAMS, 9, NUMBER, "roce_rp/rpg_min_dec_fac"},
	{OFED, QOS_CC_PARAMS, 10, NUMBER, "roce_rp/rpg_min_rate"},
	{OFED, QOS_CC_PARAMS, 11, NUMBER, "roce_rp/rate_to_set_on_first_cnp"},
	{OFED, QOS_CC_PARAMS, 12, NUMBER, "roce_rp/dce_tcp_g"},
	{OFED, QOS_CC_PARAMS, 13, NUMBER, "roce_rp/dce_tcp_rtt"},
	{OFED, QOS_CC_PARAMS, 14, NUMBER, "roce_rp/rate_reduce_monitor_period"},
	{OFED, QOS_CC_PARAMS, 15, NUMBER, "roce_rp/initial_alpha_value"},
	{OFED_TC, QOS_VERBS_TOS, 0, OFED_TOS, "traffic_class"},
	{MLX5, QOS_CNP_DSCP, 0, NUMBER, "np_cnp_dscp"},
	{MLX5, QOS_CNP_PRIO, 0, NUMBER, "np_cnp_prio"},
	{MLX5, QOS_CNP_INTERVAL, 0, NUMBER, "np_min_time_between_cnps"},
	{MLX5, QOS_CC_PARAMS, 0, NUMBER, "rp_clamp_tgt_rate"},
	{MLX5, QOS_CC_PARAMS, 1, NUMBER, "rp_clamp_tgt_rate_ati"},
	{MLX5, QOS_CC_PARAMS, 2, NUMBER, "rp_time_reset"},
	{MLX5, QOS_CC_PARAMS, 3, NUMBER, "rp_byte_reset"},
	{MLX5, QOS_CC_PARAMS, 4, NUMBER, "rp_threshold"},
	{MLX5, QOS_CC_PARAMS, 5, NUMBER, "rp_max_rate"},
	{MLX5, QOS_CC_PARAMS, 6, NUMBER, "rp_ai_rate"},
	{MLX5, QOS_CC_PARAMS, 7, NUMBER, "rp_hai_rate"},
	{MLX5, QOS_CC_PARAMS, 8, NUMBER, "rp_gd"},
	{MLX5, QOS_CC_PARAMS, 9, NUMBER, "rp_min_dec_fac"},
	{MLX5, QOS_CC_PARAMS, 10, NUMBER, "rp_min_rate"},
	{MLX5, QOS_CC_PARAMS, 11, NUMBER, "rp_rate_to_set_on_first_cnp"},
	{MLX5, QOS_CC_PARAMS, 12, NUMBER, "rp_dce_tcp_g"},
	{MLX5, QOS_CC_PARAMS, 13, NUMBER, "rp_dce_tcp_rtt"},
	{MLX5, QOS_CC_PARAMS, 14, NUMBER, "rp_rate_reduce_monitor_period"},
	{MLX5, QOS_CC_PARAMS, 15, NUMBER, "rp_initial_alpha_value"},
	{BNXT, QOS_CC_ALGORITHM, QOS_CC_DCQCN, SWITCH, "enable_cc"},
	{BNXT, QOS_CNP_DSCP, 0, NUMBER, "alt_vlan_dscp"},
	{BNXT, QOS_CNP_PRIO, 0, NUMBER, "alt_vlan_pcp"},
	{BNXT, QOS_CC_PARAMS, 16, NUMBER, "run_avg_weight_g"},
	{BNXT, QOS_CC_PARAMS, 17, NUMBER, "num_phase_per_state"},
	{BNXT, QOS_CC_PARAMS, 18, NUMBER, "init_cr"},
	{BNXT, QOS_CC_PARAMS, 19, NUMBER, "init_tr"},
	{BNXT, QOS_CC_PARAMS, 20, NUMBER, "rtt"},
	{BNXT, QOS_CC_PARAMS, 21, NUMBER, "cc_mode"},
	{BNXT, QOS_CC_PARAMS, 22, NUMBER, "tcp_cp"},
	{BNXT, QOS_CC_PARAMS, 23, NUMBER, "inactivity_cp"},
	{HNS, QOS_CC_PARAMS, 24, NUMBER, "dcqcn_cc_param/ai"},
	{HNS, QOS_CC_PARAMS, 25, NUMBER, "dcqcn_cc_param/f"},
	{HNS, QOS_CC_PARAMS, 26, NUMBER, "dcqcn_cc_param/tkp"},
	{HNS, QOS_CC_PARAMS, 27, NUMBER, "dcqcn_cc_param/tmp"},
	{HNS, QOS_CC_PARAMS, 28, NUMBER, "dcqcn_cc_param/alp"},
	{HNS, QOS_CC_PARAMS, 29, NUMBER, "dcqcn_cc_param/max_speed"},
	{HNS, QOS_CC_PARAMS, 30, NUMBER, "dcqcn_cc_param/g"},
	{HNS, QOS_CC_PARAMS, 31, NUMBER, "dcqcn_cc_param/al"},
	{HNS, QOS_CC_PARAMS, 32, NUMBER, "dcqcn_cc_param/cnp_time"},
	{HNS, QOS_CC_PARAMS, 33, NUMBER, "dcqcn_cc_param/ashift"},
	{HNS, QOS_CC_PARAMS, 34, NUMBER, "ldcp_cc_param/cwd0"},
	{HNS, QOS_CC_PARAMS, 35, NUMBER, "ldcp_cc_param/alpha"},
	{HNS, QOS_CC_PARAMS, 36, NUMBER, "ldcp_cc_param/gamma"},
	{HNS, QOS_CC_PARAMS, 37, NUMBER, "ldcp_cc_param/beta"},
	{HNS, QOS_CC_PARAMS, 38, NUMBER, "ldcp_cc_param/eta"},
	{HNS, QOS_CC_PARAMS, 39, NUMBER, "hc3_cc_param/initial_window"},
	{HNS, QOS_CC_PARAMS, 40, NUMBER, "hc3_cc_param/bandwidth"},
	{HNS, QOS_CC_PARAMS, 41, NUMBER, "hc3_cc_param/qlen_shift"},
	{HNS, QOS_CC_PARAMS, 42, NUMBER, "hc3_cc_param/port_usage_shift"},
	{HNS, QOS_CC_PARAMS, 43, NUMBER, "hc3_cc_param/over_period"},
	{HNS, QOS_CC_PARAMS, 44, NUMBER, "hc3_cc_param/max_stage"},
	{HNS, QOS_CC_PARAMS, 45, NUMBER, "hc3_cc_param/gamma_shift"},
	{HNS, QOS_CC_PARAMS, 46, NUMBER, "dip_cc_param/ai"},
	{HNS, QOS_CC_PARAMS, 47, NUMBER, "dip_cc_param/f"},
	{HNS, QOS_CC_PARAMS, 48, NUMBER, "dip_cc_param/tkp"},
	{HNS, QOS_CC_PARAMS, 49, NUMBER, "dip_cc_param/tmp"},
	{HNS, QOS_CC_PARAMS, 50, NUMBER, "dip_cc_param/alp"},
	{HNS, QOS_CC_PARAMS, 51, NUMBER, "dip_cc_param/max_speed"},
	{HNS, QOS_CC_PARAMS, 52, NUMBER, "dip_cc_param/g"},
	{HNS, QOS_CC_PARAMS, 53, NUMBER, "dip_cc_param/al"},
	{HNS, QOS_CC_PARAMS, 54, NUMBER, "dip_cc_param/cnp_time"},
	{HNS, QOS_CC_PARAMS, 55, NUMBER, "dip_cc_param/ashift"},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_DCQCN, SWITCH, "roce_dcqcn_enable"},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_DCTCP, SWITCH, "roce_dctcp_enable"},
	{IRDMA, QOS_CC_ALGORITHM, QOS_CC_TIMELY, SWITCH, "roce_timely_enable"},
};

uint64_t cc_fields(void)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		fields |= QOS_BIT(rows[i].field);
	return fields;
}

static int root_of(const struct cc_roots *roots, enum tree tree)
{
	switch (tree) {
	case SYSFS:
		return roots->sysfs;
	case DEBUGFS:
		return roots->debugfs;
	default:
		return roots->configfs;
	}
}

static const char *name_of(const struct cc_names *names, enum name name)
{
	switch (name) {
	case BY_NETDEV:
		return names->ifname;
	case BY_BUS:
		return names->bus;
	default:
		return names->ibdev;
	}
}

/* Opens the file of a row; sub: "" or the number of a priority. */
static int open_row(const struct cc_roots *roots, const struct cc_names *names,
		    const struct row *row, const char *sub, int flags)
{
	const struct place *place = &places[row->place];
	const char *name = name_of(names, place->name);
	int root = root_of(roots, place->tree), fd;
	char path[PATH_LENGTH], number[16] = "";

	if (root < 0 || !sysfs_is_element(name))
		return -ENOENT;
	if (place->name == BY_IB_PORT)
		snprintf(number, sizeof(number), "%u", names->ib_port);
	if (snprintf(path, sizeof(path), "%s%s%s%s/%s%s%s", place->before, name, place->after,
		     number, row->file, sub[0] ? "/" : "", sub) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = openat(root, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_text(const struct cc_roots *roots, const struct cc_names *names,
		     const struct row *row, const char *sub, char *text, size_t size)
{
	int fd = open_row(roots, names, row, sub, O_RDONLY), err;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, size - 1);
	err = n < 0 ? -errno : 0;
	close(fd);
	text[err ? 0 : n] = '\0';
	return err;
}

/* A whole number in any base C has, and nothing behind it. */
static int take_number(const char *text, uint32_t *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || (*end && *end != '\n') || number > UINT32_MAX || text[0] == '-')
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

static int read_bits(const struct cc_roots *roots, const struct cc_names *names,
		     const struct row *row, uint32_t *value)
{
	uint32_t bits = 0, one;
	char text[64], sub[4];

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		int err;

		snprintf(sub, sizeof(sub), "%u", prio);
		err = read_text(roots, names, row, sub, text, sizeof(text));
		if (!err)
			err = take_number(text, &one);
		if (err || one > 1)
			return err ? err : -EINVAL;
		bits |= one << prio;
	}
	*value = bits;
	return 0;
}

static int read_tos(const char *text, uint32_t *value)
{
	static const char key[] = "Global tclass=";
	const char *at = strstr(text, key);

	*value = 0;
	return at ? take_number(at + sizeof(key) - 1, value) : 0;
}

static int read_row(const struct cc_roots *roots, const struct cc_names *names,
		    const struct row *row, uint32_t *value)
{
	char text[256];
	int err;

	if (row->form == BITS)
		return read_bits(roots, names, row, value);
	err = read_text(roots, names, row, "", text, sizeof(text));
	if (err)
		return err;
	return row->form == OFED_TOS ? read_tos(text, value) : take_number(text, value);
}

/* Into the field's member, if it is in the field's range. */
static bool keep(struct qos *q, const struct row *row, uint32_t value)
{
	const struct qos_field *f = &qos_fields[row->field];

	if (row->field == QOS_CC_PARAMS) {
		q->cc_params.has |= UINT64_C(1) << row->index;
		q->cc_params.value[row->index] = value;
		return true;
	}
	if (row->form == SWITCH)
		value = value ? row->index : (uint32_t)QOS_CC_OFF;
	if (row->form == BITS ? value > 0xff : value < f->min || value > f->max)
		return false;
	if (f->kind == QOS_KIND_U32)
		*(uint32_t *)qos_slot(q, f) = value;
	else
		*(uint8_t *)qos_slot(q, f) = (uint8_t)value;
	return true;
}

/* Whether an earlier row has given the value. Of switches the one that is on counts. */
static bool is_known(const struct qos *q, const struct row *row)
{
	if (!qos_has(q, row->field))
		return false;
	if (row->field == QOS_CC_PARAMS)
		return q->cc_params.has & UINT64_C(1) << row->index;
	return row->form != SWITCH || q->cc_algorithm != QOS_CC_OFF;
}

void cc_read(const struct cc_roots *roots, const struct cc_names *names, struct qos *q)
{
	uint32_t value;

	memset(&q->cc_params, 0, sizeof(q->cc_params));
	q->has &= ~cc_fields();
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!is_known(q, row) && !read_row(roots, names, row, &value) &&
		    keep(q, row, value))
			q->has |= QOS_BIT(row->field);
	}
}

static int put_number(const struct cc_roots *roots, const struct cc_names *names,
		      const struct row *row, const char *sub, uint32_t value)
{
	int fd = open_row(roots, names, row, sub, O_WRONLY | O_TRUNC), err = 0;
	char text[16];
	int n;

	if (fd < 0)
		return fd;
	n = snprintf(text, sizeof(text), row->form == OFED_TOS && !value ? "-1" : "%u", value);
	if (write(fd, text, (size_t)n) != n)
		err = errno ? -errno : -EIO;
	close(fd);
	return err;
}

/* What q wants of a row's file; false: nothing. */
static bool wanted(const struct qos *q, const struct row *row, uint32_t *value)
{
	const struct qos_field *f = &qos_fields[row->field];

	if (row->field == QOS_CC_PARAMS) {
		*value = q->cc_params.value[row->index];
		return q->cc_params.has & UINT64_C(1) << row->index;
	}
	if (row->form == SWITCH)
		*value = q->cc_algorithm == row->index;
	else if (f->kind == QOS_KIND_U32)
		*value = *(const uint32_t *)qos_member(q, f);
	else
		*value = *(const uint8_t *)qos_member(q, f);
	return true;
}

/* Rules for single destinations stand in the same file, and a new value may end them. */
static int check_rules(const struct cc_roots *roots, const struct cc_names *names,
		       const struct row *row)
{
	char text[256];
	int err = read_text(roots, names, row, "", text, sizeof(text));

	return err ? err : strstr(text, "dst_ip") || strstr(text, "src_ip") ? -EBUSY : 0;
}

static int write_row(const struct cc_roots *roots, const struct cc_names *names,
		     const struct row *row, uint32_t now, uint32_t value)
{
	char sub[4];
	int err = 0;

	if (row->form == OFED_TOS)
		err = check_rules(roots, names, row);
	if (err)
		return err;
	if (row->form != BITS)
		return put_number(roots, names, row, "", value);
	for (unsigned int prio = 0; !err && prio < QOS_PRIOS; prio++) {
		if (!((now ^ value) & 1u << prio))
			continue;
		snprintf(sub, sizeof(sub), "%u", prio);
		err = put_number(roots, names, row, sub, value >> prio & 1);
	}
	return err;
}

/* The rows of one field; each value goes to the first file that has it. */
static int write_field(const struct cc_roots *roots, const struct cc_names *names,
		       const struct qos *q, enum qos_field_id field, struct err *e)
{
	uint64_t done = 0;
	bool any = false;
	int err = 0;

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		uint32_t now, value;
		if (row->field != field || done & UINT64_C(1) << row->index ||
		    !wanted(q, row, &value))
			continue;
		if (read_row(roots, names, row, &now))
			continue;
		any = true;
		done |= UINT64_C(1) << row->index;
		if (now != value)
			err = write_row(roots, names, row, now, value);
	}
	if (err)
		return err_sys(e, err, "%s: %s", names->ifname, qos_fields[field].key);
	return any ? 0
		   : err_set(e, -EOPNOTSUPP, "%s: the driver has no %s", names->ifname,
			     qos_fields[field].key);
}

int cc_write(const struct cc_roots *roots, const struct cc_names *names, const struct qos *q,
	     uint64_t mask, struct err *e)
{
	int err = 0;

	for (int id = 0; !err && id < QOS_FIELD_COUNT; id++)
		if (mask & QOS_BIT(id))
			err = write_field(roots, names, q, id, e);
	return err;
}

/* securityfs says "none [integrity] confidentiality"; any but none closes debugfs, lockdown(7). */
static bool locked_down(int sysfs)
{
	int fd = openat(sysfs, "kernel/security/lockdown", O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && !strstr(text, "[none]");
}

const char *cc_hidden(const struct cc_roots *roots)
{
	if (roots->debugfs < 0)
		return "debugfs is not mounted, or not for this user";
	return locked_down(roots->sysfs) ? "the kernel is locked down, which closes debugfs" : "";
}
