/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netstat has two lines of each group, names and then values in the same order; snmp6 has a name
 * and a value in each line (Linux net/ipv4/proc.c, net/ipv6/proc.c).
 */
#include "probe/host/counters_ip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"

#define NAMES_MAX 512u /* of both files; Linux 6.12 has 18 and 91 */
#define FILE_MAX  (64u << 10)
#define GROUP	  "IpExt:"
#define BLANKS	  " \t"

struct names {
	struct counters_index *index;
	unsigned int room;
};

/* A value is a number to its end: what is cut or glued to something is none. */
static void add(struct names *n, const char *name, size_t name_len, const char *value, size_t len)
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
static const char *next_word(const char *at, size_t *len)
{
	at += strspn(at, BLANKS);
	*len = strcspn(at, BLANKS "\n");
	return at;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static bool is_group(const char *line)
{
	return !strncmp(line, GROUP, sizeof(GROUP) - 1);
}

static void take_pair(struct names *n, const char *names, const char *values)
{
	size_t name_len, len;

	names = next_word(names + sizeof(GROUP) - 1, &name_len);
	values = next_word(values + sizeof(GROUP) - 1, &len);
	while (name_len && len) {
		add(n, names, name_len, values, len);
		names = next_word(names + name_len, &name_len);
		values = next_word(values + len, &len);
	}
}

static void take_netstat(struct names *n, const char *text)
{
	for (const char *line = text; *line; line = next_line(line)) {
		const char *values = next_line(line);

		if (!is_group(line) || !is_group(values))
			continue;
		take_pair(n, line, values);
		return;
	}
}

static void take_snmp6(struct names *n, const char *text)
{
	for (const char *line = text; *line; line = next_line(line)) {
		size_t name_len, len;
		const char *name = next_word(line, &name_len);
		const char *value = next_word(name + name_len, &len);

		if (name_len)
			add(n, name, name_len, value, len);
	}
}

int counters_ip_parse(const char *netstat, const char *snmp6, struct counters_index *index)
{
	struct names n = {index, NAMES_MAX};
	int err = counters_index_init(index, NAMES_MAX);

	if (err)
		return err;
	take_netstat(&n, netstat);
	take_snmp6(&n, snmp6);
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
