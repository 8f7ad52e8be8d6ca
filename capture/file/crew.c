/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of pieces, claimed and taken in their order: taken <= claimed <= taken + the size of the
 * ring. Where the first record of a piece begins is known only when the piece before it was read,
 * so it is guessed; when a piece is taken and the guess was wrong, it is read again. To wait for
 * each other would cost more: headers of records come slowly from memory, one after another.
 */
#include "capture/file/crew.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* More do not begin in a piece. Threads ask for no memory: the allocator then counts processors,
 * which it reads from a file, and a sandbox does not let it. */
#define RECORDS_MAX (RECORD_PIECE_BYTES / RECORD_BYTES_MIN + 1)
#define RING_MAX    (2 * RECORD_JOBS_MAX + 4)
#define NOWHERE	    UINT64_MAX

#define CACHE_LINE   64
#define SPARSE_BYTES (SKIM_BATCH * 4 * CACHE_LINE)

struct piece {
	struct record_file *part;
	struct record *record;
	struct skim *skim;
	unsigned int count, given; /* records; handed out */
	uint64_t begin, end;	   /* of the records, in the file */
	bool more;		   /* records may follow in the next piece */
	bool ready;
};

struct crew {
	struct record_file *file;
	struct skim_batch model; /* threads begin with a copy */
	uint64_t begin;		 /* of the first record, in the file */
	uint64_t base;		 /* of the first piece: pieces begin with a page */
	uint64_t start;		 /* of the first record of the piece that is taken next */

	pthread_mutex_t lock;	 /* of what follows */
	pthread_cond_t done;	 /* for the one who takes: a piece is ready */
	pthread_cond_t room;	 /* for the others: one was taken */
	uint64_t claimed, taken; /* how many pieces are */
	unsigned int idle;	 /* threads that wait for room */
	bool waits;		 /* who takes, for a piece */
	bool over;		 /* no records come after those that were taken */
	bool stop;

	unsigned int thread_count, ring;
	pthread_t thread[RECORD_JOBS_MAX];
	struct piece piece[RING_MAX];
};

static struct piece *piece_at(struct crew *c, uint64_t number)
{
	return &c->piece[number % c->ring];
}

static uint64_t piece_begin(const struct crew *c, uint64_t number)
{
	return c->base + number * RECORD_PIECE_BYTES;
}

static bool read_batch(struct piece *p, struct skim_batch *b)
{
	unsigned int room = RECORDS_MAX - p->count;

	if (record_file_batch(p->part, b->record, room < SKIM_BATCH ? room : SKIM_BATCH,
			      &b->count) != RECORD_FRAME)
		return false;
	skim_guess(b);
	memcpy(p->record + p->count, b->record, b->count * sizeof(*b->record));
	memcpy(p->skim + p->count, b->skim, b->count * sizeof(*b->skim));
	p->count += b->count;
	p->end = record_file_at(p->part);
	return true;
}

/* The records that begin between `at` and `limit`. */
static void read_piece(struct piece *p, uint64_t at, uint64_t limit, struct skim_batch *b)
{
	p->count = p->given = 0;
	p->begin = p->end = at;
	p->more = at >= limit || record_file_begin(p->part, at);
	while (p->more && p->end < limit)
		p->more = read_batch(p, b);
}

/* A claimed piece. Nobody else touches it until it is ready. */
static void work_on(struct crew *c, uint64_t number, struct skim_batch *b)
{
	struct piece *p = piece_at(c, number);
	uint64_t at = piece_begin(c, number), start = c->begin;

	p->begin = NOWHERE;
	record_file_load(p->part, at);
	if (!number || record_file_guess(p->part, &start))
		read_piece(p, start, at + RECORD_PIECE_BYTES, b);
	pthread_mutex_lock(&c->lock);
	p->ready = true;
	if (c->waits && number == c->taken)
		pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. */
static bool claim(struct crew *c, uint64_t *number)
{
	if (c->claimed == c->taken + c->ring)
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
			c->idle++;
			pthread_cond_wait(&c->room, &c->lock);
			c->idle--;
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		work_on(c, number, &b);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Until the next piece is ready; it, or another one, is worked on here when nobody else does. */
static void wait_for_piece(struct crew *c, struct piece *p, struct skim_batch *b)
{
	uint64_t number;

	pthread_mutex_lock(&c->lock);
	while (c->claimed == c->taken || !p->ready) {
		if (claim(c, &number)) {
			pthread_mutex_unlock(&c->lock);
			work_on(c, number, b);
			pthread_mutex_lock(&c->lock);
		} else {
			c->waits = true;
			pthread_cond_wait(&c->done, &c->lock);
			c->waits = false;
		}
	}
	pthread_mutex_unlock(&c->lock);
}

static void end_threads(struct crew *c)
{
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->room);
	pthread_mutex_unlock(&c->lock);
	while (c->thread_count)
		pthread_join(c->thread[--c->thread_count], NULL);
}

/* The piece to be taken next, NULL when there is none. Then the caller may close the file, of which
 * the threads must not look at anything any more. */
static struct piece *next_piece(struct crew *c, struct skim_batch *b)
{
	struct piece *p = piece_at(c, c->taken);

	if (!c->over && !c->stop)
		wait_for_piece(c, p, b);
	if (c->over || c->stop) {
		end_threads(c);
		return NULL;
	}
	if (p->begin != c->start)
		read_piece(p, c->start, piece_begin(c, c->taken + 1), b);
	return p;
}

/* All of it was handed out. */
static void leave_piece(struct crew *c, struct piece *p)
{
	record_file_seek(c->file, p->end);
	record_file_add_statistics(c->file, p->part);
	c->start = p->end;
	pthread_mutex_lock(&c->lock);
	c->taken++;
	c->over = !p->more;
	if (c->idle)
		pthread_cond_signal(&c->room);
	pthread_mutex_unlock(&c->lock);
}

static void fetch(const void *from, size_t len)
{
	for (size_t i = 0; i < len; i += CACHE_LINE)
		__builtin_prefetch((const uint8_t *)from + i);
}

/* Other processors have what comes: of the next batch the heads of its frames, of the one behind it
 * what was found out. Frames of about the same size are fetched while this batch is taken as well;
 * of those that lie far apart that would bring other bytes. */
static void fetch_ahead(const struct piece *p, struct skim_batch *b)
{
	unsigned int next = p->given, end = next + SKIM_BATCH;
	bool sparse = next < p->count && p->record[next].data - b->record[0].data > SPARSE_BYTES;

	if (sparse)
		b->ahead = 0;
	for (unsigned int i = next; i < end && i < p->count; i++)
		fetch(p->record[i].data, SKIM_HEAD_BYTES);
	if (end < p->count) {
		fetch(p->record + end, SKIM_BATCH * sizeof(*p->record));
		fetch(p->skim + end, SKIM_BATCH * sizeof(*p->skim));
	}
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
	/* Compilers make of memcpy() what is slow for so little. */
	memmove(b->record, p->record + p->given, b->count * sizeof(*b->record));
	memmove(b->skim, p->skim + p->given, b->count * sizeof(*b->skim));
	p->given += b->count;
	fetch_ahead(p, b);
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
	c->base = c->begin - c->begin % RECORD_PIECE_BYTES;
	c->ring = 2 * jobs + 4;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, NULL);
	pthread_cond_init(&c->room, NULL);
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
	end_threads(c);
	for (unsigned int i = 0; i < c->ring; i++) {
		record_file_close(c->piece[i].part);
		free(c->piece[i].record);
		free(c->piece[i].skim);
	}
	pthread_cond_destroy(&c->room);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
