/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show --yaml and the profile loader are each other's way back: what is printed loads without an
 * error, and what was loaded wishes nothing that the port has not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/show_yaml.h"
#include "profiles/profile.h"

/* A coherent lossless port in which every field that a profile can wish has a value. */
static void fill_port(struct port *p, const char *netdev)
{
	struct qos *q = &p->qos;
	struct qos_app roce = {QOS_APP_DGRAM, 3, 4791}, two = {QOS_APP_ETHERTYPE, 3, 35093};

	memset(p, 0, sizeof(*p));
	snprintf(p->netdev, sizeof(p->netdev), "%s", netdev);
	snprintf(p->driver, sizeof(p->driver), "mlx5_core");
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (id != QOS_APP)
			q->has |= QOS_BIT(id);
	assert_int_equal(qos_app_add(q, roce), 0);
	assert_int_equal(qos_app_add(q, two), 0);
	two.prio = 4;
	assert_int_equal(qos_app_add(q, two), 0);
	q->dcbx_mode = QOS_DCBX_HOST | QOS_DCBX_IEEE;
	q->trust = QOS_TRUST_DSCP;
	for (int d = 0; d < QOS_DSCPS; d++)
		q->dscp_prio[d] = d >> 3;
	q->dscp_prio[9] = QOS_UNMAPPED;
	q->ets_cap = q->pfc_cap = 8;
	for (int i = 0; i < QOS_PRIOS; i++)
		q->prio_tc[i] = i;
	q->tc_tsa[0] = q->tc_tsa[3] = QOS_TSA_ETS;
	q->tc_tx_bw[0] = q->tc_tx_bw[3] = 50;
	q->tc_maxrate_kbps[6] = 10000000;
	q->pfc_enabled = 8;
	q->pfc_delay = 7;
	q->prio_buffer[3] = 1;
	q->buffer_size_bytes[0] = q->buffer_size_bytes[1] = 262144;
	q->mtu = 9000;
	q->ib_mtu = 4096;
	q->roce_version = 2;
	q->cm_tos = 106;
	q->np_enable = q->rp_enable = 8;
	q->cnp_dscp = 48;
	q->cnp_prio = 6;
}

static struct snapshot make(struct port *ports, unsigned int count)
{
	struct snapshot s = {.port = ports, .port_count = count};

	snprintf(s.host, sizeof(s.host), "gpu 1");
	return s;
}

static char *yaml_of(const struct snapshot *s)
{
	struct err e = {0};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (show_yaml(s, f, &e))
		fail_msg("%s", e.text);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void load(const char *text, struct profile *p)
{
	char path[] = "/tmp/test_show_yaml.XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct diags diags;
	struct err e = {0};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	diags_init(&diags);
	if (profile_load(path, p, &diags, &e)) {
		diags_print_gcc(&diags, stderr);
		fail_msg("%s\n%s", e.text, text);
	}
	diags_clear(&diags);
	assert_int_equal(unlink(path), 0);
}

/* Everything, and then each field away: unknown is no wish. */
static void test_way_back(void **state)
{
	for (int without = -1; without < QOS_FIELD_COUNT; without++) {
		struct port port;
		struct snapshot s = make(&port, 1);
		struct profile p;
		char *text;

		(void)state;
		fill_port(&port, "eth0");
		if (without >= 0)
			port.qos.has &= ~QOS_BIT(without);
		if (without == QOS_PFC_ENABLED || without == QOS_DSCP_PRIO)
			continue; /* no coherent port, see test_incoherent() */
		if (without == QOS_ETS_WILLING || without == QOS_PFC_WILLING)
			continue; /* lldpad always says, and a profile for it, too */
		text = yaml_of(&s);
		load(text, &p);
		for (int id = 0; id < QOS_FIELD_COUNT; id++) {
			if (qos_fields[id].read_only || id == without) {
				assert_false(qos_has(&p.qos, id));
				continue;
			}
			if (!qos_has(&p.qos, id))
				fail_msg("%s is missing in:\n%s", qos_fields[id].key, text);
		}
		assert_int_equal(qos_diff(&p.qos, &port.qos), 0);
		free(text);
	}
}

static void test_incoherent(void **state)
{
	struct port port;
	struct snapshot s = make(&port, 1);
	char *text;

	(void)state;
	fill_port(&port, "eth0");
	port.qos.tc_tx_bw[3] = 40;
	text = yaml_of(&s);
	assert_non_null(strstr(text, "# RC-INP-023: "));
	assert_non_null(strstr(text, "tc_tx_bw: {0: 50, 3: 40}"));
	free(text);
	fill_port(&port, "eth0");
	port.qos.pfc_enabled = 0;
	text = yaml_of(&s);
	assert_non_null(strstr(text, "intent: lossy"));
	free(text);
}

/* What a class that is not ets reports as its share is nobody's wish. */
static void test_idle_shares(void **state)
{
	struct port port;
	struct snapshot s = make(&port, 1);
	struct profile p;
	char *text;

	(void)state;
	fill_port(&port, "eth0");
	port.qos.tc_tx_bw[5] = 100;
	text = yaml_of(&s);
	assert_null(strstr(text, "5: 100"));
	assert_null(strstr(text, "# RC-"));
	load(text, &p);
	assert_int_equal(qos_diff(&p.qos, &port.qos), 0);
	free(text);
}

/* As long as values can be: none of them is cut. */
static void test_long_values(void **state)
{
	struct port port;
	struct snapshot s = make(&port, 1);
	struct profile p;
	char *text;

	(void)state;
	fill_port(&port, "eth0");
	for (unsigned int i = 0; i < QOS_PARAM_COUNT; i++)
		qos_param_set(&port.qos.cc_params, i, UINT32_MAX - i);
	for (uint16_t i = 0; port.qos.app_count < QOS_APPS_MAX; i++)
		assert_int_equal(
			qos_app_add(&port.qos, (struct qos_app){QOS_APP_DGRAM, 3, UINT16_MAX - i}),
			0);
	text = yaml_of(&s);
	load(text, &p);
	assert_true(qos_field_equal(&p.qos, &port.qos, QOS_CC_PARAMS));
	assert_true(qos_field_equal(&p.qos, &port.qos, QOS_APP));
	free(text);
}

static void test_ports(void **state)
{
	struct port port[2];
	struct snapshot s = make(port, 2);
	struct err e = {0};
	char *text;

	(void)state;
	fill_port(&port[0], "eth0");
	fill_port(&port[1], "eth1");
	port[1].qos.ib_mtu = 1024; /* the device's, no wish */
	text = yaml_of(&s);
	assert_non_null(strstr(text, "# Current settings of eth0, eth1 on gpu 1"));
	assert_non_null(strstr(text, "\nname: gpu-1-eth0\n"));
	free(text);
	port[1].qos.mtu = 1500;
	port[1].qos.cnp_dscp = 46;
	assert_int_equal(show_yaml(&s, stderr, &e), -ENOTUNIQ);
	assert_non_null(strstr(e.text, "mtu.netdev, congestion_control.np.cnp_dscp"));
	/* What is known of one port alone is no difference, and no wish. */
	fill_port(&port[1], "eth1");
	port[1].qos.has &= ~QOS_BIT(QOS_MTU);
	text = yaml_of(&s);
	assert_null(strstr(text, "\nmtu:"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_way_back),    cmocka_unit_test(test_incoherent),
		cmocka_unit_test(test_idle_shares), cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
