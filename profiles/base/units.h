/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as people write them in profiles, inventories and on the command line: decimal, exact,
 * with the unit behind. No octal, no hexadecimal, no fractions, no rounding: what is not exactly a
 * value is an error that says what would be.
 *
 * All return 0; -EINVAL when the text is no such value; -ERANGE when it is one but too small or
 * large. e holds the text of the problem, and in its hint what is accepted. Outputs are untouched
 * on failure.
 */
#ifndef PROFILES_UNITS_H
#define PROFILES_UNITS_H

#include "profiles/base/base.h"

/* "0", "4096": digits only, no leading zero. */
int units_number(const char *text, uint64_t min, uint64_t max, uint64_t *value, struct err *e);

/* "3" or "24-31": both ends from 0 to max. */
int units_range(const char *text, unsigned int max, unsigned int *first, unsigned int *last,
		struct err *e);

/* "9000", "9kB", "64KiB", "1MiB": bytes. */
int units_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *size_bytes, struct err *e);

/* "500k", "100M", "25G", "1T": bits per second, as kbit/s. A bare number is kbit/s. */
int units_rate(const char *text, uint64_t min, uint64_t max, uint64_t *rate_kbps, struct err *e);

/* "10ms", "3s", "2m", "1h": milliseconds. The unit is required. */
int units_duration(const char *text, uint64_t min_ms, uint64_t max_ms, uint64_t *duration_ms,
		   struct err *e);

#endif
