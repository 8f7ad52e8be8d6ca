/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decompresses gzip (RFC 1952) and zstd (RFC 8878), any number of concatenated members, as a FILE
 * for libpcap. Memory is bounded for any input: zlib's window is 32 KiB, zstd's at most 128 MiB.
 * Data before a damage is delivered, then the error. Data that ends inside a member is truncated.
 */
#include "capture/file/decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define IN_BYTES    (1U << 17)
#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, a gzip header */
#define MAGIC_BYTES 4U

struct decompress {
	int fd;
	const struct codec *codec; /* NULL: not compressed */
	z_stream gzip;
	ZSTD_DStream *zstd;
	struct pcapng_tap tap;
	bool begun;   /* the magic was read */
	bool ended;   /* fd has no more */
	bool between; /* between two members: data may end here */
	const char *hint;
	char why[128];
	uint64_t consumed;
	size_t have, used; /* of in */
	uint8_t in[IN_BYTES];
};

static bool decompress_gzip_begin(struct decompress *u)
{
	return inflateInit2(&u->gzip, GZIP_WINDOW) == Z_OK;
}

static const char *decompress_gzip_step(struct decompress *u, uint8_t *out, size_t *len)
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

static void decompress_gzip_end(struct decompress *u)
{
	inflateEnd(&u->gzip);
}

static bool decompress_zstd_begin(struct decompress *u)
{
	u->zstd = ZSTD_createDStream();
	return u->zstd;
}

static const char *decompress_zstd_step(struct decompress *u, uint8_t *out, size_t *len)
{
	ZSTD_inBuffer from = {.src = u->in, .size = u->have, .pos = u->used};
	ZSTD_outBuffer to = {.dst = out, .size = *len};
	size_t status = ZSTD_decompressStream(u->zstd, &to, &from);

	u->used = from.pos;
	*len = to.pos;
	u->between = !status;
	return ZSTD_isError(status) ? ZSTD_getErrorName(status) : NULL;
}

static void decompress_zstd_end(struct decompress *u)
{
	ZSTD_freeDStream(u->zstd);
}

static const struct codec {
	const char *name;
	uint8_t magic[MAGIC_BYTES];
	size_t magic_len;
	bool (*begin)(struct decompress *u);
	/* Decompresses into out of *len bytes, and sets *len to the bytes written. Returns NULL or
	 * an error. */
	const char *(*step)(struct decompress *u, uint8_t *out, size_t *len);
	void (*end)(struct decompress *u);
	const char *hint; /* for an unsupported compression: begin is NULL */
} codecs[] = {
	{"gzip",
	 {0x1f, 0x8b, 0x08},
	 3,
	 decompress_gzip_begin,
	 decompress_gzip_step,
	 decompress_gzip_end,
	 NULL},
	{"zstd",
	 {0x28, 0xb5, 0x2f, 0xfd},
	 4,
	 decompress_zstd_begin,
	 decompress_zstd_step,
	 decompress_zstd_end,
	 NULL},
	{"xz", {0xfd, 0x37, 0x7a, 0x58}, 4, NULL, NULL, NULL, "xz -dc"},
	{"bzip2", {0x42, 0x5a, 0x68}, 3, NULL, NULL, NULL, "bzip2 -dc"},
	{"lz4", {0x04, 0x22, 0x4d, 0x18}, 4, NULL, NULL, NULL, "lz4 -dc"},
};

static const struct codec *decompress_find_codec(const uint8_t *magic, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(codecs); i++)
		if (len >= codecs[i].magic_len &&
		    !memcmp(magic, codecs[i].magic, codecs[i].magic_len))
			return &codecs[i];
	return NULL;
}

bool decompress_needed(int fd)
{
	uint8_t magic[MAGIC_BYTES];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	return n > 0 && decompress_find_codec(magic, (size_t)n);
}

static ssize_t decompress_fail(struct decompress *u, const char *why)
{
	snprintf(u->why, sizeof(u->why), "%s%s%s", u->codec ? u->codec->name : "",
		 u->codec ? ": " : "", why);
	errno = EIO;
	return -1;
}

/* Reads more into u->in. False when the stream failed. */
static bool decompress_fill(struct decompress *u)
{
	ssize_t n;

	if (u->used == u->have)
		u->used = u->have = 0;
	do
		n = read(u->fd, u->in + u->have, sizeof(u->in) - u->have);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		decompress_fail(u, strerror(errno));
		return false;
	}
	u->ended = !n;
	u->have += (size_t)n;
	u->consumed += (uint64_t)n;
	return true;
}

static bool decompress_begin(struct decompress *u)
{
	const struct codec *c;

	while (u->have < MAGIC_BYTES && !u->ended)
		if (!decompress_fill(u))
			return false;
	u->begun = true;
	c = decompress_find_codec(u->in, u->have);
	if (c && !c->begin)
		u->hint = c->hint;
	if (!c || !c->begin)
		return true;
	if (!c->begin(u)) {
		decompress_fail(u, "out of memory");
		return false;
	}
	u->codec = c;
	return true;
}

static ssize_t decompress_read_plain(struct decompress *u, uint8_t *out, size_t size)
{
	size_t len;

	if (u->used == u->have && !u->ended && !decompress_fill(u))
		return -1;
	len = u->have - u->used < size ? u->have - u->used : size;
	memcpy(out, u->in + u->used, len);
	u->used += len;
	return (ssize_t)len;
}

static ssize_t decompress_read_packed(struct decompress *u, uint8_t *out, size_t size)
{
	for (;;) {
		size_t len = size, before;
		const char *why;

		if (u->used == u->have && !u->ended && !decompress_fill(u))
			return -1;
		if (u->used == u->have && u->between)
			return 0;
		before = u->used;
		u->between = false;
		why = u->codec->step(u, out, &len);
		if (why)
			decompress_fail(u, why);
		if (len)
			return (ssize_t)len;
		if (why)
			return -1;
		if (u->used == u->have && u->ended && !u->between)
			return decompress_fail(u, "the compressed data is truncated");
		if (u->used == before && u->used < u->have)
			return decompress_fail(u, "the compressed data is corrupt");
	}
}

static ssize_t decompress_stream_read(void *cookie, char *out, size_t size)
{
	struct decompress *u = cookie;
	ssize_t n;

	if (*u->why) {
		errno = EIO;
		return -1;
	}
	if (!u->begun && !decompress_begin(u))
		return -1;
	n = u->codec ? decompress_read_packed(u, (uint8_t *)out, size)
		     : decompress_read_plain(u, (uint8_t *)out, size);
	if (n > 0)
		pcapng_tap_feed(&u->tap, (uint8_t *)out, (size_t)n);
	return n;
}

static int decompress_stream_close(void *cookie)
{
	struct decompress *u = cookie;

	return close(u->fd);
}

struct decompress *decompress_new(int fd, FILE **f)
{
	static const cookie_io_functions_t io = {.read = decompress_stream_read,
						 .close = decompress_stream_close};
	struct decompress *u = calloc(1, sizeof(*u));

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

void decompress_free(struct decompress *u)
{
	if (u && u->codec)
		u->codec->end(u);
	free(u);
}

const char *decompress_error(const struct decompress *u)
{
	return u && *u->why ? u->why : NULL;
}

void decompress_hint(const struct decompress *u, struct err *e)
{
	if (u->hint)
		err_hint(e,
			 "this compression is not supported: pipe the file through '%s' and read "
			 "'-'",
			 u->hint);
}

const struct pcapng_tap *decompress_tap(const struct decompress *u)
{
	return &u->tap;
}

uint64_t decompress_consumed(const struct decompress *u)
{
	return u->consumed;
}
