/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates, frees and saves struct run.
 */
#include "probe/record/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "profiles/base/file.h"
#include "profiles/base/json_file.h"

static void run_make_id(struct run *r)
{
	uint16_t salt = 0;
	struct tm utc;
	size_t used;
	time_t now;

	r->started_unix_ns = unix_ns();
	now = r->started_unix_ns / 1000000000;
	gmtime_r(&now, &utc);
	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		salt = (uint16_t)r->started_unix_ns;
	used = strftime(r->id, sizeof(r->id), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(r->id + used, sizeof(r->id) - used, "-%04x", salt);
}

static int run_init_host(struct run_host *h, const struct fabric_host *f)
{
	snprintf(h->name, sizeof(h->name), "%s", f->name);
	h->port = calloc(f->port_count ? f->port_count : 1, sizeof(*h->port));
	if (!h->port)
		return -ENOMEM;
	h->port_count = f->port_count;
	for (unsigned int i = 0; i < f->port_count; i++) {
		snprintf(h->port[i].netdev, sizeof(h->port[i].netdev), "%s", f->port[i].interface);
		h->port[i].rail = f->port[i].rail;
	}
	return 0;
}

int run_init(struct run *r, const struct fabric *f)
{
	struct run made = {
		.load_percent = f->load_percent,
		.level = f->level,
		.maintenance = f->maintenance,
	};
	int err = 0;

	run_make_id(&made);
	snprintf(made.fabric_name, sizeof(made.fabric_name), "%s", f->name);
	snprintf(made.fabric_path, sizeof(made.fabric_path), "%s", f->path);
	made.host = calloc(f->host_count ? f->host_count : 1, sizeof(*made.host));
	if (!made.host)
		return -ENOMEM;
	made.host_count = f->host_count;
	for (unsigned int i = 0; i < f->host_count && !err; i++)
		err = run_init_host(&made.host[i], &f->host[i]);
	if (err) {
		run_clear(&made);
		return err;
	}
	*r = made;
	return 0;
}

void run_seconds_text(double seconds, char *buf, size_t size)
{
	if (seconds < 180)
		snprintf(buf, size, "%.0f s", seconds);
	else if (seconds < 10800)
		snprintf(buf, size, "%.0f min", seconds / 60);
	else
		snprintf(buf, size, "%.1f h", seconds / 3600);
}

bool run_host_name_ok(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	static const char others[] = "0123456789._-";

	if (!*name || *name == '.' || *name == '-')
		return false;
	for (const char *p = name; *p; p++) {
		if (!strchr(letters, *p) && !strchr(others, *p))
			return false;
	}
	return true;
}

static void run_host_clear(struct run_host *h)
{
	if (h->has_before)
		snapshot_clear(&h->before);
	if (h->has_after)
		snapshot_clear(&h->after);
	for (unsigned int i = 0; i < h->port_count; i++) {
		if (h->port[i].has_capture)
			capture_summary_clear(&h->port[i].capture);
	}
	free(h->port);
	memset(h, 0, sizeof(*h));
}

const char *run_side_word(enum run_side side)
{
	return side == SIDE_CLIENT ? "client" : "server";
}

const struct traffic_result *run_pair_arrived(const struct run_pair *p)
{
	return p->verb == TRAFFIC_READ ? &p->client : &p->server;
}

const char *run_pair_error(const struct run_pair *p)
{
	const struct traffic_result *end[] = {&p->client, &p->server};

	if (!p->ran)
		return p->error[0] ? p->error : "did not run";
	for (unsigned int i = 0; i < ARRAY_SIZE(end); i++)
		if (end[i]->cause != CAUSE_NONE)
			return end[i]->detail[0] ? end[i]->detail
						 : traffic_cause_word(end[i]->cause);
	return NULL;
}

void run_pair_clear(struct run_pair *p)
{
	for (unsigned int i = 0; p->ends && i < SIDES; i++) {
		traffic_report_clear(&p->ends->side[i].report);
		free(p->ends->side[i].port);
	}
	free(p->ends);
	free(p->tcp);
	p->ends = NULL;
	p->tcp = NULL;
	p->tcp_count = 0;
}

int run_marking_fill(struct run_marking *m, const struct marking_endpoints *ends, struct err *e)
{
	struct marking_findings found = {0};
	struct marking_finding *list;
	int err = marking_findings_make(ends, &found, e);

	if (err)
		return err;
	list = calloc(found.count + 1, sizeof(*list));
	if (!list)
		return err_sys(e, -ENOMEM, "marking test");
	memcpy(list, found.finding, found.count * sizeof(*list));
	m->finding = list;
	m->finding_count = found.count;
	m->ran = ends->result[SIDE_CLIENT] && ends->result[SIDE_SERVER];
	m->arrived[SIDE_SERVER] = marking_arrived(ends, MARKING_FORWARD);
	m->arrived[SIDE_CLIENT] = marking_arrived(ends, MARKING_REVERSE);
	return 0;
}

void run_clear(struct run *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < r->pair_count; i++)
		run_pair_clear(&r->pair[i]);
	for (unsigned int i = 0; i < r->marking_count; i++)
		free(r->marking[i].finding);
	for (unsigned int i = 0; i < r->host_count; i++)
		run_host_clear(&r->host[i]);
	free(r->host);
	free(r->pair);
	free(r->marking);
	memset(r, 0, sizeof(*r));
}

static int run_save_snapshots(const struct run *r, const struct folder *folder, struct err *e)
{
	char name[FABRIC_NAME_MAX + sizeof(".json")];
	struct folder snapshots;
	int err = folder_below(folder, "snapshots", &snapshots, e);

	if (err)
		return err;
	for (unsigned int i = 0; i < r->host_count && !err; i++) {
		const struct run_host *h = &r->host[i];

		if (!h->has_before)
			continue;
		snprintf(name, sizeof(name), "%s.json", h->name);
		err = json_file_save_in(snapshot_to_json(&h->before), &snapshots, name, e);
	}
	folder_close(&snapshots);
	return err;
}

int run_save(const struct run *r, const struct folder *folder, struct err *e)
{
	int err = run_save_snapshots(r, folder, e);

	return err ? err : run_save_record(r, folder, e);
}

static int run_index_compare(const struct run_index_port *a, const struct run_index_port *b)
{
	int order = strcmp(a->host, b->host);

	return order ? order : strcmp(a->netdev, b->netdev);
}

/* Equal names keep the order of the run. */
static int run_index_order(const void *left, const void *right)
{
	const struct run_index_port *a = left, *b = right;
	int order = run_index_compare(a, b);

	if (!order && a->host_at != b->host_at)
		order = a->host_at < b->host_at ? -1 : 1;
	if (!order && a->port_at != b->port_at)
		order = a->port_at < b->port_at ? -1 : 1;
	return order;
}

int run_index_make(const struct run *r, struct run_index *index)
{
	size_t count = 0;

	for (unsigned int h = 0; h < r->host_count; h++)
		count += r->host[h].port_count;
	index->port = calloc(count ? count : 1, sizeof(*index->port));
	index->count = 0;
	if (!index->port)
		return -ENOMEM;
	for (unsigned int h = 0; h < r->host_count; h++)
		for (unsigned int p = 0; p < r->host[h].port_count; p++)
			index->port[index->count++] = (struct run_index_port){
				.host = r->host[h].name,
				.netdev = r->host[h].port[p].netdev,
				.host_at = h,
				.port_at = p,
			};
	qsort(index->port, index->count, sizeof(*index->port), run_index_order);
	return 0;
}

void run_index_clear(struct run_index *index)
{
	if (!index)
		return;
	free(index->port);
	*index = (struct run_index){.port = NULL};
}

int run_index_find(const struct run_index *index, const char *host, const char *netdev,
		   unsigned int *host_at, unsigned int *port_at)
{
	const struct run_index_port wanted = {.host = host, .netdev = netdev};
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run_index_compare(&index->port[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->count || run_index_compare(&index->port[low], &wanted))
		return -ENOENT;
	*host_at = index->port[low].host_at;
	*port_at = index->port[low].port_at;
	return 0;
}
