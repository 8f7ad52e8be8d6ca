/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps work completion statuses and asynchronous events to causes. A run keeps its first cause, and
 * the first error of each queue pair.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/traffic/traffic_worker.h"

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

static void status_set_cause(struct traffic *t, enum traffic_cause cause, const char *fmt,
			     va_list ap)
{
	struct traffic_result *total = &t->report->total;

	pthread_mutex_lock(&t->lock);
	if (total->cause == CAUSE_NONE) {
		total->cause = cause;
		vsnprintf(total->detail, sizeof(total->detail), fmt, ap);
	}
	pthread_mutex_unlock(&t->lock);
}

void traffic_set_cause(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	status_set_cause(t, cause, fmt, ap);
	va_end(ap);
}

void traffic_fail(struct traffic *t, enum traffic_cause cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	status_set_cause(t, cause, fmt, ap);
	va_end(ap);
	atomic_store(&t->failed, true);
}

static enum traffic_cause status_cause(enum ibv_wc_status status, const char **name)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		if (statuses[i].status == status) {
			*name = statuses[i].name;
			return statuses[i].cause;
		}
	}
	*name = "unknown status";
	return CAUSE_LOCAL;
}

/* Waits a moment for the port state: the queue pair may fail before the port reports down. */
static bool status_port_goes_down(const struct traffic *t)
{
	const struct timespec moment = {.tv_nsec = PORT_POLL_NS};
	struct ibv_port_attr port;

	for (unsigned int i = 0; i < PORT_POLLS; i++) {
		if (!ibv_query_port(t->ctx, t->spec.ib_port, &port) &&
		    port.state != IBV_PORT_ACTIVE)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

void traffic_note_failure(struct qp_flow *f, const struct ibv_wc *wc, bool recovered)
{
	struct traffic *t = f->worker->t;
	struct traffic_report *r = t->report;
	const char *name;

	if (f->dead)
		return; /* later errors are consequences of the first */
	f->dead = !recovered;
	pthread_mutex_lock(&t->lock);
	if (r->failure_count < TRAFFIC_FAILURES_MAX)
		r->failure[r->failure_count++] = (struct traffic_failure){
			.class = f->class_index,
			.qp = f->number,
			.cause = status_cause(wc->status, &name),
			.status = wc->status,
			.vendor_err = wc->vendor_err,
			.sequence = f->tx.completed,
			.when_ns = f->worker->now_ns - t->start_ns,
			.recovered = recovered,
		};
	pthread_mutex_unlock(&t->lock);
}

/* Returns the age of `at_ns`, which is 0 when there was no event. */
static uint64_t status_age_ns(const struct worker *w, uint64_t at_ns)
{
	return w->now_ns - (at_ns > w->t->start_ns ? at_ns : w->t->start_ns);
}

void traffic_note_stall(const struct qp_flow *f)
{
	const struct qp_requester *x = &f->tx;
	const struct worker *w = f->worker;
	struct traffic_report *r = w->t->report;
	uint64_t run_ns = status_age_ns(w, 0);
	bool stalled;

	pthread_mutex_lock(&w->t->lock);
	stalled = r->total.cause == CAUSE_REMOTE_GONE || r->total.cause == CAUSE_TIMEOUT ||
		  r->total.cause == CAUSE_UNFINISHED;
	if (stalled && r->stall_count < TRAFFIC_STALLS_MAX)
		r->stall[r->stall_count++] = (struct traffic_stall){
			.class = f->class_index,
			.qp = f->number,
			.posted = x->posted,
			.completed = x->completed,
			.granted = x->needs_credit ? x->credited : x->completed,
			.arrived = f->rx.arrived,
			.announced = f->rx.announced,
			.control = w->control_under_way,
			.completion_age_ns = status_age_ns(w, x->progress_ns),
			.arrival_age_ns = status_age_ns(w, f->rx.last_ns),
			.run_ns = run_ns,
			.absent_ns = run_ns > w->awake_ns ? run_ns - w->awake_ns : 0,
		};
	pthread_mutex_unlock(&w->t->lock);
}

/* Flushed requests only show that the QP failed: the reason is in an event, or the port is down
 * (when an rxe port goes down: LOC_QP_OP_ERR on Linux 6.1, WR_FLUSH_ERR on 6.12). */
void traffic_completion_error(struct worker *w, struct qp_flow *f, const struct ibv_wc *wc)
{
	const char *name;
	enum traffic_cause cause = status_cause(wc->status, &name);
	double after_s = (double)(w->now_ns - w->t->start_ns) / 1e9;

	if (atomic_load(&w->t->failed))
		return; /* flushed after the first error */
	if (cause == CAUSE_LOCAL && status_port_goes_down(w->t))
		cause = CAUSE_PORT_DOWN;
	if (!f) {
		traffic_fail(w->t, cause, "%s after %.1f s, control (vendor 0x%x)", name, after_s,
			     wc->vendor_err);
		return;
	}
	traffic_note_failure(f, wc, false);
	traffic_fail(w->t, cause, "%s after %.1f s, class %u QP %u, message %llu (vendor 0x%x)",
		     name, after_s, f->class_index, f->number, (unsigned long long)f->tx.completed,
		     wc->vendor_err);
}

struct event_row {
	enum ibv_event_type type;
	enum traffic_cause cause;
};

static const struct event_row events[] = {
	{IBV_EVENT_PORT_ERR, CAUSE_PORT_DOWN}, {IBV_EVENT_QP_FATAL, CAUSE_LOCAL},
	{IBV_EVENT_QP_REQ_ERR, CAUSE_LOCAL},   {IBV_EVENT_QP_ACCESS_ERR, CAUSE_LOCAL},
	{IBV_EVENT_CQ_ERR, CAUSE_LOCAL},       {IBV_EVENT_DEVICE_FATAL, CAUSE_LOCAL},
	{IBV_EVENT_SRQ_ERR, CAUSE_LOCAL},
};

void traffic_read_async_event(struct traffic *t)
{
	struct ibv_async_event event;
	enum ibv_event_type type;
	int port;

	if (ibv_get_async_event(t->ctx, &event))
		return;
	type = event.event_type;
	port = event.element.port_num; /* valid for port events only */
	ibv_ack_async_event(&event);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].type != type)
			continue;
		if (type == IBV_EVENT_PORT_ERR && port != t->spec.ib_port)
			continue;
		traffic_fail(t, events[i].cause, "%s after %.1f s", ibv_event_type_str(type),
			     (double)(monotonic_ns() - t->start_ns) / 1e9);
	}
}
