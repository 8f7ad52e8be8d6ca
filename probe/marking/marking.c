/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one side of a marking test: device, memory, queue pairs, address handles, datagrams.
 */
#include "probe/marking/marking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/decode/packet.h"
#include "probe/marking/marking_priv.h"
#include "probe/traffic/traffic_pattern.h"

#define HOP_LIMIT 64

static uint32_t marking_qkey(const struct marking *x)
{
	return (uint32_t)x->spec.seed & 0x7fffffff; /* the kernel uses the high bit */
}

/* Neighboring labels give different source ports. 0 is not a valid label. */
static uint32_t marking_flow_label(unsigned int path)
{
	return path * 61 + 1;
}

static int marking_qp_to_rts(struct marking *x, struct ibv_qp *qp, struct err *e)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = x->spec.ib_port, .qkey = marking_qkey(x)};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	int err = traffic_set_state(&x->device, qp, &init, init_mask, "INIT", e);

	if (!err)
		err = traffic_set_state(&x->device, qp, &rtr, IBV_QP_STATE, "RTR", e);
	if (!err)
		err = traffic_set_state(&x->device, qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN, "RTS",
					e);
	return err;
}

static int marking_open_qps(struct marking *x, struct err *e)
{
	const char *name = x->spec.ibdev;
	int err = 0;

	x->cq = ibv_create_cq(x->device.ctx, MARKING_RECEIVES + MARKING_SENDS + 2, NULL, NULL, 0);
	if (!x->cq)
		return err_sys(e, -errno, "%s: completion queue", name);
	for (unsigned int i = 0; i < x->path_count && !err; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = x->cq,
			.recv_cq = x->cq,
			.cap = {.max_send_wr = MARKING_SENDS,
				.max_recv_wr = i ? 1 : MARKING_RECEIVES,
				.max_send_sge = 1,
				.max_recv_sge = 1},
			.qp_type = IBV_QPT_UD,
		};

		x->qp[i] = ibv_create_qp(x->device.pd, &init);
		err = x->qp[i] ? marking_qp_to_rts(x, x->qp[i], e)
			       : err_sys(e, -errno, "%s: UD queue pair %u", name, i);
	}
	return err;
}

static uint32_t marking_max_bytes(const struct marking *x)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < x->flow_count; i++)
		for (unsigned int k = 0; k < 2; k++)
			if (x->flow[i].bytes[k] > most)
				most = x->flow[i].bytes[k];
	return most;
}

static int marking_reg_memory(struct marking *x, struct err *e)
{
	x->stride = (marking_max_bytes(x) + MARKING_HEADER_BYTES + 63) & ~63u;
	for (unsigned int i = 0; i < MARKING_SENDS; i++)
		x->unused[x->unused_count++] = (uint16_t)i;
	return traffic_map(&x->device, (size_t)x->stride * (MARKING_RECEIVES + MARKING_SENDS),
			   IBV_ACCESS_LOCAL_WRITE, &x->memory, &x->memory_bytes, &x->mr, e);
}

int marking_open(const struct marking_spec *s, struct marking **out, struct err *e)
{
	struct marking *x;
	int err = marking_spec_check(s, e);

	if (err)
		return err;
	x = calloc(1, sizeof(*x));
	if (!x)
		return err_sys(e, -ENOMEM, "marking echo");
	x->spec = *s;
	memcpy(x->device.spec.ibdev, s->ibdev, sizeof(s->ibdev));
	x->device.spec.ib_port = s->ib_port;
	x->device.spec.gid_index = s->gid_index;
	x->path_count = marking_paths(s);
	x->flow_count = marking_flows(s, x->flow);
	err = traffic_open_device(&x->device, e);
	if (!err)
		err = marking_reg_memory(x, e);
	if (!err)
		err = marking_open_qps(x, e);
	if (err)
		marking_close(x);
	else
		*out = x;
	return err;
}

void marking_close(struct marking *x)
{
	if (!x)
		return;
	for (unsigned int i = 0; i < x->flow_count; i++)
		if (x->ah[i])
			ibv_destroy_ah(x->ah[i]);
	for (unsigned int i = 0; i < x->path_count; i++)
		if (x->qp[i])
			ibv_destroy_qp(x->qp[i]);
	if (x->cq)
		ibv_destroy_cq(x->cq);
	if (x->mr)
		ibv_dereg_mr(x->mr);
	if (x->memory)
		munmap(x->memory, x->memory_bytes);
	if (x->device.pd)
		ibv_dealloc_pd(x->device.pd);
	if (x->device.ctx)
		ibv_close_device(x->device.ctx);
	free(x);
}

void marking_self(const struct marking *x, struct traffic_endpoint *self)
{
	*self = x->device.self;
	self->qp_count = 1;
	self->qp[0] = (struct traffic_qp){.qpn = x->qp[0]->qp_num};
}

static int marking_create_ah(struct marking *x, unsigned int i, const uint8_t gid[16],
			     struct err *e)
{
	const struct marking_class *c = &x->spec.class[x->flow[i].class];
	struct ibv_ah_attr ah = {
		.is_global = 1,
		.port_num = x->spec.ib_port,
		.sl = c->sl,
		.grh = {.sgid_index = (uint8_t)x->spec.gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = c->tos,
			.flow_label = marking_flow_label(x->flow[i].path)},
	};

	memcpy(ah.grh.dgid.raw, gid, sizeof(ah.grh.dgid.raw));
	x->ah[i] = ibv_create_ah(x->device.pd, &ah);
	return x->ah[i] ? 0 : err_sys(e, -errno, "%s: address handle", x->spec.ibdev);
}

/* Posts receive slot n again. */
static int marking_post_recv(struct marking *x, unsigned int n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(x->memory + (size_t)n * x->stride),
		.length = x->stride,
		.lkey = x->mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1}, *bad;

	return -ibv_post_recv(x->qp[0], &wr, &bad);
}

int marking_connect(struct marking *x, const struct traffic_endpoint *peer, struct err *e)
{
	int err = 0;

	if (peer->qp_count != 1)
		return err_set(e, -EPROTO, "marking echo: the peer has %u queue pairs, not 1",
			       peer->qp_count);
	x->peer = peer->qp[0];
	for (unsigned int i = 0; i < x->flow_count && !err; i++)
		err = marking_create_ah(x, i, peer->gid, e);
	for (unsigned int i = 0; i < MARKING_RECEIVES && !err; i++) {
		err = marking_post_recv(x, i);
		if (err)
			err_sys(e, err, "%s: receive", x->spec.ibdev);
	}
	x->connected = !err;
	return err;
}

/* Sends a datagram of a flow; -EAGAIN: no free slot. */
static int marking_post_send(struct marking *x, unsigned int flow, uint32_t kind, uint32_t sequence,
			     uint32_t slot)
{
	const struct marking_flow *f = &x->flow[flow];
	const struct pattern_id id = {x->spec.seed, sequence, slot, kind, flow};
	uint32_t bytes = f->bytes[kind == MARKING_ANSWER];
	struct ibv_send_wr wr = {
		.num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_sge sge = {.length = bytes, .lkey = x->mr->lkey};
	struct ibv_send_wr *bad;
	unsigned int n;
	int rc;

	if (!x->unused_count)
		return -EAGAIN;
	n = x->unused[x->unused_count - 1] + MARKING_RECEIVES;
	sge.addr = (uintptr_t)(x->memory + (size_t)n * x->stride);
	wr.wr_id = n;
	wr.sg_list = &sge;
	wr.wr.ud.ah = x->ah[flow];
	wr.wr.ud.remote_qpn = x->peer.qpn;
	wr.wr.ud.remote_qkey = marking_qkey(x);
	pattern_fill((void *)(uintptr_t)sge.addr, bytes, &id);
	rc = ibv_post_send(x->qp[f->path], &wr, &bad);
	if (!rc)
		x->unused_count--;
	return rc == ENOMEM ? -EAGAIN : -rc;
}

/* Parses and checks the IP header before a UD receive. */

#define IPV4_AT	   20
#define IPV4_BYTES 20
#define PROTO_UDP  17

uint16_t marking_checksum(const uint8_t *p, unsigned int n)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/*
 *  0       1       2       3
 * +-------+-------+---------------+
 * |ver ihl|  ToS  | total length  |
 * |  identification |f|  offset   |
 * |  TTL  | proto |   checksum    |
 * |       source address          |
 * |     destination address       |
 */
static int marking_parse_ipv4(const uint8_t *p, const uint8_t gid[16], struct marking_ip *ip)
{
	if (p[0] != 0x45 || p[9] != PROTO_UDP || memcmp(p + 16, gid + 12, 4) ||
	    marking_checksum(p, IPV4_BYTES))
		return -EINVAL;
	*ip = (struct marking_ip){.version = 4, .tos = p[1], .ttl = p[8]};
	return 0;
}

/*
 *  0       1       2       3
 * +---+-------+-------------------+
 * |ver| class |    flow label     |
 * | payload length| next  | hops  |
 * |    source address (16)        |
 * |  destination address (16)     |
 */
static int marking_parse_ipv6(const uint8_t *p, const uint8_t gid[16], struct marking_ip *ip)
{
	if (p[0] >> 4 != 6 || p[6] != PROTO_UDP || memcmp(p + 24, gid, 16))
		return -EINVAL;
	*ip = (struct marking_ip){
		.version = 6,
		.tos = (uint8_t)(p[0] << 4 | p[1] >> 4),
		.ttl = p[7],
	};
	return 0;
}

int marking_header_parse(const uint8_t head[MARKING_HEADER_BYTES], const uint8_t gid[16],
			 struct marking_ip *ip)
{
	return packet_addr_is_ipv4(gid) ? marking_parse_ipv4(head + IPV4_AT, gid, ip)
					: marking_parse_ipv6(head, gid, ip);
}

/* Run of a marking test. Every byte of a datagram is checked before it counts: any host may have
 * sent it. The client keeps few requests outstanding, so that neither host is overrun and a loss is
 * a loss of the path; a request without reply in time counts as lost. */

#define WINDOW	     32u
#define ANSWER_MS    100u  /* without a reply: outstanding requests are lost */
#define LINGER_MS    1000u /* after the last request: a host may have no CPU for a while */
#define IDLE_US	     50u
#define POLL_AT_ONCE 16

struct marking_exec {
	struct marking *x;
	struct marking_result *r;
	uint64_t now_ns, progress_ns, due_ns;
	uint32_t sent, answered, written_off;
	unsigned int round;		       /* of the next request */
	unsigned int order[MARKING_FLOWS_MAX]; /* flows of the round */
	unsigned int order_count, order_place; /* of the next request */
	uint64_t seen[MARKING_FLOWS_MAX][MARKING_COUNT_MAX / 64];
	bool failed;
};

static void marking_fail(struct marking_exec *k, const char *what, const char *why)
{
	if (!k->failed)
		snprintf(k->r->detail, sizeof(k->r->detail), "%s: %s", what, why);
	k->failed = true;
}

static void marking_count_tos(struct marking_record *r, uint8_t tos, uint8_t ttl)
{
	for (unsigned int i = 0; i < r->seen_count; i++) {
		if (r->seen[i].tos == tos && r->seen[i].ttl == ttl) {
			r->seen[i].count++;
			return;
		}
	}
	if (r->seen_count == MARKING_SEEN_MAX)
		r->others++;
	else
		r->seen[r->seen_count++] = (struct marking_seen){tos, ttl, 1};
}

/* Counts the request header that a reply reports; 0: the header was not readable. */
static void marking_count_answer(struct marking_record *r, uint32_t saw)
{
	r->arrived++;
	if (saw)
		marking_count_tos(r, (uint8_t)(saw >> 8), (uint8_t)saw);
	else
		r->unread++;
}

static void marking_send_answer(struct marking_exec *k, const struct pattern_id *id, uint32_t saw)
{
	int err = k->x->flow[id->flow].bytes[1] > k->x->device.self.mtu
			  ? -EAGAIN
			  : marking_post_send(k->x, id->flow, MARKING_ANSWER,
					      (uint32_t)id->sequence, saw);

	if (!err)
		k->r->flow[id->flow].sent++;
	else if (err != -EAGAIN)
		marking_fail(k, "answering", strerror(-err));
}

/* Checks run, flow, number, length and every byte. False: foreign or corrupt, and counted as such.
 */
static bool marking_check_datagram(struct marking_exec *k, const uint8_t *p, uint32_t bytes,
				   struct pattern_id *id)
{
	const struct marking *x = k->x;
	bool client = x->spec.role == TRAFFIC_CLIENT;
	uint32_t kind = client ? MARKING_ANSWER : MARKING_REQUEST;
	uint64_t offset;

	if (pattern_peek(p, bytes, x->spec.seed, id) || id->kind != kind ||
	    id->flow >= x->flow_count || id->sequence >= x->flow[id->flow].count ||
	    (client ? id->slot && id->slot >> 16 != 1 : id->slot)) {
		k->r->foreign++;
		return false;
	}
	if (bytes == x->flow[id->flow].bytes[client] &&
	    pattern_check(p, bytes, id, &offset) == PATTERN_OK)
		return true;
	k->r->flow[id->flow].here.wrong++;
	return false;
}

static void marking_count_arrival(struct marking_exec *k, const uint8_t *head,
				  const struct pattern_id *id)
{
	struct marking_flow_result *f = &k->r->flow[id->flow];
	uint64_t bit = UINT64_C(1) << id->sequence % 64;
	uint64_t *word = &k->seen[id->flow][id->sequence / 64];
	struct marking_ip ip;
	uint32_t saw = 0;

	if (*word & bit) {
		f->here.repeated++;
		return;
	}
	*word |= bit;
	f->here.arrived++;
	if (marking_header_parse(head, k->x->device.self.gid, &ip)) {
		f->here.unread++;
	} else {
		marking_count_tos(&f->here, ip.tos, ip.ttl);
		saw = MARKING_SAW(ip.tos, ip.ttl);
	}
	if (k->x->spec.role == TRAFFIC_SERVER) {
		marking_send_answer(k, id, saw);
	} else {
		marking_count_answer(&f->there, id->slot);
		k->answered++;
	}
	k->progress_ns = k->now_ns;
}

static void marking_on_recv(struct marking_exec *k, const struct ibv_wc *wc)
{
	const uint8_t *p = k->x->memory + (size_t)wc->wr_id * k->x->stride;
	struct pattern_id id;
	int err;

	if (wc->byte_len <= MARKING_HEADER_BYTES || wc->byte_len > k->x->stride)
		k->r->foreign++;
	else if (marking_check_datagram(k, p + MARKING_HEADER_BYTES,
					wc->byte_len - MARKING_HEADER_BYTES, &id))
		marking_count_arrival(k, p, &id);
	err = marking_post_recv(k->x, (unsigned int)wc->wr_id);
	if (err)
		marking_fail(k, "posting a receive", strerror(-err));
}

static void marking_on_completion(struct marking_exec *k, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		marking_fail(k, wc->wr_id < MARKING_RECEIVES ? "a receive" : "a send",
			     ibv_wc_status_str(wc->status));
		return;
	}
	if (wc->wr_id < MARKING_RECEIVES)
		marking_on_recv(k, wc);
	else
		k->x->unused[k->x->unused_count++] = (uint16_t)(wc->wr_id - MARKING_RECEIVES);
}

/* Returns the number of completions. */
static int marking_poll_cq(struct marking_exec *k)
{
	struct ibv_wc wc[POLL_AT_ONCE];
	int n = ibv_poll_cq(k->x->cq, POLL_AT_ONCE, wc);

	if (n < 0)
		marking_fail(k, "completion queue", "polling failed");
	for (int i = 0; i < n && !k->failed; i++)
		marking_on_completion(k, &wc[i]);
	return n;
}

/* Lists the flows of the round that this port can send, in a random order: a hop that drops every
 * n-th packet would otherwise hit a few source ports alone. */
static void marking_begin_round(struct marking_exec *k)
{
	const struct marking *x = k->x;

	k->order_count = k->order_place = 0;
	for (unsigned int i = 0; i < x->flow_count; i++)
		if (k->round < x->flow[i].count && x->flow[i].bytes[0] <= x->device.self.mtu)
			k->order[k->order_count++] = i;
	shuffle(k->order, k->order_count, x->spec.seed + k->round);
}

/* Returns true while a request is left to send; then it is at order_place. */
static bool marking_find_next(struct marking_exec *k)
{
	while (k->order_place == k->order_count && ++k->round < MARKING_COUNT_MAX)
		marking_begin_round(k);
	return k->order_place < k->order_count;
}

static void marking_send_request(struct marking_exec *k)
{
	unsigned int flow = k->order[k->order_place];
	int err = marking_post_send(k->x, flow, MARKING_REQUEST, k->round, 0);

	if (err == -EAGAIN)
		return;
	if (err) {
		marking_fail(k, "sending", strerror(-err));
		return;
	}
	k->r->flow[flow].sent++;
	k->order_place++;
	if (k->sent - k->written_off == k->answered)
		k->progress_ns = k->now_ns; /* starts the wait for a reply */
	k->sent++;
	k->due_ns = k->now_ns + k->x->spec.gap_us * UINT64_C(1000);
}

/* Runs one turn of the client; false: finished. */
static bool marking_client_step(struct marking_exec *k)
{
	uint32_t known = k->answered + k->written_off;
	uint32_t under_way = k->sent > known ? k->sent - known : 0;
	uint64_t waited_ms = (k->now_ns - k->progress_ns) / NS_PER_MS;
	bool more = marking_find_next(k);

	if (!more && (k->answered >= k->sent || waited_ms >= LINGER_MS))
		return false;
	if (more && under_way >= WINDOW && waited_ms >= ANSWER_MS) {
		k->written_off = k->sent > k->answered ? k->sent - k->answered : 0;
		under_way = 0;
	}
	if (more && under_way < WINDOW && k->now_ns >= k->due_ns)
		marking_send_request(k);
	return true;
}

static void marking_result_init(struct marking_exec *k)
{
	const struct marking *x = k->x;

	memset(k->r, 0, sizeof(*k->r));
	k->r->mtu = x->device.self.mtu;
	k->r->path_count = x->path_count;
	k->r->flow_count = x->flow_count;
	for (unsigned int i = 0; i < x->path_count; i++)
		k->r->port[i] = x->device.soft ? marking_soft_port(x->qp[i]->qp_num)
					       : marking_label_port(marking_flow_label(i));
}

int marking_run(struct marking *x, const atomic_int *stop, struct marking_result *r, struct err *e)
{
	struct marking_exec k = {.x = x, .r = r, .now_ns = monotonic_ns()};
	uint64_t end_ns = k.now_ns + x->spec.duration_ms * NS_PER_MS;
	bool client = x->spec.role == TRAFFIC_CLIENT, more = true;

	if (!x->connected)
		return err_set(e, -ENOTCONN, "%s: not connected", x->spec.ibdev);
	marking_result_init(&k);
	marking_begin_round(&k);
	k.progress_ns = k.now_ns;
	while (more && !k.failed && !*stop && k.now_ns < end_ns) {
		int came = marking_poll_cq(&k);

		k.now_ns = monotonic_ns();
		if (client)
			more = marking_client_step(&k);
		if (!came)
			usleep(IDLE_US);
	}
	if (client && more && !k.failed)
		marking_fail(&k, *stop ? "stopped" : "timeout", "not all datagrams were sent");
	return 0;
}
