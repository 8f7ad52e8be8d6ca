/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads an inventory: keys by their table, sets of hosts spelled out, names and ports that stand
 * for two things refused, the profile loaded from where the inventory says.
 */
#include "profiles/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/nodeset.h"
#include "profiles/fabric_keys.h"

#define PORTS_MAX 64	/* of one host */
#define HOSTS_MAX 16384 /* of one file: each is compared with those before it */

/* One inventory while it is loaded. */
struct load {
	struct yaml_file file;
	struct diags *diags;
	struct fabric *f;
};

static void clear_hosts(struct fabric *f)
{
	for (unsigned int i = 0; i < f->host_count; i++)
		free(f->host[i].port);
	free(f->host);
	f->host = NULL;
	f->host_count = 0;
}

void fabric_clear(struct fabric *f)
{
	if (!f)
		return;
	clear_hosts(f);
	free(f->tcp);
	f->tcp = NULL;
	f->tcp_count = 0;
}

int fabric_find_host(const struct fabric *f, const char *name)
{
	for (unsigned int i = 0; i < f->host_count; i++)
		if (!strcmp(f->host[i].name, name))
			return (int)i;
	return -ENOENT;
}

bool fabric_is_inventory(const char *path)
{
	const struct yaml_node *schema;
	struct yaml_file file;
	struct diags ignored;
	bool is = false;

	diags_init(&ignored);
	if (!yaml_open(path, path, &file, &ignored, NULL)) {
		schema = yaml_find(&file, "schema");
		is = schema && schema->kind == YAML_TEXT &&
		     !strncmp(schema->text, "rocecheck.fabric/", strlen("rocecheck.fabric/"));
		yaml_close(&file);
	}
	diags_clear(&ignored);
	return is;
}

static int report(struct load *l, const struct yaml_node *node, const char *rule, const char *note,
		  const char *text)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = rule, .note = note};

	return yaml_report(&l->file, node, &finding, l->diags, "%s", text);
}

static int load_profile(struct load *l, const char *path)
{
	const struct yaml_node *node = yaml_find(&l->file, "profile");
	char name[256];
	struct err e = {.code = 0};
	int err = 0;

	if (!node || node->kind != YAML_TEXT)
		return -EINVAL; /* reported with the other keys */
	if (profile_is_path(node->text))
		err = profile_relative(path, node->text, name, sizeof(name));
	else if (snprintf(name, sizeof(name), "%s", node->text) >= (int)sizeof(name))
		err = -ENAMETOOLONG;
	if (err)
		err_sys(&e, err, "%.64s...", node->text);
	else
		err = profile_load(name, &l->f->profile, l->diags, &e);
	if (!err || !e.code || err == -ENOMEM)
		return err;
	err_prefix(&e, "profile");
	return report(l, node, "RC-INP-011", e.hint[0] ? e.hint : NULL, e.text);
}

/* Replaces {name}. */
static int fill_target(struct fabric_host *host, const char *form)
{
	const char *mark = strstr(form, "{name}");
	int n;

	if (!form[0])
		n = snprintf(host->target, sizeof(host->target), "%s", host->name);
	else if (!mark)
		n = snprintf(host->target, sizeof(host->target), "%s", form);
	else
		n = snprintf(host->target, sizeof(host->target), "%.*s%s%s", (int)(mark - form),
			     form, host->name, mark + strlen("{name}"));
	return n >= (int)sizeof(host->target) ? -ENAMETOOLONG : 0;
}

/* Host number i of the set that `set` stands for, with ports of its own. */
static int spell_out(const struct load *l, const struct fabric_host *set, unsigned int i,
		     struct fabric_host *host)
{
	int err;

	*host = *set;
	host->port = NULL;
	err = nodeset_name(set->name, i, host->name, sizeof(host->name));
	if (!err)
		err = fill_target(host, set->target);
	if (err)
		return err;
	if (!host->agent[0])
		memcpy(host->agent, l->f->agent, sizeof(host->agent));
	host->port = calloc(set->port_count + 1, sizeof(*host->port));
	if (!host->port)
		return -ENOMEM;
	for (unsigned int p = 0; p < set->port_count; p++)
		host->port[p] = set->port[p];
	return 0;
}

static int check_host(struct load *l, const struct yaml_node *node, const struct fabric *into,
		      const struct fabric_host *host)
{
	int same = fabric_find_host(into, host->name);
	char text[128], note[48];

	if (same < 0)
		return 0;
	snprintf(text, sizeof(text), "host '%s' is given twice", host->name);
	snprintf(note, sizeof(note), "first in line %d", into->host[same].line);
	return report(l, yaml_get(node, "name"), "RC-INP-014", note, text);
}

static int append_set(struct load *l, const struct yaml_node *node, const struct fabric_host *set,
		      struct fabric *into)
{
	int count = nodeset_count(set->name, NULL);
	struct fabric_host *grown;

	if (count < 1 || into->host_count + count > HOSTS_MAX)
		return report(l, node, "RC-INP-005", NULL, "more than 16384 hosts");
	grown = realloc(into->host, (into->host_count + count) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	into->host = grown;
	for (int i = 0; i < count; i++) {
		struct fabric_host *host = &into->host[into->host_count];
		int err = spell_out(l, set, i, host); /* one finding a set is enough */

		if (err == -ENAMETOOLONG)
			err = report(l, node, "RC-INP-013", NULL, "name or target is too long");
		if (!err) {
			err = check_host(l, node, into, host);
			into->host_count++;
		}
		if (err)
			return err;
	}
	return 0;
}

static bool interface_taken(const struct fabric_host *host, unsigned int p)
{
	for (unsigned int i = 0; i < p; i++)
		if (!strcmp(host->port[i].interface, host->port[p].interface))
			return true;
	return false;
}

/* Whether a port before port p of host h has its address, or the host is a set, whose hosts cannot
 * share it. Hosts are as they stand in the file. */
static bool address_taken(const struct fabric *f, unsigned int h, unsigned int p)
{
	const char *address = f->host[h].port[p].address;

	if (!address[0])
		return false;
	for (unsigned int i = 0; i <= h; i++)
		for (unsigned int k = 0; k < (i < h ? f->host[i].port_count : p); k++)
			if (!strcmp(f->host[i].port[k].address, address))
				return true;
	return nodeset_count(f->host[h].name, NULL) > 1;
}

/* Each interface of a host once, each address of the fabric once. */
static int check_port(struct load *l, const struct yaml_node *node, unsigned int h, unsigned int p)
{
	const struct fabric_host *host = &l->f->host[h];
	char text[160];
	int bad = 0;

	if (interface_taken(host, p) &&
	    schema_stop(report(l, yaml_get(node, "interface"), "RC-INP-014", NULL,
			       "this port is given twice"),
			&bad))
		return bad;
	if (!address_taken(l->f, h, p))
		return bad;
	snprintf(text, sizeof(text), "%s: another port has address %s", host->name,
		 host->port[p].address);
	return report(l, yaml_get(node, "address"), "RC-INP-014", NULL, text);
}

static int check_ports(struct load *l, const struct yaml_node *node, unsigned int h)
{
	const struct fabric_host *host = &l->f->host[h];
	const struct yaml_node *ports = yaml_get(node, "ports");
	int bad = 0;

	if (!host->port_count)
		return report(l, ports, "RC-INP-006", NULL, "a host needs at least one port");
	if (host->port_count > PORTS_MAX)
		return report(l, ports, "RC-INP-005", NULL, "more than 64 ports on one host");
	for (unsigned int p = 0; p < host->port_count; p++)
		if (schema_stop(check_port(l, yaml_item(ports, p), h, p), &bad))
			return bad;
	return bad;
}

/* The hosts as they stand in the file become the hosts they stand for. */
static int expand_hosts(struct load *l)
{
	const struct yaml_node *hosts = yaml_find(&l->file, "hosts");
	struct fabric spelled = {.host = NULL};
	int bad = 0;

	if (!l->f->host_count)
		return report(l, hosts, "RC-INP-006", NULL, "a fabric needs at least one host");
	if (l->f->host_count > HOSTS_MAX)
		return report(l, hosts, "RC-INP-005", NULL, "more than 16384 hosts");
	for (unsigned int i = 0; i < l->f->host_count; i++) {
		const struct yaml_node *node = yaml_item(hosts, i);

		if (schema_stop(check_ports(l, node, i), &bad) ||
		    schema_stop(append_set(l, node, &l->f->host[i], &spelled), &bad))
			break;
	}
	if (bad) {
		clear_hosts(&spelled);
		return bad;
	}
	clear_hosts(l->f);
	l->f->host = spelled.host;
	l->f->host_count = spelled.host_count;
	return 0;
}

/* Paths that stand in the inventory are relative to it. */
static int resolve_ssh_config(struct load *l, const char *path)
{
	char config[sizeof(l->f->ssh_config)];

	if (!l->f->ssh_config[0])
		return 0;
	if (profile_relative(path, l->f->ssh_config, config, sizeof(config)))
		return report(l, yaml_find(&l->file, "ssh.config"), "RC-INP-013", NULL,
			      "ssh.config: the path is too long");
	strcpy(l->f->ssh_config, config);
	return 0;
}

/* errors: how many there were before the file was opened. Hosts are spelled out beside the nodes
 * they were read from, so only where nothing is wrong with them. */
static int load_tree(struct load *l, const char *path, size_t errors)
{
	int err = schema_load_map(&fabric_keys, &l->file, l->file.root, l->f, l->diags);

	if (!err && l->diags->errors == errors)
		err = expand_hosts(l);
	if (!err)
		err = resolve_ssh_config(l, path);
	if (!err || err == -EINVAL)
		err = load_profile(l, path);
	if (!err && l->diags->errors > errors)
		err = -EINVAL;
	return err;
}

int fabric_load(const char *path, struct fabric *f, struct diags *diags, struct err *e)
{
	struct fabric loaded = {
		.engine = "ssh",
		.agent = "rocecheck",
		.capture = CAPTURE_HEADERS,
		.connect_timeout_s = 10,
		.quiet_s = 3,
		.traffic_s = 3,
		.load_percent = 5,
		.message_bytes = 65536,
		.min_load_percent = 80,
		.foreign_percent = 1,
	};
	struct load l = {.diags = diags, .f = &loaded};
	size_t errors = diags->errors;
	int err;

	if (snprintf(loaded.path, sizeof(loaded.path), "%s", path) >= (int)sizeof(loaded.path))
		return err_sys(e, -ENAMETOOLONG, "%.64s...", path);
	err = yaml_open(path, path, &l.file, diags, e);
	if (err)
		return err;
	err = load_tree(&l, path, errors);
	yaml_close(&l.file);
	if (!err && diags->errors > errors)
		err = -EINVAL;
	if (err) {
		fabric_clear(&loaded);
		return err == -EINVAL ? err : err_sys(e, err, "%s", path);
	}
	*f = loaded;
	return 0;
}
