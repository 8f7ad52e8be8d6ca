/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: written, read back, and what they keep of a frame.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/reader.h"
#include "profiles/base/file.h"
#include "tests/unit/fixture/folder.h"
#include "tests/unit/fixture/roce_frames.h"

/* As the maker of the file and the one who writes it do between them. */
static int sink_make(const char *path, int dlt, unsigned int snaplen, struct pcap_writer **k,
		     struct err *e)
{
	struct folder folder;
	int fd, err = folder_of_file(path, &folder, e);

	if (err)
		return err;
	fd = pcap_writer_create(&folder, file_name_of(path), e);
	folder_close(&folder);
	return fd < 0 ? fd : pcap_writer_open(fd, path, dlt, snaplen, k, e);
}

static void sink_and_back(void **state)
{
	struct err e = {0};
	const struct packet *p;
	struct reader r;
	struct input *s;
	struct pcap_writer *k;
	struct stat st;
	struct frame f;
	char path[64], other[64];

	(void)state;
	path_of("sink.pcap", path);
	frame_of_opcode(6, NET_IPV4, 1, &f);
	assert_int_equal(sink_make(path, DLT_EN10MB, 0, &k, &e), 0);
	assert_int_equal(pcap_writer_write(k, f.bytes, f.len, f.len + 100, 1700000000123456789, &e),
			 0);
	assert_int_equal(pcap_writer_close(k, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	assert_int_equal(reader_init(&r, s, 0, &e), 0);
	assert_int_equal(reader_next(&r, 0, &p, &e), 1);
	assert_true(p->time_ns == 1700000000123456789);
	assert_int_equal(p->cap_len, f.len);
	assert_int_equal(p->wire_len, f.len + 100);
	assert_memory_equal(r.data, f.bytes, f.len);
	reader_clear(&r);

	assert_int_equal(sink_make(path, DLT_EN10MB, 0, &k, &e), -EEXIST);
	assert_non_null(strstr(e.hint, "never overwrites"));
	path_of("link", other);
	assert_int_equal(symlink("nowhere", other), 0);
	assert_true(sink_make(other, DLT_EN10MB, 0, &k, &e) < 0);
	assert_int_equal(sink_make("/nonexistent/x", DLT_EN10MB, 0, &k, &e), -ENOENT);
	assert_int_equal(pcap_writer_close(NULL, &e), 0);

	path_of("raw.pcap", path);
	assert_int_equal(sink_make(path, DLT_RAW, 128, &k, &e), 0);
	assert_int_equal(pcap_writer_close(k, &e), 0);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	assert_int_equal(input_dlt(s), DLT_RAW);
	input_close(s);
}

/* Frames of every length modulo 4, times beyond 32 bits, and the drop counters. */
static void pcapng_and_back(void **state)
{
	uint64_t time_ns = 1700000000123456789, dropped;
	struct err e = {0};
	struct input *s;
	struct pcap_writer *k;
	struct stat st;
	struct frame f;
	char path[64];
	uint32_t len;

	(void)state;
	path_of("sink.pcapng", path);
	frame_of_opcode(6, NET_IPV4, 1, &f);
	assert_int_equal(sink_make(path, DLT_EN10MB, 0, &k, &e), 0);
	for (len = f.len - 4; len <= f.len; len++)
		assert_int_equal(pcap_writer_write(k, f.bytes, len, f.len + 100, time_ns + len, &e),
				 0);
	assert_int_equal(pcap_writer_statistics(k, time_ns, 5, UINT64_C(1) << 33, &e), 0);
	dropped = pcap_writer_bytes(k);
	assert_int_equal(pcap_writer_close(k, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(dropped == (uint64_t)st.st_size);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	for (len = f.len - 4; len <= f.len; len++) {
		uint32_t cap_len, wire_len;
		const uint8_t *data;
		uint64_t ns;

		assert_int_equal(input_next(s, -1, &data, &cap_len, &wire_len, &ns, &e), 1);
		assert_int_equal(cap_len, len);
		assert_int_equal(wire_len, f.len + 100);
		assert_true(ns == time_ns + len);
		assert_memory_equal(data, f.bytes, len);
	}
	assert_int_equal(input_drops(s, &dropped), DROPS_SOME);
	assert_true(dropped == UINT64_C(1) << 33);
	input_close(s);
}

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* No payload and no R_Key stays; what stays decodes as before, and its ICRC is not called bad. */
static void check_cut_frame(unsigned int i, enum frame_net net)
{
	const struct frame_opcode *o = &frame_opcodes[i];
	struct packet before = {0}, after = {0}; /* headers that are not there are not written */
	struct frame f;
	uint32_t len, at;
	bool keyed = strpbrk(o->headers, "RTV");

	frame_of_opcode(i, net, 1, &f);
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &before);
	len = trim_frame(&before, f.bytes, f.len);
	assert_int_equal(len, o->payload || keyed ? before.data_offset : f.len);
	for (at = f.bth; at + 4 <= len; at++)
		assert_int_not_equal(word_at(f.bytes + at) & 0xfffffff0, 0xcafe0000);
	packet_decode(DLT_EN10MB, f.bytes, len, f.len, 1, 0, &after);
	assert_int_not_equal(after.icrc, ICRC_BAD);
	assert_int_equal(after.fault, PACKET_OK);
	assert_int_equal(after.headers, before.headers);
	assert_int_equal(after.payload_len, before.payload_len);
	assert_int_equal(after.psn, before.psn);
	assert_int_equal(after.reth.rkey, 0);
	assert_int_equal(after.atomiceth.rkey, 0);
	assert_int_equal(after.ieth_rkey, 0);
	assert_true(after.reth.va == before.reth.va);
	assert_true(after.atomiceth.compare == before.atomiceth.compare);
}

/* Somebody else's data is nobody's business; what a port says of itself is kept. */
static void foreign_frames(void)
{
	static const struct {
		const char *name;
		uint8_t type[2], ip;
		uint32_t keep; /* of 200 bytes */
	} rows[] = {
		{"TCP over IPv4", {0x08, 0x00}, 0x45, 14 + 20},
		{"TCP over IPv6", {0x86, 0xdd}, 0x60, 14 + 40},
		{"anything else", {0x12, 0x34}, 0x11, 14},
		{"LLDP", {0x88, 0xcc}, 0x02, 200},
		{"PFC", {0x88, 0x08}, 0x01, 200},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t frame[200] = {0};
		struct packet p;

		memcpy(frame + 12, rows[i].type, 2);
		frame[14] = rows[i].ip;
		frame[15] = 1;	 /* MAC control: PFC */
		frame[17] = 186; /* length of IPv4 */
		frame[14 + 6] = rows[i].ip == 0x60 ? 6 : 0;
		frame[14 + 9] = 6;
		packet_decode(DLT_EN10MB, frame, sizeof(frame), sizeof(frame), 1, 0, &p);
		if (trim_frame(&p, frame, sizeof(frame)) != rows[i].keep)
			fail_msg("%s: %u", rows[i].name, trim_frame(&p, frame, sizeof(frame)));
		assert_true(trim_frame(&p, frame, 14) <= 14);
	}
}

static void cutting(void **state)
{
	static const struct frame_spec mad = {
		.opcode = 0x64, .headers = "D", .payload = 256, .qpn = 1};
	static const struct frame_spec vendor = {
		.opcode = 0x47, .headers = "", .payload = 300, .qpn = 1};
	struct packet p;
	struct frame f;
	unsigned int i;
	uint32_t cap;
	int net;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++)
		for (net = NET_IPV4; net <= NET_V1; net++)
			check_cut_frame(i, (enum frame_net)net);
	frame_build(&mad, &f); /* connection management stays whole */
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(trim_frame(&p, f.bytes, f.len), f.len);
	frame_build(&vendor, &f); /* nobody knows where its data begins */
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(trim_frame(&p, f.bytes, f.len), f.bth + 12);
	foreign_frames();
	frame_of_opcode(10, NET_IPV4, 0, &f);
	for (cap = 0; cap < f.len; cap++) { /* never longer than what is there */
		packet_decode(DLT_EN10MB, f.bytes, cap, f.len, 1, 0, &p);
		assert_true(trim_frame(&p, f.bytes, cap) <= cap);
	}
}

/* A file that may not grow stands for a full disk: told at close, with the name, and k is gone. */
static void full_disk(void **state)
{
	struct rlimit before, small;
	struct err e = {0};
	struct pcap_writer *k;
	struct frame f;
	char path[64];
	int i, err = 0;

	(void)state;
	path_of("full", path);
	frame_of_opcode(6, NET_IPV4, 1, &f);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(sink_make(path, DLT_EN10MB, 0, &k, &e), 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(pcap_writer_write(k, f.bytes, f.len, f.len, 0, &e), 0);
	err = pcap_writer_close(k, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	assert_non_null(strstr(e.text, path));

	/* More than the buffer holds: the write fails, and close does not forget it. */
	unlink(path);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(sink_make(path, DLT_EN10MB, 0, &k, &e), 0);
	for (i = 0; i < 10000; i++)
		err = pcap_writer_write(k, f.bytes, f.len, f.len, 0, &e);
	assert_int_equal(err, -EFBIG);
	err = pcap_writer_close(k, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
}

static int tear_down(void **state)
{
	static const char *const names[] = {"sink.pcap", "sink.pcapng", "link", "raw.pcap", "full"};
	char path[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(path_of(names[i], path));
	return remove_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sink_and_back),
		cmocka_unit_test(pcapng_and_back),
		cmocka_unit_test(cutting),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, make_dir, tear_down);
}
