/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every frame of every golden capture, cut at every length, by the capture and on the wire:
 * decoded, printed, read as LLDP and cut for a recording, in buffers of exactly the length, so that
 * the address sanitizer sees a read or write beyond. A shorter cut never says anything else than
 * the whole frame does, only less.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/lldp.h"
#include "capture/file/input.h"

#define FOLDER "tests/golden/capture"

static void use(const struct packet *p, uint8_t *data, uint32_t cap)
{
	struct lldp_peer peer = {0};
	char line[PACKET_TEXT_MAX];
	json_t *o;

	assert_true(packet_text(p, line, sizeof(line)) < (int)sizeof(line));
	o = packet_to_json(p);
	assert_non_null(o);
	json_decref(o);
	(void)lldp_decode_packet(p, data, &peer, NULL);
	assert_true(trim_frame(p, data, cap) <= cap);
}

/* What is told of the cut frame is what is told of the whole one. */
static void agrees(const struct packet *whole, const struct packet *p)
{
	assert_true(p->kind == whole->kind || p->kind == PACKET_OTHER);
	assert_true(p->icrc == ICRC_UNVERIFIABLE || p->icrc == whole->icrc);
	assert_int_equal(p->headers & ~whole->headers, 0);
	if (p->fault == PACKET_MALFORMED)
		assert_int_equal(whole->fault, PACKET_MALFORMED);
	if (!p->bth)
		return;
	assert_true(whole->bth);
	assert_int_equal(p->opcode, whole->opcode);
	assert_int_equal(p->psn, whole->psn);
	assert_int_equal(p->dest_qpn, whole->dest_qpn);
	assert_int_equal(p->payload_len, whole->payload_len);
	assert_int_equal(p->bth_offset, whole->bth_offset);
	assert_int_equal(p->tunnel.kind, whole->tunnel.kind);
	assert_memory_equal(p->src, whole->src, sizeof(p->src));
	if (p->cm.message != CM_NONE)
		assert_int_equal(p->cm.message, whole->cm.message);
}

static void cut(int link, const uint8_t *data, uint32_t len, uint32_t wire)
{
	struct packet whole, p;
	uint32_t cap;

	packet_decode(link, data, len, wire, 1, 0, &whole);
	for (cap = 0; cap <= len; cap++) {
		uint8_t *exact = malloc(cap ? cap : 1);

		assert_non_null(exact);
		memcpy(exact, data, cap);
		packet_decode(link, exact, cap, wire, 1, 0, &p);
		agrees(&whole, &p);
		use(&p, exact, cap);
		memcpy(exact, data, cap);
		packet_decode(link, exact, cap, cap, 1, 0, &p);
		assert_true(p.icrc != ICRC_GOOD || whole.icrc == ICRC_GOOD);
		use(&p, exact, cap);
		free(exact);
	}
}

static unsigned int cut_file(const char *name)
{
	uint32_t cap_len, wire_len;
	unsigned int frames = 0;
	struct input *s = NULL;
	const uint8_t *data;
	uint64_t time_ns;
	char path[300];
	struct err e;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	while (input_next(s, 0, &data, &cap_len, &wire_len, &time_ns, &e) == 1) {
		cut(input_dlt(s), data, cap_len, wire_len);
		frames++;
	}
	input_close(s);
	return frames;
}

static void every_golden_frame(void **state)
{
	unsigned int files = 0, frames = 0;
	struct dirent *entry;
	DIR *dir = opendir(FOLDER);

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || (strcmp(end, ".pcap") != 0 && strcmp(end, ".pcapng") != 0))
			continue;
		files++;
		frames += cut_file(entry->d_name);
	}
	closedir(dir);
	assert_true(files >= 16);
	assert_true(frames >= 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_golden_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
