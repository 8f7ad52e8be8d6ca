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
#include "capture/file/record_state.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/file/record_guess.h"
#include "capture/file/window.h"

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
	r->at = (off_t)(at + have);
	return true;
}

/* The file cannot be shown any more: what comes is read. */
static void leave_window(struct record_file *r)
{
	uint64_t at = record_file_at(r);

	window_free(r->window);
	r->window = NULL;
	r->buf = r->own;
	record_file_seek(r, at);
}

void record_file_fill(struct record_file *r, size_t need)
{
	if (r->window && show(r))
		return;
	if (r->window)
		leave_window(r);
	if (!r->part) {
		memmove(r->own, r->own + r->used, r->have - r->used);
		r->have -= r->used;
		r->used = 0;
	}
	need += r->used;
	while (r->have < need && !r->ended) {
		size_t room = r->part ? need - r->have : BUFFER_BYTES - r->have;
		ssize_t n = pread(r->fd, r->own + r->have, room < PIECE_BYTES ? room : PIECE_BYTES,
				  r->at);

		if (n < 0 && errno == EINTR)
			continue;
		r->ended = n <= 0; /* libpcap meets the error again */
		r->have += n > 0 ? (size_t)n : 0;
		r->at += n > 0 ? n : 0;
	}
}

/* The next `need` bytes, NULL when there are not so many. */
static inline const uint8_t *peek(struct record_file *r, size_t need)
{
	if (r->have - r->used < need) {
		if (need > BUFFER_BYTES || (r->part && need > BUFFER_BYTES - r->used))
			return NULL;
		record_file_fill(r, need);
		if (r->have - r->used < need)
			return NULL;
	}
	return r->buf + r->used;
}

/* Why nothing more can be read. A read error, or a file that was cut, looks like an end here, and
 * is told by libpcap. */
static enum record_got end_of(const struct record_file *r)
{
	struct stat st;

	return r->have == r->used && r->ended && fstat(r->fd, &st) == 0 && st.st_size == r->at
		       ? RECORD_END
		       : RECORD_ODD;
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
	out->data = h + PCAP_RECORD;
	out->cap_len = cap_len;
	out->wire_len = u32_at(h + 12);
	out->time_ns = seconds * UINT64_C(1000000000) + (uint64_t)fraction * r->unit_ns;
	return RECORD_FRAME;
}

/* What next_pcap() takes, as long as it is in the buffer. */
static unsigned int more_pcap(struct record_file *r, struct record *out, unsigned int max)
{
	const uint8_t *h = r->buf + r->used, *end = r->buf + r->have;
	uint32_t limit = 1000000000 / r->unit_ns, snap = r->snap, unit_ns = r->unit_ns;
	unsigned int n;

	for (n = 0; n < max && end - h >= (ptrdiff_t)PCAP_RECORD; n++) {
		uint32_t seconds = u32_at(h), fraction = u32_at(h + 4), cap_len = u32_at(h + 8);

		if (seconds > INT32_MAX || fraction >= limit || cap_len > snap ||
		    (size_t)(end - h) - PCAP_RECORD < cap_len)
			break;
		out[n].data = h + PCAP_RECORD;
		out[n].cap_len = cap_len;
		out[n].wire_len = u32_at(h + 12);
		out[n].time_ns = seconds * UINT64_C(1000000000) + (uint64_t)fraction * unit_ns;
		h += PCAP_RECORD + cap_len;
	}
	r->used = (size_t)(h - r->buf);
	return n;
}

static enum record_got batch_pcap(struct record_file *r, struct record *out, unsigned int max,
				  unsigned int *count)
{
	enum record_got got;

	*count = more_pcap(r, out, max);
	if (*count)
		return RECORD_FRAME;
	got = next_pcap(r, out);
	*count = got == RECORD_FRAME;
	return got;
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
	out->data = h + 28;
	out->cap_len = cap_len;
	out->wire_len = u32_at(h + 24);
	out->time_ns = (((uint64_t)u32_at(h + 12) << 32 | u32_at(h + 16)) * r->unit_ns) & INT64_MAX;
	return RECORD_FRAME;
}

static inline bool has_pcapng(const struct record_file *r)
{
	const uint8_t *h = r->buf + r->used;
	size_t left = r->have - r->used;

	return left >= BLOCK_MIN && u32_at(h) == BLOCK_ENHANCED && left >= u32_at(h + 4);
}

static enum record_got batch_pcapng(struct record_file *r, struct record *out, unsigned int max,
				    unsigned int *count)
{
	enum record_got got = next_pcapng(r, out);
	unsigned int n = got == RECORD_FRAME;

	while (n && n < max && has_pcapng(r) && next_pcapng(r, &out[n]) == RECORD_FRAME)
		n++;
	*count = n;
	return got;
}

static bool guess_pcap(const struct record_file *r, size_t *at)
{
	return record_guess_pcap(r->buf + r->used, r->have - r->used, r->snap,
				 1000000000 / r->unit_ns, at);
}

static bool guess_pcapng(const struct record_file *r, size_t *at)
{
	return record_guess_pcapng(r->buf + r->used, r->have - r->used, record_file_at(r), at);
}

static bool begin_pcap(struct record_file *r)
{
	const uint8_t *h = peek(r, PCAP_HEADER);

	if (!h || u16_at(h + 4) != VERSION_MAJOR || u16_at(h + 6) != VERSION_MINOR)
		return false;
	r->unit_ns = u32_at(h) == MAGIC_NANO ? 1 : 1000;
	r->batch = batch_pcap;
	r->guess = guess_pcap;
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
	r->batch = batch_pcapng;
	r->guess = guess_pcapng;
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
	struct record_file *r = aligned_alloc(_Alignof(struct record_file), sizeof(*r));
	const uint8_t *magic;

	if (!r)
		return NULL;
	memset(r, 0, offsetof(struct record_file, own));
	r->buf = r->own;
	r->window = window_new(fd, BUFFER_BYTES);
	r->fd = fd;
	r->snap = snap;
	if (r->window && !show(r))
		leave_window(r);
	magic = peek(r, 4);
	for (unsigned int i = 0; magic && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (u32_at(magic) == formats[i].magic && formats[i].begin(r))
			return r;
	record_file_close(r);
	return NULL;
}

void record_file_seek(struct record_file *r, uint64_t at)
{
	r->at = (off_t)at;
	r->have = r->used = 0;
	r->ended = false;
}

void record_file_add_statistics(struct record_file *r, const struct record_file *part)
{
	r->statistics |= part->statistics;
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
	return (uint64_t)r->at - (r->have - r->used);
}

enum record_got record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				  unsigned int *count)
{
	enum record_got got = r->batch(r, out, max, count);

	if (!r->window || !window_is_torn(r->window))
		return got;
	*count = 0;
	return RECORD_ODD;
}

enum record_got record_file_next(struct record_file *r, struct record *out)
{
	unsigned int count;

	return record_file_batch(r, out, 1, &count);
}
