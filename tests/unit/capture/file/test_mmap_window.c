/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a file in memory, against what was written into it: anywhere, at its end, beyond it, and
 * when it grows, shrinks or is cut while it is looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/file/mmap_window.h"

#define FILE_BYTES 100003U
#define WANT	   30000
#define SLACK	   128

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7 + 1);
}

static int make_file(size_t len)
{
	int fd = memfd_create("window", MFD_CLOEXEC);
	uint8_t *bytes = malloc(len);

	assert_true(fd >= 0);
	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(write(fd, bytes, len), len);
	free(bytes);
	return fd;
}

/* What is there from `at` on, and that it goes on readable behind. */
static void check(struct mmap_window *w, uint64_t at, size_t there)
{
	size_t have = SIZE_MAX;
	const uint8_t *data = mmap_window_map(w, at, WANT, &have);
	unsigned int sum = 0;

	assert_non_null(data);
	assert_int_equal(have, there);
	for (size_t i = 0; i < have; i++)
		if (data[i] != byte_at(at + i))
			fail_msg("byte %zu from %zu on", i, (size_t)at);
	for (size_t i = have; i < have + SLACK; i++)
		sum += *(const volatile uint8_t *)(data + i);
	assert_true(sum < 256 * SLACK);
}

static void test_shows_the_file(void **state)
{
	int fd = make_file(FILE_BYTES);
	struct mmap_window *w = mmap_window_new(fd, WANT);

	(void)state;
	assert_non_null(w);
	for (uint64_t at = 0; at < FILE_BYTES + 5000; at += 1021)
		check(w, at, at >= FILE_BYTES ? 0 : FILE_BYTES - at);
	check(w, 4096, FILE_BYTES - 4096);
	check(w, FILE_BYTES, 0);
	check(w, UINT64_MAX, 0);
	assert_false(mmap_window_is_truncated(w));
	mmap_window_free(w);
	close(fd);
}

/* A file of several parts: what is asked for is always there, wherever it lies, and reading on from
 * the end of each part comes to the end of the file. */
static void test_parts(void **state)
{
	size_t len = 11000003, have, parts = 0;
	int fd = make_file(len);
	struct mmap_window *w = mmap_window_new(fd, WANT);
	const uint8_t *data;

	(void)state;
	assert_non_null(w);
	for (uint64_t at = 0; at < len; at += have, parts++) {
		data = mmap_window_map(w, at, WANT, &have);
		assert_non_null(data);
		assert_true(have >= WANT || have == len - at);
		assert_true(have < len / 2);
		for (size_t i = 0; i < have; i++)
			if (data[i] != byte_at(at + i))
				fail_msg("byte %zu from %zu on", i, (size_t)at);
	}
	assert_in_range(parts, 3, 6);
	for (uint64_t at = 2 << 20; at < len; at += 2 << 20)
		for (int off = -WANT - 1; off <= WANT + 1; off += 10000) {
			data = mmap_window_map(w, at + off, WANT, &have);
			assert_non_null(data);
			assert_true(have >= WANT || have == len - (at + off));
			assert_int_equal(data[have - 1], byte_at(at + off + have - 1));
		}
	assert_false(mmap_window_is_truncated(w));
	mmap_window_free(w);
	close(fd);
}

/* To the byte: what is behind the last page of the file can be read, too. */
static void test_whole_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = make_file(4 * page);
	struct mmap_window *w = mmap_window_new(fd, WANT);

	(void)state;
	assert_non_null(w);
	check(w, 0, 4 * page);
	check(w, 3 * page, page);
	check(w, 4 * page - 1, 1);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	check(w, 0, page);
	assert_false(mmap_window_is_truncated(w));
	mmap_window_free(w);
	close(fd);
}

static void test_cut_under_it(void **state)
{
	int fd = make_file(FILE_BYTES), other_fd = make_file(FILE_BYTES);
	struct mmap_window *w = mmap_window_new(fd, WANT), *other = mmap_window_new(other_fd, WANT);
	const uint8_t *data;
	size_t have;

	(void)state;
	assert_non_null(w);
	assert_non_null(other);
	check(other, 0, FILE_BYTES);
	data = mmap_window_map(w, 0, WANT, &have);
	assert_non_null(data);
	assert_int_equal(have, FILE_BYTES);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(data[99], byte_at(99));
	assert_false(mmap_window_is_truncated(w));
	assert_int_equal(data[20000], 0);
	assert_int_equal(data[FILE_BYTES - 1], 0);
	assert_true(mmap_window_is_truncated(w));
	assert_false(mmap_window_is_truncated(other));
	mmap_window_free(w);
	mmap_window_free(other);
	close(fd);
	close(other_fd);
}

static void test_what_cannot_be_shown(void **state)
{
	int ends[2], fd = make_file(FILE_BYTES);
	struct mmap_window *w[MMAP_WINDOWS_MAX + 1];
	size_t have;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_null(mmap_window_new(ends[0], WANT));
	for (unsigned int i = 0; i < MMAP_WINDOWS_MAX; i++) {
		w[i] = mmap_window_new(fd, WANT);
		assert_non_null(w[i]);
	}
	assert_null(mmap_window_new(fd, WANT));
	mmap_window_free(w[5]);
	w[5] = mmap_window_new(fd, WANT);
	assert_non_null(w[5]);
	assert_null(mmap_window_map(w[5], 0, 1U << 30, &have));
	for (unsigned int i = 0; i < MMAP_WINDOWS_MAX; i++)
		mmap_window_free(w[i]);
	mmap_window_free(NULL);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shows_the_file),	     cmocka_unit_test(test_parts),
		cmocka_unit_test(test_whole_pages),	     cmocka_unit_test(test_cut_under_it),
		cmocka_unit_test(test_what_cannot_be_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
