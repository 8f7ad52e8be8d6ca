/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host as benches read it: eight ports set as the profile wants, with every counter, GIDs and a
 * link partner with the same settings.
 */
#ifndef TESTS_BENCH_FULL_HOST_H
#define TESTS_BENCH_FULL_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/host/snapshot.h"
#include "profiles/profile.h"

#define PORTS	8
#define GIDS	16
#define PROFILE "tests/bench/apply.yaml"

static void die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void load_profile(struct profile *profile)
{
	struct err e = {0};
	struct diags d;

	diags_init(&d);
	if (profile_load(PROFILE, profile, &d, &e))
		die(PROFILE);
	diags_clear(&d);
}

static void fill_port(struct port *p, const struct qos *qos, unsigned int host, unsigned int number)
{
	snprintf(p->netdev, sizeof(p->netdev), "ens%uf0np0", number);
	snprintf(p->ibdev, sizeof(p->ibdev), "mlx5_%u", number);
	snprintf(p->driver, sizeof(p->driver), "mlx5_core");
	snprintf(p->firmware, sizeof(p->firmware), "28.39.1002 (MT_0000000834)");
	snprintf(p->bus, sizeof(p->bus), "0000:%02x:00.0", number);
	snprintf(p->mac, sizeof(p->mac), "b8:ce:%02x:%02x:00:%02x", (uint8_t)(host >> 8),
		 (uint8_t)host, (uint8_t)number);
	snprintf(p->address[0], sizeof(p->address[0]), "10.%u.%u.%u", number, host >> 8,
		 host & 0xff);
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
		g->raw[12] = 10;
		g->raw[13] = (uint8_t)number;
		g->raw[14] = (uint8_t)(host >> 8);
		g->raw[15] = (uint8_t)host;
	}
	p->qos = p->lldp_qos = *qos;
	counters_clear(&p->counters);
	p->counters.when_ns = 1;
	for (unsigned int i = counter_def_count; i-- > 0;)
		p->counters.def[counter_defs[i].metric] = (uint16_t)i;
	for (unsigned int m = 0; m < METRIC_COUNT; m++) {
		p->counters.has[m] = metric_table[m].by_prio ? 0xff : 1;
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			p->counters.value[m][prio] = UINT64_C(1234567890) * m + prio;
	}
}

/* Fills a snapshot with PORTS ports, which are the caller's. */
static void fill_host(struct snapshot *s, const struct qos *qos, struct port *ports,
		      unsigned int number)
{
	memset(s, 0, sizeof(*s));
	memset(ports, 0, PORTS * sizeof(*ports));
	snprintf(s->host, sizeof(s->host), "gpu%04u", number);
	snprintf(s->kernel, sizeof(s->kernel), "6.8.0-45-generic");
	s->read_unix_ns = 1;
	s->port = ports;
	for (s->port_count = 0; s->port_count < PORTS; s->port_count++)
		fill_port(&ports[s->port_count], qos, number, s->port_count);
}

#endif
