/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client may ask of running switches: statistics, settings by the keys of the file, faults,
 * the mirror, the end. README.md describes the requests and answers.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static json_t *refuse(const struct err *e)
{
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "error", e->text, "hint", e->hint);
}

static json_t *accept_request(void)
{
	return json_pack("{s:b}", "ok", 1);
}

/* The port of "port.NAME.REST" or "SWITCH.port.NAME.REST"; *rest behind it. */
static struct port *find_port(struct lab *lab, const char *path, const char **rest)
{
	for (unsigned int i = 0; i < lab->port_count; i++) {
		struct port *p = &lab->port[i];
		char shape[2][3 * NAME_SIZE];

		snprintf(shape[0], sizeof(shape[0]), "port.%s.", p->config.name);
		snprintf(shape[1], sizeof(shape[1]), "%s.port.%s.", lab->box[p->owner].config->name,
			 p->config.name);
		for (unsigned int k = 0; k < 2; k++)
			if (!strncmp(path, shape[k], strlen(shape[k]))) {
				*rest = path + strlen(shape[k]);
				return p;
			}
	}
	return NULL;
}

/* "port.NAME.KEY": what depends on the setting is told, the neighbour as well. */
static int set_port(struct lab *lab, struct port *p, const char *key, const json_t *value,
		    struct err *e)
{
	bool uplink = p->config.uplink;
	unsigned int lag = p->config.lag;
	int err = config_set_port(&p->config, key, value, e);

	if (err)
		return err;
	port_configure(p);
	if (uplink != p->config.uplink || lag != p->config.lag)
		forward_groups(lab, p->owner);
	port_follow_shut(lab, p);
	p->cee_seq++;
	p->lldp_next_ns = lab->now_ns;
	return 0;
}

/* "SWITCH.KEY" */
static int set_switch(struct lab *lab, const char *path, const json_t *value, struct err *e)
{
	for (unsigned int i = 0; i < lab->config.box_count; i++) {
		struct switch_config *c = &lab->config.box[i];
		size_t n = strlen(c->name);

		if (!strncmp(path, c->name, n) && path[n] == '.')
			return config_set_switch(c, path + n + 1, value, e);
	}
	err_set(e, -ENOENT, "%s: no such port or switch", path);
	err_hint(e, "port.NAME.KEY, SWITCH.port.NAME.KEY or SWITCH.KEY");
	return -ENOENT;
}

static json_t *set(struct lab *lab, const json_t *request)
{
	const char *path = json_string_value(json_object_get(request, "path")), *key;
	const json_t *value = json_object_get(request, "value");
	struct port *p;
	struct err e;
	int err;

	if (!path || !value) {
		err_set(&e, -EINVAL, "set needs path and value");
		return refuse(&e);
	}
	p = find_port(lab, path, &key);
	err = p ? set_port(lab, p, key, value, &e) : set_switch(lab, path, value, &e);
	return err ? refuse(&e) : accept_request();
}

/* {"file": PATH, "snaplen": BYTES} begins a new file, {"file": null} completes the one there is. */
static json_t *mirror(struct lab *lab, const json_t *request)
{
	const json_t *file = json_object_get(request, "file");
	const json_t *snaplen = json_object_get(request, "snaplen");
	struct mirror *m = NULL;
	struct err e;

	if (!json_is_string(file) && !json_is_null(file)) {
		err_set(&e, -EINVAL, "mirror needs a file, or null");
		return refuse(&e);
	}
	if (snaplen && config_snaplen(&lab->config, snaplen, &e))
		return refuse(&e);
	if (json_is_string(file) && mirror_open(lab, json_string_value(file), &m, &e))
		return refuse(&e);
	mirror_close(lab->mirror);
	lab->mirror = m;
	return accept_request();
}

static json_t *named(const char *name, const struct err *e)
{
	return name ? json_pack("{s:b, s:s}", "ok", 1, "name", name) : refuse(e);
}

/* {"add": {...}}, {"change": {"name": ...}}, {"clear": true}, {"clear": NAME} or {"list": true}. */
static json_t *change_faults(struct lab *lab, const json_t *request)
{
	const json_t *add = json_object_get(request, "add");
	const json_t *change = json_object_get(request, "change");
	const json_t *clear = json_object_get(request, "clear");
	struct err e;

	if (add)
		return named(fault_add(lab, add, &e), &e);
	if (change)
		return named(fault_change(lab, change, &e), &e);
	if (json_is_true(json_object_get(request, "list")))
		return json_pack("{s:b, s:o}", "ok", 1, "faults", stats_faults_json(lab));
	if (json_is_true(clear) || json_is_string(clear))
		return fault_remove(lab, json_string_value(clear), &e) ? refuse(&e)
								       : accept_request();
	err_set(&e, -EINVAL, "fault needs add, change, clear or list");
	return refuse(&e);
}

static json_t *statistics(struct lab *lab, const json_t *request)
{
	(void)request;
	return stats_json(lab);
}

static json_t *quit(struct lab *lab, const json_t *request)
{
	(void)request;
	lab->quit = true;
	return accept_request();
}

static const struct {
	const char *op;
	json_t *(*answer)(struct lab *lab, const json_t *request);
} requests[] = {
	{"stats", statistics},	  {"set", set},	  {"mirror", mirror},
	{"fault", change_faults}, {"quit", quit},
};

json_t *control_answer(struct lab *lab, const char *line)
{
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL), *answer = NULL;
	const char *op = json_string_value(json_object_get(request, "op"));
	struct err e;

	for (size_t i = 0; op && i < ARRAY_SIZE(requests); i++)
		if (!strcmp(op, requests[i].op))
			answer = requests[i].answer(lab, request);
	if (!answer) {
		err_set(&e, -EINVAL, "not a request");
		err_hint(&e, "{\"op\": \"stats\"}, set, fault, mirror or quit");
		answer = refuse(&e);
	}
	json_decref(request);
	return answer;
}
