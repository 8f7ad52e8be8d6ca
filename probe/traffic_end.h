/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of struct traffic: one end of an RC connection. For traffic*.c only.
 *
 * Both ends have a ring of `slots` messages. Message n lives in slot n % slots of the sender and of
 * the receiver. WRITE goes as RDMA WRITE WITH IMMEDIATE (the immediate is the sequence), so that
 * the receiver is told of each one; SEND lands in the slot through the receive queue. Either way
 * message n consumes the n-th receive. The receiver checks the slot, posts the receive again, and
 * then grants it with a small SEND back (PATTERN_CREDIT, how many messages were checked): only a
 * granted slot is used again, so that a check never races with the next message. PATTERN_END is the
 * client's last message, always a SEND; PATTERN_LAST is the answer.
 */
#ifndef PROBE_TRAFFIC_END_H
#define PROBE_TRAFFIC_END_H

#include <infiniband/verbs.h>

#include "probe/traffic.h"

#define TRAFFIC_CELL	   64u /* bytes of a control message */
#define TRAFFIC_CREDITS	   16u /* control messages under way, at most */
#define TRAFFIC_SLOTS_MIN  2u
#define TRAFFIC_SLOTS_MAX  64u
#define TRAFFIC_GRACE_MS   9000u /* after duration_ms: our own deadline */
#define TRAFFIC_SILENCE_MS 5000u /* nothing from the peer for so long: it is gone */

struct traffic {
	struct traffic_spec spec;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* of sends and receives */
	struct ibv_qp *qp;
	uint8_t *ring; /* slots of message_bytes */
	size_t ring_bytes;
	struct ibv_mr *ring_mr;
	uint8_t *cells; /* TRAFFIC_CREDITS to send from, then slots or TRAFFIC_CREDITS to receive in
			 */
	size_t cells_bytes;
	struct ibv_mr *cells_mr;
	uint32_t slots, mtu;
	const struct traffic_class *class;
	struct traffic_peer self, peer;
	bool soft;			      /* no hardware behind the device */
	const struct traffic_result *running; /* while it runs, and after it */
};

/* One run of one end. */
struct traffic_state {
	struct traffic *t;
	const volatile int *stop;
	struct traffic_result *result;
	struct intervals *goodput;
	uint64_t start_ns, deadline_ns;
	uint64_t first_ns, last_ns; /* of data: first post or arrival, last completion */
	uint64_t heard_ns;	    /* last completion of any kind */
	bool armed;		    /* the CQ will send an event */
	bool over;
};

/* Handles one good completion. */
typedef void traffic_handler(struct traffic_state *s, const struct ibv_wc *wc, void *arg);

uint64_t traffic_now_ns(void);
uint32_t traffic_slots(uint32_t message_bytes);
uint8_t *traffic_slot(const struct traffic *t, uint64_t sequence);
uint8_t *traffic_receive_cell(const struct traffic *t, uint64_t n);

/* Posting; these end the run with a cause when the device refuses. */
void traffic_post_receive(struct traffic_state *s, uint64_t n);
void traffic_post_cell(struct traffic_state *s, unsigned int cell, uint64_t sequence,
		       uint32_t kind);
void traffic_post_message(struct traffic_state *s, uint64_t sequence, bool end);

/* Receives 0..n-1, before the peer may send. */
int traffic_post_first(struct traffic *t, struct err *e);

/* Ends the run with a cause; the first one counts. */
void traffic_fail(struct traffic_state *s, enum traffic_cause cause, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Takes all completions that are there. */
void traffic_drain(struct traffic_state *s, traffic_handler *fn, void *arg);

/* Sleeps until a completion, an event of the device, or max_ns (at most 10 ms). Watches *stop and
 * the deadline. */
void traffic_wait(struct traffic_state *s, uint64_t max_ns);

void traffic_run_client(struct traffic_state *s);
void traffic_run_server(struct traffic_state *s);

#endif
