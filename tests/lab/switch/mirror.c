/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of frames to a pcapng file. A thread writes, so that a slow disk costs records, which are
 * counted, and never time of the switch. One interface a port; direction in the packet flags;
 * interface statistics at the end say what was lost.
 *
 * The switch fills a ring of records and moves `head`, the thread writes them and moves `tail`.
 * When the disk is full, records are lost until it no longer is; the file holds whole records
 * always.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES    (8u << 20) /* a power of two, and of records of whole words */
#define CHUNK_BYTES   (1u << 20) /* at least, before the next look at what failed */
#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_PORT    1u
#define BLOCK_STATS   5u
#define BLOCK_PACKET  6u
#define LINK_ETHERNET 1u
#define OPTION_NAME   2u
#define OPTION_TSRES  9u
#define OPTION_FLAGS  2u
#define OPTION_IFRECV 4u
#define OPTION_IFDROP 5u

struct mirror {
	int fd;
	uint32_t snaplen;
	uint64_t wall_ns; /* what to add to monotonic time */
	unsigned int port_count;
	uint64_t seen[PORTS_MAX]; /* of the switch's side */
	atomic_uint_fast64_t
		lost[PORTS_MAX]; /* by a full ring or a file that could not be written */
	uint8_t *ring;
	atomic_uint_fast64_t head, tail;
	atomic_bool stop;
	pthread_t thread;
};

/* A block while it is put together. */
struct block {
	uint8_t data[FRAME_MAX + 128];
	uint32_t used;
};

static void put(struct block *b, const void *data, uint32_t len)
{
	memcpy(b->data + b->used, data, len);
	b->used += len;
	while (b->used % 4)
		b->data[b->used++] = 0;
}

static void put32(struct block *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_option(struct block *b, uint16_t code, const void *data, uint16_t len)
{
	put32(b, code | (uint32_t)len << 16);
	put(b, data, len);
}

static void begin(struct block *b, uint32_t type)
{
	b->used = 0;
	put32(b, type);
	put32(b, 0);
}

static void end(struct block *b)
{
	uint32_t len = b->used + 4;

	memcpy(b->data + 4, &len, sizeof(len));
	put32(b, len);
}

/* All of it or nothing: what a full disk took of it is cut off again. */
static int write_all(int fd, struct iovec part[2])
{
	off_t begin = lseek(fd, 0, SEEK_CUR);
	unsigned int i = 0;

	while (i < 2) {
		ssize_t n = writev(fd, part + i, 2 - i);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = -errno;

			/* Of a pipe nothing can be taken back. */
			if (begin >= 0 && (ftruncate(fd, begin) || lseek(fd, begin, SEEK_SET) < 0))
				return -EIO;
			return err;
		}
		for (; i < 2 && (size_t)n >= part[i].iov_len; i++)
			n -= part[i].iov_len;
		if (i < 2) {
			part[i].iov_base = (uint8_t *)part[i].iov_base + n;
			part[i].iov_len -= n;
		}
	}
	return 0;
}

static int write_block(int fd, struct block *b)
{
	struct iovec part[2] = {{b->data, b->used}, {NULL, 0}};

	return write_all(fd, part);
}

/* | magic | version 1.0 | section length unknown | and one interface a port */
static int write_head(const struct lab *lab, int fd, uint32_t snaplen)
{
	static const uint8_t nanoseconds = 9;
	struct block b;
	int err;

	begin(&b, BLOCK_SECTION);
	put32(&b, 0x1a2b3c4d);
	put32(&b, 1);
	put32(&b, UINT32_MAX);
	put32(&b, UINT32_MAX);
	end(&b);
	err = write_block(fd, &b);
	for (unsigned int i = 0; !err && i < lab->config.port_count; i++) {
		const char *name = lab->config.port[i].name;

		begin(&b, BLOCK_PORT);
		put32(&b, LINK_ETHERNET);
		put32(&b, snaplen);
		put_option(&b, OPTION_NAME, name, strlen(name));
		put_option(&b, OPTION_TSRES, &nanoseconds, 1);
		put32(&b, 0);
		end(&b);
		err = write_block(fd, &b);
	}
	return err;
}

static uint32_t word_at(const struct mirror *m, uint64_t at)
{
	uint32_t word;

	memcpy(&word, m->ring + at % RING_BYTES, sizeof(word)); /* never split: all are aligned */
	return word;
}

/* Counts the records of a part of the ring as lost. */
static void count_lost(struct mirror *m, uint64_t at, uint64_t end)
{
	for (; at < end; at += word_at(m, at + 4))
		atomic_fetch_add(&m->lost[word_at(m, at + 8)], 1);
}

/* The end of the records from `at` that make a chunk. */
static uint64_t chunk_end(const struct mirror *m, uint64_t at, uint64_t head)
{
	uint64_t enough = at + CHUNK_BYTES;

	while (at < head && at < enough)
		at += word_at(m, at + 4);
	return at;
}

static void *write_ring(void *arg)
{
	static const struct timespec nap = {.tv_nsec = 2000000};
	struct mirror *m = arg;

	for (;;) {
		bool stop = atomic_load(&m->stop); /* before head: nothing comes after it */
		uint64_t tail = atomic_load(&m->tail), head = atomic_load(&m->head), end;
		struct iovec part[2];

		if (tail == head && stop)
			return NULL;
		if (tail == head) {
			nanosleep(&nap, NULL);
			continue;
		}
		end = chunk_end(m, tail, head);
		part[0] = (struct iovec){m->ring + tail % RING_BYTES, end - tail};
		part[1] = (struct iovec){m->ring, 0};
		if (tail % RING_BYTES + (end - tail) > RING_BYTES) {
			part[0].iov_len = RING_BYTES - tail % RING_BYTES;
			part[1].iov_len = end - tail - part[0].iov_len;
		}
		if (write_all(m->fd, part))
			count_lost(m, tail, end);
		atomic_store(&m->tail, end);
	}
}

static int start(const struct lab *lab, const char *path, struct mirror *m)
{
	struct timespec wall, mono;
	sigset_t all, before;
	int err;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	m->wall_ns = (wall.tv_sec - mono.tv_sec) * NS_PER_S + wall.tv_nsec - mono.tv_nsec;
	m->snaplen = lab->config.mirror_snaplen;
	m->port_count = lab->config.port_count;
	m->ring = malloc(RING_BYTES);
	if (!m->ring)
		return -ENOMEM;
	m->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0644);
	if (m->fd < 0)
		return -errno;
	err = write_head(lab, m->fd, m->snaplen);
	if (err)
		return err;
	sigfillset(&all); /* signals are for the loop, not for this thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&m->thread, NULL, write_ring, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int mirror_open(const struct lab *lab, const char *path, struct mirror **mirror, struct err *e)
{
	struct mirror *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (m) {
		m->fd = -1;
		err = start(lab, path, m);
	}
	if (err) {
		if (m && m->fd >= 0)
			close(m->fd);
		free(m ? m->ring : NULL);
		free(m);
		return err_sys(e, err, "mirror %s", path);
	}
	*mirror = m;
	return 0;
}

static void write_counts(struct mirror *m)
{
	struct timespec now;
	struct block b;

	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned int i = 0; i < m->port_count; i++) {
		uint64_t ns = now.tv_sec * NS_PER_S + now.tv_nsec;
		uint64_t lost = atomic_load(&m->lost[i]);

		begin(&b, BLOCK_STATS);
		put32(&b, i);
		put32(&b, ns >> 32);
		put32(&b, ns);
		put_option(&b, OPTION_IFRECV, &m->seen[i], sizeof(m->seen[i]));
		put_option(&b, OPTION_IFDROP, &lost, sizeof(lost));
		put32(&b, 0);
		end(&b);
		(void)write_block(m->fd, &b); /* without room the file ends here */
	}
}

void mirror_close(struct mirror *m)
{
	if (!m)
		return;
	atomic_store(&m->stop, true);
	pthread_join(m->thread, NULL);
	write_counts(m);
	close(m->fd);
	free(m->ring);
	free(m);
}

static void copy_in(struct mirror *m, uint64_t head, const struct block *b)
{
	uint32_t at = head % RING_BYTES, first = RING_BYTES - at;

	if (first > b->used)
		first = b->used;
	memcpy(m->ring + at, b->data, first);
	memcpy(m->ring, b->data + first, b->used - first);
	atomic_store(&m->head, head + b->used);
}

void mirror_frame(struct mirror *m, unsigned int port, bool out, uint64_t time_ns,
		  const struct frame *f)
{
	uint32_t kept = f->len < m->snaplen ? f->len : m->snaplen, flags = out ? 2 : 1;
	uint64_t head = atomic_load(&m->head), time = time_ns + m->wall_ns;
	struct block b;

	m->seen[port]++;
	if (RING_BYTES - (head - atomic_load(&m->tail)) < kept + 64) {
		atomic_fetch_add(&m->lost[port], 1);
		return;
	}
	begin(&b, BLOCK_PACKET);
	put32(&b, port);
	put32(&b, time >> 32);
	put32(&b, time);
	put32(&b, kept);
	put32(&b, f->len);
	put(&b, f->data, kept);
	put_option(&b, OPTION_FLAGS, &flags, sizeof(flags));
	put32(&b, 0);
	end(&b);
	copy_in(m, head, &b);
}

void mirror_counts(const struct mirror *m, uint64_t *seen, uint64_t *dropped)
{
	*seen = *dropped = 0;
	for (unsigned int i = 0; i < m->port_count; i++) {
		*seen += m->seen[i];
		*dropped += atomic_load(&m->lost[i]);
	}
}
