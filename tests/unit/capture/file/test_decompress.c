/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures that are compressed or come by a pipe: unpacked, cut at every length, damaged at every
 * byte, and the drop counters picked out of what passes.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/file/decompress.h"
#include "capture/reader.h"
#include "tests/unit/fixture/roce_frames.h"

#define FRAMES	     3
#define DROPS_TOLD   7
#define GZIP_WINDOW  (15 + 16)
#define FIRST_MEMBER 101 /* bytes of the capture: inside a record */

static char path[] = "/tmp/rocecheck-test-XXXXXX";

struct bytes {
	uint8_t at[8192];
	size_t len;
};

static void put(struct bytes *b, const void *v, size_t len)
{
	memcpy(b->at + b->len, v, len);
	b->len += len;
}

static void put_words(struct bytes *b, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t v = htole32(words[i]);

		put(b, &v, sizeof(v));
	}
}

/* FRAMES packets, then statistics of DROPS_TOLD drops. */
static void make_pcapng(struct bytes *b)
{
	static const uint32_t head[] = {0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff,
					28,	    1,	20,	    1, 0,	   20};
	static const uint32_t statistics[] = {5, 36, 0, 0, 0, 8 << 16 | 7, DROPS_TOLD, 0, 36};

	b->len = 0;
	put_words(b, head, ARRAY_SIZE(head));
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct frame f;
		uint32_t len;

		frame_of_opcode(4 + i, NET_IPV4, 0, &f);
		len = 32 + ((f.len + 3) & ~3U);
		put_words(b, (uint32_t[]){6, len, 0, 0, i, f.len, f.len}, 7);
		put(b, f.bytes, (f.len + 3) & ~3U);
		put_words(b, &len, 1);
	}
	put_words(b, statistics, ARRAY_SIZE(statistics));
}

static void pack_gzip(const uint8_t *in, size_t len, struct bytes *out)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (uint8_t *)in;
	z.avail_in = (uInt)len;
	z.next_out = out->at + out->len;
	z.avail_out = (uInt)(sizeof(out->at) - out->len);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

/* With a checksum, as the program zstd writes it. */
static void pack_zstd(const uint8_t *in, size_t len, struct bytes *out)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t made;

	assert_non_null(c);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	made = ZSTD_compress2(c, out->at + out->len, sizeof(out->at) - out->len, in, len);
	assert_false(ZSTD_isError(made));
	out->len += made;
	ZSTD_freeCCtx(c);
}

static const struct {
	const char *name;
	void (*pack)(const uint8_t *in, size_t len, struct bytes *out);
} packers[] = {
	{"gzip", pack_gzip},
	{"zstd", pack_zstd},
};

static void write_file(const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->at, 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

/* Reads all; how it ended. */
static int read_all(const char *from, unsigned int *frames, enum capture_drops *drops,
		    uint64_t *dropped, struct err *e)
{
	struct reader r;
	const struct packet *p;
	struct input *s;
	int err = input_open_file(from, &s, e);

	*frames = 0;
	if (err)
		return err;
	assert_int_equal(reader_init(&r, s, 0, e), 0);
	while ((err = reader_next(&r, -1, &p, e)) > 0)
		assert_int_equal(p->icrc, ICRC_GOOD);
	*frames = (unsigned int)r.frames;
	*drops = input_drops(s, dropped);
	reader_clear(&r);
	return err;
}

static void check_whole(const char *from)
{
	enum capture_drops drops;
	struct err e = {0};
	uint64_t dropped;
	unsigned int n;
	int err = read_all(from, &n, &drops, &dropped, &e);

	if (err || n != FRAMES || drops != DROPS_SOME || dropped != DROPS_TOLD)
		fail_msg("%s: %d '%s', %u frames, drops %d", from, err, e.text, n, drops);
}

static void whole(void **state)
{
	struct bytes in, out;

	(void)state;
	make_pcapng(&in);
	for (unsigned int i = 0; i < ARRAY_SIZE(packers); i++) {
		out.len = 0;
		packers[i].pack(in.at, in.len, &out);
		write_file(&out);
		check_whole(path);
		/* Two members behind each other, as `cat` and parallel packers make them. */
		out.len = 0;
		packers[i].pack(in.at, FIRST_MEMBER, &out);
		packers[i].pack(in.at + FIRST_MEMBER, in.len - FIRST_MEMBER, &out);
		write_file(&out);
		check_whole(path);
	}
}

static void by_pipe(void **state)
{
	struct bytes in, out = {0};
	int keep = dup(STDIN_FILENO), ends[2];

	(void)state;
	make_pcapng(&in);
	pack_zstd(in.at, in.len, &out);
	for (unsigned int packed = 0; packed < 2; packed++) {
		const struct bytes *b = packed ? &out : &in;

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], b->at, b->len), b->len);
		close(ends[1]);
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		check_whole("-");
		assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* ours stays open */
	}
	dup2(keep, STDIN_FILENO);
	close(keep);
}

/* Cut anywhere: an error that says where, never an end. Only between members data may end. */
static void cut(void **state)
{
	struct bytes in, out;

	(void)state;
	make_pcapng(&in);
	for (unsigned int i = 0; i < ARRAY_SIZE(packers); i++) {
		unsigned int most = 0;

		out.len = 0;
		packers[i].pack(in.at, in.len, &out);
		for (size_t whole_len = out.len--; out.len; out.len--) {
			enum capture_drops drops;
			struct err e = {0};
			uint64_t dropped;
			unsigned int n;
			int err;

			write_file(&out);
			err = read_all(path, &n, &drops, &dropped, &e);
			assert_true(err == -EINVAL || err == -EPROTO);
			if (err == -EPROTO && !strstr(e.text, "the compressed data is truncated"))
				fail_msg("%s cut at %zu of %zu: %s", packers[i].name, out.len,
					 whole_len, e.text);
			most = n > most ? n : most;
		}
		assert_int_equal(most, FRAMES); /* what comes before the cut is handed on */
	}
}

/* One byte changed anywhere: frames that verify, then an end or an error; never more. */
static void damaged(void **state)
{
	struct bytes in, out;

	(void)state;
	make_pcapng(&in);
	for (unsigned int i = 0; i < ARRAY_SIZE(packers); i++) {
		unsigned int told = 0;

		out.len = 0;
		packers[i].pack(in.at, in.len, &out);
		for (size_t at = 0; at < out.len; at++) {
			enum capture_drops drops;
			struct input *s;
			struct err e = {0};
			const uint8_t *data;
			uint32_t cap, wire;
			uint64_t ns, dropped;
			int got = 1;

			out.at[at] ^= 0x55;
			write_file(&out);
			out.at[at] ^= 0x55;
			if (input_open_file(path, &s, &e)) {
				told++;
				continue;
			}
			while (got > 0)
				got = input_next(s, -1, &data, &cap, &wire, &ns, &e);
			drops = input_drops(s, &dropped);
			assert_true(drops <= DROPS_SOME);
			told += got < 0;
			input_close(s);
		}
		assert_true(told > out.len / 2);
	}
}

static void behind_the_end(void **state)
{
	static const struct {
		const char *name, *text;
	} tails[] = {
		{"text", "behind"},
		{"half a magic", "\x1f\x8b"},
	};
	struct bytes in, out;

	(void)state;
	make_pcapng(&in);
	for (unsigned int i = 0; i < ARRAY_SIZE(packers) * ARRAY_SIZE(tails); i++) {
		const char *text = tails[i / ARRAY_SIZE(packers)].text;
		enum capture_drops drops;
		struct err e = {0};
		uint64_t dropped;
		unsigned int n;

		out.len = 0;
		packers[i % ARRAY_SIZE(packers)].pack(in.at, in.len, &out);
		put(&out, text, strlen(text));
		write_file(&out);
		assert_int_equal(read_all(path, &n, &drops, &dropped, &e), -EPROTO);
		assert_int_equal(n, FRAMES);
	}
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),   cmocka_unit_test(by_pipe),	     cmocka_unit_test(cut),
		cmocka_unit_test(damaged), cmocka_unit_test(behind_the_end),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
