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

/* Who a place is in use for. */
struct place {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint64_t turn; /* when it was put there, from 1; 0 = not in use */
};

struct request {
	uint32_t local_id, qpn, starting_psn, path_mtu, ack_timeout;
};

struct connect_table {
	uint64_t seed, turns;
	struct place asked[SLOTS], known[SLOTS]; /* by local_id, by dest_qpn */
	struct request request[SLOTS];
	struct connection connection[SLOTS];
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

/* The place that is in use for an id; SLOTS = there is none. */
static uint32_t place_find(const struct connect_table *t, const struct place *place,
			   const uint8_t src[16], const uint8_t dst[16], uint32_t id)
{
	uint32_t set = set_of(t, src, dst, id);

	for (uint32_t i = set; i < set + WAYS; i++)
		if (place[i].turn && place[i].id == id && !memcmp(place[i].src, src, 16) &&
		    !memcmp(place[i].dst, dst, 16))
			return i;
	return SLOTS;
}

/* The same, or else the place of the oldest, which is in use for this id now. */
static uint32_t place_occupy(struct connect_table *t, struct place *place, const uint8_t src[16],
			     const uint8_t dst[16], uint32_t id)
{
	uint32_t at = place_find(t, place, src, dst, id), set = set_of(t, src, dst, id);

	if (at == SLOTS) {
		at = set;
		for (uint32_t i = set; i < set + WAYS; i++)
			if (place[i].turn < place[at].turn)
				at = i;
	}
	memcpy(place[at].src, src, 16);
	memcpy(place[at].dst, dst, 16);
	place[at].id = id;
	place[at].turn = ++t->turns;
	return at;
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

	/* RC, UC, and what stands for XRC: both QPs know each other. */
	if (c->transport == TRANSPORT_RD || !says(c, keys, ARRAY_SIZE(keys)))
		return;
	t->request[place_occupy(t, t->asked, p->src, p->dst, c->local_id)] = (struct request){
		.local_id = c->local_id,
		.qpn = c->qpn,
		.starting_psn = c->starting_psn,
		.path_mtu = c->path_mtu,
		.ack_timeout = c->ack_timeout,
	};
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
	uint32_t at = place_find(t, t->known, c->src, c->dst, c->dest_qpn);

	if (at < SLOTS && is_same(&t->connection[at], c))
		return NULL;
	at = place_occupy(t, t->known, c->src, c->dst, c->dest_qpn);
	t->connection[at] = *c;
	return &t->connection[at];
}

bool connect_take(struct connect_table *t, const struct packet *p, const struct connection **there,
		  const struct connection **back)
{
	static const char *const keys[] = {"qpn", "starting_psn"};
	const struct cm *c = &p->cm;
	struct connection to = {0}, from = {0};
	const struct request *r;
	uint32_t at;

	*there = *back = NULL;
	if (c->message == CM_REQ)
		take_req(t, p);
	if (c->message != CM_REP || !says(c, keys, ARRAY_SIZE(keys)))
		return false;
	at = place_find(t, t->asked, p->dst, p->src, c->remote_id);
	if (at == SLOTS)
		return false;
	r = &t->request[at];
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
	uint32_t at = place_find(t, t->known, src, dst, dest_qpn);

	return at < SLOTS ? &t->connection[at] : NULL;
}
