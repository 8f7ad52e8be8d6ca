/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of reading a snapshot into its struct, against jansson parsing the same text: a host with
 * eight ports, a full profile and every counter. Both are played in turn, and the medians of their
 * processor time are compared. One line: NAME VALUE UNIT TARGET ok|short; exit 1 when it is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/host/snapshot.h"
#include "profiles/profile.h"

#define ROUNDS	201
#define PORTS	8
#define GIDS	16
#define PROFILE "tests/bench/apply.yaml"
#define MOST	2.0

static void die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void fill_port(struct port *p, const struct qos *qos, unsigned int number)
{
	snprintf(p->netdev, sizeof(p->netdev), "ens%uf0np0", number);
	snprintf(p->ibdev, sizeof(p->ibdev), "mlx5_%u", number);
	snprintf(p->driver, sizeof(p->driver), "mlx5_core");
	snprintf(p->firmware, sizeof(p->firmware), "28.39.1002 (MT_0000000834)");
	snprintf(p->bus, sizeof(p->bus), "0000:%02x:00.0", number);
	snprintf(p->mac, sizeof(p->mac), "b8:ce:f6:00:00:%02x", number);
	snprintf(p->address[0], sizeof(p->address[0]), "198.18.%u.1", number);
	snprintf(p->lldp_name, sizeof(p->lldp_name), "leaf%u", number);
	p->address_count = 1;
	p->ib_port = 1;
	p->up = p->ib_active = p->dcb = true;
	p->speed_mbps = 400000;
	p->active_mtu = p->max_mtu = 4096;
	for (p->gid_count = 0; p->gid_count < GIDS; p->gid_count++) {
		struct gid *g = &p->gid[p->gid_count];

		g->index = p->gid_count;
		g->type = p->gid_count % 2 ? GID_ROCE_V2 : GID_ROCE_V1;
		memset(g->raw, p->gid_count, sizeof(g->raw));
	}
	p->qos = p->lldp_qos = *qos;
	counters_clear(&p->counters);
	p->counters.when_ns = 1;
	for (unsigned int m = 0; m < METRIC_COUNT; m++) {
		p->counters.has[m] = metric_table[m].by_prio ? 0xff : 1;
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			p->counters.value[m][prio] = UINT64_C(1234567890) * m + prio;
	}
}

static char *make_text(void)
{
	struct snapshot s = {.host = "gpu001", .kernel = "6.8.0-45-generic", .read_unix_ns = 1};
	static struct port ports[PORTS];
	struct profile profile;
	struct err e = {0};
	struct diags d;
	json_t *doc;
	char *text;

	diags_init(&d);
	if (profile_load(PROFILE, &profile, &d, &e))
		die(PROFILE);
	diags_clear(&d);
	s.port = ports;
	for (s.port_count = 0; s.port_count < PORTS; s.port_count++)
		fill_port(&ports[s.port_count], &profile.qos, s.port_count);
	doc = snapshot_to_json(&s);
	text = doc ? json_dumps(doc, JSON_INDENT(2)) : NULL;
	json_decref(doc);
	if (!text)
		die("the document");
	return text;
}

/* Processor time in ns of reading it once, without (false) or with (true) the struct. */
static double read_once(const char *text, bool whole)
{
	struct timespec begin, end;
	struct err e = {0};
	struct snapshot s;
	json_t *doc;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (!doc)
		die("jansson");
	if (whole) {
		if (snapshot_from_json(doc, &s, &e) || s.port_count != PORTS)
			die(e.text);
		snapshot_clear(&s);
	}
	json_decref(doc);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	static double alone[ROUNDS], whole[ROUNDS];
	char *text = make_text();
	double ratio;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		alone[i] = read_once(text, false);
		whole[i] = read_once(text, true);
	}
	qsort(alone, ROUNDS, sizeof(alone[0]), by_value);
	qsort(whole, ROUNDS, sizeof(whole[0]), by_value);
	ratio = whole[ROUNDS / 2] / alone[ROUNDS / 2];
	fprintf(stderr, "read.snapshot: %zu bytes, jansson alone %.0f us\n", strlen(text),
		alone[ROUNDS / 2] / 1e3);
	printf("read.snapshot_vs_jansson %.2f x <=%.1f %s\n", ratio, MOST,
	       ratio <= MOST ? "ok" : "short");
	free(text);
	return ratio > MOST;
}
