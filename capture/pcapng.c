/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walker over pcapng blocks that looks at interface statistics only (draft-ietf-opsawg-pcapng,
 * section 4.6). Every block is
 *
 *   | type 32 | total length 32 | body, padded to 4 | total length 32 |
 *
 * in the byte order of its section header.
 */
#include "capture/pcapng.h"

#include <byteswap.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SECTION	 0x0a0d0d0aU
#define BLOCK_STATISTICS 5U
#define BYTE_ORDER_MAGIC 0x1a2b3c4dU
#define BLOCK_MIN	 12U
#define ISB_FIXED	 12U /* interface id, timestamp */
#define ISB_BODY_MAX	 1024U
#define OPTION_IFDROP	 5
#define OPTION_OSDROP	 7
#define INTERFACES_MAX	 64

/* A section's interfaces are numbered from 0; counts of an interface grow, the last block holds. */
struct section {
	bool swapped;
	bool told[INTERFACES_MAX];
	uint64_t dropped[INTERFACES_MAX];
};

struct walk {
	int fd;
	off_t at;
	size_t have, used; /* of buf */
	uint8_t buf[65536];
};

/* Gives `len` bytes, or false at the end of the file. */
static bool walk_read(struct walk *w, void *out, size_t len)
{
	uint8_t *to = out;

	while (len) {
		size_t part = w->have - w->used < len ? w->have - w->used : len;
		ssize_t n;

		memcpy(to, w->buf + w->used, part);
		w->used += part;
		to += part;
		len -= part;
		if (!len)
			break;
		n = pread(w->fd, w->buf, sizeof(w->buf), w->at);
		if (n <= 0)
			return false;
		w->at += n;
		w->have = (size_t)n;
		w->used = 0;
	}
	return true;
}

static void walk_skip(struct walk *w, size_t len)
{
	size_t part = w->have - w->used < len ? w->have - w->used : len;

	w->used += part;
	w->at += (off_t)(len - part);
}

static uint32_t u32_of(const struct section *s, uint32_t v)
{
	return s->swapped ? bswap_32(v) : v;
}

static uint16_t u16_at(const struct section *s, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return s->swapped ? bswap_16(v) : v;
}

static uint64_t u64_at(const struct section *s, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return s->swapped ? bswap_64(v) : v;
}

static void read_statistics(struct section *s, const uint8_t *body, size_t len)
{
	uint64_t drops = 0;
	bool told = false;
	uint32_t id;

	if (len < ISB_FIXED)
		return;
	memcpy(&id, body, sizeof(id));
	id = u32_of(s, id);
	if (id >= INTERFACES_MAX)
		return;
	body += ISB_FIXED;
	len -= ISB_FIXED;
	while (len >= 4) {
		uint16_t code = u16_at(s, body), size = u16_at(s, body + 2);
		size_t padded = 4 + ((size + 3U) & ~3U);

		if (!code || padded > len)
			break;
		if (size == 8 && (code == OPTION_IFDROP || code == OPTION_OSDROP)) {
			drops += u64_at(s, body + 4);
			told = true;
		}
		body += padded;
		len -= padded;
	}
	if (told) {
		s->told[id] = true;
		s->dropped[id] = drops;
	}
}

static void section_end(struct section *s, bool *told, uint64_t *dropped)
{
	unsigned int i;

	for (i = 0; i < INTERFACES_MAX; i++) {
		*told |= s->told[i];
		*dropped += s->dropped[i];
	}
	memset(s, 0, sizeof(*s));
}

/* The magic behind the length tells the byte order of the whole section, its own length included.
 */
static bool section_begin(struct walk *w, struct section *s)
{
	uint32_t magic;

	if (!walk_read(w, &magic, sizeof(magic)))
		return false;
	s->swapped = magic == bswap_32(BYTE_ORDER_MAGIC);
	return s->swapped || magic == BYTE_ORDER_MAGIC;
}

/* One block. False at the end, and where the file makes no sense. */
static bool walk_block(struct walk *w, struct section *s, bool *told, uint64_t *dropped)
{
	uint8_t body[ISB_BODY_MAX];
	uint32_t head[2], len, taken = 8;

	if (!walk_read(w, head, sizeof(head)))
		return false;
	if (head[0] == BLOCK_SECTION) { /* a palindrome in either byte order */
		section_end(s, told, dropped);
		if (!section_begin(w, s))
			return false;
		taken += 4;
	}
	len = u32_of(s, head[1]);
	if (len < BLOCK_MIN || len % 4 || len < taken)
		return false;
	if (u32_of(s, head[0]) == BLOCK_STATISTICS && len - BLOCK_MIN <= sizeof(body)) {
		if (!walk_read(w, body, len - BLOCK_MIN))
			return false;
		read_statistics(s, body, len - BLOCK_MIN);
		taken += len - BLOCK_MIN;
	}
	walk_skip(w, len - taken);
	return true;
}

enum capture_drops pcapng_drops(int fd, uint64_t *dropped)
{
	struct walk w = {.fd = fd};
	struct section s = {0};
	bool told = false;
	uint64_t sum = 0;
	uint32_t type;

	if (pread(fd, &type, sizeof(type), 0) != sizeof(type) || type != BLOCK_SECTION)
		return DROPS_UNKNOWN;
	while (walk_block(&w, &s, &told, &sum))
		;
	section_end(&s, &told, &sum);
	if (!told)
		return DROPS_UNKNOWN;
	*dropped = sum;
	return sum ? DROPS_SOME : DROPS_ZERO;
}
