/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills and checks the pattern of traffic messages. Mixing costs two multiplications per message
 * (splitmix64's finalizer), and an add, a shift and an xor per word, vectorized: cheap enough to
 * check every byte. No two messages have the same word at the same index. Buffers need no
 * alignment.
 */
#include "probe/traffic/traffic_pattern.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PATTERN_MAGIC 0x4b434352u /* "RCCK" */
#define GOLDEN	      UINT64_C(0x9e3779b97f4a7c15)

/*
 *  0      4      8              16             24     28     32       36      40
 *  | magic| kind | seed         | sequence     | flow | slot | length | check | words ...
 */
struct pattern_header {
	uint32_t magic, kind;
	uint64_t seed, sequence;
	uint32_t flow, slot, length;
	uint32_t check; /* mix of the fields before */
};

_Static_assert(sizeof(struct pattern_header) == PATTERN_HEADER_BYTES, "header has holes");

/* The words of a group are computed in parallel, with GCC vectors. Clones for wider registers are
 * chosen at program start, where supported. No vector is wider than a register of AVX2: GCC 12
 * would keep it in memory in each turn of the loop. */
#define LANES	    4u
#define VECTORS	    2u		      /* independent of each other */
#define GROUP	    (LANES * VECTORS) /* words */
#define GROUP_BYTES (8u * GROUP)
#define CHUNK	    16u /* groups between two tests of the difference */

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define WIDE
#endif

static uint64_t pattern_mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static uint64_t pattern_word(uint64_t base, uint64_t index)
{
	uint64_t v = base + index * GOLDEN;

	return htole64(v ^ v >> 29);
}

/* Odd factors: a change of any single field changes the sum. */
static uint32_t pattern_header_sum(const struct pattern_header *h)
{
	uint64_t v = le64toh(h->seed) * GOLDEN;

	v += le64toh(h->sequence) * UINT64_C(0xd1b54a32d192ed03);
	v += ((uint64_t)le32toh(h->slot) << 32 | le32toh(h->length)) * UINT64_C(0xabc98388fb8fac03);
	v += ((uint64_t)le32toh(h->flow) << 32 | le32toh(h->kind)) * UINT64_C(0x8cb92ba72f3d8dd7);
	return htole32((uint32_t)(pattern_mix(v) >> 32));
}

static void pattern_make_header(struct pattern_header *h, uint32_t length,
				const struct pattern_id *id)
{
	h->magic = htole32(PATTERN_MAGIC);
	h->kind = htole32(id->kind);
	h->seed = htole64(id->seed);
	h->sequence = htole64(id->sequence);
	h->flow = htole32(id->flow);
	h->slot = htole32(id->slot);
	h->length = htole32(length);
	h->check = pattern_header_sum(h);
}

static uint64_t pattern_word_base(const struct pattern_id *id)
{
	return pattern_mix(pattern_mix(id->seed + (id->flow + UINT64_C(1)) * GOLDEN) ^
			   id->sequence) ^
	       id->kind;
}

static inline void pattern_start_group(lanes v[VECTORS], uint64_t base)
{
	for (unsigned int i = 0; i < GROUP; i++)
		v[i / LANES][i % LANES] = base + i * GOLDEN;
}

/* Converts the vector to words as in memory. */
static inline void pattern_emit_lanes(const lanes *v, lanes *out)
{
	*out = *v ^ *v >> 29;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	for (unsigned int i = 0; i < LANES; i++)
		(*out)[i] = htole64((*out)[i]);
#endif
}

/* Returns the number of words before p is aligned to a group, at most `words`. */
static uint32_t pattern_lead_words(const void *p, uint32_t words)
{
	uint32_t lead = (uint32_t)(-(uintptr_t)p % GROUP_BYTES) / 8;

	return lead < words ? lead : words;
}

/* Fills whole groups; base is that of the first word. */
WIDE static void pattern_fill_groups(uint8_t *p, uint32_t groups, uint64_t base)
{
	lanes v[VECTORS], out;

	pattern_start_group(v, base);
	for (uint32_t i = 0; i < groups; i++) {
		for (unsigned int k = 0; k < VECTORS; k++, p += sizeof(out)) {
			pattern_emit_lanes(&v[k], &out);
			memcpy(p, &out, sizeof(out));
			v[k] += GROUP * GOLDEN;
		}
	}
}

/* Returns the number of correct groups before the first chunk with a wrong one, a multiple of
 * CHUNK, or `groups`; pattern_wrong_word() finds the exact word. */
WIDE static uint32_t pattern_right_groups(const uint8_t *p, uint32_t groups, uint64_t base)
{
	lanes v[VECTORS], want, got;

	pattern_start_group(v, base);
	for (uint32_t i = 0; i < groups; i += CHUNK) {
		uint32_t end = groups - i < CHUNK ? groups - i : CHUNK;
		lanes wrong = {0};
		uint64_t any = 0;

		for (uint32_t n = 0; n < end; n++) {
			for (unsigned int k = 0; k < VECTORS; k++, p += sizeof(got)) {
				memcpy(&got, p, sizeof(got));
				pattern_emit_lanes(&v[k], &want);
				wrong |= got ^ want;
				v[k] += GROUP * GOLDEN;
			}
		}
		for (unsigned int k = 0; k < LANES; k++)
			any |= wrong[k];
		if (any)
			return i;
	}
	return groups;
}

static void pattern_fill_words(uint8_t *p, uint32_t from, uint32_t to, uint64_t base)
{
	for (uint32_t i = from; i < to; i++) {
		uint64_t v = pattern_word(base, i);

		memcpy(p + 8 * (size_t)i, &v, 8);
	}
}

void pattern_fill_header(void *buf, uint32_t length, const struct pattern_id *id)
{
	struct pattern_header h;

	pattern_make_header(&h, length, id);
	memcpy(buf, &h, sizeof(h));
}

void pattern_fill(void *buf, uint32_t length, const struct pattern_id *id)
{
	uint8_t *p = (uint8_t *)buf + PATTERN_HEADER_BYTES;
	uint64_t base = pattern_word_base(id), last;
	uint32_t words = (length - PATTERN_HEADER_BYTES) / 8;
	uint32_t rest = (length - PATTERN_HEADER_BYTES) % 8;
	uint32_t lead = pattern_lead_words(p, words), groups = (words - lead) / GROUP;
	struct pattern_header h;

	pattern_make_header(&h, length, id);
	memcpy(buf, &h, sizeof(h));
	pattern_fill_words(p, 0, lead, base);
	pattern_fill_groups(p + 8 * (size_t)lead, groups, base + lead * GOLDEN);
	pattern_fill_words(p, lead + groups * GROUP, words, base);
	last = pattern_word(base, words);
	memcpy(p + 8 * (size_t)words, &last, rest);
}

static enum pattern_fault pattern_header_fault(const struct pattern_header *got,
					       const struct pattern_header *want)
{
	if (got->magic != want->magic || got->seed != want->seed)
		return PATTERN_FOREIGN;
	if (got->check != pattern_header_sum(got))
		return PATTERN_BYTES;
	if (got->flow != want->flow)
		return PATTERN_FLOW;
	if (got->sequence != want->sequence || got->kind != want->kind)
		return PATTERN_SEQUENCE;
	return got->slot != want->slot ? PATTERN_SLOT : PATTERN_BYTES;
}

static uint64_t pattern_first_difference(const uint8_t *a, const uint8_t *b, uint64_t size)
{
	uint64_t i = 0;

	while (i < size && a[i] == b[i])
		i++;
	return i;
}

/* Returns the index of the first wrong word in [from, to), or `to`. */
static uint32_t pattern_wrong_word(const uint8_t *p, uint32_t from, uint32_t to, uint64_t base)
{
	for (uint32_t i = from; i < to; i++) {
		uint64_t got;

		memcpy(&got, p + 8 * (size_t)i, 8);
		if (got != pattern_word(base, i))
			return i;
	}
	return to;
}

static uint32_t pattern_first_wrong(const uint8_t *p, uint32_t words, uint64_t base)
{
	uint32_t lead = pattern_lead_words(p, words);
	uint32_t at = pattern_wrong_word(p, 0, lead, base);

	if (at < lead)
		return at;
	at = lead + GROUP * pattern_right_groups(p + 8 * (size_t)lead, (words - lead) / GROUP,
						 base + lead * GOLDEN);
	return pattern_wrong_word(p, at, words, base);
}

enum pattern_fault pattern_check_header(const void *buf, uint32_t length,
					const struct pattern_id *id, uint64_t *offset)
{
	struct pattern_header got, want;

	pattern_make_header(&want, length, id);
	memcpy(&got, buf, sizeof(got));
	if (!memcmp(&got, &want, sizeof(got)))
		return PATTERN_OK;
	*offset = pattern_first_difference(buf, (const uint8_t *)&want, sizeof(want));
	return pattern_header_fault(&got, &want);
}

enum pattern_fault pattern_check(const void *buf, uint32_t length, const struct pattern_id *id,
				 uint64_t *offset)
{
	const uint8_t *p = buf;
	uint32_t words = (length - PATTERN_HEADER_BYTES) / 8;
	uint32_t rest = (length - PATTERN_HEADER_BYTES) % 8;
	uint64_t base = pattern_word_base(id), expected, at;
	enum pattern_fault fault = pattern_check_header(buf, length, id, offset);

	if (fault)
		return fault;
	at = pattern_first_wrong(p + PATTERN_HEADER_BYTES, words, base);
	expected = pattern_word(base, at);
	at = PATTERN_HEADER_BYTES + 8 * at;
	if (at + rest == length && !memcmp(p + at, &expected, rest))
		return PATTERN_OK;
	*offset = at + pattern_first_difference(p + at, (const uint8_t *)&expected, 8);
	return PATTERN_BYTES;
}

int pattern_peek(const void *buf, uint32_t length, uint64_t seed, struct pattern_id *id)
{
	struct pattern_header h;

	if (length < sizeof(h))
		return -EINVAL;
	memcpy(&h, buf, sizeof(h));
	if (le32toh(h.magic) != PATTERN_MAGIC || le64toh(h.seed) != seed ||
	    h.check != pattern_header_sum(&h))
		return -EINVAL;
	id->seed = seed;
	id->sequence = le64toh(h.sequence);
	id->flow = le32toh(h.flow);
	id->slot = le32toh(h.slot);
	id->kind = le32toh(h.kind);
	return 0;
}

const char *pattern_fault_text(enum pattern_fault fault)
{
	static const char *const text[] = {
		[PATTERN_OK] = "right",
		[PATTERN_FOREIGN] = "does not hold a message of this run",
		[PATTERN_FLOW] = "holds a message of another flow",
		[PATTERN_SEQUENCE] = "holds another message of this run",
		[PATTERN_SLOT] = "holds the message of another slot",
		[PATTERN_BYTES] = "has a wrong byte",
	};

	return (unsigned int)fault < ARRAY_SIZE(text) ? text[fault] : "?";
}
