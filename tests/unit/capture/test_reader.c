/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader: whose neighbour an LLDP frame is, when it was heard here and when a mirror brought
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/reader.h"

#define ETH_LEN 14

static const uint8_t lldp[] = {
	/* Ethernet */
	0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc,
	/* chassis id, port id, time to live, end */
	2, 7, 4, 2, 0, 0, 0, 0, 1, 4, 5, 5, 's', 'w', 'p', '1', 6, 2, 0, 120, 0, 0};

/* ERSPAN I: GRE without a header of its own between it and the frame. */
static const uint8_t mirror[] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0x00,
				 /* IPv4, 24 bytes and the frame */
				 0x45, 0, 0, 24 + sizeof(lldp), 0, 0, 0, 0, 64, 47, 0, 0, 10, 0, 0,
				 1, 10, 0, 0, 2,
				 /* GRE */
				 0, 0, 0x88, 0xbe};

/* A pcap file of one frame. */
static void write_file(char *path, const uint8_t *frame, uint32_t len)
{
	const uint32_t header[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
	const uint32_t record[] = {1, 0, len, len};
	int fd = mkstemp(path);
	FILE *f;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(header, sizeof(header), 1, f), 1);
	assert_int_equal(fwrite(record, sizeof(record), 1, f), 1);
	assert_int_equal(fwrite(frame, len, 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

static void read_frame(const uint8_t *frame, uint32_t len, struct packet *p, struct lldp_peer *peer)
{
	char path[] = "/tmp/test-reader-XXXXXX";
	struct err e = {0};
	struct input *s;
	const struct packet *next;
	struct reader r;

	write_file(path, frame, len);
	assert_int_equal(input_open_file(path, &s, &e), 0);
	unlink(path);
	assert_int_equal(reader_init(&r, s, 0, &e), 0);
	assert_int_equal(reader_next(&r, -1, &next, &e), 1);
	*p = *next;
	*peer = r.lldp_peer;
	reader_clear(&r);
}

static void neighbour_of_this_port(void **state)
{
	struct lldp_peer peer;
	struct packet p;

	(void)state;
	read_frame(lldp, sizeof(lldp), &p, &peer);
	assert_int_equal(p.kind, PACKET_LLDP);
	assert_true(peer.seen);
	assert_string_equal(peer.port, "swp1");
	assert_int_equal(peer.neighbours, 1);
}

static void mirrored_neighbour(void **state)
{
	uint8_t frame[sizeof(mirror) + sizeof(lldp)];
	struct lldp_peer peer;
	struct packet p;

	(void)state;
	memcpy(frame, mirror, sizeof(mirror));
	memcpy(frame + sizeof(mirror), lldp, sizeof(lldp));
	read_frame(frame, sizeof(frame), &p, &peer);
	assert_int_equal(p.kind, PACKET_LLDP);
	assert_int_equal(p.tunnel.kind, TUNNEL_ERSPAN_I);
	assert_int_equal(p.fault, PACKET_OK);
	assert_false(peer.seen);
	/* A broken one is told all the same: the length of the first TLV goes beyond the frame. */
	frame[sizeof(mirror) + ETH_LEN + 1] = 200;
	read_frame(frame, sizeof(frame), &p, &peer);
	assert_int_equal(p.fault, PACKET_MALFORMED);
	assert_false(peer.seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbour_of_this_port),
		cmocka_unit_test(mirrored_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
