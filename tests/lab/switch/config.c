/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a configuration: keys by their tables (config_keys.c), defaults of each switch before its
 * ports, links by name, and what must hold between values. Everything wrong is reported at once.
 */
#include "tests/lab/switch/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lab/switch/config_keys.h"

struct load {
	const struct yaml_file *file;
	struct diags *diags;
	struct lab_config *config;
	struct port_config base; /* defaults of all switches */
};

static int report(struct load *l, const struct yaml_node *node, const char *rule, const char *text)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = rule};

	return yaml_report(l->file, node, &finding, l->diags, "%s", text);
}

static bool port_taken(const struct lab_config *c, unsigned int n)
{
	const struct switch_config *box = &c->box[c->box_count - 1];

	for (unsigned int i = box->first_port; i < n; i++)
		if (!strcmp(c->port[i].name, c->port[n].name))
			return true;
	for (unsigned int i = 0; i < n; i++)
		if (c->port[n].local[0] && !strcmp(c->port[i].local, c->port[n].local))
			return true;
	return false;
}

static int load_port(struct load *l, const struct yaml_node *node, const struct port_config *base)
{
	struct lab_config *c = l->config;
	size_t errors = l->diags->errors;
	struct port_config *p;
	struct err e;
	int err;

	if (node->kind != YAML_MAP)
		return report(l, node, "RC-INP-004", "ports: expected a list of maps");
	if (c->port_count == PORTS_MAX)
		return report(l, node, "RC-INP-005", "more than 64 ports");
	p = &c->port[c->port_count];
	*p = *base;
	err = schema_load_map(&port_keys, l->file, node, p, l->diags);
	if (err && err != -EINVAL)
		return err;
	if (l->diags->errors == errors && port_taken(c, c->port_count))
		err = report(l, node, "RC-INP-014", "this port's name or socket is given twice");
	if (l->diags->errors == errors && !config_port_ok(p, &e))
		err = report(l, node, "RC-INP-020", e.text);
	c->port_count++;
	c->box[c->box_count - 1].port_count++;
	return err;
}

/* The defaults of the file or of a switch, over those in base. */
static int load_defaults(struct load *l, const struct yaml_node *defaults, struct port_config *base)
{
	if (!defaults)
		return 0;
	if (defaults->kind != YAML_MAP)
		return report(l, defaults, "RC-INP-004", "defaults: expected a map of keys");
	return schema_load_map(&default_keys, l->file, defaults, base, l->diags);
}

static int load_ports(struct load *l, const struct yaml_node *node)
{
	const struct yaml_node *ports = yaml_get(node, "ports");
	struct port_config base = l->base;
	int bad = 0;

	if (schema_stop(load_defaults(l, yaml_get(node, "defaults"), &base), &bad))
		return bad;
	if (!ports)
		return bad;
	if (ports->kind != YAML_LIST || !ports->count)
		return report(l, ports, "RC-INP-004", "ports: expected a list of maps");
	for (size_t i = 0; i < ports->count; i++)
		if (schema_stop(load_port(l, yaml_item(ports, i), &base), &bad))
			return bad;
	return bad;
}

static int load_switch(struct load *l, const struct yaml_node *node)
{
	struct lab_config *c = l->config;
	struct switch_config *box;
	int bad = 0;

	if (node->kind != YAML_MAP)
		return report(l, node, "RC-INP-004", "switches: expected a list of maps");
	if (c->box_count == SWITCHES_MAX)
		return report(l, node, "RC-INP-005", "more than 8 switches");
	box = &c->box[c->box_count++];
	*box = (struct switch_config){
		.buffer_bytes = 4 << 20,
		.alpha_percent = 100,
		.age_s = 300,
		.mac = {0x02, 0, 0, 0, 0xff, c->box_count},
		.first_port = c->port_count,
	};
	if (schema_stop(schema_load_map(&switch_keys, l->file, node, box, l->diags), &bad))
		return bad;
	for (struct switch_config *other = c->box; other < box; other++)
		if (!strcmp(other->name, box->name) &&
		    schema_stop(report(l, node, "RC-INP-014", "this switch is given twice"), &bad))
			return bad;
	schema_stop(load_ports(l, node), &bad);
	return bad;
}

/* Number of "switch/port", or -ENOENT. */
static int find_port(const struct lab_config *c, const char *name)
{
	for (unsigned int b = 0; b < c->box_count; b++) {
		const struct switch_config *box = &c->box[b];
		size_t n = strlen(box->name);

		if (strncmp(name, box->name, n) || name[n] != '/')
			continue;
		for (unsigned int i = 0; i < box->port_count; i++)
			if (!strcmp(c->port[box->first_port + i].name, name + n + 1))
				return (int)(box->first_port + i);
	}
	return -ENOENT;
}

static int link_end(struct load *l, const struct yaml_node *map, const char *key, const char *name,
		    unsigned int *port)
{
	struct lab_config *c = l->config;
	int n = find_port(c, name);

	if (n < 0)
		return report(l, yaml_get(map, key), "RC-INP-013",
			      "no such port; a port is SWITCH/PORT");
	*port = n;
	if (c->port[n].local[0])
		return report(l, yaml_get(map, key), "RC-INP-020",
			      "a port with a socket cannot have a link");
	for (unsigned int i = 0; i + 1 < c->link_count; i++)
		if (c->link[i].port_a == *port || c->link[i].port_b == *port)
			return report(l, yaml_get(map, key), "RC-INP-014",
				      "this port has a link already");
	return 0;
}

static int load_link(struct load *l, const struct yaml_node *node)
{
	struct link_config *link;
	int bad = 0;

	if (node->kind != YAML_MAP)
		return report(l, node, "RC-INP-004", "links: expected a list of maps");
	if (l->config->link_count == LINKS_MAX)
		return report(l, node, "RC-INP-005", "more than 32 links");
	link = &l->config->link[l->config->link_count++];
	link->port_a = link->port_b = PORTS_MAX;
	if (schema_stop(schema_load_map(&link_keys, l->file, node, link, l->diags), &bad))
		return bad;
	if (link->a[0] && schema_stop(link_end(l, node, "a", link->a, &link->port_a), &bad))
		return bad;
	if (link->b[0] && schema_stop(link_end(l, node, "b", link->b, &link->port_b), &bad))
		return bad;
	if (!bad && link->port_a == link->port_b)
		return report(l, node, "RC-INP-020", "a link from a port to itself");
	return bad;
}

static int load_fault(struct load *l, const struct yaml_node *node)
{
	size_t errors = l->diags->errors;
	struct fault *fault;
	struct err e;
	int err;

	if (node->kind != YAML_MAP)
		return report(l, node, "RC-INP-004", "faults: expected a list of maps");
	if (l->config->fault_count == FAULTS_MAX)
		return report(l, node, "RC-INP-005", "more than 32 faults");
	fault = &l->config->fault[l->config->fault_count];
	config_fault_defaults(fault);
	err = schema_load_map(&fault_keys, l->file, node, fault, l->diags);
	if (l->diags->errors > errors)
		return err;
	if (fault->name[0] && config_fault_find(l->config, fault->name) >= 0)
		return report(l, node, "RC-INP-014", "this fault's name is given twice");
	if (!config_fault_ok(l->config, fault, &e))
		return report(l, node, "RC-INP-020", e.text);
	l->config->fault_count++;
	return 0;
}

/* Names that the file gives come before those made up. */
static void name_faults(struct lab_config *c)
{
	for (unsigned int i = 0; i < c->fault_count; i++)
		if (!c->fault[i].name[0])
			config_fault_name(c, &c->fault[i]);
}

static int load_host(struct load *l, const struct yaml_node *node)
{
	struct lab_config *c = l->config;
	struct host_config *host;
	int bad = 0;

	if (node->kind != YAML_MAP)
		return report(l, node, "RC-INP-004", "hosts: expected a list of maps");
	if (c->host_count == HOSTS_MAX)
		return report(l, node, "RC-INP-005", "more than 6 hosts");
	host = &c->host[c->host_count++];
	if (schema_stop(schema_load_map(&host_keys, l->file, node, host, l->diags), &bad) || bad)
		return bad;
	for (struct host_config *other = c->host; other < host; other++)
		if (!strcmp(other->name, host->name))
			return report(l, node, "RC-INP-014", "this host is given twice");
	if (!config_has_wire(c, host->name, "wire"))
		return report(l, node, "RC-INP-013",
			      "no port has 'remote: NAME.wire' of this host");
	if (host->bond && !config_has_wire(c, host->name, "b.wire"))
		return report(l, node, "RC-INP-020",
			      "a bond needs a port with 'remote: NAME.b.wire' as well");
	return 0;
}

/* Every port without a socket needs a link. */
static int check_ends(struct load *l)
{
	struct lab_config *c = l->config;
	char text[128];
	int bad = 0;

	for (unsigned int i = 0; i < c->port_count; i++) {
		bool linked = c->port[i].local[0] != '\0';

		for (unsigned int k = 0; k < c->link_count; k++)
			linked |= c->link[k].port_a == i || c->link[k].port_b == i;
		if (linked)
			continue;
		snprintf(text, sizeof(text), "port '%s' has neither local and remote nor a link",
			 c->port[i].name);
		if (schema_stop(report(l, NULL, "RC-INP-006", text), &bad))
			return bad;
	}
	return bad;
}

static int load_list(struct load *l, const char *key,
		     int (*one)(struct load *l, const struct yaml_node *node))
{
	const struct yaml_node *list = yaml_find(l->file, key);
	int bad = 0;

	if (!list)
		return 0;
	if (list->kind != YAML_LIST)
		return report(l, list, "RC-INP-004", "expected a list of maps");
	for (size_t i = 0; i < list->count; i++)
		if (schema_stop(one(l, yaml_item(list, i)), &bad))
			return bad;
	return bad;
}

static int load_all(struct load *l)
{
	static const struct {
		const char *key;
		int (*one)(struct load *l, const struct yaml_node *node);
	} lists[] = {{"switches", load_switch},
		     {"links", load_link},
		     {"faults", load_fault},
		     {"hosts", load_host}};
	int bad = 0;

	if (schema_stop(schema_load_map(&lab_keys, l->file, l->file->root, l->config, l->diags),
			&bad))
		return bad;
	config_port_defaults(&l->base);
	if (schema_stop(load_defaults(l, yaml_find(l->file, "defaults"), &l->base), &bad))
		return bad;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (schema_stop(load_list(l, lists[i].key, lists[i].one), &bad))
			return bad;
	name_faults(l->config);
	if (!l->diags->errors)
		schema_stop(check_ends(l), &bad);
	if (!l->diags->errors && !l->config->port_count)
		schema_stop(report(l, NULL, "RC-INP-006", "no switch with a port"), &bad);
	return bad;
}

static int load_file(struct yaml_file *file, struct lab_config *config, struct diags *d)
{
	struct load l = {.file = file, .diags = d, .config = config};
	size_t errors = d->errors;
	int err;

	memset(config, 0, sizeof(*config));
	config->frames = 16384;
	config->mirror_snaplen = 256;
	err = load_all(&l);
	yaml_close(file);
	if (err && err != -EINVAL)
		return err;
	return d->errors > errors ? -EINVAL : 0;
}

int config_load(const char *path, struct lab_config *config, struct diags *d, struct err *e)
{
	struct yaml_file file;
	int err = yaml_open(path, path, &file, d, e);

	return err ? err : load_file(&file, config, d);
}

int config_parse(const char *shown, const char *text, size_t size, struct lab_config *config,
		 struct diags *d, struct err *e)
{
	struct yaml_file file;
	int err = yaml_parse(shown, text, size, &file, d, e);

	return err ? err : load_file(&file, config, d);
}

/* JSON is read as what it also is, YAML, so that files and requests have the same keys. */
static int load_json(const struct schema *keys, const json_t *json, void *target, struct err *e)
{
	char *text = json_dumps(json, JSON_ENCODE_ANY);
	struct yaml_file file;
	struct diags d;
	int err;

	if (!text)
		return err_sys(e, -ENOMEM, "request");
	diags_init(&d);
	err = yaml_parse("request", text, strlen(text), &file, &d, e);
	free(text);
	if (!err) {
		err = schema_load_map(keys, &file, file.root, target, &d);
		yaml_close(&file);
	}
	if (d.errors) {
		err = err_set(e, -EINVAL, "%s", d.list[0].text);
		if (d.list[0].note)
			err_hint(e, "%s", d.list[0].note);
	}
	diags_clear(&d);
	return err;
}

/* {"a": {"b": value}} of "a.b"; new reference. */
static json_t *nest(const char *path, const json_t *value)
{
	const char *dot = strchr(path, '.');
	char key[NAME_SIZE];

	if (snprintf(key, sizeof(key), "%.*s", dot ? (int)(dot - path) : NAME_SIZE, path) >=
	    (int)sizeof(key))
		return NULL;
	if (dot)
		return json_pack("{s:o}", key, nest(dot + 1, value));
	return json_pack("{s:O}", key, value);
}

static int load_path(const struct schema *keys, const char *path, const json_t *value, void *target,
		     struct err *e)
{
	json_t *json = strlen(path) < SCHEMA_PATH_MAX ? nest(path, value) : NULL;
	int err;

	if (!json)
		return err_set(e, -EINVAL, "%s: no such setting", path);
	err = load_json(keys, json, target, e);
	json_decref(json);
	return err;
}

int config_set_port(struct port_config *port, const char *path, const json_t *value, struct err *e)
{
	struct port_config changed = *port;
	int err = load_path(&default_keys, path, value, &changed, e);

	if (err)
		return err;
	if (!config_port_ok(&changed, e))
		return e->code;
	*port = changed;
	return 0;
}

int config_set_switch(struct switch_config *box, const char *path, const json_t *value,
		      struct err *e)
{
	struct switch_config changed = *box;
	int err = load_path(&change_keys, path, value, &changed, e);

	if (!err)
		*box = changed;
	return err;
}

int config_snaplen(struct lab_config *config, const json_t *value, struct err *e)
{
	return load_path(&mirror_keys, "snaplen", value, config, e);
}

int config_fault(const json_t *json, struct fault *fault, struct err *e)
{
	struct fault read = *fault;
	int err;

	if (!json_is_object(json))
		return err_set(e, -EINVAL, "a fault is an object");
	err = load_json(&fault_keys, json, &read, e);
	if (!err)
		*fault = read;
	return err;
}

bool config_port_ok(const struct port_config *p, struct err *e)
{
	if (!p->local[0] != !p->remote[0])
		return !err_set(e, -EINVAL, "%s: local and remote go together", p->name);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (p->prio[prio].xon_bytes > p->prio[prio].xoff_bytes)
			return !err_set(e, -EINVAL, "%s: priority %u: xon is above xoff", p->name,
					prio);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (p->prio[prio].pfc != PFC_OFF && (p->pause.rx || p->pause.tx))
			return !err_set(e, -EINVAL, "%s: a link has PFC or link pause, not both",
					p->name);
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (p->tc[tc].ecn.on && p->tc[tc].ecn.kmin_bytes >= p->tc[tc].ecn.kmax_bytes)
			return !err_set(e, -EINVAL, "%s: class %u: kmin must be below kmax",
					p->name, tc);
	return true;
}
