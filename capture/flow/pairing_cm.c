/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two tables of fixed size; unused entries cost no memory. One has requests (REQ) by sender,
 * receiver and local id; the other has connections, one direction each, by addresses and QP. The
 * PSN in a message is the first one that its receiver uses.
 */
#include "capture/flow/pairing_cm.h"

#include <stdlib.h>
#include <string.h>

#include "capture/flow/flow_hash.h"

#define SETS	     2048U /* of WAYS entries each; a key maps to one set */
#define WAYS	     8U
#define SLOTS	     (SETS * WAYS)
#define TIMEOUT_NS   4096 /* times two to the exponent */
#define TRANSPORT_RD 2

/* Key of an entry. */
struct place {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint64_t turn; /* order of insertion, from 1; 0 = free */
};

struct request {
	uint32_t local_id, qpn, starting_psn, path_mtu, ack_timeout;
};

struct pairing_cm {
	uint64_t seed, turns;
	struct place req_place[SLOTS], connection_place[SLOTS]; /* by local_id, by dest_qpn */
	struct request request[SLOTS];
	struct connection connection[SLOTS];
};

struct pairing_cm *pairing_cm_new(uint64_t seed)
{
	struct pairing_cm *t = calloc(1, sizeof(*t));

	if (t)
		t->seed = seed;
	return t;
}

void pairing_cm_free(struct pairing_cm *t)
{
	free(t);
}

static uint32_t pairing_hash_set(const struct pairing_cm *t, const uint8_t src[16],
				 const uint8_t dst[16], uint32_t id)
{
	return ((uint32_t)flow_hash(t->seed, src, dst, id) & (SETS - 1)) * WAYS;
}

/* Returns the entry of an id; SLOTS = none. */
static uint32_t pairing_find_place(const struct pairing_cm *t, const struct place *place,
				   const uint8_t src[16], const uint8_t dst[16], uint32_t id)
{
	uint32_t set = pairing_hash_set(t, src, dst, id);

	for (uint32_t i = set; i < set + WAYS; i++)
		if (place[i].turn && place[i].id == id && !memcmp(place[i].src, src, 16) &&
		    !memcmp(place[i].dst, dst, 16))
			return i;
	return SLOTS;
}

/* The same, or replaces the oldest entry of the set. */
static uint32_t pairing_occupy_place(struct pairing_cm *t, struct place *place,
				     const uint8_t src[16], const uint8_t dst[16], uint32_t id)
{
	uint32_t at = pairing_find_place(t, place, src, dst, id),
		 set = pairing_hash_set(t, src, dst, id);

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

/* False when the message is truncated before one of these fields. */
static bool pairing_has_fields(const struct cm *c, const char *const *keys, unsigned int n)
{
	uint64_t value;

	for (unsigned int i = 0; i < n; i++)
		if (!cm_find(c, keys[i], &value))
			return false;
	return true;
}

static void pairing_add_req(struct pairing_cm *t, const struct packet *p)
{
	static const char *const keys[] = {"qpn", "starting_psn", "ack_timeout"};
	const struct cm *c = &p->cm;

	/* RC, UC and XRC: each QP has one remote QP. */
	if (c->transport == TRANSPORT_RD || !pairing_has_fields(c, keys, ARRAY_SIZE(keys)))
		return;
	t->request[pairing_occupy_place(t, t->req_place, p->src, p->dst, c->local_id)] =
		(struct request){
			.local_id = c->local_id,
			.qpn = c->qpn,
			.starting_psn = c->starting_psn,
			.path_mtu = c->path_mtu,
			.ack_timeout = c->ack_timeout,
		};
}

static bool pairing_is_same(const struct connection *a, const struct connection *b)
{
	return !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16) &&
	       a->dest_qpn == b->dest_qpn && a->reverse_qpn == b->reverse_qpn &&
	       a->starting_psn == b->starting_psn && a->req_id == b->req_id &&
	       a->rep_id == b->rep_id;
}

/* Returns NULL for a known connection: a retransmitted or duplicate message. */
static const struct connection *pairing_store(struct pairing_cm *t, const struct connection *c)
{
	uint32_t at = pairing_find_place(t, t->connection_place, c->src, c->dst, c->dest_qpn);

	if (at < SLOTS && pairing_is_same(&t->connection[at], c))
		return NULL;
	at = pairing_occupy_place(t, t->connection_place, c->src, c->dst, c->dest_qpn);
	t->connection[at] = *c;
	return &t->connection[at];
}

bool pairing_cm_add(struct pairing_cm *t, const struct packet *p, const struct connection **forward,
		    const struct connection **reverse)
{
	static const char *const keys[] = {"qpn", "starting_psn"};
	const struct cm *c = &p->cm;
	struct connection to = {0}, from = {0};
	const struct request *r;
	uint32_t at;

	*forward = *reverse = NULL;
	if (c->message == CM_REQ)
		pairing_add_req(t, p);
	if (c->message != CM_REP || !pairing_has_fields(c, keys, ARRAY_SIZE(keys)))
		return false;
	at = pairing_find_place(t, t->req_place, p->dst, p->src, c->remote_id);
	if (at == SLOTS)
		return false;
	r = &t->request[at];
	to = (struct connection){
		.dest_qpn = c->qpn,
		.reverse_qpn = r->qpn,
		.starting_psn = c->starting_psn,
		.path_mtu = r->path_mtu,
		.req_id = r->local_id,
		.rep_id = c->local_id,
		.timeout_ns = r->ack_timeout ? (uint64_t)TIMEOUT_NS << r->ack_timeout : 0,
		.time_ns = p->time_ns,
	};
	memcpy(to.src, p->dst, 16);
	memcpy(to.dst, p->src, 16);
	from = to;
	from.dest_qpn = r->qpn;
	from.reverse_qpn = c->qpn;
	from.starting_psn = r->starting_psn;
	memcpy(from.src, p->src, 16);
	memcpy(from.dst, p->dst, 16);
	*forward = pairing_store(t, &to);
	*reverse = pairing_store(t, &from);
	return *forward || *reverse;
}

const struct connection *pairing_cm_find(const struct pairing_cm *t, const uint8_t src[16],
					 const uint8_t dst[16], uint32_t dest_qpn)
{
	uint32_t at = pairing_find_place(t, t->connection_place, src, dst, dest_qpn);

	return at < SLOTS ? &t->connection[at] : NULL;
}
