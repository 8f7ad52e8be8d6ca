/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client of RDMA traffic: paced messages while there is time, then END, then the server's LAST.
 * A slot is filled again when its message is complete here and checked there.
 */
#include <string.h>

#include "probe/traffic_end.h"
#include "probe/traffic_pace.h"
#include "probe/traffic_pattern.h"

#define BURST_MESSAGES 4u
#define BURST_PER_S    50u /* or 20 ms of the rate: sleeps are not exact */

struct client {
	struct pace pace;
	uint64_t end_ns;  /* no data message after it */
	uint64_t posted;  /* messages, END included */
	uint64_t acked;	  /* of them complete */
	uint64_t granted; /* of them checked by the server */
	uint64_t credits; /* credit messages received */
	bool ended;	  /* END is posted */
};

/* Credits come from the other host: what they say is checked against what was sent. */
static void take_credit(struct traffic_state *s, struct client *c, const struct ibv_wc *wc)
{
	const uint8_t *cell = traffic_receive_cell(s->t, wc->wr_id);
	struct pattern_id id;

	if (wc->byte_len != TRAFFIC_CELL ||
	    pattern_peek(cell, TRAFFIC_CELL, s->t->spec.seed, &id) ||
	    (id.kind != PATTERN_CREDIT && id.kind != PATTERN_LAST) || id.sequence < c->granted ||
	    id.sequence > c->posted) {
		traffic_fail(s, CAUSE_DATA, "credit message %llu is not what a server sends",
			     (unsigned long long)wc->wr_id);
		return;
	}
	c->granted = id.sequence;
	if (id.kind == PATTERN_LAST && c->ended)
		s->over = true;
	c->credits++;
	traffic_post_receive(s, wc->wr_id + TRAFFIC_CREDITS);
}

static void completion(struct traffic_state *s, const struct ibv_wc *wc, void *arg)
{
	struct client *c = arg;

	if (wc->opcode & IBV_WC_RECV) {
		take_credit(s, c, wc);
		return;
	}
	c->acked++;
	if (c->ended && c->acked == c->posted)
		return; /* END holds no data */
	s->result->messages++;
	s->result->bytes += s->t->class->message_bytes;
	s->last_ns = s->heard_ns;
	intervals_add(s->goodput, s->heard_ns, s->t->class->message_bytes);
}

static bool slot_free(const struct traffic_state *s, const struct client *c)
{
	uint64_t done = c->granted < c->acked ? c->granted : c->acked;

	return c->posted - done < s->t->slots;
}

/* Posts what may go now. Returns how long nothing more may. */
static uint64_t post_due(struct traffic_state *s, struct client *c)
{
	uint64_t now = traffic_now_ns(), wait;

	while (!s->over && !c->ended && slot_free(s, c)) {
		if (now >= c->end_ns) {
			traffic_post_message(s, c->posted++, true);
			c->ended = true;
			break;
		}
		wait = pace_wait_ns(&c->pace, now);
		if (wait)
			return wait;
		if (!s->first_ns)
			s->first_ns = now;
		traffic_post_message(s, c->posted++, false);
		pace_take(&c->pace, s->t->class->message_bytes, now);
		now = traffic_now_ns();
	}
	return UINT64_MAX;
}

/* All was acknowledged by the other NIC, but the program there says nothing. */
static void check_silence(struct traffic_state *s, const struct client *c)
{
	bool waiting = c->ended || !slot_free(s, c);

	if (!s->over && waiting && c->acked == c->posted &&
	    traffic_now_ns() - s->heard_ns > TRAFFIC_SILENCE_MS * UINT64_C(1000000))
		traffic_fail(s, CAUSE_PEER_GONE,
			     "no credit for %u s, %llu of %llu messages checked",
			     TRAFFIC_SILENCE_MS / 1000, (unsigned long long)c->granted,
			     (unsigned long long)c->posted);
}

static uint64_t burst_bytes(const struct traffic_class *class)
{
	uint64_t messages = (uint64_t)BURST_MESSAGES * class->message_bytes;
	uint64_t time = class->rate_bytes_per_s / BURST_PER_S;

	return messages > time ? messages : time;
}

void traffic_run_client(struct traffic_state *s)
{
	const struct traffic_class *class = s->t->class;
	struct client c = {.end_ns = s->start_ns + s->t->spec.duration_ms * UINT64_C(1000000)};

	pace_init(&c.pace, class->rate_bytes_per_s, burst_bytes(class), s->start_ns);
	while (!s->over) {
		uint64_t wait;

		traffic_drain(s, completion, &c);
		wait = s->over ? 0 : post_due(s, &c);
		if (s->over)
			break;
		check_silence(s, &c);
		traffic_wait(s, wait);
	}
}
