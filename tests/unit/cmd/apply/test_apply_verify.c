/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the second look after an apply finds, on literals: settings that changed, an agent that does
 * not do what it was told, a neighbour that wants something else, a port that has gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cmd/apply/apply_verify.h"

/* Two ports in sync; cases change them. */
struct scene {
	struct profile profile;
	struct plan first[2], again[2];
	struct plans plans, anew;
	struct port live[2], heard[2];
	struct snapshot now, neighbours;
	struct drift_writers suspects;
	struct verify_input seen;
};

static void scene_make(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->profile.agent = AGENT_LLDPAD;
	s->profile.lldp_peer = CHOICE_WARN;
	s->profile.lldp_peer_match = LLDP_PEER_PFC;
	s->profile.qos.has = QOS_BIT(QOS_PFC_ENABLED);
	s->profile.qos.pfc_enabled = 8;
	for (unsigned int i = 0; i < 2; i++) {
		strcpy(s->first[i].ifname, i ? "p1" : "p0");
		s->first[i].lldp_agent = LLDP_AGENT_LLDPAD;
		s->again[i] = s->first[i];
		strcpy(s->live[i].netdev, s->first[i].ifname);
		s->live[i].qos = s->profile.qos;
		s->heard[i] = s->live[i];
		s->heard[i].lldp_qos = s->profile.qos;
		strcpy(s->heard[i].lldp_name, "leaf1");
		strcpy(s->heard[i].lldp_port, i ? "e2" : "e1");
	}
	s->plans = (struct plans){.plan = s->first, .count = 2};
	s->anew = (struct plans){.plan = s->again, .count = 2};
	s->now = (struct snapshot){.port = s->live, .port_count = 2};
	s->neighbours = (struct snapshot){.port = s->heard, .port_count = 2};
	s->seen = (struct verify_input){&s->profile,	&s->plans,    &s->anew, &s->now,
					&s->neighbours, &s->suspects, true};
}

static void changed(struct scene *s)
{
	struct plan_step *step = &s->again[1].step[s->again[1].count++];

	step->field = QOS_PFC_ENABLED;
	step->from = step->to = s->profile.qos;
	step->from.pfc_enabled = 4;
}

static void changed_by_lldpad(struct scene *s)
{
	changed(s);
	s->suspects.count = 1;
	strcpy(s->suspects.writer[0].name, "lldpad");
	s->suspects.writer[0].pid = 42;
	s->suspects.writer[0].fields = QOS_BIT(QOS_PFC_ENABLED);
}

static void never_possible(struct scene *s)
{
	changed(s);
	s->again[1].step[0].cannot = true;
	s->first[1] = s->again[1];
}

static void not_in_kernel(struct scene *s)
{
	s->live[0].qos.pfc_enabled = 0;
}

static void agent_stopped(struct scene *s)
{
	not_in_kernel(s);
	s->seen.lldp_agent_runs = false;
}

static void no_agent(struct scene *s)
{
	not_in_kernel(s);
	s->first[0].lldp_agent = LLDP_AGENT_NONE;
}

static void other_switch(struct scene *s)
{
	s->heard[1].lldp_qos.pfc_enabled = 16;
}

static void other_switch_forbidden(struct scene *s)
{
	other_switch(s);
	s->profile.lldp_peer = CHOICE_FAIL;
}

static void other_switch_ignored(struct scene *s)
{
	other_switch(s);
	s->profile.lldp_peer = CHOICE_SKIP;
}

static void other_field(struct scene *s)
{
	other_switch(s);
	s->profile.lldp_peer_match = LLDP_PEER_ETS;
}

static void no_neighbour(struct scene *s)
{
	s->heard[0].lldp_name[0] = s->heard[0].lldp_port[0] = '\0';
}

static void first_port_gone(struct scene *s)
{
	changed(s);
	s->again[0] = s->again[1];
	s->anew.count = 1;
}

static const struct {
	void (*change)(struct scene *s);
	unsigned int findings, lines;
	const char *says;
} cases[] = {
	{NULL, 0, 0, NULL},
	{changed, 1, 1, "p1: pfc.enabled is now [2], expected [3]"},
	{changed_by_lldpad, 1, 1, "expected [3]; lldpad (pid 42) is running and can set it"},
	{never_possible, 0, 0, NULL},
	{not_in_kernel, 1, 1, "p0: pfc.enabled is [3] in lldpad, but [] in the kernel"},
	{agent_stopped, 0, 1, "p0: lldpad is not running"},
	{no_agent, 0, 0, NULL},
	{other_switch, 0, 1,
	 "p1: neighbour leaf1 port e2 advertises pfc.enabled [4], expected [3]"},
	{other_switch_forbidden, 1, 1, "leaf1 port e2"},
	{other_switch_ignored, 0, 0, NULL},
	{other_field, 0, 0, NULL},
	{no_neighbour, 0, 1, "p0: no LLDPDU received from a neighbour"},
	{first_port_gone, 2, 2, "p0: the port no longer exists"},
};

static void test_cases(void **state)
{
	static struct scene s;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *told = json_array();
		unsigned int findings;
		const char *text;

		scene_make(&s);
		if (cases[i].change)
			cases[i].change(&s);
		findings = apply_verify_judge(&s.seen, told);
		text = json_string_value(json_array_get(told, 0));
		if (findings != cases[i].findings || json_array_size(told) != cases[i].lines ||
		    (cases[i].says && !strstr(text ? text : "", cases[i].says)))
			fail_msg("case %u: %u findings, %zu lines: %s", i, findings,
				 json_array_size(told), text ? text : "");
		json_decref(told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
