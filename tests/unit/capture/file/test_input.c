/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources on files: pcap and pcapng, broken off at every length, and drop counters. Live sources
 * need privileges and are tested in the lab.
 */
#include <string.h>
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/file/pcapng.h"
#include "capture/reader.h"
#include "tests/unit/fixture/folder.h"
#include "tests/unit/fixture/tunnel_frames.h"

/* A file under construction, in either byte order. */
struct out {
	uint8_t bytes[8192];
	size_t len;
	bool big;
};

static void put32(struct out *o, uint32_t v)
{
	v = o->big ? htobe32(v) : htole32(v);
	memcpy(o->bytes + o->len, &v, 4);
	o->len += 4;
}

static void put16(struct out *o, uint16_t v)
{
	v = o->big ? htobe16(v) : htole16(v);
	memcpy(o->bytes + o->len, &v, 2);
	o->len += 2;
}

static void put_bytes(struct out *o, const void *v, size_t len)
{
	memcpy(o->bytes + o->len, v, len);
	o->len += (len + 3) & ~(size_t)3;
}

static void put_section(struct out *o)
{
	put32(o, 0x0a0d0d0a);
	put32(o, 28);
	put32(o, 0x1a2b3c4d);
	put16(o, 1);
	put16(o, 0);
	put32(o, 0xffffffff);
	put32(o, 0xffffffff);
	put32(o, 28);
	put32(o, 1); /* interface: Ethernet, microseconds */
	put32(o, 20);
	put16(o, 1);
	put16(o, 0);
	put32(o, 0);
	put32(o, 20);
}

static void put_packet(struct out *o, const struct frame *f, uint32_t time_us)
{
	uint32_t len = 32 + ((f->len + 3) & ~3U);

	put32(o, 6);
	put32(o, len);
	put32(o, 0);
	put32(o, 0);
	put32(o, time_us);
	put32(o, f->len);
	put32(o, f->len);
	put_bytes(o, f->bytes, f->len);
	put32(o, len);
}

static void put_option64(struct out *o, uint16_t code, uint32_t value)
{
	put16(o, code);
	put16(o, 8);
	put32(o, o->big ? 0 : value);
	put32(o, o->big ? value : 0);
}

/* ifdrop and osdrop: -1 = option absent. */
static void put_statistics(struct out *o, uint32_t interface, int ifdrop, int osdrop)
{
	uint32_t len = 24 + 12 + (ifdrop >= 0 ? 12 : 0) + (osdrop >= 0 ? 12 : 0) + 4;

	put32(o, 5);
	put32(o, len);
	put32(o, interface);
	put32(o, 0);
	put32(o, 0);
	put_option64(o, 4, 1000); /* received: not a drop */
	if (ifdrop >= 0)
		put_option64(o, 5, (uint32_t)ifdrop);
	if (osdrop >= 0)
		put_option64(o, 7, (uint32_t)osdrop);
	put32(o, 0); /* end of options */
	put32(o, len);
}

static void make_pcapng(struct out *o, bool big)
{
	struct frame f;
	unsigned int i;

	memset(o, 0, sizeof(*o));
	o->big = big;
	put_section(o);
	for (i = 0; i < 3; i++) {
		frame_of_opcode(4 + i, NET_IPV4, 0, &f);
		put_packet(o, &f, 1000 + i);
	}
}

static void make_pcap(struct out *o, uint32_t magic)
{
	struct frame f;
	unsigned int i;

	memset(o, 0, sizeof(*o));
	put32(o, magic);
	put32(o, 0x00040002);
	put32(o, 0);
	put32(o, 0);
	put32(o, 65535);
	put32(o, 1);
	for (i = 0; i < 3; i++) {
		frame_of_opcode(4 + i, NET_IPV4, 0, &f);
		put32(o, 1700000000);
		put32(o, 123 + i);
		put32(o, f.len);
		put32(o, f.len);
		memcpy(o->bytes + o->len, f.bytes, f.len);
		o->len += f.len;
	}
}

static void put_file(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_true(!len || fwrite(bytes, len, 1, f) == 1);
	assert_int_equal(fclose(f), 0);
}

/* Reads all frames; what input_next() said at the end. */
static int read_all(const char *path, unsigned int *frames, uint64_t *last_ns, struct err *e)
{
	struct input *s;
	struct reader r;
	const struct packet *p;
	int err = input_open_file(path, &s, e);

	*frames = 0;
	if (err)
		return err;
	assert_int_equal(reader_init(&r, s, 0, e), 0);
	while ((err = reader_next(&r, -1, &p, e)) > 0) {
		assert_int_equal(p->icrc, ICRC_GOOD);
		*last_ns = p->time_ns;
	}
	*frames = (unsigned int)r.frames;
	assert_int_equal(reader_next(&r, -1, &p, e), 0); /* the break is told once */
	reader_clear(&r);
	return err;
}

static void whole_files(void **state)
{
	struct out o;
	struct err e = {0};
	uint64_t ns = 0;
	unsigned int n;
	char path[64];

	(void)state;
	path_of("whole", path);
	make_pcap(&o, 0xa1b2c3d4);
	put_file(path, o.bytes, o.len);
	assert_int_equal(read_all(path, &n, &ns, &e), 0);
	assert_int_equal(n, 3);
	assert_true(ns == 1700000000000125000);
	make_pcap(&o, 0xa1b23c4d);
	put_file(path, o.bytes, o.len);
	assert_int_equal(read_all(path, &n, &ns, &e), 0);
	assert_true(ns == 1700000000000000125);
	make_pcapng(&o, false);
	put_file(path, o.bytes, o.len);
	assert_int_equal(read_all(path, &n, &ns, &e), 0);
	assert_int_equal(n, 3);
	assert_true(ns == 1002000);
	make_pcapng(&o, true);
	put_file(path, o.bytes, o.len);
	assert_int_equal(read_all(path, &n, &ns, &e), 0);
	assert_int_equal(n, 3);
}

static uint32_t step_of(const char *path, const struct out *o)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	struct err e = {0};
	struct input *s;
	uint64_t ns;
	uint32_t step;

	put_file(path, o->bytes, o->len);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	while (input_next(s, -1, &data, &cap_len, &wire_len, &ns, &e) > 0)
		;
	step = input_step_ns(s);
	input_close(s);
	return step;
}

/* In both byte orders. */
static void clock_steps(void **state)
{
	char path[64];
	struct out o;

	(void)state;
	path_of("steps", path);
	make_pcap(&o, 0xa1b2c3d4);
	assert_int_equal(step_of(path, &o), 1000);
	make_pcap(&o, 0xa1b23c4d);
	assert_int_equal(step_of(path, &o), 1);
	make_pcapng(&o, false);
	assert_int_equal(step_of(path, &o), 1000);
	make_pcapng(&o, true);
	assert_int_equal(step_of(path, &o), 1000);
	o.len = 48; /* no frames */
	assert_int_equal(step_of(path, &o), 1000);
	unlink(path);
}

static void put_interface(struct out *o, uint64_t bps)
{
	put32(o, 1);
	put32(o, 36);
	put16(o, 1);
	put16(o, 0);
	put32(o, 0);
	put16(o, 8);
	put16(o, 8);
	put32(o, (uint32_t)(o->big ? bps >> 32 : bps));
	put32(o, (uint32_t)(o->big ? bps : bps >> 32));
	put32(o, 0); /* end of options */
	put32(o, 36);
}

/* As a file, and packed: through a stream. */
static uint32_t link_of(const char *path, const struct out *o)
{
	char packed[80], command[200];
	uint32_t mbps[2];

	put_file(path, o->bytes, o->len);
	snprintf(packed, sizeof(packed), "%s.gz", path);
	snprintf(command, sizeof(command), "gzip -c %s >%s", path, packed);
	assert_int_equal(system(command), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct err e = {0};
		struct input *s;

		assert_int_equal(input_open_file(i ? packed : path, &s, &e), 0);
		mbps[i] = input_link_mbps(s);
		input_close(s);
	}
	unlink(packed);
	assert_int_equal(mbps[0], mbps[1]);
	return mbps[0];
}

/* The first interface says nothing. */
static void link_speeds(void **state)
{
	static const struct {
		uint64_t bps[2];
		uint32_t mbps;
	} rows[] = {
		{{0, 0}, 0},
		{{25000000000, 0}, 25000},
		{{400000000000, 100000000000}, 100000},
		{{1000, 0}, 0},
		{{UINT64_MAX, 10000000}, 10},
	};
	char path[64];
	struct out o;

	(void)state;
	path_of("links", path);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		memset(&o, 0, sizeof(o));
		o.big = i & 1;
		put_section(&o);
		for (unsigned int k = 0; k < 2; k++)
			if (rows[i / 2].bps[k])
				put_interface(&o, rows[i / 2].bps[k]);
		assert_int_equal(link_of(path, &o), rows[i / 2].mbps);
	}
	make_pcap(&o, 0xa1b2c3d4);
	assert_int_equal(link_of(path, &o), 0);
	unlink(path);
}

/* Cut at every length: the frames before the cut come, then an error that counts them, or, exactly
 * between two records, the end. */
static void check_cuts(const struct out *o, size_t header_len)
{
	unsigned int n, last = 0, ends = 0;
	char path[64], want[32];
	uint64_t ns;
	size_t len;

	path_of("cut", path);
	for (len = 0; len < o->len; len++) {
		struct err e = {0};
		int err;

		put_file(path, o->bytes, len);
		err = read_all(path, &n, &ns, &e);
		if (len < header_len) {
			assert_int_equal(err, -EINVAL);
			assert_non_null(strstr(e.text, path));
			continue;
		}
		assert_true(n == last || n == last + 1);
		last = n;
		ends += err == 0;
		if (!err)
			continue;
		assert_int_equal(err, -EPROTO);
		snprintf(want, sizeof(want), "beyond frame %u:", n);
		assert_non_null(strstr(e.text, want));
	}
	assert_int_equal(last, 2);
	assert_int_equal(ends, 3); /* after the header, the first and the second frame */
}

static void broken_files(void **state)
{
	struct out o;

	(void)state;
	make_pcap(&o, 0xa1b2c3d4);
	check_cuts(&o, 24);
	make_pcapng(&o, false);
	check_cuts(&o, 48);
}

static void no_capture_files(void **state)
{
	static const struct {
		const char *name;
		uint8_t bytes[24];
		size_t len;
		int err;
		const char *text, *hint;
	} rows[] = {
		{"empty", {0}, 0, -EINVAL, "not a capture file", ""},
		{"text", {"hello, this is a text\n"}, 22, -EINVAL, "not a capture file", ""},
		{"xz", {0xfd, 0x37, 0x7a, 0x58}, 20, -EINVAL, "not a capture file", "xz -dc"},
		{"gz", {0x1f, 0x8b, 8, 8}, 20, -EINVAL, "not a capture file: gzip: ", ""},
		{"zst", {0x28, 0xb5, 0x2f, 0xfd}, 20, -EINVAL, "not a capture file: zstd: ", ""},
		{"wifi",
		 {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 105},
		 24,
		 -ENOTSUP,
		 "IEEE802_11",
		 "Ethernet"},
	};
	char path[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct input *s = NULL;
		struct err e = {0};

		path_of(rows[i].name, path);
		put_file(path, rows[i].bytes, rows[i].len);
		assert_int_equal(input_open_file(path, &s, &e), rows[i].err);
		assert_null(s);
		if (!strstr(e.text, rows[i].text) || !strstr(e.hint, rows[i].hint))
			fail_msg("%s: '%s' '%s'", rows[i].name, e.text, e.hint);
	}
	for (i = 0; i < 2; i++) {
		struct input *s = NULL;
		struct err e = {0};

		assert_int_equal(input_open_file(i ? dir : "/nonexistent/x.pcap", &s, &e),
				 i ? -EINVAL : -ENOENT);
	}
}

static void drop_counters(void **state)
{
	static const struct {
		const char *name;
		int ifdrop[2],
			osdrop[2]; /* of two statistics blocks of one interface; -2 = no block */
		enum capture_drops want;
		uint64_t dropped;
	} rows[] = {
		{"no block", {-2, -2}, {-2, -2}, DROPS_UNKNOWN, 0},
		{"block without drops", {-1, -2}, {-1, -2}, DROPS_UNKNOWN, 0},
		{"zero", {0, -2}, {0, -2}, DROPS_ZERO, 0},
		{"both", {3, -2}, {4, -2}, DROPS_SOME, 7},
		{"only the kernel's", {-1, -2}, {4, -2}, DROPS_SOME, 4},
		{"the last one holds", {3, 5}, {-1, -1}, DROPS_SOME, 5},
	};
	char path[64];
	unsigned int i, k, big;

	(void)state;
	path_of("drops", path);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (big = 0; big < 2; big++) {
			struct input *s;
			struct err e = {0};
			uint64_t dropped = 99;
			struct out o;

			make_pcapng(&o, big);
			for (k = 0; k < 2; k++)
				if (rows[i].ifdrop[k] != -2)
					put_statistics(&o, 0, rows[i].ifdrop[k], rows[i].osdrop[k]);
			put_file(path, o.bytes, o.len);
			assert_int_equal(input_open_file(path, &s, &e), 0);
			assert_int_equal(input_drops(s, &dropped), rows[i].want);
			assert_true(dropped == rows[i].dropped);
			input_close(s);
		}
	}
}

/* Two interfaces and two sections add up; a file cut anywhere, or with a wrong length, ends the
 * walk. */
static void hostile_statistics(void **state)
{
	uint64_t dropped = 0;
	char path[64];
	struct out o;
	size_t len, second;
	int fd;

	(void)state;
	path_of("hostile", path);
	make_pcapng(&o, false);
	put_statistics(&o, 0, 1, 2);
	put_statistics(&o, 1, 10, -1);
	put_statistics(&o, 64, 1000, -1); /* beyond the interfaces that are counted */
	second = o.len;
	put_section(&o);
	put_statistics(&o, 0, 100, -1);
	put_file(path, o.bytes, o.len);
	fd = open(path, O_RDWR);
	assert_int_equal(pcapng_drops(fd, &dropped), DROPS_SOME);
	assert_true(dropped == 113);
	for (len = o.len; len-- > 0;) {
		assert_int_equal(ftruncate(fd, (off_t)len), 0);
		dropped = 0;
		(void)pcapng_drops(fd, &dropped);
		assert_true(dropped <= 113);
	}
	for (len = 0; len < second; len += 4) { /* each word a huge and an odd length */
		struct out bad = o;

		memcpy(bad.bytes + len, "\xf0\xff\xff\xff", 4);
		assert_int_equal(pwrite(fd, bad.bytes, bad.len, 0), bad.len);
		(void)pcapng_drops(fd, &dropped);
		bad.bytes[len] = 0x0d;
		assert_int_equal(pwrite(fd, bad.bytes, bad.len, 0), bad.len);
		(void)pcapng_drops(fd, &dropped);
	}
	close(fd);
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"whole", "cut", "empty", "text", "xz", "gz", "zst", "wifi", "drops", "hostile",
	};
	char path[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(path_of(names[i], path));
	return remove_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_files),	      cmocka_unit_test(broken_files),
		cmocka_unit_test(no_capture_files),   cmocka_unit_test(drop_counters),
		cmocka_unit_test(hostile_statistics), cmocka_unit_test(clock_steps),
		cmocka_unit_test(link_speeds),
	};

	return cmocka_run_group_tests(tests, make_dir, tear_down);
}
