/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A saved plan, and the plan of an agent, which is the same document: its profile is written as it
 * was read, a plan of this host is compared with it, and a rollout looks for what it disrupts. An
 * input is the text.
 */
#include "cmd/apply/plan_file.h"
#include "probe/rollout/rollout.h"
#include "profiles/profile_json.h"
#include "tests/fuzz/mutate.h"

FUZZ_MUTATE(json)
FUZZ_CROSS(json)

static void check_profile(const struct profile *p)
{
	static struct profile back;
	json_t *o = profile_to_json(p), *again;
	struct err e = {0};

	memset(&back, 0, sizeof(back));
	HOLDS(o);
	if (profile_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	again = profile_to_json(&back);
	HOLDS(again && json_equal(o, again));
	json_decref(o);
	json_decref(again);
}

/* A plan of one port of this host. */
static void check_against(const json_t *doc)
{
	struct qos want = {
		.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU), .pfc_enabled = 8, .mtu = 9000};
	struct qos have = {.has = want.has, .pfc_enabled = 0, .mtu = 1500};
	static struct plan plan;
	static struct port_users use;
	int line[QOS_FIELD_COUNT] = {0};
	struct err e = {0};
	int err;

	plan_make(&want, line, &have, "mlx5_core", &plan);
	snprintf(plan.ifname, sizeof(plan.ifname), "roce0");
	err = plan_file_check(doc, &(struct plans){.plan = &plan, .use = &use, .count = 1}, &e);
	HOLDS(!err || *e.text);
}

static void check_rollout(const json_t *doc)
{
	struct fabric_port port = {.interface = "roce0", .rail = 1};
	struct fabric_host host = {.name = "h1", .port = &port, .port_count = 1};
	struct fabric fabric = {.host = &host, .host_count = 1, .failure_group = GROUP_RAIL};
	struct rollout_facts facts;
	struct rollout_entry unit = {0};
	struct err e = {0};

	if (rollout_read_facts(doc, &facts, &e))
		HOLDS(*e.text);
	else
		rollout_read_groups(doc, &fabric, 0, &unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *doc;
	static struct profile profile;
	bool parsed = o;
	struct err e = {0};
	int err;

	fuzz_begin();
	if (parsed)
		fuzz_reach(FUZZ_PARSED);
	if (json_is_object(o))
		check_rollout(o);
	json_decref(o);
	err = plan_file_read(fuzz_file("plan.json", data, size), &profile, &doc, &e);
	if (err) {
		HOLDS(err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text)));
		return 0;
	}
	HOLDS(parsed);
	fuzz_reach(FUZZ_TAKEN);
	check_profile(&profile);
	check_against(doc);
	json_decref(doc);
	return 0;
}
