/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs read back: a run folder, or snapshots that were collected by hand, put in the order of an
 * inventory when there is one.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/record/run.h"
#include "profiles/base/json_file.h"

#define SNAPSHOTS_MAX 65536

/* Ports of a host without inventory: those that do RoCE, a rail each. */
static int run_add_ports(struct run_host *h)
{
	h->port = calloc(h->before.port_count + 1, sizeof(*h->port));
	if (!h->port)
		return -ENOMEM;
	for (unsigned int i = 0; i < h->before.port_count; i++) {
		const struct port *p = &h->before.port[i];
		struct run_port *out = &h->port[h->port_count];

		if (!p->netdev[0] || !port_is_roce(p))
			continue;
		snprintf(out->netdev, sizeof(out->netdev), "%s", p->netdev);
		out->rail = h->port_count++;
	}
	return 0;
}

/* names: of all hosts of the run, as keys. */
static int run_add_host(struct run *r, json_t *names, struct snapshot *s, struct err *e)
{
	struct run_host *h;

	if (r->host_count == SNAPSHOTS_MAX)
		return err_set(e, -E2BIG, "more than %d snapshots", SNAPSHOTS_MAX);
	h = list_grow(r->host, r->host_count, sizeof(*h));
	if (!h)
		return err_sys(e, -ENOMEM, "snapshots");
	r->host = h;
	h += r->host_count;
	memset(h, 0, sizeof(*h));
	h->before = *s;
	h->has_before = h->reached = true;
	memset(s, 0, sizeof(*s));
	r->host_count++;
	snprintf(h->name, sizeof(h->name), "%s", h->before.host);
	if (!run_host_name_ok(h->name))
		return err_set(e, -EINVAL, "'%s' cannot be the name of a host", h->name);
	snprintf(h->agent_version, sizeof(h->agent_version), "%s", h->before.version);
	if (json_object_get(names, h->name))
		return err_set(e, -EEXIST, "two snapshots of host '%s'", h->name);
	return json_object_set_new(names, h->name, json_true()) || run_add_ports(h)
		       ? err_sys(e, -ENOMEM, "ports")
		       : 0;
}

/* Whether a document is a snapshot, maybe of another version, which is not for us to leave out. */
static bool run_schema_is_snapshot(const char *schema)
{
	size_t stem = strcspn(SNAPSHOT_SCHEMA, "/") + 1;

	return !schema || !strncmp(schema, SNAPSHOT_SCHEMA, stem);
}

/* Other documents of ours may lie beside the snapshots; what is no JSON is an error. */
static int load_snapshot(struct run *r, json_t *names, const char *dir, const char *file,
			 struct err *e)
{
	struct snapshot s;
	char path[PATH_MAX];
	const char *schema;
	json_t *doc;
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", dir);
	err = json_file_load(path, SNAPSHOT_BYTES_MAX, &doc, e);
	if (err)
		return err;
	schema = json_string_value(json_object_get(doc, "schema"));
	if (!run_schema_is_snapshot(schema)) {
		json_decref(doc);
		return 0;
	}
	if (schema && strcmp(schema, SNAPSHOT_SCHEMA))
		err = err_set(e, -EINVAL, "'schema' is %.60s, must be " SNAPSHOT_SCHEMA, schema);
	else
		err = snapshot_from_json(doc, &s, e);
	json_decref(doc);
	if (!err) {
		err = run_add_host(r, names, &s, e);
		snapshot_clear(&s);
	}
	if (err)
		err_prefix(e, "%s", path);
	return err;
}

static int load_is_json(const struct dirent *d)
{
	size_t length = strlen(d->d_name);

	return d->d_name[0] != '.' && length > 5 && !strcmp(d->d_name + length - 5, ".json");
}

static int load_folder(struct run *r, json_t *names, const char *dir, struct err *e)
{
	struct dirent **list;
	int n = scandir(dir, &list, load_is_json, alphasort), err = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : err_sys(e, -errno, "%s", dir);
	for (int i = 0; i < n; i++) {
		if (!err)
			err = load_snapshot(r, names, dir, list[i]->d_name, e);
		free(list[i]);
	}
	free(list);
	return err;
}

static int load_snapshots(const char *dir, struct run *r, struct err *e)
{
	char sub[PATH_MAX];
	json_t *names;
	int err;

	if (access(dir, R_OK | X_OK))
		return err_sys(e, -errno, "%s", dir);
	names = json_object();
	err = names ? load_folder(r, names, dir, e) : err_sys(e, -ENOMEM, "snapshots");
	if (!err && snprintf(sub, sizeof(sub), "%s/snapshots", dir) < (int)sizeof(sub))
		err = load_folder(r, names, sub, e);
	json_decref(names);
	if (!err && !r->host_count) {
		err_set(e, -ENOENT, "%s: no snapshot there", dir);
		err_hint(e, "'rocecheck collect --out %s/HOST.json' on each host makes them", dir);
		return -ENOENT;
	}
	return err;
}

static int load_run_json(const char *path, const char *dir, struct run *r, struct err *e)
{
	json_t *doc;
	int err = json_file_load(path, RUN_BYTES_MAX, &doc, e);

	if (err)
		return err;
	err = run_from_head(doc, dir, r, e);
	json_decref(doc);
	if (err)
		err_prefix(e, "%s", path);
	return err;
}

/* Moves what `from` knows of a host into the host of the inventory. */
static void run_move_host(struct run_host *to, struct run_host *from)
{
	to->reached = from->reached;
	memcpy(to->error, from->error, sizeof(to->error));
	memcpy(to->agent_version, from->agent_version, sizeof(to->agent_version));
	to->before = from->before;
	to->has_before = from->has_before;
	to->after = from->after;
	to->has_after = from->has_after;
	from->has_before = from->has_after = false;
	for (unsigned int i = 0; i < to->port_count; i++) {
		for (unsigned int k = 0; k < from->port_count; k++) {
			unsigned int rail = to->port[i].rail;

			if (strcmp(to->port[i].netdev, from->port[k].netdev))
				continue;
			to->port[i] = from->port[k];
			to->port[i].rail = rail;
			from->port[k].has_capture = false; /* its flows have one owner */
			break;
		}
	}
}

/* Replaces the place of a port in `from` by its place in the aligned run; false without one. */
static bool run_move_end(const struct run_index *index, const struct run *from, unsigned int *host,
			 unsigned int *port)
{
	const struct run_host *h = &from->host[*host];

	return !run_index_find(index, h->name, h->port[*port].netdev, host, port);
}

/* Pairs and marking tests whose ends are in the inventory, with the indices of the aligned run. */
static int run_move_traffic(struct run *to, struct run *from)
{
	struct run_index index;

	if (run_index_make(to, &index))
		return -ENOMEM;
	for (unsigned int i = 0; i < from->pair_count; i++) {
		struct run_pair p = from->pair[i];

		if (run_move_end(&index, from, &p.client_host, &p.client_port) &&
		    run_move_end(&index, from, &p.server_host, &p.server_port))
			from->pair[to->pair_count++] = p;
		else
			run_pair_clear(&p);
	}
	for (unsigned int i = 0; i < from->marking_count; i++) {
		struct run_marking m = from->marking[i];

		if (run_move_end(&index, from, &m.client_host, &m.client_port) &&
		    run_move_end(&index, from, &m.server_host, &m.server_port))
			from->marking[to->marking_count++] = m;
		else
			free(m.finding);
	}
	to->pair = from->pair;
	to->marking = from->marking;
	from->pair = NULL;
	from->marking = NULL;
	from->pair_count = from->marking_count = 0;
	run_index_clear(&index);
	return 0;
}

/* Hosts that the inventory does not name are left out, but not without a word. */
static void run_count_unlisted(const struct run *r, const struct fabric *f, struct run *to)
{
	for (unsigned int i = 0; i < r->host_count; i++) {
		if (fabric_find_host(f, r->host[i].name) >= 0)
			continue;
		if (!to->unlisted_count++)
			snprintf(to->unlisted, sizeof(to->unlisted), "%s", r->host[i].name);
	}
}

/* The run in the order of the inventory. Consumes *r. */
static int run_align(struct run *r, const struct fabric *f, const char *dir)
{
	struct run made;

	if (run_init(&made, f))
		return -ENOMEM;
	memcpy(made.id, r->id, sizeof(made.id));
	made.started_unix_ns = r->started_unix_ns;
	made.ended_unix_ns = r->ended_unix_ns;
	made.traffic = r->traffic;
	made.has_job = r->has_job;
	made.job = r->job;
	made.level = r->level;
	made.maintenance = r->maintenance;
	made.stages = r->stages;
	if (r->traffic)
		made.load_percent = r->load_percent;
	run_count_unlisted(r, f, &made);
	if (run_move_traffic(&made, r)) {
		run_clear(&made);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < made.host_count; i++) {
		struct run_host *to = &made.host[i];
		bool found = false;

		for (unsigned int k = 0; k < r->host_count && !found; k++) {
			found = !strcmp(r->host[k].name, to->name);
			if (found)
				run_move_host(to, &r->host[k]);
		}
		if (!found)
			snprintf(to->error, sizeof(to->error), "nothing of this host in %.200s",
				 dir);
	}
	run_clear(r);
	*r = made;
	return 0;
}

int run_load(const char *dir, const struct fabric *f, struct run *r, struct err *e)
{
	static const struct fabric none;
	struct run made;
	struct stat st;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/run.json", dir) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", dir);
	if (stat(dir, &st))
		return err_sys(e, -errno, "%s", dir);
	if (!S_ISDIR(st.st_mode)) {
		err_set(e, -ENOTDIR, "%s: no folder", dir);
		err_hint(e, "name the run folder, or the one that holds the snapshots");
		return -ENOTDIR;
	}
	err = run_init(&made, &none);
	if (err)
		return err_sys(e, err, "run");
	if (!access(path, F_OK)) {
		run_clear(&made);
		err = load_run_json(path, dir, &made, e);
	} else {
		made.ended_unix_ns = made.started_unix_ns;
		err = load_snapshots(dir, &made, e);
	}
	if (!err && f && run_align(&made, f, dir))
		err = err_sys(e, -ENOMEM, "run");
	if (err) {
		run_clear(&made);
		return err;
	}
	*r = made;
	return 0;
}

static int run_copy_ports(const struct run_host *from, struct fabric_host *to)
{
	to->port = calloc(from->port_count ? from->port_count : 1, sizeof(*to->port));
	if (!to->port)
		return -ENOMEM;
	for (unsigned int i = 0; i < from->port_count; i++) {
		snprintf(to->port[i].interface, sizeof(to->port[i].interface), "%s",
			 from->port[i].netdev);
		to->port[i].rail = from->port[i].rail;
	}
	to->port_count = from->port_count;
	return 0;
}

int run_make_fabric(const struct run *r, const struct profile *profile, struct fabric *f)
{
	struct fabric made = {
		.profile = *profile,
		.level = r->level,
		.maintenance = r->maintenance,
		.load_percent = r->load_percent,
		.message_bytes = 65536,
		.min_load_percent = 80,
		.foreign_percent = 1,
	};
	int err = 0;

	snprintf(made.name, sizeof(made.name), "%s",
		 r->fabric_name[0] ? r->fabric_name : "snapshots");
	made.host = calloc(r->host_count ? r->host_count : 1, sizeof(*made.host));
	if (!made.host)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->host_count && !err; i++) {
		made.host_count++;
		snprintf(made.host[i].name, sizeof(made.host[i].name), "%s", r->host[i].name);
		err = run_copy_ports(&r->host[i], &made.host[i]);
	}
	if (err) {
		fabric_clear(&made);
		return err;
	}
	*f = made;
	return 0;
}
