/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors, fingerprint and clock. Error texts are truncated at the end, so that the object stays
 * readable, and sanitized here: most quote names, lines or errors of hosts, files and peers.
 */
#include "profiles/base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "profiles/base/text.h"

static void base_err_fill(struct err *e, int code, const char *fmt, va_list ap) PRINTF_LIKE(3, 0);

static void base_err_fill(struct err *e, int code, const char *fmt, va_list ap)
{
	char text[sizeof(e->text)];

	vsnprintf(text, sizeof(text), fmt, ap);
	text_sanitize(text, TEXT_FIELD);
	strcpy(e->text, text);
	e->code = code;
	e->hint[0] = '\0';
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	base_err_fill(e, code, fmt, ap);
	va_end(ap);
	return code;
}

static void base_hint_files(struct err *e)
{
	unsigned long long now = 0;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		now = limit.rlim_cur;
	err_hint(e, "raise the limit of open files: ulimit -n %llu", now < 512 ? 1024 : 4 * now);
}

int err_sys(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!e)
		return code;
	va_start(ap, fmt);
	base_err_fill(e, code, fmt, ap);
	va_end(ap);
	used = strlen(e->text);
	snprintf(e->text + used, sizeof(e->text) - used, ": %s", strerror(-code));
	text_sanitize(e->text, TEXT_FIELD);
	if (code == -EMFILE)
		base_hint_files(e);
	return code;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char old[ERR_TEXT_MAX];
	va_list ap;
	size_t used;

	if (!e)
		return;
	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	used = strlen(e->text);
	snprintf(e->text + used, sizeof(e->text) - used, ": %s", old);
	text_sanitize(e->text, TEXT_FIELD);
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
	text_sanitize(e->hint, TEXT_FIELD);
}

unsigned int index_of_largest(const uint64_t *value, unsigned int count, unsigned int except)
{
	unsigned int best = except ? 0 : 1;

	for (unsigned int i = 0; i < count; i++)
		if (i != except && value[i] > value[best])
			best = i;
	return best;
}

uint64_t fnv1a(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size--)
		hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t base_random(uint64_t *state) /* splitmix64 */
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void *list_grow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	return reallocarray(list, count ? count * 2 : 1, size);
}

void shuffle(unsigned int *list, unsigned int n, uint64_t seed)
{
	for (unsigned int i = n; i > 1; i--) {
		unsigned int at = (unsigned int)(base_random(&seed) % i), kept = list[at];

		list[at] = list[i - 1];
		list[i - 1] = kept;
	}
}

static int64_t base_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return (uint64_t)base_clock_ns(CLOCK_MONOTONIC);
}

int64_t unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t monotonic_ms(void)
{
	return monotonic_ns() / 1000000;
}

uint64_t boottime_ms(void)
{
	return (uint64_t)base_clock_ns(CLOCK_BOOTTIME) / 1000000;
}

void utc_text(time_t when, char text[UTC_TEXT_MAX])
{
	struct tm tm;

	text[0] = '\0';
	if (gmtime_r(&when, &tm))
		strftime(text, UTC_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

uint64_t uint_get(const void *at, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

void uint_set(void *at, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}
