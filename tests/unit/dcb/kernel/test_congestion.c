/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion control files of each vendor in a tree of files: what is read, what is written and
 * what is left alone, files that hold no number, and names that would leave the tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/congestion_priv.h"

static char root[32];
static struct congestion_port port = {
	.ifname = "eth0", .ibdev = "mlx5_0", .bus = "0000:65:00.0", .ib_port = 1};

static void run(const char *format, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

static void put(const char *file, const char *text)
{
	run("cd %s && mkdir -p \"$(dirname %s)\" && printf -- '%s' >%s", root, file, text, file);
}

static bool holds(const char *file, const char *text)
{
	char path[256], got[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	f = fopen(path, "re");
	assert_non_null(f);
	(void)!fgets(got, sizeof(got), f);
	fclose(f);
	return !strcmp(got, text);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_cc.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	port.sysfs = port.debugfs = port.configfs = open(root, O_RDONLY | O_DIRECTORY);
	return port.sysfs < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(port.sysfs);
	run("rm -rf %s", root);
	return 0;
}

static struct qos read_all(void)
{
	struct qos q = {0};

	congestion_read(&port, &q);
	return q;
}

static void put_ofed(void)
{
	char file[64];

	for (int i = 0; i < 8; i++) {
		snprintf(file, sizeof(file), "class/net/eth0/ecn/roce_np/enable/%d", i);
		put(file, i == 3 ? "1\\n" : "0\\n");
		snprintf(file, sizeof(file), "class/net/eth0/ecn/roce_rp/enable/%d", i);
		put(file, "0\\n");
	}
	put("class/net/eth0/ecn/roce_np/cnp_dscp", "48\\n");
	put("class/net/eth0/ecn/roce_np/cnp_802p_prio", "6\\n");
	put("class/net/eth0/ecn/roce_np/min_time_between_cnps", "4\\n");
	put("class/net/eth0/ecn/roce_rp/rpg_ai_rate", "5\\n");
	put("class/net/eth0/ecn/roce_rp/dce_tcp_g", "1019\\n");
}

static void test_nothing(void **state)
{
	struct qos want = {.has = QOS_BIT(QOS_CNP_DSCP), .cnp_dscp = 48};
	struct err e = {0};

	(void)state;
	assert_int_equal(read_all().has, 0);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), -EOPNOTSUPP);
	assert_string_equal(e.text,
			    "eth0: the driver does not support congestion_control.np.cnp_dscp");
}

static void test_ofed(void **state)
{
	struct qos q, want = {0};
	struct err e = {0};

	(void)state;
	put_ofed();
	put("mlx5/0000:65:00.0/cc_params/np_cnp_dscp", "40\\n"); /* sysfs goes before it */
	put("mlx5/0000:65:00.0/cc_params/rp_hai_rate", "50\\n"); /* which sysfs has not here */
	q = read_all();
	assert_int_equal(q.np_enable, 8);
	assert_int_equal(q.rp_enable, 0);
	assert_int_equal(q.cnp_dscp, 48);
	assert_int_equal(q.cnp_prio, 6);
	assert_int_equal(q.cnp_interval_us, 4);
	assert_int_equal(q.cc_params.has[0], 1 << 6 | 1 << 7 | 1 << 12);
	assert_int_equal(q.cc_params.value[7], 50);
	want.has = QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_CNP_DSCP) | QOS_BIT(QOS_CC_PARAMS);
	want.np_enable = 0x10;
	want.cnp_dscp = 46;
	qos_param_set(&want.cc_params, 6, 7);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds("class/net/eth0/ecn/roce_np/enable/3", "0"));
	assert_true(holds("class/net/eth0/ecn/roce_np/enable/4", "1"));
	assert_true(holds("class/net/eth0/ecn/roce_np/enable/5", "0\n")); /* was right already */
	assert_true(holds("class/net/eth0/ecn/roce_np/cnp_dscp", "46"));
	assert_true(holds("mlx5/0000:65:00.0/cc_params/np_cnp_dscp", "40\n"));
	assert_true(holds("class/net/eth0/ecn/roce_rp/rpg_ai_rate", "7"));
	assert_true(holds("class/net/eth0/ecn/roce_rp/dce_tcp_g", "1019\n"));
	assert_int_equal(qos_diff(&want, &(struct qos){0}), want.has);
	q = read_all();
	assert_int_equal(qos_diff(&want, &q), 0);
}

static void test_bnxt(void **state)
{
	struct qos q, want = {.has = QOS_BIT(QOS_CC_ALGORITHM), .cc_algorithm = QOS_CC_OFF};
	struct err e = {0};

	(void)state;
	put("bnxt_re/0000:65:00.0/cc_config/enable_cc", "0x1\\n");
	put("bnxt_re/0000:65:00.0/cc_config/alt_vlan_dscp", "48\\n");
	put("bnxt_re/0000:65:00.0/cc_config/rtt", "20\\n");
	q = read_all();
	assert_int_equal(q.cc_algorithm, QOS_CC_DCQCN);
	assert_int_equal(q.cnp_dscp, 48);
	assert_int_equal(q.cc_params.has[0], 1 << 20);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds("bnxt_re/0000:65:00.0/cc_config/enable_cc", "0"));
}

/* One of three switches is on; the others go off. */
static void test_irdma(void **state)
{
	struct qos want = {.has = QOS_BIT(QOS_CC_ALGORITHM), .cc_algorithm = QOS_CC_TIMELY};
	struct err e = {0};

	(void)state;
	put("irdma/mlx5_0/roce_dcqcn_enable", "0\\n");
	put("irdma/mlx5_0/roce_dctcp_enable", "1\\n");
	put("irdma/mlx5_0/roce_timely_enable", "0\\n");
	assert_int_equal(read_all().cc_algorithm, QOS_CC_DCTCP);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds("irdma/mlx5_0/roce_dctcp_enable", "0"));
	assert_true(holds("irdma/mlx5_0/roce_timely_enable", "1"));
	assert_int_equal(read_all().cc_algorithm, QOS_CC_TIMELY);
}

static uint8_t param(const char *word)
{
	int i = qos_word_value(qos_param_words, word);

	assert_true(i >= 0);
	return (uint8_t)i;
}

static void put_driver(const char *driver)
{
	run("cd %s && mkdir -p class/infiniband/mlx5_0/device && "
	    "ln -sfn ../../../../bus/pci/drivers/%s class/infiniband/mlx5_0/device/driver",
	    root, driver);
}

static bool is_elsewhere(const struct qos *want, enum qos_field_id field, const char *reason)
{
	char text[160] = "";
	bool is = congestion_set_elsewhere(&port, want, field, text, sizeof(text));

	assert_string_equal(text, reason);
	return is;
}

/* Broadcom's own driver: a folder somebody made, hexadecimal values, taken when told to. */
static void test_bnxt_own(void **state)
{
	static const char cc[] = "bnxt_re/mlx5_0/ports/1/cc/";
	struct qos q, want = {.cc_algorithm = QOS_CC_DCQCN, .cnp_dscp = 48, .cnp_prio = 6};
	struct err e = {0};
	char file[64];

	(void)state;
	want.has = QOS_BIT(QOS_CC_ALGORITHM) | QOS_BIT(QOS_CNP_DSCP) | QOS_BIT(QOS_CC_PARAMS);
	qos_param_set(&want.cc_params, param("roce_dscp"), 26);
	put_driver("bnxt_en");
	assert_false(is_elsewhere(&want, QOS_CNP_DSCP, ""));
	run("mkdir %s/bnxt_re", root);
	assert_true(is_elsewhere(&want, QOS_CNP_DSCP,
				 "bnxt_re shows it only in a configfs folder of its device: mkdir "
				 "/sys/kernel/config/bnxt_re/mlx5_0"));
	assert_int_equal(read_all().has, 0);
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const zero[] = {"ecn_enable", "cnp_dscp", "cnp_prio",
						   "roce_dscp"};

		snprintf(file, sizeof(file), "%s%s", cc, zero[i]);
		put(file, "0x0\\n");
	}
	snprintf(file, sizeof(file), "%sapply", cc);
	put(file, "");
	assert_false(is_elsewhere(&want, QOS_CNP_DSCP, ""));
	q = read_all();
	assert_int_equal(q.cc_algorithm, QOS_CC_OFF);
	assert_int_equal(q.cnp_dscp, 0);
	assert_int_equal(congestion_write(&port, &want, QOS_BIT(QOS_CNP_DSCP), &e), 0);
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/cnp_dscp", "0x30"));
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/apply", "0x1"));
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/cnp_prio", "0x0\n"));
	put(file, "");
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/ecn_enable", "0x1"));
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/roce_dscp", "0x1a"));
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/apply", "0x1"));
	put(file, "");
	q = read_all();
	assert_int_equal(qos_diff(&want, &q), 0);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds("bnxt_re/mlx5_0/ports/1/cc/apply", "")); /* nothing was to be taken */
}

static void test_bnxt_profile(void **state)
{
	static const char info[] = "bnxt_re/mlx5_0/info";
	struct qos want = {.cnp_dscp = 48, .cc_algorithm = QOS_CC_DCQCN};

	(void)state;
	want.has = QOS_BIT(QOS_CNP_DSCP) | QOS_BIT(QOS_CC_ALGORITHM);
	put_driver("bnxt_en");
	put("bnxt_re/mlx5_0/ports/1/cc/cnp_dscp", "0x0\\n");
	put("bnxt_re/mlx5_0/ports/1/cc/ecn_enable", "0x0\\n");
	put(info, "x\\nfw_service_prof_type_sup : 0\\n");
	assert_false(is_elsewhere(&want, QOS_CNP_DSCP, ""));
	put(info, "x\\nfw_service_prof_type_sup : 1\\n");
	assert_true(is_elsewhere(&want, QOS_CNP_DSCP,
				 "the service profile of the firmware derives it from app.dscp and "
				 "pfc.enabled"));
	assert_false(is_elsewhere(&want, QOS_CC_ALGORITHM, ""));
	want.cnp_dscp = 0; /* as it is */
	assert_false(is_elsewhere(&want, QOS_CNP_DSCP, ""));
}

/* What irdma was loaded with: read, told, not written. */
static void test_irdma_module(void **state)
{
	struct qos q, want = {.cc_algorithm = QOS_CC_DCQCN};
	struct err e = {0};

	(void)state;
	want.has = QOS_BIT(QOS_CC_ALGORITHM) | QOS_BIT(QOS_CC_PARAMS);
	qos_param_set(&want.cc_params, param("irdma_rai_factor"), 2);
	put("module/irdma/parameters/dcqcn_enable", "N\\n");
	put("module/irdma/parameters/dcqcn_rai_factor", "1\\n");
	put("module/irdma/parameters/dcqcn_cc_cfg_valid", "Y\\n");
	put_driver("mlx5_core"); /* irdma is loaded for another device */
	assert_int_equal(read_all().has, 0);
	assert_false(is_elsewhere(&want, QOS_CC_ALGORITHM, ""));
	put_driver("ice");
	q = read_all();
	assert_int_equal(q.cc_algorithm, QOS_CC_OFF);
	assert_int_equal(q.cc_params.value[param("irdma_rai_factor")], 1);
	assert_int_equal(q.cc_params.value[param("irdma_cc_cfg_valid")], 1);
	assert_false(qos_param_has(&q.cc_params, param("irdma_F")));
	assert_true(is_elsewhere(&want, QOS_CC_ALGORITHM,
				 "irdma reads it only when it is loaded: put 'options irdma "
				 "dcqcn_enable=1' in /etc/modprobe.d and reload the driver"));
	assert_true(is_elsewhere(&want, QOS_CC_PARAMS,
				 "irdma reads it only when it is loaded: put 'options irdma "
				 "dcqcn_rai_factor=2' in /etc/modprobe.d and reload the driver"));
	assert_int_equal(congestion_write(&port, &want, want.has, &e), -EROFS);
	assert_true(holds("module/irdma/parameters/dcqcn_enable", "N\n"));
	want.cc_algorithm = QOS_CC_OFF;
	assert_false(is_elsewhere(&want, QOS_CC_ALGORITHM, ""));
	/* What its configfs says is what is now. */
	put("module/irdma/parameters/dcqcn_enable", "Y\\n");
	assert_int_equal(read_all().cc_algorithm, QOS_CC_DCQCN);
	run("mkdir %s/irdma", root);
	assert_true(is_elsewhere(&want, QOS_CC_ALGORITHM,
				 "irdma shows it only in a configfs folder of its device: mkdir "
				 "/sys/kernel/config/irdma/mlx5_0"));
	put("irdma/mlx5_0/roce_dcqcn_enable", "0\\n");
	put("irdma/mlx5_0/roce_timely_enable", "0\\n");
	assert_int_equal(read_all().cc_algorithm, QOS_CC_OFF);
	want.cc_algorithm = QOS_CC_TIMELY;
	assert_false(is_elsewhere(&want, QOS_CC_ALGORITHM, ""));
	assert_int_equal(congestion_write(&port, &want, QOS_BIT(QOS_CC_ALGORITHM), &e), 0);
	assert_true(holds("irdma/mlx5_0/roce_timely_enable", "1"));
	assert_true(holds("module/irdma/parameters/dcqcn_enable", "Y\n"));
}

/* Rows: each in a place, with a field of the files and an index that the words have. */
static void test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < congestion_file_count; i++) {
		const struct congestion_file *row = &congestion_files[i];
		const struct congestion_folder *place = &congestion_folders[row->folder];

		assert_non_null(place->before);
		assert_true(row->file[0] && row->file[0] != '/');
		assert_true(congestion_fields() & QOS_BIT(row->field));
		assert_true(row->index < QOS_PARAM_COUNT);
		assert_true(row->form != CC_SWITCH || row->field == QOS_CC_ALGORITHM);
		assert_false(place->load_time && !place->drivers);
		assert_false(place->made_in && !place->drivers);
	}
	/* Each parameter has a row. */
	for (unsigned int p = 0; p < QOS_PARAM_COUNT; p++) {
		unsigned int i = 0;

		while (i < congestion_file_count && (congestion_files[i].field != QOS_CC_PARAMS ||
						     congestion_files[i].index != p))
			i++;
		if (i == congestion_file_count)
			fail_msg("no file has %s", qos_param_words[p].word);
	}
}

static void test_traffic_class(void **state)
{
	struct qos want = {.has = QOS_BIT(QOS_VERBS_TOS), .verbs_tos = 106};
	const char *file = "class/infiniband/mlx5_0/tc/1/traffic_class";
	struct err e = {0};

	(void)state;
	put(file, "Global tclass=96\\n");
	assert_int_equal(read_all().verbs_tos, 96);
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds(file, "106"));
	/* Nothing forced is an empty file, and written as -1. */
	put(file, "");
	assert_true(read_all().has & QOS_BIT(QOS_VERBS_TOS));
	assert_int_equal(read_all().verbs_tos, 0);
	put(file, "Global tclass=96\\n");
	want.verbs_tos = 0;
	assert_int_equal(congestion_write(&port, &want, want.has, &e), 0);
	assert_true(holds(file, "-1"));
	put(file, "Global tclass=96\\ntclass=8,dst_ip=198.18.0.9\\n");
	assert_int_equal(congestion_write(&port, &want, want.has, &e), -EBUSY);
	assert_true(holds(file, "Global tclass=96\n"));
}

static void test_no_numbers(void **state)
{
	static const char *const bad[] = {"", "x", "-1", "5 6", "4294967296", "64", "0x"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		put("class/net/eth0/ecn/roce_np/cnp_dscp", bad[i]);
		if (read_all().has)
			fail_msg("'%s' is taken for a DSCP", bad[i]);
	}
	put_ofed();
	put("class/net/eth0/ecn/roce_np/enable/6", "2\\n");
	assert_false(read_all().has & QOS_BIT(QOS_NP_ENABLE));
	run("rm %s/class/net/eth0/ecn/roce_rp/enable/7", root);
	assert_false(read_all().has & QOS_BIT(QOS_RP_ENABLE));
}

static void test_names(void **state)
{
	static const char *const bad[] = {"", "..", ".", "../eth0", "a/b", NULL};

	(void)state;
	put_ofed();
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct congestion_port n = port;
		struct qos q = {0};

		n.ifname = n.ibdev = bad[i];
		snprintf(n.bus, sizeof(n.bus), "%s", bad[i] ? bad[i] : "");
		congestion_read(&n, &q);
		assert_int_equal(q.has, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ofed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bnxt, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_irdma, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bnxt_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bnxt_profile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_irdma_module, set_up, tear_down),
		cmocka_unit_test(test_rows),
		cmocka_unit_test_setup_teardown(test_traffic_class, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
