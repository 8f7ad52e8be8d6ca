/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the connection manager connects two QPs: REQ, REP, RTU, and before them DREQ, DREP when they
 * were connected. UD asks for the QP by SIDR. IBTA vol 1, 12.6: a REQ and a REP name the PSN that
 * their receiver is to begin with.
 */
#include <string.h>

#include "tests/tools/run.h"

#define MAD_HEADER   24
#define TTL	     64
#define ACK_TIMEOUT  14 /* 4.096 us * 2^14 */
#define RTT_NS	     8000
#define RECONNECT_NS 20000000
#define PSN_ROUND    UINT64_C(0x1000000)

enum attribute {
	REQ = 0x10,
	REP = 0x13,
	RTU,
	DREQ,
	DREP,
	SIDR_REQ,
	SIDR_REP,
};

static void put(uint8_t *at, uint64_t v, unsigned int n)
{
	while (n--)
		*at++ = (uint8_t)(v >> (8 * n));
}

struct dialogue {
	struct gen_burst *b;
	uint64_t now_ns, tid;
	unsigned int mads;
};

/* The next message; returns where its own fields begin. */
static uint8_t *say(struct dialogue *d, enum attribute attribute, bool back)
{
	uint8_t *mad = d->b->mad[d->mads];

	memset(mad, 0, GEN_MAD_LEN);
	put(mad, 0x01070203, 4); /* CM, version 2, Send */
	put(mad + 8, d->tid, 8);
	put(mad + 16, attribute, 2);
	d->b->step[d->b->steps++] = (struct gen_step){
		.at_ns = d->now_ns,
		.frame =
			{
				.opcode = GEN_UD | GEN_SEND_ONLY,
				.ttl = TTL,
				.psn = (uint32_t)(d->tid + d->mads) & 0xffffff,
				.payload = GEN_MAD_LEN,
				.mad = mad,
			},
		.request = NO_REQUEST,
		.back = back,
		.connects = attribute == REP,
	};
	d->mads++;
	d->now_ns += RTT_NS;
	return mad + MAD_HEADER;
}

static void say_req(struct dialogue *d, const struct gen_stream *there, uint32_t id, uint32_t qpn,
		    uint32_t psn)
{
	/* Code 3 stands for others, of which the extended transport 1 is XRC. */
	uint8_t transport = there->transport == GEN_UC ? 1 : there->transport == GEN_XRC ? 3 : 0;
	uint8_t *m = say(d, REQ, false);
	unsigned int mtu = 1;

	while (128U << mtu < there->pmtu)
		mtu++;
	put(m, id, 4);
	put(m + 8, 0x0000000001061234, 8);
	put(m + 32, qpn, 3);
	put(m + 35, 16, 1);
	put(m + 39, 16, 1);
	put(m + 43, 20U << 3 | transport << 1, 1);
	put(m + 44, psn, 3);
	put(m + 47, 20U << 3 | 7, 1);
	put(m + 48, 0xffff, 2);
	put(m + 50, mtu << 4 | 7, 1);
	put(m + 51, 0xf0 | (transport == 3), 1);
	put(m + 95, ACK_TIMEOUT << 3, 1);
}

static void say_two(struct dialogue *d, enum attribute attribute, bool back, uint32_t local,
		    uint32_t remote)
{
	uint8_t *m = say(d, attribute, back);

	put(m, local, 4);
	put(m + 4, remote, 4);
}

static void say_rep(struct dialogue *d, uint32_t local, uint32_t remote, uint32_t qpn, uint32_t psn)
{
	uint8_t *m = say(d, REP, true);

	put(m, local, 4);
	put(m + 4, remote, 4);
	put(m + 12, qpn, 3);
	put(m + 20, psn, 3);
	put(m + 24, 16, 1);
	put(m + 25, 16, 1);
	put(m + 27, 7U << 5, 1);
}

static void say_sidr(struct dialogue *d, uint32_t id, uint32_t qpn)
{
	uint8_t *m = say(d, SIDR_REQ, false);

	put(m, id, 4);
	put(m + 4, 0xffff, 2);
	put(m + 8, 0x0000000001111234, 8);
	m = say(d, SIDR_REP, true);
	put(m, id, 4);
	put(m + 8, qpn, 3);
	put(m + 12, 0x0000000001111234, 8);
	put(m + 20, 0x345678, 4);
}

/* Another round, so that nothing of before is ahead of it. */
static uint32_t begin_psn(const struct capgen_options *o, struct gen_rng *r, struct gen_stream *s)
{
	uint32_t psn = o->wrap ? 0xffffff - gen_below(r, 64) : gen_below(r, (uint32_t)PSN_ROUND);

	if (!s)
		return psn;
	s->psn = (s->psn / PSN_ROUND + 1) * PSN_ROUND + psn;
	s->msn = 0;
	s->fresh = false;
	return psn;
}

void gen_handshake(const struct capgen_options *o, struct gen_rng *r, struct gen_stream *there,
		   struct gen_stream *back, const uint32_t qpn[2], bool again, struct gen_burst *b)
{
	struct dialogue d = {.b = b, .tid = gen_random(r)};
	uint32_t id[2] = {(uint32_t)gen_random(r), (uint32_t)gen_random(r)};
	uint32_t psn[2] = {begin_psn(o, r, there), begin_psn(o, r, back)};

	b->requests = b->steps = b->at = b->dropped = 0;
	b->fault = CAPGEN_NONE;
	b->handshake = true;
	if (again) {
		put(say(&d, DREQ, false) + 8, qpn[0], 3);
		(void)say(&d, DREP, true);
		d.now_ns += RECONNECT_NS;
	}
	if (there->transport == GEN_UD) {
		say_sidr(&d, id[0], qpn[0]);
	} else {
		say_req(&d, there, id[0], qpn[1], psn[1]);
		say_rep(&d, id[1], id[0], qpn[0], psn[0]);
		say_two(&d, RTU, false, id[0], id[1]);
	}
	if (o->mirror)
		gen_burst_copy(b, 700);
	gen_burst_sort(b);
	b->end_ns = d.now_ns;
}
