/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run of a marking echo. A datagram that came is checked in each byte before it counts: it may
 * be anybody's. The client keeps few on their way, so that neither end is overrun and a loss is one
 * of the path, and writes off what is not answered in time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/marking/echo_end.h"
#include "probe/traffic/traffic_pattern.h"

#define WINDOW	     32u
#define ANSWER_MS    100u  /* without any answer: what is under way is lost */
#define LINGER_MS    1000u /* after the last one: a host may stand still for a while */
#define IDLE_US	     50u
#define POLL_AT_ONCE 16

struct run {
	struct echo *x;
	struct echo_result *r;
	uint64_t now_ns, progress_ns, due_ns;
	uint32_t sent, answered, written_off;
	unsigned int flow, round; /* that comes next */
	uint64_t seen[ECHO_FLOWS_MAX][ECHO_COUNT_MAX / 64];
	bool failed;
};

static void fail(struct run *k, const char *what, const char *why)
{
	if (!k->failed)
		snprintf(k->r->detail, sizeof(k->r->detail), "%s: %s", what, why);
	k->failed = true;
}

static void note_marking(struct echo_record *r, uint8_t tos, uint8_t ttl)
{
	for (unsigned int i = 0; i < r->seen_count; i++) {
		if (r->seen[i].tos == tos && r->seen[i].ttl == ttl) {
			r->seen[i].count++;
			return;
		}
	}
	if (r->seen_count == ECHO_SEEN_MAX)
		r->others++;
	else
		r->seen[r->seen_count++] = (struct echo_seen){tos, ttl, 1};
}

/* What an answer says of its request; 0 says that its header could not be read. */
static void note_there(struct echo_record *r, uint32_t saw)
{
	r->arrived++;
	if (saw)
		note_marking(r, (uint8_t)(saw >> 8), (uint8_t)saw);
	else
		r->unread++;
}

static void answer(struct run *k, const struct pattern_id *id, uint32_t saw)
{
	int err = k->x->flow[id->flow].bytes[1] > k->x->device.self.mtu
			  ? -EAGAIN
			  : echo_send(k->x, id->flow, ECHO_ANSWER, (uint32_t)id->sequence, saw);

	if (!err)
		k->r->flow[id->flow].sent++;
	else if (err != -EAGAIN)
		fail(k, "answering", strerror(-err));
}

/* Of this run, of a flow and number that there are, of its length, every byte right. False: it is
 * none of ours, or was spoiled, and is counted so. */
static bool check(struct run *k, const uint8_t *p, uint32_t bytes, struct pattern_id *id)
{
	const struct echo *x = k->x;
	bool client = x->spec.role == TRAFFIC_CLIENT;
	uint32_t kind = client ? ECHO_ANSWER : ECHO_REQUEST;
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

static void arrived(struct run *k, const uint8_t *head, const struct pattern_id *id)
{
	struct echo_flow_result *f = &k->r->flow[id->flow];
	uint64_t bit = UINT64_C(1) << id->sequence % 64;
	uint64_t *word = &k->seen[id->flow][id->sequence / 64];
	struct echo_ip ip;
	uint32_t saw = 0;

	if (*word & bit) {
		f->here.repeated++;
		return;
	}
	*word |= bit;
	f->here.arrived++;
	if (echo_header_read(head, k->x->device.self.gid, &ip)) {
		f->here.unread++;
	} else {
		note_marking(&f->here, ip.tos, ip.ttl);
		saw = ECHO_SAW(ip.tos, ip.ttl);
	}
	if (k->x->spec.role == TRAFFIC_SERVER) {
		answer(k, id, saw);
	} else {
		note_there(&f->there, id->slot);
		k->answered++;
	}
	k->progress_ns = k->now_ns;
}

static void received(struct run *k, const struct ibv_wc *wc)
{
	const uint8_t *p = k->x->memory + (size_t)wc->wr_id * k->x->stride;
	struct pattern_id id;
	int err;

	if (wc->byte_len <= ECHO_HEADER_BYTES || wc->byte_len > k->x->stride)
		k->r->foreign++;
	else if (check(k, p + ECHO_HEADER_BYTES, wc->byte_len - ECHO_HEADER_BYTES, &id))
		arrived(k, p, &id);
	err = echo_post_receive(k->x, (unsigned int)wc->wr_id);
	if (err)
		fail(k, "posting a receive", strerror(-err));
}

static void completed(struct run *k, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fail(k, wc->wr_id < ECHO_RECEIVES ? "a receive" : "a send",
		     ibv_wc_status_str(wc->status));
		return;
	}
	if (wc->wr_id < ECHO_RECEIVES)
		received(k, wc);
	else
		k->x->unused[k->x->unused_count++] = (uint16_t)(wc->wr_id - ECHO_RECEIVES);
}

/* How many came. */
static int drain(struct run *k)
{
	struct ibv_wc wc[POLL_AT_ONCE];
	int n = ibv_poll_cq(k->x->cq, POLL_AT_ONCE, wc);

	if (n < 0)
		fail(k, "completion queue", "it cannot be read");
	for (int i = 0; i < n && !k->failed; i++)
		completed(k, &wc[i]);
	return n;
}

/* The flow of the next request; false: all were sent. Those that this port cannot send are left
 * out. */
static bool find_next(struct run *k)
{
	for (; k->round < ECHO_COUNT_MAX; k->round++, k->flow = 0)
		for (; k->flow < k->x->flow_count; k->flow++)
			if (k->round < k->x->flow[k->flow].count &&
			    k->x->flow[k->flow].bytes[0] <= k->x->device.self.mtu)
				return true;
	return false;
}

static void request(struct run *k)
{
	int err = echo_send(k->x, k->flow, ECHO_REQUEST, k->round, 0);

	if (err == -EAGAIN)
		return;
	if (err) {
		fail(k, "sending", strerror(-err));
		return;
	}
	k->r->flow[k->flow++].sent++;
	if (k->sent - k->written_off == k->answered)
		k->progress_ns = k->now_ns; /* the wait for an answer begins */
	k->sent++;
	k->due_ns = k->now_ns + k->x->spec.gap_us * UINT64_C(1000);
}

/* One turn of the client; false: it has done all. */
static bool client_turn(struct run *k)
{
	uint32_t known = k->answered + k->written_off;
	uint32_t under_way = k->sent > known ? k->sent - known : 0;
	uint64_t waited_ms = (k->now_ns - k->progress_ns) / NS_PER_MS;
	bool more = find_next(k);

	if (!more && (k->answered >= k->sent || waited_ms >= LINGER_MS))
		return false;
	if (more && under_way >= WINDOW && waited_ms >= ANSWER_MS) {
		k->written_off = k->sent > k->answered ? k->sent - k->answered : 0;
		under_way = 0;
	}
	if (more && under_way < WINDOW && k->now_ns >= k->due_ns)
		request(k);
	return true;
}

static void begin(struct run *k)
{
	const struct echo *x = k->x;

	memset(k->r, 0, sizeof(*k->r));
	k->r->mtu = x->device.self.mtu;
	k->r->path_count = x->path_count;
	k->r->flow_count = x->flow_count;
	for (unsigned int i = 0; i < x->path_count; i++)
		k->r->port[i] = echo_path_port(x, i);
}

int echo_run(struct echo *x, const atomic_int *stop, struct echo_result *r, struct err *e)
{
	struct run k = {.x = x, .r = r, .now_ns = traffic_now_ns()};
	uint64_t end_ns = k.now_ns + x->spec.duration_ms * NS_PER_MS;
	bool client = x->spec.role == TRAFFIC_CLIENT, more = true;

	if (!x->connected)
		return err_set(e, -ENOTCONN, "%s: not connected", x->spec.ibdev);
	begin(&k);
	k.progress_ns = k.now_ns;
	while (more && !k.failed && !*stop && k.now_ns < end_ns) {
		int came = drain(&k);

		k.now_ns = traffic_now_ns();
		if (client)
			more = client_turn(&k);
		if (!came)
			usleep(IDLE_US);
	}
	if (client && more && !k.failed)
		fail(&k, *stop ? "stopped" : "its time passed", "not all was sent");
	return 0;
}
