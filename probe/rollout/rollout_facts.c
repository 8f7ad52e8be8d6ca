/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What hosts answer in a rollout, read with suspicion: plans, and what a command said before it
 * failed. Pure.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/rollout/rollout.h"
#include "profiles/base/json_take.h"

#define PORTS_MAX 1024
#define STEPS_MAX 4096

static const char *const result_words[ROLLOUT_RESULT_COUNT] = {
	[ROLLOUT_NOT_STARTED] = "not started", [ROLLOUT_UNCHANGED] = "unchanged",
	[ROLLOUT_APPLIED] = "applied",	       [ROLLOUT_ROLLED_BACK] = "rolled back",
	[ROLLOUT_FAILED] = "failed",
};

const char *rollout_result_word(enum rollout_result result)
{
	return result_words[result];
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static bool disrupts(const json_t *port)
{
	const json_t *step;
	size_t i;

	json_array_foreach (json_object_get(port, "steps"), i, step)
		if (!json_is_true(json_object_get(step, "cannot")) &&
		    !is_text(step, "disruption", "none"))
			return true;
	return false;
}

static int take_port(const json_t *port, struct rollout_facts *f, struct err *e)
{
	const json_t *steps, *users = json_object_get(port, "used_by");
	char netdev[16];
	unsigned int cannot = 0;
	int err = json_take_text(port, "netdev", netdev, sizeof(netdev), e);

	if (!err)
		err = json_take_array(port, "steps", STEPS_MAX, &steps, e);
	if (err)
		return err;
	for (size_t i = 0; i < json_array_size(steps); i++)
		cannot += json_is_true(json_object_get(json_array_get(steps, i), "cannot"));
	f->ports++;
	f->cannot += cannot;
	f->changes += json_array_size(steps) - cannot;
	f->unproven |= json_array_size(steps) > cannot && is_text(port, "tier", "source");
	if (!disrupts(port))
		return 0;
	f->disrupted++;
	if (json_array_size(users) && !f->used[0])
		snprintf(f->used, sizeof(f->used), "%s is in use by %s", netdev,
			 json_is_string(json_array_get(users, 0))
				 ? json_string_value(json_array_get(users, 0))
				 : "somebody");
	return 0;
}

int rollout_take_facts(const json_t *plan, struct rollout_facts *facts, struct err *e)
{
	struct rollout_facts f = {0};
	const json_t *ports;
	int err = 0;

	if (!json_is_object(plan) || !is_text(plan, "schema", "rocecheck.plan/1"))
		return err_set(e, -EBADMSG, "what came is no plan");
	err = json_take_array(plan, "ports", PORTS_MAX, &ports, e);
	for (size_t i = 0; !err && i < json_array_size(ports); i++)
		err = take_port(json_array_get(ports, i), &f, e);
	if (err)
		return err_set(e, -EBADMSG, "what came is no plan");
	*facts = f;
	return 0;
}

/* Hosts without a rack are one group: what is not known is not taken for independent. */
static uint32_t rack_of(const struct fabric *f, unsigned int h)
{
	for (unsigned int i = 0; i < h; i++)
		if (!strcmp(f->host[i].rack, f->host[h].rack))
			return i;
	return h;
}

static uint32_t rail_of(const struct fabric_host *host, const char *netdev)
{
	for (unsigned int p = 0; netdev && p < host->port_count; p++)
		if (!strcmp(host->port[p].interface, netdev))
			return host->port[p].rail;
	return ROLLOUT_EVERY_GROUP;
}

void rollout_take_groups(const json_t *plan, const struct fabric *f, unsigned int h,
			 struct rollout_unit *u)
{
	const json_t *port;
	size_t i;

	u->group_count = 0;
	json_array_foreach (json_object_get(plan, "ports"), i, port) {
		const char *netdev = json_string_value(json_object_get(port, "netdev"));

		if (!disrupts(port))
			continue;
		if (f->failure_group == GROUP_RAIL)
			rollout_add_group(u, rail_of(&f->host[h], netdev));
		else
			rollout_add_group(u, f->failure_group == GROUP_RACK ? rack_of(f, h) : 0);
	}
}

void rollout_reason(const char *said, int status, char *buf, size_t size)
{
	static const char mark[] = "error: ", help[] = "\n   = help: ";
	const char *text = NULL, *hint;
	size_t length;

	for (const char *at = said; at && (at = strstr(at, mark)); text = at)
		at += strlen(mark);
	if (!text) {
		snprintf(buf, size, "exit %d", status);
		return;
	}
	length = strcspn(text, "\n");
	hint = !strncmp(text + length, help, strlen(help)) ? text + length + strlen(help) : NULL;
	snprintf(buf, size, "%.*s%s%.*s%s", (int)length, text, hint ? " (" : "",
		 hint ? (int)strcspn(hint, "\n") : 0, hint ? hint : "", hint ? ")" : "");
}
