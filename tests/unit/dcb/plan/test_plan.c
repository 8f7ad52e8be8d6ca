/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans as tables: what is wanted and what is there on one line, the steps and their order by
 * driver on the next. And a walk over every row of the quirk table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/plan/plan.h"

static struct qos from_text(const char *json)
{
	json_t *j = json_loads(json, 0, NULL);
	struct qos q = {0};
	struct err e = {0};

	assert_non_null(j);
	if (qos_from_json(j, &q, &e))
		fail_msg("%s: %s", json, e.text);
	json_decref(j);
	return q;
}

/* Names of the steps in order, "!" before those that cannot be run. */
static void steps_text(const struct plan *p, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < p->count; i++)
		used += snprintf(buf + used, size - used, "%s%s%s", i ? " " : "",
				 p->step[i].cannot ? "!" : "", qos_fields[p->step[i].field].key);
}

#define ALL_STRICT "['strict','strict','strict','strict','strict','strict','strict','strict']"

#define PORT                                                                                       \
	"'dcbx':{'mode':['host','ieee']},'trust':'pcp','app':{'dscp':{},'entries':[]},"            \
	"'ets':{'willing':false,'cap':8,'prio_tc':[0,0,0,0,0,0,0,0],"                              \
	"'tc_tsa':" ALL_STRICT ","                                                                 \
	"'tc_tx_bw':[0,0,0,0,0,0,0,0]},'pfc':{'cap':8,'enabled':[],'delay':0},"                    \
	"'link_pause':{'autoneg':false,'rx':true,'tx':true},'mtu':{'netdev':1500}"

#define WISH                                                                                       \
	"'trust':'dscp','app':{'dscp':{'26':3}},'ets':{'prio_tc':[0,0,0,3,0,0,0,0],"               \
	"'tc_tsa':['ets','strict','strict','ets','strict','strict','strict','strict'],"            \
	"'tc_tx_bw':[50,0,0,50,0,0,0,0]},'pfc':{'enabled':[3]},"                                   \
	"'link_pause':{'rx':false,'tx':false},'mtu':{'netdev':9000}"

/* What a device of four classes can do, which ties them to priorities. */
#define FOUR                                                                                       \
	"'trust':'dscp','app':{'dscp':{'26':3}},'ets':{'prio_tc':[0,1,2,3,4,5,6,7],"               \
	"'tc_tsa':['ets','strict','strict','ets','strict','strict','strict','strict'],"            \
	"'tc_tx_bw':[50,0,0,50,0,0,0,0]},'pfc':{'enabled':[3]},"                                   \
	"'link_pause':{'rx':false,'tx':false},'mtu':{'netdev':9000}"

#define HEAD "link_pause.rx link_pause.tx mtu.netdev "
#define APP  "trust app.dscp "
#define ETS  "ets.prio_tc ets.tc_tsa ets.tc_tx_bw "

struct plan_case {
	const char *name, *driver, *want, *have, *steps;
};

static const struct plan_case cases[] = {
	{"in sync", "mlx5_core", PORT, PORT, ""},
	{"mlx5: APP, ETS, PFC", "mlx5_core", WISH, PORT, HEAD APP ETS "pfc.enabled"},
	{"bnxt: ETS, PFC, APP", "bnxt_en", WISH, PORT, HEAD ETS "pfc.enabled trust app.dscp"},
	{"ice: APP, ETS, PFC", "ice", FOUR, PORT, HEAD APP ETS "pfc.enabled"},
	{"ice: the first DSCP entry resets ETS and PFC", "ice",
	 "'trust':'dscp','app':{'dscp':{'8':1}},'ets':{'tc_tsa':" ALL_STRICT
	 "},'pfc':{'enabled':[]}",
	 PORT, APP "ets.tc_tsa pfc.enabled"},
	{"ice: and so does the end of the last one", "ice",
	 "'trust':'pcp','app':{'dscp':{}},'pfc':{'enabled':[1]}",
	 "'trust':'dscp','app':{'dscp':{'8':1}},'pfc':{'enabled':[1]}", APP "pfc.enabled"},
	{"ice: another one resets nothing", "ice", "'app':{'dscp':{'16':2}},'pfc':{'enabled':[1]}",
	 "'trust':'dscp','app':{'dscp':{'8':1}},'pfc':{'enabled':[1]}", "app.dscp"},
	{"ice: with its firmware's agent ETS and PFC go, too", "ice",
	 "'dcbx':{'firmware_agent':false},'ets':{'tc_tsa':" ALL_STRICT "},'pfc':{'enabled':[1]}",
	 "'dcbx':{'firmware_agent':true},'ets':{'tc_tsa':" ALL_STRICT "},'pfc':{'enabled':[1]}",
	 "dcbx.firmware_agent ets.tc_tsa pfc.enabled"},
	{"ice: and with the agent that comes back", "ice",
	 "'dcbx':{'firmware_agent':true},'pfc':{'enabled':[1]}",
	 "'dcbx':{'firmware_agent':false},'pfc':{'enabled':[1]}",
	 "dcbx.firmware_agent pfc.enabled"},
	{"ice: an agent that is off already takes nothing along", "ice",
	 "'dcbx':{'firmware_agent':false},'pfc':{'enabled':[1]}",
	 "'dcbx':{'firmware_agent':false},'pfc':{'enabled':[1]}", ""},
	{"ice: app.dscp alone makes DSCP trust, which ties priorities to classes", "ice",
	 "'app':{'dscp':{'8':1}},'ets':{'prio_tc':[0,0,0,1,0,0,0,0]}",
	 "'trust':'pcp','app':{'dscp':{}},'ets':{'cap':4,'prio_tc':[0,0,0,0,0,0,0,0]}",
	 "app.dscp !ets.prio_tc"},
	{"PFC is counted by class where the classes are known", "x",
	 "'pfc':{'enabled':[3,4]},'ets':{'prio_tc':[0,0,0,1,1,0,0,0]}",
	 "'pfc':{'cap':1,'enabled':[]},'ets':{'prio_tc':[0,0,0,0,0,0,0,0]}",
	 "ets.prio_tc pfc.enabled"},
	{"storm prevention 'auto' reads back as what the device made of it", "mlx5_core",
	 "'pfc':{'storm_prevention_ms':'auto'}", "'pfc':{'storm_prevention_ms':100}", ""},
	{"but not as anything else", "mlx5_core", "'pfc':{'storm_prevention_ms':'auto'}",
	 "'pfc':{'storm_prevention_ms':8000}", "pfc.storm_prevention_ms"},
	{"i40e: ETS, PFC, APP", "i40e", WISH, PORT, HEAD ETS "pfc.enabled trust app.dscp"},
	{"hns3: ETS, PFC, APP", "hns3", WISH, PORT, HEAD ETS "pfc.enabled trust app.dscp"},
	{"any other", "labnic", WISH, PORT, HEAD APP ETS "pfc.enabled"},
	{"no dcbnl", "virtio_net", "'pfc':{'enabled':[3]},'mtu':{'netdev':9000}",
	 "'mtu':{'netdev':1500}", "mtu.netdev !pfc.enabled"},
	{"bnxt hides what was never set", "bnxt_en",
	 "'ets':{'prio_tc':[0,0,0,0,0,0,0,0],'tc_tsa':" ALL_STRICT ","
	 "'tc_tx_bw':[0,0,0,0,0,0,0,0]},'pfc':{'enabled':[3]}",
	 "'mtu':{'netdev':1500}", ETS "pfc.enabled"},
	{"bnxt refuses PFC before any ETS", "bnxt_en", "'pfc':{'enabled':[3]}",
	 "'mtu':{'netdev':1500}", "!pfc.enabled"},
	{"rdma_cm is unknown before its directory is made", "x",
	 "'rdma':{'roce_version':'v2','cm_default_tos':{'dscp':26,'ecn':'ect0'}}",
	 "'mtu':{'netdev':1500}", "rdma.roce_version rdma.cm_default_tos"},
	{"DSCP trust without entries", "x", "'trust':'dscp'", PORT, "!trust"},
	{"PCP trust removes the entries", "x", "'trust':'pcp'",
	 "'trust':'dscp','app':{'dscp':{'26':3}}", "trust app.dscp"},
	{"more TCs than there are", "x", "'ets':{'prio_tc':[0,0,0,3,0,0,0,0]}",
	 "'ets':{'cap':3,'prio_tc':[0,0,0,0,0,0,0,0]}", "!ets.prio_tc"},
	{"more lossless priorities than there can be", "x", "'pfc':{'enabled':[3,4]}",
	 "'pfc':{'cap':1,'enabled':[]}", "!pfc.enabled"},
	{"nobody is willing where no agent runs", "x", "'pfc':{'willing':false}", PORT, ""},
	{"and nobody can be made willing", "x", "'pfc':{'willing':true}", PORT, "!pfc.willing"},
	{"firmware owns DCBX", "x", "'dcbx':{'mode':['host','ieee']}",
	 "'dcbx':{'mode':['lld_managed','ieee']}", "!dcbx.mode"},
	{"mlx5 always says cee", "mlx5_core", "'dcbx':{'mode':['host','ieee']}",
	 "'dcbx':{'mode':['host','cee','ieee']}", ""},
	{"the IB MTU comes with the netdev's", "x", "'mtu':{'netdev':4200,'ib_min':4096}",
	 "'mtu':{'netdev':1500,'ib_min':1024}", "mtu.netdev"},
	{"but not with one too small", "x", "'mtu':{'netdev':4190,'ib_min':4096}",
	 "'mtu':{'netdev':1500,'ib_min':1024}", "mtu.netdev !mtu.ib_min"},
	{"nor by itself", "x", "'mtu':{'ib_min':4096}", "'mtu':{'netdev':1500,'ib_min':1024}",
	 "!mtu.ib_min"},
	{"congestion control", "mlx5_core", "'congestion_control':{'np':{'cnp_dscp':48}}", PORT,
	 "!congestion_control.np.cnp_dscp"},
	{"the map of VLAN devices", "x", "'vlan':{'egress_qos_map':{'2':3}}",
	 "'vlan':{'egress_qos_map':{'2':3,'6':6}}", "vlan.egress_qos_map"},
	{"which is right", "x", "'vlan':{'egress_qos_map':{'2':3}}",
	 "'vlan':{'egress_qos_map':{'2':3,'0':0}}", ""},
	{"where there is none, or they differ", "x", "'vlan':{'egress_qos_map':{'2':3}}",
	 "'mtu':{'netdev':1500}", "!vlan.egress_qos_map"},
	{"mlx5 is loaded anew for RoCE, and told all that goes with it", "mlx5_core",
	 "'rdma':{'enable_roce':true},'mtu':{'netdev':9000},'pfc':{'enabled':[3]}",
	 "'rdma':{'enable_roce':false},'mtu':{'netdev':9000},'pfc':{'enabled':[3]}",
	 "rdma.enable_roce mtu.netdev pfc.enabled"},
	{"ice is not", "ice", "'rdma':{'enable_roce':true},'mtu':{'netdev':9000}",
	 "'rdma':{'enable_roce':false},'mtu':{'netdev':9000}", "rdma.enable_roce"},
	{"nor is mlx5 without a change", "mlx5_core",
	 "'rdma':{'enable_roce':true},'mtu':{'netdev':9000}",
	 "'rdma':{'enable_roce':true},'mtu':{'netdev':9000}", ""},
	{"and not where there is no such thing", "mlx5_core",
	 "'rdma':{'enable_roce':true},'mtu':{'netdev':9000}", "'mtu':{'netdev':9000}",
	 "!rdma.enable_roce"},
	{"link pause of a device without", "x", "'link_pause':{'rx':false}",
	 "'mtu':{'netdev':1500}", "!link_pause.rx"},
};

/* Cases are written with single quotes. */
static struct qos parse(const char *body)
{
	char text[2048];

	snprintf(text, sizeof(text), "{%s}", body);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	return from_text(text);
}

static void test_steps(void **state)
{
	struct plan *p = malloc(sizeof(*p));
	int line[QOS_FIELD_COUNT];
	char text[1024];

	(void)state;
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		line[id] = 100 + id;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qos want = parse(cases[i].want), have = parse(cases[i].have);

		plan_make(&want, line, &have, cases[i].driver, p);
		steps_text(p, text, sizeof(text));
		if (strcmp(text, cases[i].steps))
			fail_msg("%s:\n  '%s', not\n  '%s'", cases[i].name, text, cases[i].steps);
		for (unsigned int k = 0; k < p->count; k++) {
			const struct plan_step *s = &p->step[k];

			assert_true(s->cannot == (s->reason[0] != '\0'));
			assert_true(s->line == 100 + (int)s->field);
			if (!s->cannot)
				assert_true(qos_has(&s->to, s->field));
		}
		assert_int_equal(plan_changes(p), __builtin_popcountll(plan_fields(p)));
	}
	free(p);
}

/* What is written leaves what nobody asked about, and replaces what conflicts. */
static void test_targets(void **state)
{
	struct qos want = parse("'app':{'dscp':{'26':3},'entries':["
				"{'selector':'udp','protocol':4791,'prio':3}]}");
	struct qos have = parse("'trust':'dscp','app':{'dscp':{'26':4,'8':1},'entries':["
				"{'selector':'udp','protocol':4791,'prio':4},"
				"{'selector':'tcp','protocol':80,'prio':1}]}");
	struct plan *p = malloc(sizeof(*p));
	int line[QOS_FIELD_COUNT] = {0};

	(void)state;
	plan_make(&want, line, &have, "x", p);
	assert_int_equal(p->count, 2);
	assert_int_equal(p->step[0].to.dscp_prio[26], 3);
	assert_int_equal(p->step[0].to.dscp_prio[8], 1);
	assert_int_equal(p->step[0].to.dscp_prio[0], QOS_UNMAPPED);
	assert_int_equal(p->step[0].from.dscp_prio[26], 4);
	assert_int_equal(p->step[1].to.app_count, 2);
	assert_int_equal(p->step[1].to.app[0].protocol, 80);
	assert_int_equal(p->step[1].to.app[1].prio, 3);
	want = parse("'trust':'pcp'");
	plan_make(&want, line, &have, "x", p);
	assert_int_equal(p->step[1].field, QOS_DSCP_PRIO);
	for (int d = 0; d < QOS_DSCPS; d++)
		assert_int_equal(p->step[1].to.dscp_prio[d], QOS_UNMAPPED);
	free(p);
}

/* What nobody asked for and goes all the same is named. */
static void test_lost(void **state)
{
	struct qos want = parse("'trust':'dscp','app':{'dscp':{'8':1}},'pfc':{'enabled':[1]}");
	struct qos have = parse(PORT);
	int line[QOS_FIELD_COUNT] = {0};
	struct plan p;

	(void)state;
	plan_make(&want, line, &have, "ice", &p);
	assert_true(p.side_effects & QOS_BIT(QOS_TC_TX_BW));
	assert_true(p.side_effects & QOS_BIT(QOS_PRIO_TC));
	assert_false(p.side_effects & QOS_BIT(QOS_PFC_ENABLED));
	plan_make(&want, line, &have, "mlx5_core", &p);
	assert_int_equal(p.side_effects, 0);
}

/* Where the firmware has a say in what gets no entry, that is said. */
static void test_bare_dscps(void **state)
{
	static const struct {
		const char *driver, *want, *have;
		unsigned int bare;
	} rows[] = {
		{"mlx5_core", "'app':{'dscp':{'26':3}}", "'app':{'dscp':{}}", 63},
		{"mlx5_core", "'app':{'dscp':{'26':3}}", "'app':{'dscp':{'48':6}}", 62},
		{"mlx5_core", "'app':{'dscp':{'26':3}}", "'app':{'dscp':{'26':3}}", 0},
		{"mlx5_core", "'trust':'pcp'", "'trust':'dscp','app':{'dscp':{'26':3}}", 0},
		{"bnxt_en", "'app':{'dscp':{'26':3}}", "'app':{'dscp':{}}", 0},
	};
	int line[QOS_FIELD_COUNT] = {0};
	struct plan p;
	struct qos all;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct qos want = parse(rows[i].want), have = parse(rows[i].have);

		plan_make(&want, line, &have, rows[i].driver, &p);
		if (p.unmapped_dscps != rows[i].bare)
			fail_msg("row %zu: %u", i, p.unmapped_dscps);
	}
	all = parse("'app':{'dscp':{}}");
	memset(all.dscp_prio, 3, sizeof(all.dscp_prio));
	plan_make(&all, line, &(struct qos){.has = all.has}, "mlx5_core", &p);
	assert_int_equal(p.unmapped_dscps, 0);
}

static void test_disruption(void **state)
{
	static const struct {
		const char *driver;
		enum plan_disruption pfc, app;
		enum plan_readback readback;
		enum plan_tier tier;
	} rows[] = {
		{"mlx5_core", DISRUPT_LINK_FLAP, DISRUPT_NONE, READBACK_REGISTER, PLAN_TIER_SOURCE},
		{"bnxt_en", DISRUPT_PORT_RESET, DISRUPT_NONE, READBACK_CACHE, PLAN_TIER_SOURCE},
		{"ice", DISRUPT_PORT_RESET, DISRUPT_PORT_RESET, READBACK_CACHE, PLAN_TIER_SOURCE},
		{"labnic", DISRUPT_NONE, DISRUPT_NONE, READBACK_CACHE, PLAN_TIER_SOURCE},
	};
	struct qos want = parse("'app':{'dscp':{'26':3}},'pfc':{'enabled':[3]}");
	struct qos have = parse(PORT);
	struct plan *p = malloc(sizeof(*p));
	int line[QOS_FIELD_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		plan_make(&want, line, &have, rows[i].driver, p);
		assert_int_equal(p->tier, rows[i].tier);
		assert_int_equal(p->count, 2);
		for (unsigned int k = 0; k < 2; k++) {
			const struct plan_step *s = &p->step[k];

			if (s->field == QOS_DSCP_PRIO)
				assert_int_equal(s->disruption, rows[i].app);
			if (s->field == QOS_PFC_ENABLED) {
				assert_int_equal(s->disruption, rows[i].pfc);
				assert_int_equal(s->readback, rows[i].readback);
			}
		}
	}
	free(p);
}

/* Every row: each field once in the order, and the masks speak of what can be written. */
static void test_quirks(void **state)
{
	const struct driver_quirk *q = driver_quirks;
	bool last = false;

	(void)state;
	for (; !last; q++) {
		enum qos_field_id order[QOS_FIELD_COUNT];
		uint64_t seen = 0, masks = q->flaps | q->resets | q->cached | q->zeros_unknown;

		last = !q->driver;
		driver_order(q, order);
		for (unsigned int i = 0; i < QOS_FIELD_COUNT; i++)
			seen |= QOS_BIT(order[i]);
		assert_true(seen == QOS_BIT(QOS_FIELD_COUNT) - 1);
		assert_int_equal(order[QOS_FIELD_COUNT - 1], QOS_ADMIN_STATUS);
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (masks & QOS_BIT(id))
				assert_true(dcb_object_fields(id) != 0);
		assert_false(q->flaps & q->resets);
		assert_true(q->seen[0]);
		assert_ptr_equal(driver_quirk_find(q->driver ? q->driver : "no such"), q);
	}
}

/* Each field belongs to one object, and an object is the same from each of its fields. */
static void test_objects(void **state)
{
	(void)state;
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		uint64_t fields = dcb_object_fields(id);

		assert_true(!fields || fields & QOS_BIT(id));
		assert_false(fields && qos_fields[id].read_only);
		for (int other = 0; other < QOS_FIELD_COUNT; other++)
			if (fields & QOS_BIT(other))
				assert_true(dcb_object_fields(other) == fields);
	}
}

static void test_zeros(void **state)
{
	const struct driver_quirk *bnxt = driver_quirk_find("bnxt_en");
	struct qos fresh = parse(PORT), set = parse(PORT), other = parse(PORT);

	(void)state;
	driver_forget_zeros(bnxt, &fresh);
	assert_false(qos_has(&fresh, QOS_PRIO_TC) || qos_has(&fresh, QOS_PFC_ENABLED));
	assert_true(qos_has(&fresh, QOS_MTU) && qos_has(&fresh, QOS_PFC_CAP));
	set.pfc_enabled = 8;
	driver_forget_zeros(bnxt, &set);
	assert_true(qos_has(&set, QOS_PFC_ENABLED) && qos_has(&set, QOS_PFC_DELAY));
	assert_false(qos_has(&set, QOS_PRIO_TC));
	driver_forget_zeros(driver_quirk_find("mlx5_core"), &other);
	assert_true(qos_has(&other, QOS_PRIO_TC) && qos_has(&other, QOS_PFC_ENABLED));
}

static void test_json(void **state)
{
	struct qos want =
		parse("'pfc':{'enabled':[3]},'congestion_control':{'np':{'cnp_dscp':48}}");
	struct qos have = parse(PORT);
	struct plan *p = malloc(sizeof(*p));
	int line[QOS_FIELD_COUNT] = {[QOS_PFC_ENABLED] = 14};
	const json_t *step;
	json_t *j;

	(void)state;
	plan_make(&want, line, &have, "mlx5_core", p);
	strcpy(p->ifname, "eth0");
	j = plan_to_json(p, 1);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), PLAN_SCHEMA);
	assert_int_equal(json_integer_value(json_object_get(j, "changes")), 1);
	j = json_incref(j);
	step = json_array_get(
		json_object_get(json_array_get(json_object_get(j, "ports"), 0), "steps"), 0);
	assert_string_equal(json_string_value(json_object_get(step, "field")), "pfc.enabled");
	assert_int_equal(json_integer_value(json_object_get(step, "line")), 14);
	assert_string_equal(json_string_value(json_object_get(step, "disruption")), "link-flap");
	assert_true(json_is_false(json_object_get(step, "cannot")));
	json_decref(j);
	json_decref(j);
	for (int d = DISRUPT_NONE; d <= DISRUPT_PORT_RESET; d++)
		assert_non_null(plan_disruption_word(d));
	for (int r = READBACK_REGISTER; r <= READBACK_NONE; r++)
		assert_non_null(plan_readback_word(r));
	for (int t = PLAN_TIER_SOURCE; t <= PLAN_TIER_HARDWARE; t++)
		assert_non_null(plan_tier_word(t));
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),	   cmocka_unit_test(test_targets),
		cmocka_unit_test(test_lost),	   cmocka_unit_test(test_disruption),
		cmocka_unit_test(test_quirks),	   cmocka_unit_test(test_objects),
		cmocka_unit_test(test_zeros),	   cmocka_unit_test(test_json),
		cmocka_unit_test(test_bare_dscps),

	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
