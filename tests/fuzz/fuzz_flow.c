/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that a reader takes from a file, some at a time, against the same accounted one by one:
 * both make the same summary. Inputs are those of frame_input.h, all of Ethernet.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "capture/reader.h"
#include "tests/fuzz/frame_input.h"

#define MAX_FLOWS 8 /* few, so that flows are put out */
#define SECOND_NS UINT64_C(1000000000)

static const uint32_t head[6] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, 1 << 18, DLT_EN10MB};

/* As a file can tell them: seconds of 31 bits. */
static uint64_t time_of(const struct packet *p)
{
	return p->time_ns % (INT32_MAX * SECOND_NS);
}

static void write_frame(FILE *f, const struct packet *p, const uint8_t *bytes)
{
	const uint32_t record[4] = {(uint32_t)(time_of(p) / SECOND_NS),
				    (uint32_t)(time_of(p) % SECOND_NS), p->cap_len, p->wire_len};

	HOLDS(fwrite(record, sizeof(record), 1, f) == 1);
	HOLDS(fwrite(bytes, 1, p->cap_len, f) == p->cap_len);
}

/* As the reader: a neighbour that cannot be read is a fault of its frame. */
static void read_lldp(struct packet *p, const uint8_t *bytes)
{
	struct lldp_peer peer = {0};
	struct err e = {0};

	if (p->kind != PACKET_LLDP || lldp_decode_packet(p, bytes, &peer, &e) >= 0)
		return;
	if (p->cap_len < p->wire_len)
		packet_fault(p, PACKET_TRUNCATED, "capture ends inside LLDP");
	else
		packet_fault(p, PACKET_MALFORMED, "%.63s", e.text);
}

/* The table of the frames, which go into a file as well. */
static struct flow_table *one_by_one(const uint8_t *data, size_t size, FILE *f)
{
	struct flow_table *t = flow_table_new(MAX_FLOWS);
	struct frame_input in;
	struct packet p;

	HOLDS(t && fwrite(head, sizeof(head), 1, f) == 1);
	flow_table_set_link_speed(t, PAUSE_DEFAULT_MBPS, PAUSE_SPEED_ASSUMED);
	frame_input_begin(&in, data, size);
	in.dlt = DLT_EN10MB;
	while (frame_input_next(&in, &p)) {
		write_frame(f, &p, in.data);
		read_lldp(&p, in.data);
		p.time_ns = time_of(&p);
		HOLDS(!flow_table_add(t, &p));
	}
	free(in.data);
	HOLDS(!fflush(f));
	return t;
}

static json_t *summary_of(struct capture_summary *s)
{
	json_t *o = capture_summary_to_json(s);

	HOLDS(o);
	capture_summary_clear(s);
	return o;
}

static json_t *by_reader(const char *path)
{
	struct capture_summary summary;
	struct err e = {0};
	struct input *s;
	const struct packet *p;
	struct reader r;
	json_t *o;

	HOLDS(!input_open_file(path, &s, &e) && !reader_init(&r, s, MAX_FLOWS, &e));
	while (reader_next(&r, -1, &p, &e) > 0)
		;
	HOLDS(!capture_summary_make(r.flows, NULL, DROPS_UNKNOWN, 0, &summary));
	o = summary_of(&summary);
	reader_clear(&r);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	FILE *f = fdopen(fd, "w");
	struct capture_summary summary;
	struct flow_table *t;
	json_t *want, *got;
	char path[64];

	HOLDS(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t = one_by_one(data, size, f);
	HOLDS(!capture_summary_make(t, NULL, DROPS_UNKNOWN, 0, &summary));
	want = summary_of(&summary);
	got = by_reader(path);
	if (!json_equal(want, got)) {
		json_dumpf(want, stderr, JSON_INDENT(1));
		json_dumpf(got, stderr, JSON_INDENT(1));
		fuzz_broken(__FILE__, __LINE__, "the reader counts as the table");
	}
	json_decref(got);
	json_decref(want);
	flow_table_free(t);
	fclose(f);
	return 0;
}
