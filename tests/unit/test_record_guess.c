/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where records seem to begin, from anywhere in a file: the next one that does, in both formats,
 * and nothing in data that has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/file/record_file.h"
#include "capture/file/record_guess.h"
#include "tests/tools/capgen.h"

#define FRAMES	 1000
#define FILE_MAX (2U << 20)
#define NEAR_END (30U << 10)
#define STEP	 5
#define SNAP	 262144
#define BILLION	 1000000000

struct file {
	uint64_t begin[FRAMES + 100]; /* of records */
	unsigned int count;
	uint8_t *bytes;
	size_t len;
};

static void make(bool pcapng, uint32_t snap, struct file *f)
{
	const struct capgen_options o = {
		.seed = 9, .requesters = 3, .frames = FRAMES, .pmtu = 1024, .snap = snap};
	int fd = memfd_create("guess", MFD_CLOEXEC);
	struct capgen_truth truth;
	struct record_file *r;
	struct record record;
	char path[64];
	ssize_t len;

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
	capgen_truth_clear(&truth);
	f->bytes = malloc(FILE_MAX);
	assert_non_null(f->bytes);
	len = pread(fd, f->bytes, FILE_MAX, 0);
	assert_in_range(len, 1000, FILE_MAX - 1);
	f->len = (size_t)len;
	f->count = 0;
	r = record_file_open(fd, SNAP);
	assert_non_null(r);
	do {
		assert_in_range(f->count, 0, FRAMES + 99);
		f->begin[f->count++] = record_file_at(r);
	} while (record_file_next(r, &record) == RECORD_FRAME);
	f->count--;
	record_file_close(r);
	close(fd);
}

static void check(bool pcapng, uint32_t snap)
{
	unsigned int next = 0;
	struct file f;
	size_t at;

	make(pcapng, snap, &f);
	/* Near the end a record cannot be told by those that follow. */
	for (size_t from = f.begin[0]; from + NEAR_END < f.len; from += STEP) {
		bool found = pcapng ? record_guess_pcapng(f.bytes + from, f.len - from, from, &at)
				    : record_guess_pcap(f.bytes + from, f.len - from, SNAP, BILLION,
							&at);

		while (f.begin[next] < from)
			next++;
		if (!found || from + at != f.begin[next])
			fail_msg("from %zu: %zu, not %llu", from, found ? from + at : 0,
				 (unsigned long long)f.begin[next]);
	}
	free(f.bytes);
}

static void test_next_record(void **state)
{
	(void)state;
	check(false, 90);
	check(false, SNAP);
	check(true, 90);
	check(true, SNAP);
}

/* Every length, in memory of exactly that. */
static void test_within_bounds(void **state)
{
	struct file f;
	size_t at;

	(void)state;
	for (unsigned int pcapng = 0; pcapng < 2; pcapng++) {
		make(pcapng, 90, &f);
		for (size_t len = 0; len < 400; len++) {
			uint8_t *some = malloc(len ? len : 1);

			assert_non_null(some);
			memcpy(some, f.bytes + f.begin[3] + 5, len);
			if (pcapng ? record_guess_pcapng(some, len, f.begin[3] + 5, &at)
				   : record_guess_pcap(some, len, SNAP, BILLION, &at))
				assert_in_range(at, 0, len - 1);
			free(some);
		}
		free(f.bytes);
	}
}

static void test_nothing_there(void **state)
{
	uint8_t *bytes = calloc(1, FILE_MAX);
	size_t at;

	(void)state;
	assert_non_null(bytes);
	for (unsigned int value = 0; value < 256; value += 255) {
		memset(bytes, (int)value, FILE_MAX);
		assert_false(record_guess_pcap(bytes, FILE_MAX, SNAP, BILLION, &at));
		assert_false(record_guess_pcapng(bytes, FILE_MAX, 1, &at));
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_record),
		cmocka_unit_test(test_within_bounds),
		cmocka_unit_test(test_nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
