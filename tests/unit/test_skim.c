/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way against the long one: whole summaries, and every packet that is an event, of
 * generated captures with all faults, and of the same with bytes changed, frames cut, pauses put in
 * and flows forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/reader.h"
#include "tests/tools/capgen.h"

#define SEEDS	   20
#define ALL_FAULTS ((1U << CAPGEN_FAULTS) - 1)
#define FRAME_MAX  4608

struct record_header {
	uint32_t seconds, nanoseconds, cap_len, wire_len;
};

/* What a capture has beside what was generated, or lacks of it. */
enum extra { NOTHING, PAUSES, CLASSES, DROPS };

/* A pcap in memory. */
struct writer {
	FILE *f;
	uint64_t random;
	uint32_t spoil_each; /* frames; 0 = none is spoilt */
	enum extra extra;
	uint64_t now_ns;
};

static uint32_t draw(struct writer *w, uint32_t n)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(w->random >> 33) % n;
}

static void put_frame(struct writer *w, const uint8_t *data, uint32_t cap_len, uint32_t wire_len)
{
	const struct record_header h = {
		.seconds = (uint32_t)(w->now_ns / 1000000000),
		.nanoseconds = (uint32_t)(w->now_ns % 1000000000),
		.cap_len = cap_len,
		.wire_len = wire_len,
	};

	assert_int_equal(fwrite(&h, sizeof(h), 1, w->f), 1);
	assert_int_equal(fwrite(data, 1, cap_len, w->f), cap_len);
}

/* Priority 3 stops, or goes on; from the receiver of the frame. */
static void put_pause(struct writer *w, const uint8_t *data, uint16_t quanta)
{
	uint8_t frame[64] = {0x01,	  0x80,	       0xc2,	 0,	   0,	       1,
			     [12] = 0x88, [13] = 0x08, [14] = 1, [15] = 1, [17] = 0xff};

	memcpy(frame + 6, data, 6);
	for (unsigned int i = 0; i < 8; i++)
		frame[18 + 2 * i] = (uint8_t)(quanta >> 8);
	put_frame(w, frame, sizeof(frame), sizeof(frame));
}

static void flip(struct writer *w, uint8_t *data, uint32_t len)
{
	if (len)
		data[draw(w, len)] ^= (uint8_t)(1U << draw(w, 8));
}

/* IP and UDP say alike that the packet is longer than it was. */
static void lengthen(struct writer *w, uint8_t *data, uint32_t cap_len, uint32_t *wire_len)
{
	uint32_t l3 = data[12] == 0x81 ? 18 : 14, n = 1 + draw(w, 4);

	if (cap_len < 54 || data[l3] != 0x45)
		return;
	data[l3 + 3] += (uint8_t)n;
	data[l3 + 25] += (uint8_t)n;
	*wire_len += n;
}

static void spoil(struct writer *w, uint8_t *data, uint32_t *cap_len, uint32_t *wire_len)
{
	uint32_t head = *cap_len < 96 ? *cap_len : 96;

	switch (draw(w, 8)) {
	case 0:
		*cap_len = draw(w, *cap_len + 1);
		break;
	case 1:
		*wire_len = draw(w, *wire_len + 100);
		break;
	case 2:
		*wire_len = *cap_len = draw(w, *cap_len + 1);
		break;
	case 3:
		w->now_ns += UINT64_C(1) << draw(w, 32);
		break;
	case 4:
		w->now_ns -= UINT64_C(1) << draw(w, 20);
		break;
	case 5:
		lengthen(w, data, *cap_len, wire_len);
		break;
	case 6: /* with the ICRC cut off, what was changed is believed */
		*cap_len = head - 4;
		flip(w, data, *cap_len);
		break;
	default:
		flip(w, data, head);
		break;
	}
}

/* One of five DSCPs, of which no flow has the same all the time; the ICRC leaves them out. */
static void change_class(struct writer *w, uint8_t *data)
{
	uint32_t l3 = data[12] == 0x81 ? 18 : 14;

	if (data[l3] == 0x45)
		data[l3 + 1] = (uint8_t)((data[l3 + 1] & 3) | (8 + 4 * draw(w, 5)));
}

static int take(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		uint64_t time_ns)
{
	struct writer *w = arg;
	uint8_t frame[FRAME_MAX];

	assert_in_range(cap_len, 1, sizeof(frame));
	memcpy(frame, data, cap_len);
	w->now_ns = time_ns;
	if (w->extra == DROPS && !draw(w, 40))
		return 0;
	if (w->extra == CLASSES && !draw(w, 10))
		change_class(w, frame);
	if (w->extra == PAUSES && !draw(w, 20))
		put_pause(w, data, draw(w, 2) ? 0xffff : 0);
	if (w->spoil_each && !draw(w, w->spoil_each))
		spoil(w, frame, &cap_len, &wire_len);
	put_frame(w, frame, cap_len, wire_len);
	return 0;
}

static void write_file(const char *path, const struct capgen_options *o, struct writer *w)
{
	static const uint32_t header[6] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, FRAME_MAX, 1};
	struct capgen_truth truth;

	w->f = fopen(path, "wb");
	assert_non_null(w->f);
	w->random = o->seed;
	assert_int_equal(fwrite(header, sizeof(header), 1, w->f), 1);
	assert_int_equal(capgen_run(o, take, w, &truth), 0);
	assert_int_equal(fclose(w->f), 0);
	capgen_truth_clear(&truth);
}

/* What came out of a file. */
struct outcome {
	char *summary;
	uint64_t events, digest; /* of the packets that are no ordinary ones */
	uint64_t frames, told;
};

static uint64_t add(uint64_t digest, uint64_t v)
{
	return (digest ^ v) * UINT64_C(0x100000001b3);
}

/* Marks alone are left out where they may be passed over. */
static void add_events(struct outcome *o, const struct packet *p, struct flow_events ev, bool marks)
{
	if (!(ev.bits & ~(marks ? 0U : FLOW_CE)) && p->fault == PACKET_OK &&
	    p->kind == PACKET_ROCE && p->bth)
		return;
	o->events++;
	o->digest = add(add(add(add(o->digest, p->frame), ev.bits), ev.psns), p->psn);
}

static void read_file(const char *path, bool skim, bool marks, unsigned int max_flows,
		      struct outcome *o)
{
	struct capture_summary s;
	struct err e = {0};
	struct source *source;
	struct packet p;
	struct reader r;
	json_t *json;
	int got;

	memset(o, 0, sizeof(*o));
	assert_int_equal(source_open_file(path, &source, &e), 0);
	assert_int_equal(reader_init(&r, source, max_flows, &e), 0);
	if (!marks)
		reader_pass_marks(&r);
	while ((got = skim ? reader_skim(&r, &p, &e) : reader_next(&r, -1, &p, &e)) > 0) {
		o->told++;
		add_events(o, &p, flow_table_events(r.flows), marks);
	}
	assert_int_equal(got, 0);
	o->frames = r.frames;
	assert_int_equal(reader_summary(&r, &s), 0);
	json = capture_summary_to_json(&s);
	assert_non_null(json);
	o->summary = json_dumps(json, JSON_INDENT(1));
	assert_non_null(o->summary);
	json_decref(json);
	capture_summary_clear(&s);
	reader_clear(&r);
}

/* The first line that differs. */
static void same_text(const char *what, uint64_t seed, const char *want, const char *have)
{
	size_t line = 0, n;

	for (; *want || *have; want += n + (want[n] != 0), have += n + (have[n] != 0), line++) {
		n = strcspn(want, "\n");
		if (n != strcspn(have, "\n") || strncmp(want, have, n) != 0)
			fail_msg("%s, seed %llu, line %zu: '%.60s', not '%.60s'", what,
				 (unsigned long long)seed, line, have, want);
	}
}

/* How many of the frames went the short way. */
static uint64_t compare(const char *what, uint64_t seed, const char *path, bool marks,
			unsigned int max_flows)
{
	struct outcome want, have;

	read_file(path, false, marks, max_flows, &want);
	read_file(path, true, marks, max_flows, &have);
	same_text(what, seed, want.summary, have.summary);
	if (want.frames != have.frames || want.events != have.events || want.digest != have.digest)
		fail_msg("%s, seed %llu: %llu events of %llu frames, not %llu of %llu", what,
			 (unsigned long long)seed, (unsigned long long)have.events,
			 (unsigned long long)have.frames, (unsigned long long)want.events,
			 (unsigned long long)want.frames);
	free(want.summary);
	free(have.summary);
	return have.frames - have.told;
}

struct scene {
	const char *name;
	struct capgen_options o;
	uint32_t spoil_each;
	enum extra extra;
	unsigned int max_flows, least_percent; /* that have to go the short way */
};

static const struct scene scenes[] = {
	{"headers",
	 {.requesters = 20, .frames = 4000, .pmtu = 1024, .snap = 90},
	 0,
	 NOTHING,
	 0,
	 70},
	{"whole", {.requesters = 20, .frames = 4000, .pmtu = 256}, 0, NOTHING, 0, 70},
	{"wrapping",
	 {.requesters = 2, .frames = 4000, .pmtu = 512, .wrap = true},
	 0,
	 NOTHING,
	 0,
	 70},
	{"mirrored",
	 {.requesters = 10, .frames = 4000, .pmtu = 256, .mirror = true},
	 0,
	 NOTHING,
	 0,
	 0},
	{"paused", {.requesters = 4, .frames = 4000, .pmtu = 256, .snap = 90}, 0, PAUSES, 0, 30},
	{"forgotten",
	 {.requesters = 40, .frames = 4000, .pmtu = 256, .snap = 90},
	 0,
	 NOTHING,
	 16,
	 2},
	{"spoilt", {.requesters = 10, .frames = 6000, .pmtu = 256}, 20, PAUSES, 0, 20},
	{"spoilt much",
	 {.requesters = 10, .frames = 6000, .pmtu = 256, .snap = 128},
	 3,
	 PAUSES,
	 24,
	 0},
	{"spoilt rarely",
	 {.requesters = 6, .frames = 6000, .pmtu = 256, .snap = 96},
	 200,
	 NOTHING,
	 0,
	 50},
	{"short flows", {.requesters = 1000, .frames = 8000, .snap = 90}, 0, NOTHING, 0, 85},
	{"short and paused", {.requesters = 800, .frames = 8000, .snap = 90}, 0, PAUSES, 0, 40},
	{"begun by CNPs",
	 {.requesters = 200, .frames = 6000, .ce_rate = 300, .mix = CAPGEN_RC | CAPGEN_CM},
	 0,
	 NOTHING,
	 0,
	 10},
	{"all kinds", {.requesters = 200, .frames = 6000, .mix = CAPGEN_MIX_ALL}, 0, NOTHING, 0, 5},
	{"left out", {.requesters = 10, .frames = 6000, .pmtu = 256, .snap = 90}, 0, DROPS, 0, 30},
	{"left out, all kinds",
	 {.requesters = 20,
	  .frames = 6000,
	  .pmtu = 256,
	  .mix = CAPGEN_RC | CAPGEN_XRC | CAPGEN_OPS},
	 0,
	 DROPS,
	 0,
	 10},
	{"classes", {.requesters = 300, .frames = 8000, .pmtu = 256}, 0, CLASSES, 0, 20},
};

static void check_scene(const struct scene *s)
{
	struct writer w = {.spoil_each = s->spoil_each, .extra = s->extra};
	struct capgen_options o = s->o;
	uint64_t taken = 0, all_marks = 0;
	char path[64];
	int fd = memfd_create("test-skim", MFD_CLOEXEC);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.faults = ALL_FAULTS;
	o.fault_rate = 100;
	o.ce_rate = o.ce_rate ? o.ce_rate : 20;
	for (o.seed = 1; o.seed <= SEEDS; o.seed++) {
		write_file(path, &o, &w);
		taken += compare(s->name, o.seed, path, true, s->max_flows);
		all_marks += compare(s->name, o.seed, path, false, s->max_flows);
	}
	if (taken * 100 < o.frames * SEEDS * s->least_percent)
		fail_msg("%s: only %llu packets of %llu went the short way", s->name,
			 (unsigned long long)taken, (unsigned long long)o.frames * SEEDS);
	/* A mark takes a packet the long way, unless marks are passed over. */
	if (all_marks < taken || (s->least_percent && all_marks == taken))
		fail_msg("%s: %llu packets went the short way, %llu with marks passed over",
			 s->name, (unsigned long long)taken, (unsigned long long)all_marks);
	close(fd);
}

static void test_scenes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		check_scene(&scenes[i]);
}

/* One direction alone is never paired: its requests go the short way all the same, later. */
static int take_one_way(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
			uint64_t time_ns)
{
	/* The last byte of the sender's address. */
	return data[11] & 1 ? take(arg, data, cap_len, wire_len, time_ns) : 0;
}

static void test_one_way(void **state)
{
	static const uint32_t header[6] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, FRAME_MAX, 1};
	const struct capgen_options o = {
		.seed = 4, .requesters = 4, .frames = 120000, .pmtu = 1024, .snap = 90};
	struct writer w = {.random = 1};
	struct capgen_truth truth;
	char path[64];
	int fd = memfd_create("test-skim", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	w.f = fopen(path, "wb");
	assert_non_null(w.f);
	assert_int_equal(fwrite(header, sizeof(header), 1, w.f), 1);
	assert_int_equal(capgen_run(&o, take_one_way, &w, &truth), 0);
	assert_int_equal(fclose(w.f), 0);
	capgen_truth_clear(&truth);
	assert_true(compare("one way", o.seed, path, true, 0) > 10000);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_one_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
