/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Basics of every folder: errors, arrays and lists, arithmetic, plural, fingerprint, unaligned
 * integers, clock. The place that fails fills struct err with its object; callers add a prefix;
 * only cmd/ prints it.
 */
#ifndef PROFILES_BASE_H
#define PROFILES_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a - b, or 0 when b is larger. */
static inline uint64_t saturating_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Index of the largest value, the first of equals. Leaves value[except] out; except >= count leaves
 * none out. */
unsigned int index_of_largest(const uint64_t *value, unsigned int count, unsigned int except);

/* Ending of a noun after a number: "s", or nothing when it is 1. */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#define ERR_TEXT_MAX 1024
#define ERR_HINT_MAX 256

/* A plain value, which may be copied. The functions below cut long texts and make them one line
 * that is safe to print and to send as JSON: see profiles/base/text.h. */
struct err {
	int code;		 /* -errno, 0 while nothing failed */
	char text[ERR_TEXT_MAX]; /* "roce0: PFC: Operation not permitted" */
	char hint[ERR_HINT_MAX]; /* the next step, one line; may be empty */
};

/* Sets code and text and clears the hint. Returns code, so that "return err_set(...)" reads well.
 * e may be NULL: then only the code is returned. e->text may be an argument. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* As err_set(), and appends ": " and the text of errno -code; -EMFILE has its hint. */
int err_sys(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Both add to an error that has its code, and do nothing if e is NULL. They return nothing: with e
 * NULL they know no code, and a caller that returned their result would report success. */

/* Puts "where: " before the text. */
void err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Sets the next step, e.g. "run 'rocecheck doctor'". */
void err_hint(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* FNV-1a, 64 bits, continued from hash (FNV1A_START at first). Not cryptographic. */
#define FNV1A_START UINT64_C(0xcbf29ce484222325)
uint64_t fnv1a(uint64_t hash, const void *data, size_t size);

/* Makes room for one more item in a list of `count` items of this size that only this function has
 * grown: it doubles at powers of two, so that the count implies the capacity. Returns the list,
 * which may have moved; NULL without memory, and the list is as before. */
void *list_grow(void *list, size_t count, size_t size);

/* Puts a list into a random order, the same one for the same seed. Not cryptographic. */
void shuffle(unsigned int *list, unsigned int n, uint64_t seed);

/* An unsigned integer of 1, 2, 4 or 8 bytes; uint_set() truncates a wider value. */
uint64_t uint_get(const void *at, size_t size);
void uint_set(void *at, size_t size, uint64_t value);

/* CLOCK_MONOTONIC. */
uint64_t monotonic_ms(void);
uint64_t monotonic_ns(void);

/* CLOCK_BOOTTIME: cannot be set, and runs during suspend. */
uint64_t boottime_ms(void);

/* CLOCK_REALTIME: since 1970, can be set. */
int64_t unix_ns(void);

/* Writes a time of seconds since 1970 as UTC: "2006-01-02T15:04:05Z". */
#define UTC_TEXT_MAX 32
void utc_text(time_t when, char text[UTC_TEXT_MAX]);

#endif
