/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server of RDMA traffic: checks every byte of every message and its identity, grants slots,
 * and answers the END. Wrong data does not stop it: how much is wrong is what one wants to know.
 */
#include <endian.h>
#include <string.h>

#include "probe/traffic_end.h"
#include "probe/traffic_pattern.h"

struct server {
	uint64_t checked;	  /* messages, END included */
	uint64_t granted;	  /* of them told to the client */
	uint64_t sent, sent_done; /* credit messages */
	uint64_t silence_ns;	  /* so long without a message: the client is gone */
	bool ended;		  /* END was seen */
	bool last_sent;
};

static void wrong(struct traffic_state *s, uint64_t sequence, const char *what, uint64_t offset)
{
	struct traffic_result *r = s->result;

	if (!r->mismatches++) {
		traffic_fail(s, CAUSE_DATA, "message %llu %s (at byte %llu)",
			     (unsigned long long)sequence, what, (unsigned long long)offset);
		s->over = false;
	}
}

static void check_data(struct traffic_state *s, uint64_t n, const struct ibv_wc *wc)
{
	const struct traffic_class *class = s->t->class;
	struct pattern_id want = {s->t->spec.seed, n, (uint32_t)(n % s->t->slots), PATTERN_DATA, 0};
	bool write = class->verb == TRAFFIC_WRITE_IMM;
	enum pattern_fault fault;
	uint64_t offset = 0;

	if (!s->first_ns)
		s->first_ns = s->heard_ns;
	s->last_ns = s->heard_ns;
	s->result->messages++;
	s->result->bytes += wc->byte_len;
	intervals_add(s->goodput, s->heard_ns, wc->byte_len);
	if (wc->byte_len != class->message_bytes) {
		wrong(s, n, "has the wrong length", wc->byte_len);
		return;
	}
	if (write && be32toh(wc->imm_data) != (uint32_t)n) {
		wrong(s, n, "has the immediate of another message", 0);
		return;
	}
	fault = pattern_check(traffic_slot(s->t, n), class->message_bytes, &want, &offset);
	s->result->checked_bytes += class->message_bytes;
	if (fault != PATTERN_OK)
		wrong(s, n, pattern_fault_text(fault), offset);
}

/* END is a SEND of one cell; a SEND of data may be as short, so its header decides. */
static bool is_end(const struct traffic_state *s, uint64_t n, const struct ibv_wc *wc)
{
	const struct traffic *t = s->t;
	bool write = t->class->verb == TRAFFIC_WRITE_IMM;
	struct pattern_id want = {t->spec.seed, n, (uint32_t)(n % t->slots), PATTERN_END, 0};
	uint64_t offset;

	return wc->opcode == IBV_WC_RECV && wc->byte_len == TRAFFIC_CELL &&
	       pattern_check(write ? traffic_receive_cell(t, n) : traffic_slot(t, n), TRAFFIC_CELL,
			     &want, &offset) == PATTERN_OK;
}

static void completion(struct traffic_state *s, const struct ibv_wc *wc, void *arg)
{
	struct server *v = arg;
	uint64_t n = v->checked;

	if (!(wc->opcode & IBV_WC_RECV)) {
		v->sent_done++;
		if (v->last_sent && v->sent_done == v->sent)
			s->over = true;
		return;
	}
	if (is_end(s, n, wc))
		v->ended = true;
	else
		check_data(s, n, wc);
	v->checked++;
	traffic_post_receive(s, n + s->t->slots);
}

static void grant(struct traffic_state *s, struct server *v)
{
	bool due = v->checked - v->granted >= s->t->slots / 4 && v->checked > v->granted;
	unsigned int cell = (unsigned int)(v->sent % TRAFFIC_CREDITS);

	if (v->last_sent || (!due && !v->ended) || v->sent - v->sent_done >= TRAFFIC_CREDITS)
		return;
	traffic_post_cell(s, cell, v->checked, v->ended ? PATTERN_LAST : PATTERN_CREDIT);
	v->sent++;
	v->granted = v->checked;
	v->last_sent = v->ended;
}

static void check_silence(struct traffic_state *s, const struct server *v)
{
	uint64_t quiet = traffic_now_ns() - s->heard_ns;

	if (!s->over && !v->last_sent && quiet > v->silence_ns)
		traffic_fail(s, CAUSE_PEER_GONE, "nothing came for %.1f s, after %llu messages",
			     (double)quiet / 1e9, (unsigned long long)s->result->messages);
}

void traffic_run_server(struct traffic_state *s)
{
	const struct traffic_class *class = s->t->class;
	struct server v = {.silence_ns = TRAFFIC_SILENCE_MS * UINT64_C(1000000)};

	if (class->rate_bytes_per_s) /* a slow client is no dead one */
		v.silence_ns += class->message_bytes * UINT64_C(4000000000) /
				class->rate_bytes_per_s;
	while (!s->over) {
		traffic_drain(s, completion, &v);
		if (!s->over)
			grant(s, &v);
		if (s->over)
			break;
		check_silence(s, &v);
		traffic_wait(s, UINT64_MAX);
	}
}
