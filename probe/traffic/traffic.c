/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, connects, runs and closes one traffic endpoint. The thread that calls traffic_run()
 * watches the threads that move data.
 */
#include "probe/traffic/traffic.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/traffic/traffic_worker.h"
#include "probe/traffic/traffic_tcp.h"

#define WATCH_MS 100 /* interval of the check for *stop */

static void traffic_init_qp_flow(struct traffic *t, struct qp_flow *f, unsigned int class,
				 unsigned int number)
{
	const struct traffic_class *c = &t->spec.class[class];

	f->class = c;
	f->class_index = class;
	f->number = number;
	f->window = class_window(c);
	f->slots = class_slots(c);
	f->stride = class_stride(c);
	f->tx.on = class_requests(c, t->spec.role);
	f->rx.on = class_responds(c, t->spec.role);
	f->result = &f->worker->result[class];
}

struct qp_flow *traffic_qp_flow(const struct traffic *t, unsigned int index)
{
	struct worker *w = &t->worker[index % t->spec.threads];

	return &w->flow[index / t->spec.threads];
}

static int traffic_alloc_workers(struct traffic *t, struct err *e)
{
	unsigned int qps = traffic_spec_qps(&t->spec), threads = t->spec.threads, index = 0;

	t->worker = calloc(threads, sizeof(*t->worker));
	for (unsigned int i = 0; t->worker && i < threads; i++) {
		struct worker *w = &t->worker[i];

		w->t = t;
		w->index = i;
		w->flow_count = qps / threads + (i < qps % threads);
		w->flow = calloc(w->flow_count + 1, sizeof(*w->flow));
		w->result = calloc(t->spec.class_count, sizeof(*w->result));
		if (!w->flow || !w->result)
			return err_sys(e, -ENOMEM, "traffic");
	}
	if (!t->worker)
		return err_sys(e, -ENOMEM, "traffic");
	for (unsigned int c = 0; c < t->spec.class_count; c++) {
		for (unsigned int n = 0; n < t->spec.class[c].qps; n++, index++) {
			struct qp_flow *f = traffic_qp_flow(t, index);

			f->worker = &t->worker[index % threads];
			f->index = index;
			f->at = index / threads;
			traffic_init_qp_flow(t, f, c, n);
		}
	}
	return 0;
}

/* The kernel allocates the memory on the node of the registering core. */
static int traffic_map_worker(struct worker *w, struct err *e)
{
	cpu_set_t before;
	bool known = !sched_getaffinity(0, sizeof(before), &before);
	int err;

	if (known)
		traffic_pin(w->t, w->index);
	err = traffic_map(w->t, worker_bytes(w), worker_access(w), &w->memory, &w->memory_bytes,
			  &w->mr, e);
	if (known)
		(void)sched_setaffinity(0, sizeof(before), &before);
	return err;
}

static int traffic_open_worker(struct worker *w, struct err *e)
{
	uint8_t *memory;
	int err = traffic_map_worker(w, e);

	if (!err)
		err = control_prepare(w, e);
	memory = w->memory;
	for (unsigned int i = 0; i < w->flow_count && !err; i++)
		err = qp_flow_prepare(&w->flow[i], &memory, e);
	return err ? err : traffic_open_queues(w, e);
}

int traffic_open(const struct traffic_spec *spec, struct traffic **out, struct err *e)
{
	struct traffic *t;
	int err = traffic_spec_check(spec, e);

	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_sys(e, -ENOMEM, "traffic");
	t->spec = *spec;
	traffic_spec_bound(&t->spec);
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->throttle.lock, NULL);
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = t->wake_fd < 0 ? err_sys(e, -errno, "traffic") : traffic_open_device(t, e);
	if (!err)
		err = traffic_alloc_workers(t, e);
	for (unsigned int i = 0; i < t->spec.threads && !err; i++)
		err = traffic_open_worker(&t->worker[i], e);
	if (!err && spec->bringup == TRAFFIC_CM)
		err = traffic_cm_open(t, &t->self.cm_port, e);
	if (!err && spec->tcp_count)
		err = tcp_load_open(spec, t->self.gid, t->self.tcp_port, &t->tcp, e);
	if (err)
		traffic_close(t);
	else
		*out = t;
	return err;
}

static void traffic_close_qp_flow(struct qp_flow *f)
{
	if (f->qp)
		ibv_destroy_qp(f->qp);
	if (f->target)
		ibv_destroy_qp(f->target);
	qp_flow_close_srq(f);
	if (f->tx.ah)
		ibv_destroy_ah(f->tx.ah);
	qp_flow_clear(f);
}

static void traffic_dereg_mr(struct ibv_mr *mr)
{
	if (mr)
		ibv_dereg_mr(mr);
}

static void traffic_close_worker(struct worker *w)
{
	for (unsigned int i = 0; w->flow && i < w->flow_count; i++)
		traffic_close_qp_flow(&w->flow[i]);
	if (w->control)
		ibv_destroy_qp(w->control);
	if (w->cq)
		ibv_destroy_cq(w->cq);
	if (w->channel)
		ibv_destroy_comp_channel(w->channel);
	traffic_dereg_mr(w->mr);
	traffic_dereg_mr(w->out_mr);
	traffic_dereg_mr(w->in_mr);
	if (w->memory)
		munmap(w->memory, w->memory_bytes);
	free(w->out);
	free(w->in);
	free(w->flow);
	free(w->result);
}

void traffic_close(struct traffic *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; t->worker && i < t->spec.threads; i++)
		traffic_close_worker(&t->worker[i]);
	traffic_cm_close(t->cm);
	tcp_load_close(t->tcp);
	free(t->worker);
	if (t->xrcd)
		ibv_close_xrcd(t->xrcd);
	if (t->pd)
		ibv_dealloc_pd(t->pd);
	if (t->ctx)
		ibv_close_device(t->ctx);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->throttle.lock);
	free(t);
}

void traffic_get_endpoint(const struct traffic *t, struct traffic_endpoint *self)
{
	unsigned int qps = traffic_spec_qps(&t->spec);

	*self = t->self;
	for (unsigned int i = 0; i < qps; i++)
		self->qp[i] = traffic_qp_flow(t, i)->self;
	for (unsigned int i = 0; i < t->spec.threads; i++)
		self->qp[qps + i] = t->worker[i].control_self;
	self->qp_count = qps + t->spec.threads;
}

static int traffic_set_remote(struct traffic *t, const struct traffic_endpoint *p, struct err *e)
{
	unsigned int qps = traffic_spec_qps(&t->spec);

	if (p->qp_count != qps + t->spec.threads)
		return err_set(e, -EPROTO, "%s: %u queue pairs here, %u on the peer", t->spec.ibdev,
			       qps + t->spec.threads, p->qp_count);
	if (p->mtu < 256 || p->mtu > 4096)
		return err_set(e, -EPROTO, "%s: the peer's MTU is %u", t->spec.ibdev, p->mtu);
	memcpy(t->remote_gid, p->gid, sizeof(t->remote_gid));
	t->remote_cm_port = p->cm_port;
	for (unsigned int i = 0; i < qps; i++)
		traffic_qp_flow(t, i)->remote = p->qp[i];
	for (unsigned int i = 0; i < t->spec.threads; i++)
		t->worker[i].control_remote = p->qp[qps + i];
	t->mtu = traffic_mtu_bytes(traffic_mtu_code(p->mtu < t->self.mtu ? p->mtu : t->self.mtu));
	return 0;
}

/* A message of UD, and of UC in count mode, must be one packet, so that a lost packet is a lost
 * message. */
static int traffic_check_sizes(const struct traffic *t, struct err *e)
{
	for (unsigned int i = 0; i < t->spec.class_count; i++) {
		const struct traffic_class *c = &t->spec.class[i];
		bool single = c->transport == TRAFFIC_UD || t->spec.mode == TRAFFIC_COUNT;

		if (single && c->message_bytes > t->mtu)
			return err_set(e, -EMSGSIZE,
				       "traffic class %u: messages of %u bytes do not fit into one "
				       "packet: use at most %u bytes",
				       i, c->message_bytes, t->mtu);
	}
	return 0;
}

int traffic_connect(struct traffic *t, const struct traffic_endpoint *peer, struct err *e)
{
	int err = traffic_set_remote(t, peer, e);

	for (unsigned int i = 0; i < traffic_spec_qps(&t->spec) && !err; i++)
		err = qp_flow_check_xrc(traffic_qp_flow(t, i), e);
	if (!err)
		err = traffic_check_sizes(t, e);
	for (unsigned int i = 0; i < t->spec.threads && !err; i++) {
		struct worker *w = &t->worker[i];

		err = control_post_receives(w, e);
		for (unsigned int k = 0; k < w->flow_count && !err; k++) {
			err = qp_flow_post_receives(&w->flow[k], e);
			if (!err && !t->cm)
				err = qp_flow_connect(&w->flow[k], e);
		}
		if (!err)
			err = traffic_connect_control(w, e);
	}
	if (!err && t->cm)
		err = traffic_cm_connect(t, e);
	if (!err && t->tcp)
		err = tcp_load_connect(t->tcp, peer->gid, peer->tcp_port, e);
	if (err)
		t->mtu = 0;
	return err;
}

static void *traffic_worker_thread(void *arg)
{
	const uint64_t one = 1;
	struct worker *w = arg;

	worker_run(w);
	atomic_fetch_sub(&w->t->running, 1);
	(void)!write(w->t->wake_fd, &one, sizeof(one)); /* only shortens the sleep of the reader */
	return NULL;
}

static int traffic_start_workers(struct traffic *t, struct err *e)
{
	int err = 0;

	t->start_ns = monotonic_ns();
	t->end_ns = t->deadline_ns = UINT64_MAX;
	if (t->spec.duration_ms) {
		t->end_ns = t->start_ns + t->spec.duration_ms * NS_PER_MS;
		t->deadline_ns = t->end_ns + TRAFFIC_GRACE_MS * NS_PER_MS;
	}
	throttle_init(&t->throttle, &t->spec, t->soft, t->start_ns);
	for (unsigned int i = 0; i < t->spec.threads; i++) {
		for (unsigned int k = 0; k < t->worker[i].flow_count; k++)
			qp_flow_set_remote(&t->worker[i].flow[k]);
		for (unsigned int k = 0; k < t->spec.class_count; k++)
			rate_series_init(&t->worker[i].result[k].goodput, t->start_ns);
	}
	for (unsigned int i = 0; i < t->spec.threads && !err; i++) {
		struct worker *w = &t->worker[i];

		atomic_fetch_add(&t->running, 1);
		err = pthread_create(&w->thread, NULL, traffic_worker_thread, w);
		w->started = !err;
		if (err)
			atomic_fetch_sub(&t->running, 1);
	}
	return err ? err_sys(e, -err, "traffic: thread") : 0;
}

static void traffic_watch_workers(struct traffic *t, const atomic_int *stop)
{
	struct pollfd fds[] = {
		{.fd = t->ctx->async_fd, .events = POLLIN},
		{.fd = t->wake_fd, .events = POLLIN},
		{.fd = traffic_cm_fd(t), .events = POLLIN}, /* -1: ignored */
	};
	uint64_t count;

	while (atomic_load(&t->running)) {
		(void)poll(fds, ARRAY_SIZE(fds), WATCH_MS); /* an error only shortens the sleep */
		if (fds[0].revents & POLLIN)
			traffic_read_async_event(t);
		if (fds[1].revents & POLLIN)
			(void)!read(t->wake_fd, &count, sizeof(count));
		if (fds[2].revents & POLLIN)
			traffic_cm_read_event(t);
		if (*stop == TRAFFIC_HEARTBEAT_LOST)
			traffic_fail(t, CAUSE_REMOTE_GONE,
				     "the peer's program is silent, but its host "
				     "answers");
		if (*stop)
			atomic_store(&t->stopping, true);
		if (*stop && t->tcp)
			tcp_load_stop(t->tcp);
	}
}

static void traffic_add_class(struct traffic_class_result *to, struct traffic_class_result *from,
			      uint64_t end_ns)
{
	to->messages += from->messages;
	to->bytes += from->bytes;
	to->arrived += from->arrived;
	to->arrived_bytes += from->arrived_bytes;
	to->checked_bytes += from->checked_bytes;
	to->mismatches += from->mismatches;
	to->gaps += from->gaps;
	to->reordered += from->reordered;
	to->losses += from->losses;
	if (!to->tos_other)
		to->tos_found = from->tos_found;
	to->tos_read += from->tos_read;
	to->tos_other += from->tos_other;
	histogram_merge(&to->latency, &from->latency);
	rate_series_stop(&from->goodput, end_ns);
	(void)rate_series_merge(&to->goodput, &from->goodput); /* all start at the same time */
}

static void traffic_gather_report(struct traffic *t, struct traffic_report *r)
{
	uint64_t first = UINT64_MAX, last = 0, now = monotonic_ns();

	for (unsigned int c = 0; c < r->class_count; c++) {
		struct traffic_class_result *sum = &r->class[c];

		rate_series_init(&sum->goodput, t->start_ns);
		rate_series_stop(&sum->goodput, now);
		for (unsigned int i = 0; i < t->spec.threads; i++)
			traffic_add_class(sum, &t->worker[i].result[c], now);
		r->total.messages += sum->messages + sum->arrived;
		r->total.bytes += sum->bytes + sum->arrived_bytes;
		r->total.checked_bytes += sum->checked_bytes;
		r->total.mismatches += sum->mismatches;
	}
	for (unsigned int i = 0; i < t->spec.threads; i++) {
		const struct worker *w = &t->worker[i];

		first = w->first_ns && w->first_ns < first ? w->first_ns : first;
		last = w->last_ns > last ? w->last_ns : last;
		r->total.control_messages += w->control_messages;
		r->total.control_bytes += w->control_messages * w->flow_count *
					  sizeof(struct credit_slot);
	}
	if (last > first)
		r->total.duration_ns = last - first;
}

int traffic_run(struct traffic *t, const atomic_int *stop, struct traffic_report *report,
		struct err *e)
{
	int err;

	if (!t->mtu)
		return err_set(e, -ENOTCONN, "%s: traffic was not connected", t->spec.ibdev);
	memset(report, 0, sizeof(*report));
	report->class = calloc(t->spec.class_count, sizeof(*report->class));
	report->tcp = calloc(t->spec.tcp_count + 1, sizeof(*report->tcp));
	if (!report->class || !report->tcp)
		return err_sys(e, -ENOMEM, "traffic report");
	report->class_count = t->spec.class_count;
	report->tcp_count = t->spec.tcp_count;
	report->total.mtu = t->mtu;
	report->memory = t->memory;
	t->report = report;
	err = traffic_start_workers(t, e);
	if (!err && t->tcp)
		err = tcp_load_start(t->tcp, t->start_ns, t->end_ns, e);
	if (err)
		atomic_store(&t->failed, true);
	traffic_watch_workers(t, stop);
	for (unsigned int i = 0; i < t->spec.threads; i++) {
		if (t->worker[i].started)
			pthread_join(t->worker[i].thread, NULL);
	}
	if (t->tcp)
		tcp_load_join(t->tcp, report->tcp);
	traffic_gather_report(t, report);
	t->mtu = 0; /* a second run is an error */
	return err;
}

static uint64_t traffic_load_relaxed(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

void traffic_progress(const struct traffic *t, struct traffic_progress *p)
{
	memset(p, 0, sizeof(*p));
	for (unsigned int i = 0; i < t->spec.threads; i++) {
		for (unsigned int k = 0; k < t->spec.class_count; k++) {
			const struct traffic_class_result *r = &t->worker[i].result[k];

			p->messages += traffic_load_relaxed(&r->messages) +
				       traffic_load_relaxed(&r->arrived);
			p->bytes += traffic_load_relaxed(&r->bytes) +
				    traffic_load_relaxed(&r->arrived_bytes);
			p->mismatches += traffic_load_relaxed(&r->mismatches);
			p->losses += traffic_load_relaxed(&r->losses);
		}
	}
}
