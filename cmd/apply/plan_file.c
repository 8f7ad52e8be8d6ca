/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and checks plans. apply does not run a saved plan: it makes a new plan from the same
 * profile and requires the same steps with the same old values. So the steps that run fit the
 * current state of the host and are the ones that were reviewed.
 */
#include "cmd/apply/plan_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/json_file.h"
#include "profiles/profile_json.h"

bool plan_file_is(const char *path)
{
	size_t length = strlen(path);

	return !strcmp(path, "-") || (length > 5 && !strcmp(path + length - 5, ".json"));
}

/* A plan of 64 ports has some 200 KiB. */
#define PLAN_BYTES_MAX (16 << 20)

int plan_file_write(const struct plans *plans, const struct profile *profile, const char *path,
		    struct err *e)
{
	json_t *doc = cmd_plans_json(plans);

	if (doc && json_object_set_new(doc, "profile", profile_to_json(profile))) {
		json_decref(doc);
		doc = NULL;
	}
	return json_file_save(doc, path, e);
}

int plan_file_read(const char *path, struct profile *profile, json_t **doc, struct err *e)
{
	json_t *read = NULL;
	const char *schema;
	int err;

	if (strcmp(path, "-"))
		err = json_file_load(path, PLAN_BYTES_MAX, &read, e);
	else
		err = json_stream_load(stdin, "standard input", PLAN_BYTES_MAX, &read, e);
	if (err)
		return err;
	schema = json_string_value(json_object_get(read, "schema"));
	memset(profile, 0, sizeof(*profile));
	if (!schema || strcmp(schema, PLAN_SCHEMA) ||
	    !json_is_array(json_object_get(read, "ports")))
		err = err_set(e, -EINVAL, "%s: not a saved plan (expected " PLAN_SCHEMA ")", path);
	else if (profile_from_json(json_object_get(read, "profile"), profile, e))
		err = err_set(e, -EINVAL, "%s: invalid profile in the saved plan", path);
	if (err) {
		json_decref(read);
		return err;
	}
	*doc = read;
	return 0;
}

static const char *plan_file_text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

/* Profile lines may differ: they do not change the settings. */
static bool plan_file_same_step(const json_t *saved, const json_t *now)
{
	static const char *const keys[] = {"field", "from", "to", "cannot", "again", "disruption"};

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *a = json_object_get(saved, keys[i]),
			     *b = json_object_get(now, keys[i]);

		if (!a != !b || (a && !json_equal(a, b)))
			return false;
	}
	return true;
}

static int plan_file_check_port(const json_t *saved, const json_t *now, struct err *e)
{
	const json_t *a = json_object_get(saved, "steps"), *b = json_object_get(now, "steps");
	const char *port = plan_file_text_of(now, "netdev");

	if (strcmp(plan_file_text_of(saved, "ibdev"), plan_file_text_of(now, "ibdev")))
		return err_set(e, -ESTALE, "%s: the RDMA device was %s when the plan was made",
			       port, plan_file_text_of(saved, "ibdev"));
	for (size_t i = 0; i < json_array_size(b); i++)
		if (i >= json_array_size(a) ||
		    !plan_file_same_step(json_array_get(a, i), json_array_get(b, i)))
			return err_set(e, -ESTALE, "%s: %s has changed since the plan was made",
				       port, plan_file_text_of(json_array_get(b, i), "field"));
	if (json_array_size(a) > json_array_size(b))
		return err_set(e, -ESTALE, "%s: %s has changed since the plan was made", port,
			       plan_file_text_of(json_array_get(a, json_array_size(b)), "field"));
	return 0;
}

static const json_t *plan_file_find_port(const json_t *ports, const char *netdev)
{
	for (size_t i = 0; i < json_array_size(ports); i++)
		if (!strcmp(plan_file_text_of(json_array_get(ports, i), "netdev"), netdev))
			return json_array_get(ports, i);
	return NULL;
}

/* The first port of some that is not one of others, else NULL. */
static const char *plan_file_only_in(const json_t *some, const json_t *others)
{
	for (size_t i = 0; i < json_array_size(some); i++) {
		const char *netdev = plan_file_text_of(json_array_get(some, i), "netdev");

		if (!plan_file_find_port(others, netdev))
			return netdev;
	}
	return NULL;
}

int plan_file_check(const json_t *doc, const struct plans *now, struct err *e)
{
	const json_t *saved = json_object_get(doc, "ports");
	json_t *fresh = plan_to_json(now->plan, now->count);
	const json_t *ports = json_object_get(fresh, "ports");
	int err = 0;

	if (!fresh)
		return err_sys(e, -ENOMEM, "plan");
	if (plan_file_only_in(saved, ports))
		err = err_set(e, -ESTALE, "%s is gone since the plan was made",
			      plan_file_only_in(saved, ports));
	else if (plan_file_only_in(ports, saved))
		err = err_set(e, -ESTALE, "%s did not exist when the plan was made",
			      plan_file_only_in(ports, saved));
	for (size_t i = 0; !err && i < now->count; i++)
		err = plan_file_check_port(plan_file_find_port(saved, now->plan[i].ifname),
					   json_array_get(ports, i), e);
	json_decref(fresh);
	if (err == -ESTALE)
		err_hint(e, "make a new plan: rocecheck plan PROFILE --out FILE.json");
	return err;
}
