/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutators of capture files: pcap by its records, pcapng by its blocks. Lengths are made to fit
 * what they are lengths of, in the byte order of the file, but for one in so many; padding and the
 * second length of a block as well. Specs: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
 */
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/tree.h"

#define PARTS_MAX     1024
#define FILE_HEAD     24
#define RECORD_HEAD   16
#define BLOCK_HEAD    8
#define BLOCK_LEAST   12
#define BODY_MAX      (1u << 16)
#define SPOIL_ONE_IN  32 /* lengths that do not fit */
#define SECTION_BLOCK 0x0a0d0d0au
#define PACKET_BLOCK  6u
#define PACKET_HEAD   20 /* of its body: interface, time, two lengths */

/* A record or a block: its head, and its body without padding and second length. */
struct part {
	uint8_t head[RECORD_HEAD];
	uint8_t *body; /* in `bodies` or in the input */
	size_t size;
};

static struct part parts[PARTS_MAX + 1];
static uint8_t body_room[BODY_MAX];

static uint32_t get32(const uint8_t *at, bool big)
{
	return big ? (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]
		   : (uint32_t)at[3] << 24 | at[2] << 16 | at[1] << 8 | at[0];
}

static void put32(uint8_t *at, uint32_t value, bool big)
{
	for (unsigned int i = 0; i < 4; i++)
		at[big ? 3 - i : i] = (uint8_t)(value >> 8 * i);
}

static uint32_t any_number(struct dice *d)
{
	static const uint32_t numbers[] = {
		0,	 1,	 2,	 4,	     14,	 20,	     41,
		60,	 64,	 0xff,	 0x100,	     1500,	 9018,	     0xffff,
		0x10000, 262144, 262145, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff,
	};

	if (dice_one_in(d, 4))
		return (uint32_t)dice_number(d);
	return numbers[dice_below(d, sizeof(numbers) / sizeof(numbers[0]))];
}

/* A part is doubled, left out, changes places with another, or its body changes. */
static size_t change_parts(size_t count, size_t first, struct dice *d)
{
	size_t at = first + dice_below(d, count - first),
	       other = first + dice_below(d, count - first);
	struct part one = parts[at];

	switch (dice_below(d, 8)) {
	case 0:
		if (count == PARTS_MAX)
			return count;
		memmove(parts + other + 1, parts + other, (count - other) * sizeof(one));
		parts[other] = one;
		return count + 1;
	case 1:
		memmove(parts + at, parts + at + 1, (count - at - 1) * sizeof(one));
		return count - 1;
	case 2:
		parts[at] = parts[other];
		parts[other] = one;
		return count;
	case 3:
		parts[at].size = dice_below(d, one.size + 1);
		return count;
	default:
		if (one.size > BODY_MAX / 2)
			return count;
		memcpy(body_room, one.body, one.size);
		parts[at].body = body_room;
		parts[at].size = LLVMFuzzerMutate(body_room, one.size, BODY_MAX);
		return count;
	}
}

static size_t finish(struct tree_out *out, uint8_t *data, size_t size)
{
	if (!out->full && out->used) {
		memcpy(data, out->data, out->used);
		size = out->used;
	}
	free(out->data);
	return size;
}

/* Of microseconds and of nanoseconds, in both byte orders. */
static bool is_pcap(const uint8_t *data, size_t size, bool *big)
{
	uint32_t magic = size >= FILE_HEAD ? get32(data, false) : 0;

	*big = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	return *big || magic == 0xa1b2c3d4 || magic == 0xa1b23c4d;
}

static size_t split_pcap(uint8_t *data, size_t size, bool big)
{
	size_t count = 0;

	for (size_t at = FILE_HEAD; count < PARTS_MAX && size - at >= RECORD_HEAD;) {
		size_t len = get32(data + at + 8, big);

		memcpy(parts[count].head, data + at, RECORD_HEAD);
		at += RECORD_HEAD;
		len = len < size - at ? len : size - at;
		parts[count].body = data + at;
		parts[count++].size = len;
		at += len;
	}
	return count;
}

static void change_file_head(uint8_t *head, bool big, struct dice *d)
{
	static const uint8_t fields[] = {4, 8, 12, 16, 20, 20, 20};
	static const uint32_t links[] = {0, 1, 12, 101, 113, 228, 229, 276, 105, 147};
	size_t at = fields[dice_below(d, sizeof(fields))];

	put32(head + at,
	      at == 20 ? links[dice_below(d, sizeof(links) / sizeof(links[0]))] : any_number(d),
	      big);
}

static void change_record_head(struct part *p, bool big, struct dice *d)
{
	size_t field = dice_below(d, 3); /* seconds, fraction, length on the wire */

	put32(p->head + (field == 2 ? 12 : 4 * field), any_number(d), big);
}

size_t mutate_pcap(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct tree_out out = {.size = max_size};
	struct dice d = dice_of(seed);
	uint8_t head[FILE_HEAD];
	size_t count;
	bool big;

	if (!is_pcap(data, size, &big) || dice_one_in(&d, SPOIL_ONE_IN))
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(head, data, FILE_HEAD);
	count = split_pcap(data, size, big);
	if (!count || dice_one_in(&d, 16))
		change_file_head(head, big, &d);
	if (count && dice_one_in(&d, 4))
		change_record_head(&parts[dice_below(&d, count)], big, &d);
	else if (count)
		count = change_parts(count, 0, &d);
	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	tree_put(&out, (char *)head, FILE_HEAD);
	for (size_t i = 0; i < count; i++) {
		struct part *p = &parts[i];
		uint32_t wire = get32(p->head + 12, big);

		put32(p->head + 8, (uint32_t)p->size, big);
		if (wire < p->size && !dice_one_in(&d, SPOIL_ONE_IN))
			put32(p->head + 12, (uint32_t)p->size, big);
		tree_put(&out, (char *)p->head, RECORD_HEAD);
		tree_put(&out, (char *)p->body, p->size);
	}
	return finish(&out, data, size);
}

/* The byte order of a section begins with its header. */
static bool section_order(const uint8_t *body, size_t size, bool big)
{
	return size < 4 ? big : body[0] == 0x1a && body[1] == 0x2b;
}

static size_t split_pcapng(uint8_t *data, size_t size)
{
	size_t count = 0, at = 0;
	bool big = false;

	while (count < PARTS_MAX && size - at >= BLOCK_LEAST) {
		size_t len;

		if (get32(data + at, false) == SECTION_BLOCK)
			big = section_order(data + at + BLOCK_HEAD, size - at - BLOCK_HEAD, big);
		len = get32(data + at + 4, big) & ~3u;
		len = len < BLOCK_LEAST ? BLOCK_LEAST : len < size - at ? len : size - at;
		memcpy(parts[count].head, data + at, BLOCK_HEAD);
		parts[count].body = data + at + BLOCK_HEAD;
		parts[count++].size = len - BLOCK_LEAST;
		at += len;
	}
	return count;
}

/* A packet's captured bytes are at most what is left of its block, and what was on the wire. */
static void fit_packet(uint8_t *body, size_t size, bool big)
{
	uint32_t room = (uint32_t)(size - PACKET_HEAD);

	if (get32(body + 12, big) > room)
		put32(body + 12, room, big);
	if (get32(body + 16, big) < get32(body + 12, big))
		put32(body + 16, get32(body + 12, big), big);
}

static void put_block(struct tree_out *out, const struct part *p, bool *big, struct dice *d)
{
	bool spoil = dice_one_in(d, 8 * SPOIL_ONE_IN);
	uint8_t head[BLOCK_HEAD];
	size_t padding, body;

	memcpy(head, p->head, BLOCK_HEAD);
	if (get32(head, false) == SECTION_BLOCK)
		*big = section_order(p->body, p->size, *big);
	padding = -p->size & 3;
	put32(head + 4, spoil ? any_number(d) : (uint32_t)(p->size + padding + BLOCK_LEAST), *big);
	tree_put(out, (char *)head, BLOCK_HEAD);
	body = out->used;
	tree_put(out, (char *)p->body, p->size);
	if (!out->full && !spoil && get32(head, *big) == PACKET_BLOCK && p->size >= PACKET_HEAD)
		fit_packet(out->data + body, p->size, *big);
	tree_put(out, "\0\0\0", padding);
	tree_put(out, (char *)head + 4, 4);
}

size_t mutate_pcapng(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const uint32_t types[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 0x0bad, SECTION_BLOCK};
	struct tree_out out = {.size = max_size};
	struct dice d = dice_of(seed);
	bool big = false;
	size_t count;

	if (size < BLOCK_LEAST || get32(data, false) != SECTION_BLOCK ||
	    dice_one_in(&d, SPOIL_ONE_IN))
		return LLVMFuzzerMutate(data, size, max_size);
	count = split_pcapng(data, size);
	/* The first section's header stays, for without it the file is none. */
	if (count > 1)
		count = change_parts(count, dice_one_in(&d, SPOIL_ONE_IN) ? 0 : 1, &d);
	if (count > 1 && dice_one_in(&d, 8))
		put32(parts[1 + dice_below(&d, count - 1)].head,
		      types[dice_below(&d, sizeof(types) / sizeof(types[0]))],
		      section_order(parts[0].body, parts[0].size, false));
	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	for (size_t i = 0; i < count; i++)
		put_block(&out, &parts[i], &big, &d);
	return finish(&out, data, size);
}
