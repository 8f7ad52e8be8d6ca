/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two hosts, h1 and h2, with one Soft-RoCE port roce0 each, as literals: settings as the profile
 * wants, traffic both ways, counters and captures without a fault. Tests change what they are
 * about.
 */
#ifndef TESTS_UNIT_FABRIC_RUN_H
#define TESTS_UNIT_FABRIC_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/rules.h"

struct fabric_run {
	struct fabric fabric;
	struct fabric_host fabric_host[2];
	struct fabric_port fabric_port[2];
	struct run run;
	struct run_host host[2];
	struct run_port port[2];
	struct port before[2], after[2];
	struct run_pair pair[2];
	struct run_tcp tcp[2]; /* for tests that have some */
	struct flow flow[2][2]; /* [captured at][sent by] */
};

static inline struct qos good_qos(void)
{
	struct qos q = {
		.has = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_PRIO_TC) |
		       QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW) | QOS_BIT(QOS_PFC_ENABLED) |
		       QOS_BIT(QOS_PAUSE_RX) | QOS_BIT(QOS_PAUSE_TX) | QOS_BIT(QOS_MTU) |
		       QOS_BIT(QOS_IB_MTU) | QOS_BIT(QOS_ROCE_VERSION) | QOS_BIT(QOS_CM_TOS),
		.trust = QOS_TRUST_DSCP,
		.prio_tc = {0, 0, 0, 3, 0, 0, 6, 0},
		.tc_tsa = {[0] = QOS_TSA_ETS, [3] = QOS_TSA_ETS, [6] = QOS_TSA_STRICT},
		.tc_tx_bw = {[0] = 50, [3] = 50},
		.pfc_enabled = 1 << 3,
		.mtu = 4200,
		.ib_mtu = 4096,
		.roce_version = 2,
		.cm_tos = 106,
	};

	memset(q.dscp_prio, QOS_UNMAPPED, sizeof(q.dscp_prio));
	q.dscp_prio[26] = 3;
	q.dscp_prio[48] = 6;
	return q;
}

static inline void address_of(unsigned int host, uint8_t raw[16])
{
	memset(raw, 0, 16);
	raw[10] = raw[11] = 0xff;
	raw[12] = 198;
	raw[13] = 18;
	raw[15] = (uint8_t)(host + 1);
}

static inline void good_port(unsigned int host, struct port *p)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	snprintf(p->ibdev, sizeof(p->ibdev), "rxe0");
	snprintf(p->driver, sizeof(p->driver), "netdriver");
	snprintf(p->rdma_driver, sizeof(p->rdma_driver), "rxe");
	snprintf(p->mac, sizeof(p->mac), "02:00:00:00:00:%02x", host + 1);
	snprintf(p->address[0], sizeof(p->address[0]), "198.18.0.%u", host + 1);
	p->address_count = 1;
	p->ib_port = 1;
	p->kind = PORT_SOFT_ROCE;
	p->up = p->ib_active = p->dcb = true;
	p->speed_mbps = 10000;
	p->active_mtu = p->max_mtu = 4096;
	p->qos = good_qos();
	p->gid[0].index = 1;
	p->gid[0].type = GID_ROCE_V2;
	address_of(host, p->gid[0].raw);
	p->gid_count = 1;
}

static inline void count(struct counters *c, enum metric m, unsigned int prio, uint64_t value)
{
	c->has[m] |= (uint8_t)(1 << prio);
	c->value[m][prio] = value;
}

/* Readings in which every counter is there and nothing bad happened. */
static inline void good_readings(struct run_port *p)
{
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		struct counters *c = &p->reading[r];

		c->when_ns = 1000000000ull * (r + 1);
		for (unsigned int m = 0; m < METRIC_COUNT; m++) {
			c->def[m] = COUNTER_NONE;
			for (unsigned int prio = 0; prio < (metric_table[m].by_prio ? 8 : 1);
			     prio++)
				count(c, m, prio, 100);
		}
		p->has |= 1u << r;
	}
	p->reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][3] += 16000000;
	p->reading[READ_LOAD_AFTER].value[METRIC_RX_BYTES][0] += 16000000;
	p->reading[READ_LOAD_AFTER].value[METRIC_TX_BYTES][0] += 16000000;
}

static inline struct flow good_flow(unsigned int from)
{
	struct flow f = {.dest_qpn = 17 + from,
			 .packets = 4000,
			 .requests = 4000,
			 .icrc_good = 4000,
			 .max_payload = 4096};

	address_of(from, f.src);
	address_of(!from, f.dst);
	f.dscp[26] = 4000;
	f.ecn[2] = 4000;
	return f;
}

static inline struct run_pair good_pair(unsigned int from)
{
	struct run_pair p = {.client_host = from,
			     .server_host = !from,
			     .client_tos = 106,
			     .server_tos = 106,
			     .ran = true,
			     .asked_bytes_per_s = 5000000};

	p.client.messages = p.server.messages = 244;
	p.client.bytes = p.server.bytes = p.server.checked_bytes = 15990784;
	p.client.duration_ns = p.server.duration_ns = 3000000000ull;
	p.client.mtu = p.server.mtu = 4096;
	return p;
}

static inline void good_host(struct fabric_run *f, unsigned int i)
{
	struct run_host *h = &f->host[i];
	struct run_port *p = &f->port[i];

	snprintf(f->fabric_host[i].name, sizeof(f->fabric_host[i].name), "h%u", i + 1);
	snprintf(f->fabric_port[i].interface, sizeof(f->fabric_port[i].interface), "roce0");
	f->fabric_host[i].port = &f->fabric_port[i];
	f->fabric_host[i].port_count = 1;
	good_port(i, &f->before[i]);
	f->after[i] = f->before[i];
	snprintf(h->name, sizeof(h->name), "h%u", i + 1);
	snprintf(h->agent_version, sizeof(h->agent_version), "0.1.0");
	h->reached = h->has_before = h->has_after = true;
	h->before.port = &f->before[i];
	h->after.port = &f->after[i];
	h->before.port_count = h->after.port_count = h->port_count = 1;
	h->port = p;
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	good_readings(p);
	for (unsigned int from = 0; from < 2; from++)
		f->flow[i][from] = good_flow(from);
	p->has_capture = true;
	p->capture.drops = DROPS_ZERO;
	p->capture.totals.frames = p->capture.totals.roce = 8000;
	p->capture.flow = f->flow[i];
	p->capture.flow_count = 2;
	f->pair[i] = good_pair(i);
}

static inline void good_profile(struct profile *p)
{
	snprintf(p->name, sizeof(p->name), "lab");
	snprintf(p->path, sizeof(p->path), "profiles/lab.yaml");
	p->intent = INTENT_LOSSLESS;
	p->qos = good_qos();
	for (unsigned int id = 0; id < QOS_FIELD_COUNT; id++)
		p->line[id] = qos_has(&p->qos, id) ? (int)id + 10 : 0;
}

/* Fills *f; pointers stay inside it. */
static inline void good_run(struct fabric_run *f)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->fabric.name, sizeof(f->fabric.name), "pair");
	good_profile(&f->fabric.profile);
	f->fabric.host = f->fabric_host;
	f->fabric.host_count = 2;
	f->fabric.message_bytes = 65536;
	f->fabric.min_load_percent = 80;
	f->fabric.foreign_percent = 1;
	snprintf(f->run.id, sizeof(f->run.id), "20261120-120000-0a1b");
	f->run.traffic = true;
	f->run.load_percent = 5;
	f->run.host = f->host;
	f->run.host_count = 2;
	f->run.pair = f->pair;
	f->run.pair_count = 2;
	for (unsigned int i = 0; i < 2; i++)
		good_host(f, i);
}

/* A counter's growth during the load. */
static inline void grow(struct fabric_run *f, unsigned int host, enum metric m, unsigned int prio,
			uint64_t by)
{
	f->port[host].reading[READ_LOAD_AFTER].value[m][prio] += by;
}

static inline void lose_metric(struct fabric_run *f, enum metric m)
{
	for (unsigned int host = 0; host < 2; host++)
		for (unsigned int r = 0; r < READ_COUNT; r++)
			f->port[host].reading[r].has[m] = 0;
}

static inline const struct finding *finding_of(const struct findings *all, const char *rule,
					       const char *host)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].rule->id, rule) && !strcmp(all->list[i].host, host))
			return &all->list[i];
	return NULL;
}

#endif
