/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses numbers of profiles, inventories and the command line: decimal, exact, followed by the
 * unit. No octal, no hexadecimal, no fractions, no rounding.
 *
 * All return 0; -EINVAL for an invalid text; -ERANGE for a value that is too small or too large.
 * The hint of e states the accepted values. Outputs are untouched on failure.
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
