/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings that rotate: what is in which file, which files stay, what each says of drops, and
 * that no user data is in any.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/file/recorder.h"
#include "capture/reader.h"
#include "profiles/base/file.h"
#include "tests/unit/fixture/roce_frames.h"

#define FRAMES	 10U
#define FRAME_NS 1000U
#define FILES	 (FRAMES + 2)

static char dir[] = "/tmp/rocecheck-test-XXXXXX";
static char path[64];

static void names(void **state)
{
	static const struct {
		const char *path;
		bool rotates;
		unsigned int n;
		const char *want;
	} rows[] = {
		{"a.pcapng", false, 1, "a.pcapng"},
		{"a.pcapng", true, 1, "a-00001.pcapng"},
		{"/x.d/a", true, 12, "/x.d/a-00012"},
		{"/x.d/a.b.pcap", true, 123456, "/x.d/a.b-123456.pcap"},
		{"a", true, 3, "a-00003"},
	};
	char name[64], shorter[8];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record_plan plan = {.path = rows[i].path, .max_frames = rows[i].rotates};

		assert_int_equal(recorder_name(&plan, rows[i].n, name, sizeof(name)), 0);
		assert_string_equal(name, rows[i].want);
		assert_int_equal(recorder_name(&plan, rows[i].n, shorter, 8),
				 strlen(name) < 8 ? 0 : -ENAMETOOLONG);
	}
}

static unsigned int files_made;

/* Makes the files here: no process is confined in this test. */
static int next_file(void *arg, unsigned int n, struct err *e)
{
	struct record_plan plan = *(const struct record_plan *)arg;
	struct folder folder;
	int fd, err = folder_of_file(plan.path, &folder, e);

	if (err)
		return err;
	plan.folder = &folder;
	files_made = n;
	fd = recorder_create_file(&plan, n, e);
	folder_close(&folder);
	return fd;
}

/* Records FRAMES frames of one WRITE ONLY each, FRAME_NS apart. */
static unsigned int record(const struct record_plan *plan, const char *from)
{
	struct recorder *r;
	struct input *s;
	struct err e = {0};

	assert_int_equal(input_open_file(from, &s, &e), 0);
	assert_int_equal(recorder_open(plan, s, next_file, (void *)plan, &r, &e), 0);
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct packet p;
		struct frame f;

		frame_of_opcode(10, NET_IPV4, 0, &f);
		packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, i + 1, i * FRAME_NS, &p);
		assert_int_equal(recorder_add(r, &p, f.bytes, &e), 0);
		assert_int_equal(p.icrc, ICRC_GOOD);
	}
	assert_int_equal(recorder_close(r, &e), 0);
	input_close(s);
	return files_made;
}

/* Frames of the nth file, UINT32_MAX when it is not there. No user data and no key is in it. */
static unsigned int count(const struct record_plan *plan, unsigned int n, uint64_t *dropped,
			  enum capture_drops *drops, uint64_t *size)
{
	char name[80];
	struct input *s;
	struct reader r;
	const struct packet *p;
	struct stat st;
	struct err e = {0};
	unsigned int frames;

	assert_int_equal(recorder_name(plan, n, name, sizeof(name)), 0);
	if (stat(name, &st))
		return UINT32_MAX;
	assert_int_equal(st.st_mode & 07777, 0600);
	*size = (uint64_t)st.st_size;
	assert_int_equal(input_open_file(name, &s, &e), 0);
	assert_int_equal(reader_init(&r, s, 0, &e), 0);
	while (reader_next(&r, -1, &p, &e) == 1) {
		assert_int_equal(p->fault, PACKET_OK);
		assert_int_equal(p->cap_len == p->wire_len, plan->full);
		assert_int_equal(p->reth.rkey != 0, plan->full);
	}
	assert_string_equal(e.text, "");
	frames = (unsigned int)r.frames;
	*drops = input_drops(s, dropped);
	reader_clear(&r);
	return frames;
}

static void remove_files(void)
{
	struct record_plan plan = {.path = path, .max_frames = 1};
	char name[80];

	unlink(path);
	for (unsigned int i = 1; i <= FILES; i++)
		if (!recorder_name(&plan, i, name, sizeof(name)))
			unlink(name);
}

static void rotation(void **state)
{
	static const struct {
		const char *name;
		struct record_plan plan;
		unsigned int files;
		unsigned int frames[FILES]; /* of each file; 99 = removed */
	} rows[] = {
		{"none", {.max_frames = 0}, 1, {10}},
		{"full", {.full = true}, 1, {10}},
		{"frames", {.max_frames = 4}, 3, {4, 4, 2}},
		{"as many as there are", {.max_frames = 10}, 1, {10}},
		{"time", {.max_ns = 3 * FRAME_NS}, 4, {3, 3, 3, 1}},
		{"the first limit ends it",
		 {.max_ns = 3 * FRAME_NS, .max_frames = 2},
		 5,
		 {2, 2, 2, 2, 2}},
		{"keep two", {.max_frames = 3, .keep = 2}, 4, {99, 99, 3, 1}},
		{"keep one",
		 {.max_frames = 1, .keep = 1},
		 10,
		 {99, 99, 99, 99, 99, 99, 99, 99, 99, 1}},
		{"no frame fits", {.max_bytes = 1}, 10, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record_plan plan = rows[i].plan;
		uint64_t dropped, size;
		enum capture_drops drops;

		plan.path = path;
		assert_int_equal(record(&plan, "tests/golden/capture/loss.pcap"), rows[i].files);
		for (unsigned int n = 0; n < rows[i].files; n++) {
			unsigned int frames = count(&plan, n + 1, &dropped, &drops, &size);

			if (frames != rows[i].frames[n] &&
			    (frames != UINT32_MAX || rows[i].frames[n] != 99))
				fail_msg("%s: file %u has %u frames", rows[i].name, n + 1, frames);
		}
		remove_files();
	}
}

/* No file is longer than was asked, and no frame is lost on the way. */
static void sizes(void **state)
{
	(void)state;
	for (uint64_t max = 300; max < 900; max++) {
		struct record_plan plan = {.path = path, .max_bytes = max, .full = max % 2};
		unsigned int files = record(&plan, "tests/golden/capture/drops.pcapng"), sum = 0;

		for (unsigned int n = 1; n <= files; n++) {
			enum capture_drops drops;
			uint64_t dropped, size;
			unsigned int frames = count(&plan, n, &dropped, &drops, &size);

			assert_true(size <= max || frames == 1);
			sum += frames;
		}
		assert_int_equal(sum, FRAMES);
		remove_files();
	}
}

/* Each file tells what was lost while it was written: the source's count is told once. */
static void drops_told(void **state)
{
	struct record_plan plan = {.path = path, .max_frames = 5};
	enum capture_drops drops;
	uint64_t dropped, size, all;
	struct input *s;
	struct err e = {0};

	(void)state;
	assert_int_equal(input_open_file("tests/golden/capture/drops.pcapng", &s, &e), 0);
	assert_int_equal(input_drops(s, &all), DROPS_SOME);
	input_close(s);
	assert_int_equal(record(&plan, "tests/golden/capture/drops.pcapng"), 2);
	assert_int_equal(count(&plan, 1, &dropped, &drops, &size), 5);
	assert_int_equal(drops, DROPS_SOME);
	assert_true(dropped == all);
	assert_int_equal(count(&plan, 2, &dropped, &drops, &size), 5);
	assert_int_equal(drops, DROPS_ZERO);
	remove_files();
	assert_int_equal(record(&plan, "tests/golden/capture/loss.pcap"), 2);
	assert_int_equal(count(&plan, 1, &dropped, &drops, &size), 5);
	assert_int_equal(drops, DROPS_UNKNOWN); /* not known is not zero */
	remove_files();
}

/* What is there already ends the recording, also when it comes up as the second file. */
static void overwrites_nothing(void **state)
{
	struct record_plan plan = {.path = path, .max_frames = 1};
	struct recorder *r = NULL;
	struct input *s;
	struct packet p;
	struct frame f;
	struct err e = {0};
	char name[80];

	(void)state;
	assert_int_equal(recorder_name(&plan, 2, name, sizeof(name)), 0);
	assert_int_equal(symlink("nowhere", name), 0);
	assert_int_equal(input_open_file("tests/golden/capture/loss.pcap", &s, &e), 0);
	assert_int_equal(recorder_open(&plan, s, next_file, &plan, &r, &e), 0);
	frame_of_opcode(10, NET_IPV4, 0, &f);
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(recorder_add(r, &p, f.bytes, &e), 0);
	assert_int_equal(recorder_add(r, &p, f.bytes, &e), -EEXIST);
	assert_non_null(strstr(e.text, name));
	assert_int_equal(recorder_close(r, &e), 0);
	r = NULL;
	assert_int_equal(recorder_open(&plan, s, next_file, &plan, &r, &e),
			 -EEXIST); /* the first one, by now */
	assert_null(r);
	input_close(s);
	remove_files();
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.pcapng", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(rotation),
		cmocka_unit_test(sizes),
		cmocka_unit_test(drops_told),
		cmocka_unit_test(overwrites_nothing),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
