/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the rule table over a run. META rules come first: weak evidence of a port turns the PASS of
 * rules that depend on it into INCONCLUSIVE; a FAIL stays a FAIL. Then exceptions are applied and
 * causes are linked: an allowed finding explains nothing, so its consequences stand by themselves.
 */
#include "reports/engine/rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/allow.h"
#include "reports/engine/causes.h"
#include "reports/engine/port_ctx.h"

/* Kinds of weak evidence of one port. */
enum weakness {
	WEAK_LOAD = 1 << 0,
	WEAK_COUNTERS = 1 << 1,
	WEAK_CAPTURE = 1 << 2,
	WEAK_FOREIGN = 1 << 3,
};

/* clang-format off */

/* A violated META rule weakens the evidence of rules with one of these needs. */
static const struct {
	const char *id;
	enum weakness weakness;
	unsigned int needs;
	bool demotes; /* PASS becomes INCONCLUSIVE; else the text gets "unreliable" */
	const char *text;
} weaknesses[] = {
	{"RC-META-002", WEAK_LOAD, NEED_LOAD, true,
	 "the load was not reached (RC-META-002)"},
	{"RC-META-003", WEAK_COUNTERS, NEED_DELTA, true,
	 "a counter was reset (RC-META-003)"},
	{"RC-META-004", WEAK_CAPTURE, NEED_CAPTURE, true,
	 "the capture is incomplete (RC-META-004)"},
	{"RC-META-005", WEAK_CAPTURE, NEED_CAPTURE, true,
	 "the capture cannot see RoCE (RC-META-005)"},
	{"RC-META-006", WEAK_FOREIGN, NEED_DELTA, false,
	 "; unreliable: foreign traffic on the port (RC-META-006)"},
};

/* clang-format on */

const struct rule *rule_find(const char *id)
{
	for (unsigned int i = 0; i < rule_count; i++)
		if (!strcmp(rule_table[i].id, id))
			return &rule_table[i];
	return NULL;
}

bool rule_is_meta(const struct rule *rule)
{
	return !strncmp(rule->id, "RC-META-", strlen("RC-META-"));
}

static bool rule_roce_ready(const struct port_ctx *s, struct findings *out)
{
	if (s->port->kind != PORT_IWARP)
		return true;
	finding_set(out, VERDICT_SKIP, "iWARP runs over TCP: RoCE settings do not apply");
	return false;
}

static bool rule_dcb_ready(const struct port_ctx *s, struct findings *out)
{
	static const char *const owner[] = {
		[PORT_ROCE_VF] = "a virtual function: its QoS is set on the PF, by the host",
		[PORT_GUEST] = "a guest's port: its QoS is set outside the guest",
	};

	if (!rule_roce_ready(s, out))
		return false;
	if (s->port->kind >= ARRAY_SIZE(owner) || !owner[s->port->kind])
		return true;
	finding_set(out, VERDICT_SKIP, "%s", owner[s->port->kind]);
	return false;
}

static bool rule_profile_ready(const struct port_ctx *s, struct findings *out)
{
	if (port_ctx_has_profile(s))
		return true;
	finding_set(out, VERDICT_SKIP, "no profile given: no expected value");
	return false;
}

static bool rule_lldp_peer_ready(const struct port_ctx *s, struct findings *out)
{
	if (!s->c->alone || s->c->listened)
		return true;
	finding_set(out, VERDICT_SKIP,
		    "did not listen for the link partner (use --listen SECONDS)");
	return false;
}

static bool rule_prio_ready(const struct port_ctx *s, struct findings *out)
{
	if (s->roce_prio >= 0)
		return true;
	finding_set(out, VERDICT_SKIP,
		    port_ctx_has_profile(s)
			    ? "the profile does not say which priority carries RoCE"
			    : "no profile given, and not exactly one priority is lossless");
	return false;
}

static bool rule_lossless_ready(const struct port_ctx *s, struct findings *out)
{
	if (s->profile->intent == INTENT_LOSSLESS)
		return true;
	finding_set(out, VERDICT_SKIP, "the profile's intent is %s",
		    profile_intent_word(s->profile->intent));
	return false;
}

static bool rule_job_ready(const struct port_ctx *s, struct findings *out)
{
	if (!port_ctx_job_idle(s))
		return true;
	finding_set(out, VERDICT_SKIP, "hardly any RDMA at this port while the job ran");
	return false;
}

static bool rule_load_ready(const struct port_ctx *s, struct findings *out)
{
	const struct run_pair *pair;
	const char *error = "no traffic was planned for this port";
	unsigned int i = 0;

	if (s->c->run->has_job)
		return rule_job_ready(s, out);
	while ((pair = port_ctx_pair(s, &i))) {
		if (pair->ran)
			return true;
		error = pair->error[0] ? pair->error : "the traffic did not run";
	}
	finding_set(out, VERDICT_INCONCLUSIVE, "%s", error);
	return false;
}

static bool rule_reading_ready(const struct port_ctx *s, struct findings *out,
			       enum run_reading first, const char *phase)
{
	struct counters delta;

	if (port_ctx_delta(s, first, &delta, NULL))
		return true;
	finding_set(out, VERDICT_INCONCLUSIVE, "the counters around the %s were not read", phase);
	return false;
}

static bool rule_delta_ready(const struct port_ctx *s, struct findings *out)
{
	return rule_reading_ready(s, out, READ_LOAD_BEFORE, s->c->run->has_job ? "job" : "load");
}

static bool rule_quiet_ready(const struct port_ctx *s, struct findings *out)
{
	return rule_reading_ready(s, out, READ_QUIET_BEFORE, "quiet baseline");
}

static bool rule_capture_ready(const struct port_ctx *s, struct findings *out)
{
	const struct run_port *p = s->run_port;

	if (p && p->has_capture)
		return true;
	if (s->c->fabric->capture == CAPTURE_OFF)
		finding_set(out, VERDICT_INCONCLUSIVE, "the inventory turned captures off");
	else
		finding_set(out, VERDICT_INCONCLUSIVE, "no packets were captured at this port%s%s",
			    p && p->capture_error[0] ? ": " : "", p ? p->capture_error : "");
	return false;
}

static bool rule_path_ready(const struct port_ctx *s, struct findings *out)
{
	return port_ctx_marked(s) || rule_capture_ready(s, out);
}

static const struct {
	enum rule_need need;
	bool (*ready)(const struct port_ctx *s, struct findings *out);
} preconditions[] = {
	{NEED_PROFILE, rule_profile_ready}, {NEED_DCB, rule_dcb_ready},
	{NEED_ROCE, rule_roce_ready},	    {NEED_LLDP_PEER, rule_lldp_peer_ready},
	{NEED_PRIO, rule_prio_ready},	    {NEED_LOSSLESS, rule_lossless_ready},
	{NEED_LOAD, rule_load_ready},	    {NEED_DELTA, rule_delta_ready},
	{NEED_QUIET, rule_quiet_ready},	    {NEED_CAPTURE, rule_capture_ready},
	{NEED_PATH, rule_path_ready},
};

static bool rule_ready(const struct rule *rule, const struct port_ctx *s, struct findings *out)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(preconditions); i++)
		if (rule->needs & preconditions[i].need && !preconditions[i].ready(s, out))
			return false;
	return true;
}

/* In a run without rocecheck's traffic, a rule that needs it is skipped once, not at each port. A
 * run around a job has the counters of its load all the same. */
static bool rule_skips_run(const struct rule *rule, const struct run *run, struct findings *out)
{
	unsigned int of_load = rule->needs & (NEED_LOAD | NEED_DELTA);
	bool needs_traffic = rule->needs & (NEED_TRAFFIC | NEED_QUIET | NEED_CAPTURE | NEED_PATH) ||
			     (run->has_job ? of_load == NEED_LOAD : of_load != 0);

	if (run->traffic || !needs_traffic)
		return false;
	finding_begin(out, rule, "", "", 0);
	finding_set(out, VERDICT_SKIP,
		    run->has_job ? "no traffic of rocecheck in this run"
				 : "no traffic in this run: only settings are checked");
	return true;
}

static unsigned int rule_find_weakness(const struct rule *rule, const struct findings *out)
{
	enum verdict v = finding_verdict(out);

	if (v != VERDICT_WARN && v != VERDICT_FAIL)
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(weaknesses); i++)
		if (!strcmp(weaknesses[i].id, rule->id))
			return weaknesses[i].weakness;
	return 0;
}

static void rule_apply_weakness(const struct rule *rule, const struct port_ctx *s,
				unsigned int weak, struct findings *out)
{
	unsigned int needs = rule->needs;

	if (needs & NEED_PATH && !port_ctx_marked(s))
		needs |= NEED_CAPTURE;
	for (unsigned int i = 0; i < ARRAY_SIZE(weaknesses); i++) {
		enum verdict v = finding_verdict(out);

		if (!(weak & weaknesses[i].weakness) || !(needs & weaknesses[i].needs))
			continue;
		if (!weaknesses[i].demotes && v != VERDICT_SKIP && v != VERDICT_INCONCLUSIVE)
			finding_append(out, "%s", weaknesses[i].text);
		else if (v == VERDICT_PASS)
			finding_set(out, VERDICT_INCONCLUSIVE, "%s", weaknesses[i].text);
	}
}

/* Findings about the machine have no priority. */
static uint8_t rule_prios(const struct rule *rule, const struct port_ctx *s)
{
	return rule->scope == SCOPE_HOST && !(rule->needs & NEED_PRIO) ? 0 : s->prio_set;
}

/* A port of the walk, and what violated META rules say of its evidence. */
struct rule_port {
	struct port_ctx s;
	unsigned int weak; /* enum weakness */
};

/* Runs one rule over all ports. */
static void rule_check_ports(const struct rule *rule, struct rule_port *ports, size_t count,
			     struct findings *out)
{
	for (struct rule_port *p = ports; p < ports + count; p++) {
		const struct port_ctx *s = &p->s;
		size_t first = out->count;

		if (!s->port && strcmp(rule->id, "RC-HST-008"))
			continue; /* a missing port is one finding, of RC-HST-008 */
		finding_begin(out, rule, s->host->name, s->name, rule_prios(rule, s));
		if (!rule_ready(rule, s, out))
			continue;
		rule->check_port(s, out);
		if (rule_is_meta(rule))
			p->weak |= rule_find_weakness(rule, out);
		else if (out->count == first + 1)
			rule_apply_weakness(rule, s, p->weak, out);
	}
}

static bool rule_in_scope(const struct rule *rule, const struct rule_context *c)
{
	if (rule->scope == SCOPE_PROBE || (rule->needs & NEED_JOB && !c->run->has_job))
		return false;
	if (c->capture || rule->scope == SCOPE_CAPTURE)
		return c->capture && rule->scope == SCOPE_CAPTURE;
	return rule->scope == SCOPE_BOTH || (rule->scope == SCOPE_HOST) == c->alone;
}

/* Missing evidence for claims above the level of the run is no gap of the run. Reports of one host
 * and of captures have no level. */
static void rule_apply_level(const struct rule *rule, const struct rule_context *c, size_t first,
			     struct findings *out)
{
	if (rule->level <= c->run->level || c->alone || c->capture)
		return;
	for (size_t i = first; i < out->count; i++) {
		struct finding *f = &out->list[i];
		char *text;

		if (f->verdict != VERDICT_INCONCLUSIVE)
			continue;
		if (asprintf(&text, "not tested at level %s: %s",
			     fabric_level_words[c->run->level].word, f->text ? f->text : "") < 0) {
			out->err = -ENOMEM;
			return;
		}
		free(f->text);
		f->text = text;
		f->verdict = VERDICT_SKIP;
	}
}

static void rules_run_group(bool meta, const struct rule_context *c, struct rule_port *ports,
			    size_t count, struct findings *out)
{
	for (unsigned int i = 0; i < rule_count; i++) {
		const struct rule *rule = &rule_table[i];
		size_t first = out->count;

		if (rule_is_meta(rule) != meta || !rule_in_scope(rule, c))
			continue;
		if (rule->check)
			rule->check(rule, c, out);
		else if (!rule_skips_run(rule, c->run, out))
			rule_check_ports(rule, ports, count, out);
		rule_apply_level(rule, c, first, out);
	}
}

static int rules_run_all(struct rule_context *c, struct findings *out)
{
	struct rule_port *ports = calloc(port_walk_count(c) + 1, sizeof(*ports));
	struct port_walk walk = {.c = c};
	struct port_pairs pairs;
	size_t count = 0;

	memset(out, 0, sizeof(*out));
	if (!ports || port_pairs_make(c->run, &pairs)) {
		free(ports);
		return -ENOMEM;
	}
	c->pairs = &pairs;
	c->account = (struct packet_account){.known = true, .quiet = true};
	while (port_walk_next(&walk, &ports[count].s)) {
		const struct port_ctx *s = &ports[count++].s;

		packet_account_add(&c->account, s->port && s->port->kind == PORT_SOFT_ROCE,
				   s->run_port);
	}
	rules_run_group(true, c, ports, count, out);
	rules_run_group(false, c, ports, count, out);
	free(ports);
	port_pairs_clear(&pairs);
	if (!out->err)
		findings_allow(out, c->fabric, c->run);
	findings_set_causes(out, c->run);
	return out->err;
}

int rules_run(const struct fabric *f, const struct run *run, struct findings *out)
{
	struct rule_context c = {.fabric = f, .run = run};

	return rules_run_all(&c, out);
}

int rules_run_host(const struct fabric *f, const struct run *run, bool listened,
		   struct findings *out)
{
	struct rule_context c = {.fabric = f, .run = run, .alone = true, .listened = listened};

	return rules_run_all(&c, out);
}

int rules_run_capture(const struct fabric *f, const struct run *run,
		      const struct capture_case *capture, struct findings *out)
{
	struct rule_context c = {.fabric = f, .run = run, .capture = capture};

	return rules_run_all(&c, out);
}
