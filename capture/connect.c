/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two tables of fixed size: what was asked for, by sender, receiver and the sender's id, and the
 * directions that came of it, by addresses and QP. The PSN in a message is the one that its
 * receiver begins with.
 */
#include "capture/connect.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS	     1024U
#define TIMEOUT_NS   4096 /* times two to the exponent */
#define TRANSPORT_RC 0

struct request {
	uint8_t src[16], dst[16];
	uint32_t local_id, qpn, starting_psn, path_mtu, ack_timeout;
	bool used;
};

struct connect_table {
	uint64_t seed;
	struct request request[SLOTS];
	struct connection connection[SLOTS];
	bool known[SLOTS];
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

static uint32_t slot_of(const struct connect_table *t, const uint8_t src[16], const uint8_t dst[16],
			uint32_t id)
{
	uint64_t word[4], h = t->seed ^ id;

	memcpy(word, src, 16);
	memcpy(word + 2, dst, 16);
	for (unsigned int i = 0; i < 4; i++) {
		h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return (uint32_t)h & (SLOTS - 1);
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
	struct request *r = &t->request[slot_of(t, p->src, p->dst, c->local_id)];

	if (c->transport != TRANSPORT_RC || !says(c, keys, ARRAY_SIZE(keys)))
		return;
	memcpy(r->src, p->src, 16);
	memcpy(r->dst, p->dst, 16);
	r->local_id = c->local_id;
	r->qpn = c->qpn;
	r->starting_psn = c->starting_psn;
	r->path_mtu = c->path_mtu;
	r->ack_timeout = c->ack_timeout;
	r->used = true;
}

static bool is_same(const struct connection *a, const struct connection *b)
{
	return !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16) &&
	       a->dest_qpn == b->dest_qpn && a->peer_qpn == b->peer_qpn &&
	       a->starting_psn == b->starting_psn;
}

/* NULL when it is known: the message was sent, or captured, twice. */
static const struct connection *put(struct connect_table *t, const struct connection *c)
{
	uint32_t at = slot_of(t, c->src, c->dst, c->dest_qpn);

	if (t->known[at] && is_same(&t->connection[at], c))
		return NULL;
	t->known[at] = true;
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
	r = &t->request[slot_of(t, p->dst, p->src, c->remote_id)];
	if (!r->used || r->local_id != c->remote_id || memcmp(r->src, p->dst, 16) ||
	    memcmp(r->dst, p->src, 16))
		return false;
	to = (struct connection){
		.dest_qpn = c->qpn,
		.peer_qpn = r->qpn,
		.starting_psn = c->starting_psn,
		.path_mtu = r->path_mtu,
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
	uint32_t at = slot_of(t, src, dst, dest_qpn);
	const struct connection *c = &t->connection[at];

	return t->known[at] && c->dest_qpn == dest_qpn && !memcmp(c->src, src, 16) &&
			       !memcmp(c->dst, dst, 16)
		       ? c
		       : NULL;
}
