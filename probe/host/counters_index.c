/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing with FNV-1a over at least twice as many slots as names. Names come from drivers:
 * empty ones and ones that are too long are no counters of ours and are left out.
 */
#include "probe/host/counters_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"

#define NAMES_MAX (1u << 20)

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
static struct counters_slot *index_find_slot(const struct counters_index *index, const char *name,
					     size_t len)
{
	uint32_t i = (uint32_t)fnv1a(FNV1A_START, name, len) & index->mask;

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
	slot = index_find_slot(index, name, len);
	if (slot->name[0])
		return;
	memcpy(slot->name, name, len);
	slot->value = value;
}

/* One name of a pattern, "%u" replaced. Returns its length, 0 when it does not fit. */
static size_t index_expand_name(const char *pattern, size_t len, unsigned int prio, char name[64])
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
		size_t used = index_expand_name(part, len, prio, name);
		const struct counters_slot *slot = used ? index_find_slot(index, name, used) : NULL;

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

/* netstat has two lines of each group, names and then values in the same order; snmp6 has a name
 * and a value in each line (Linux net/ipv4/proc.c, net/ipv6/proc.c). */

#define IP_NAMES_MAX 512u /* of both files; Linux 6.12 has 18 and 91 */
#define FILE_MAX     (64u << 10)
#define GROUP	     "IpExt:"
#define BLANKS	     " \t"

struct names {
	struct counters_index *index;
	unsigned int room;
};

/* A value is a number to its end: what is cut or glued to something is none. */
static void index_add_text(struct names *n, const char *name, size_t name_len, const char *value,
			   size_t len)
{
	char text[24], *end;
	uint64_t number;

	if (!n->room || !len || len >= sizeof(text) || strspn(value, "0123456789") < len)
		return;
	memcpy(text, value, len);
	text[len] = '\0';
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end)
		return;
	n->room--;
	counters_index_add(n->index, name, name_len, number);
}

/* The next word of a line; its length is 0 at the end of the line. */
static const char *index_next_word(const char *at, size_t *len)
{
	at += strspn(at, BLANKS);
	*len = strcspn(at, BLANKS "\n");
	return at;
}

static const char *index_next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static bool index_is_ipext(const char *line)
{
	return !strncmp(line, GROUP, sizeof(GROUP) - 1);
}

static void index_parse_ipext(struct names *n, const char *names, const char *values)
{
	size_t name_len, len;

	names = index_next_word(names + sizeof(GROUP) - 1, &name_len);
	values = index_next_word(values + sizeof(GROUP) - 1, &len);
	while (name_len && len) {
		index_add_text(n, names, name_len, values, len);
		names = index_next_word(names + name_len, &name_len);
		values = index_next_word(values + len, &len);
	}
}

static void index_parse_netstat(struct names *n, const char *text)
{
	for (const char *line = text; *line; line = index_next_line(line)) {
		const char *values = index_next_line(line);

		if (!index_is_ipext(line) || !index_is_ipext(values))
			continue;
		index_parse_ipext(n, line, values);
		return;
	}
}

static void index_parse_snmp6(struct names *n, const char *text)
{
	for (const char *line = text; *line; line = index_next_line(line)) {
		size_t name_len, len;
		const char *name = index_next_word(line, &name_len);
		const char *value = index_next_word(name + name_len, &len);

		if (name_len)
			index_add_text(n, name, name_len, value, len);
	}
}

int counters_ip_parse(const char *netstat, const char *snmp6, struct counters_index *index)
{
	struct names n = {index, IP_NAMES_MAX};
	int err = counters_index_init(index, IP_NAMES_MAX);

	if (err)
		return err;
	index_parse_netstat(&n, netstat);
	index_parse_snmp6(&n, snmp6);
	return 0;
}

int counters_ip_read(struct dcb *dcb, struct counters_index *index)
{
	char *netstat = malloc(FILE_MAX), *snmp6 = malloc(FILE_MAX);
	int err = -ENOMEM;

	if (netstat && snmp6) {
		if (dcb_proc_read(dcb, "net/netstat", netstat, FILE_MAX))
			*netstat = '\0';
		if (dcb_proc_read(dcb, "net/snmp6", snmp6, FILE_MAX))
			*snmp6 = '\0'; /* no IPv6 in this kernel */
		err = counters_ip_parse(netstat, snmp6, index);
	}
	free(netstat);
	free(snmp6);
	return err;
}
