/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See deadman_disk.h. The mutex is never held during a call that can hang; what the thread works
 * with is its own.
 */
#include "dcb/apply/deadman_disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "dcb/apply/journal_in.h"

#define STACK_BYTES (1 << 20) /* it is locked in memory */

enum disk_job {
	DISK_IDLE,
	DISK_READ,
	DISK_LOCK,
	DISK_UNLOCK,
	DISK_NEWER,
	DISK_RECORD,
	DISK_LOG,
};

struct disk_ask {
	enum disk_job job;
	enum tx_state state;
	int priority;
	char text[ERR_TEXT_MAX];
};

struct disk_answer {
	int err;
	struct tx tx; /* DISK_READ; owned until somebody takes it */
	char newer[JOURNAL_ID_MAX];
	struct err e;
};

struct disk {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct disk_ask ask; /* DISK_IDLE: the answer is there */
	struct disk_answer answer;
	/* The thread's alone. */
	const struct state *state;
	struct tx own; /* its id and its ports */
	int lock;      /* -1: not ours */
};

static bool shares_port(const struct tx *a, const struct tx *b)
{
	for (unsigned int i = 0; i < a->port_count; i++)
		for (unsigned int k = 0; k < b->port_count; k++) {
			const struct tx_port *p = &a->port[i], *q = &b->port[k];

			if (!strcmp(p->ifname, q->ifname))
				return true;
			if (p->ibdev[0] && !strcmp(p->ibdev, q->ibdev) && p->ib_port == q->ib_port)
				return true;
		}
	return false;
}

static bool is_newer(const struct disk *d, const char *id)
{
	bool newer = false;
	struct tx tx;

	if (strcmp(id, d->own.id) <= 0)
		return false;
	if (!journal_read(d->state, id, &tx, NULL))
		newer = (tx.state == TX_RUNNING || tx.state == TX_DONE) &&
			shares_port(&d->own, &tx);
	tx_clear(&tx);
	return newer;
}

static int find_newer(const struct disk *d, struct disk_answer *answer)
{
	char(*ids)[JOURNAL_ID_MAX] = NULL;
	unsigned int n = 0;
	int err = journal_ids(d->state, &ids, &n, &answer->e);

	while (!err && n && !is_newer(d, ids[n - 1]))
		n--;
	if (!err && n)
		memcpy(answer->newer, ids[n - 1], JOURNAL_ID_MAX);
	free(ids);
	return err ? err : n ? 0 : -ENOENT;
}

static int record(const struct disk *d, enum tx_state state, struct err *e)
{
	struct journal *j;
	int err = journal_append_to(d->state, d->own.id, &j, e);

	if (err)
		return err;
	err = journal_end(j, state, NULL, 0, e);
	journal_close(j);
	return err;
}

static void unlock(struct disk *d)
{
	if (d->lock >= 0)
		close(d->lock);
	d->lock = -1;
}

static int work(struct disk *d, const struct disk_ask *ask, struct disk_answer *answer)
{
	switch (ask->job) {
	case DISK_READ:
		return journal_read(d->state, d->own.id, &answer->tx, &answer->e);
	case DISK_LOCK:
		return d->lock >= 0 ? 0 : state_try_lock(&d->state->dir, &d->lock, &answer->e);
	case DISK_UNLOCK:
		unlock(d);
		return 0;
	case DISK_NEWER:
		return find_newer(d, answer);
	case DISK_RECORD:
		return record(d, ask->state, &answer->e);
	case DISK_LOG:
		syslog(ask->priority, "%s", ask->text);
		return 0;
	case DISK_IDLE:
		break;
	}
	return 0;
}

static void *serve(void *arg)
{
	struct disk *d = arg;

	pthread_mutex_lock(&d->mutex);
	for (;;) {
		struct disk_answer answer = {0};
		struct disk_ask ask;

		while (d->ask.job == DISK_IDLE)
			pthread_cond_wait(&d->changed, &d->mutex);
		ask = d->ask;
		pthread_mutex_unlock(&d->mutex);
		answer.err = work(d, &ask, &answer);
		pthread_mutex_lock(&d->mutex);
		tx_clear(&d->answer.tx);
		d->answer = answer;
		d->ask.job = DISK_IDLE;
		pthread_cond_broadcast(&d->changed);
	}
	return NULL;
}

static struct timespec time_in(unsigned int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* Under the mutex. */
static int await_idle(struct disk *d, const struct timespec *until)
{
	int err = 0;

	while (d->ask.job != DISK_IDLE && !err)
		err = -pthread_cond_timedwait(&d->changed, &d->mutex, until);
	return d->ask.job == DISK_IDLE ? 0 : err;
}

/* *answer is the caller's, with its tx. */
static int ask_for(struct disk *d, const struct disk_ask *ask, unsigned int wait_ms,
		   struct disk_answer *answer)
{
	struct timespec until = time_in(wait_ms);
	int err;

	pthread_mutex_lock(&d->mutex);
	err = await_idle(d, &until);
	if (!err) {
		d->ask = *ask;
		pthread_cond_broadcast(&d->changed);
		err = await_idle(d, &until);
	}
	if (!err) {
		*answer = d->answer;
		memset(&d->answer.tx, 0, sizeof(d->answer.tx));
		err = answer->err;
	}
	pthread_mutex_unlock(&d->mutex);
	return err;
}

int disk_read(struct disk *d, unsigned int wait_ms, struct tx *tx)
{
	const struct disk_ask ask = {.job = DISK_READ};
	struct disk_answer answer;
	int err = ask_for(d, &ask, wait_ms, &answer);

	if (!err)
		*tx = answer.tx;
	return err;
}

int disk_lock(struct disk *d, unsigned int wait_ms)
{
	const struct disk_ask ask = {.job = DISK_LOCK};
	struct disk_answer answer;

	return ask_for(d, &ask, wait_ms, &answer);
}

void disk_unlock(struct disk *d, unsigned int wait_ms)
{
	const struct disk_ask ask = {.job = DISK_UNLOCK};
	struct disk_answer answer;

	(void)ask_for(d, &ask, wait_ms, &answer); /* the end of the process lets go of it, too */
}

int disk_find_newer(struct disk *d, unsigned int wait_ms, char id[JOURNAL_ID_MAX])
{
	const struct disk_ask ask = {.job = DISK_NEWER};
	struct disk_answer answer;
	int err = ask_for(d, &ask, wait_ms, &answer);

	if (!err)
		memcpy(id, answer.newer, JOURNAL_ID_MAX);
	return err;
}

int disk_record(struct disk *d, unsigned int wait_ms, enum tx_state state, struct err *e)
{
	const struct disk_ask ask = {.job = DISK_RECORD, .state = state};
	struct disk_answer answer;
	int err = ask_for(d, &ask, wait_ms, &answer);

	if (err == -ETIMEDOUT)
		return err_sys(e, err, "journal of transaction %s", d->own.id);
	if (err && e)
		*e = answer.e;
	return err;
}

void disk_log(struct disk *d, unsigned int wait_ms, int priority, const char *text)
{
	struct disk_ask ask = {.job = DISK_LOG, .priority = priority};
	struct disk_answer answer;

	snprintf(ask.text, sizeof(ask.text), "%s", text);
	(void)ask_for(d, &ask, wait_ms, &answer); /* there is nobody else to be told */
}

static int start_thread(struct disk *d)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = -pthread_attr_init(&attr);

	if (err)
		return err;
	err = -pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!err)
		err = -pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (!err)
		err = -pthread_create(&thread, &attr, serve, d);
	pthread_attr_destroy(&attr);
	return err;
}

static int init_sync(struct disk *d)
{
	pthread_condattr_t attr;
	int err = -pthread_mutex_init(&d->mutex, NULL);

	if (!err)
		err = -pthread_condattr_init(&attr);
	if (err)
		return err;
	err = -pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (!err)
		err = -pthread_cond_init(&d->changed, &attr);
	pthread_condattr_destroy(&attr);
	return err;
}

int disk_start(const struct state *state, const struct tx *tx, struct disk **disk, struct err *e)
{
	struct disk *d = calloc(1, sizeof(*d));
	int err = d ? tx_copy(tx, &d->own) : -ENOMEM;

	if (!err) {
		d->state = state;
		d->lock = -1;
		err = init_sync(d);
	}
	if (!err)
		err = start_thread(d);
	if (err) {
		if (d)
			tx_clear(&d->own);
		free(d);
		return err_sys(e, err, "thread");
	}
	*disk = d;
	return 0;
}
