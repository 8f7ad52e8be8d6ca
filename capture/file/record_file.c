/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pcap (draft-ietf-opsawg-pcap) of version 2.4 and pcapng (draft-ietf-opsawg-pcapng) of one
 * section and one interface, in the byte order of this machine. Anything else is RECORD_FALLBACK,
 * for libpcap to interpret or to reject.
 *
 *   pcap:    | seconds 32 | fraction 32 | captured 32 | on the wire 32 | data |
 *   pcapng:  | 6 32 | length 32 | interface 32 | time 64 | captured 32 | on the wire 32 |
 *            | data, padded to 4 | options | length 32 |
 */
#include "capture/file/record_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/file/mmap_window.h"
#include "capture/file/pcap_format.h"

#define BUFFER_BYTES (512U << 10) /* fits every valid record */
#define CACHE_LINE   64U
#define FETCH_AHEAD  2048
#define PCAP_HEADER  24U
#define PCAP_RECORD  16U

struct record_file {
	int fd;
	uint32_t snap;
	uint32_t unit_ns; /* unit of the fraction in timestamps */
	bool pcapng;
	bool statistics; /* statistics blocks were read */
	bool ended;	 /* buf reaches the end of the file */
	bool stay;	 /* the caller uses data of buf */
	struct mmap_window *window;
	const uint8_t *buf; /* of the window */
	size_t have, used;
	uint64_t at; /* file offset after buf */
};

static uint32_t record_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t record_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool record_map(struct record_file *r)
{
	uint64_t at = record_file_offset(r);
	size_t have;
	const uint8_t *buf = mmap_window_map(r->window, at, BUFFER_BYTES, &have);

	if (!buf)
		return false;
	r->buf = buf;
	r->have = have;
	r->used = 0;
	r->ended = have < BUFFER_BYTES;
	r->at = at + have;
	return true;
}

/* Returns the next `need` bytes, or NULL. */
static inline const uint8_t *record_peek(struct record_file *r, size_t need)
{
	if (r->have - r->used < need &&
	    (r->stay || need > BUFFER_BYTES || !record_map(r) || r->have < need))
		return NULL;
	return r->buf + r->used;
}

/* Returns why no more data can be read. A read error or a truncated file looks like an end here;
 * libpcap reports it. */
static enum record_status record_end_status(const struct record_file *r)
{
	struct stat st;

	return r->have == r->used && r->ended && fstat(r->fd, &st) == 0 &&
			       (uint64_t)st.st_size == r->at
		       ? RECORD_END
		       : RECORD_FALLBACK;
}

/* Prefetches one record's length ahead: processors do not predict where the next record begins. */
static inline void record_prefetch(const uint8_t *h, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += CACHE_LINE)
		__builtin_prefetch(h + FETCH_AHEAD + i);
}

static inline enum record_status record_next_pcap(struct record_file *r, struct record *out)
{
	const uint8_t *h = record_peek(r, PCAP_RECORD);
	uint32_t seconds, fraction, cap_len;

	if (!h)
		return record_end_status(r);
	seconds = record_u32(h);
	fraction = record_u32(h + 4);
	cap_len = record_u32(h + 8);
	if (seconds > INT32_MAX || fraction >= 1000000000 / r->unit_ns || cap_len > r->snap)
		return RECORD_FALLBACK;
	h = record_peek(r, PCAP_RECORD + cap_len);
	if (!h)
		return RECORD_FALLBACK;
	r->used += PCAP_RECORD + cap_len;
	record_prefetch(h, PCAP_RECORD + cap_len);
	out->data = h + PCAP_RECORD;
	out->cap_len = cap_len;
	out->wire_len = record_u32(h + 12);
	out->time_ns = seconds * UINT64_C(1000000000) + (uint64_t)fraction * r->unit_ns;
	return RECORD_FRAME;
}

static bool record_is_foreign_block(uint32_t type)
{
	return type == PCAPNG_SECTION || type == PCAPNG_INTERFACE || type == PCAPNG_PACKET ||
	       type == PCAPNG_SIMPLE;
}

/* Returns a whole block, or NULL at the end or on a malformed one. */
static const uint8_t *record_peek_block(struct record_file *r, uint32_t *len)
{
	const uint8_t *h = record_peek(r, PCAPNG_BLOCK_MIN);

	if (!h)
		return NULL;
	*len = record_u32(h + 4);
	if (*len < PCAPNG_BLOCK_MIN || *len % 4)
		return NULL;
	h = record_peek(r, *len);
	return h && record_u32(h + *len - 4) == *len ? h : NULL;
}

static inline enum record_status record_next_pcapng(struct record_file *r, struct record *out)
{
	uint32_t len, cap_len;
	const uint8_t *h;

	for (;;) {
		h = record_peek_block(r, &len);
		if (!h)
			return record_end_status(r);
		if (record_is_foreign_block(record_u32(h)))
			return RECORD_FALLBACK;
		if (record_u32(h) == PCAPNG_ENHANCED)
			break;
		r->statistics |= record_u32(h) == PCAPNG_STATISTICS;
		r->used += len;
	}
	if (len < PCAPNG_ENHANCED_MIN || record_u32(h + 8))
		return RECORD_FALLBACK;
	cap_len = record_u32(h + 20);
	if (cap_len > r->snap || cap_len > len - PCAPNG_ENHANCED_MIN)
		return RECORD_FALLBACK;
	r->used += len;
	record_prefetch(h, len);
	out->data = h + 28;
	out->cap_len = cap_len;
	out->wire_len = record_u32(h + 24);
	out->time_ns = (((uint64_t)record_u32(h + 12) << 32 | record_u32(h + 16)) * r->unit_ns) &
		       INT64_MAX;
	return RECORD_FRAME;
}

static bool record_begin_pcap(struct record_file *r)
{
	const uint8_t *h = record_peek(r, PCAP_HEADER);

	if (!h || record_u16(h + 4) != PCAP_VERSION_MAJOR ||
	    record_u16(h + 6) != PCAP_VERSION_MINOR)
		return false;
	r->unit_ns = record_u32(h) == PCAP_MAGIC_NANO ? 1 : 1000;
	r->used += PCAP_HEADER;
	return true;
}

/* Reads the resolution of the interface's clock: only us and ns are supported. */
static bool record_read_clock(struct record_file *r, const uint8_t *options, size_t len)
{
	struct pcapng_option o;

	r->unit_ns = 1000;
	while (pcapng_option_next(&options, &len, false, &o)) {
		if (o.code == PCAPNG_IF_TSOFFSET)
			return false;
		if (o.code == PCAPNG_IF_TSRESOL) {
			if (o.size != 1 || (o.value[0] != 6 && o.value[0] != 9))
				return false;
			r->unit_ns = o.value[0] == 9 ? 1 : 1000;
		}
	}
	return !len;
}

/* Reads up to the first interface, which must follow the section header. */
static bool record_begin_pcapng(struct record_file *r)
{
	uint32_t len;
	const uint8_t *h = record_peek_block(r, &len);

	if (!h || len < PCAPNG_SECTION_MIN || record_u32(h + 8) != PCAPNG_BYTE_ORDER_MAGIC ||
	    record_u16(h + 12) != 1)
		return false;
	r->used += len;
	h = record_peek_block(r, &len);
	if (!h || record_u32(h) != PCAPNG_INTERFACE || len < PCAPNG_INTERFACE_MIN ||
	    !record_read_clock(r, h + 16, len - PCAPNG_INTERFACE_MIN))
		return false;
	r->used += len;
	r->pcapng = true;
	return true;
}

static const struct {
	uint32_t magic;
	bool (*begin)(struct record_file *r);
} formats[] = {
	{PCAP_MAGIC_MICRO, record_begin_pcap},
	{PCAP_MAGIC_NANO, record_begin_pcap},
	{PCAPNG_SECTION, record_begin_pcapng},
};

struct record_file *record_file_open(int fd, uint32_t snap)
{
	struct record_file *r = calloc(1, sizeof(*r));
	const uint8_t *magic;

	if (!r)
		return NULL;
	r->window = mmap_window_new(fd, BUFFER_BYTES);
	r->fd = fd;
	r->snap = snap;
	magic = r->window ? record_peek(r, 4) : NULL;
	for (unsigned int i = 0; magic && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (record_u32(magic) == formats[i].magic && formats[i].begin(r))
			return r;
	record_file_close(r);
	return NULL;
}

void record_file_close(struct record_file *r)
{
	if (!r)
		return;
	mmap_window_free(r->window);
	free(r);
}

uint32_t record_file_step_ns(const struct record_file *r)
{
	return r->unit_ns;
}

bool record_file_statistics(const struct record_file *r)
{
	return r->statistics;
}

uint64_t record_file_offset(const struct record_file *r)
{
	return r->at - (r->have - r->used);
}

enum record_status record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				     unsigned int *count)
{
	enum record_status got;
	unsigned int n = 0;

	do {
		r->stay = n > 0;
		got = r->pcapng ? record_next_pcapng(r, &out[n]) : record_next_pcap(r, &out[n]);
	} while (got == RECORD_FRAME && ++n < max);
	if (mmap_window_is_truncated(r->window)) {
		n = 0;
		got = RECORD_FALLBACK;
	}
	*count = n;
	return n ? RECORD_FRAME : got;
}
