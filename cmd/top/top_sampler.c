/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler. Its thread reads into its own sample and publishes a copy under the lock, so that
 * the lock is never held during a call of a driver. It reads PFC settings and link speed only every
 * 10 s: some drivers query their firmware for them.
 */
#include "cmd/top/top_sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dcb/kernel/dcb.h"
#include "probe/host/snapshot.h"

#define SETTINGS_EVERY_NS UINT64_C(10000000000)
#define SLIP_NS		  UINT64_C(50000000) /* a later delay shifts all following readings */

struct top_sampler {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct dcb *dcb;
	struct top_sample own;	     /* private to the thread */
	struct top_sample published; /* under the lock, as all members below */
	unsigned int interval_ms;
	bool stop;
};

static bool sampler_is_wanted(const struct port *p, const char *const *names, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(names[i], p->netdev) || !strcmp(names[i], p->ibdev))
			return true;
	return !n;
}

static void sampler_port_init(struct top_port *to, const struct port *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to->netdev, from->netdev, sizeof(to->netdev));
	memcpy(to->ibdev, from->ibdev, sizeof(to->ibdev));
	to->ib_port = from->ib_port;
	to->speed_mbps = from->speed_mbps;
	if (qos_has(&from->qos, QOS_PFC_ENABLED))
		to->lossless = from->qos.pfc_enabled;
	counters_clear(&to->total);
	counters_clear(&to->delta);
}

int top_ports_find(struct dcb *dcb, const char *const *names, unsigned int name_count,
		   struct top_sample *s, struct err *e)
{
	struct snapshot snapshot;
	int err = snapshot_read(dcb, names, name_count, &snapshot, e);

	if (err)
		return err;
	s->number = 0;
	s->count = 0;
	s->left_out = 0;
	for (unsigned int i = 0; i < snapshot.port_count; i++) {
		if (!sampler_is_wanted(&snapshot.port[i], names, name_count))
			continue;
		if (s->count < TOP_PORTS_MAX)
			sampler_port_init(&s->port[s->count++], &snapshot.port[i]);
		else
			s->left_out++;
	}
	snapshot_clear(&snapshot);
	if (s->count)
		return 0;
	err = err_set(e, -ENODEV, "no RDMA device on this host");
	err_hint(e, "select a network device with -i, or load the RDMA driver");
	return err;
}

static void sampler_read_settings(struct dcb *dcb, struct top_port *p)
{
	struct qos qos = {0};
	bool has_dcb;

	if (!p->netdev[0])
		return;
	if (dcb_link_speed(dcb, p->netdev, &p->speed_mbps, NULL))
		p->speed_mbps = 0; /* unknown */
	if (!dcb_read(dcb, p->netdev, NULL, 0, &qos, &has_dcb, NULL))
		p->lossless = qos_has(&qos, QOS_PFC_ENABLED) ? qos.pfc_enabled : 0;
}

int top_sample_read(struct dcb *dcb, struct top_sample *s, struct err *e)
{
	struct counters c;

	for (unsigned int i = 0; i < s->count; i++) {
		struct top_port *p = &s->port[i];
		uint64_t before = p->total.when_ns;
		int err = counters_read(dcb, p->netdev, p->ibdev, p->ib_port, &c, e);

		if (err == -ENOMEM)
			return err;
		if (err) {
			p->gone = true;
			p->ready = false; /* no rates over a gap */
			continue;
		}
		top_port_update(p, &c);
		if (before / SETTINGS_EVERY_NS != c.when_ns / SETTINGS_EVERY_NS)
			sampler_read_settings(dcb, p);
	}
	s->number++;
	return 0;
}

/* Publishes and waits for the next reading, one interval after the one due at *turn_ns. The
 * interval can change meanwhile. False if the thread must end. */
static bool sampler_publish_wait(struct top_sampler *t, uint64_t *turn_ns)
{
	bool stop;

	pthread_mutex_lock(&t->lock);
	t->published = t->own;
	for (;;) {
		uint64_t next_ns = *turn_ns + (uint64_t)t->interval_ms * 1000000,
			 now = monotonic_ns();
		struct timespec until = {
			.tv_sec = (time_t)(next_ns / 1000000000),
			.tv_nsec = (long)(next_ns % 1000000000),
		};

		if (t->stop || now >= next_ns) {
			*turn_ns = now; /* no burst of readings after a slow driver */
			if (now - next_ns < SLIP_NS)
				*turn_ns = next_ns;
			break;
		}
		pthread_cond_timedwait(&t->wake, &t->lock, &until);
	}
	stop = t->stop;
	pthread_mutex_unlock(&t->lock);
	return !stop;
}

static void *sampler_run(void *arg)
{
	struct top_sampler *t = arg;
	uint64_t turn_ns = monotonic_ns();

	do {
		if (top_sample_read(t->dcb, &t->own, NULL))
			break; /* out of memory: the screen shows the data as stale */
	} while (sampler_publish_wait(t, &turn_ns));
	return NULL;
}

/* Blocks signals in the sampler thread: the thread with the terminal handles them. */
static int sampler_start_thread(struct top_sampler *t)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&t->thread, NULL, sampler_run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int top_sampler_start(struct dcb *dcb, const struct top_sample *s, unsigned int interval_ms,
		      struct top_sampler **sampler, struct err *e)
{
	struct top_sampler *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	int err;

	if (!t)
		return err_set(e, -ENOMEM, "top: out of memory");
	t->dcb = dcb;
	t->own = *s;
	t->published = *s;
	t->interval_ms = interval_ms;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &attr);
	pthread_condattr_destroy(&attr);
	err = sampler_start_thread(t);
	if (err) {
		free(t);
		return err_sys(e, err, "top: cannot start the sampler thread");
	}
	*sampler = t;
	return 0;
}

bool top_sampler_get(struct top_sampler *t, struct top_sample *s)
{
	bool newer;

	pthread_mutex_lock(&t->lock);
	newer = t->published.number > s->number;
	if (newer)
		*s = t->published;
	pthread_mutex_unlock(&t->lock);
	return newer;
}

void top_sampler_interval(struct top_sampler *t, unsigned int interval_ms)
{
	pthread_mutex_lock(&t->lock);
	t->interval_ms = interval_ms;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
}

void top_sampler_stop(struct top_sampler *t)
{
	struct timespec until;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_timedjoin_np(t->thread, NULL, &until))
		return; /* the thread is still in the kernel: it keeps its memory */
	dcb_close(t->dcb);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->wake);
	free(t);
}
