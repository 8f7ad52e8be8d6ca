/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing with FNV-1a over at least twice as many slots as names. Names come from drivers:
 * empty ones and ones that are too long are no counters of ours and are left out.
 */
#include "probe/host/counters_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (1u << 20)

static uint32_t hash(const char *name, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return h;
}

int counters_index_init(struct counters_index *index, unsigned int n)
{
	uint32_t slots = 16;

	if (n > NAMES_MAX)
		return -E2BIG;
	while (slots < 2 * n)
		slots *= 2;
	index->slot = calloc(slots, sizeof(*index->slot));
	if (!index->slot)
		return -ENOMEM;
	index->mask = slots - 1;
	return 0;
}

void counters_index_clear(struct counters_index *index)
{
	free(index->slot);
	index->slot = NULL;
	index->mask = 0;
}

/* The slot that has the name, or the free one where it belongs. */
static struct counters_slot *find(const struct counters_index *index, const char *name, size_t len)
{
	uint32_t i = hash(name, len) & index->mask;

	for (;; i = (i + 1) & index->mask) {
		struct counters_slot *slot = &index->slot[i];

		if (!slot->name[0] || (!strncmp(slot->name, name, len) && !slot->name[len]))
			return slot;
	}
}

void counters_index_add(struct counters_index *index, const char *name, size_t size, uint64_t value)
{
	size_t len = strnlen(name, size);
	struct counters_slot *slot;

	while (len && name[len - 1] == ' ')
		len--;
	if (!len || len >= sizeof(slot->name))
		return;
	slot = find(index, name, len);
	if (slot->name[0])
		return;
	memcpy(slot->name, name, len);
	slot->value = value;
}

/* One name of a pattern, "%u" replaced. Returns its length, 0 when it does not fit. */
static size_t expand(const char *pattern, size_t len, unsigned int prio, char name[64])
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (used == 63)
			return 0;
		if (pattern[i] == '%' && i + 1 < len && pattern[i + 1] == 'u') {
			name[used++] = (char)('0' + prio);
			i++;
		} else {
			name[used++] = pattern[i];
		}
	}
	return used;
}

bool counters_index_get(const struct counters_index *index, const char *pattern, unsigned int prio,
			uint64_t *value)
{
	uint64_t sum = 0;
	char name[64];

	if (!index->slot || prio > 9)
		return false;
	for (const char *part = pattern;; part++) {
		size_t len = strcspn(part, "+");
		size_t used = expand(part, len, prio, name);
		const struct counters_slot *slot = used ? find(index, name, used) : NULL;

		if (slot && slot->name[0]) {
			if (__builtin_add_overflow(sum, slot->value, &sum))
				return false;
		} else if (part == pattern) {
			return false;
		}
		part += len;
		if (!*part)
			break;
	}
	*value = sum;
	return true;
}
