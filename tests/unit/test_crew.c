/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file read by several threads against the same read by one: whole, cut, and with a byte changed
 * somewhere, which makes libpcap go on from there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/reader.h"
#include "tests/tools/capgen.h"

#define SPOILT 12

struct outcome {
	char *summary;
	uint64_t frames;
	int got;
	struct err e;
};

static void read_file(const char *path, unsigned int jobs, struct outcome *o)
{
	struct capture_summary s;
	struct source *source;
	struct packet p;
	struct reader r;
	json_t *json;

	memset(o, 0, sizeof(*o));
	assert_int_equal(source_open_file(path, &source, &o->e), 0);
	assert_int_equal(reader_init(&r, source, 0, &o->e), 0);
	assert_int_equal(reader_jobs(&r, jobs, &o->e), 0);
	while ((o->got = reader_skim(&r, &p, &o->e)) > 0)
		;
	o->frames = r.frames;
	assert_int_equal(reader_summary(&r, &s), 0);
	json = capture_summary_to_json(&s);
	assert_non_null(json);
	o->summary = json_dumps(json, 0);
	assert_non_null(o->summary);
	json_decref(json);
	capture_summary_clear(&s);
	reader_clear(&r);
}

static void compare(const char *what, uint64_t at, const char *path, unsigned int jobs)
{
	struct outcome want, have;

	read_file(path, 1, &want);
	read_file(path, jobs, &have);
	if (want.got != have.got || want.frames != have.frames ||
	    strcmp(want.e.text, have.e.text) != 0 || strcmp(want.summary, have.summary) != 0)
		fail_msg("%s at %llu, %u jobs: %llu frames, %d '%s', not %llu frames, %d '%s'",
			 what, (unsigned long long)at, jobs, (unsigned long long)have.frames,
			 have.got, have.e.text, (unsigned long long)want.frames, want.got,
			 want.e.text);
	free(want.summary);
	free(have.summary);
}

/* A file of several pieces, in memory. */
static int make_file(const struct capgen_options *o, bool pcapng, char path[64], uint64_t *size)
{
	int fd = memfd_create("test-crew", MFD_CLOEXEC);
	struct capgen_truth truth;
	struct stat st;

	assert_true(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	assert_int_equal(capgen_write(o, path, pcapng, &truth), 0);
	capgen_truth_clear(&truth);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size > 4 * RECORD_PIECE_BYTES);
	*size = (uint64_t)st.st_size;
	return fd;
}

static const struct scene {
	bool pcapng;
	struct capgen_options o;
} scenes[] = {
	{false, {.seed = 1, .requesters = 20, .frames = 30000, .pmtu = 1024, .snap = 90}},
	{false, {.seed = 2, .requesters = 20, .frames = 3000, .pmtu = 4096}},
	{true, {.seed = 3, .requesters = 20, .frames = 30000, .pmtu = 1024, .snap = 90}},
};

static void test_whole(void **state)
{
	static const unsigned int jobs[] = {2, 3, 7};
	uint64_t size;
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		int fd = make_file(&scenes[i].o, scenes[i].pcapng, path, &size);

		for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++)
			compare("whole", 0, path, jobs[k]);
		close(fd);
	}
}

static void test_spoilt(void **state)
{
	uint64_t size;
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		int fd = make_file(&scenes[i].o, scenes[i].pcapng, path, &size);
		uint64_t random = i;

		for (unsigned int k = 0; k < SPOILT; k++) {
			uint64_t at;
			uint8_t was, byte = 0xff;

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			at = (random >> 16) % size;
			assert_int_equal(pread(fd, &was, 1, (off_t)at), 1);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
			compare("spoilt", at, path, 3);
			assert_int_equal(pwrite(fd, &was, 1, (off_t)at), 1);
		}
		for (unsigned int k = 1; k < SPOILT; k++) {
			size -= size * k / 100 + k;
			assert_int_equal(ftruncate(fd, (off_t)size), 0);
			compare("cut", size, path, 3);
		}
		close(fd);
	}
}

static void put_record(int fd, uint32_t seconds, const void *data, uint32_t len)
{
	const uint32_t head[4] = {seconds, 0, len, len};

	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	assert_int_equal(write(fd, data, len), len);
}

/* Frames full of what looks like records, so that every guess where one begins is wrong. */
static void test_misled(void **state)
{
	static const uint32_t file_head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 262144, 1};
	static uint32_t data[4000][4 + 5];
	int fd = memfd_create("test-crew", MFD_CLOEXEC);
	char path[64];

	(void)state;
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
		memset(data[i], 0, sizeof(data[i]));
		data[i][2] = data[i][3] = sizeof(data[i]) - 16;
	}
	assert_int_equal(write(fd, file_head, sizeof(file_head)), sizeof(file_head));
	for (uint32_t i = 0; i < 30; i++)
		put_record(fd, i, data, (uint32_t)sizeof(data) - i * 4);
	compare("misled", 0, path, 2);
	compare("misled", 0, path, 5);
	close(fd);
}

/* The file loses all but its beginning while threads read it: also where that ends with a record,
 * behind which it would look whole. */
static void test_cut_while_read(void **state)
{
	const struct capgen_options o = {
		.seed = 5, .requesters = 20, .frames = 60000, .pmtu = 1024, .snap = 90};
	uint64_t size;
	char path[64];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		int fd = make_file(&o, i & 1, path, &size), got;
		off_t cut = 10000;
		struct source *source;
		struct err e = {0};
		struct packet p;
		struct reader r;

		assert_int_equal(source_open_file(path, &source, &e), 0);
		assert_int_equal(reader_init(&r, source, 0, &e), 0);
		assert_int_equal(reader_jobs(&r, 3, &e), 0);
		while (r.frames < (i & 2 ? 5000 : 200))
			assert_int_equal(reader_skim(&r, &p, &e), 1);
		if (i & 2)
			cut = (off_t)record_file_at(source_records(source));
		assert_in_range(cut, 10000, size - 1);
		assert_int_equal(ftruncate(fd, cut), 0);
		while ((got = reader_skim(&r, &p, &e)) > 0)
			;
		assert_int_equal(got, -EPROTO);
		assert_true(r.frames < o.frames);
		reader_clear(&r);
		close(fd);
	}
}

/* The reader may be given up at any time. */
static void test_given_up(void **state)
{
	struct err e = {0};
	struct source *source;
	struct packet p;
	struct reader r;
	uint64_t size;
	char path[64];
	int fd = make_file(&scenes[0].o, false, path, &size);

	(void)state;
	for (unsigned int frames = 0; frames < 40; frames += 4) {
		assert_int_equal(source_open_file(path, &source, &e), 0);
		assert_int_equal(reader_init(&r, source, 0, &e), 0);
		assert_int_equal(reader_jobs(&r, 4, &e), 0);
		for (unsigned int i = 0; i < frames && reader_skim(&r, &p, &e) == 1; i++)
			;
		reader_clear(&r);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	 cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_misled),	 cmocka_unit_test(test_cut_while_read),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
