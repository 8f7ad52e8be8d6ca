/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends to whom, how it looks on the wire, and with which PSNs it begins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/run.h"

#define BEGIN_NS   UINT64_C(1700000000000000000)
#define HOSTS	   60
#define QPN_FACTOR 0x9e3779b1U /* odd: every index has a QPN of its own */

static void set_host(uint8_t gid[16], unsigned int host, bool ipv6)
{
	memset(gid, 0, 16);
	if (ipv6) {
		memcpy(gid, "\x20\x01\x0d\xb8", 4);
	} else {
		memcpy(gid + 10, "\xff\xff\xc6\x12", 4);
	}
	gid[15] = (uint8_t)(host + 1);
}

/* Between two hosts all traffic looks the same on the wire, whatever connection it is of. */
static void set_net(const struct run *r, unsigned int a, unsigned int b, struct gen_path *path)
{
	static const struct {
		uint8_t net, tunnel;
	} nets[] = {
		{GEN_IPV4, GEN_PLAIN},	 {GEN_IPV6, GEN_PLAIN},	  {GEN_V1, GEN_PLAIN},
		{GEN_V1, GEN_PLAIN},	 {GEN_IPV4, GEN_GRE},	  {GEN_IPV4, GEN_ERSPAN1},
		{GEN_IPV6, GEN_ERSPAN2}, {GEN_IPV4, GEN_ERSPAN3}, {GEN_V1, GEN_ERSPAN2},
		{GEN_IPV4, GEN_VXLAN},
	};
	struct gen_rng rng = {r->o->seed ^ (a < b ? a * 256 + b : b * 256 + a)};
	uint32_t kind = gen_below(&rng, 20);

	path->net = kind < 2 ? GEN_IPV6 : GEN_IPV4;
	path->vlans = kind & 1;
	if (!(r->o->mix & CAPGEN_NETS))
		return;
	kind = gen_below(&rng, sizeof(nets) / sizeof(nets[0]));
	path->net = nets[kind].net;
	path->tunnel = nets[kind].tunnel;
	path->vlans = (uint8_t)gen_below(&rng, 3);
}

static uint8_t choose_transport(struct run *r)
{
	static const uint8_t classes[] = {GEN_RC, GEN_UC, GEN_UD, GEN_XRC};
	uint32_t set = r->o->mix & (CAPGEN_RC | CAPGEN_UC | CAPGEN_UD | CAPGEN_XRC), i;

	if (!set)
		return GEN_RC;
	do
		i = gen_below(&r->rng, 4);
	while (!(set >> i & 1));
	return classes[i];
}

/* The flow from src to dst to QP 1, a new one when there is none. */
static uint32_t manager_flow(struct run *r, const struct gen_path *path)
{
	struct capgen_truth *t = r->truth;
	uint32_t i = t->streams;

	while (i < t->flow_count &&
	       (memcmp(t->flow[i].src, path->src, 16) || memcmp(t->flow[i].dst, path->dst, 16)))
		i++;
	if (i < t->flow_count)
		return i;
	memcpy(t->flow[i].src, path->src, 16);
	memcpy(t->flow[i].dst, path->dst, 16);
	t->flow[i].qpn = 1;
	t->flow[i].transport = GEN_UD;
	return t->flow_count++;
}

/* The two ways of connection c. */
static void set_paths(struct run *r, uint32_t c)
{
	unsigned int a = gen_below(&r->rng, HOSTS),
		     b = (a + 1 + gen_below(&r->rng, HOSTS - 1)) % HOSTS;
	struct gen_path *there = &r->path[2 * c], *back = there + 1;

	*there = (struct gen_path){
		.qpn = (2 * c + 1) * QPN_FACTOR & 0xffffff,
		.sport = (uint16_t)(0xc000 | gen_below(&r->rng, 0x4000)),
		.transport = choose_transport(r),
	};
	set_net(r, a, b, there);
	set_host(there->src, a, there->net != GEN_IPV4);
	set_host(there->dst, b, there->net != GEN_IPV4);
	*back = *there;
	back->qpn = (2 * c + 2) * QPN_FACTOR & 0xffffff;
	memcpy(back->src, there->dst, 16);
	memcpy(back->dst, there->src, 16);
	for (unsigned int i = 0; i < 2; i++) {
		struct capgen_flow *f = &r->truth->flow[2 * c + i];

		memcpy(f->src, there[i].src, 16);
		memcpy(f->dst, there[i].dst, 16);
		f->qpn = there[i].qpn;
		f->transport = there[i].transport;
		if (f->transport != GEN_UD && (f->transport != GEN_UC || r->o->mix & CAPGEN_CM))
			f->peer_qpn = there[!i].qpn;
		if (r->o->mix & CAPGEN_CM)
			r->link[c].manager[i] = manager_flow(r, &there[i]);
	}
	r->link[c].down = r->o->mix & CAPGEN_CM;
}

static void set_stream(struct run *r, uint32_t i)
{
	struct gen_stream *s = &r->stream[i];
	uint64_t psn = r->o->wrap ? PSN_ROUND - 1 - gen_below(&r->rng, 64)
				  : gen_below(&r->rng, (uint32_t)PSN_ROUND);

	/* A round above zero: what is before the first PSN is below it here too. */
	s->psn = s->seen_psn = psn + PSN_ROUND;
	s->va = gen_random(&r->rng) >> 16;
	s->begin_ns = s->due_ns = BEGIN_NS +
				  gen_below(&r->rng, PAUSE_NS) * (uint64_t)r->o->requesters;
	s->pmtu = r->o->pmtu;
	if (!s->pmtu)
		s->pmtu = i & 1 ? r->stream[i - 1].pmtu : 256U << gen_below(&r->rng, 5);
	s->transport = r->path[i].transport;
	s->fresh = s->transport != GEN_UD;
	r->heap[i] = i;
}

int run_set_up(struct run *r)
{
	uint32_t n = r->o->requesters, flows = (n + 1) & ~1U;

	r->truth->flow = calloc(r->o->mix & CAPGEN_CM ? 2 * flows : flows, sizeof(*r->truth->flow));
	r->stream = calloc(n, sizeof(*r->stream));
	r->path = calloc(flows, sizeof(*r->path));
	r->heap = calloc(n, sizeof(*r->heap));
	r->link = calloc(flows / 2, sizeof(*r->link));
	r->held = calloc(2 * (size_t)flows, sizeof(*r->held));
	if (!r->truth->flow || !r->stream || !r->path || !r->heap || !r->link || !r->held)
		return -ENOMEM;
	r->truth->flow_count = r->truth->streams = flows;
	for (uint32_t c = 0; c < flows / 2; c++)
		set_paths(r, c);
	for (uint32_t i = 0; i < n; i++)
		set_stream(r, i);
	r->heap_count = n;
	for (uint32_t i = n / 2; i--;)
		run_sift_down(r, i);
	r->pauser.due_ns = INT64_MAX;
	if (r->o->mix & CAPGEN_PAUSES)
		gen_pauser_init(&r->pauser, &r->rng, BEGIN_NS);
	return 0;
}

void run_clear(struct run *r)
{
	for (uint32_t i = 0; r->stream && i < r->o->requesters; i++)
		free(r->stream[i].burst);
	while (r->spare_count)
		free(r->spare[--r->spare_count]);
	free(r->stream);
	free(r->path);
	free(r->heap);
	free(r->link);
	free(r->held);
}
