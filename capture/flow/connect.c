/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two tables of fixed size, of which only what is used is ever touched: what was asked for, by
 * sender, receiver and the sender's id, and the directions that came of it, by addresses and QP.
 * The PSN in a message is the one that its receiver begins with.
 */
#include "capture/flow/connect.h"

#include <stdlib.h>
#include <string.h>

#define SETS	     2048U /* of WAYS places each, which a key may lie in */
#define WAYS	     8U
#define SLOTS	     (SETS * WAYS)
#define TIMEOUT_NS   4096 /* times two to the exponent */
#define TRANSPORT_RD 2

struct request {
	uint8_t src[16], dst[16];
	uint32_t local_id, qpn, starting_psn, path_mtu, ack_timeout;
	uint64_t turn; /* when it was put there, from 1; 0 = not in use */
};

struct connect_table {
	uint64_t seed, turns;
	struct request request[SLOTS];
	struct connection connection[SLOTS];
	uint64_t turn[SLOTS];
};

struct connect_table *connect_table_new(uint64_t seed)
{
	struct connect_table *t = calloc(1, sizeof(*t));

	if (t)
		t->seed = seed;
	return t;
}

void connect_table_free(struct connect_table *t)
{
	free(t);
}

static uint32_t set_of(const struct connect_table *t, const uint8_t src[16], const uint8_t dst[16],
		       uint32_t id)
{
	uint64_t word[4], h = t->seed ^ id;

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	for (unsigned int i = 0; i < 4; i++) {
		h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return ((uint32_t)h & (SETS - 1)) * WAYS;
}

static struct request *find_request(struct connect_table *t, const uint8_t src[16],
				    const uint8_t dst[16], uint32_t local_id)
{
	struct request *r = &t->request[set_of(t, src, dst, local_id)];

	for (unsigned int i = 0; i < WAYS; i++)
		if (r[i].turn && r[i].local_id == local_id && !memcmp(r[i].src, src, 16) &&
		    !memcmp(r[i].dst, dst, 16))
			return &r[i];
	return NULL;
}

/* SLOTS = there is none. */
static uint32_t find_connection(const struct connect_table *t, const uint8_t src[16],
				const uint8_t dst[16], uint32_t dest_qpn)
{
	uint32_t at = set_of(t, src, dst, dest_qpn);

	for (unsigned int i = 0; i < WAYS; i++) {
		const struct connection *c = &t->connection[at + i];

		if (t->turn[at + i] && c->dest_qpn == dest_qpn && !memcmp(c->src, src, 16) &&
		    !memcmp(c->dst, dst, 16))
			return at + i;
	}
	return SLOTS;
}

/* Only what was captured whole says how a connection begins. */
static bool says(const struct cm *c, const char *const *keys, unsigned int n)
{
	uint64_t value;

	for (unsigned int i = 0; i < n; i++)
		if (!cm_find(c, keys[i], &value))
			return false;
	return true;
}

static void take_req(struct connect_table *t, const struct packet *p)
{
	static const char *const keys[] = {"qpn", "starting_psn", "ack_timeout"};
	const struct cm *c = &p->cm;
	struct request *r;

	/* RC, UC, and what stands for XRC: both QPs know each other. */
	if (c->transport == TRANSPORT_RD || !says(c, keys, ARRAY_SIZE(keys)))
		return;
	r = find_request(t, p->src, p->dst, c->local_id);
	if (!r) { /* in place of the oldest */
		struct request *set = &t->request[set_of(t, p->src, p->dst, c->local_id)];

		r = set;
		for (unsigned int i = 1; i < WAYS; i++)
			if (set[i].turn < r->turn)
				r = &set[i];
	}
	memcpy(r->src, p->src, 16);
	memcpy(r->dst, p->dst, 16);
	r->local_id = c->local_id;
	r->qpn = c->qpn;
	r->starting_psn = c->starting_psn;
	r->path_mtu = c->path_mtu;
	r->ack_timeout = c->ack_timeout;
	r->turn = ++t->turns;
}

static bool is_same(const struct connection *a, const struct connection *b)
{
	return !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16) &&
	       a->dest_qpn == b->dest_qpn && a->peer_qpn == b->peer_qpn &&
	       a->starting_psn == b->starting_psn && a->asked_id == b->asked_id &&
	       a->answered_id == b->answered_id;
}

/* NULL when it is known: the message was sent, or captured, twice. */
static const struct connection *put(struct connect_table *t, const struct connection *c)
{
	uint32_t at = find_connection(t, c->src, c->dst, c->dest_qpn);

	if (at < SLOTS && is_same(&t->connection[at], c))
		return NULL;
	if (at == SLOTS) {
		uint32_t set = set_of(t, c->src, c->dst, c->dest_qpn);

		at = set;
		for (uint32_t i = set; i < set + WAYS; i++)
			if (t->turn[i] < t->turn[at])
				at = i;
	}
	t->turn[at] = ++t->turns;
	t->connection[at] = *c;
	return &t->connection[at];
}

bool connect_take(struct connect_table *t, const struct packet *p, const struct connection **there,
		  const struct connection **back)
{
	static const char *const keys[] = {"qpn", "starting_psn"};
	const struct cm *c = &p->cm;
	struct connection to = {0}, from = {0};
	struct request *r;

	*there = *back = NULL;
	if (c->message == CM_REQ)
		take_req(t, p);
	if (c->message != CM_REP || !says(c, keys, ARRAY_SIZE(keys)))
		return false;
	r = find_request(t, p->dst, p->src, c->remote_id);
	if (!r)
		return false;
	to = (struct connection){
		.dest_qpn = c->qpn,
		.peer_qpn = r->qpn,
		.starting_psn = c->starting_psn,
		.path_mtu = r->path_mtu,
		.asked_id = r->local_id,
		.answered_id = c->local_id,
		.timeout_ns = r->ack_timeout ? (uint64_t)TIMEOUT_NS << r->ack_timeout : 0,
		.time_ns = p->time_ns,
	};
	memcpy(to.src, p->dst, 16);
	memcpy(to.dst, p->src, 16);
	from = to;
	from.dest_qpn = r->qpn;
	from.peer_qpn = c->qpn;
	from.starting_psn = r->starting_psn;
	memcpy(from.src, p->src, 16);
	memcpy(from.dst, p->dst, 16);
	*there = put(t, &to);
	*back = put(t, &from);
	return *there || *back;
}

const struct connection *connect_find(const struct connect_table *t, const uint8_t src[16],
				      const uint8_t dst[16], uint32_t dest_qpn)
{
	uint32_t at = find_connection(t, src, dst, dest_qpn);

	return at < SLOTS ? &t->connection[at] : NULL;
}
