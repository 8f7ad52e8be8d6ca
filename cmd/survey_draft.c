/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the drafts. Hosts with the same ports become one entry with a node set for a name; the
 * rail of a port is its place in the host. Names that agents sent are used only if an inventory
 * accepts them.
 */
#include "cmd/survey_draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show_yaml.h"
#include "profiles/base/file.h"
#include "profiles/base/nodeset.h"
#include "profiles/yaml/yaml_schema.h"

#define DRAFT_NAME "survey"

/* A host with what follows its name in the inventory. */
struct draft_host {
	const char *name;
	char *entry; /* owned */
};

struct draft {
	struct draft_host *host; /* owned */
	unsigned int count;
};

static void draft_print_key(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s: '", key);
	for (const char *c = text; *c; c++)
		fprintf(out, "%s%c", *c == '\'' ? "'" : "", *c);
	fputs("'\n", out);
}

/* Makes what follows the name of a host: its target, and its ports by rail. NULL without ports. */
static int draft_make_entry(const struct fabric_host *host, const struct snapshot *s, char **entry)
{
	int prefix = (int)(strlen(host->target) - strlen(host->name)), err;
	const struct port **port;
	unsigned int count, printed = 0;
	size_t size;
	FILE *out = open_memstream(entry, &size);

	if (!out)
		return -ENOMEM;
	err = survey_sort_ports(s, &port, &count);
	if (prefix)
		fprintf(out, ", target: '%.*s{name}'", prefix, host->target);
	fputs(", ports: [", out);
	for (unsigned int rail = 0; !err && rail < count; rail++) {
		const char *netdev = port[rail]->netdev;

		/* Two ports of one netdev are neighbours by name. */
		if (!schema_name_ok(netdev) || (rail && !strcmp(netdev, port[rail - 1]->netdev)))
			continue;
		fprintf(out, "%s{interface: '%s', rail: %u}", printed++ ? ", " : "", netdev, rail);
	}
	fputs("]", out);
	if (!err)
		free(port);
	err = fclose(out) || err ? -ENOMEM : 0;
	if (err || !printed) {
		free(*entry);
		*entry = NULL;
	}
	return err;
}

static void draft_clear(struct draft *d)
{
	for (unsigned int i = 0; i < d->count; i++)
		free(d->host[i].entry);
	free(d->host);
}

static int draft_order(const void *a, const void *b)
{
	const struct draft_host *left = a, *right = b;
	int order = strcmp(left->entry, right->entry);

	return order ? order : strverscmp(left->name, right->name);
}

/* Makes the entries of all hosts with ports, equal ones beside each other. */
static int draft_make(const struct fabric *f, const struct run *r, struct draft *d)
{
	d->host = calloc(r->host_count + 1, sizeof(*d->host));
	if (!d->host)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->host_count; i++) {
		struct draft_host *h = &d->host[d->count];

		h->name = r->host[i].name;
		if (survey_snapshot(r, i) &&
		    draft_make_entry(&f->host[i], survey_snapshot(r, i), &h->entry))
			return -ENOMEM;
		d->count += h->entry != NULL;
	}
	qsort(d->host, d->count, sizeof(*d->host), draft_order);
	return 0;
}

/* Prints hosts with equal entries. A set whose name is too long for an inventory is halved. */
static int draft_print_hosts(FILE *out, const struct draft_host *host, unsigned int count)
{
	const char **names = calloc(count, sizeof(*names));
	char *text = NULL, *next, *set;
	int err = names ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < count; i++)
		names[i] = host[i].name;
	if (!err)
		err = nodeset_fold(names, count, &text);
	free(names);
	if (!err && count > 1 && strlen(text) >= FABRIC_NAME_MAX) {
		err = draft_print_hosts(out, host, count / 2);
		if (!err)
			err = draft_print_hosts(out, host + count / 2, count - count / 2);
	} else if (!err) {
		next = text;
		while ((set = nodeset_next(&next)))
			fprintf(out, "  - {name: '%s'%s}\n", set, host->entry);
	}
	free(text);
	return err;
}

static int draft_print_fabric(const struct fabric *f, const struct draft *d, FILE *out,
			      struct err *e)
{
	int err = 0;

	fputs("# Draft by rocecheck survey: check hosts, ports and rails before you use it.\n",
	      out);
	fprintf(out, "schema: %s\nname: " DRAFT_NAME "\nprofile: ./profile.yaml\n", FABRIC_SCHEMA);
	if (f->launcher[0])
		draft_print_key(out, "launcher", f->launcher);
	else
		draft_print_key(out, "engine", f->engine);
	draft_print_key(out, "agent", f->agent);
	fputs("hosts:\n", out);
	for (unsigned int i = 0, n; !err && i < d->count; i += n) {
		for (n = 1; i + n < d->count && !strcmp(d->host[i].entry, d->host[i + n].entry);)
			n++;
		err = draft_print_hosts(out, &d->host[i], n);
	}
	return err ? err_sys(e, err, "draft") : 0;
}

/* Notes the settings in which most ports of another group differ: one profile cannot hold both. */
static void draft_print_difference(const struct survey_group *g, const struct survey_group *other,
				   FILE *out)
{
	uint64_t fields = qos_unequal(&g->norm, &other->norm, g->norm.has & other->norm.has);
	const char *before = "";

	if (g == other || other->level != SURVEY_SPEED || !fields)
		return;
	fprintf(out, "# Differs on most ports of rail %u at %g Gb/s:", other->rail,
		other->port->speed_mbps / 1e3);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(fields & QOS_BIT(id)))
			continue;
		fprintf(out, "%s %s", before, qos_fields[id].key);
		before = ",";
	}
	putc('\n', out);
}

/* Prints the settings of the group of most ports. */
static int draft_print_profile(const struct survey *s, FILE *out, struct err *e)
{
	const struct survey_group *g = NULL;

	for (unsigned int i = 0; i < s->group_count; i++)
		if (s->group[i].level == SURVEY_SPEED &&
		    (!g || s->group[i].members.count > g->members.count))
			g = &s->group[i];
	fprintf(out,
		"# Draft by rocecheck survey: the settings that most of %u ports have (rail %u, %g "
		"Gb/s).\n# It states how the ports are set, not how they should be set.\n",
		g->members.count, g->rail, g->port->speed_mbps / 1e3);
	if (!qos_has(&g->norm, QOS_PFC_ENABLED))
		fputs("# intent is a guess: pfc.enabled could not be read, or no value leads.\n",
		      out);
	for (unsigned int i = 0; i < s->group_count; i++)
		draft_print_difference(g, &s->group[i], out);
	for (unsigned int i = 0; i < s->outlier_count; i++) {
		const struct survey_outlier *o = &s->outlier[i];

		if (&s->group[o->group] == g && o->tie && qos_field_find(o->item) >= 0)
			fprintf(out, "# %s: %s on %u of the ports; no value leads\n", o->item,
				o->value, o->members.count);
	}
	return show_yaml_profile(DRAFT_NAME, &g->norm, out, e);
}

int survey_draft_save(const char *path, const struct fabric *f, const struct survey *s,
		      struct err *e)
{
	static const char *const names[] = {"fabric.yaml", "profile.yaml"};
	struct draft d = {.host = NULL};
	struct folder folder = {.path = NULL};
	struct file file;
	int err = draft_make(f, s->r, &d);

	if (err)
		err_sys(e, err, "draft");
	else if (!d.count)
		err = err_set(e, -ENODATA, "%s: no draft: no host has a RoCE port", path);
	if (!err)
		err = folder_make(path, &folder, e);
	for (unsigned int i = 0; !err && i < ARRAY_SIZE(names); i++) {
		err = file_open_in(&folder, names[i], 0, &file, e);
		if (err)
			break;
		err = i ? draft_print_profile(s, file.stream, e)
			: draft_print_fabric(f, &d, file.stream, e);
		if (err)
			(void)file_close(&file, false, NULL); /* the first error is reported */
		else
			err = file_close(&file, true, e);
	}
	folder_close(&folder);
	draft_clear(&d);
	return err;
}
