/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcap (draft-ietf-opsawg-pcap) of version 2.4 and pcapng (draft-ietf-opsawg-pcapng) of one section
 * and one interface, in the byte order of this machine. Anything else is RECORD_ODD: what it means,
 * and what is wrong with it, libpcap says.
 *
 *   pcap:    | seconds 32 | fraction 32 | captured 32 | on the wire 32 | data |
 *   pcapng:  | 6 32 | length 32 | interface 32 | time 64 | captured 32 | on the wire 32 |
 *            | data, padded to 4 | options | length 32 |
 */
#include "capture/file/record_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/file/window.h"

#define BUFFER_BYTES	 (512U << 10) /* holds every ordinary record */
#define CACHE_LINE	 64U
#define FETCH_AHEAD	 2048
#define MAGIC_MICRO	 0xa1b2c3d4U
#define MAGIC_NANO	 0xa1b23c4dU
#define PCAP_HEADER	 24U
#define PCAP_RECORD	 16U
#define VERSION_MAJOR	 2
#define VERSION_MINOR	 4
#define BLOCK_SECTION	 0x0a0d0d0aU
#define BYTE_ORDER_MAGIC 0x1a2b3c4dU
#define BLOCK_INTERFACE	 1U
#define BLOCK_PACKET	 2U /* obsolete */
#define BLOCK_SIMPLE	 3U
#define BLOCK_STATISTICS 5U
#define BLOCK_ENHANCED	 6U
#define BLOCK_MIN	 12U
#define SECTION_MIN	 28U
#define INTERFACE_MIN	 20U
#define ENHANCED_MIN	 32U
#define OPTION_TSRESOL	 9
#define OPTION_TSOFFSET	 14

struct record_file {
	int fd;
	uint32_t snap;
	uint32_t unit_ns; /* of the time's fraction */
	bool pcapng;
	bool statistics; /* were there */
	bool ended;	 /* nothing comes after what is in buf */
	bool stay;	 /* what is in buf was handed out */
	struct window *window;
	const uint8_t *buf; /* of the window */
	size_t have, used;
	uint64_t at; /* of what comes after it */
};

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t u16_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool show(struct record_file *r)
{
	uint64_t at = record_file_at(r);
	size_t have;
	const uint8_t *buf = window_show(r->window, at, BUFFER_BYTES, &have);

	if (!buf)
		return false;
	r->buf = buf;
	r->have = have;
	r->used = 0;
	r->ended = have < BUFFER_BYTES;
	r->at = at + have;
	return true;
}

/* The next `need` bytes, NULL when there are not so many. */
static inline const uint8_t *peek(struct record_file *r, size_t need)
{
	if (r->have - r->used < need &&
	    (r->stay || need > BUFFER_BYTES || !show(r) || r->have < need))
		return NULL;
	return r->buf + r->used;
}

/* Why nothing more can be read. A read error, or a file that was cut, looks like an end here, and
 * is told by libpcap. */
static enum record_got end_of(const struct record_file *r)
{
	struct stat st;

	return r->have == r->used && r->ended && fstat(r->fd, &st) == 0 &&
			       (uint64_t)st.st_size == r->at
		       ? RECORD_END
		       : RECORD_ODD;
}

/* As much of the file as a record takes: processors do not know by themselves where the next
 * begins. */
static inline void fetch_ahead(const uint8_t *h, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += CACHE_LINE)
		__builtin_prefetch(h + FETCH_AHEAD + i);
}

static inline enum record_got next_pcap(struct record_file *r, struct record *out)
{
	const uint8_t *h = peek(r, PCAP_RECORD);
	uint32_t seconds, fraction, cap_len;

	if (!h)
		return end_of(r);
	seconds = u32_at(h);
	fraction = u32_at(h + 4);
	cap_len = u32_at(h + 8);
	if (seconds > INT32_MAX || fraction >= 1000000000 / r->unit_ns || cap_len > r->snap)
		return RECORD_ODD;
	h = peek(r, PCAP_RECORD + cap_len);
	if (!h)
		return RECORD_ODD;
	r->used += PCAP_RECORD + cap_len;
	fetch_ahead(h, PCAP_RECORD + cap_len);
	out->data = h + PCAP_RECORD;
	out->cap_len = cap_len;
	out->wire_len = u32_at(h + 12);
	out->time_ns = seconds * UINT64_C(1000000000) + (uint64_t)fraction * r->unit_ns;
	return RECORD_FRAME;
}

static bool is_odd_block(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE || type == BLOCK_PACKET ||
	       type == BLOCK_SIMPLE;
}

/* A whole block, NULL at the end or when it makes no sense. */
static const uint8_t *peek_block(struct record_file *r, uint32_t *len)
{
	const uint8_t *h = peek(r, BLOCK_MIN);

	if (!h)
		return NULL;
	*len = u32_at(h + 4);
	if (*len < BLOCK_MIN || *len % 4)
		return NULL;
	h = peek(r, *len);
	return h && u32_at(h + *len - 4) == *len ? h : NULL;
}

static inline enum record_got next_pcapng(struct record_file *r, struct record *out)
{
	uint32_t len, cap_len;
	const uint8_t *h;

	for (;;) {
		h = peek_block(r, &len);
		if (!h)
			return end_of(r);
		if (is_odd_block(u32_at(h)))
			return RECORD_ODD;
		if (u32_at(h) == BLOCK_ENHANCED)
			break;
		r->statistics |= u32_at(h) == BLOCK_STATISTICS;
		r->used += len;
	}
	if (len < ENHANCED_MIN || u32_at(h + 8))
		return RECORD_ODD;
	cap_len = u32_at(h + 20);
	if (cap_len > r->snap || cap_len > len - ENHANCED_MIN)
		return RECORD_ODD;
	r->used += len;
	fetch_ahead(h, len);
	out->data = h + 28;
	out->cap_len = cap_len;
	out->wire_len = u32_at(h + 24);
	out->time_ns = (((uint64_t)u32_at(h + 12) << 32 | u32_at(h + 16)) * r->unit_ns) & INT64_MAX;
	return RECORD_FRAME;
}

static bool begin_pcap(struct record_file *r)
{
	const uint8_t *h = peek(r, PCAP_HEADER);

	if (!h || u16_at(h + 4) != VERSION_MAJOR || u16_at(h + 6) != VERSION_MINOR)
		return false;
	r->unit_ns = u32_at(h) == MAGIC_NANO ? 1 : 1000;
	r->used += PCAP_HEADER;
	return true;
}

/* The resolution of the interface's clock: micro- and nanoseconds are ordinary. */
static bool read_clock(struct record_file *r, const uint8_t *option, uint32_t len)
{
	r->unit_ns = 1000;
	while (len >= 4) {
		uint16_t code = u16_at(option), size = u16_at(option + 2);
		uint32_t padded = 4 + ((size + 3U) & ~3U);

		if (!code)
			return true;
		if (padded > len || code == OPTION_TSOFFSET)
			return false;
		if (code == OPTION_TSRESOL) {
			if (size != 1 || (option[4] != 6 && option[4] != 9))
				return false;
			r->unit_ns = option[4] == 9 ? 1 : 1000;
		}
		option += padded;
		len -= padded;
	}
	return !len;
}

/* Up to and with the first interface, which has to come at once. */
static bool begin_pcapng(struct record_file *r)
{
	uint32_t len;
	const uint8_t *h = peek_block(r, &len);

	if (!h || len < SECTION_MIN || u32_at(h + 8) != BYTE_ORDER_MAGIC || u16_at(h + 12) != 1)
		return false;
	r->used += len;
	h = peek_block(r, &len);
	if (!h || u32_at(h) != BLOCK_INTERFACE || len < INTERFACE_MIN ||
	    !read_clock(r, h + 16, len - INTERFACE_MIN))
		return false;
	r->used += len;
	r->pcapng = true;
	return true;
}

static const struct {
	uint32_t magic;
	bool (*begin)(struct record_file *r);
} formats[] = {
	{MAGIC_MICRO, begin_pcap},
	{MAGIC_NANO, begin_pcap},
	{BLOCK_SECTION, begin_pcapng},
};

struct record_file *record_file_open(int fd, uint32_t snap)
{
	struct record_file *r = calloc(1, sizeof(*r));
	const uint8_t *magic;

	if (!r)
		return NULL;
	r->window = window_new(fd, BUFFER_BYTES);
	r->fd = fd;
	r->snap = snap;
	magic = r->window ? peek(r, 4) : NULL;
	for (unsigned int i = 0; magic && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (u32_at(magic) == formats[i].magic && formats[i].begin(r))
			return r;
	record_file_close(r);
	return NULL;
}

void record_file_close(struct record_file *r)
{
	if (!r)
		return;
	window_free(r->window);
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

uint64_t record_file_at(const struct record_file *r)
{
	return r->at - (r->have - r->used);
}

enum record_got record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				  unsigned int *count)
{
	enum record_got got;
	unsigned int n = 0;

	do {
		r->stay = n > 0;
		got = r->pcapng ? next_pcapng(r, &out[n]) : next_pcap(r, &out[n]);
	} while (got == RECORD_FRAME && ++n < max);
	if (window_is_torn(r->window)) {
		n = 0;
		got = RECORD_ODD;
	}
	*count = n;
	return n ? RECORD_FRAME : got;
}
