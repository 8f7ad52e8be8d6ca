/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of frames to a pcapng file. A thread writes, so that a slow disk costs records, which are
 * counted, and never time of the switch. One interface a port; direction in the packet flags;
 * interface statistics at the end say what was lost.
 *
 * The switch fills a ring of records and moves `head`, the thread writes them and moves `tail`.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES    (8u << 20) /* a power of two */
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
	int fd, error;
	uint32_t snaplen;
	uint64_t wall_ns; /* what to add to monotonic time */
	unsigned int port_count;
	uint64_t seen[PORTS_MAX], lost[PORTS_MAX];
	uint64_t written, dropped;
	uint8_t *ring;
	atomic_uint_fast64_t head, tail;
	atomic_bool stop, failed;
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

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= n;
	}
	return 0;
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
	err = write_all(fd, b.data, b.used);
	for (unsigned int i = 0; !err && i < lab->config.port_count; i++) {
		const char *name = lab->config.port[i].name;

		begin(&b, BLOCK_PORT);
		put32(&b, LINK_ETHERNET);
		put32(&b, snaplen);
		put_option(&b, OPTION_NAME, name, strlen(name));
		put_option(&b, OPTION_TSRES, &nanoseconds, 1);
		put32(&b, 0);
		end(&b);
		err = write_all(fd, b.data, b.used);
	}
	return err;
}

static void *write_ring(void *arg)
{
	static const struct timespec nap = {.tv_nsec = 2000000};
	struct mirror *m = arg;

	for (;;) {
		bool stop = atomic_load(&m->stop); /* before head: nothing comes after it */
		uint64_t tail = atomic_load(&m->tail), head = atomic_load(&m->head);
		uint32_t at = tail % RING_BYTES, len = head - tail;

		if (!len && stop)
			return NULL;
		if (!len) {
			nanosleep(&nap, NULL);
			continue;
		}
		if (len > RING_BYTES - at)
			len = RING_BYTES - at;
		if (!m->error)
			m->error = write_all(m->fd, m->ring + at, len);
		if (m->error)
			atomic_store(&m->failed, true);
		atomic_store(&m->tail, tail + len);
	}
}

static int start(const struct lab *lab, struct mirror *m)
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
	m->fd = open(lab->config.mirror, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
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

int mirror_open(const struct lab *lab, struct mirror **mirror, struct err *e)
{
	struct mirror *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (m) {
		m->fd = -1;
		err = start(lab, m);
	}
	if (err) {
		if (m && m->fd >= 0)
			close(m->fd);
		free(m ? m->ring : NULL);
		free(m);
		return err_sys(e, err, "mirror %s", lab->config.mirror);
	}
	*mirror = m;
	return 0;
}

static void write_counts(struct mirror *m)
{
	struct timespec now;
	struct block b;

	clock_gettime(CLOCK_REALTIME, &now);
	for (unsigned int i = 0; !m->error && i < m->port_count; i++) {
		uint64_t ns = now.tv_sec * NS_PER_S + now.tv_nsec;

		begin(&b, BLOCK_STATS);
		put32(&b, i);
		put32(&b, ns >> 32);
		put32(&b, ns);
		put_option(&b, OPTION_IFRECV, &m->seen[i], sizeof(m->seen[i]));
		put_option(&b, OPTION_IFDROP, &m->lost[i], sizeof(m->lost[i]));
		put32(&b, 0);
		end(&b);
		m->error = write_all(m->fd, b.data, b.used);
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
	if (atomic_load(&m->failed) || RING_BYTES - (head - atomic_load(&m->tail)) < kept + 64) {
		m->lost[port]++;
		m->dropped++;
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
	m->written++;
}

void mirror_counts(struct mirror *m, uint64_t *written, uint64_t *dropped)
{
	*written = m->written;
	*dropped = m->dropped;
}
