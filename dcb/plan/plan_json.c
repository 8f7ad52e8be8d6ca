/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan as JSON (rocecheck.plan/1), and the words of its enums, which the text output shares.
 */
#include "dcb/plan/plan.h"

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

static json_t *step_to_json(const struct plan_step *s)
{
	json_t *j = json_pack("{s:s, s:o, s:o, s:s, s:s, s:b}", "field", qos_fields[s->field].key,
			      "from", qos_field_json(&s->from, s->field), "to",
			      qos_field_json(&s->to, s->field), "disruption",
			      plan_disruption_word(s->disruption), "readback",
			      plan_readback_word(s->readback), "cannot", s->cannot);
	int err = j ? 0 : -1;

	if (!err && s->line)
		err = json_object_set_new(j, "line", json_integer(s->line));
	if (!err && s->again)
		err = json_object_set_new(j, "again", json_true());
	if (!err && s->cannot)
		err = json_object_set_new(j, "reason", json_string(s->reason));
	if (!err)
		return j;
	json_decref(j);
	return NULL;
}

static json_t *port_to_json(const struct plan *p)
{
	json_t *steps = json_array();
	int err = steps ? 0 : -1;

	for (unsigned int i = 0; !err && i < p->count; i++)
		err = json_array_append_new(steps, step_to_json(&p->step[i]));
	if (err) {
		json_decref(steps);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:i}", "netdev",
			 p->ifname, "ibdev", p->ibdev, "ib_port", (int)p->ib_port, "driver",
			 p->driver, "platform", p->platform, "agent", dcb_agent_word(p->agent),
			 "tier", plan_tier_word(p->tier), "changes", (int)plan_changes(p), "steps",
			 steps, "lost", qos_keys_json(p->lost), "bare_dscps", (int)p->bare_dscps);
}

json_t *plan_to_json(const struct plan *plan, unsigned int plans)
{
	json_t *ports = json_array();
	unsigned int changes = 0;
	int err = ports ? 0 : -1;

	for (unsigned int i = 0; !err && i < plans; i++) {
		changes += plan_changes(&plan[i]);
		err = json_array_append_new(ports, port_to_json(&plan[i]));
	}
	if (err) {
		json_decref(ports);
		return NULL;
	}
	return json_pack("{s:s, s:i, s:o}", "schema", PLAN_SCHEMA, "changes", (int)changes, "ports",
			 ports);
}
