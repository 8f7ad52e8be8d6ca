/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One end of RDMA traffic: device, memory, queue pair, and the way to RTS. QP attributes are finite
 * on purpose: retry_cnt 7 never gives up on Soft-RoCE (rxe of Linux 6.1 and 6.12), and rnr_retry 7
 * nowhere.
 */
#include "probe/traffic.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "probe/traffic_end.h"

#define RING_BYTES     (2u << 20) /* wished size; two of the largest messages need more */
#define RETRY_COUNT    6
#define RNR_RETRY      6
#define MIN_RNR_TIMER  12 /* 0.64 ms */
#define TIMEOUT_SOFT   18 /* 1.07 s: at 14 rxe retransmits though nothing was lost */
#define TIMEOUT_DEVICE 16 /* 0.27 s */
#define HOP_LIMIT      64

uint64_t traffic_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A power of two, so that a quarter of the ring is a whole number of messages (credits). */
uint32_t traffic_slots(uint32_t message_bytes)
{
	uint32_t slots = TRAFFIC_SLOTS_MAX;

	while (slots > TRAFFIC_SLOTS_MIN && (uint64_t)slots * message_bytes > RING_BYTES)
		slots /= 2;
	return slots;
}

/* What this engine does of what a spec can ask for. */
static int check_spec(const struct traffic_spec *spec, struct err *e)
{
	const struct traffic_class *c = &spec->class[0];
	bool verb = c->verb == TRAFFIC_WRITE_IMM || c->verb == TRAFFIC_SEND;
	int err = traffic_spec_check(spec, e);

	if (err)
		return err;
	if (spec->class_count > 1 || c->qps > 1 || c->direction != TRAFFIC_FORWARD || c->probe ||
	    spec->mode != TRAFFIC_OBSERVE || c->transport != TRAFFIC_RC || !verb || c->count ||
	    !spec->duration_ms || spec->bringup != TRAFFIC_RAW)
		return err_set(e, -EOPNOTSUPP,
			       "traffic: one class of one RC queue pair forward, write_imm or "
			       "send, by time");
	return 0;
}

/* rxe and siw have no device behind them in sysfs. */
static bool is_soft(const char *ibdev)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", ibdev);
	return access(path, F_OK) != 0;
}

static int open_device(struct traffic *t, struct err *e)
{
	int n = 0, err = -ENODEV;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n; i++) {
		if (strcmp(ibv_get_device_name(list[i]), t->spec.ibdev))
			continue;
		t->ctx = ibv_open_device(list[i]);
		err = t->ctx ? 0 : -errno;
		break;
	}
	if (list)
		ibv_free_device_list(list);
	if (err)
		return err_sys(e, err, "%s: open", t->spec.ibdev);
	if (fcntl(t->ctx->async_fd, F_SETFL, fcntl(t->ctx->async_fd, F_GETFL) | O_NONBLOCK))
		return err_sys(e, -errno, "%s: events", t->spec.ibdev);
	t->soft = is_soft(t->spec.ibdev);
	return 0;
}

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static enum ibv_mtu mtu_code(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && mtu_bytes(mtu) > bytes)
		mtu--;
	return mtu;
}

static int query_port(struct traffic *t, struct err *e)
{
	const struct traffic_spec *s = &t->spec;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int rc = ibv_query_port(t->ctx, s->ib_port, &port);

	if (rc)
		return err_sys(e, -rc, "%s port %u: query", s->ibdev, s->ib_port);
	if (port.state != IBV_PORT_ACTIVE)
		return err_set(e, -ENETDOWN, "%s port %u: %s", s->ibdev, s->ib_port,
			       ibv_port_state_str(port.state));
	if (ibv_query_gid(t->ctx, s->ib_port, s->gid_index, &gid))
		return err_set(e, -ENODEV, "%s port %u: no GID at index %u", s->ibdev, s->ib_port,
			       s->gid_index);
	memcpy(t->self.gid, gid.raw, sizeof(t->self.gid));
	if (!gid.global.interface_id && !gid.global.subnet_prefix)
		return err_set(e, -ENODEV, "%s port %u: GID index %u is empty", s->ibdev,
			       s->ib_port, s->gid_index);
	t->self.mtu = mtu_bytes(port.active_mtu);
	return 0;
}

static int memory_error(const struct traffic *t, int err, size_t bytes, struct err *e)
{
	struct rlimit limit;

	err_sys(e, err, "%s: registering %zu KiB of memory", t->spec.ibdev, bytes >> 10);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < 2 * bytes)
		err_hint(e,
			 "the limit of locked memory is %llu KiB: raise it (ulimit -l unlimited)",
			 (unsigned long long)limit.rlim_cur >> 10);
	return err;
}

static int map_memory(struct traffic *t, size_t bytes, int access, uint8_t **mem, size_t *mapped,
		      struct ibv_mr **mr, struct err *e)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(e, -errno, "%zu KiB of memory", bytes >> 10);
	*mem = p;
	*mapped = bytes;
	*mr = ibv_reg_mr(t->pd, p, bytes, access);
	return *mr ? 0 : memory_error(t, -errno, bytes, e);
}

/* Remote access to the ring alone, and only where the verb needs it. */
static int ring_access(const struct traffic_spec *spec)
{
	bool target = spec->role == TRAFFIC_SERVER && spec->class[0].verb == TRAFFIC_WRITE_IMM;

	return IBV_ACCESS_LOCAL_WRITE | (target ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int open_memory(struct traffic *t, struct err *e)
{
	size_t cells = (TRAFFIC_CREDITS + TRAFFIC_SLOTS_MAX) * TRAFFIC_CELL;
	int err = map_memory(t, (size_t)t->slots * t->class->message_bytes, ring_access(&t->spec),
			     &t->ring, &t->ring_bytes, &t->ring_mr, e);

	if (err)
		return err;
	return map_memory(t, cells, IBV_ACCESS_LOCAL_WRITE, &t->cells, &t->cells_bytes,
			  &t->cells_mr, e);
}

static int open_queues(struct traffic *t, struct err *e)
{
	uint32_t depth = t->slots > TRAFFIC_CREDITS ? t->slots : TRAFFIC_CREDITS;
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = depth + 1,
			.max_recv_wr = depth + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	t->channel = ibv_create_comp_channel(t->ctx);
	if (!t->channel)
		return err_sys(e, -errno, "%s: completion channel", t->spec.ibdev);
	if (fcntl(t->channel->fd, F_SETFL, fcntl(t->channel->fd, F_GETFL) | O_NONBLOCK))
		return err_sys(e, -errno, "%s: completion channel", t->spec.ibdev);
	t->cq = ibv_create_cq(t->ctx, (int)(2 * depth + 2), NULL, t->channel, 0);
	if (!t->cq)
		return err_sys(e, -errno, "%s: completion queue", t->spec.ibdev);
	init.send_cq = init.recv_cq = t->cq;
	t->qp = ibv_create_qp(t->pd, &init);
	if (!t->qp)
		return err_sys(e, -errno, "%s: queue pair", t->spec.ibdev);
	return 0;
}

static int modify(struct traffic *t, struct ibv_qp_attr *attr, int mask, const char *step,
		  struct err *e)
{
	int rc = ibv_modify_qp(t->qp, attr, mask);

	return rc ? err_sys(e, -rc, "%s: queue pair 0x%x to %s", t->spec.ibdev, t->qp->qp_num, step)
		  : 0;
}

static int to_init(struct traffic *t, struct err *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = t->spec.ib_port,
		.qp_access_flags = (unsigned int)ring_access(&t->spec),
	};

	return modify(t, &attr,
		      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT",
		      e);
}

static void fill_self(struct traffic *t)
{
	uint32_t psn = 0;

	if (getrandom(&psn, sizeof(psn), 0) != (ssize_t)sizeof(psn))
		psn = (uint32_t)traffic_now_ns();
	t->self.qp_count = 1;
	t->self.qp[0].psn = psn & 0xffffff;
	t->self.qp[0].qpn = t->qp->qp_num;
	if (ring_access(&t->spec) & IBV_ACCESS_REMOTE_WRITE) {
		t->self.qp[0].addr = (uintptr_t)t->ring;
		t->self.qp[0].rkey = t->ring_mr->rkey;
	}
}

int traffic_open(const struct traffic_spec *spec, struct traffic **out, struct err *e)
{
	struct traffic *t;
	int err = check_spec(spec, e);

	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_sys(e, -ENOMEM, "traffic");
	t->spec = *spec;
	t->class = &t->spec.class[0];
	t->slots = traffic_slots(t->class->message_bytes);
	err = open_device(t, e);
	if (!err)
		err = query_port(t, e);
	if (!err) {
		t->pd = ibv_alloc_pd(t->ctx);
		if (!t->pd)
			err = err_sys(e, -errno, "%s: protection domain", spec->ibdev);
	}
	if (!err)
		err = open_memory(t, e);
	if (!err)
		err = open_queues(t, e);
	if (!err)
		err = to_init(t, e);
	if (err) {
		traffic_close(t);
		return err;
	}
	fill_self(t);
	*out = t;
	return 0;
}

void traffic_close(struct traffic *t)
{
	if (!t)
		return;
	if (t->qp)
		ibv_destroy_qp(t->qp);
	if (t->cq)
		ibv_destroy_cq(t->cq);
	if (t->channel)
		ibv_destroy_comp_channel(t->channel);
	if (t->ring_mr)
		ibv_dereg_mr(t->ring_mr);
	if (t->cells_mr)
		ibv_dereg_mr(t->cells_mr);
	if (t->pd)
		ibv_dealloc_pd(t->pd);
	if (t->ctx)
		ibv_close_device(t->ctx);
	if (t->ring)
		munmap(t->ring, t->ring_bytes);
	if (t->cells)
		munmap(t->cells, t->cells_bytes);
	free(t);
}

void traffic_self(const struct traffic *t, struct traffic_peer *self)
{
	*self = t->self;
}

static int check_peer(const struct traffic *t, const struct traffic_peer *p, struct err *e)
{
	if (p->qp_count != 1 || p->qp[0].qpn > 0xffffff || p->qp[0].psn > 0xffffff ||
	    p->mtu < 256 || p->mtu > 4096)
		return err_set(e, -EPROTO, "%s: the other end's queue pair data is out of range",
			       t->spec.ibdev);
	return 0;
}

/* The UDP source port comes from it: another path a QP, and both directions of a connection have
 * the same, as those that a CM sets up. */
static uint32_t flow_label(const struct traffic *t)
{
	return (t->self.qp[0].qpn ^ t->peer.qp[0].qpn ^ t->self.qp[0].psn ^ t->peer.qp[0].psn) &
	       0xfffff;
}

static int to_rtr(struct traffic *t, struct err *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_code(t->mtu),
		.dest_qp_num = t->peer.qp[0].qpn,
		.rq_psn = t->peer.qp[0].psn,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr =
			{
				.is_global = 1,
				.port_num = t->spec.ib_port,
				.sl = t->class->sl,
				.grh =
					{
						.sgid_index = (uint8_t)t->spec.gid_index,
						.hop_limit = HOP_LIMIT,
						.traffic_class = t->class->tos,
						.flow_label = flow_label(t),
					},
			},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, t->peer.gid, sizeof(t->peer.gid));
	return modify(t, &attr,
		      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR", e);
}

static int to_rts(struct traffic *t, struct err *e)
{
	uint8_t timeout = t->soft ? TIMEOUT_SOFT : TIMEOUT_DEVICE;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = t->spec.timeout ? t->spec.timeout : timeout,
		.retry_cnt = RETRY_COUNT,
		.rnr_retry = RNR_RETRY,
		.sq_psn = t->self.qp[0].psn,
	};

	return modify(t, &attr,
		      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
		      "RTS", e);
}

int traffic_connect(struct traffic *t, const struct traffic_peer *peer, struct err *e)
{
	int err = check_peer(t, peer, e);

	if (err)
		return err;
	t->peer = *peer;
	t->mtu = peer->mtu < t->self.mtu ? peer->mtu : t->self.mtu;
	err = traffic_post_first(t, e);
	if (!err)
		err = to_rtr(t, e);
	return err ? err : to_rts(t, e);
}

/* The sums, and the one class. */
static int start_report(struct traffic *t, struct traffic_report *report, struct err *e)
{
	memset(report, 0, sizeof(*report));
	report->class = calloc(1, sizeof(*report->class));
	if (!report->class)
		return err_sys(e, -ENOMEM, "traffic report");
	report->class_count = 1;
	report->total.mtu = mtu_bytes(mtu_code(t->mtu));
	intervals_begin(&report->class->goodput, traffic_now_ns());
	return 0;
}

static void end_report(const struct traffic *t, struct traffic_report *report)
{
	const struct traffic_result *total = &report->total;
	struct traffic_class_result *class = report->class;
	bool client = t->spec.role == TRAFFIC_CLIENT;

	*(client ? &class->messages : &class->arrived) = total->messages;
	*(client ? &class->bytes : &class->arrived_bytes) = total->bytes;
	class->checked_bytes = total->checked_bytes;
	class->mismatches = total->mismatches;
	intervals_end(&class->goodput, traffic_now_ns());
}

int traffic_run(struct traffic *t, const volatile int *stop, struct traffic_report *report,
		struct err *e)
{
	struct traffic_state s = {.t = t, .stop = stop, .result = &report->total};
	int err;

	if (!t->mtu)
		return err_set(e, -ENOTCONN, "%s: traffic was not connected", t->spec.ibdev);
	err = start_report(t, report, e);
	if (err)
		return err;
	s.goodput = &report->class->goodput;
	__atomic_store_n(&t->running, &report->total, __ATOMIC_RELEASE);
	s.start_ns = s.heard_ns = traffic_now_ns();
	s.deadline_ns = s.start_ns + (t->spec.duration_ms + TRAFFIC_GRACE_MS) * UINT64_C(1000000);
	if (t->spec.role == TRAFFIC_CLIENT)
		traffic_run_client(&s);
	else
		traffic_run_server(&s);
	if (s.first_ns && s.last_ns > s.first_ns)
		report->total.duration_ns = s.last_ns - s.first_ns;
	end_report(t, report);
	return 0;
}

void traffic_progress(const struct traffic *t, struct traffic_progress *p)
{
	const struct traffic_result *r = __atomic_load_n(&t->running, __ATOMIC_ACQUIRE);

	memset(p, 0, sizeof(*p));
	if (!r)
		return;
	p->messages = __atomic_load_n(&r->messages, __ATOMIC_RELAXED);
	p->bytes = __atomic_load_n(&r->bytes, __ATOMIC_RELAXED);
	p->mismatches = __atomic_load_n(&r->mismatches, __ATOMIC_RELAXED);
}
