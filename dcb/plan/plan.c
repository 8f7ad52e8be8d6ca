/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a plan: qos_diff() gives the fields, the driver quirk their order, and the rules here check
 * each step and complete its values. Pure; plan_host.c adds the checks of this host.
 */
#include "dcb/plan/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/lldpad/lldp_agent.h"
#include "dcb/lldpad/lldpad.h"
#include "profiles/base/json.h"

/* Bytes of a frame beside the IB payload, by linux iboe_get_mtu(). */
#define IB_OVERHEAD_BYTES 96

/* Input of the rules. */
struct context {
	const struct qos *want, *have;
	const struct driver_quirk *quirk;
	struct plan *plan;
};

static bool plan_wants_pcp(const struct qos *want)
{
	return qos_has(want, QOS_TRUST) && want->trust == QOS_TRUST_PCP;
}

/* Makes the whole DSCP map: other entries stay, except with PCP trust, which allows none. */
static void plan_target_dscp(const struct context *c, struct qos *to)
{
	const struct qos *want = c->want, *have = c->have;

	to->has |= QOS_BIT(QOS_DSCP_PRIO);
	memset(to->dscp_prio, QOS_UNMAPPED, sizeof(to->dscp_prio));
	for (unsigned int d = 0; d < QOS_DSCPS; d++) {
		if (qos_has(have, QOS_DSCP_PRIO) && !plan_wants_pcp(want))
			to->dscp_prio[d] = have->dscp_prio[d];
		if (qos_has(want, QOS_DSCP_PRIO) && want->dscp_prio[d] != QOS_UNMAPPED)
			to->dscp_prio[d] = want->dscp_prio[d];
	}
}

static bool plan_wants_app_key(const struct qos *want, const struct qos_app *a)
{
	for (unsigned int i = 0; i < want->app_count; i++)
		if (want->app[i].selector == a->selector && want->app[i].protocol == a->protocol)
			return true;
	return false;
}

static int plan_target_app(const struct context *c, struct qos *to)
{
	int err = 0;

	qos_copy_field(to, c->want, QOS_APP);
	if (!qos_has(c->have, QOS_APP))
		return 0;
	for (unsigned int i = 0; !err && i < c->have->app_count; i++)
		if (!plan_wants_app_key(c->want, &c->have->app[i]))
			err = qos_app_add(to, c->have->app[i]);
	return err;
}

static uint8_t plan_highest_tc(const uint8_t *v, unsigned int count)
{
	uint8_t max = 0;

	for (unsigned int i = 0; i < count; i++)
		if (v[i] > max)
			max = v[i];
	return max;
}

/* Rules of single fields: run after from and to are filled; false: no step. */

/* Returns true when the plan turns the firmware's agent off, which hands DCBX to the host. */
static bool plan_frees_dcbx(const struct qos *want, const struct qos *have)
{
	return qos_has(want, QOS_FIRMWARE_AGENT) && !want->firmware_agent &&
	       qos_has(have, QOS_FIRMWARE_AGENT) && have->firmware_agent;
}

/* Only an agent has the field admin_status. */
static bool plan_has_lldp_agent(const struct qos *have)
{
	return qos_has(have, QOS_ADMIN_STATUS);
}

static void plan_check_app_room(const struct context *c, struct plan_step *s)
{
	struct qos then = *c->have;

	plan_target_dscp(c, &then);
	then.has &= ~QOS_BIT(QOS_APP);
	if (plan_has_lldp_agent(c->have) && !plan_target_app(c, &then) &&
	    lldpad_app_count(&then) > LLDPAD_APPS_MAX)
		plan_step_refuse(
			s,
			"lldpad holds at most %d APP entries, the plan needs %u; list the DSCPs in "
			"use and remove app.dscp_default",
			LLDPAD_APPS_MAX, lldpad_app_count(&then));
}

static bool plan_rule_dcbx(const struct context *c, struct plan_step *s)
{
	if (plan_frees_dcbx(c->want, c->have))
		return false;
	if (c->have->dcbx_mode & QOS_DCBX_LLD_MANAGED)
		plan_step_refuse(s, "the firmware owns DCBX (lld_managed)");
	return true;
}

static bool plan_rule_trust(const struct context *c, struct plan_step *s)
{
	struct qos map = {0};

	plan_target_dscp(c, &map);
	if (c->want->trust == QOS_TRUST_DSCP && !qos_dscp_count(&map))
		plan_step_refuse(s, "DSCP trust needs app.dscp entries, and there are none");
	if (c->want->trust == QOS_TRUST_PCP && qos_dscp_count(&map))
		plan_step_refuse(s, "app.dscp entries switch the port to DSCP trust");
	return true;
}

static bool plan_rule_dscp(const struct context *c, struct plan_step *s)
{
	plan_target_dscp(c, &s->to);
	plan_check_app_room(c, s);
	return true;
}

static bool plan_rule_app(const struct context *c, struct plan_step *s)
{
	if (plan_target_app(c, &s->to))
		plan_step_refuse(s, "more APP entries than %u", QOS_APPS_MAX);
	else
		plan_check_app_room(c, s);
	return true;
}

static bool plan_rule_prio_tc(const struct context *c, struct plan_step *s)
{
	uint8_t tc = plan_highest_tc(c->want->prio_tc, QOS_PRIOS);

	if (qos_has(c->have, QOS_ETS_CAP) && c->have->ets_cap && tc >= c->have->ets_cap)
		plan_step_refuse(s, "the device has %u traffic classes, so TC %u does not exist",
				 c->have->ets_cap, tc);
	return true;
}

/* 802.1Q D.2.10.4: PFC cap counts traffic classes; unknown classes: one per priority. */
static bool plan_rule_pfc(const struct context *c, struct plan_step *s)
{
	const struct qos *map = qos_has(c->want, QOS_PRIO_TC) ? c->want : c->have;
	unsigned int cap = qos_has(c->have, QOS_PFC_CAP) ? c->have->pfc_cap : 0;
	uint8_t classes = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (c->want->pfc_enabled & 1 << prio)
			classes |= 1 << (qos_has(map, QOS_PRIO_TC) ? map->prio_tc[prio] : prio);
	if (cap && __builtin_popcount(classes) > (int)cap)
		plan_step_refuse(s, "the device supports at most %u lossless traffic classes", cap);
	return true;
}

static bool plan_rule_lldp_agent(const struct context *c, struct plan_step *s)
{
	if (!plan_has_lldp_agent(c->have))
		plan_step_refuse(s, "only an LLDP agent can set this: see dcbx.agent");
	return true;
}

/* dcbnl has no such attribute: only an LLDP agent can be willing, so without one it is off. */
static bool plan_rule_pfc_willing(const struct context *c, struct plan_step *s)
{
	if (!qos_has(c->have, QOS_PFC_WILLING) && !c->want->pfc_willing)
		return false;
	return plan_rule_lldp_agent(c, s);
}

static bool plan_rule_ib_mtu(const struct context *c, struct plan_step *s)
{
	uint32_t needs = c->want->ib_mtu + IB_OVERHEAD_BYTES;

	if (plan_fields(c->plan) & QOS_BIT(QOS_MTU) && c->want->mtu >= needs)
		return false;
	if (!qos_has(c->have, QOS_IB_MTU))
		plan_step_refuse(s, "the MTU of the RDMA port cannot be read");
	else if (qos_has(c->have, QOS_MTU) && c->have->mtu >= needs)
		plan_step_refuse(s, "the RDMA device has not followed the netdev's MTU of %u",
				 c->have->mtu);
	else
		plan_step_refuse(s, "the netdev's MTU decides it and must be at least %u", needs);
	return true;
}

static bool (*const rules[QOS_FIELD_COUNT])(const struct context *c, struct plan_step *s) = {
	[QOS_DCBX_MODE] = plan_rule_dcbx,	   [QOS_TRUST] = plan_rule_trust,
	[QOS_DSCP_PRIO] = plan_rule_dscp,	   [QOS_APP] = plan_rule_app,
	[QOS_PRIO_TC] = plan_rule_prio_tc,	   [QOS_PFC_ENABLED] = plan_rule_pfc,
	[QOS_PFC_WILLING] = plan_rule_pfc_willing, [QOS_IB_MTU] = plan_rule_ib_mtu,
	[QOS_ADMIN_STATUS] = plan_rule_lldp_agent, [QOS_ADVERTISE] = plan_rule_lldp_agent,
	[QOS_RECO_PRIO_TC] = plan_rule_lldp_agent, [QOS_RECO_TSA] = plan_rule_lldp_agent,
	[QOS_RECO_BW] = plan_rule_lldp_agent,
};

static enum plan_disruption plan_disruption_of(const struct driver_quirk *quirk,
					       enum qos_field_id id)
{
	if (quirk->resets & QOS_BIT(id))
		return DISRUPT_PORT_RESET;
	return quirk->flaps & QOS_BIT(id) ? DISRUPT_LINK_FLAP : DISRUPT_NONE;
}

/* Returns the settings of the port after the plan. */
static struct qos plan_outcome(const struct context *c)
{
	struct qos then = *c->have;

	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (qos_has(c->want, id) && id != QOS_DSCP_PRIO && id != QOS_APP)
			qos_copy_field(&then, c->want, id);
	plan_target_dscp(c, &then);
	if (qos_has(c->want, QOS_APP)) {
		then.has &= ~QOS_BIT(QOS_APP);
		(void)plan_target_app(c, &then); /* too many: the step is refused */
	}
	/* Trust follows from the entries. */
	if (qos_has(c->want, QOS_DSCP_PRIO) || qos_has(c->have, QOS_DSCP_PRIO)) {
		then.has |= QOS_BIT(QOS_TRUST);
		then.trust = qos_dscp_count(&then) ? QOS_TRUST_DSCP : QOS_TRUST_PCP;
	}
	return then;
}

/* Returns the fields that the driver resets during the plan: when the first DSCP entry is added or
 * the last deleted, the firmware's agent is switched, or the driver is reloaded. */
static uint64_t plan_reset_fields(const struct context *c, const struct qos *then)
{
	bool before = qos_has(c->have, QOS_DSCP_PRIO) && qos_dscp_count(c->have);
	uint64_t resets = before == !qos_dscp_count(then) ? c->quirk->dscp_flip_resets : 0;

	if (qos_diff(c->want, c->have) & c->have->has & QOS_BIT(QOS_FIRMWARE_AGENT))
		resets |= c->quirk->agent_resets;
	if (qos_diff(c->want, c->have) & c->have->has & QOS_BIT(QOS_ROCE_ENABLE))
		resets |= c->quirk->roce_resets;
	return resets;
}

/* The first entry switches all 64 DSCPs to DSCP trust. */
static uint8_t plan_unmapped_dscps(const struct context *c, const struct qos *then)
{
	unsigned int mapped = qos_dscp_count(then);

	return c->quirk->dscps_of_firmware && mapped ? (uint8_t)(QOS_DSCPS - mapped) : 0;
}

static void plan_step_make(const struct context *c, enum qos_field_id id, int line,
			   struct plan_step *s)
{
	uint64_t hidden = PLAN_RDMA_CM | c->quirk->zeros_unknown;

	memset(s, 0, sizeof(*s));
	s->field = id;
	s->line = line;
	s->disruption = plan_disruption_of(c->quirk, id);
	s->readback = c->quirk->cached & QOS_BIT(id) ? READBACK_CACHE : READBACK_REGISTER;
	qos_copy_field(&s->from, c->have, id);
	qos_copy_field(&s->to, c->want, id);
	if (!dcb_object_fields(id))
		plan_step_refuse(s, "rocecheck cannot set it");
	else if (!qos_has(c->have, id) && !(hidden & QOS_BIT(id)))
		plan_step_refuse(s, "the device does not offer it");
}

void plan_make(const struct qos *want, const int line[QOS_FIELD_COUNT], const struct qos *have,
	       const char *driver, struct plan *plan)
{
	struct context c = {want, have, driver_quirk_find(driver), plan};
	const struct qos then = plan_outcome(&c);
	uint64_t diff = qos_diff(want, have), again;
	enum qos_field_id order[QOS_FIELD_COUNT];

	driver_order(c.quirk, order);
	memset(plan, 0, sizeof(*plan));
	snprintf(plan->driver, sizeof(plan->driver), "%s", driver);
	plan->tier = c.quirk->tier;
	plan->firmware_owned = have->dcbx_mode & QOS_DCBX_LLD_MANAGED &&
			       qos_has(have, QOS_DCBX_MODE) && !plan_frees_dcbx(want, have);
	/* PCP trust needs all DSCP entries deleted. */
	if (plan_wants_pcp(want) && qos_has(have, QOS_DSCP_PRIO) && qos_dscp_count(have))
		diff |= QOS_BIT(QOS_DSCP_PRIO);
	again = plan_reset_fields(&c, &then);
	plan->side_effects = again & have->has & ~want->has;
	again &= want->has & have->has;
	for (unsigned int i = 0; i < QOS_FIELD_COUNT; i++) {
		enum qos_field_id id = order[i];
		struct plan_step *s = &plan->step[plan->count];

		if (!((diff | again) & QOS_BIT(id)))
			continue;
		plan_step_make(&c, id, line[id], s);
		s->rewrite = again & QOS_BIT(id);
		if (!s->cannot)
			s->cannot = driver_refuses(c.quirk, id, have, &then, s->reason,
						   sizeof(s->reason));
		if (!rules[id] || rules[id](&c, s))
			plan->count++;
	}
	if (plan_fields(plan) & QOS_BIT(QOS_DSCP_PRIO))
		plan->unmapped_dscps = plan_unmapped_dscps(&c, &then);
}

enum lldp_agent plan_lldp_agent(const struct profile *profile)
{
	return profile->agent == AGENT_LLDPAD ? LLDP_AGENT_LLDPAD : LLDP_AGENT_NONE;
}

uint64_t plan_live_fields(const struct profile *profile)
{
	const uint64_t ets = QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW);
	uint64_t fields = profile->qos.has;

	if (profile->agent != AGENT_LLDPAD)
		return fields;
	fields &= ~(lldp_agent_own_fields() | QOS_BIT(QOS_ETS_WILLING));
	if (profile->qos.ets_willing)
		fields &= ~ets;
	if (profile->qos.pfc_willing)
		fields &= ~QOS_BIT(QOS_PFC_ENABLED);
	return fields;
}

void plan_step_refuse(struct plan_step *s, const char *fmt, ...)
{
	va_list ap;

	s->cannot = true;
	va_start(ap, fmt);
	vsnprintf(s->reason, sizeof(s->reason), fmt, ap);
	va_end(ap);
}

uint64_t plan_fields(const struct plan *plan)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < plan->count; i++)
		if (!plan->step[i].cannot)
			fields |= QOS_BIT(plan->step[i].field);
	return fields;
}

unsigned int plan_changes(const struct plan *plan)
{
	return __builtin_popcountll(plan_fields(plan));
}

bool plan_disrupts(const struct plan *plan)
{
	for (unsigned int i = 0; i < plan->count; i++)
		if (!plan->step[i].cannot && plan->step[i].disruption != DISRUPT_NONE)
			return true;
	return false;
}

static const char *const disruption_words[] = {
	[DISRUPT_NONE] = "none",
	[DISRUPT_LINK_FLAP] = "link-flap",
	[DISRUPT_PORT_RESET] = "port-reset",
};

static const char *const readback_words[] = {
	[READBACK_REGISTER] = "register",
	[READBACK_CACHE] = "cache",
	[READBACK_NONE] = "none",
};

static const char *const tier_words[] = {
	[PLAN_TIER_SOURCE] = "source",
	[PLAN_TIER_RECORDED] = "recorded",
	[PLAN_TIER_HARDWARE] = "hardware",
};

const char *plan_disruption_word(enum plan_disruption disruption)
{
	return disruption_words[disruption];
}

const char *plan_readback_word(enum plan_readback readback)
{
	return readback_words[readback];
}

const char *plan_tier_word(enum plan_tier tier)
{
	return tier_words[tier];
}

static json_t *plan_step_json(const struct plan_step *s)
{
	json_t *j = json_pack("{s:s, s:o, s:o, s:s, s:s, s:b}", "field", qos_fields[s->field].key,
			      "from", qos_field_json(&s->from, s->field), "to",
			      qos_field_json(&s->to, s->field), "disruption",
			      plan_disruption_word(s->disruption), "readback",
			      plan_readback_word(s->readback), "cannot", s->cannot);
	int err = j ? 0 : -1;

	if (!err && s->line)
		err = json_object_set_new(j, "line", json_integer(s->line));
	if (!err && s->rewrite)
		err = json_object_set_new(j, "again", json_true());
	if (!err && s->cannot)
		err = json_object_set_new(j, "reason", json_string(s->reason));
	if (!err)
		return j;
	json_decref(j);
	return NULL;
}

static json_t *plan_port_json(const struct plan *p)
{
	json_t *steps = json_array();

	for (unsigned int i = 0; i < p->count; i++)
		steps = json_list_add(steps, plan_step_json(&p->step[i]));
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:i}", "netdev",
			 p->ifname, "ibdev", p->ibdev, "ib_port", (int)p->ib_port, "driver",
			 p->driver, "platform", p->platform, "agent",
			 lldp_agent_word(p->lldp_agent), "tier", plan_tier_word(p->tier), "changes",
			 (int)plan_changes(p), "steps", steps, "lost",
			 qos_keys_json(p->side_effects), "bare_dscps", (int)p->unmapped_dscps);
}

json_t *plan_to_json(const struct plan *plan, unsigned int plans)
{
	json_t *ports = json_array();
	unsigned int changes = 0;

	for (unsigned int i = 0; i < plans; i++) {
		changes += plan_changes(&plan[i]);
		ports = json_list_add(ports, plan_port_json(&plan[i]));
	}
	return json_pack("{s:s, s:i, s:o}", "schema", PLAN_SCHEMA, "changes", (int)changes, "ports",
			 ports);
}
