/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a two-ended probe in which all is as it should be, made by hand.
 */
#ifndef TESTS_TWO_ENDED_SCENE_H
#define TESTS_TWO_ENDED_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/traffic/two_ended_verdict.h"
#include "tests/unit/soft_port.h"

#define S  UINT64_C(1000000000)
#define MB UINT64_C(1000000)

/* Pointers stay inside. */
struct scene {
	struct two_ended t;
	struct run_host host[SIDES];
	struct run_port run_port[SIDES];
	struct port port[SIDES];
	struct traffic_class_result result[SIDES][2];
	struct two_ended_verdict verdict;
};

static void put(struct observation *o, enum metric m, unsigned int prio, uint64_t growth)
{
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		o->reading[r].has[m] |= (uint8_t)(1u << prio);
		o->reading[r].value[m][prio] = 1000 + (r == READ_LOAD_AFTER ? growth : 0);
	}
}

static void make_seen(struct observation *o, const char *host, bool sends)
{
	static const enum metric quiet[] = {METRIC_OUT_OF_SEQUENCE, METRIC_SEQ_NAK_RX,
					    METRIC_RETRANSMITS,	    METRIC_DUPLICATE_REQUEST,
					    METRIC_RNR_NAK_RX,	    METRIC_RNR_NAK_TX,
					    METRIC_RETRY_EXCEEDED,  METRIC_SEND_ERRORS};

	memset(o, 0, sizeof(*o));
	snprintf(o->host, sizeof(o->host), "%s", host);
	snprintf(o->netdev, sizeof(o->netdev), "roce0");
	o->soft = true;
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		counters_clear(&o->reading[r]);
		o->reading[r].when_ns = r * 10 * S;
		o->has |= 1u << r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		put(o, quiet[i], 0, 0);
	put(o, METRIC_RDMA_TX_PACKETS, 0, sends ? 24416 : 3000);
	put(o, METRIC_RDMA_RX_PACKETS, 0, sends ? 3000 : 24416);
	put(o, METRIC_TX_BYTES, 0, sends ? 102 * MB : MB);
	put(o, METRIC_RX_BYTES, 0, sends ? MB : 102 * MB);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		put(o, METRIC_PRIO_RX_BYTES, prio, 0);
}

static void make_port(struct port *p)
{
	make_soft_port(p);
	snprintf(p->rdma_driver, sizeof(p->rdma_driver), "rxe");
	p->ib_port = 1;
	p->active_mtu = 4096;
	p->gid_count = 1;
	p->gid[0] = (struct gid){.index = 1, .type = GID_ROCE_V2};
	p->gid[0].raw[10] = p->gid[0].raw[11] = 0xff;
	p->gid[0].raw[12] = 10;
}

/* 100 MB in ten seconds from client to server, DSCP 26, all as it should be. */
static void make_scene(struct scene *s)
{
	struct two_ended *t = &s->t;

	memset(s, 0, sizeof(*s));
	t->run.host = s->host;
	t->run.host_count = SIDES;
	snprintf(t->run.id, sizeof(t->run.id), "20260101T000000Z-0001");
	t->chosen = t->ran = t->run.traffic = true;
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_class_result *r = &s->result[i][0];

		snprintf(s->host[i].name, sizeof(s->host[i].name), "%s", i ? "h2" : "h1");
		s->host[i].port = &s->run_port[i];
		s->host[i].port_count = 1;
		make_port(&s->port[i]);
		t->ends.port[i] = &s->port[i];
		t->ends.gid[i] = &s->port[i].gid[0];
		make_seen(&t->seen[i], s->host[i].name, i == SIDE_CLIENT);
		traffic_spec_simple(&t->spec[i], TRAFFIC_WRITE_IMM, 65536, 10000);
		t->spec[i].role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		t->spec[i].class[0].tos = 104;
		t->spec[i].ib_port = 1;
		snprintf(t->spec[i].ibdev, sizeof(t->spec[i].ibdev), "rxe0");
		intervals_begin(&r->goodput, S);
		for (unsigned int k = 0; k < 100; k++)
			intervals_add(&r->goodput, S + k * S / 10, MB);
		intervals_end(&r->goodput, 11 * S);
		*(i ? &r->arrived : &r->messages) = 1526;
		*(i ? &r->arrived_bytes : &r->bytes) = 100 * MB;
		t->report[i].class = s->result[i];
		t->report[i].class_count = 1;
		t->report[i].total = (struct traffic_result){
			.messages = 1526, .bytes = 100 * MB, .duration_ns = 10 * S, .mtu = 4096};
		t->has_report[i] = true;
	}
	put(&t->seen[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 3, 102 * MB);
}

#endif
