/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the targets of capture files do with one. Each input is read by its name, where ordinary
 * records are read past libpcap, and as standard input, where all goes through the unpacking stream
 * and libpcap. Both have to say the same, and so has the reader. Without confinement.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/reader.h"
#include "tests/fuzz/fuzz.h"

#define FRAMES_MAX 2000 /* what is packed may be huge */
#define MAX_FLOWS  8

struct said {
	int opened, ended;
	int dlt;
	uint64_t frames, digest;
	enum capture_drops drops;
	uint64_t dropped;
};

/* FNV-1a. Reads every byte. */
static uint64_t digest_of(uint64_t digest, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	while (len--)
		digest = (digest ^ *b++) * UINT64_C(0x100000001b3);
	return digest;
}

static void check_error(int code, const struct err *e)
{
	HOLDS(code < 0 && e->code == code && *e->text);
	HOLDS(memchr(e->text, 0, sizeof(e->text)) && memchr(e->hint, 0, sizeof(e->hint)));
}

static void check_progress(const struct input *s)
{
	uint64_t done, size;

	if (input_progress(s, &done, &size))
		HOLDS(done <= size);
}

static void read_frames(struct input *s, struct said *w)
{
	uint32_t cap_len, wire_len;
	const uint8_t *data;
	uint64_t time_ns;
	struct err e = {0};
	struct packet p;
	int got;

	w->dlt = input_dlt(s);
	while ((got = input_next(s, -1, &data, &cap_len, &wire_len, &time_ns, &e)) == 1) {
		w->digest = digest_of(w->digest, data, cap_len);
		w->digest = digest_of(w->digest, &wire_len, sizeof(wire_len));
		w->digest = digest_of(w->digest, &time_ns, sizeof(time_ns));
		packet_decode(w->dlt, data, cap_len, wire_len, ++w->frames, time_ns, &p);
		HOLDS(time_ns <= INT64_MAX);
		check_progress(s);
		if (w->frames == FRAMES_MAX)
			break;
	}
	w->ended = got;
	if (got < 0)
		check_error(got, &e);
	if (got <= 0)
		HOLDS(input_next(s, -1, &data, &cap_len, &wire_len, &time_ns, &e) == 0);
	w->drops = input_drops(s, &w->dropped);
	HOLDS(w->drops == DROPS_SOME || !w->dropped);
}

static void read_path(const char *path, struct said *w)
{
	struct err e = {0};
	struct input *s;

	memset(w, 0, sizeof(*w));
	w->opened = input_open_file(path, &s, &e);
	if (w->opened) {
		check_error(w->opened, &e);
		return;
	}
	read_frames(s, w);
	input_close(s);
}

static void check_same(const struct said *a, const struct said *b)
{
	HOLDS(a->opened == b->opened);
	HOLDS(a->dlt == b->dlt);
	HOLDS(a->frames == b->frames);
	HOLDS(a->digest == b->digest);
	HOLDS(a->ended == b->ended);
	/* A stream that breaks off was not read behind that. */
	if (a->ended == 0)
		HOLDS(a->drops == b->drops && a->dropped == b->dropped);
}

/* All flows, with some put out. */
static void check_reader(const char *path, const struct said *said)
{
	struct capture_summary summary;
	struct err e = {0};
	struct reader r;
	struct input *s;
	const struct packet *p;
	int ended;

	HOLDS(!input_open_file(path, &s, &e) && !reader_init(&r, s, MAX_FLOWS, &e));
	do
		ended = reader_next(&r, -1, &p, &e);
	while (ended > 0 && r.frames < FRAMES_MAX);
	HOLDS(ended == said->ended && r.frames == said->frames);
	HOLDS(!reader_summary(&r, &summary));
	HOLDS(summary.totals.frames == r.frames);
	capture_summary_clear(&summary);
	reader_clear(&r);
}

int fuzz_capture_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), before = dup(STDIN_FILENO);
	struct said by_name, by_stdin;
	char path[64];

	HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_begin();
	read_path(path, &by_name);
	if (!by_name.opened)
		fuzz_reach(FUZZ_PARSED);
	if (!by_name.opened && !by_name.ended && by_name.frames)
		fuzz_reach(FUZZ_TAKEN);
	if (!by_name.opened)
		check_reader(path, &by_name);
	HOLDS(lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	read_path("-", &by_stdin);
	close(fd);
	if (before >= 0) {
		dup2(before, STDIN_FILENO);
		close(before);
	}
	check_same(&by_name, &by_stdin);
	return 0;
}
