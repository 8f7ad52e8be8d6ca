/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of pieces. Pieces are claimed, walked and taken in their order, each step at its own pace:
 * taken <= walked <= claimed <= taken + the size of the ring. To walk a piece one has to know where
 * the one before it ends; that is quick, while reading, before it, and verifying, after it, are
 * not.
 */
#include "capture/crew.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* More do not begin in a piece. Threads ask for no memory: the allocator then counts processors,
 * which it reads from a file, and a sandbox does not let it. */
#define RECORDS_MAX (RECORD_PIECE_BYTES / RECORD_BYTES_MIN + 1)

struct piece {
	struct record_file *part;
	struct record *record;
	struct skim *skim;
	unsigned int count, given; /* records; handed out */
	uint64_t end;		   /* where the next record begins, in the file */
	bool ready;
};

struct crew {
	struct record_file *file;
	struct skim_batch model; /* threads begin with a copy */
	uint64_t begin;		 /* of the first record, in the file */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t claimed, walked, taken; /* how many pieces are */
	uint64_t start;			 /* of the first record that was not walked */
	bool over;			 /* no records come after those that were walked */
	bool stop;

	unsigned int thread_count, ring;
	pthread_t thread[RECORD_JOBS_MAX];
	struct piece piece[RECORD_JOBS_MAX + 2];
};

static struct piece *piece_at(struct crew *c, uint64_t number)
{
	return &c->piece[number % c->ring];
}

/* The records that begin between `at` and `limit`. False where the file can be read no further this
 * way, as at its end. */
static bool walk(struct piece *p, uint64_t at, uint64_t limit)
{
	unsigned int n;

	p->count = 0;
	p->end = at;
	if (at >= limit)
		return true;
	if (!record_file_begin(p->part, at))
		return false;
	while (p->end < limit) {
		if (record_file_batch(p->part, p->record + p->count, RECORDS_MAX - p->count, &n) !=
		    RECORD_FRAME)
			return false;
		p->count += n;
		p->end = record_file_at(p->part);
	}
	return true;
}

/* Waits until it is this piece's turn; false when its turn does not come. */
static bool wait_turn(struct crew *c, uint64_t number)
{
	bool turn;

	pthread_mutex_lock(&c->lock);
	while (c->walked != number && !c->over && !c->stop)
		pthread_cond_wait(&c->changed, &c->lock);
	turn = c->walked == number && !c->over && !c->stop;
	pthread_mutex_unlock(&c->lock);
	return turn;
}

static void look_at(struct piece *p, struct skim_batch *b)
{
	for (unsigned int i = 0; i < p->count; i += b->count) {
		b->count = p->count - i < SKIM_BATCH ? p->count - i : SKIM_BATCH;
		memcpy(b->record, p->record + i, b->count * sizeof(*b->record));
		skim_guess(b);
		memcpy(p->skim + i, b->skim, b->count * sizeof(*b->skim));
	}
}

/* A claimed piece. Nobody else touches it until it is ready. */
static void work_on(struct crew *c, uint64_t number, struct skim_batch *b)
{
	struct piece *p = piece_at(c, number);
	uint64_t at = c->begin + number * RECORD_PIECE_BYTES;
	bool more;

	p->count = p->given = 0;
	record_file_load(p->part, at);
	if (wait_turn(c, number)) {
		/* c->start is this thread's until it counts the piece as walked. */
		more = walk(p, c->start, at + RECORD_PIECE_BYTES);
		pthread_mutex_lock(&c->lock);
		c->start = p->end;
		c->walked++;
		c->over = !more;
		pthread_cond_broadcast(&c->changed);
		pthread_mutex_unlock(&c->lock);
		look_at(p, b);
	}
	pthread_mutex_lock(&c->lock);
	p->ready = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. */
static bool claim(struct crew *c, uint64_t *number)
{
	if (c->over || c->stop || c->claimed == c->taken + c->ring)
		return false;
	*number = c->claimed++;
	piece_at(c, *number)->ready = false;
	return true;
}

static void *run(void *arg)
{
	struct crew *c = arg;
	struct skim_batch b = c->model;
	uint64_t number;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && !c->over) {
		if (!claim(c, &number)) {
			pthread_cond_wait(&c->changed, &c->lock);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		work_on(c, number, &b);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* The piece to be taken next, worked on here when nobody else has done so; NULL when there is none.
 */
static struct piece *next_piece(struct crew *c, struct skim_batch *b)
{
	struct piece *p = piece_at(c, c->taken);
	uint64_t number;

	pthread_mutex_lock(&c->lock);
	while (c->claimed == c->taken || !p->ready) {
		if (claim(c, &number)) {
			pthread_mutex_unlock(&c->lock);
			work_on(c, number, b);
			pthread_mutex_lock(&c->lock);
		} else if (c->claimed == c->taken) {
			p = NULL;
			break;
		} else {
			pthread_cond_wait(&c->changed, &c->lock);
		}
	}
	if (p && c->over && c->taken >= c->walked)
		p = NULL;
	pthread_mutex_unlock(&c->lock);
	return p;
}

/* All of it was handed out. */
static void leave_piece(struct crew *c, struct piece *p)
{
	record_file_seek(c->file, p->end);
	record_file_add_statistics(c->file, p->part);
	pthread_mutex_lock(&c->lock);
	c->taken++;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

bool crew_next(struct crew *c, struct skim_batch *b)
{
	struct piece *p;

	for (;;) {
		p = next_piece(c, b);
		if (!p)
			return false;
		if (p->given < p->count)
			break;
		leave_piece(c, p);
	}
	b->count = p->count - p->given < SKIM_BATCH ? p->count - p->given : SKIM_BATCH;
	memcpy(b->record, p->record + p->given, b->count * sizeof(*b->record));
	memcpy(b->skim, p->skim + p->given, b->count * sizeof(*b->skim));
	p->given += b->count;
	return true;
}

int crew_new(struct record_file *r, unsigned int jobs, const struct skim_batch *model,
	     struct crew **out)
{
	struct crew *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	if (jobs > RECORD_JOBS_MAX)
		jobs = RECORD_JOBS_MAX;
	c->file = r;
	c->model = *model;
	c->begin = c->start = record_file_at(r);
	c->ring = jobs + 2;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	for (unsigned int i = 0; !err && i < c->ring; i++) {
		struct piece *p = &c->piece[i];

		p->part = record_file_part(r);
		p->record = calloc(RECORDS_MAX, sizeof(*p->record));
		p->skim = calloc(RECORDS_MAX, sizeof(*p->skim));
		err = p->part && p->record && p->skim ? 0 : -ENOMEM;
	}
	while (!err && c->thread_count + 1 < jobs) {
		err = -pthread_create(&c->thread[c->thread_count], NULL, run, c);
		c->thread_count += !err;
	}
	if (err) {
		crew_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void crew_free(struct crew *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	for (unsigned int i = 0; i < c->thread_count; i++)
		pthread_join(c->thread[i], NULL);
	for (unsigned int i = 0; i < c->ring; i++) {
		record_file_close(c->piece[i].part);
		free(c->piece[i].record);
		free(c->piece[i].skim);
	}
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
