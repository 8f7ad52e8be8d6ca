/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completions and asynchronous events of a traffic end. Never busy: polling in a loop starves
 * Soft-RoCE. Never trusting a wake-up either: Linux 6.12 can lose one, so the CQ is looked at every
 * 10 ms.
 */
#include "probe/traffic_end.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WAIT_MAX_NS  UINT64_C(10000000)
#define BATCH	     16
#define PORT_POLL_NS 10000000
#define PORT_POLLS   30 /* 0.3 s */

struct status_row {
	enum ibv_wc_status status;
	const char *name;
	enum traffic_cause cause;
};

static const struct status_row statuses[] = {
	{IBV_WC_LOC_LEN_ERR, "LOC_LEN_ERR", CAUSE_LOCAL},
	{IBV_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR", CAUSE_LOCAL},
	{IBV_WC_LOC_PROT_ERR, "LOC_PROT_ERR", CAUSE_LOCAL},
	{IBV_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR", CAUSE_LOCAL},
	{IBV_WC_MW_BIND_ERR, "MW_BIND_ERR", CAUSE_LOCAL},
	{IBV_WC_BAD_RESP_ERR, "BAD_RESP_ERR", CAUSE_LOCAL},
	{IBV_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR", CAUSE_LOCAL},
	{IBV_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR", CAUSE_REMOTE},
	{IBV_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR", CAUSE_REMOTE},
	{IBV_WC_REM_OP_ERR, "REM_OP_ERR", CAUSE_REMOTE},
	{IBV_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR", CAUSE_RETRY_EXCEEDED},
	{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR", CAUSE_RNR},
	{IBV_WC_REM_ABORT_ERR, "REM_ABORT_ERR", CAUSE_REMOTE},
	{IBV_WC_FATAL_ERR, "FATAL_ERR", CAUSE_LOCAL},
	{IBV_WC_RESP_TIMEOUT_ERR, "RESP_TIMEOUT_ERR", CAUSE_RETRY_EXCEEDED},
};

void traffic_fail(struct traffic_state *s, enum traffic_cause cause, const char *fmt, ...)
{
	va_list ap;

	s->over = true;
	if (s->result->cause != CAUSE_NONE)
		return;
	s->result->cause = cause;
	va_start(ap, fmt);
	vsnprintf(s->result->detail, sizeof(s->result->detail), fmt, ap);
	va_end(ap);
}

static bool port_is_down(const struct traffic *t)
{
	struct ibv_port_attr port;

	return !ibv_query_port(t->ctx, t->spec.ib_port, &port) && port.state != IBV_PORT_ACTIVE;
}

/* The queue pair may fail before the port says that it is down: it gets a moment. */
static bool port_goes_down(const struct traffic *t)
{
	const struct timespec moment = {.tv_nsec = PORT_POLL_NS};

	for (unsigned int i = 0; i < PORT_POLLS; i++) {
		if (port_is_down(t))
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* The first error counts. Flushed requests tell only that the QP died: why is in an event, or the
 * port is down (an rxe port that goes down gives LOC_QP_OP_ERR on 6.1 and WR_FLUSH_ERR on 6.12). */
static void completion_error(struct traffic_state *s, const struct ibv_wc *wc)
{
	enum traffic_cause cause = CAUSE_LOCAL;
	const char *name = "unknown status";

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		if (statuses[i].status == wc->status) {
			name = statuses[i].name;
			cause = statuses[i].cause;
		}
	}
	if (cause == CAUSE_LOCAL && port_goes_down(s->t))
		cause = CAUSE_PORT_DOWN;
	traffic_fail(s, cause, "%s after %.1f s, message %llu (vendor 0x%x)", name,
		     (double)(traffic_now_ns() - s->start_ns) / 1e9, (unsigned long long)wc->wr_id,
		     wc->vendor_err);
}

void traffic_drain(struct traffic_state *s, traffic_handler *fn, void *arg)
{
	struct ibv_wc wc[BATCH];
	int n;

	if (!s->armed) { /* before looking: what comes after it sends an event */
		if (ibv_req_notify_cq(s->t->cq, 0)) {
			traffic_fail(s, CAUSE_LOCAL, "cannot ask for completion events");
			return;
		}
		s->armed = true;
	}
	do {
		n = ibv_poll_cq(s->t->cq, BATCH, wc);
		if (n < 0)
			traffic_fail(s, CAUSE_LOCAL, "cannot read the completion queue");
		for (int i = 0; i < n && !s->over; i++) {
			s->heard_ns = traffic_now_ns();
			if (wc[i].status == IBV_WC_SUCCESS)
				fn(s, &wc[i], arg);
			else
				completion_error(s, &wc[i]);
		}
	} while (n == BATCH && !s->over);
}

struct event_row {
	enum ibv_event_type type;
	enum traffic_cause cause;
};

static const struct event_row events[] = {
	{IBV_EVENT_PORT_ERR, CAUSE_PORT_DOWN}, {IBV_EVENT_QP_FATAL, CAUSE_LOCAL},
	{IBV_EVENT_QP_REQ_ERR, CAUSE_LOCAL},   {IBV_EVENT_QP_ACCESS_ERR, CAUSE_LOCAL},
	{IBV_EVENT_CQ_ERR, CAUSE_LOCAL},       {IBV_EVENT_DEVICE_FATAL, CAUSE_LOCAL},
};

static void take_device_event(struct traffic_state *s)
{
	struct ibv_async_event event;
	enum ibv_event_type type;
	int port;

	if (ibv_get_async_event(s->t->ctx, &event))
		return;
	type = event.event_type;
	port = event.element.port_num; /* meaningful for port events alone */
	ibv_ack_async_event(&event);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].type != type)
			continue;
		if (type == IBV_EVENT_PORT_ERR && port != s->t->spec.ib_port)
			continue;
		traffic_fail(s, events[i].cause, "%s after %.1f s", ibv_event_type_str(type),
			     (double)(traffic_now_ns() - s->start_ns) / 1e9);
	}
}

static void take_completion_event(struct traffic_state *s)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(s->t->channel, &cq, &context))
		return;
	ibv_ack_cq_events(cq, 1);
	s->armed = false;
}

void traffic_wait(struct traffic_state *s, uint64_t max_ns)
{
	struct pollfd fds[] = {
		{.fd = s->t->channel->fd, .events = POLLIN},
		{.fd = s->t->ctx->async_fd, .events = POLLIN},
	};
	uint64_t ns = max_ns < WAIT_MAX_NS ? max_ns : WAIT_MAX_NS;
	struct timespec ts = {.tv_sec = 0, .tv_nsec = (long)ns};

	if (ppoll(fds, ARRAY_SIZE(fds), &ts, NULL) < 0 && errno != EINTR)
		traffic_fail(s, CAUSE_LOCAL, "poll: %s", strerror(errno));
	if (fds[0].revents & POLLIN)
		take_completion_event(s);
	if (fds[1].revents & POLLIN)
		take_device_event(s);
	if (*s->stop)
		s->over = true;
	if (!s->over && traffic_now_ns() >= s->deadline_ns)
		traffic_fail(s, CAUSE_TIMEOUT,
			     "not finished %u s after its time, %llu messages done",
			     TRAFFIC_GRACE_MS / 1000, (unsigned long long)s->result->messages);
}
