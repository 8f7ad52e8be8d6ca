/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of IP addresses: all are compared as IPv6.
 */
#include "probe/io/address_range.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool range_address(const char *text, struct address_range *r, unsigned int *most)
{
	memset(r, 0, sizeof(*r));
	if (inet_pton(AF_INET6, text, r->address) == 1) {
		*most = 128;
		return true;
	}
	r->address[10] = r->address[11] = 0xff;
	*most = 32;
	return inet_pton(AF_INET, text, r->address + 12) == 1;
}

static bool range_take(char *text, struct address_range *r)
{
	char *slash = strchr(text, '/'), *end = NULL;
	unsigned long bits;
	unsigned int most;

	if (slash)
		*slash++ = '\0';
	if (!range_address(text, r, &most))
		return false;
	bits = slash ? strtoul(slash, &end, 10) : most;
	if (slash && (slash[0] < '0' || slash[0] > '9' || *end))
		return false;
	r->bits = (unsigned int)bits + 128 - most;
	return bits <= most;
}

int address_ranges_parse(const char *text, struct address_ranges *out, struct err *e)
{
	struct address_ranges v = {0};
	char *copy = strdup(text), *rest = NULL;

	if (!copy)
		return err_sys(e, -ENOMEM, "addresses");
	for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		char shown[64];

		snprintf(shown, sizeof(shown), "%s", one);
		if (v.count < ADDRESS_RANGES_MAX && range_take(one, &v.range[v.count])) {
			v.count++;
			continue;
		}
		free(copy);
		if (v.count == ADDRESS_RANGES_MAX)
			return err_set(e, -EINVAL, "more than %u ranges of addresses",
				       ADDRESS_RANGES_MAX);
		return err_set(e, -EINVAL,
			       "invalid address '%s': expected ADDRESS or ADDRESS/LENGTH", shown);
	}
	free(copy);
	if (!v.count)
		return err_set(e, -EINVAL,
			       "invalid address '': expected ADDRESS or ADDRESS/LENGTH");
	*out = v;
	return 0;
}

static bool range_has(const struct address_range *r, const uint8_t address[16])
{
	unsigned int bytes = r->bits / 8, rest = r->bits % 8;

	if (memcmp(r->address, address, bytes))
		return false;
	return !rest || !((r->address[bytes] ^ address[bytes]) >> (8 - rest));
}

bool address_ranges_have(const struct address_ranges *r, const uint8_t address[16])
{
	for (unsigned int i = 0; i < r->count; i++)
		if (range_has(&r->range[i], address))
			return true;
	return false;
}
