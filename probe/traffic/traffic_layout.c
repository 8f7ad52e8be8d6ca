/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of a class on a queue pair (pure), and memory and work requests of a flow. Work requests
 * are built once; the data path links and posts them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_worker.h"
#include "probe/traffic/traffic_pattern.h"

#define FLIGHT_BYTES   (2u << 20) /* desired bytes in flight per QP: 160 us at 100 Gbit/s */
#define UNIT_BYTES     (256u << 10)
#define ROOMY_QPS      16u /* above, QPs take turns: smaller windows save memory */
#define CHECKED_WINDOW 512u
#define FREE_WINDOW    128u
#define READ_WINDOW    32u /* devices have 16 outstanding READs */
#define ATOMIC_BYTES   8u
#define PROBE_RECEIVES 8u
#define QUEUE_BYTES    256u /* approximate size of a device queue entry */
#define GRH_ROOM       64u  /* the GRH is at its end, so that the payload is aligned */
#define SAMPLE	       16u  /* one of this many messages is checked completely */

uint32_t class_bytes(const struct traffic_class *c)
{
	return c->verb == TRAFFIC_ATOMIC ? ATOMIC_BYTES : c->message_bytes;
}

bool class_is_unreliable(const struct traffic_class *c)
{
	return c->transport == TRAFFIC_UC || c->transport == TRAFFIC_UD;
}

/* Returns true if its responder posts receives. */
static bool layout_posts_receives(const struct traffic_class *c)
{
	return traffic_verb_sends(c->verb) || c->verb == TRAFFIC_WRITE_IMM;
}

bool class_polls(const struct traffic_class *c)
{
	return c->probe && c->verb == TRAFFIC_WRITE;
}

uint32_t class_body(const struct traffic_class *c)
{
	return class_polls(c) ? c->message_bytes - 1 : c->message_bytes;
}

/* Differs from the stamp of the previous message in the slot, and from initial memory. */
uint8_t class_stamp(const struct traffic_class *c, uint64_t n)
{
	return (uint8_t)(n / class_slots(c) % 255 + 1);
}

bool class_needs_credit(const struct traffic_class *c)
{
	if (c->probe)
		return false;
	return layout_posts_receives(c) ||
	       (c->verb == TRAFFIC_WRITE && c->check != TRAFFIC_CHECK_NONE);
}

bool class_requests(const struct traffic_class *c, enum traffic_role role)
{
	return c->probe || c->direction == TRAFFIC_BOTH ||
	       (c->direction == TRAFFIC_FORWARD) == (role == TRAFFIC_CLIENT);
}

bool class_responds(const struct traffic_class *c, enum traffic_role role)
{
	return c->probe || c->direction == TRAFFIC_BOTH || !class_requests(c, role);
}

static uint32_t layout_power_of_two(uint32_t value, uint32_t most)
{
	uint32_t n = 1;

	while (2 * n <= value && 2 * n <= most)
		n *= 2;
	return n;
}

/* Returns the messages that fit into a queue pair's share of the class's bytes in flight, at least
 * 1. A stalled path then blocks one queue pair only. */
static uint32_t layout_flight_bound(const struct traffic_class *c)
{
	return layout_power_of_two(c->flight_bytes / (c->qps ? c->qps : 1) / class_bytes(c),
				   TRAFFIC_WINDOW_MAX / 2);
}

/* Returns the messages that make up the bytes, at least 2: the next one is posted while one
 * completes. */
static uint32_t layout_messages(uint32_t bytes, const struct traffic_class *c, uint32_t most)
{
	uint32_t n = layout_power_of_two(bytes / class_bytes(c), most);

	return n > 2 ? n : 2;
}

/* Doubles the window if messages need credits: a message keeps its slot until the peer has checked
 * and credited it. Not for UC and UD, which stay outstanding until they are credited. */
static uint32_t layout_unpaced_window(const struct traffic_class *c)
{
	bool free = c->check == TRAFFIC_CHECK_NONE && !class_is_unreliable(c);
	bool waits = class_needs_credit(c) && !class_is_unreliable(c) && c->qps <= ROOMY_QPS;
	uint32_t most = free ? FREE_WINDOW : CHECKED_WINDOW;

	if (c->probe)
		return 2;
	if (c->window)
		return c->window < TRAFFIC_WINDOW_MAX ? c->window : TRAFFIC_WINDOW_MAX;
	if (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC)
		most = READ_WINDOW;
	return layout_messages(waits ? 2 * FLIGHT_BYTES : FLIGHT_BYTES, c, most);
}

uint32_t class_window(const struct traffic_class *c)
{
	uint32_t window = layout_unpaced_window(c), most;

	if (!c->flight_bytes || c->probe)
		return window;
	most = class_is_unreliable(c) ? layout_flight_bound(c) : 2 * layout_flight_bound(c);
	return most < window ? most : window;
}

/* Less than the whole window, in which credits open a quarter at a time: posting in such bursts
 * costs Soft-RoCE 5 % of its rate. */
uint32_t class_flight(const struct traffic_class *c)
{
	uint32_t window = class_window(c);

	if (c->flight_bytes && !c->probe) {
		uint32_t most = layout_flight_bound(c);

		return most < window ? most : window;
	}
	return c->window || c->probe ? window : layout_messages(FLIGHT_BYTES, c, window);
}

uint64_t traffic_class_under_way(const struct traffic_class *c)
{
	return (uint64_t)class_flight(c) * class_bytes(c);
}

uint32_t class_slots(const struct traffic_class *c)
{
	bool alike = c->check == TRAFFIC_CHECK_NONE && !class_is_unreliable(c) && !c->probe;

	return alike ? 1 : class_window(c);
}

uint32_t class_stride(const struct traffic_class *c)
{
	return (class_bytes(c) + 63) / 64 * 64;
}

bool class_checks_whole(const struct traffic_class *c, uint64_t n)
{
	return c->check == TRAFFIC_CHECK_EVERY ||
	       (c->check == TRAFFIC_CHECK_SAMPLED && !(n % SAMPLE));
}

/* With a rate, each message is posted separately. */
uint32_t class_post_list(const struct traffic_class *c)
{
	uint32_t window = class_window(c), most = TRAFFIC_POST_LIST_MAX;

	if (c->rate_bytes_per_s)
		return 1;
	if (most > window / 4)
		most = window / 4;
	if (most > UNIT_BYTES / class_bytes(c))
		most = UNIT_BYTES / class_bytes(c);
	return layout_power_of_two(most, TRAFFIC_POST_LIST_MAX);
}

static uint32_t layout_receives(const struct traffic_class *c)
{
	if (!layout_posts_receives(c))
		return 0;
	if (c->probe)
		return PROBE_RECEIVES;
	return class_is_unreliable(c) ? 2 * class_window(c) : class_window(c);
}

/* SEND arrives in posted receives, other verbs in slots. */
static uint32_t layout_arrival_slots(const struct traffic_class *c)
{
	bool anywhere = class_is_unreliable(c) && traffic_verb_sends(c->verb);

	return anywhere ? layout_receives(c) : class_slots(c);
}

static uint32_t layout_arrival_stride(const struct traffic_class *c)
{
	return class_stride(c) + (c->transport == TRAFFIC_UD ? GRH_ROOM : 0);
}

/* Returns the bytes of the messages of one queue pair. */
static uint64_t layout_half_bytes(const struct traffic_class *c, bool requests, bool responds)
{
	uint64_t bytes = requests ? (uint64_t)class_slots(c) * class_stride(c) : 0;

	return bytes +
	       (responds ? (uint64_t)layout_arrival_slots(c) * layout_arrival_stride(c) : 0);
}

uint64_t traffic_spec_bytes(const struct traffic_spec *spec)
{
	const uint64_t send = sizeof(struct ibv_send_wr) + sizeof(struct ibv_sge) + QUEUE_BYTES;
	const uint64_t receive = sizeof(struct ibv_recv_wr) + sizeof(struct ibv_sge) + QUEUE_BYTES;
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < spec->class_count; i++) {
		const struct traffic_class *c = &spec->class[i];
		bool requests = class_requests(c, spec->role);
		bool responds = class_responds(c, spec->role);

		bytes += c->qps * (layout_half_bytes(c, requests, responds) +
				   (requests ? class_window(c) * send : 0) +
				   (responds ? layout_receives(c) * receive : 0));
	}
	return bytes;
}

size_t worker_bytes(const struct worker *w)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct qp_flow *f = &w->flow[i];

		bytes += layout_half_bytes(f->class, f->tx.on, f->rx.on);
	}
	return bytes ? bytes : 64;
}

/* Grants remote access only if a verb needs it. */
int worker_access(const struct worker *w)
{
	static const int needs[TRAFFIC_VERBS] = {
		[TRAFFIC_WRITE] = IBV_ACCESS_REMOTE_WRITE,
		[TRAFFIC_WRITE_IMM] = IBV_ACCESS_REMOTE_WRITE,
		[TRAFFIC_READ] = IBV_ACCESS_REMOTE_READ,
		[TRAFFIC_ATOMIC] = IBV_ACCESS_REMOTE_ATOMIC,
	};
	int access = IBV_ACCESS_LOCAL_WRITE;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		if (w->flow[i].rx.on)
			access |= needs[w->flow[i].class->verb];
	}
	return access;
}

#define OPCODE(code)                                                                               \
	{                                                                                          \
		code, #code                                                                        \
	}
static const struct {
	enum ibv_wr_opcode code;
	const char *name;
} opcodes[TRAFFIC_VERBS] = {
	[TRAFFIC_WRITE] = OPCODE(IBV_WR_RDMA_WRITE),
	[TRAFFIC_WRITE_IMM] = OPCODE(IBV_WR_RDMA_WRITE_WITH_IMM),
	[TRAFFIC_READ] = OPCODE(IBV_WR_RDMA_READ),
	[TRAFFIC_SEND] = OPCODE(IBV_WR_SEND),
	[TRAFFIC_SEND_IMM] = OPCODE(IBV_WR_SEND_WITH_IMM),
	[TRAFFIC_ATOMIC] = OPCODE(IBV_WR_ATOMIC_FETCH_AND_ADD),
};

/* Names the call by which the peer posts receives. */
static const char *layout_receive_verb(const struct traffic_class *c)
{
	if (!layout_posts_receives(c))
		return "";
	return c->transport == TRAFFIC_XRC ? "ibv_post_srq_recv (IBV_SRQT_XRC) on the peer; "
					   : "ibv_post_recv on the peer; ";
}

void traffic_class_verbs(const struct traffic_class *c, char *buf, size_t size)
{
	static const char *const types[TRAFFIC_TRANSPORTS] = {
		[TRAFFIC_RC] = "IBV_QPT_RC",
		[TRAFFIC_UC] = "IBV_QPT_UC",
		[TRAFFIC_UD] = "IBV_QPT_UD",
		[TRAFFIC_XRC] = "IBV_QPT_XRC_SEND to IBV_QPT_XRC_RECV",
	};

	snprintf(buf, size,
		 "%s; ibv_post_send of %s in lists of %u, the last one signaled, at most %u "
		 "outstanding; %s%sibv_poll_cq%s",
		 types[c->transport], opcodes[c->verb].name, class_post_list(c),
		 c->probe ? 1 : class_flight(c), layout_receive_verb(c),
		 class_polls(c) ? "the receiver polls the last byte of its buffer; " : "",
		 class_needs_credit(c)
			 ? "; the receiver returns credits with IBV_WR_RDMA_WRITE_WITH_IMM on a "
			   "separate queue pair"
			 : "");
}

static int layout_prepare_requester(struct qp_flow *f, struct err *e)
{
	struct qp_requester *x = &f->tx;

	x->post_list = class_post_list(f->class);
	x->flight = class_flight(f->class);
	x->needs_credit = class_needs_credit(f->class);
	x->limit = f->class->count ? f->class->count : UINT64_MAX;
	x->wr = calloc(f->window, sizeof(*x->wr));
	x->sge = calloc(f->window, sizeof(*x->sge));
	x->posted_ns = calloc(f->window, sizeof(*x->posted_ns));
	if (!x->wr || !x->sge || !x->posted_ns)
		return err_sys(e, -ENOMEM, "traffic");
	for (uint32_t i = 0; i < f->window; i++) {
		bool last = i % x->post_list == x->post_list - 1;

		x->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)(x->slot + qp_flow_offset(f, i)),
			.length = class_bytes(f->class),
			.lkey = f->worker->mr->lkey,
		};
		x->wr[i] = (struct ibv_send_wr){
			.wr_id = WR_ID(f->at, i),
			.next = x->post_list > 1 ? &x->wr[(i + 1) % f->window] : NULL,
			.sg_list = &x->sge[i],
			.num_sge = 1,
			.opcode = opcodes[f->class->verb].code,
			.send_flags = last ? IBV_SEND_SIGNALED : 0,
		};
	}
	return 0;
}

static int layout_prepare_responder(struct qp_flow *f, struct err *e)
{
	struct qp_responder *x = &f->rx;
	uint32_t stride = layout_arrival_stride(f->class),
		 head = stride > f->stride ? TRAFFIC_GRH_BYTES : 0;
	uint32_t skip = head ? GRH_ROOM - head : 0;

	x->receives = layout_receives(f->class);
	if (!x->receives)
		return 0;
	x->wr = calloc(x->receives, sizeof(*x->wr));
	x->sge = calloc(x->receives, sizeof(*x->sge));
	if (!x->wr || !x->sge)
		return err_sys(e, -ENOMEM, "traffic");
	for (uint32_t i = 0; i < x->receives; i++) {
		size_t at = (size_t)(i % layout_arrival_slots(f->class)) * stride + skip;

		x->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)(x->slot + at),
			.length = class_bytes(f->class) + head,
			.lkey = f->worker->mr->lkey,
		};
		x->wr[i] = (struct ibv_recv_wr){
			.wr_id = WR_ID(f->at, i),
			.next = &x->wr[(i + 1) % x->receives],
			.sg_list = &x->sge[i],
			.num_sge = traffic_verb_sends(f->class->verb) ? 1 : 0,
		};
	}
	return 0;
}

/* Fills the source of READs: message n in slot n, constant. */
static void layout_fill_read_target(struct qp_flow *f)
{
	for (uint32_t i = 0; i < f->slots; i++) {
		const struct pattern_id id = {f->worker->t->spec.seed, i, i, PATTERN_DATA,
					      f->index};

		pattern_fill(f->rx.slot + (size_t)i * f->stride, f->class->message_bytes, &id);
	}
}

int qp_flow_prepare(struct qp_flow *f, uint8_t **memory, struct err *e)
{
	int err = 0;

	if (f->tx.on) {
		f->tx.slot = *memory;
		*memory += (size_t)f->slots * f->stride;
		err = layout_prepare_requester(f, e);
	}
	if (!err && f->rx.on) {
		f->rx.slot = *memory;
		*memory += (size_t)layout_arrival_slots(f->class) * layout_arrival_stride(f->class);
		f->self.addr = (uintptr_t)f->rx.slot;
		f->self.rkey = f->worker->mr->rkey;
		if (class_polls(f->class))
			qp_flow_set_due(f);
		err = layout_prepare_responder(f, e);
	}
	if (!err && f->rx.on && f->class->verb == TRAFFIC_READ &&
	    f->class->message_bytes >= TRAFFIC_CHECKED_MIN)
		layout_fill_read_target(f);
	return err;
}

/* All atomics of a QP use one counter: each returns the value after the previous one. */
static void layout_set_remote(struct qp_flow *f, struct ibv_send_wr *wr, uint64_t addr)
{
	if (f->class->verb == TRAFFIC_ATOMIC) {
		wr->wr.atomic.remote_addr = f->remote.addr;
		wr->wr.atomic.rkey = f->remote.rkey;
		wr->wr.atomic.compare_add = 1;
	} else if (f->class->transport == TRAFFIC_UD) {
		wr->wr.ud.ah = f->tx.ah;
		wr->wr.ud.remote_qpn = f->remote.qpn;
		wr->wr.ud.remote_qkey = (uint32_t)f->worker->t->spec.seed & 0x7fffffff;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = f->remote.rkey;
	}
	if (f->class->transport == TRAFFIC_XRC) /* also for WRITE: memory belongs to a domain */
		wr->qp_type.xrc.remote_srqn = f->remote.srqn;
}

void qp_flow_set_remote(struct qp_flow *f)
{
	const struct traffic_class *c = f->class;
	uint64_t step_ns = c->rate_bytes_per_s ? throttle_step_ns(c) : 0, late_ns = step_ns;

	for (uint32_t i = 0; f->tx.on && i < f->window; i++)
		layout_set_remote(f, &f->tx.wr[i], f->remote.addr + qp_flow_offset(f, i));
	if (step_ns && f->worker->t->soft)
		late_ns = throttle_late_ns(c, true);
	/* Staggers the start of the flows. */
	if (c->qps > 1)
		pace_init(&f->tx.pace, c->rate_bytes_per_s / c->qps, late_ns,
			  f->worker->t->start_ns + f->number * step_ns);
}

void qp_flow_clear(struct qp_flow *f)
{
	free(f->tx.wr);
	free(f->tx.sge);
	free(f->tx.posted_ns);
	free(f->rx.wr);
	free(f->rx.sge);
}
