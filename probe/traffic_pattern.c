/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pattern of traffic messages. Mixing is one multiply a message (splitmix64's finaliser) and an
 * add, a shift and an xor a word: cheap enough to check every byte, and two messages share no word
 * at an index.
 */
#include "probe/traffic_pattern.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PATTERN_MAGIC 0x4b434352u /* "RCCK" */
#define GOLDEN	      UINT64_C(0x9e3779b97f4a7c15)

/*
 *  0      4      8              16             24     28       32       40
 *  | magic| kind | seed         | sequence     | slot | length | check   | words ...
 */
struct pattern_header {
	uint32_t magic, kind;
	uint64_t seed, sequence;
	uint32_t slot, length;
	uint64_t check; /* mix of what stands before */
};

_Static_assert(sizeof(struct pattern_header) == PATTERN_HEADER_BYTES, "header has holes");

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static uint64_t word(uint64_t base, uint64_t index)
{
	uint64_t v = base + index * GOLDEN;

	return htole64(v ^ v >> 29);
}

static uint64_t header_check(const struct pattern_header *h)
{
	uint64_t v = mix(le64toh(h->seed) + GOLDEN);

	v = mix(v ^ le64toh(h->sequence));
	v = mix(v ^ ((uint64_t)le32toh(h->slot) << 32 | le32toh(h->length)));
	return htole64(mix(v ^ le32toh(h->kind)));
}

static void make_header(struct pattern_header *h, uint32_t length, const struct pattern_id *id)
{
	h->magic = htole32(PATTERN_MAGIC);
	h->kind = htole32(id->kind);
	h->seed = htole64(id->seed);
	h->sequence = htole64(id->sequence);
	h->slot = htole32(id->slot);
	h->length = htole32(length);
	h->check = header_check(h);
}

static uint64_t word_base(const struct pattern_id *id)
{
	return mix(mix(id->seed + GOLDEN) ^ id->sequence) ^ id->kind;
}

void pattern_fill(void *buf, uint32_t length, const struct pattern_id *id)
{
	uint8_t *p = buf;
	uint64_t base = word_base(id), last;
	uint32_t words = (length - PATTERN_HEADER_BYTES) / 8;
	uint32_t rest = (length - PATTERN_HEADER_BYTES) % 8;
	struct pattern_header h;

	make_header(&h, length, id);
	memcpy(p, &h, sizeof(h));
	p += sizeof(h);
	for (uint32_t i = 0; i < words; i++, p += 8) {
		uint64_t v = word(base, i);

		memcpy(p, &v, 8);
	}
	last = word(base, words);
	memcpy(p, &last, rest);
}

static enum pattern_fault header_fault(const struct pattern_header *got,
				       const struct pattern_header *want)
{
	if (got->magic != want->magic || got->seed != want->seed)
		return PATTERN_FOREIGN;
	if (got->check != header_check(got))
		return PATTERN_BYTES;
	if (got->sequence != want->sequence || got->kind != want->kind)
		return PATTERN_SEQUENCE;
	return got->slot != want->slot ? PATTERN_SLOT : PATTERN_BYTES;
}

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t size)
{
	uint64_t i = 0;

	while (i < size && a[i] == b[i])
		i++;
	return i;
}

/* Index of the first wrong word at p, `words` when all are right. */
static uint32_t wrong_word(const uint8_t *p, uint32_t words, uint64_t base)
{
	for (uint32_t i = 0; i < words; i++) {
		uint64_t got;

		memcpy(&got, p + 8 * (size_t)i, 8);
		if (got != word(base, i))
			return i;
	}
	return words;
}

enum pattern_fault pattern_check(const void *buf, uint32_t length, const struct pattern_id *id,
				 uint64_t *offset)
{
	const uint8_t *p = buf;
	uint32_t words = (length - PATTERN_HEADER_BYTES) / 8;
	uint32_t rest = (length - PATTERN_HEADER_BYTES) % 8;
	uint64_t base = word_base(id), expected, at;
	struct pattern_header got, want;

	make_header(&want, length, id);
	memcpy(&got, p, sizeof(got));
	if (memcmp(&got, &want, sizeof(got))) {
		*offset = first_difference(p, (const uint8_t *)&want, sizeof(want));
		return header_fault(&got, &want);
	}
	at = wrong_word(p + sizeof(got), words, base);
	expected = word(base, at);
	at = sizeof(got) + 8 * at;
	if (at + rest == length && !memcmp(p + at, &expected, rest))
		return PATTERN_OK;
	*offset = at + first_difference(p + at, (const uint8_t *)&expected, 8);
	return PATTERN_BYTES;
}

int pattern_peek(const void *buf, uint32_t length, uint64_t seed, struct pattern_id *id)
{
	struct pattern_header h;

	if (length < sizeof(h))
		return -EINVAL;
	memcpy(&h, buf, sizeof(h));
	if (le32toh(h.magic) != PATTERN_MAGIC || le64toh(h.seed) != seed ||
	    h.check != header_check(&h))
		return -EINVAL;
	id->seed = seed;
	id->sequence = le64toh(h.sequence);
	id->slot = le32toh(h.slot);
	id->kind = le32toh(h.kind);
	return 0;
}

const char *pattern_fault_text(enum pattern_fault fault)
{
	static const char *const text[] = {
		[PATTERN_OK] = "right",
		[PATTERN_FOREIGN] = "does not hold a message of this run",
		[PATTERN_SEQUENCE] = "holds another message of this run",
		[PATTERN_SLOT] = "holds the message of another slot",
		[PATTERN_BYTES] = "has a wrong byte",
	};

	return (unsigned int)fault < ARRAY_SIZE(text) ? text[fault] : "?";
}
