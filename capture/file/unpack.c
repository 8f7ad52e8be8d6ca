/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip (RFC 1952) and zstd (RFC 8878), any number of members behind each other, as a FILE for
 * libpcap. Memory is bounded whatever the data says: zlib's window is 32 KiB, zstd's 128 MiB at
 * most. What comes before the damage is handed on, then the damage is told; data that ends inside a
 * member is never an end.
 */
#include "capture/file/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define IN_BYTES    (1U << 17)
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, a gzip header */
#define MAGIC_BYTES 4U

struct unpack {
	int fd;
	const struct codec *codec; /* NULL: not compressed */
	z_stream gzip;
	ZSTD_DStream *zstd;
	struct pcapng_tap tap;
	bool begun;   /* the first bytes were looked at */
	bool ended;   /* fd has no more */
	bool between; /* two members: here data may end */
	const char *hint;
	char why[128];
	uint64_t taken;
	size_t have, used; /* of in */
	uint8_t in[IN_BYTES];
};

static bool gzip_begin(struct unpack *u)
{
	return inflateInit2(&u->gzip, GZIP_WINDOW) == Z_OK;
}

static const char *gzip_step(struct unpack *u, uint8_t *out, size_t *len)
{
	size_t size = *len;
	int status;

	u->gzip.next_in = u->in + u->used;
	u->gzip.avail_in = (uInt)(u->have - u->used);
	u->gzip.next_out = out;
	u->gzip.avail_out = size < INT32_MAX ? (uInt)size : INT32_MAX;
	*len = u->gzip.avail_out;
	status = inflate(&u->gzip, Z_NO_FLUSH);
	u->used = u->have - u->gzip.avail_in;
	*len -= u->gzip.avail_out;
	if (status == Z_STREAM_END)
		u->between = inflateReset(&u->gzip) == Z_OK;
	if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR)
		return NULL;
	return u->gzip.msg ? u->gzip.msg : zError(status);
}

static void gzip_end(struct unpack *u)
{
	inflateEnd(&u->gzip);
}

static bool zstd_begin(struct unpack *u)
{
	u->zstd = ZSTD_createDStream();
	return u->zstd;
}

static const char *zstd_step(struct unpack *u, uint8_t *out, size_t *len)
{
	ZSTD_inBuffer from = {.src = u->in, .size = u->have, .pos = u->used};
	ZSTD_outBuffer to = {.dst = out, .size = *len};
	size_t status = ZSTD_decompressStream(u->zstd, &to, &from);

	u->used = from.pos;
	*len = to.pos;
	u->between = !status;
	return ZSTD_isError(status) ? ZSTD_getErrorName(status) : NULL;
}

static void zstd_end(struct unpack *u)
{
	ZSTD_freeDStream(u->zstd);
}

static const struct codec {
	const char *name;
	uint8_t magic[MAGIC_BYTES];
	size_t magic_len;
	bool (*begin)(struct unpack *u);
	/* Unpacks into out, of *len bytes, and says how many it made in *len. Says why it cannot.
	 */
	const char *(*step)(struct unpack *u, uint8_t *out, size_t *len);
	void (*end)(struct unpack *u);
	const char *hint; /* of what is not unpacked here: begin is NULL */
} codecs[] = {
	{"gzip", {0x1f, 0x8b, 0x08}, 3, gzip_begin, gzip_step, gzip_end, NULL},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_begin, zstd_step, zstd_end, NULL},
	{"xz", {0xfd, 0x37, 0x7a, 0x58}, 4, NULL, NULL, NULL, "xz -dc"},
	{"bzip2", {0x42, 0x5a, 0x68}, 3, NULL, NULL, NULL, "bzip2 -dc"},
	{"lz4", {0x04, 0x22, 0x4d, 0x18}, 4, NULL, NULL, NULL, "lz4 -dc"},
};

static const struct codec *codec_of(const uint8_t *magic, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(codecs); i++)
		if (len >= codecs[i].magic_len &&
		    !memcmp(magic, codecs[i].magic, codecs[i].magic_len))
			return &codecs[i];
	return NULL;
}

bool unpack_needed(int fd)
{
	uint8_t magic[MAGIC_BYTES];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	return n > 0 && codec_of(magic, (size_t)n);
}

static ssize_t fail(struct unpack *u, const char *why)
{
	snprintf(u->why, sizeof(u->why), "%s%s%s", u->codec ? u->codec->name : "",
		 u->codec ? ": " : "", why);
	errno = EIO;
	return -1;
}

/* Adds to what is in u->in. False when the stream failed. */
static bool fill(struct unpack *u)
{
	ssize_t n;

	if (u->used == u->have)
		u->used = u->have = 0;
	do
		n = read(u->fd, u->in + u->have, sizeof(u->in) - u->have);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		fail(u, strerror(errno));
		return false;
	}
	u->ended = !n;
	u->have += (size_t)n;
	u->taken += (uint64_t)n;
	return true;
}

static bool begin(struct unpack *u)
{
	const struct codec *c;

	while (u->have < MAGIC_BYTES && !u->ended)
		if (!fill(u))
			return false;
	u->begun = true;
	c = codec_of(u->in, u->have);
	if (c && !c->begin)
		u->hint = c->hint;
	if (!c || !c->begin)
		return true;
	if (!c->begin(u)) {
		fail(u, "out of memory");
		return false;
	}
	u->codec = c;
	return true;
}

static ssize_t take_plain(struct unpack *u, uint8_t *out, size_t size)
{
	size_t len;

	if (u->used == u->have && !u->ended && !fill(u))
		return -1;
	len = u->have - u->used < size ? u->have - u->used : size;
	memcpy(out, u->in + u->used, len);
	u->used += len;
	return (ssize_t)len;
}

static ssize_t take_unpacked(struct unpack *u, uint8_t *out, size_t size)
{
	for (;;) {
		size_t len = size, before;
		const char *why;

		if (u->used == u->have && !u->ended && !fill(u))
			return -1;
		if (u->used == u->have && u->between)
			return 0;
		before = u->used;
		u->between = false;
		why = u->codec->step(u, out, &len);
		if (why)
			fail(u, why);
		if (len)
			return (ssize_t)len;
		if (why)
			return -1;
		if (u->used == u->have && u->ended && !u->between)
			return fail(u, "the compressed data ends early");
		if (u->used == before && u->used < u->have)
			return fail(u, "the compressed data makes no sense");
	}
}

static ssize_t stream_read(void *cookie, char *out, size_t size)
{
	struct unpack *u = cookie;
	ssize_t n;

	if (*u->why) {
		errno = EIO;
		return -1;
	}
	if (!u->begun && !begin(u))
		return -1;
	n = u->codec ? take_unpacked(u, (uint8_t *)out, size) : take_plain(u, (uint8_t *)out, size);
	if (n > 0)
		pcapng_tap_feed(&u->tap, (uint8_t *)out, (size_t)n);
	return n;
}

static int stream_close(void *cookie)
{
	struct unpack *u = cookie;

	return close(u->fd);
}

struct unpack *unpack_new(int fd, FILE **f)
{
	static const cookie_io_functions_t io = {.read = stream_read, .close = stream_close};
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->fd = fd;
	pcapng_tap_init(&u->tap);
	*f = fopencookie(u, "rb", io);
	if (*f)
		return u;
	free(u);
	return NULL;
}

void unpack_free(struct unpack *u)
{
	if (u && u->codec)
		u->codec->end(u);
	free(u);
}

const char *unpack_error(const struct unpack *u)
{
	return u && *u->why ? u->why : NULL;
}

void unpack_hint(const struct unpack *u, struct err *e)
{
	if (u->hint)
		err_hint(e, "the file is compressed: pipe it through '%s' and read '-'", u->hint);
}

const struct pcapng_tap *unpack_tap(const struct unpack *u)
{
	return &u->tap;
}

uint64_t unpack_taken(const struct unpack *u)
{
	return u->taken;
}
