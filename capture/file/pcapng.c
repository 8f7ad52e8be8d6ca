/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks pcapng blocks and reads only interfaces and their statistics
 * (draft-ietf-opsawg-pcapng, sections 4.2 and 4.6). Every block is
 *
 *   | type 32 | total length 32 | body, padded to 4 | total length 32 |
 *
 * in the byte order of its section header. The caller feeds bytes, so that a stream is read once.
 */
#include "capture/file/pcapng.h"

#include <byteswap.h>
#include <string.h>
#include <unistd.h>

#include "capture/file/pcap_format.h"

#define STATISTICS_FIXED 12U /* interface id, timestamp */
#define INTERFACE_FIXED	 8U  /* link type, reserved, snap length */
#define HEAD_BYTES	 8U
#define PIECE_BYTES	 65536U

static uint32_t pcapng_u32(const struct pcapng_section *s, uint32_t v)
{
	return s->swapped ? bswap_32(v) : v;
}

static uint64_t pcapng_u64(const struct pcapng_section *s, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return s->swapped ? bswap_64(v) : v;
}

static void pcapng_read_statistics(struct pcapng_section *s, const uint8_t *body, size_t len)
{
	struct pcapng_option o;
	uint64_t drops = 0;
	bool dropped = false;
	uint32_t id;

	if (len < STATISTICS_FIXED)
		return;
	memcpy(&id, body, sizeof(id));
	id = pcapng_u32(s, id);
	if (id >= PCAPNG_INTERFACES)
		return;
	body += STATISTICS_FIXED;
	len -= STATISTICS_FIXED;
	while (pcapng_option_next(&body, &len, s->swapped, &o)) {
		if (o.size == 8 && (o.code == PCAPNG_ISB_IFDROP || o.code == PCAPNG_ISB_OSDROP)) {
			drops += pcapng_u64(s, o.value);
			dropped = true;
		}
	}
	if (dropped) {
		s->has_drops[id] = true;
		s->dropped[id] = drops;
	}
}

/* if_tsresol: a negative power of 10, or of 2 with the top bit; the default is 1 us. */
static uint32_t pcapng_step_ns(uint8_t resolution)
{
	bool fine = resolution & 0x80 ? (resolution & 0x7f) > 19 : resolution > 6;

	return fine ? 1 : 1000;
}

/* if_speed in bit/s; values outside 10 Mbit/s to 10 Tbit/s are ignored. */
static void pcapng_read_speed(struct pcapng_tap *t, const uint8_t *value)
{
	uint64_t mbps = pcapng_u64(&t->section, value) / 1000000;

	if (mbps >= 10 && mbps <= 10000000 && (!t->link_mbps || mbps < t->link_mbps))
		t->link_mbps = (uint32_t)mbps;
}

static void pcapng_read_interface(struct pcapng_tap *t, const uint8_t *body, size_t len)
{
	uint32_t step_ns = 1000;
	struct pcapng_option o;

	if (len < INTERFACE_FIXED)
		return;
	body += INTERFACE_FIXED;
	len -= INTERFACE_FIXED;
	while (pcapng_option_next(&body, &len, t->section.swapped, &o)) {
		if (o.size && o.code == PCAPNG_IF_TSRESOL)
			step_ns = pcapng_step_ns(o.value[0]);
		if (o.size == 8 && o.code == PCAPNG_IF_SPEED)
			pcapng_read_speed(t, o.value);
	}
	if (!t->step_ns || step_ns < t->step_ns)
		t->step_ns = step_ns;
}

/* The magic of a pcap states its clock step. */
static uint32_t pcapng_pcap_step_ns(uint32_t magic)
{
	if (magic == PCAP_MAGIC_NANO || magic == bswap_32(PCAP_MAGIC_NANO))
		return 1;
	return magic == PCAP_MAGIC_MICRO || magic == bswap_32(PCAP_MAGIC_MICRO) ? 1000 : 0;
}

static void pcapng_end_section(struct pcapng_tap *t)
{
	for (unsigned int i = 0; i < PCAPNG_INTERFACES; i++) {
		t->has_drops |= t->section.has_drops[i];
		t->dropped += t->section.dropped[i];
	}
	memset(&t->section, 0, sizeof(t->section));
}

void pcapng_tap_init(struct pcapng_tap *t)
{
	memset(t, 0, sizeof(*t));
	t->need = HEAD_BYTES;
}

/* The magic after the length gives the byte order of the section, also of that length. */
static bool pcapng_begin_section(struct pcapng_tap *t)
{
	uint32_t magic;

	pcapng_end_section(t);
	memcpy(&magic, t->buf + HEAD_BYTES, sizeof(magic));
	t->section.swapped = magic == bswap_32(PCAPNG_BYTE_ORDER_MAGIC);
	t->begun = true;
	return t->section.swapped || magic == PCAPNG_BYTE_ORDER_MAGIC;
}

/* Processes the `need` bytes of buf and sets the next need. False on malformed data. */
static bool pcapng_tap_step(struct pcapng_tap *t)
{
	uint32_t type, len;

	memcpy(&type, t->buf, sizeof(type));
	memcpy(&len, t->buf + 4, sizeof(len));
	if (type == PCAPNG_SECTION) { /* a palindrome in either byte order */
		if (t->need == HEAD_BYTES) {
			t->need = PCAPNG_BLOCK_MIN;
			return true;
		}
		if (!pcapng_begin_section(t))
			return false;
	}
	if (!t->begun)
		t->step_ns = pcapng_pcap_step_ns(type);
	len = pcapng_u32(&t->section, len);
	if (!t->begun || len < PCAPNG_BLOCK_MIN || len % 4 || len < t->need)
		return false;
	type = pcapng_u32(&t->section, type);
	if ((type == PCAPNG_STATISTICS || type == PCAPNG_INTERFACE) &&
	    len - PCAPNG_BLOCK_MIN <= PCAPNG_STATISTICS_MAX) {
		if (t->need == HEAD_BYTES && len > PCAPNG_BLOCK_MIN) {
			t->need = len - 4;
			return true;
		}
		if (type == PCAPNG_STATISTICS)
			pcapng_read_statistics(&t->section, t->buf + HEAD_BYTES,
					       len - PCAPNG_BLOCK_MIN);
		else
			pcapng_read_interface(t, t->buf + HEAD_BYTES, len - PCAPNG_BLOCK_MIN);
	}
	t->skip = len - t->need;
	t->have = 0;
	t->need = HEAD_BYTES;
	return true;
}

void pcapng_tap_feed(struct pcapng_tap *t, const uint8_t *bytes, size_t len)
{
	while (len && !t->invalid) {
		size_t part = t->skip ? t->skip : t->need - t->have;

		if (part > len)
			part = len;
		if (t->skip) {
			t->skip -= (uint32_t)part;
		} else {
			memcpy(t->buf + t->have, bytes, part);
			t->have += part;
			t->invalid = t->have == t->need && !pcapng_tap_step(t);
		}
		bytes += part;
		len -= part;
	}
}

enum capture_drops pcapng_tap_drops(const struct pcapng_tap *t, uint64_t *dropped)
{
	struct pcapng_tap sum = *t;

	pcapng_end_section(&sum);
	if (!sum.has_drops)
		return DROPS_UNKNOWN;
	*dropped = sum.dropped;
	return sum.dropped ? DROPS_SOME : DROPS_ZERO;
}

enum capture_drops pcapng_drops(int fd, uint64_t *dropped)
{
	uint8_t buf[PIECE_BYTES];
	struct pcapng_tap t;
	off_t at = 0;
	ssize_t n;

	pcapng_tap_init(&t);
	while (!t.invalid && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		pcapng_tap_feed(&t, buf, (size_t)n);
		at += n + t.skip;
		t.skip = 0;
	}
	return pcapng_tap_drops(&t, dropped);
}

void pcapng_read_head(int fd, uint32_t *step_ns, uint32_t *link_mbps)
{
	uint8_t buf[PIECE_BYTES];
	struct pcapng_tap t;
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	pcapng_tap_init(&t);
	if (n > 0)
		pcapng_tap_feed(&t, buf, (size_t)n);
	*step_ns = t.step_ns;
	*link_mbps = t.link_mbps;
}
