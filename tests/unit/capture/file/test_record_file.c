/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files read past libpcap, against libpcap itself, which standard input always goes through: every
 * frame, and how it ends, of files that are whole, cut at every length, and broken in every byte.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/file/record_file.h"
#include "capture/reader.h"
#include "tests/tools/capgen.h"

#define FILE_MAX 8192

struct outcome {
	uint64_t digest, frames;
	int got;
	char text[256]; /* of an error, without the name of the file */
};

static uint64_t add(uint64_t digest, uint64_t v)
{
	return (digest ^ v) * UINT64_C(0x100000001b3);
}

static void keep_text(const struct err *e, struct outcome *o)
{
	const char *text = strstr(e->text, ": ");

	snprintf(o->text, sizeof(o->text), "%.255s", text ? text : e->text);
}

static void read_all(const char *path, struct outcome *o)
{
	uint32_t cap_len, wire_len;
	struct err e = {0};
	const uint8_t *data;
	struct input *s;
	uint64_t time_ns;

	memset(o, 0, sizeof(*o));
	o->got = input_open_file(path, &s, &e);
	if (!o->got) {
		while ((o->got = input_next(s, -1, &data, &cap_len, &wire_len, &time_ns, &e)) > 0) {
			o->frames++;
			o->digest = add(add(add(o->digest, cap_len), wire_len), time_ns);
			for (uint32_t i = 0; i < cap_len; i++)
				o->digest = add(o->digest, data[i]);
		}
		input_close(s);
	}
	keep_text(&e, o);
}

/* Both ways to the same file. */
static void compare(const char *path, const char *what, size_t at)
{
	struct outcome ours, theirs;
	int fd = open(path, O_RDONLY | O_CLOEXEC), stdin_was = dup(STDIN_FILENO);

	assert_true(fd >= 0);
	read_all(path, &ours);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	read_all("-", &theirs);
	if (stdin_was >= 0) {
		dup2(stdin_was, STDIN_FILENO);
		close(stdin_was);
	}
	close(fd);
	if (ours.got != theirs.got || ours.frames != theirs.frames ||
	    ours.digest != theirs.digest || strcmp(ours.text, theirs.text) != 0)
		fail_msg("%s at %zu: %llu frames, %d '%s', libpcap: %llu frames, %d '%s'", what, at,
			 (unsigned long long)ours.frames, ours.got, ours.text,
			 (unsigned long long)theirs.frames, theirs.got, theirs.text);
}

/* A file in memory: thousands are written. */
static int make_path(char path[64])
{
	int fd = memfd_create("test-record", MFD_CLOEXEC);

	assert_true(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void write_file(const char *path, const uint8_t *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static size_t load_file(const char *path, uint8_t bytes[FILE_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, bytes, FILE_MAX);

	close(fd);
	assert_in_range(len, 100, FILE_MAX - 1);
	return (size_t)len;
}

static void break_file(bool pcapng)
{
	static const uint8_t values[] = {0x00, 0x01, 0xff};
	const struct capgen_options o = {
		.seed = 3, .requesters = 1, .frames = 12, .pmtu = 256, .snap = 90};
	uint8_t bytes[FILE_MAX];
	struct capgen_truth truth;
	char path[64];
	int fd = make_path(path);
	size_t len;

	assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
	capgen_truth_clear(&truth);
	len = load_file(path, bytes);
	compare(path, "whole", 0);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(path, bytes, cut);
		compare(path, "cut", cut);
	}
	for (size_t at = 0; at < len; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			uint8_t was = bytes[at];

			bytes[at] = values[i];
			write_file(path, bytes, len);
			bytes[at] = was;
			compare(path, "broken", at);
		}
	}
	close(fd);
}

static void test_pcap_as_libpcap(void **state)
{
	(void)state;
	break_file(false);
}

static void test_pcapng_as_libpcap(void **state)
{
	(void)state;
	break_file(true);
}

/* More than one piece of the buffer, and frames across its edges. */
static void test_long_files(void **state)
{
	struct capgen_options o = {.seed = 5, .requesters = 4, .frames = 3000, .pmtu = 1024};
	struct capgen_truth truth;
	char path[64];
	int fd = make_path(path);

	(void)state;
	for (unsigned int pcapng = 0; pcapng < 2; pcapng++) {
		assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
		capgen_truth_clear(&truth);
		compare(path, "long", pcapng);
	}
	close(fd);
}

/* What the comparisons are worth: an ordinary file is indeed read past libpcap, to its end. */
static void test_ordinary_is_taken(void **state)
{
	const struct capgen_options o = {
		.seed = 5, .requesters = 4, .frames = 1000, .pmtu = 1024, .snap = 128};
	struct capgen_truth truth;
	char path[64];
	int fd = make_path(path);

	(void)state;
	for (unsigned int pcapng = 0; pcapng < 2; pcapng++) {
		struct record_file *r;
		struct record record;
		uint64_t frames = 0;
		enum record_status got;
		unsigned int count;

		assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
		r = record_file_open(fd, 128);
		assert_non_null(r);
		while ((got = record_file_batch(r, &record, 1, &count)) == RECORD_FRAME)
			frames++;
		assert_int_equal(got, RECORD_END);
		assert_int_equal(frames, truth.frames);
		assert_false(record_file_statistics(r));
		capgen_truth_clear(&truth);
		record_file_close(r);
		r = record_file_open(fd, 127);
		while ((got = record_file_batch(r, &record, 1, &count)) == RECORD_FRAME)
			assert_true(record.cap_len <= 127);
		assert_int_equal(got, RECORD_FALLBACK);
		record_file_close(r);
	}
	close(fd);
}

/* The file loses all but its beginning while it is read, at a byte or behind a record, where it
 * would look whole: what was read is not to be trusted. */
static void check_cut_while_read(const char *path, bool pcapng, bool at_record)
{
	const struct capgen_options o = {
		.seed = 5, .requesters = 4, .frames = 30000, .pmtu = 1024, .snap = 128};
	struct capgen_truth truth;
	struct err e = {0};
	struct input *s;
	const struct packet *p;
	struct reader r;
	uint64_t done, size;
	int got;

	assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	assert_int_equal(reader_init(&r, s, 0, &e), 0);
	while (r.frames < 2000)
		assert_int_equal(reader_next(&r, -1, &p, &e), 1);
	assert_true(input_progress(s, &done, &size));
	assert_in_range(done, 100001, size - 1);
	assert_int_equal(truncate(path, at_record ? (off_t)done : 100000), 0);
	while ((got = reader_next(&r, -1, &p, &e)) > 0)
		;
	assert_int_equal(got, -EPROTO);
	assert_true(r.frames < truth.frames);
	capgen_truth_clear(&truth);
	reader_clear(&r);
}

static void test_cut_while_read(void **state)
{
	char path[64];
	int fd = make_path(path);

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		check_cut_while_read(path, i & 1, i & 2);
	close(fd);
}

/* Frames full of what looks like records are frames. */
static void test_records_in_frames(void **state)
{
	static const uint32_t file_head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 262144, 1};
	static uint32_t data[4000][4 + 5];
	char path[64];
	int fd = make_path(path);

	(void)state;
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		data[i][2] = data[i][3] = sizeof(data[i]) - 16;
	assert_int_equal(write(fd, file_head, sizeof(file_head)), sizeof(file_head));
	for (uint32_t i = 0; i < 30; i++) {
		const uint32_t len = (uint32_t)sizeof(data) - i * 4, head[4] = {i, 0, len, len};

		assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
		assert_int_equal(write(fd, data, len), len);
	}
	compare(path, "records in frames", 0);
	close(fd);
}

/* A reader may be given up at any time, in the middle of what was read ahead. */
static void test_given_up(void **state)
{
	const struct capgen_options o = {.seed = 5, .requesters = 4, .frames = 100, .pmtu = 256};
	struct capgen_truth truth;
	struct err e = {0};
	struct input *s;
	const struct packet *p;
	struct reader r;
	char path[64];
	int fd = make_path(path);

	(void)state;
	assert_int_equal(capgen_write(&o, path, false, &truth), 0);
	capgen_truth_clear(&truth);
	for (unsigned int frames = 0; frames < 40; frames++) {
		assert_int_equal(input_open_file(path, &s, &e), 0);
		assert_int_equal(reader_init(&r, s, 0, &e), 0);
		for (unsigned int i = 0; i < frames; i++)
			assert_int_equal(reader_next(&r, -1, &p, &e), 1);
		assert_int_equal(r.frames, frames);
		reader_clear(&r);
	}
	close(fd);
}

#define CHANGED_MS     400
#define END_TIMEOUT_MS 20000
#define SNAP_MOST      262144

/* Where the frames begin; the lengths of the record stand in the eight bytes before. */
static size_t find_frames(const uint8_t *file, size_t size, bool pcapng, uint32_t *at, size_t max)
{
	size_t n = 0;
	uint32_t len;

	for (size_t i = pcapng ? 0 : 24; i + 128 < size && n < max; i += len) {
		memcpy(&len, file + i + (pcapng ? 4 : 8), sizeof(len));
		if (!pcapng)
			len += 16;
		if (!pcapng || file[i] == 6) /* an enhanced packet block */
			at[n++] = (uint32_t)i + (pcapng ? 28 : 16);
	}
	return n;
}

/* The owner of the capture: a byte of a length or a header is another one for a moment, again and
 * again. */
static _Noreturn void change_lengths(const char *path, bool pcapng)
{
	static uint32_t at[4096];
	int fd = open(path, O_RDWR);
	struct stat st;
	volatile uint8_t *file;
	uint32_t dice = 1;
	size_t n;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || fd < 0 || fstat(fd, &st))
		_exit(1);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	n = file == MAP_FAILED ? 0
			       : find_frames((const uint8_t *)file, (size_t)st.st_size, pcapng, at,
					     sizeof(at) / sizeof(at[0]));
	for (; n; dice = dice * 1664525 + 1013904223) {
		volatile uint8_t *byte = file + at[dice % n] - 8 + (dice >> 8) % 96;
		uint8_t before = *byte;

		*byte ^= (uint8_t)(dice >> 16);
		for (volatile int i = 0; i < 100; i++)
			; /* or nobody sees it */
		*byte = before;
	}
	_exit(1);
}

static unsigned int read_while_changed(const char *path)
{
	uint64_t now = monotonic_ms(), begun = now;
	unsigned int broken = 0;

	/* The writer may have to wait for a processor. */
	for (; now < begun + CHANGED_MS || (!broken && now < begun + END_TIMEOUT_MS);
	     now = monotonic_ms()) {
		uint32_t cap_len, wire_len;
		const uint8_t *data;
		struct err e = {0};
		struct input *s;
		struct packet p;
		uint64_t ns, frames = 0;
		int got = input_open_file(path, &s, &e);

		if (got)
			continue; /* its first block was another one just then */
		while ((got = input_next(s, -1, &data, &cap_len, &wire_len, &ns, &e)) > 0) {
			assert_in_range(cap_len, 0, SNAP_MOST);
			packet_decode(input_dlt(s), data, cap_len, wire_len, ++frames, ns, &p);
			assert_in_range(p.cap_end, 0, cap_len);
			broken += p.fault == PACKET_MALFORMED;
		}
		assert_true(!got || (got == -EPROTO && e.text[0]));
		broken += got != 0;
		input_close(s);
	}
	return broken;
}

/* Whoever has the file may write to it while it is mapped: what was checked is not fetched again.
 */
static void test_lengths_change(void **state)
{
	const struct capgen_options o = {.seed = 5, .requesters = 4, .frames = 1000, .pmtu = 256};
	struct capgen_truth truth;
	char path[64];
	int fd = make_path(path), status;

	(void)state;
	for (int pcapng = 0; pcapng < 2; pcapng++) {
		pid_t writer;

		assert_int_equal(capgen_write(&o, path, pcapng, &truth), 0);
		capgen_truth_clear(&truth);
		writer = fork();
		if (!writer)
			change_lengths(path, pcapng);
		assert_true(read_while_changed(path) > 0); /* some change was seen */
		assert_int_equal(kill(writer, SIGKILL), 0);
		assert_int_equal(waitpid(writer, &status, 0), writer);
		assert_true(WIFSIGNALED(status));
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap_as_libpcap), cmocka_unit_test(test_pcapng_as_libpcap),
		cmocka_unit_test(test_long_files),	cmocka_unit_test(test_ordinary_is_taken),
		cmocka_unit_test(test_cut_while_read),	cmocka_unit_test(test_records_in_frames),
		cmocka_unit_test(test_given_up),	cmocka_unit_test(test_lengths_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
