/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects queue pairs with rdma_cm, one at a time, within one total timeout. rdma_cm leaves
 * min_rnr_timer at 0, which is 655 ms; here it is set as with raw verbs.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "probe/io/tcp_socket.h"
#include "probe/traffic/traffic_worker.h"

#define CONNECT_NS (8000 * NS_PER_MS)
#define RESOLVE_MS 2000

struct traffic_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id[TRAFFIC_QPS_MAX]; /* of flow n; NULL: not connected */
	unsigned int count;
	uint64_t deadline_ns;
};

/* Private data of the REQ: run and flow. */
struct connect_id {
	__be64 seed;
	__be32 flow;
} __attribute__((packed));
_Static_assert(sizeof(struct connect_id) == 12,
	       "ticket has holes, which leave with what the stack had");

static int cm_fail(const struct traffic *t, const char *step, struct err *e)
{
	return err_sys(e, errno ? -errno : -EIO, "%s: rdma_cm, %s", t->spec.ibdev, step);
}

int traffic_cm_open(struct traffic *t, uint16_t *port, struct err *e)
{
	struct traffic_cm *cm = calloc(1, sizeof(*cm));
	struct sockaddr_storage here;

	t->cm = cm;
	*port = 0;
	if (!cm)
		return err_sys(e, -ENOMEM, "traffic");
	cm->count = traffic_spec_qps(&t->spec);
	cm->channel = rdma_create_event_channel();
	if (!cm->channel || fcntl(cm->channel->fd, F_SETFL, O_NONBLOCK))
		return cm_fail(t, "open (is the module rdma_ucm loaded?)", e);
	if (t->spec.role == TRAFFIC_CLIENT)
		return 0;
	address_of_gid(t->self.gid, 0, &here);
	if (rdma_create_id(cm->channel, &cm->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(cm->listener, (struct sockaddr *)&here) ||
	    rdma_listen(cm->listener, (int)cm->count))
		return cm_fail(t, "listen", e);
	*port = be16toh(rdma_get_src_port(cm->listener));
	return 0;
}

void traffic_cm_close(struct traffic_cm *cm)
{
	if (!cm)
		return;
	for (unsigned int i = 0; i < cm->count; i++) {
		if (cm->id[i])
			rdma_destroy_id(cm->id[i]);
	}
	if (cm->listener)
		rdma_destroy_id(cm->listener);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	free(cm);
}

/* Returns the next event, which the caller acknowledges. */
static int cm_next_event(struct traffic *t, struct rdma_cm_event **event, struct err *e)
{
	struct pollfd fd = {.fd = t->cm->channel->fd, .events = POLLIN};
	uint64_t now;

	while (rdma_get_cm_event(t->cm->channel, event)) {
		now = monotonic_ns();
		if (errno != EAGAIN && errno != EINTR)
			return cm_fail(t, "event", e);
		if (now >= t->cm->deadline_ns)
			return err_set(e, -ETIMEDOUT, "%s: rdma_cm: no connection in %llu s",
				       t->spec.ibdev,
				       (unsigned long long)(CONNECT_NS / NS_PER_MS / 1000));
		if (poll(&fd, 1, (int)((t->cm->deadline_ns - now) / NS_PER_MS) + 1) < 0 &&
		    errno != EINTR)
			return cm_fail(t, "poll", e);
	}
	return 0;
}

/* Returns true for the id of one of the flows, false for the listener and foreign connections. */
static bool cm_is_own(const struct traffic_cm *cm, const struct rdma_cm_id *id)
{
	for (unsigned int i = 0; id && i < cm->count; i++)
		if (cm->id[i] == id)
			return true;
	return false;
}

/* Acknowledges an event of a foreign connection: rejects a request, releases the rest. */
static void cm_drop_event(struct traffic_cm *cm, struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	bool knocks = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

	if (knocks)
		(void)rdma_reject(id, NULL, 0);
	rdma_ack_cm_event(event); /* before its id can be destroyed */
	if (knocks && id != cm->listener && !cm_is_own(cm, id))
		rdma_destroy_id(id);
}

/* Waits for this event of the current connection. */
static int cm_expect_event(struct traffic *t, const struct rdma_cm_id *id,
			   enum rdma_cm_event_type want, struct err *e)
{
	struct rdma_cm_event *event;
	int err;

	for (;;) {
		err = cm_next_event(t, &event, e);
		if (err)
			return err;
		if (cm_is_own(t->cm, event->id))
			break;
		cm_drop_event(t->cm, event);
	}
	if (event->event != want || event->id != id)
		err = err_set(e, -ECONNREFUSED, "%s: rdma_cm: %s (status %d) instead of %s",
			      t->spec.ibdev, rdma_event_str(event->event), event->status,
			      rdma_event_str(want));
	rdma_ack_cm_event(event);
	return err;
}

/* Sets the attributes that rdma_cm requires for a state, and min_rnr_timer. */
static int cm_modify_qp(struct qp_flow *f, struct rdma_cm_id *id, enum ibv_qp_state state,
			struct err *e)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, rc;

	if (rdma_init_qp_attr(id, &attr, &mask))
		return cm_fail(f->worker->t, "attributes", e);
	if (state == IBV_QPS_RTR) {
		attr.min_rnr_timer = TRAFFIC_MIN_RNR_TIMER;
		mask |= IBV_QP_MIN_RNR_TIMER;
	}
	if (state == IBV_QPS_RTS && f->worker->t->spec.timeout)
		attr.timeout = f->worker->t->spec.timeout;
	rc = ibv_modify_qp(f->qp, &attr, mask);
	return rc ? err_sys(e, -rc, "%s: rdma_cm: queue pair 0x%x", f->worker->t->spec.ibdev,
			    f->qp->qp_num)
		  : 0;
}

static struct rdma_conn_param cm_conn_param(const struct qp_flow *f,
					    const struct connect_id *ticket)
{
	const struct ibv_device_attr *limits = &f->worker->t->limits;

	return (struct rdma_conn_param){
		.private_data = ticket,
		.private_data_len = ticket ? sizeof(*ticket) : 0,
		.responder_resources = traffic_read_depth(limits->max_qp_rd_atom),
		.initiator_depth = traffic_read_depth(limits->max_qp_init_rd_atom),
		.retry_count = TRAFFIC_RETRY_COUNT,
		.rnr_retry_count = TRAFFIC_RETRY_COUNT,
		.qp_num = f->qp->qp_num,
	};
}

static int cm_resolve(struct qp_flow *f, struct rdma_cm_id *id, struct err *e)
{
	struct sockaddr_storage here, there;
	struct traffic *t = f->worker->t;
	uint8_t tos = f->class->tos;
	int err;

	address_of_gid(t->self.gid, 0, &here);
	address_of_gid(t->remote_gid, t->remote_cm_port, &there);
	if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return cm_fail(t, "set the traffic class", e);
	if (rdma_resolve_addr(id, (struct sockaddr *)&here, (struct sockaddr *)&there, RESOLVE_MS))
		return cm_fail(t, "resolve the address", e);
	err = cm_expect_event(t, id, RDMA_CM_EVENT_ADDR_RESOLVED, e);
	if (err)
		return err;
	if (rdma_resolve_route(id, RESOLVE_MS))
		return cm_fail(t, "resolve the route", e);
	return cm_expect_event(t, id, RDMA_CM_EVENT_ROUTE_RESOLVED, e);
}

static int cm_connect_flow(struct qp_flow *f, struct err *e)
{
	struct traffic *t = f->worker->t;
	struct connect_id ticket = {htobe64(t->spec.seed), htobe32(f->index)};
	struct rdma_conn_param param = cm_conn_param(f, &ticket);
	struct rdma_cm_id *id = NULL;
	int err;

	if (rdma_create_id(t->cm->channel, &id, NULL, RDMA_PS_TCP))
		return cm_fail(t, "create", e);
	t->cm->id[f->index] = id;
	err = cm_resolve(f, id, e);
	if (err)
		return err;
	if (rdma_connect(id, &param))
		return cm_fail(t, "connect", e);
	err = cm_expect_event(t, id, RDMA_CM_EVENT_CONNECT_RESPONSE, e);
	if (!err)
		err = cm_modify_qp(f, id, IBV_QPS_RTR, e);
	if (!err)
		err = cm_modify_qp(f, id, IBV_QPS_RTS, e);
	if (!err && rdma_establish(id))
		err = cm_fail(t, "establish", e);
	return err;
}

/* Returns the flow of a connection request; NULL: a foreign request, which is rejected. */
static struct qp_flow *cm_requested_flow(struct traffic *t, const struct rdma_cm_event *event)
{
	struct connect_id ticket;
	uint32_t index;

	if (event->param.conn.private_data_len < sizeof(ticket))
		return NULL;
	memcpy(&ticket, event->param.conn.private_data, sizeof(ticket));
	index = be32toh(ticket.flow);
	if (be64toh(ticket.seed) != t->spec.seed || index >= t->cm->count || t->cm->id[index])
		return NULL;
	return traffic_qp_flow(t, index);
}

static int cm_accept_flow(struct qp_flow *f, struct rdma_cm_id *id, struct err *e)
{
	struct rdma_conn_param param = cm_conn_param(f, NULL);
	struct traffic *t = f->worker->t;
	int err;

	t->cm->id[f->index] = id;
	err = cm_modify_qp(f, id, IBV_QPS_RTR, e);
	if (!err)
		err = cm_modify_qp(f, id, IBV_QPS_RTS, e);
	if (!err && rdma_accept(id, &param))
		err = cm_fail(t, "accept", e);
	return err;
}

/* Handles one event. Foreign connections are rejected and do not end the run. */
static int cm_serve_event(struct traffic *t, unsigned int *established, struct err *e)
{
	struct rdma_cm_event *event;
	struct qp_flow *f;
	int err = cm_next_event(t, &event, e);

	if (err)
		return err;
	f = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? cm_requested_flow(t, event) : NULL;
	if (!f && !cm_is_own(t->cm, event->id) && event->event != RDMA_CM_EVENT_DEVICE_REMOVAL) {
		cm_drop_event(t->cm, event);
		return 0;
	}
	if (f)
		err = cm_accept_flow(f, event->id, e);
	else if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		++*established;
	else
		err = err_set(e, -ECONNREFUSED, "%s: rdma_cm: %s (status %d)", t->spec.ibdev,
			      rdma_event_str(event->event), event->status);
	rdma_ack_cm_event(event);
	return err;
}

/* Reads the ToS of a queue pair; false: the device does not report it. */
static bool cm_read_tos(struct ibv_qp *qp, uint8_t *tos)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {0};

	if (ibv_query_qp(qp, &attr, IBV_QP_AV, &init) || !attr.ah_attr.is_global)
		return false;
	*tos = attr.ah_attr.grh.traffic_class;
	return true;
}

/* Some drivers report another value than was set (the DSCP of it, or none); queue pairs set by raw
 * verbs show if the report is reliable. A requested 0 proves nothing: *proven is false if nothing
 * else was requested. */
static bool cm_tos_trusted(const struct traffic *t, bool *proven)
{
	*proven = false;
	for (unsigned int i = 0; i < t->spec.threads; i++) {
		uint8_t asked = traffic_control_class(&t->worker[i])->tos, tos;

		if (!cm_read_tos(t->worker[i].control, &tos) || tos != asked)
			return false;
		*proven |= asked != 0;
	}
	return true;
}

static void cm_check_marking(struct traffic *t)
{
	bool proven, believed = cm_tos_trusted(t, &proven);

	for (unsigned int i = 0; believed && i < t->cm->count; i++) {
		struct qp_flow *f = traffic_qp_flow(t, i);
		struct traffic_class_result *r = f->result;
		uint8_t tos;

		if (!cm_read_tos(f->qp, &tos) || (!tos && !proven))
			continue;
		r->tos_read++;
		if (tos == f->class->tos)
			continue;
		if (!r->tos_other++)
			r->tos_found = tos;
	}
}

int traffic_cm_connect(struct traffic *t, struct err *e)
{
	bool client = t->spec.role == TRAFFIC_CLIENT;
	unsigned int established = 0;
	int err = 0;

	t->cm->deadline_ns = monotonic_ns() + CONNECT_NS;
	for (unsigned int i = 0; client && i < t->cm->count && !err; i++)
		err = cm_connect_flow(traffic_qp_flow(t, i), e);
	while (!client && !err && established < t->cm->count)
		err = cm_serve_event(t, &established, e);
	if (t->cm->listener) /* no more connections */
		rdma_destroy_id(t->cm->listener);
	t->cm->listener = NULL;
	if (!err)
		cm_check_marking(t);
	return err;
}

int traffic_cm_fd(const struct traffic *t)
{
	return t->cm ? t->cm->channel->fd : -1;
}

/* The kernel closes the connection of a program that dies, before any timer of a queue pair fires.
 */
void traffic_cm_read_event(struct traffic *t)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	bool own;

	if (rdma_get_cm_event(t->cm->channel, &event))
		return;
	type = event->event;
	own = cm_is_own(t->cm, event->id);
	cm_drop_event(t->cm, event);
	if (type == RDMA_CM_EVENT_DISCONNECTED && own)
		traffic_fail(t, CAUSE_REMOTE_GONE, "the peer disconnected");
	else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		traffic_fail(t, CAUSE_LOCAL, "the device was removed");
}
